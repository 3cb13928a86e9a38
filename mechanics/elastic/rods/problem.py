"""The motion of a rod: rigid sections at the nodes, SE(3) each (SO(3) where pinned), moved by what is between them.

    x' = R v,  R' = R ω^,   l = m v,  k = J ω,    l' = l × ω + f,   k' = k × ω + τ         (l, k, f, τ in body axes)

Canonical, with H = ½ pᵀ K p + V: every symplectic method, explicit splittings too, in linear time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, Variable
from integrators.problem.guards import Guard, energy_guard, momentum_guards
from integrators.signatures import FIELD_SIGNATURES
from liegroup import se3
from liegroup.arrays import reals
from liegroup.compile import entry, helper, kernel, ld, select, st
from liegroup.formulas import so3 as rotations
from liegroup.formulas.vectors import add, cross, dot, scale
from liegroup.table import load_components, store_components
from mechanics.elastic.rods import element
from mechanics.elastic.rods.assembly import balance
from mechanics.elastic.rods.layout import (
    CLAMPED,
    FREE,
    PINNED,
    Packed,
    between,
    element_numbers,
    kind_of,
    load_place,
    node_numbers,
    state_place,
    stroke_place,
    velocity_place,
)
from mechanics.elastic.rods.rod import LONGEST_TURN, Rod, refuse_turns
from mechanics.elastic.rods.scene import rod_scene
from mechanics.elastic.rods.vibrations import StepLimit, step_limit
from mechanics.errors import ModelError

Array = NDArray[np.float64]
NAMES = ("energy", *(f"{k}_{a}" for k in ("momentum", "angular_momentum") for a in "xyz"), "turn", "smallest_stretch")
UNITS = ("J", *["kg m/s"] * 3, *["kg m^2/s"] * 3, "rad", "1")

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
def _numbers3(parameters: Any, i: Any) -> Any:
    return parameters[i], parameters[i + 1], parameters[i + 2]


@helper
def _numbers4(parameters: Any, i: Any) -> Any:
    return parameters[i], parameters[i + 1], parameters[i + 2], parameters[i + 3]


@helper
def _numbers6(parameters: Any, i: Any) -> Any:
    return _numbers3(parameters, i) + _numbers3(parameters, i + 3)


@kernel
def held_pose(t: Any, parameters: Any, structure: Any, i: Any) -> Any:
    """Where a support holds node i at time t."""
    at = node_numbers(i) + 8
    x, q = _numbers3(parameters, at), _numbers4(parameters, at + 3)
    for k in range(structure[3]):
        place = stroke_place(structure, k)
        if structure[place] == i:
            first = structure[place + 2]
            s = between(parameters, first + 6, structure[place + 1], t, True)
            x = add(x, scale(s, _numbers3(parameters, first)))
            q = rotations.compose(rotations.exp(scale(s, _numbers3(parameters, first + 3))), q)
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
def _push(out: Any, structure: Any, i: Any, first: Any, wrench: Any) -> None:
    """A wrench on node i, added to its momenta, which begin at `first`."""
    kind, at = kind_of(structure, i), first + velocity_place(structure, i)
    if kind == FREE:
        _increase(out, at, wrench[:3])
        _increase(out, at + 3, wrench[3:])
    elif kind == PINNED:
        _increase(out, at, wrench[3:])


@helper
def _element(a: Any, b: Any, parameters: Any, structure: Any, k: Any) -> Any:
    """Wrenches, energy, turn and stretch of element k."""
    at = element_numbers(structure, k)
    return element.wrenches(
        a, b, parameters[at], _numbers6(parameters, at + 1), _numbers6(parameters, at + 7), structure[1]
    )


@helper
def _sizes(structure: Any) -> Any:
    """Components of the configuration and of the velocity."""
    n = structure[0]
    kind = kind_of(structure, n)
    q, v = state_place(structure, n), velocity_place(structure, n)
    if kind == FREE:
        return q + 7, v + 6
    if kind == PINNED:
        return q + 4, v + 3
    return q, v


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, ω; l × ω + f, k × ω + τ) of every node."""
    n = structure[0]
    places, first = _sizes(structure)
    g = _numbers3(parameters, 0)
    b = node_pose(t, y, parameters, structure, 0)
    for i in range(n + 1):
        kind, at, own = kind_of(structure, i), velocity_place(structure, i), node_numbers(i)
        a = b
        if i > 0:
            b = node_pose(t, y, parameters, structure, i)
        if kind != CLAMPED:
            turned = at + 3 if kind == FREE else at
            k = three(y, places + turned)
            J = _numbers3(parameters, own + 5)
            w = (J[0] * k[0], J[1] * k[1], J[2] * k[2])
            store3(out, turned, w)
            store3(out, first + turned, cross(k, w))
            if kind == FREE:
                l = three(y, places + at)
                store3(out, at, scale(parameters[own + 1], l))
                weight = scale(parameters[own], rotations.act_inverse(b[3:], g))
                store3(out, first + at, add(cross(l, w), weight))
        if i > 0:
            on_a, on_b, _, _, _ = _element(a, b, parameters, structure, i - 1)
            _push(out, structure, i - 1, first, on_a)
            _push(out, structure, i, first, on_b)
    for k in range(structure[2]):
        place = load_place(structure, k)
        i, start = structure[place], structure[place + 3]
        s = between(parameters, start + 6, structure[place + 2], t, False)
        F, M = scale(s, _numbers3(parameters, start)), scale(s, _numbers3(parameters, start + 3))
        zero = 0.0 * ld(y, 0)
        F, M = _lanes(zero, F), _lanes(zero, M)
        if structure[place + 1] == 0:
            r = node_pose(t, y, parameters, structure, i)[3:]
            F, M = rotations.act_inverse(r, F), rotations.act_inverse(r, M)
        _push(out, structure, i, first, F + M)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Energy with those of weight and of constant dead forces, Σ R l, Σ x × R l + R k, the greatest turn and
    the smallest stretch of an element.
    """
    n, zero = structure[0], 0.0 * ld(y, 0)
    places, _ = _sizes(structure)
    g = _numbers3(parameters, 0)
    energy, greatest, least = zero, zero, zero + 1e300
    linear, angular = (zero, zero, zero), (zero, zero, zero)
    b = node_pose(t, y, parameters, structure, 0)
    for i in range(n + 1):
        kind, at, own = kind_of(structure, i), velocity_place(structure, i), node_numbers(i)
        a = b
        if i > 0:
            b = node_pose(t, y, parameters, structure, i)
            _, _, stored, turn, stretch = _element(a, b, parameters, structure, i - 1)
            energy = energy + stored
            greatest = select(turn > greatest, turn, greatest)
            least = select(stretch < least, stretch, least)
        if kind != CLAMPED:
            turned = at + 3 if kind == FREE else at
            k = three(y, places + turned)
            J = _numbers3(parameters, own + 5)
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
            energy = energy - dot(x[:3], _numbers3(parameters, structure[place + 3]))
    st(out, 0, energy)
    store3(out, 1, linear)
    store3(out, 4, angular)
    st(out, 7, greatest)
    st(out, 8, least)


def rod_problem(rod: Rod, poses: ArrayLike | None = None, velocities: ArrayLike | None = None) -> Problem:
    """The motion of a rod: see `Rod.problem`."""
    start = np.asarray(rod.poses) if poses is None else reals(poses, "poses", f"an array {np.shape(rod.poses)}")
    n = rod.n_elements
    if start.shape != (n + 1, 7):
        raise ValueError(f"poses: shape {start.shape}, expected ({n + 1}, 7), a pose per node")
    se3.check(start, "poses")
    refuse_turns(rod.turns(start))
    if (pressed := rod.stretches(start)).min() <= 0.0:
        k = int(np.argmin(pressed))
        raise ModelError(
            f"rod: element {k}", f"its ends have changed places: its stretch is {pressed[k]:.4g}",
            f"place node {k + 1} ahead of node {k} along its first axis",
        )  # fmt: skip
    v = np.zeros((n + 1, 6)) if velocities is None else reals(velocities, "velocities", f"an array ({n + 1}, 6)")
    if v.shape != (n + 1, 6) or not np.isfinite(v).all():
        raise ValueError(f"velocities: shape {v.shape}, expected ({n + 1}, 6), finite, a body twist per node")
    packed = Packed(rod, start)
    if not packed.n_v:
        raise ValueError("supports: every node is clamped, expected at least one that moves")
    if (moving := rod.held & (v != 0.0)).any():
        node = int(np.argwhere(moving)[0, 0])
        raise ValueError(f"velocities: node {node} is {rod.supports[node]} and moves; give 0 there")
    return Problem(
        packed.table,
        np.concatenate([packed.configuration(start), packed.momenta(rod.inertia, v)]),
        field,
        parameters=packed.parameters,
        structure=packed.structure,
        variables=_variables(packed),
        invariants=invariants,
        invariant_names=NAMES,
        invariant_units=UNITS,
        guards=(
            Guard(
                "turn",
                "the ends of an element are turned so far against each other that its strain is in doubt",
                "use a smaller step or more elements",
                greatest=LONGEST_TURN,
                stops=True,
            ),
            Guard(
                "smallest_stretch",
                "an element is pressed through itself: its ends have changed places",
                "use a stiffer section, a weaker load, or a smaller step",
                least=0.0,
                stops=True,
            ),
            *_kept(rod, packed, start, v),
        ),
        explain=_Explanation(rod, packed),
        fastest=_Fastest(rod),
        autonomous=rod.is_autonomous,
        canonical=True,
        jacobian_sparsity=packed.sparsity(),
        model="rod",
        scene=rod_scene(rod, packed),
    )


def _kept(rod: Rod, packed: Packed, poses: Array, velocities: Array) -> tuple[Guard, ...]:
    """The guards of what is conserved: of energy, by what the motion can exchange, J: kinetic energy and strains of the
    start, and the work of weight and of dead forces over the length of the rod; of a free rod the momenta, too.
    """
    if not rod.is_conservative:
        return ()
    n = rod.n_elements
    options, totals = np.array([rod.strain == "cayley", -1], dtype=np.int64), np.zeros(1)
    balance.compiled(
        np.ascontiguousarray(poses), rod.elements, np.zeros((n + 1, 12)), options, np.zeros((n + 1, 6)),
        np.zeros((n, 6)), totals,
    )  # fmt: skip
    kinetic = 0.5 * float(np.sum(np.repeat(rod.inertia, [3, 1, 1, 1], axis=1) * velocities**2))
    forces = float(rod.inertia[:, 0].sum() * np.linalg.norm(np.asarray(rod.gravity)))
    forces += sum(float(np.linalg.norm(load.wrench[:3])) for load in rod.loads)
    found = energy_guard(kinetic + float(totals[0]) + forces * rod.length)
    if not (rod.supports or rod.loads or np.any(rod.gravity)):
        found += momentum_guards(NAMES[1:7], float(np.linalg.norm(packed.momenta(rod.inertia, velocities))))
    return found


def _variables(packed: Packed) -> list[Variable]:
    pose = Variable("", ("x", "y", "z", "qw", "qx", "qy", "qz"), "m, m, m, 1, 1, 1, 1", "pose")
    named = []
    for i, kind in enumerate(packed.kinds):
        if kind != CLAMPED:
            labels, units = (pose.labels, pose.units) if kind == FREE else (pose.labels[3:], "1")
            named.append(Variable(f"node{i}", labels, units, "pose" if kind == FREE else "attitude"))
    components = ("lx", "ly", "lz", "kx", "ky", "kz")
    labels = tuple(f"{c}{i}" for i, kind in enumerate(packed.kinds) for c in components[(0, 3, 6)[kind] :])
    return [*named, Variable("momentum", labels, "", "body axes")]


class _Fastest:
    """The largest frequency of an element without stress, rad/s, and the element."""

    def __init__(self, rod: Rod) -> None:
        self.rod = rod

    @cached_property
    def limit(self) -> StepLimit:
        return step_limit(self.rod)

    def __call__(self, y: Array) -> tuple[float, str]:
        return self.limit.angular_frequency, f"element {self.limit.element} of the rod (by its {self.limit.cause})"


class _Explanation:
    """What can be said of a state of a rod in which a run failed."""

    def __init__(self, rod: Rod, packed: Packed) -> None:
        self.rod, self.packed = rod, packed

    def __call__(self, t: float, y: Array) -> str:
        limit = step_limit(self.rod)
        said = (
            f"explicit steps of this rod must be below {limit.step:.4g} s, set by the {limit.cause} of element "
            f"{limit.element}"
        )
        if limit.cause == "thickness":
            said += ", and longer ones want a method that damps what they do not follow, such as RKMK_RADAU_IIA3"
        poses = node_poses(self.packed, t, y)
        stretches = self.rod.stretches(poses)
        if np.isfinite(stretches).all() and stretches.min() < 0.0:
            k = int(np.argmin(stretches))
            return f"element {k} is pressed through itself: its stretch is {stretches[k]:.4g}; {said}"
        turns = self.rod.turns(poses)
        if np.isfinite(turns).all() and turns.max() > 1.0:
            k = int(np.argmax(turns))
            said = f"element {k} turns by {turns[k]:.4g} rad between its ends; {said}"
        return said


def node_poses(packed: Packed, t: ArrayLike, y: ArrayLike) -> Array:
    """Poses (…, n + 1, 7) of all nodes at times t (…) in states y (…, n)."""
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    out = np.zeros((*states.shape[:-1], len(packed.kinds), 7))
    for i, kind in enumerate(packed.kinds):
        at = int(packed.structure[4 + 3 * i + 1])
        if kind == FREE:
            out[..., i, :] = states[..., at : at + 7]
            continue
        held = [held_pose(s, packed.parameters, packed.structure, i) for s in np.ravel(times)]
        out[..., i, :] = np.broadcast_to(np.array(held).reshape(*times.shape, 7), out[..., i, :].shape)
        if kind == PINNED:
            out[..., i, 3:] = states[..., at : at + 4]
    return out
