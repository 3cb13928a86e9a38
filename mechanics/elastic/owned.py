"""Nodes of a network that do not move by themselves: on supports that move, and on rigid bodies.

A node on a support is where the functions of time of its displacement say.  The work of the support along each axis,
∫ ∂V/∂X Ẋ dt, stands in the state where other nodes have their momentum: it is the momentum that belongs to the time,
so that symplectic methods keep H − W as they keep an energy.  A node on a rigid body is at the place r of the body; its
forces f are the body's wrench (Rᵀf, r × Rᵀf) in body axes.  Bodies have their poses in the state, of the principal axes
at the centre of mass, and their momenta (l, k) in these axes.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase3
from integrators.arithmetic.free_body import fly
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, rare, scalar_of, st
from liegroup.formulas import so3 as rotations
from liegroup.formulas.vectors import add, cross, dot, scale
from liegroup.table import load_components, store_components
from mechanics.elastic.dampers import decay
from mechanics.elastic.layout import (
    BODIES,
    BODIES_AT,
    BODY_LEVELS_AT,
    BODY_ROW,
    CARRIED_AT,
    CARRIED_ROW,
    DRIVEN,
    DRIVEN_AT,
    DRIVEN_LEVELS_AT,
    DRIVEN_ROW,
    HEADER,
    NODES,
    OWNERS_AT,
    inverse_mass,
)
from mechanics.kernels.motions import in_pieces, series

three, four, store = load_components(3), load_components(4), store_components(3)


def _has_owned(structure: Any, tau: int) -> bool:
    return len(structure) > HEADER and bool(structure[DRIVEN] + structure[BODIES] > 0)


def _has_bodies(structure: Any, tau: int) -> bool:
    return len(structure) > HEADER and bool(structure[BODIES] > 0)


@helper
def is_owned(structure: Any) -> Any:
    """Whether there are such nodes."""
    return structure[DRIVEN] + structure[BODIES] > 0


@helper
def momenta_at(structure: Any) -> Any:
    """Where the momenta of the nodes begin in the state."""
    return 3 * structure[NODES] + 7 * structure[BODIES]


@helper
def forces_at(structure: Any) -> Any:
    """Where their rates begin among the velocities."""
    return 3 * structure[NODES] + 6 * structure[BODIES]


@helper
def plain(parameters: Any, i: Any) -> Any:
    """Three parameters."""
    return parameters[i], parameters[i + 1], parameters[i + 2]


# --- supports ---------------------------------------------------------------------------------------------------------


@helper
def _along(t: Any, parameters: Any, structure: Any, row: Any) -> Any:
    """Displacement and its rate along one axis."""
    at, powers, harmonics = structure[row], structure[row + 1], structure[row + 2]
    if powers < 0:
        x, v, _ = in_pieces(t, parameters, at, -powers, harmonics)
        return x, v
    return series(t, parameters, at, powers, harmonics)


@kernel
def support(t: Any, parameters: Any, structure: Any, k: Any) -> Any:
    """First component, place and velocity of the node on support k."""
    row = structure[DRIVEN_AT] + DRIVEN_ROW * k
    i, home = structure[row], plain(parameters, structure[row + 1])
    x, u = _along(t, parameters, structure, row + 2)
    y, v = _along(t, parameters, structure, row + 5)
    z, w = _along(t, parameters, structure, row + 8)
    return i, (home[0] + x, home[1] + y, home[2] + z), (u, v, w)


# --- bodies -----------------------------------------------------------------------------------------------------------


@helper
def body_numbers(structure: Any, k: Any) -> Any:
    """Which body comes k-th; its first node among the carried ones, and how many; where its numbers begin."""
    row = structure[BODIES_AT] + BODY_ROW * k
    return structure[row], structure[row + 1], structure[row + 2], structure[row + 3]


@helper
def carried(structure: Any, c: Any) -> Any:
    """First component of the carried node c; where it is on its body, among the parameters."""
    row = structure[CARRIED_AT] + CARRIED_ROW * c
    return structure[row], structure[row + 1]


@helper
def on_body(structure: Any, c: Any) -> Any:
    """Of the carried node c: where its place on the body begins; the body; where the numbers of this begin."""
    row = structure[CARRIED_AT] + CARRIED_ROW * c
    return structure[row + 1], structure[row + 2], structure[row + 3]


@helper
def pose_at(structure: Any, b: Any) -> Any:
    """Where the pose of body b begins in the state."""
    return 3 * structure[NODES] + 7 * b


@helper
def wrench_at(structure: Any, b: Any) -> Any:
    """Where the momenta of body b begin, after those of the first node."""
    return 3 * structure[NODES] + 6 * b


@helper
def twist(p: Any, y: Any, parameters: Any, at: Any) -> Any:
    """Velocity and angular velocity in body axes, of momenta from p on."""
    k, inverse = three(y, p + 3), plain(parameters, at + 2)
    return scale(parameters[at + 1], three(y, p)), (inverse[0] * k[0], inverse[1] * k[1], inverse[2] * k[2])


# --- both -------------------------------------------------------------------------------------------------------------


@rare(_has_owned)
def put(t: Any, drivers: Any, bodies: Any, y: Any, parameters: Any, structure: Any, places: Any) -> None:
    """The places of the nodes on the first supports and bodies."""
    zero = 0.0 * ld(y, 0)
    for k in range(drivers):
        i, x, _ = support(t, parameters, structure, k)
        store(places, i, (x[0] + zero, x[1] + zero, x[2] + zero))
    for k in range(bodies):
        b, first, count, _ = body_numbers(structure, k)
        q = pose_at(structure, b)
        centre, attitude = three(y, q), four(y, q + 3)
        for c in range(first, first + count):
            i, at = carried(structure, c)
            store(places, i, add(centre, rotations.act(attitude, plain(parameters, at))))


@helper
def place_all(t: Any, y: Any, parameters: Any, structure: Any, places: Any) -> None:
    """The places of all nodes."""
    for i in range(3 * structure[NODES]):
        st(places, i, ld(y, i))
    put(t, structure[DRIVEN], structure[BODIES], y, parameters, structure, places)


@helper
def velocity(t: Any, y: Any, offset: Any, parameters: Any, structure: Any) -> Any:
    """The velocity of any node."""
    v = scale(inverse_mass(parameters, structure, offset), three(y, momenta_at(structure) + offset))
    if is_owned(structure):
        v = add(v, velocity_of_owner(t, y, offset, parameters, structure))
    return v


@rare(_has_owned, lambda t, y, *others: (scalar_of(y),) * 3)
def velocity_of_owner(t: Any, y: Any, offset: Any, parameters: Any, structure: Any) -> Any:
    """What its support or body gives a node."""
    zero, owner = 0.0 * ld(y, 0), structure[structure[OWNERS_AT] + offset // 3]
    v = (zero, zero, zero)
    if owner > 0:
        _, _, u = support(t, parameters, structure, owner - 1)
        v = (u[0] + zero, u[1] + zero, u[2] + zero)
    elif owner < 0:
        at, b, own = on_body(structure, -owner - 1)
        u, w = twist(momenta_at(structure) + wrench_at(structure, b), y, parameters, own)
        v = rotations.act(four(y, pose_at(structure, b) + 3), add(u, cross(w, plain(parameters, at))))
    return v


@rare(_has_bodies, lambda damping, w, u, a, b, y, *others: scalar_of(y))
def softened(damping: Any, w: Any, u: Any, a: Any, b: Any, y: Any, parameters: Any, structure: Any) -> Any:
    """(exp(−c w/µ) − 1) µ of a damper between any nodes along u, 1/µ the velocity that a unit impulse gives them."""
    inverse = mobility(u, y, a, parameters, structure) + mobility(u, y, b, parameters, structure)
    return decay(-(damping * w * inverse)) / inverse


@helper
def mobility(u: Any, y: Any, offset: Any, parameters: Any, structure: Any) -> Any:
    """The velocity along u that a unit impulse along u gives a node."""
    m, owner = inverse_mass(parameters, structure, offset), structure[structure[OWNERS_AT] + offset // 3]
    m = m + 0.0 * ld(y, 0)
    if owner < 0:
        at, b, own = on_body(structure, -owner - 1)
        arm = cross(plain(parameters, at), rotations.act_inverse(four(y, pose_at(structure, b) + 3), u))
        J = plain(parameters, own + 2)
        m = parameters[own + 1] + (J[0] * arm[0] * arm[0] + J[1] * arm[1] * arm[1] + J[2] * arm[2] * arm[2])
    return m


@helper
def strike(
    t: Any, f: Any, offset: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any
) -> None:  # fmt: skip
    """An impulse f on any node."""
    if inverse_mass(parameters, structure, offset) != 0.0:
        increase3(y, low, momenta_at(structure) + offset, f, compensation)
    elif is_owned(structure):
        strike_owner(t, f, offset, y, low, parameters, structure, compensation)


@rare(_has_owned)
def strike_owner(
    t: Any, f: Any, offset: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any
) -> None:  # fmt: skip
    """An impulse f on a node that does not move by itself."""
    p, owner = momenta_at(structure), structure[structure[OWNERS_AT] + offset // 3]
    if owner > 0:
        _, _, u = support(t, parameters, structure, owner - 1)
        increase3(y, low, p + offset, (-f[0] * u[0], -f[1] * u[1], -f[2] * u[2]), compensation)
    elif owner < 0:
        at, b, _ = on_body(structure, -owner - 1)
        own = rotations.act_inverse(four(y, pose_at(structure, b) + 3), f)
        increase3(y, low, p + wrench_at(structure, b), own, compensation)
        increase3(y, low, p + wrench_at(structure, b) + 3, cross(plain(parameters, at), own), compensation)


@helper
def wrench(k: Any, y: Any, parameters: Any, structure: Any, force: Any, first: Any) -> Any:
    """Which body comes k-th, and the force and moment on it, in body axes, of the forces on its nodes."""
    zero = 0.0 * ld(y, 0)
    b, start, count, _ = body_numbers(structure, k)
    attitude = four(y, pose_at(structure, b) + 3)
    f, m = (zero, zero, zero), (zero, zero, zero)
    for c in range(start, start + count):
        i, at = carried(structure, c)
        own = rotations.act_inverse(attitude, three(force, first + i))
        f, m = add(f, own), add(m, cross(plain(parameters, at), own))
    return b, f, m


# --- of the field -----------------------------------------------------------------------------------------------------


@rare(_has_owned)
def share(t: Any, y: Any, parameters: Any, structure: Any, out: Any, first: Any) -> None:
    """Rates of the bodies, and the powers of the supports, from the forces on their nodes in `out` from `first` on."""
    g, p, n = plain(parameters, 0), momenta_at(structure), 3 * structure[NODES]
    for k in range(structure[BODIES]):
        b, f, m = wrench(k, y, parameters, structure, out, first)
        _, _, _, at = body_numbers(structure, k)
        u, w = twist(p + wrench_at(structure, b), y, parameters, at)
        l, a = three(y, p + n + 6 * b), three(y, p + n + 6 * b + 3)
        weight = scale(parameters[at], rotations.act_inverse(four(y, pose_at(structure, b) + 3), g))
        store(out, n + 6 * b, u)
        store(out, n + 6 * b + 3, w)
        store(out, first + n + 6 * b, add(cross(l, w), add(f, weight)))
        store(out, first + n + 6 * b + 3, add(cross(a, w), m))
    for k in range(structure[DRIVEN]):
        i, _, u = support(t, parameters, structure, k)
        f = three(out, first + i)
        store(out, first + i, (-f[0] * u[0], -f[1] * u[1], -f[2] * u[2]))


@rare(_has_bodies, lambda y, *others: (scalar_of(y), (scalar_of(y),) * 3, (scalar_of(y),) * 3))
def of_bodies(y: Any, parameters: Any, structure: Any) -> Any:
    """Energy of motion and weight, momentum and angular momentum about the origin, of all bodies."""
    energy = 0.0 * ld(y, 0)
    linear, angular = (energy, energy, energy), (energy, energy, energy)
    g, p = plain(parameters, 0), momenta_at(structure)
    for k in range(structure[BODIES]):
        b, _, _, at = body_numbers(structure, k)
        q, first = pose_at(structure, b), p + wrench_at(structure, b)
        centre, attitude, l, a = three(y, q), four(y, q + 3), three(y, first), three(y, first + 3)
        u, w = twist(first, y, parameters, at)
        energy = energy + (0.5 * (dot(l, u) + dot(a, w)) - parameters[at] * dot(g, centre))
        moving = rotations.act(attitude, l)
        linear, angular = add(linear, moving), add(angular, add(cross(centre, moving), rotations.act(attitude, a)))
    return energy, linear, angular


@helper
def works(y: Any, structure: Any) -> Any:
    """The work of all supports."""
    p, total = momenta_at(structure), 0.0 * ld(y, 0)
    for k in range(structure[DRIVEN]):
        w = three(y, p + structure[structure[DRIVEN_AT] + DRIVEN_ROW * k])
        total = total + (w[0] + w[1] + w[2])
    return total


@entry(*FIELD_SIGNATURES)
def projection(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The state with all nodes at their places."""
    for i in range(y.shape[0]):
        st(out, i, ld(y, i))
    put(t, structure[DRIVEN], structure[BODIES], y, parameters, structure, out)


