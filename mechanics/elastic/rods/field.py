"""The kernels of a rod in motion: Hamilton's equations, energy and momenta, and what asynchronous steps take of them.

x' = R v,  R' = R ω^,   l = m v,  k = J ω,    l' = l × ω + f,   k' = k × ω + τ         (l, k, f, τ in body axes)

With damping the stress is C (e + τ ė), with drag a wrench −r (l, k) is on every node.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, never, rare, select, st
from liegroup.formulas import se3
from liegroup.formulas import so3 as rotations
from liegroup.formulas.vectors import add, cross, dot, scale, scale6
from liegroup.table import load_components, store_components
from mechanics.elastic.rods import element
from mechanics.elastic.rods.layout import (
    CLAMPED,
    FREE,
    PINNED,
    between,
    element_numbers,
    has_damping,
    is_damped,
    kind_of,
    load_place,
    node_numbers,
    rate_between,
    state_place,
    stroke_place,
    velocity_place,
)

three, four, six, seven = (load_components(k) for k in (3, 4, 6, 7))
store3 = store_components(3)


@helper
def _lanes(zero: Any, x: Any) -> Any:
    """Three numbers in the type of the state."""
    return zero + x[0], zero + x[1], zero + x[2]


@helper
def _lanes4(zero: Any, x: Any) -> Any:
    return zero + x[0], zero + x[1], zero + x[2], zero + x[3]


@helper
def numbers3(parameters: Any, i: Any) -> Any:
    return parameters[i], parameters[i + 1], parameters[i + 2]


@helper
def numbers4(parameters: Any, i: Any) -> Any:
    return parameters[i], parameters[i + 1], parameters[i + 2], parameters[i + 3]


@helper
def numbers6(parameters: Any, i: Any) -> Any:
    return numbers3(parameters, i) + numbers3(parameters, i + 3)


@kernel
def held_pose(t: Any, parameters: Any, structure: Any, i: Any) -> Any:
    """Where a support holds node i at time t."""
    at = node_numbers(i) + 8
    x, q = numbers3(parameters, at), numbers4(parameters, at + 3)
    for k in range(structure[3]):
        place = stroke_place(structure, k)
        if structure[place] == i:
            first = structure[place + 2]
            s = between(parameters, first + 6, structure[place + 1], t, True)
            x = add(x, scale(s, numbers3(parameters, first)))
            q = rotations.compose(rotations.exp(scale(s, numbers3(parameters, first + 3))), q)
    return x + q


@helper
def node_pose(t: Any, y: Any, parameters: Any, structure: Any, i: Any) -> Any:
    """The pose of node i."""
    kind, at = kind_of(structure, i), state_place(structure, i)
    if kind == FREE:
        return seven(y, at)
    held, zero = held_pose(t, parameters, structure, i), 0.0 * ld(y, 0)
    if kind == PINNED:
        return _lanes(zero, held[:3]) + four(y, at)
    return _lanes(zero, held[:3]) + _lanes4(zero, held[3:])


@helper
def _increase(out: Any, i: Any, x: Any) -> None:
    st(out, i, ld(out, i) + x[0])
    st(out, i + 1, ld(out, i + 1) + x[1])
    st(out, i + 2, ld(out, i + 2) + x[2])


@helper
def push(out: Any, structure: Any, i: Any, first: Any, w: Any, wrench: Any) -> None:
    """w times a wrench on node i, added to its momenta, which begin at `first`."""
    kind, at = kind_of(structure, i), first + velocity_place(structure, i)
    if kind == FREE:
        _increase(out, at, scale(w, wrench[:3]))
        _increase(out, at + 3, scale(w, wrench[3:]))
    elif kind == PINNED:
        _increase(out, at, scale(w, wrench[3:]))


@helper
def element_of(a: Any, b: Any, parameters: Any, structure: Any, k: Any) -> Any:
    """Wrenches, energy, turn and stretch of element k."""
    at = element_numbers(structure, k)
    return element.wrenches(
        a, b, parameters[at], numbers6(parameters, at + 1), numbers6(parameters, at + 7), structure[1]
    )


@helper
def element_wrenches(a: Any, b: Any, parameters: Any, structure: Any, k: Any) -> Any:
    """Wrenches of element k."""
    on_a, on_b, _, _, _ = element_of(a, b, parameters, structure, k)
    return on_a, on_b


@helper
def load_at_node(t: Any, y: Any, parameters: Any, structure: Any, k: Any) -> Any:
    """The body wrench of load k at time t."""
    place = load_place(structure, k)
    start = structure[place + 3]
    s, zero = between(parameters, start + 6, structure[place + 2], t, False), 0.0 * ld(y, 0)
    F = _lanes(zero, scale(s, numbers3(parameters, start)))
    M = _lanes(zero, scale(s, numbers3(parameters, start + 3)))
    if structure[place + 1] == 0:
        r = node_pose(t, y, parameters, structure, structure[place])[3:]
        return rotations.act_inverse(r, F) + rotations.act_inverse(r, M)
    return F + M


@helper
def sizes(structure: Any) -> Any:
    """Components of the configuration and of the velocity."""
    n = structure[0]
    kind = kind_of(structure, n)
    q, v = state_place(structure, n), velocity_place(structure, n)
    if kind == FREE:
        return q + 7, v + 6
    if kind == PINNED:
        return q + 4, v + 3
    return q, v


@helper
def velocity_of(v: Any, structure: Any, i: Any) -> Any:
    """The body velocity of node i in velocities v of all nodes; what supports hold is at rest."""
    kind, at, zero = kind_of(structure, i), velocity_place(structure, i), 0.0 * ld(v, 0)
    if kind == FREE:
        return six(v, at)
    if kind == PINNED:
        return zero, zero, zero, *three(v, at)
    return zero, zero, zero, zero, zero, zero


@helper
def unit_stress(zero: Any, c: Any) -> Any:
    """1 in component c of six."""
    one = zero + 1.0
    return (
        one if c == 0 else zero,
        one if c == 1 else zero,
        one if c == 2 else zero,
        one if c == 3 else zero,
        one if c == 4 else zero,
        one if c == 5 else zero,
    )


@helper
def yielding(parameters: Any, structure: Any, i: Any, u: Any, v: Any) -> Any:
    """u M⁻¹ v of wrenches on node i."""
    own = node_numbers(i)
    J, total = numbers3(parameters, own + 5), 0.0 * u[0]
    if kind_of(structure, i) == FREE:
        total = parameters[own + 1] * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])
    if kind_of(structure, i) != CLAMPED:
        total = total + (J[0] * u[3] * v[3] + J[1] * u[4] * v[4] + J[2] * u[5] * v[5])
    return total


@helper
def power(structure: Any, i: Any, wrench: Any, v: Any, parameters: Any, inverse: Any) -> Any:
    """The power of a wrench on node i, with velocities, or momenta (inverse = 1), v."""
    at, own = velocity_place(structure, i), node_numbers(i)
    total = 0.0 * wrench[0]
    if kind_of(structure, i) == FREE:
        x = three(v, at)
        total = (parameters[own + 1] if inverse else 1.0) * (wrench[0] * x[0] + wrench[1] * x[1] + wrench[2] * x[2])
        at += 3
    if kind_of(structure, i) != CLAMPED:
        x, J = three(v, at), numbers3(parameters, own + 5)
        if inverse:
            x = (J[0] * x[0], J[1] * x[1], J[2] * x[2])
        total = total + (wrench[3] * x[0] + wrench[4] * x[1] + wrench[5] * x[2])
    return total


@kernel
def held_twist(t: Any, parameters: Any, structure: Any, i: Any) -> Any:
    """How fast a support moves node i at time t: velocity and angular velocity in world axes."""
    v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(structure[3]):
        place = stroke_place(structure, k)
        if structure[place] == i:
            first, count = structure[place + 2], structure[place + 1]
            s = between(parameters, first + 6, count, t, True)
            rate = rate_between(parameters, first + 6, count, t)
            turn = numbers3(parameters, first + 3)
            v = add(v, scale(rate, numbers3(parameters, first)))
            w = add(scale(rate, turn), rotations.act(rotations.exp(scale(s, turn)), w))
    return v + w


@helper
def twist_of(t: Any, y: Any, pose: Any, parameters: Any, structure: Any, i: Any) -> Any:
    """The body velocity of node i, from its momenta, or as its support moves it."""
    kind, own, zero = kind_of(structure, i), node_numbers(i), 0.0 * ld(y, 0)
    at = sizes(structure)[0] + velocity_place(structure, i)
    v, w = (zero, zero, zero), (zero, zero, zero)
    if kind != FREE and structure[3] > 0:
        held = held_twist(t, parameters, structure, i)
        v = rotations.act_inverse(pose[3:], _lanes(zero, held[:3]))
        w = rotations.act_inverse(pose[3:], _lanes(zero, held[3:]))
    if kind == FREE:
        v = scale(parameters[own + 1], three(y, at))
        at += 3
    if kind != CLAMPED:
        k, J = three(y, at), numbers3(parameters, own + 5)
        w = (J[0] * k[0], J[1] * k[1], J[2] * k[2])
    return v + w


@rare(is_damped)
def resist(t: float, y: Any, parameters: Any, structure: Any, out: Any, first: int) -> None:
    """The forces of damping and drag, added to those in `out` from `first` on: stresses τ C ė, wrenches −r p."""
    n, cayley = structure[0], structure[1]
    places, _ = sizes(structure)
    for k in range(n):
        at = element_numbers(structure, k)
        if parameters[at + 13] != 0.0:
            a, b = node_pose(t, y, parameters, structure, k), node_pose(t, y, parameters, structure, k + 1)
            f = se3.compose(se3.inverse(a), b)
            X = element.coordinates(f, cayley)
            v, w = twist_of(t, y, a, parameters, structure, k), twist_of(t, y, b, parameters, structure, k + 1)
            change = scale6(parameters[at + 13] / parameters[at], element.rate(X, v, w, cayley))
            on_a, on_b = element.pulls(f, X, element.weighted(numbers6(parameters, at + 1), change), cayley)
            push(out, structure, k, first, 1.0, on_a)
            push(out, structure, k + 1, first, 1.0, on_b)
    for i in range(n + 1):
        r, at, kind = parameters[node_numbers(i) + 15], velocity_place(structure, i), kind_of(structure, i)
        for c in range(at, at + (6 if kind == FREE else 3 if kind == PINNED else 0)):
            st(out, first + c, ld(out, first + c) - r * ld(y, places + c))


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, ω; l × ω + f, k × ω + τ) of every node; where `out` has room, the entries of its derivative."""
    motion(t, y, parameters, structure, out)
    d = 2 * sizes(structure)[1]
    if out.shape[0] > d:
        derivatives(t, y, parameters, structure, out[d:])


