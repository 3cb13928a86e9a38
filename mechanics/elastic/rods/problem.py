"""The motion of a rod: rigid sections at the nodes, SE(3) each (SO(3) where pinned), moved by what is between them.

    x' = R v,  R' = R ω^,   l = m v,  k = J ω,    l' = l × ω + f,   k' = k × ω + τ         (l, k, f, τ in body axes)

Canonical, with H = ½ pᵀ K p + V: every symplectic method, explicit splittings too, in linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.layout import OWN_ROWS
from integrators.problem import Doubt, OwnStep, Problem, Variable
from integrators.problem.fields import giving_entries
from integrators.problem.guards import Guard, energy_guard, momentum_guards
from liegroup import se3
from liegroup.arrays import reals
from mechanics.elastic.rods import keeping
from mechanics.elastic.rods.assembly import balance
from mechanics.elastic.rods.asynchronous import LEVEL_ROWS, level_step
from mechanics.elastic.rods.field import field, held_pose, invariants
from mechanics.elastic.rods.layout import CLAMPED, FREE, HEAD, PER_NODE, PINNED, Packed
from mechanics.elastic.rods.rigid import FIELD_ROWS, rattle_step, rigid_field, rigid_invariants
from mechanics.elastic.rods.rigid import explain as explain_rattle
from mechanics.elastic.rods.rigid import shape as rattle_shape
from mechanics.elastic.rods.rod import LONGEST_TURN, STIFFNESS, Rod, refuse_turns
from mechanics.elastic.rods.scene import rod_scene
from mechanics.elastic.rods.vibrations import StepLimit, step_limit
from mechanics.elastic.states import moving
from mechanics.errors import ModelError

Array = NDArray[np.float64]
NAMES = ("energy", *(f"{k}_{a}" for k in ("momentum", "angular_momentum") for a in "xyz"), "turn", "smallest_stretch")
_ROUNDING = 1e-12
"""Of places relative to their size, after long runs too; without a unit."""
UNITS = ("J", *["kg m/s"] * 3, *["kg m^2/s"] * 3, "rad", "1")


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
    if (wrong := moving(rod.held, v)).any():
        node = int(np.argwhere(wrong)[0, 0])
        raise ValueError(f"velocities: node {node} is {rod.supports[node]} and moves; give 0 there")
    return Problem(
        packed.table,
        np.concatenate([packed.configuration(start), packed.momenta(rod.inertia, v)]),
        parameters=packed.parameters,
        variables=_variables(packed),
        **(_kept_strains(rod, packed, start, v) if rod.rigid else _free_strains(rod, packed)),
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
            *(keeping.guards(rod) if rod.rigid else ()),
        ),
        explain=_Explanation(rod, packed),
        fastest=_Fastest(rod),
        scales=_scales(rod, packed, start),
        autonomous=rod.is_autonomous,
        model="rod",
        scene=rod_scene(rod, packed),
    )


def _extent(poses: Array) -> float:
    """How far the nodes of a rod reach, m."""
    return float(np.linalg.norm(np.ptp(poses[:, :3], axis=0)))


def _scales(rod: Rod, packed: Packed, poses: Array) -> Array:
    """What counts as one of each component: the extent of the rod, and the momenta of nodes that go as far, or turn by
    one, in the time 1/ω of its fastest vibration.
    """
    length, rate = _extent(poses), step_limit(rod).angular_frequency
    count = len(poses)
    places = packed.configuration(np.tile([*3 * [length], *4 * [1.0]], (count, 1)))
    momenta = packed.momenta(rod.inertia, rate * np.tile([*3 * [length], *3 * [1.0]], (count, 1)))
    return np.concatenate([places, momenta])


def _free_strains(rod: Rod, packed: Packed) -> dict[str, Any]:
    """What is posed of a rod whose strains all have a stiffness."""
    levels, wide = rod._levels, packed.n_v + max(packed.n_q, packed.n_v)
    return {
        "field": field if rod.dissipates else giving_entries(field),
        "structure": np.concatenate([packed.structure, levels.table(rod)]),
        "invariants": invariants,
        "invariant_names": NAMES,
        "invariant_units": UNITS,
        "canonical": True,
        "jacobian_sparsity": packed.sparsity(),
        "own_steps": {"asynchronous": OwnStep(level_step, (OWN_ROWS + LEVEL_ROWS, wide), doubts=levels.doubts)},
    }


def _kept_strains(rod: Rod, packed: Packed, poses: Array, velocities: Array) -> dict[str, Any]:
    """What is posed of a rod that keeps some."""
    keeping.check(rod, poses, velocities)
    shape = rattle_shape(rod.n_elements, len(rod.kept), packed.n_q + packed.n_v)
    return {
        "field": rigid_field,
        "structure": np.concatenate([packed.structure, [len(rod.kept), *rod.kept]]),
        "work_shape": (FIELD_ROWS, shape[1]),
        "invariants": rigid_invariants,
        "invariant_names": (*NAMES, "gap", "closing_velocity"),
        "invariant_units": (*UNITS, "m", "m/s"),
        "own_steps": {"rattle": OwnStep(rattle_step, shape, explain=explain_rattle, doubts=_StepOf(rod))},
    }


def _kept(rod: Rod, packed: Packed, poses: Array, velocities: Array) -> tuple[Guard, ...]:
    """The guards of what is conserved: of energy, by what the motion can exchange, J: kinetic energy and strains of the
    start, and the work of weight and of dead forces over the length of the rod; of a free rod the momenta, too.  A rod
    at rest has only what rounding makes of its strains, and nothing is asked of that.
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
    at_play = kinetic + float(totals[0]) + forces * rod.length
    found = energy_guard(at_play, rod.dissipates) if at_play > _of_rounding(rod, poses) else ()
    if not (rod.supports or rod.loads or np.any(rod.gravity) or rod.drags.any()):
        length = _extent(poses)
        linear = float(np.linalg.norm(packed.momenta(rod.inertia, velocities / ([1.0] * 3 + [length] * 3))))
        found += momentum_guards(NAMES[1:4], linear) + momentum_guards(NAMES[4:7], linear * length)
    return found


def _of_rounding(rod: Rod, poses: Array) -> float:
    """The energy of strains that places in these poses cannot tell from none, J."""
    lengths, stiffness = rod.elements[:, 0], rod.elements[:, STIFFNESS]
    strains = _ROUNDING * (1.0 + np.abs(poses[:, :3]).max() / lengths)
    return float(0.5 * np.sum(lengths * strains**2 * np.where(np.isfinite(stiffness), stiffness, 0.0).max(axis=1)))


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


class _StepOf:
    """What is doubted of the steps of RATTLE."""

    def __init__(self, rod: Rod) -> None:
        self.rod = rod

    def __call__(self, y: Array, h: float) -> Sequence[Doubt]:
        limit = step_limit(self.rod)
        phase = abs(h) * limit.angular_frequency
        if phase <= 2.0:
            return ()
        says = f"element {limit.element} of the rod (by its {limit.cause}) has h ω = {phase:.3g}, beyond the limit 2"
        return [Doubt("step", 0.0, phase, 2.0, says, f"use a step below {limit.step:.3g} s")]


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
        at = int(packed.structure[HEAD + PER_NODE * i + 1])
        if kind == FREE:
            out[..., i, :] = states[..., at : at + 7]
            continue
        held = [held_pose(s, packed.parameters, packed.structure, i) for s in np.ravel(times)]
        out[..., i, :] = np.broadcast_to(np.array(held).reshape(*times.shape, 7), out[..., i, :].shape)
        if kind == PINNED:
            out[..., i, 3:] = states[..., at : at + 4]
    return out