# --- of asynchronous steps --------------------------------------------------------------------------------------------


@helper
def drivers(structure: Any, top: Any) -> Any:
    """How many supports take part where elements with a step of at most 2^top finest ones kick."""
    return structure[structure[DRIVEN_LEVELS_AT] + top]


@helper
def movers(structure: Any, top: Any) -> Any:
    """How many bodies do."""
    return structure[structure[BODY_LEVELS_AT] + top]


@helper
def put_of_step(t: Any, top: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any) -> None:
    """The places of the nodes that take part, in the state, and nothing in its low words."""
    put(t, drivers(structure, top), movers(structure, top), y, parameters, structure, y)
    if compensation:
        no_forces(top, y, structure, low)


@rare(_has_owned)
def lead(t: Any, offset: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any) -> None:
    """A node to the place where its support is at time t."""
    owner = structure[structure[OWNERS_AT] + offset // 3]
    if owner > 0:
        _, x, _ = support(t, parameters, structure, owner - 1)
        store(y, offset, x)
        if compensation:
            store(low, offset, (0.0, 0.0, 0.0))


@rare(_has_owned)
def no_forces(top: Any, y: Any, structure: Any, force: Any) -> None:
    """Zeros for the nodes on supports and bodies that take part."""
    zero = 0.0 * ld(y, 0)
    for k in range(drivers(structure, top)):
        store(force, structure[structure[DRIVEN_AT] + DRIVEN_ROW * k], (zero, zero, zero))
    for k in range(movers(structure, top)):
        _, first, count, _ = body_numbers(structure, k)
        for c in range(first, first + count):
            store(force, structure[structure[CARRIED_AT] + CARRIED_ROW * c], (zero, zero, zero))


@rare(_has_owned)
def kick_owners(
    w: Any, top: Any, t: Any, y: Any, low: Any, parameters: Any, structure: Any, force: Any, compensation: Any
) -> None:  # fmt: skip
    """w times the forces on their nodes: as wrenches to the bodies, as work to the supports."""
    p = momenta_at(structure)
    for k in range(drivers(structure, top)):
        i, _, u = support(t, parameters, structure, k)
        f = three(force, i)
        increase3(y, low, p + i, (-w * f[0] * u[0], -w * f[1] * u[1], -w * f[2] * u[2]), compensation)
    for k in range(movers(structure, top)):
        b, f, m = wrench(k, y, parameters, structure, force, 0)
        increase3(y, low, p + wrench_at(structure, b), scale(w, f), compensation)
        increase3(y, low, p + wrench_at(structure, b) + 3, scale(w, m), compensation)


@rare(_has_bodies)
def fly_body(
    tau: float, k: int, y: Any, low: Any, parameters: Any, structure: Any, compensation: int
) -> None:  # fmt: skip
    """The exact motion of the body that comes k-th over the time tau, under its weight alone: it turns freely about its
    centre of mass, which falls.
    """
    b, _, _, at = body_numbers(structure, k)
    fly(
        tau, y, low, pose_at(structure, b), momenta_at(structure) + wrench_at(structure, b), True, parameters[at],
        parameters[at + 1], plain(parameters, at + 2), plain(parameters, 0), compensation,
    )  # fmt: skip