@helper
def _width(structure: Any, i: Any) -> Any:
    """Velocities of node i, none beyond the ends."""
    if i < 0 or i > structure[0]:
        return 0
    kind = kind_of(structure, i)
    return 6 if kind == FREE else 3 if kind == PINNED else 0


@helper
def _scatter(out: Any, structure: Any, first: Any, stride: Any, i: Any, j: Any, c: Any, x: Any) -> None:
    """Takes x, six numbers, from the entries of node i by the increment c of node j; its rows begin at `first`."""
    rows, columns = _width(structure, i), _width(structure, j)
    lost, column = 6 - rows, c - (6 - columns)
    if rows > 0 and column >= 0:
        for r in range(rows):
            k = first + r * stride + column
            st(out, k, ld(out, k) - _component(x, r + lost))


@helper
def _component(x: Any, k: Any) -> Any:
    """Component k of six."""
    if k < 3:
        return x[0] if k == 0 else x[1] if k == 1 else x[2]
    return x[3] if k == 3 else x[4] if k == 4 else x[5]


@rare(never)
def derivatives(t: Any, y: Any, parameters: Any, structure: Any, out: Any) -> None:
    """The entries of ∂f/∂x, f(t, y τ(x)): every row by q of the node before, its own and of the next, then by p."""
    places, _ = sizes(structure)
    zero, n, before, total = 0.0 * ld(y, 0), structure[0], 0, 0
    for k in range(n + 1):
        total += _width(structure, k) * 2 * (_width(structure, k - 1) + _width(structure, k) + _width(structure, k + 1))
    for k in range(2 * total):
        st(out, k, zero)
    g = numbers3(parameters, 0)
    for i in range(n + 1):
        low, own, high = _width(structure, i - 1), _width(structure, i), _width(structure, i + 1)
        half, kind, numbers, at = low + own + high, kind_of(structure, i), node_numbers(i), velocity_place(structure, i)
        stride, of_q, of_p = 2 * half, before, total + before
        a = node_pose(t, y, parameters, structure, i)
        if kind != CLAMPED:
            free = 3 if kind == FREE else 0
            J = numbers3(parameters, numbers + 5)
            k = three(y, places + at + free)
            w = (J[0] * k[0], J[1] * k[1], J[2] * k[2])
            for c in range(3):
                unit = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
                Jc = J[0] if c == 0 else J[1] if c == 1 else J[2]
                st(out, of_q + (free + c) * stride + half + low + free + c, zero + Jc)
                by_k = add(cross(unit, w), scale(Jc, cross(k, unit)))
                store_column(out, of_p + free * stride + half + low + free + c, stride, by_k)
                if kind == FREE:
                    l = three(y, places + at)
                    st(out, of_q + c * stride + half + low + c, zero + parameters[numbers + 1])
                    store_column(out, of_p + half + low + c, stride, cross(unit, w))
                    store_column(out, of_p + half + low + 3 + c, stride, scale(Jc, cross(l, unit)))
                    weight = (*scale(parameters[numbers], g), 0.0, 0.0, 0.0)
                    store_column(out, of_p + low + 3 + c, stride, element.load_derivative(a, weight, unit)[:3])
        for side in range(2):
            e = i - 1 + side
            if own > 0 and e >= 0 and e < n:
                p, q = node_pose(t, y, parameters, structure, e), node_pose(t, y, parameters, structure, e + 1)
                first = element_numbers(structure, e)
                X = element.coordinates(se3.compose(se3.inverse(p), q), structure[1])
                length, C = parameters[first], numbers6(parameters, first + 1)
                s = element.weighted(C, element.strain(X, length, numbers6(parameters, first + 7)))
                for j in range(12):
                    of_a, of_b = element.stiffness_column(X, s, length, C, structure[1], j)
                    other = e + j // 6
                    start = of_p + (0 if other < i else low if other == i else low + own)
                    _scatter(out, structure, start, stride, i, other, j % 6, of_b if side == 0 else of_a)
        for k in range(structure[2]):
            load = load_place(structure, k)
            if structure[load] == i and structure[load + 1] == 0 and own > 0:
                s = between(parameters, structure[load + 3] + 6, structure[load + 2], t, False)
                world = numbers6(parameters, structure[load + 3])
                for c in range(3):
                    unit = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
                    turned = element.load_derivative(a, world, unit)
                    change = scale(-s, turned[:3]) + scale(-s, turned[3:])
                    _scatter(out, structure, of_p + low, stride, i, i, 3 + c, change)
        before += own * stride


