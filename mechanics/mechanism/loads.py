"""What saved states of a run say: elastic joints turned further than their moments hold for, planes that would pull."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt
from liegroup.arrays import spread
from mechanics import dynamics
from mechanics.algorithms.batch import once
from mechanics.closed_trees.field import closed
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.equations import geometry
from mechanics.constraints.loads import FITS, pulling
from mechanics.constraints.wheel_equations import EDGE, HEIGHT
from mechanics.forces.compliant import Compliant
from mechanics.forces.turned import doubts as doubts_of_turns
from mechanics.forces.turned import turning
from mechanics.kinematics import frame_pose
from mechanics.states import evaluate

if TYPE_CHECKING:
    from mechanics.closed_trees.packing import PackedLoops
    from mechanics.mechanism.mechanism import Mechanism
    from mechanics.model import Tree

Array = NDArray[np.float64]
LOOKS, EACH, PULL, INSTANT = 17, 8, 1e-3, 1e-6
"""Saved states of a trajectory in which loads are looked at, at most, and one of so many at most, as of large ensembles
few are given; pull that counts, in weights; s, for differences.
"""
FLAT = 0.1
"""sin of the angle to lying flat on its plane below which a wheel is named as a cause."""


Given = Callable[[int], Array]
"""The inputs of the mechanism in the k-th of some states."""


def flat_wheel(mechanism: Mechanism, t: float, q: Array) -> str:
    """Which wheel or blade lies nearly flat on its plane, where it has no heading, nor a lowest point; or nothing."""
    for closure in mechanism.equations.closures:
        if not any(HEIGHT <= equation.kind <= EDGE for equation in closure.equations):
            continue
        normal, axis = (frame_pose(mechanism.tree, q, f, t)[1][:, 2] for f in (closure.first, closure.second))
        if (sine := float(np.linalg.norm(np.cross(normal, axis)))) < FLAT:
            angle = np.rad2deg(np.arcsin(sine))
            return (
                f"{closure.name!r} is {angle:.2g}° from lying flat on its plane, where its equations end (end the run "
                "before, by an event, or give it a contact in the place of its equations)"
            )
    return ""


def state_doubts(mechanism: Mechanism, momenta: bool) -> Callable[..., list[Doubt]] | None:
    """See `Mechanism.state_doubts`."""
    joints = turning(mechanism.elements)
    heights = [c for c, e in enumerate(mechanism.equations.equations) if e.label == "height"]
    return partial(_doubts, mechanism, joints, heights, momenta) if joints or heights else None


def _doubts(
    mechanism: Mechanism, joints: Sequence[Sequence[Compliant]], heights: Sequence[int], momenta: bool, t: Array,
    y: Array, u: Given | None = None,
) -> list[Doubt]:  # fmt: skip
    turned = _turned(mechanism, joints, t, y) if joints else []
    return [*turned, *(_lifted(mechanism, heights, momenta, t, y, u) if heights else ())]


def _lifted(
    mechanism: Mechanism, heights: Sequence[int], momenta: bool, t: Array, y: Array, u: Given | None
) -> list[Doubt]:
    """The first of some states in which the plane of a wheel pulls: its equation holds in both directions."""
    if u is None and len(mechanism._packed.inputs):
        return []
    tree, free = mechanism.tree, type(mechanism)(mechanism.tree, (), mechanism.home, [mechanism.elements])
    n_q, n = tree.nq, tree.nv
    weight = tree.mass * float(np.linalg.norm(tree.gravity))
    looks = min(LOOKS, 1 + len(t) // EACH) if 2 * len(t) >= EACH else 0
    for row in spread(len(t), looks):
        time, q, x = float(t[row]), y[row, :n_q], y[row, n_q : n_q + n]
        held, loose = (_held(one._packed, u, row) for one in (mechanism, free))
        with once():
            v = evaluate(closed, held, 2 * n, time, q, x)[:n] if momenta else x
            at, p = geometry(tree, q, None, time), mechanism.momentum(q, v, time)
            forces = at.mass_matrix(tree) @ (
                _acceleration(tree, held, time, q, p) - _acceleration(tree, loose, time, q, p)
            )
            G = mechanism.equations.matrix(q, time, at)
        # without gravity there is no weight, and rounding of the forces is no pull
        least = PULL * weight + FITS * (abs(float(p @ v)) / mechanism.size + float(np.linalg.norm(forces)))
        found = pulling(G, forces, heights, least) if np.isfinite(forces).all() else None
        if found is not None:
            which, load = found
            says = f"the plane would have to pull at {mechanism.equations.names[which]!r}, which lifts off instead"
            return [Doubt("load", time, load, 0.0, says, "drive slower, or give it a contact in place of a wheel")]
    return []


def _held(packed: PackedLoops, u: Given | None, k: int) -> PackedLoops:
    """The arrays of a mechanism with its inputs in the k-th state."""
    if not len(packed.inputs) or u is None:
        return packed
    parameters = packed.parameters.copy()
    parameters[list(packed.inputs.places)] = u(k)
    return replace(packed, parameters=parameters)


def _acceleration(tree: Tree, packed: PackedLoops, t: float, q: Array, p: Array) -> Array:
    """v̇ (nv,), by differences of v along the motion."""
    n, kernel = tree.nv, partial(evaluate, closed, packed, 2 * tree.nv)
    rate = kernel(t, q, p)
    ahead, behind = (kernel(t + e, moved_by(tree, q, e * rate[:n]), p + e * rate[n:])[:n] for e in (INSTANT, -INSTANT))
    return np.asarray((ahead - behind) / (2.0 * INSTANT))


def _turned(mechanism: Mechanism, joints: Sequence[Sequence[Compliant]], t: Array, y: Array) -> list[Doubt]:
    q, tree = y[:, : mechanism.tree.nq], mechanism.tree
    if tree.is_rheonomic:
        poses = [dynamics.body_poses(tree, x, at)[1] for x, at in zip(q, t.tolist(), strict=True)]
        return doubts_of_turns(joints, tree.body_names, t, np.array(poses))
    return doubts_of_turns(joints, tree.body_names, t, dynamics.body_poses(tree, q)[1])
