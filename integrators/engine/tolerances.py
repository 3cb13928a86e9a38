"""Whether tolerances of a tenth give the same motion: errors that every step may make, and that add up.

A tolerance bounds what a step may be wrong by, not the run: losses of all steps have one sign, and a state that is
small beside an absolute tolerance may be anything.  From a few saved states the run goes on with a tenth of its
tolerances; where what differs, summed over the run, is more than `SUSPECT` of the motion, all of it is taken once more
so (its first `MOST` saved states), and positions that are elsewhere by more than `ELSEWHERE` of the way they go are a
doubt, as with fixed steps (`integrators.engine.halves`).  Errors may grow along the motion: where the sum is more than
`FAINT`, the run with larger tolerances (`LOOSER`, which takes a third of its steps and more) says whether that is to be
done.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.error_norm import LEAST
from integrators.engine.adaptive_run import FINEST, AdaptiveRun
from integrators.engine.halves import BETWEEN, DRIFTED, ELSEWHERE, FAINT, FIRST, MOST, OPPOSITE, PART, STRETCH
from integrators.engine.resolution import positions_of
from integrators.engine.run import NEVER, Output, Trajectory
from integrators.engine.step_again import looked, to_its_end, with_start
from integrators.engine.ways import ANOTHER, bent_at, beyond, of_velocities, ways_of_each
from integrators.layout import STEPS
from integrators.problem import Doubt
from integrators.problem.ambient import state_sizes
from integrators.status import REACHED, Status
from liegroup.table import RN

Array = NDArray[np.float64]
SUSPECT = 5e-3
"""Sum of what differs in all saved states, estimated from some, relative to the motion."""
TIGHTER, LOOSER, LOOSEST = 0.1, (1e3, 10.0), 0.1
"""Times the tolerances of a run; larger ones, one after the other while it is another motion, and the largest."""
FEW, COARSE = 200, 1e-5
"""Steps of a run that is taken once more as a whole in any case, with a relative tolerance above this."""
FIRST_STEP, SMALL_BEGIN = 0.3, 0.01
"""Part of a step of the run with which one with tighter tolerances begins; of the first one, where that is less than
this part of the others: what decays within a step is not seen between its ends.
"""
ROUNDED = 2e-13
"""Part of all positions, or momenta, by which they move in rounding."""
NEARLY, FAINTER = 10.0, 1e-13
"""Times an absolute tolerance, below which a component is hardly seen; part of the state that is rounding."""
ASKED = 50.0
"""Times what tolerances ask for by which what moves is a motion."""
MOST_STEPS, TIMES = 2000, 20
"""Steps that follow what they are given, of which the first are taken again; and times the steps of a run that a tenth
of its tolerances may take, beside these: of an order of one they are ten times as many.
"""
TIGHT, BLIND, LITTLE = 1e-12, 1e-6, 1e-3
"""Relative tolerance from which on nothing is asked, unless an absolute one is more than the next part of the way that
a component goes; and part of the way of all positions, or momenta, that one counts as, at least.
"""


def loose(run: AdaptiveRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory that is another with a tenth of its tolerances; of ensembles the first few are asked.
    What goes wrong in the look, and Ctrl-C, end it with a warning: the run is not lost with it.
    """
    if number >= FIRST or found.status not in REACHED or run.interpreted or not len(found.t):
        return []
    if not np.isfinite(found.y).all():
        return []
    if not run.steering.controller.estimates(run.method):
        return looked(lambda: _follows(run, found, number), "whether smaller steps give the same motion")
    return looked(
        lambda: _loose(run, found, number) or _faint(run, found, number) or _unasked(run, found, number),
        "whether tighter tolerances give the same motion",
    )