@helper
def store_column(out: Any, first: Any, stride: Any, x: Any) -> None:
    """Adds three numbers to entries `stride` apart."""
    st(out, first, ld(out, first) + x[0])
    st(out, first + stride, ld(out, first + stride) + x[1])
    st(out, first + 2 * stride, ld(out, first + 2 * stride) + x[2])


@kernel
def motion(t: Any, y: Any, parameters: Any, structure: Any, out: Any) -> None:
    """(v, ω; l × ω + f, k × ω + τ) of every node."""
    n = structure[0]
    places, first = sizes(structure)
    g = numbers3(parameters, 0)
    b = node_pose(t, y, parameters, structure, 0)
    for i in range(n + 1):
        kind, at, own = kind_of(structure, i), velocity_place(structure, i), node_numbers(i)
        a = b
        if i > 0:
            b = node_pose(t, y, parameters, structure, i)
        if kind != CLAMPED:
            turned = at + 3 if kind == FREE else at
            k = three(y, places + turned)
            J = numbers3(parameters, own + 5)
            w = (J[0] * k[0], J[1] * k[1], J[2] * k[2])
            store3(out, turned, w)
            store3(out, first + turned, cross(k, w))
            if kind == FREE:
                l = three(y, places + at)
                store3(out, at, scale(parameters[own + 1], l))
                weight = scale(parameters[own], rotations.act_inverse(b[3:], g))
                store3(out, first + at, add(cross(l, w), weight))
        if i > 0:
            on_a, on_b, _, _, _ = element_of(a, b, parameters, structure, i - 1)
            push(out, structure, i - 1, first, 1.0, on_a)
            push(out, structure, i, first, 1.0, on_b)
    for k in range(structure[2]):
        i = structure[load_place(structure, k)]
        push(out, structure, i, first, 1.0, load_at_node(t, y, parameters, structure, k))
    if has_damping(structure):
        resist(t, y, parameters, structure, out, first)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What is watched of a rod."""
    observed(t, y, parameters, structure, out)


@kernel
def observed(t: Any, y: Any, parameters: Any, structure: Any, out: Any) -> None:
    """Energy with those of weight and of constant dead forces, Σ R l, Σ x × R l + R k, the greatest turn and
    the smallest stretch of an element.
    """
    n, zero = structure[0], 0.0 * ld(y, 0)
    places, _ = sizes(structure)
    g = numbers3(parameters, 0)
    energy, greatest, least = zero, zero, zero + 1e300
    linear, angular = (zero, zero, zero), (zero, zero, zero)
    b = node_pose(t, y, parameters, structure, 0)
    for i in range(n + 1):
        kind, at, own = kind_of(structure, i), velocity_place(structure, i), node_numbers(i)
        a = b
        if i > 0:
            b = node_pose(t, y, parameters, structure, i)
            _, _, stored, turn, stretch = element_of(a, b, parameters, structure, i - 1)
            energy = energy + stored
            greatest = select(turn > greatest, turn, greatest)
            least = select(stretch < least, stretch, least)
        if kind != CLAMPED:
            turned = at + 3 if kind == FREE else at
            k = three(y, places + turned)
            J = numbers3(parameters, own + 5)
            energy = energy + 0.5 * (J[0] * k[0] * k[0] + J[1] * k[1] * k[1] + J[2] * k[2] * k[2])
            angular = add(angular, rotations.act(b[3:], k))
            if kind == FREE:
                l = three(y, places + at)
                in_space = rotations.act(b[3:], l)
                energy = energy + 0.5 * parameters[own + 1] * dot(l, l) - parameters[own] * dot(b[:3], g)
                linear, angular = add(linear, in_space), add(angular, cross(b[:3], in_space))
    for k in range(structure[2]):
        place = load_place(structure, k)
        if structure[place + 1] == 0 and structure[place + 2] == 0:
            x = node_pose(t, y, parameters, structure, structure[place])
            energy = energy - dot(x[:3], numbers3(parameters, structure[place + 3]))
    st(out, 0, energy)
    store3(out, 1, linear)
    store3(out, 4, angular)
    st(out, 7, greatest)
    st(out, 8, least)
