"""A step for fixed steps, found by taking some."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.arguments import check_begin, check_field, equal_steps
from integrators.choice.samples import held_as_at, samples_within
from integrators.choice.trials import substeps_of, tried
from integrators.method import Method, Reference
from integrators.method.stability import held_step
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.problem.ambient import state_sizes
from integrators.problem.times import begin_of
from integrators.status import Status
from integrators.steppers.gauss_in_lanes import LEVELS
from liegroup.arrays import real
from liegroup.compile import undisturbed

Array = NDArray[np.float64]
_TRIALS, _AT_REST, _TRIAL_STEPS, _MOST_DIVIDED = 20, 8, 16, 400
_SHARE, _TIMES = 1e-3, 10.0
"""Part of all positions, or momenta, that counts as nothing beside them, of one of them near zero; and how many times
all of them count as one, at most.
"""
_MANY, _COARSEST = 100, 512.0
"""Steps of a run in the place of which no longer ones are taken; and how many times as long they become, at most: they
can be divided again by eight times that.
"""
_RANGE, _LONGER = 8.0, 4.0
"""A trial changes the step at most by this factor; and how many times as long is tried, before a step is found."""
_NEAREST = 1e-6
"""Part of the first step that is tried where functions raise, at least."""
_LOOKED, _SWIFTEST = 200, 3
"""How many trajectories of an ensemble are looked at, and of how many of them, beside the first, steps are taken."""


_SPACINGS = 1e3
"""Of times, in the first step that is tried."""
_FIRST, _WHOLE = 0.01, 1e-6
"""With which part of the time in which a component would change by its size trials begin; and with no less than this
part of that where all positions, or momenta, are one: in large units some component is near zero.
"""


def suggest_step(
    problem: Problem | Poses, method: str | Method = "GAUSS8", tolerance: float | None = None, t: float | None = None
) -> float:
    """A step for fixed steps of a method from the start of a problem, found by taking some.

    Parameters
    ----------
    problem : Problem, or what poses one
        Of an ensemble the least step of some trajectories: the first, and those that move fastest for their size.
    method : str or Method
    tolerance : float, optional
        Of methods that divide their steps by an estimate (`GAUSS8`): the estimate of a substep, as in `Method.tuned`;
        default near rounding.  Of others: change of the state after one step, relative to its size (1 for turns), when
        it is taken in two halves; default 1e-9.
    t : float, optional
        The time to begin at, s; default that for which the problem is posed, or 0.

    Returns
    -------
    float
        With methods that have a limit of stability it holds the fastest mode of the linear motion at the start, whether
        the motion shows it or not (springs and dampers that are stiff); methods without one do not ask.  The motion may
        become faster than at its start: what divides its steps notices; with other methods compare with half the step.

    Raises
    ------
    TypeError
        A solver of another library, which chooses its steps itself.
    ValueError
        A tolerance that is not positive.

    Examples
    --------
    >>> from integrators import Problem, suggest_step
    >>> from liegroup import rn
    >>> oscillator = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    >>> 1e-3 < suggest_step(oscillator, "RKMK4") < 1e-1
    True
    """
    chosen = find(method)
    if isinstance(chosen, Reference):
        raise TypeError(f"method: {chosen.name} chooses its steps itself")
    if tolerance is not None:
        tolerance = real(tolerance, "tolerance", "a positive number", lambda x: 0 < x < np.inf)
    posed = pose(problem)
    begin = begin_of(posed) if t is None else real(t, "t")
    return min(suggested(one, chosen, tolerance, begin, np.inf) for one in swiftest(posed, begin))


def swiftest(problem: Problem, t: float) -> list[Problem]:
    """The first trajectory, and of many those that move fastest for their size, of so many as are looked at."""
    starts = np.atleast_2d(problem.y0)
    first, *others = (problem.with_start(y) for y in starts[:: -(-len(starts) // _LOOKED)])
    return [first, *sorted(others, key=lambda one: _first_step(one, t))[:_SWIFTEST]]


def suggested(problem: Problem, chosen: Method, tolerance: float | None, t: float, end: float) -> float:
    """`suggest_step` of one trajectory to `end`, beyond which nothing is asked; nor beyond the next sample, where
    others are functions.
    """
    signal = problem.inputs.signal
    if signal is not None and len({*signal.kinds}) > 1 and np.isfinite(end) and end != t:
        marks, _ = samples_within(problem, (t, end))
        end = t + np.sign(end - t) * float(marks[0]) if len(marks) else end
    problem = held_as_at(problem, t)
    first = min(_first_step(problem, t), abs(end - t))
    check_begin(problem, t)
    with undisturbed():
        check_field(problem, *_ahead(t, first, 1, end)[0])
    chosen.check(problem, t)
    if chosen.stepper.report:
        return _undivided(problem, chosen.tuned(tolerance) if tolerance else chosen, t, first, end)
    found = _halved(problem, chosen, 1e-9 if tolerance is None else tolerance, t, first, end)
    return held_step(problem, chosen, t, found)


def _first_step(problem: Problem, t: float) -> float:
    """A hundredth of the time in which the state would change by its size."""
    y = np.asarray(problem.y0, dtype=np.float64)
    sizes, velocity = state_sizes(problem.table, y), np.abs(problem.velocity(t, y))
    moving = velocity > 1e-9 * np.max(velocity, initial=0.0)
    found = float(np.min((1.0 + sizes[moving]) / (velocity[moving] + 1e-300), initial=1.0))
    parts = 2 if problem.canonical else 1
    fastest = [
        float(np.linalg.norm(size)) / float(rate.max())
        for size, rate in zip(np.array_split(sizes, parts), np.array_split(velocity, parts), strict=True)
        if len(rate) and rate.max() > 0.0
    ]
    least = _SPACINGS * float(np.spacing(abs(t)))  # far from zero times have that between them
    return max(_FIRST * max(found, _WHOLE * min(fastest, default=0.0)), least)


def _trials(problem: Problem, t: float) -> int:
    """How many: where nothing moves, steps of any size are right, and say nothing."""
    return _TRIALS if problem.velocity(t, np.asarray(problem.y0, dtype=np.float64)).any() else _AT_REST


def _ahead(t: float, step: float, count: int, end: float) -> tuple[tuple[float, float], float]:
    """The interval of so many steps, as far as there are so many up to the end, and their size."""
    length, forward = abs(end - t), 1.0 if end >= t else -1.0
    step = min(step, length)
    count = min(count, int(length / step * (1.0 + 1e-12))) if length < np.inf else count
    return (t, end if count * step >= length * (1.0 - 1e-12) else t + forward * count * step), step


def _undivided(problem: Problem, method: Method, t: float, step: float, end: float) -> float:
    """The largest step that the first ones of a run would not have divided; where the motion becomes fast farther on,
    one that does not come so far.
    """
    divided, length, found, first = np.inf, abs(end - t), 0.0, step
    for _ in range(_trials(problem, t)):
        if step < (spacing := float(np.spacing(abs(t)))):
            raise ValueError(
                f"t_span: near {t:g} s times are {spacing:.2g} s apart, and what the field makes of them is rounded so "
                "that shorter steps are asked for; count the time from the beginning of the run, or give rtol"
            )
        way = equal_steps(*_ahead(t, step, _TRIAL_STEPS, end))
        try:
            trial = tried(problem, method, way, lambda run: substeps_of(run) > _MOST_DIVIDED)
        except Exception:  # of the user's functions, maybe far from here: a run keeps what it has come to
            if found or step < _NEAREST * first:
                return found or step
            divided, step = min(divided, step), step / _RANGE
            continue
        report = trial.report
        assert report is not None
        whole = len(report.levels) == 1 and trial.status is Status.OK
        if found and not whole:
            return found
        fastest = np.inf if whole else report.smallest_substep or step * 2.0**-LEVELS
        wanted = min(0.9 * report.recommended_step, fastest, _RANGE * step)
        divided = min(divided, step) if sum(report.levels) > _MOST_DIVIDED else divided
        wanted = float(np.sqrt(step * divided)) if step < divided <= wanted else wanted
        wanted, found = min(wanted, length), 0.0
        if not wanted > 0.0 or 0.8 * step <= wanted <= 1.25 * step:
            if not whole or _LONGER * step > length:
                break
            found, wanted = step, _LONGER * step  # where the estimate is rounding, it asks for the step that is tried
        step = wanted
    return found or step


def coarser(problem: Problem, method: Method, span: tuple[float, float], step: float) -> float:
    """The step of a long run of a method that divides its steps, or a longer one, if that takes half the substeps or
    fewer: a comet that starts at its perihelion is slower everywhere else.
    """
    (t, end), longest = span, min(abs(span[1] - span[0]) / _MANY, _COARSEST * step)
    substeps = 1.0 / step  # a second
    while _RANGE * step <= longest:
        way = equal_steps(*_ahead(t, _RANGE * step, _TRIAL_STEPS, end))
        try:
            trial = tried(problem, method, way, lambda run: substeps_of(run) > _MOST_DIVIDED)
        except Exception:  # of the user's functions
            break
        assert trial.report is not None
        taken = abs(trial.last_t - t)
        if not taken > 0.0 or not sum(trial.report.levels) < 0.5 * substeps * taken:
            break
        step, substeps = _RANGE * step, sum(trial.report.levels) / taken
    return step


def _halved(problem: Problem, method: Method, tolerance: float, t: float, step: float, end: float) -> float:
    """The step whose two halves differ from the whole by the tolerance."""
    y = np.asarray(problem.y0)
    parts = np.split(np.abs(y), [problem.n - problem.dimension // 2]) if problem.canonical else [np.abs(y)]
    norms = np.concatenate([np.full(len(x), np.linalg.norm(x)) for x in parts])
    one = np.where(norms > 0.0, np.minimum(1.0, _TIMES * norms), 1.0)  # of small units all is small
    sizes = np.maximum(one + np.abs(y), _SHARE * norms if problem.canonical else 0.0)
    for _ in range(_trials(problem, t)):
        span, step = _ahead(t, step, 1, end)
        ends = [tried(problem, method, equal_steps(span, step / k)) for k in (1, 2)]
        if not all(one.status is Status.OK for one in ends):
            step /= _RANGE
            continue
        seen = sizes if problem.canonical else np.maximum(sizes, _SHARE * _reach(problem, *span, y, ends[1].last))
        error = float(np.max(np.abs(ends[0].last - ends[1].last) / seen))
        power = 1.0 / (method.order + 1)
        factor = min((tolerance / error) ** power if error > 0.0 else _RANGE, _RANGE)
        if 0.8 <= factor <= 1.25 or (factor > 1.0 and span[1] == end):
            break
        step *= max(factor, 1.0 / _RANGE)
    return step


def _reach(problem: Problem, begin: float, until: float, y: Array, end: Array) -> Array:
    """How far the components of a state on Rⁿ come in the time in which one of them changes by its size, by the rates
    at both ends of a step: what begins at zero, in large units, is of this size.
    """
    if problem.dimension != problem.n:
        return np.zeros(problem.n)
    rate, then = problem.velocity(begin, y), problem.velocity(until, end)
    size, speed, bend = np.abs(y), np.abs(rate), np.abs(then - rate) / abs(until - begin)
    with np.errstate(all="ignore"):
        times = 2.0 * size / (speed + np.sqrt(speed**2 + 2.0 * bend * size))
    times = times[np.isfinite(times) & (times > 0.0)]
    reach: Array = speed * times.min() if len(times) else np.zeros(problem.n)
    return np.where(np.isfinite(reach), reach, 0.0)