def _follows(run: AdaptiveRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory whose steps follow what they are given, not their errors: the first `MOST_STEPS` of
    them are taken once more in halves, where no energy is guarded.
    """
    steering, method = run.steering, run.method
    if steering.first is None or any(guard.name == "energy" for guard in run.problem.guards):
        return []
    (t, y), k = with_start(run, found, number), positions_of(run.problem)
    rows = min(len(t), 1 + -(-MOST_STEPS * len(t) // max(int(run.counters[STEPS]), 1)))
    t, y, scale = t[:rows], y[:rows], ways_of_each(run, t, y)
    if len(t) < 2 or not np.isfinite(scale[:k]).any():
        return []
    half = replace(steering, span=(float(t[0]), float(t[-1])), first=0.5 * steering.first)
    [again] = to_its_end(AdaptiveRun(run.problem, run.as_given, Output(times=np.ascontiguousarray(t)), half, y[0]))
    if len(again.y) < len(t):
        return []  # where it fails nothing is known
    limit = ELSEWHERE
    if method.symmetric or method.symplectic:  # phases may drift, but for those of a drive
        limit = OPPOSITE if run.problem.is_autonomous else ANOTHER
    part, allowed, row = beyond(_apart(again.y[:, :k], y[:, :k], scale[:k]), limit)
    if not part > allowed:
        return []
    says = "half the steps give another motion: positions differ by this part of the way that they go"
    return [Doubt("accuracy", float(t[row]), part, allowed, says, "use a smaller step", number)]


def _loose(run: AdaptiveRun, found: Trajectory, number: int) -> list[Doubt]:
    (t, y), k = with_start(run, found, number), positions_of(run.problem)
    scale, steps = ways_of_each(run, t, y), int(run.counters[STEPS])
    t, y = t[:MOST], y[:MOST]
    largest, enough = float(np.max(run.absolute)), _enough(run, y)
    is_blind = bool((run.absolute > enough).any())
    if len(t) < 2 or (float(np.max(run.relative)) <= TIGHT and not is_blind):
        return []
    if not np.isfinite(enough).any():  # at rest, as far as is asked
        return []
    seen = np.isfinite(scale) & (scale > largest)
    if seen[:k].any():  # what moves by less than is asked for is not asked, beside what moves by more
        scale = np.where(seen, scale, np.inf)
    length, may_grow = max(-(-STRETCH * len(found.t) // max(steps, 1)), len(t) // PART), False  # rows
    if not np.isfinite(scale[:k]).any():
        return []
    if len(t) > 3 * length and (steps > FEW or float(np.max(run.relative)) <= COARSE):
        kink = int(np.argmax(bent_at(t, y, scale))) - length // 2
        differs = []
        for row in sorted({0, min(max(kink, 0), len(t) - 1 - length), (len(t) - 1 - length) // 2}):
            some = _taken(run, t[[row, row + length]], y[row], steps / len(t) * length, enough)
            ended = float(_apart(some.last[None], y[row + length][None], scale)[0])
            differs.append(ended if some.status is Status.OK else np.inf)  # then the whole run tells
        summed = len(t) / length * float(np.mean(differs))
        may_grow = FAINT < summed <= SUSPECT and _grows(run, t, y, scale[:k], steps)
        if not (summed > SUSPECT or may_grow):
            return []
    again = _taken(run, t, y[0], float(steps), enough)
    if again.status is Status.TOO_MANY_STEPS:
        return _endless(run, again, number)
    return _another(again, t, y[:, :k], scale[:k], number, evenly=may_grow)


def _endless(run: AdaptiveRun, again: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a motion that a tenth of the tolerances does not come to the end of."""
    says = "a tenth of the tolerances takes more than so many times the steps, and does not come to the end"
    remedy = "the field is not smooth, or chatters, from there on: end the run where it switches by an event, smooth it"
    remedy += ", or take fixed steps of a method of low order"
    return [Doubt("accuracy", again.last_t, float(TIMES), 1.0, says, remedy, number)]


def _grows(run: AdaptiveRun, t: Array, y: Array, scale: Array, steps: int) -> bool:
    """Whether larger tolerances lead elsewhere, or nowhere."""
    k, any_size = len(scale), np.full(run.problem.dimension, np.inf)
    for times in LOOSER:
        with suppress(Exception):  # functions may raise where only such steps come: smaller ones tell
            taken = _taken(run, t, y[0], float(steps), any_size, factor=times)
            if len(taken.y) == len(t) and not _another(taken, t, y[:, :k], scale, 0, evenly=True):
                return False
    return True


def _another(
    again: Trajectory, t: Array, positions: Array, scale: Array, number: int, evenly: bool = False
) -> list[Doubt]:
    """The doubt of positions (rows, k) that tighter tolerances lead elsewhere: in a tenth of the rows or, `evenly`, of
    the time, and then also by `DRIFTED` at the end.
    """
    rows, k = len(again.y), len(scale)
    behind = np.inf if again.status is Status.NON_FINITE else 0.0  # where it fails nothing is known
    apart = np.append(_apart(again.y[:, :k], positions[:rows], scale), np.full(len(t) - rows, behind))
    if evenly:
        asked = np.linspace(0.0, abs(t[-1] - t[0]), BETWEEN)
        here = np.searchsorted(np.abs(t - t[0]), asked)
        t, apart = t[here], apart[here]
    part, allowed, row = beyond(apart, ELSEWHERE)
    if evenly and not part > allowed:
        part, allowed, row = float(apart[-1]), DRIFTED, len(apart) - 1
    if not part > allowed:
        return []
    says = "a tenth of the tolerances gives another motion: positions differ by this part of the way that they go"
    remedy = "use smaller tolerances, atol well below the states, or a method that keeps swings; of chaotic motions"
    return [Doubt("accuracy", float(t[row]), part, allowed, says, f"{remedy} compare averages", number)]


def _faint(run: AdaptiveRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a motion that goes through, or ends in, what its absolute tolerances do not see: what they leave
    there may grow, or should have.  From there it is taken once more with some that do.
    """
    (t, y), k = with_start(run, found, number), positions_of(run.problem)
    sizes = np.full((len(y), run.problem.dimension), np.inf)
    for kind, q, v, n_q, n_v in run.problem.table.tolist():
        if kind == RN:
            sizes[:, v : v + n_v] = np.abs(y[:, q : q + n_q])
    rounding = FAINTER * np.abs(y).max(axis=1, keepdims=True)
    small = (sizes > rounding) & (sizes < NEARLY * run.absolute)
    lasting = small[2:] & small[1:-1] & small[:-2]
    if not lasting.any():
        return []
    row = int(np.argmax(lasting.any(axis=1)))
    least = np.where(small, sizes, np.inf)[row:].min(axis=0)
    enough = np.where(lasting.any(axis=0), np.maximum(LITTLE * least, np.finfo(float).tiny), np.inf)
    t, y = t[row : row + MOST], y[row : row + MOST]
    steps = int(run.counters[STEPS])
    again = _taken(run, t, y[0], float(steps), enough, most=4 * steps + MOST_STEPS, relative=run.relative)
    of_both = (ways_of_each(run, found.t, found.y), ways_of_each(run, again.t, again.y))
    ways = [np.where(np.isfinite(x), x, 0.0) for x in of_both]
    scale = np.maximum(*ways)[:k]
    asked = float(np.max(run.absolute)) + float(np.max(run.relative)) * float(np.abs(found.y).max())
    return _another(again, t, y[:, :k], np.where(scale > NEARLY * asked, scale, np.inf), number, evenly=True)


def _unasked(run: AdaptiveRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a motion of which relative tolerances ask less than it goes, far from the origin: with some that see
    it, unless what moves is what they leave of a rest.
    """
    (t, y), k = with_start(run, found, number), positions_of(run.problem)
    moved, size = np.ptp(y[:, :k], axis=0), float(np.abs(y[:, :k]).max(initial=0.0))
    part = float(moved.max(initial=0.0)) / size if size > 0.0 else 0.0
    if not (part > ROUNDED and moved.max() > NEARLY * run.absolute.max()) or np.isfinite(_enough(run, y)).any():
        return []
    t, y, steps = t[:MOST], y[:MOST], int(run.counters[STEPS])
    asked = np.full(run.problem.dimension, max(LITTLE * min(part, 1.0), FINEST))
    enough = np.full(run.problem.dimension, LITTLE * float(moved.max()))
    again = _taken(run, t, y[0], float(steps), enough, most=100 * steps + MOST_STEPS, relative=asked)
    scale = ways_of_each(run, again.t, again.y)[:k] if len(again.y) > 1 else np.full(k, np.inf)
    moves = scale > ASKED * float(asked[0]) * np.abs(again.y[:, :k]).max(initial=0.0)
    return _another(again, t, y[:, :k], np.where(moves, scale, np.inf), number)


def _enough(run: AdaptiveRun, y: Array) -> Array:
    """Absolute tolerances (dimension,) that see the motion: a part of how far components go, where that is not much
    less than others do, positions or momenta, and more than relative tolerances ask for.
    """
    moved, parts = of_velocities(run.problem, np.ptp(y, axis=0)), 2 if run.problem.canonical else 1
    sizes, asked = of_velocities(run.problem, np.abs(y).max(axis=0)), max(ROUNDED, 10.0 * float(np.max(run.relative)))
    for part, size in zip(np.array_split(moved, parts), np.array_split(sizes, parts), strict=True):
        moves = part > asked * size.max(initial=0.0)
        part[...] = np.where(moves, np.maximum(part, LITTLE * part.max(initial=0.0)), 0.0)
    return np.where(moved > 0.0, BLIND * moved, np.inf)


def _taken(
    run: AdaptiveRun, times: Array, y0: Array, steps: float, enough: Array, most: int | None = None,
    relative: Array | None = None, factor: float = TIGHTER,
) -> Trajectory:  # fmt: skip
    """What a run with other tolerances comes to from a saved state, saved at some times, on a way that has taken so
    many steps; absolute ones are no larger than is `enough`.  `most` steps; `relative` tolerances, if given ones.
    """
    mean, ahead = abs(float(times[-1] - times[0])) / max(steps, 1.0), abs(float(times[1] - times[0]))
    begins_small = ahead < SMALL_BEGIN * mean and not run.method.stepper.multistep
    steering, least = run.steering, LEAST * float(state_sizes(run.problem.table, y0).max(initial=0.0))
    tighter = replace(
        steering,
        span=(float(times[0]), float(times[-1])),
        relative=np.clip(factor * run.relative, FINEST, LOOSEST) if relative is None else relative,
        most=int(TIMES * steps) + MOST_STEPS if most is None else most,
        absolute=np.minimum(np.maximum(factor * run.absolute, np.where(run.absolute > 0.0, least, 0.0)), enough),
        first=FIRST_STEP * (ahead if begins_small else mean),
    )
    alike = len(times) == 2 and run.output.events is None  # the loops are those of the run: none looks within steps
    output = Output(save_every=NEVER) if alike else Output(times=np.ascontiguousarray(times))
    [taken] = to_its_end(AdaptiveRun(run.problem, run.as_given, output, tighter, y0, run.shared if alike else None))
    return taken


def _apart(one: Array, other: Array, scale: Array) -> Array:
    """How far states are from each other, by rows."""
    with np.errstate(all="ignore"):
        apart = np.abs(one - other) / scale
    return np.array(np.where(np.isnan(apart), np.inf, apart).max(axis=1))
