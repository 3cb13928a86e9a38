"""Whether a motion keeps the energy that a problem of the user's watches, and that nothing guards."""

from __future__ import annotations

import numpy as np

from integrators.engine.observe import GREATEST, LEAST
from integrators.engine.run import Run, Trajectory
from integrators.problem import Doubt, Problem
from integrators.problem.energy import energy_at_play, is_kept, keeps, power
from integrators.problem.guards import energy_guard
from liegroup.arrays import spread

MOST_TRAJECTORIES, MOST_ROWS, DRIVEN_ROWS, BLOWS = 8, 200, 50, 128
"""Of an ensemble, states whose kinetic energy is asked, those at which a force of time is looked for, and times about
the one at which the energy has left its limits.
"""

WORKED = 0.1
"""Part of what an energy is beyond its limits by, from which on the work of the field is known to have a share."""


def unkept(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory of a canonical problem whose ``energy`` the field keeps and the run does not, by the
    limits that problems of the library have, beside the kinetic energy that it comes to.  The energy is known at every
    step.
    """
    problem, names = run.problem, run.problem.invariant_names
    watched = {guard.name for guard in problem.guards}
    if not problem.canonical or "energy" not in names or "energy" in watched or number >= MOST_TRAJECTORIES:
        return []
    starts = np.atleast_2d(problem.y0)
    alone = problem.with_start(starts[min(number, len(starts) - 1)])
    if not len(found.t) or not is_kept(alone, at_play := energy_at_play(alone)):
        return []
    guards = energy_guard(max(at_play, _kinetic(run, found)))
    if not guards:
        return []
    [guard], m, k = guards, len(names), names.index("energy")
    start = problem.invariant_values(run.t0, np.asarray(alone.y0))[k]
    lower, upper = (float(x) for x in guard.limits(np.asarray(start)))
    least, greatest = found.statistics[:, LEAST * m + k], found.statistics[:, GREATEST * m + k]
    beyond = np.maximum(lower - least, greatest - upper)[: len(found.t)]
    if not (beyond > 0.0).any():
        return []
    first = int(np.argmax(beyond > 0.0))
    if not problem.is_autonomous and not keeps(alone, at_play, [*_about(found, first), *_between(found)]):
        return []  # a force of time acts
    row = int(np.argmax(beyond))
    if _works(alone, found, row, float(beyond[row])):
        return []
    value = float(least[row] if lower - least[row] > greatest[row] - upper else greatest[row])
    time = float(found.t[first])
    return [Doubt("energy", time, value, lower if value < lower else upper, guard.says, guard.remedy, number)]


def _about(found: Trajectory, row: int) -> list[tuple[float, np.ndarray]]:
    """Times about that at which the energy left its limits first, where a short blow may have come."""
    begin, end = max(row - 1, 0), min(row + 1, len(found.t) - 1)
    return [(float(t), found.y[begin]) for t in np.linspace(found.t[begin], found.t[end], BLOWS)]


def _between(found: Trajectory) -> list[tuple[float, np.ndarray]]:
    """Saved states, and times from each to the next."""
    rows = spread(len(found.t), DRIVEN_ROWS)
    spans = np.diff(np.append(found.t[rows], found.last_t))
    return [
        (float(t + part * span), found.y[row])
        for row, t, span in zip(rows, found.t[rows], spans, strict=True)
        for part in (0.0, 0.25, 0.5, 0.75)
    ]


def _works(problem: Problem, found: Trajectory, row: int, beyond: float) -> bool:
    """Whether the field brings or takes what the energy is beyond its limits by, in part: a thrust, or a drag, that is
    too weak to be seen at once does so in a long run.
    """
    rows = spread(row + 1, MOST_ROWS)
    rates = [power(problem, float(found.t[row]), found.y[row]) for row in rows]
    told = np.array([0.0 if abs(rate) <= unsure else rate for rate, unsure, _ in rates])
    came = np.concatenate([[0.0], np.cumsum(0.5 * (told[1:] + told[:-1]) * np.diff(found.t[rows]))])
    return bool(np.abs(came).max() > WORKED * beyond)


def _kinetic(run: Run, found: Trajectory) -> float:
    """½ Σ |v p|, the largest of some saved states."""
    problem, half = run.problem, run.problem.dimension // 2
    rows = spread(len(found.t), MOST_ROWS)
    rates = [problem.velocity(float(found.t[row]), found.y[row])[:half] for row in rows]
    return max(0.5 * float(np.abs(v * found.y[row][-half:]).sum()) for v, row in zip(rates, rows, strict=True))
