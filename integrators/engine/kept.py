"""Whether a motion keeps the energy that a problem of the user's watches, and that nothing guards."""

from __future__ import annotations

import numpy as np

from integrators.engine.observe import GREATEST, LEAST
from integrators.engine.run import Run, Trajectory
from integrators.engine.ways import spread
from integrators.problem import Doubt
from integrators.problem.energy import energy_at_play, is_kept
from integrators.problem.guards import energy_guard

MOST_TRAJECTORIES, MOST_ROWS = 8, 200
"""Of an ensemble, and states whose kinetic energy is asked."""


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
    row = int(np.argmax(beyond))
    value = float(least[row] if lower - least[row] > greatest[row] - upper else greatest[row])
    time = float(found.t[np.argmax(beyond > 0.0)])
    return [Doubt("energy", time, value, lower if value < lower else upper, guard.says, guard.remedy, number)]


def _kinetic(run: Run, found: Trajectory) -> float:
    """½ Σ |v p|, the largest of some saved states."""
    problem, half = run.problem, run.problem.dimension // 2
    rows = spread(len(found.t), MOST_ROWS)
    rates = [problem.velocity(float(found.t[row]), found.y[row])[:half] for row in rows]
    return max(0.5 * float(np.abs(v * found.y[row][-half:]).sum()) for v, row in zip(rates, rows, strict=True))
