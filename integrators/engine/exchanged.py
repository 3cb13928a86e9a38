"""Whether an energy that should be conserved is, beside what the motion has exchanged.

The guard of a problem measures by the start, and by what lies within a metre or a radian of it: beside a motion of
micrometres that is anything.  After a run its own saved states tell what it has exchanged, kinetic against potential
energy; an energy that has changed by `MOST` of that is not conserved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.engine.halves import FIRST
from integrators.engine.observe import GREATEST, LEAST
from integrators.engine.run import Run, Trajectory
from integrators.problem import Doubt, Guard
from integrators.problem.problem import Problem

Array = NDArray[np.float64]
FEWEST, ROWS = 9, 17
"""Saved states, at least; that are looked at, at most."""
MOST = 0.5
"""Part of what is exchanged."""


def spent(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory that has changed a conserved energy by more than `MOST` of what it has exchanged; of
    ensembles the first few are asked.
    """
    problem = run.problem
    guard = next((g for g in problem.guards if g.name == "energy" and g.change < np.inf), None)
    if guard is None or number >= FIRST or len(found.t) < FEWEST or len(problem.variables) < 2:
        return []
    column, m = problem.invariant_names.index("energy"), problem.invariant_count
    energy, begin = found.invariants[:, column], float(found.invariants[0, column])
    lows, highs = (found.statistics[: len(found.t), part * m + column] for part in (LEAST, GREATEST))
    changed = np.maximum(begin - np.minimum(lows, energy), np.maximum(highs, energy) - begin)
    if not changed.max() > guard.relative * abs(begin) or not np.isfinite(found.y).all():
        return []
    limit = _limit(run, problem, found, column, guard)
    over = np.flatnonzero(changed > limit)
    if not len(over) or not np.isfinite(limit):
        return []
    k = int(np.argmax(changed))
    lower = begin - min(lows[k], energy[k]) >= changed[k]
    value, allowed = begin + (-1.0, 1.0)[not lower] * changed[k], begin + (-1.0, 1.0)[not lower] * limit
    says = f"{guard.says}, beside what the motion exchanges"
    return [Doubt("energy", float(found.t[over[0]]), float(value), float(allowed), says, guard.remedy, number)]


def _limit(run: Run, problem: Problem, found: Trajectory, column: int, guard: Guard) -> float:
    """By how much the energy may change."""
    rows = np.unique(np.linspace(0, len(found.t) - 1, ROWS).astype(int))
    rest = found.y[rows]
    rest[:, -problem.variables[-1].size :] = 0.0
    still = np.array([_invariants(run, float(found.t[k]), y)[column] for k, y in zip(rows, rest, strict=True)])
    kinetic, potential = found.invariants[rows, column] - still, still - still[0]
    exchanged = float(np.abs(kinetic).max() + np.abs(potential).max())
    return MOST * exchanged + guard.relative * abs(float(found.invariants[0, column]))


def _invariants(run: Run, t: float, y: Array) -> Array:
    """The invariants at one state, as the run calls them."""
    state, values = np.empty_like(run.y), np.empty_like(run.values)
    state.T[...] = y  # the same in every lane
    run._call_field(run.invariants, t, state, values)
    return np.array(values.T.reshape(-1, len(values))[0])
