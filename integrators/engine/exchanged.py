"""Whether an energy that should be conserved is, beside what the motion has exchanged.

The guard of a problem measures by the start, and by what lies within a metre or a radian of it: beside a motion of
micrometres that is anything.  After a run its own saved states tell what it has exchanged, kinetic against potential
energy; an energy that has changed by `MOST` of that is not conserved.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from integrators.engine.halves import FIRST
from integrators.engine.observe import GREATEST, LEAST
from integrators.engine.run import Run, Trajectory
from integrators.engine.step_again import looked
from integrators.problem import Doubt
from integrators.problem.guards import CARRIED_SHARE, ENERGY_CHANGE, Guard
from integrators.problem.problem import Problem
from liegroup.arrays import spread
from liegroup.table import EXP, retract

Array = NDArray[np.float64]
FEWEST, ROWS = 9, 17
"""Saved states, at least; that are looked at, at most."""
MOST = 0.5
"""Part of what is exchanged."""
LEAST_WAY, ROUNDED = 1e-13, 2e-13
"""rad or m, and part of the positions, that are no way."""
POINTS, APART, LOUD = 8, 0.03, 10.0
"""Places at which the energy is asked for its rounding, the part of the way between them, and how many times that
counts.
"""


def is_little(run: Run, found: Trajectory, k: int, number: int) -> bool:
    """Whether an energy that has passed guard k has changed by no more than the guard means beside what the motion has
    exchanged, or a number is nothing `beside` the motion, or nothing but what the way of the whole has `carried`: the
    guard knows the start with which its problem was posed, not that of this trajectory, nor what work has brought.
    """
    problem = run.problem
    posed, guard = problem.guards[k], run.method.guards(problem)[k]
    if guard.beside is not None and found.guarded[3, k] > guard.greatest:
        return bool(found.guarded[3, k] <= _beside(guard, found))
    if guard.change < np.inf and not guard.stops and (guard.beside or guard.carried):
        starts, column = np.atleast_2d(problem.y0), problem.invariant_names.index(guard.name)
        start = starts[min(number, len(starts) - 1)]  # it need not be among the saved states
        begun, furthest = float(problem.invariant_values(run.t0, start)[column]), float(found.guarded[3, k])
        guard = _by_its_start(guard, run.t0, start)
        if guard.beside is not None and not any(other.name == "energy" for other in problem.guards):
            guard = replace(guard, change=max(guard.change, _beside(guard, found)))  # drives bring more
        lower, upper = guard.limits(np.asarray(begun), run.forward > 0.0)
        return bool(lower <= furthest <= upper) or _is_kept_apart(guard, found, column, furthest - begun)
    if guard.name == "balance" and "energy" in problem.invariant_names:
        return bool(found.guarded[4, k] <= ENERGY_CHANGE * _brought_or_exchanged(run, found))
    if guard.name != "energy" or guard.stops or not guard.change < np.inf or len(found.t) < FEWEST:
        return False
    if len(problem.variables) < 2 or not np.isfinite(found.y).all():
        return False
    column = problem.invariant_names.index("energy")
    changed = float(_changed(problem, found, column)[0].max())
    with suppress(Exception):  # of the user's functions, at states at rest that the run has not met
        allowed = ENERGY_CHANGE * guard.change / posed.change * _exchanged(run, found, column)
        return changed <= allowed + guard.relative * abs(float(found.invariants[0, column]))
    return False


def _beside(guard: Guard, found: Trajectory) -> float:
    """What the number of a guard may be beside the motion, by the median of some saved states: a motion that has blown
    up by the end allows nothing.
    """
    rows = spread(len(found.t), ROWS)
    with suppress(Exception):  # of states that are none
        return float(np.median([guard.beside(float(found.t[k]), found.y[k]) for k in rows]))
    return 0.0


def _by_its_start(guard: Guard, t: float, y: Array) -> Guard:
    """A guard that lets a number change by what its trajectory starts with, if that is more than its problem does."""
    with suppress(Exception):
        if guard.beside is not None:
            return replace(guard, change=max(guard.change, float(guard.beside(t, y))))
    return guard


def _is_kept_apart(guard: Guard, found: Trajectory, column: int, changed: float) -> bool:
    """Whether a number has changed by no more than its guard allows in some saved states, beside what is `carried`, and
    by little of what could be: what is right to a millionth, a million metres away, differs by a metre times the
    momentum.
    """
    rows = spread(len(found.t), ROWS)
    if guard.carried is None:
        return False
    with suppress(Exception), np.errstate(all="ignore"):  # of states that are none
        carried, most = np.array([guard.carried(float(found.t[k]), found.y[k]) for k in rows]).T
        numbers = found.invariants[rows, column]
        rest = numbers - carried
        kept = np.abs(rest - rest[0]) <= guard.change + guard.relative * abs(rest[0])
        return bool(len(rows) > 1 and kept.all() and abs(changed) <= CARRIED_SHARE * most.max())
    return False


def _changed(problem: Problem, found: Trajectory, column: int) -> tuple[Array, Array]:
    """By how much the energy has changed by each of the saved states, at most, and how low it was."""
    m, energy = problem.invariant_count, found.invariants[:, column]
    lows, highs = (found.statistics[: len(found.t), part * m + column] for part in (LEAST, GREATEST))
    with np.errstate(all="ignore"):
        low = np.minimum(lows, energy)
        return np.maximum(energy[0] - low, np.maximum(highs, energy) - energy[0]), low


def spent(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory that has changed a conserved energy by more than `MOST` of what it has exchanged; of
    ensembles the first few are asked.  What goes wrong in the look ends it with a warning: the run is not lost with it.
    """
    return looked(lambda: _spent(run, found, number), "whether its energy is kept beside what it exchanges")


