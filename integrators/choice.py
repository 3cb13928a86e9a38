"""What is chosen where the user leaves it open: the step, by taking some, and the method."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arguments import check_begin, check_field, equal_steps, way_of
from integrators.engine.adaptive_run import Steering
from integrators.engine.crew import Here
from integrators.engine.run import NEVER, Output, Plan, Run, Trajectory
from integrators.engine.start import start_runs
from integrators.engine.step_again import to_its_end
from integrators.method import Method, Reference
from integrators.method.stability import held_step
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.problem.ambient import state_sizes
from integrators.problem.driven import inputs_at, undriven
from integrators.problem.jacobian import derivative
from integrators.status import Status
from liegroup.arrays import real
from liegroup.compile import undisturbed

Array = NDArray[np.float64]
MANY = 10_000
"""Steps of the default beyond which a method that damps is asked."""
UNSMOOTH, ROUGH, STIFF = (1e-9, 1e-12), "RKMK_DOP853", "RKMK_RADAU_IIA5"
"""Tolerances of what is not smooth, which GAUSS8 asks, where nothing is said of method and steps; its method, and that
of what decays so fast that this alone makes the steps of GAUSS8 short.
"""


def suggest_step(
    problem: Problem | Poses, method: str | Method = "GAUSS8", tolerance: float | None = None, t: float = 0.0
) -> float:
    """A step for fixed steps of a method from the start of a problem, found by taking some.

    Parameters
    ----------
    problem : Problem, or what poses one
        Of an ensemble, the first trajectory.
    method : str or Method
    tolerance : float, optional
        Of methods that divide their steps by an estimate (`GAUSS8`): the estimate of a substep, as in `Method.tuned`;
        default near rounding.  Of others: change of the state after one step, relative to its size (1 for turns), when
        it is taken in two halves; default 1e-9.
    t : float
        The time to begin at.

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
    return suggested(pose(problem), chosen, tolerance, t, np.inf)


def suggested(problem: Problem, chosen: Method, tolerance: float | None, t: float, end: float) -> float:
    """`suggest_step` of a run to `end`, beyond which nothing is asked; nor beyond the next sample, where others are
    functions.
    """
    signal = problem.inputs.signal
    if signal is not None and len({*signal.kinds}) > 1 and np.isfinite(end) and end != t:
        marks, _ = _samples(problem, (t, end))
        end = t + np.sign(end - t) * float(marks[0]) if len(marks) else end
    problem = _held_as_at(problem.with_start(np.atleast_2d(problem.y0)[0]), t)
    first = min(_first_step(problem, t), abs(end - t))
    check_begin(problem, t)
    with undisturbed():
        check_field(problem, *_ahead(t, first, 1, end)[0])
    chosen.check(problem, t)
    if chosen.stepper.report:
        return _undivided(problem, chosen.tuned(tolerance) if tolerance else chosen, t, first, end)
    found = _halved(problem, chosen, 1e-9 if tolerance is None else tolerance, t, first, end)
    return held_step(problem, chosen, t, found)


_TRIALS, _AT_REST, _TRIAL_STEPS, _MOST_DIVIDED = 20, 8, 16, 400
_SHARE, _TIMES = 1e-3, 10.0
"""Part of all positions, or momenta, that counts as nothing beside them, of one of them near zero; and how many times
all of them count as one, at most.
"""
_RANGE = 8.0
"""A trial changes the step at most by this factor."""


_SPACINGS = 1e3
"""Of times, in the first step that is tried."""
_FIRST, _WHOLE = 0.01, 1e-6
"""With which part of the time in which a component would change by its size trials begin; and with no less than this
part of that where all positions, or momenta, are one: in large units some component is near zero.
"""


