"""Whether fixed steps resolve the motion: at a few saved states one step is compared with two of half its size.

    r = |y(h) − y(h/2, h/2)| / |y(h/2, h/2) − y|

is of the size of hᵖ in the region where a method of order p converges.  Where it comes near one the step has lost the
motion: beyond the stability of an explicit method, or over an oscillation that goes on unseen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun
from integrators.engine.run import Run, Trajectory
from integrators.engine.step_again import stepped
from integrators.method.stability import LARGEST, fastest_mode
from integrators.problem import Doubt, Problem
from integrators.status import Status

Array = NDArray[np.float64]
UNRESOLVED = 0.5
"""A step that differs from its halves by this part of itself has lost the motion."""
DECAYED = 4.0
"""h λ from which on a mode has decayed in a step."""
_STILL = 1e-9
"""Variables that move by less than this part of their size say nothing."""
_AT_REST = 1e-4
"""Part of the largest move of a step, of those looked at before, that is none beside it."""
_NOISE = 1e-13
"""The same of what counts as one (`Problem.scales`): what rounding of forces that balance moves."""
FAR = 10.0
"""Times the whole way of a run: positions that smaller steps lead to within one of its steps are not its motion."""
THROWN = 1e6
"""Times the way so far: what a later step throws as far has been over an infinity, or grows beside what is small."""
ELSEWHERE = 1.5
"""Times the whole way of a run: where one of its steps leads past what smaller ones do, it is not of the motion."""
LEAP = 30.0
"""Times the largest move before: there a run may have gone over an infinity, and come back from it by more."""
PARTS, RESOLVED, LEAST = 8, 0.1, 1e-12
"""Parts of a step that are taken for it at first, r of those that are small enough, and part of these below which none
is tried.
"""
MOST, LARGE, FEWEST = 200, 100, 25
"""How many parts are tried at most, of problems up to what dimension; of larger ones as many as take as long, but so
many: of a rod of 160 nodes that would be half a minute, behind a run of milliseconds.
"""
_RATES = ("momentum", "p", "v", "u", "omega")
"""Names of variables that are no positions."""


def of_full_steps(found: Trajectory) -> Trajectory:
    """A trajectory that an event has ended, as if it had ended before that step."""
    if found.status is not Status.EVENT or len(found.t) < 3:
        return found
    cut = {name: getattr(found, name)[:-1] for name in ("t", "y", "invariants")}
    return replace(found, **cut, last_t=float(found.t[-2]), last=found.y[-2], status=Status.OK)


def can_repeat(run: FixedRun, found: Trajectory) -> bool:
    """Whether steps of a trajectory may be taken again."""
    return found.status is Status.OK and not run.interpreted and bool(np.isfinite(found.y).all())


def is_cheap(run: FixedRun) -> bool:
    """Whether many single steps may be taken again: not those that call plain Python functions."""
    return run.called_back is None


def unresolved(run: FixedRun, found: Trajectory, scale: Array, number: int) -> list[Doubt]:
    """The doubt of a trajectory of whose steps at least half, of up to four looked at, are not resolved, or one of
    which goes over what the motion does not come back from; `scale` as of `scale_of`.
    """
    rows = _looked_at(found, run.plan.h)
    if not rows:
        return []
    looks = [_ratio(run, float(found.t[row]), run.plan.h, found.y[row], scale) for row in rows]
    ratios, moves = [look[0] for look in looks], np.array([look[2] for look in looks])
    counts = ~(moves < _AT_REST * np.maximum.accumulate(moves))  # what has come to rest is no longer the motion
    if 2 * sum(ratio > UNRESOLVED for ratio, moving in zip(ratios, counts, strict=True) if moving) < len(rows):
        scales = [_before(run, found, row, scale) for row in rows]
        return [
            doubt
            for row, ratio, own in zip(rows, ratios, scales, strict=True)
            if (ratio if own is scale else _ratio(run, float(found.t[row]), run.plan.h, found.y[row], own)[0])
            > RESOLVED
            for doubt in _escapes(run, found, row, own, number)
        ][:1]
    worst = int(np.argmax(ratios))
    says = "one step and two of half its size differ by as much as they move: the steps do not resolve the motion"
    remedy = "use a smaller step"
    if _rings(run, float(found.t[rows[worst]]), found.y[rows[worst]]):
        remedy += ", or a method that damps what its steps do not resolve (RKMK_RADAU_IIA3): a damper makes it ring"
    return [Doubt("resolution", float(found.t[rows[worst]]), ratios[worst], UNRESOLVED, says, remedy, number)]


def _before(run: FixedRun, found: Trajectory, row: int, scale: Array) -> Array:
    """What a step from a saved state is measured by: the way of the run, or that up to the next saved state where all
    of it is `THROWN` times as far, as behind an infinity: beside 1e28 nothing differs.  What begins at rest goes as far
    by and by, without a step that is a `LEAP`.
    """
    so_far = scale_of(run, found.y[: row + 2])
    moved = np.isfinite(so_far) & np.isfinite(scale)
    if not (moved & (scale > THROWN * so_far)).any():
        return scale
    ways = np.maximum.accumulate((np.abs(found.y[row + 1 :] - found.y[0]) / scale)[:, moved].max(axis=1))
    return so_far if (ways[1:] > LEAP * ways[:-1]).any() else scale


def _escapes(run: FixedRun, found: Trajectory, row: int, scale: Array, number: int) -> list[Doubt]:
    """The doubt of a trajectory from one of whose states the motion leaves for infinity, or nearly, within the step:
    smaller steps end there, which become smaller until each is resolved, or none is.
    """
    t, y, h, far = float(found.t[row]), found.y[row], run.plan.h / PARTS, 0.0
    left, most, positions = run.plan.h, abs(h), positions_of(run.problem)
    whole = stepped(run, t, run.plan.h, y)
    scale = np.fmax(scale, np.abs(whole - y))  # of few saved states the way is not known
    for _ in range(max(min(MOST, MOST * LARGE // run.problem.dimension), FEWEST)):
        if abs(left) < 0.5 * abs(h) or abs(h) < LEAST * most:
            break
        ratio, after, _ = _ratio(run, t, h, y, scale)
        if ratio < RESOLVED:
            t, left, y = t + h, left - h, after
            far = float((np.abs(y - found.y[0]) / scale)[:positions].max())
            h *= 2.0 if 2.0 * abs(h) <= most else 1.0
        else:
            h *= 0.25
    ends = abs(left) >= 0.5 * most and abs(h) < LEAST * most
    apart = float((np.abs(y - whole) / scale)[:positions].max())
    if abs(left) < 0.5 * abs(h) and not far > FAR and apart > ELSEWHERE:
        says = "within a step smaller ones lead elsewhere, by so many times the whole way of the run"
        return [Doubt("escape", float(found.t[row]), apart, ELSEWHERE, says, "use smaller steps", number)]
    if not (far > FAR or ends):  # what goes far and comes back within the step is no such motion
        return []
    says = "within a step smaller ones lead so many times the whole way of the run: it goes over an infinity"
    if not far > FAR:
        says = f"within a step smaller ones come to an end at t = {t:.6g}, where none resolves the motion any more"
    remedy = "use smaller steps, or end the run before, by an event"
    limit = FAR if far > FAR else np.nan
    return [Doubt("escape", float(found.t[row]), far, limit, says, remedy, number)]


def _rings(run: FixedRun, t: float, y: Array) -> bool:
    """Whether a symmetric method only changes the sign of the fastest mode, which decays within a step."""
    if not run.method.symmetric or run.problem.dimension > LARGEST:
        return False
    mode = fastest_mode(run.problem, t, y)
    return bool(-mode.real * run.plan.h > DECAYED and abs(mode.imag) < abs(mode.real))


def _looked_at(found: Trajectory, h: float) -> list[int]:
    """Saved rows: the first, the middle, the last before the end, that of the largest move, and that of the largest
    beside all before, where it is `LEAP` times as far.
    """
    before = int(np.sum(np.abs(found.last_t - found.t) > 0.999 * abs(h)))
    if before == 0:
        return []
    moves = np.abs(np.diff(found.y[: before + 1], axis=0)).max(axis=1)
    rows = {0, before // 2, before - 1, int(np.argmax(moves)) if len(moves) else 0}
    known = np.maximum.accumulate(moves)[:-1]
    leaps = moves[1:] / np.where(known > 0.0, known, np.inf)
    return sorted(rows | ({1 + int(np.argmax(leaps))} if leaps.max(initial=0.0) > LEAP else set()))


def scale_of(run: Run, states: Array) -> Array:
    """How far every variable of the problem moves, in what counts as one of its components (`Problem.scales`); infinite
    for those that do not, for momenta that accumulate what the motion does not have, and for all where no position
    moves: momenta of what is at rest are of rounding.
    """
    states = states / run.problem.scales
    scale, least, most = np.empty(states.shape[1]), states.min(axis=0), states.max(axis=0)
    start = 0
    for variable in run.problem.variables:
        part = slice(start, start + variable.size)
        moved = float(np.maximum(most[part] - states[0, part], states[0, part] - least[part]).max())
        large = float(np.maximum(most[part], -least[part]).max())
        scale[part] = moved * run.problem.scales[part] if moved > max(_STILL * large, _NOISE) else np.inf
        start += variable.size
    positions = positions_of(run.problem)
    if positions < start and np.isinf(scale[:positions]).all():
        return np.full_like(scale, np.inf)
    if run.problem.accumulates:
        scale[positions:] = np.inf
    return scale


def positions_of(problem: Problem) -> int:
    """How many components of a state, from its beginning, are positions; all, where rates are not told from them.

    Rates come last, or something behind them that is no position either (works, integrals of gaps): then the problem
    says how many positions there are.
    """
    last = problem.variables[-1]
    if len(problem.variables) > 1 and last.name in _RATES:
        return problem.n - last.size
    if problem.positions:
        return int(sum(n_q for _, _, v, n_q, _ in problem.table.tolist() if v < problem.positions))
    return problem.n


def _ratio(run: FixedRun, t: float, h: float, y: Array, scale: Array) -> tuple[float, Array, float]:
    """r of a step from one state, the state after its halves, and how far they go; infinite where one fails, but of
    methods that remember: there it is a start in the midst of a motion, of which the run had none.
    """
    if run.method.stepper.starts:  # from the midst of a motion small rates are wrong, beside the largest
        rates = np.arange(len(scale)) >= positions_of(run.problem)
        scale = np.where(rates, scale[rates].max(initial=0.0), scale)
    one = stepped(run, t, h, y, aloud=True)
    half = stepped(run, t, 0.5 * h, y, aloud=True)
    two = stepped(run, t + 0.5 * h, 0.5 * h, half, aloud=True)
    moved, differs = (float(np.abs(x / scale).max()) for x in (two - y, one - two))
    if not np.isfinite(moved + differs):
        return 0.0 if run.method.stepper.starts else np.inf, two, np.nan
    rounding = float((4.0 * np.spacing(np.abs(y)) / scale).max())
    asked = max(moved, differs - rounding) > _STILL
    return differs / max(moved, _STILL * _STILL) if asked else 0.0, two, max(moved, differs)