def _spent(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    problem = run.problem
    guard = next((g for g in problem.guards if g.name == "energy" and g.change < np.inf), None)
    if guard is None or number >= FIRST or len(found.t) < FEWEST or len(problem.variables) < 2:
        return []
    column = problem.invariant_names.index("energy")
    begin, (changed, low) = float(found.invariants[0, column]), _changed(problem, found, column)
    if not changed.max() > guard.relative * abs(begin) or not np.isfinite(found.y).all():
        return []
    places = found.y[:, : problem.n - problem.variables[-1].size]
    way = float(np.ptp(places, axis=0).max(initial=0.0))
    if way <= LEAST_WAY + ROUNDED * float(np.abs(places).max(initial=0.0)):
        return []  # at rest, but for rounding
    limit = MOST * _exchanged(run, found, column) + guard.relative * abs(begin)
    limit += _noise(run, float(found.t[0]), _at_rest(problem, found.y[0]), column, way)
    over = np.flatnonzero(changed > limit)
    if not len(over) or not np.isfinite(limit):
        return []
    k = int(np.argmax(changed))
    lower = begin - low[k] >= changed[k]
    value, allowed = begin + (-1.0, 1.0)[not lower] * changed[k], begin + (-1.0, 1.0)[not lower] * limit
    says = f"{guard.says}, beside what the motion exchanges"
    return [Doubt("energy", float(found.t[over[0]]), float(value), float(allowed), says, guard.remedy, number)]


def _exchanged(run: Run, found: Trajectory, column: int) -> float:
    """Kinetic and potential energy that the motion has exchanged, at most, by some saved states."""
    rows = spread(len(found.t), ROWS)
    rest = _at_rest(run.problem, found.y[rows])
    still = np.array([_invariants(run, float(found.t[k]), y)[column] for k, y in zip(rows, rest, strict=True)])
    with np.errstate(all="ignore"):
        kinetic, potential = found.invariants[rows, column] - still, still - still[0]
        return float(np.abs(kinetic).max() + np.abs(potential).max())


def _brought_or_exchanged(run: Run, found: Trajectory) -> float:
    """By how much the energy has changed, which work may do, and what the motion has exchanged besides."""
    column = run.problem.invariant_names.index("energy")
    with suppress(Exception):  # of the user's functions, at states at rest that the run has not met
        changed, _ = _changed(run.problem, found, column)
        return float(changed.max()) + _exchanged(run, found, column)
    return 0.0


def _at_rest(problem: Problem, y: Array) -> Array:
    """States of the same positions without momenta, or velocities."""
    rest = y.copy()
    rest[..., problem.n - problem.variables[-1].size :] = 0.0
    return rest


def _noise(run: Run, t: float, rest: Array, column: int, way: float) -> float:
    """What rounding makes of the energy at rest, from its third differences along a part of the way: terms that cancel
    leave theirs.
    """
    by = np.zeros(run.problem.dimension)
    free = len(by) - run.problem.variables[-1].size
    by[:free] = APART * way * np.cos(np.arange(1.0, free + 1.0))
    values = []
    for k in range(POINTS):
        moved = rest.copy()
        retract(run.problem.table, EXP, rest, k * by, moved)
        values.append(_invariants(run, t, moved)[column])
    return LOUD * float(np.abs(np.diff(values, 3)).max())


def _invariants(run: Run, t: float, y: Array) -> Array:
    """The invariants at one state, as the run calls them."""
    state, values = np.empty_like(run.y), np.empty_like(run.values)
    state.T[...] = y  # the same in every lane
    run._call_field(run.invariants, t, state, values)
    return np.array(values.T.reshape(-1, len(values))[0])