_BEGUN, _BEGINNING, _DECAYS, _LARGEST = 16, 0.05, 0.1, 100
"""Steps after which decays are looked at; part of a run by whose steps it is judged; decay in a step of GAUSS8 from
which on that is asked; and components of a velocity, at most.
"""
_OFTEN, _LOOKED = 32, 1024
"""A run is looked at after so many parts of its steps, and at most so many steps."""
_FEW, _LATER = 500, 0.2
"""Substeps after which it is asked then, at least, and which part of all."""
_CROWDED, _ANYWAY = 100, 100_000
"""Steps for each sample, or for each that is asked for, and in all, beyond which samples are too near each other."""
_ROUNDED = 16.0
"""Spacings of times by which samples may miss the end of a step."""
_FEWER, _LEAST = 0.1, 40
"""Part of the steps of GAUSS8 that variable ones take there, at most, and the number that is granted anyway."""


def known(name: str) -> Method:
    """A method of the catalogue that is our own."""
    method = find(name)
    assert isinstance(method, Method)
    return method


def _held_as_at(problem: Problem, t: float) -> Problem:
    """The problem whose sampled inputs keep their values: between samples the motion is smooth, and tells the step."""
    signal = problem.inputs.signal
    if signal is None or {*signal.kinds} != {"sampled"}:
        return problem
    return undriven(problem).with_inputs(inputs_at(problem, t, problem.y0))


def ending_at_samples(problem: Problem, span: tuple[float, float], step: float) -> float:
    """The next smaller step that ends at all samples of the inputs, where their times are multiples of one that is not
    much smaller than them; 0 where they are not.
    """
    marks, rounding = _samples(problem, span)
    if not len(marks):
        return step
    marks = np.append(marks, abs(span[1] - span[0]))
    count = round(marks[-1] / _shortest(marks))
    spacing = marks[-1] / count
    off = np.abs(marks - spacing * np.round(marks / spacing)).max()
    if off > rounding or count > _most_for_samples(marks, marks[-1] / step):
        return 0.0
    return float(spacing / np.ceil(spacing / step * (1.0 - 1e-9)))


def within_samples(problem: Problem, span: tuple[float, float], step: float) -> float:
    """The longest variable step that passes over no sample and the next one; no less than what `ending_at_samples`
    takes for much smaller.
    """
    marks, _ = _samples(problem, span)
    length = abs(span[1] - span[0])
    if not len(marks):
        return np.inf
    least, shortest = length / _most_for_samples(marks, length / step), _shortest(marks)
    if shortest < least:
        warnings.warn(
            f"inputs: samples are {shortest:.2g} s apart at the closest, and steps of up to {least:.2g} s are taken: "
            "what lasts shorter may be passed over; give max_step with rtol, or leave such samples out",
            RuntimeWarning,
            stacklevel=3,
        )
    return max(least, shortest)


def _samples(problem: Problem, span: tuple[float, float]) -> tuple[Array, float]:
    """Times from the beginning to the samples of the inputs within an interval, those once that differ by rounding, and
    what rounding is.
    """
    signal, (begin, end) = problem.inputs.signal, sorted(span)
    rounding = _ROUNDED * float(np.spacing(max(abs(begin), abs(end))))
    times = np.unique(np.concatenate([np.zeros(0), *(signal.times if signal else ())]))
    marks = np.sort(np.abs(times[(times > begin + rounding) & (times < end - rounding)] - span[0]))
    return marks[np.diff(marks, prepend=-np.inf) > rounding], rounding


def _most_for_samples(marks: Array, asked: float) -> float:
    """Steps for the sake of samples, at most; so many are asked for otherwise."""
    return max(_ANYWAY, _CROWDED * max(len(marks), asked))


def _shortest(marks: Array) -> float:
    return float(np.diff(marks, prepend=0.0).min())


def unsmooth(problem: Problem) -> str:
    """Why GAUSS8 is not for a problem, if it is not."""
    return "things that strike each other" if problem.strikes else "forces with kinks" if problem.has_kinks else ""


def may_decay(problem: Problem) -> bool:
    """Whether it may be stiff, and is small enough to be asked: where the energy is kept nothing decays."""
    kept = any(guard.name == "energy" and not np.isfinite(guard.rise) for guard in problem.guards)
    return problem.dimension <= _LARGEST and not kept


class TurnedStiff(Exception):
    """A run of GAUSS8 has come where `is_stiff` is true."""


