"""Whether steps of half the size give the same motion: errors of steps that are small one by one, and add up.

No guard sees them where dampers work or closures are held elastically: the energy falls anyway, and each step is
resolved.  From a few saved states some steps are taken once more in halves; where what differs, summed over the run, is
more than `SUSPECT` of the motion, the whole run is (its first `MOST` steps), and positions that are elsewhere by more
than `ELSEWHERE` of the way they go are a doubt.

Methods that are symplectic or symmetric promise the shape of a motion, and phases drift: they are not asked where the
energy is kept, and where smooth dampers take it, only whether the motion is another one (`ANOTHER`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, LaneRun
from integrators.engine.losses import MOST_TRAJECTORIES
from integrators.engine.resolution import positions_of
from integrators.engine.run import Output, Plan, Trajectory
from integrators.problem import Doubt
from integrators.status import Status

Array = NDArray[np.float64]
SUSPECT = 1e-3
"""Sum of the differences of all steps, estimated from some, relative to the motion."""
ELSEWHERE = 0.05
"""Part of the way that positions go by which a tenth of the saved states differ from those of half the step."""
ANOTHER = 0.5
"""The same of motions whose phases may drift."""
STRETCH, PART = 8, 40
"""Steps of a stretch that is looked at first: at least, and one in so many of the run."""
MOST = 20_000
"""Steps that are taken once more in halves."""


def elsewhere(run: FixedRun, found: Trajectory, scale: Array, number: int) -> list[Doubt]:
    """The doubt of a run whose positions are not those of steps of half the size; `scale` as of
    `integrators.engine.resolution.scale_of`.  Of an ensemble the first `MOST_TRAJECTORIES` are looked at.
    """
    every, method = run.output.save_every, run.method
    rows = min(len(found.t) - int(run.plan.steps % every != 0), 1 + MOST // every)
    damped = [guard for guard in run.problem.guards if np.isfinite(guard.rise)]
    limit, positions = ELSEWHERE, positions_of(run.problem)
    if method.symplectic or method.symmetric:
        limit = max((ANOTHER if guard.accounts else ELSEWHERE for guard in damped), default=np.inf)
    if (
        number >= MOST_TRAJECTORIES
        or limit == np.inf
        or len(run.output.times)
        or rows < 2
        or not np.isfinite(scale[:positions]).any()
    ):
        return []
    if rows > 3 and (np.ptp(found.y[1:rows, :positions], axis=0) < 0.5 * scale[:positions]).all():
        return []  # a start off what is slow: the way was gone within a step
    if not _sum_of_differences(run, found, scale, positions, rows) > SUSPECT:
        return []
    differs = _differences(run, found, scale, positions, 0, rows - 1)
    part = float(np.quantile(differs, 0.9)) if len(differs) == rows else 0.0
    if not part > limit:
        return []
    says = "steps of half the size give another motion: positions differ by this part of the way that they go"
    remedy = "use a smaller step, or a method of higher order; of chaotic motions compare averages"
    time = float(found.t[int(np.argmax(differs > limit))])
    return [Doubt("accuracy", time, part, limit, says, remedy, number)]


def _sum_of_differences(run: FixedRun, found: Trajectory, scale: Array, positions: int, rows: int) -> float:
    """Over the whole run, from stretches at its beginning, where it bends most, and in the middle."""
    every = run.output.save_every
    length = max(STRETCH, every * (rows - 1) // PART) // every or 1  # in rows
    last = rows - 1 - length
    if last <= 0:
        return np.inf
    bent = np.abs(np.diff(found.y[:rows], 2, axis=0) / scale).max(axis=1)
    kink = int(np.argmax(bent)) - length // 2
    starts = sorted({0, min(max(kink, 0), last), last // 2})
    stretches = [_differences(run, found, scale, positions, k, length) for k in starts]
    if any(len(stretch) <= length for stretch in stretches):
        return np.inf
    return (rows - 1) / length * float(np.mean([stretch.max() for stretch in stretches]))


def _differences(run: FixedRun, found: Trajectory, scale: Array, positions: int, row: int, rows: int) -> Array:
    """How far positions (1 + rows,) are from those that steps of half the size reach from a saved row, over `scale`;
    fewer where these fail.
    """
    every = run.output.save_every
    steps = 2 * every * rows
    start, kind = found.y[row], LaneRun if isinstance(run, LaneRun) else FixedRun
    start = np.tile(start, (run.y.shape[-1], 1)) if kind is LaneRun else start
    plan = Plan(float(found.t[row]), 0.5 * run.plan.h, steps)
    halves = kind(run.problem, run.method, Output(save_every=2 * every), plan, start)
    halves.go(steps)
    if halves.status is not Status.OK:
        return np.zeros(0)
    reached = halves.trajectories()[0].y[: rows + 1]
    apart = np.abs(reached - found.y[row : row + len(reached)])[:, :positions] / scale[:positions]
    return np.array(apart.max(axis=1))