class Asking(Here):
    """Takes the steps of one run of GAUSS8 and asks on the way whether it has become stiff: what slides comes to stick.
    At steps that do not depend on how fast the machine is, so that another run asks at the same.
    """

    def __init__(self, span: tuple[float, float]) -> None:
        super().__init__()
        self._end, self._next, self._asked = span[1], 1, 0
        self._before = span[0], 0

    def advance(self, runs: list[Run], count: int) -> int:
        run = runs[0]
        count = super().advance(runs, min(count, self._next - run.steps_done))
        if not run.done and run.steps_done >= self._next:
            self._next += min(1 + run.steps_done // _OFTEN, _LOOKED)
            if self._is_stiff(run):
                raise TurnedStiff
        return count

    def _is_stiff(self, run: Run) -> bool:
        (t, before), substeps = self._before, _substeps(run)
        self._before = run.t, substeps
        if substeps - self._asked < max(_FEW, _LATER * substeps):
            return False
        self._asked = substeps
        try:
            step = abs(run.t - t) / max(1, substeps - before)
            return is_stiff(run.problem.with_start(run.shown()), (run.t, self._end), step)
        except KeyboardInterrupt:  # who drives the run hears of it, too
            return False


def is_stiff(problem: Problem, span: tuple[float, float], step: float) -> bool:
    """Whether GAUSS8 would take more than `MANY` steps for what decays within one of them, where a method that damps it
    takes far fewer: of the beginning of the run it is tried.
    """
    length, forward = abs(span[1] - span[0]), float(np.sign(span[1] - span[0]))
    if not step * MANY < length or not may_decay(problem):
        return False
    one, method = problem.with_start(np.atleast_2d(problem.y0)[0]), known(STIFF)
    try:
        method.check(one, span[0])
        begun = Plan(span[0], forward * step, _BEGUN)
        found = _tried(one, known("GAUSS8"), begun)
        rates = np.linalg.eigvals(forward * derivative(one, found.last_t, found.last))
        decays = -rates.real[np.abs(rates.imag) <= np.abs(rates.real)]
        if not step * decays.max(initial=0.0) > _DECAYS:
            return False
        beginning = span[0], span[0] + _BEGINNING * (span[1] - span[0])
        most = max(_LEAST, int(_FEWER * _BEGINNING * length / step))
        way = way_of(method, beginning, None, *UNSMOOTH, None, np.inf, most, one)
        return _tried(one, method, way).status is Status.OK
    except Exception:  # also of the user's functions: the run will say what is wrong
        return False


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


def _tried(problem: Problem, method: Method, way: Plan | Steering, enough: Any = None) -> Trajectory:
    """Some steps, which may be too long for what the method presupposes; Ctrl-C ends the search, and is no answer."""
    with undisturbed():
        [run] = start_runs(problem, method, Output(save_every=NEVER), way)
    return to_its_end(run, enough)[0]


def _substeps(run: Run) -> int:
    """Of a method that divides its steps."""
    report = run.method.report(run.work)
    assert report is not None
    return sum(report.levels)


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
    divided = np.inf
    for _ in range(_trials(problem, t)):
        if step < (spacing := float(np.spacing(abs(t)))):
            raise ValueError(
                f"t_span: near {t:g} s times are {spacing:.2g} s apart, and what the field makes of them is rounded so "
                "that shorter steps are asked for; count the time from the beginning of the run, or give rtol"
            )
        way = equal_steps(*_ahead(t, step, _TRIAL_STEPS, end))
        trial = _tried(problem, method, way, lambda run: _substeps(run) > _MOST_DIVIDED)
        report = trial.report
        assert report is not None
        fastest = report.smallest_substep if len(report.levels) > 1 or trial.status is not Status.OK else np.inf
        wanted = min(0.9 * report.recommended_step, fastest, _RANGE * step)
        divided = min(divided, step) if sum(report.levels) > _MOST_DIVIDED else divided
        wanted = float(np.sqrt(step * divided)) if step < divided <= wanted else wanted
        wanted = min(wanted, abs(end - t))
        if not wanted > 0.0 or 0.8 * step <= wanted <= 1.25 * step:
            break
        step = wanted
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
        ends = [_tried(problem, method, equal_steps(span, step / k)) for k in (1, 2)]
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
