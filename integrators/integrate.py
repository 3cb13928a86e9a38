"""The one entry point: integrate a problem, or what poses one, with a method."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.controllers import StepController, find_controller
from integrators.engine.adaptive_run import Steering, attainable
from integrators.engine.checkpoint import Checkpoint, content_of, load
from integrators.engine.collect import collect
from integrators.engine.crew import Crew, crew_of
from integrators.engine.drive import drive
from integrators.engine.gathering import settle, window_for, with_events
from integrators.engine.interrupts import interruptible
from integrators.engine.room import check_room
from integrators.engine.run import NEVER, Output, Plan, Run, check_steps
from integrators.engine.start import start_runs
from integrators.engine.step_again import to_its_end
from integrators.engine.streaming import Streaming, checkpoint_of, window_of
from integrators.engine.varied_run import VariedRun
from integrators.events import Events, as_events
from integrators.method import Method, Reference
from integrators.method.stability import held_step
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.problem.ambient import state_sizes
from integrators.problem.dependence import dependence
from integrators.problem.fields import check_jitted, check_truth, reads_time
from integrators.problem.jacobian import derivative
from integrators.problem.times import check_autonomous
from integrators.results.digests import StorageError
from integrators.results.solution import Solution, names_of_event
from integrators.results.streams import place_of
from integrators.statistics.gathered import checked, names_in_files
from integrators.statistics.statistic import Statistic
from integrators.status import Status
from liegroup.arrays import check_function, integer, path_of, positive, real, reals
from liegroup.compile import undisturbed

Array = NDArray[np.float64]
ROWS = 10_000
"""Saved states by default, at most, with fixed steps."""
MANY = 10_000
"""Steps before which any method says what it cannot hold; those of problems that bring their own step always do."""
STRIKING, STIFF = (1e-9, 1e-12), "RKMK_RADAU_IIA5"
"""Tolerances of what strikes, where nothing is said of method and steps: the field is not smooth, which GAUSS8 asks;
and the method, with them, of what decays so fast that this alone makes the steps of GAUSS8 short.
"""


def integrate(
    problem: Problem | Poses,
    method: str | Method | Reference | Sequence[float] | None = None,
    t_span: Sequence[float] | None = None,
    step: float | None = None,
    *,
    y0: ArrayLike | None = None,
    rtol: ArrayLike | None = None,
    atol: ArrayLike | None = None,
    controller: str | StepController | None = None,
    max_step: float = np.inf,
    max_steps: int | None = None,
    save_every: int | None = None,
    t_eval: ArrayLike | None = None,
    events: Any = None,
    callback: Any = None,
    progress: bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 60.0,
    into: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    energy_tolerance: float | None = None,
    fast: bool = False,
    workers: int | None = None,
    statistics: Any = None,
) -> Solution:
    """Integrate a problem over an interval of time.

    Fixed steps if `step` is given and neither a tolerance nor a controller; else steps of variable size, for methods
    with an error estimate, or, with an `IntegratingController`, for symmetric ones, or, with a
    `LogarithmicHamiltonian`, for splittings.

    Parameters
    ----------
    problem : Problem, or what poses one
        With an initial state (n,), or with m of them (m, n): an ensemble.  Fixed steps of a compiled field run in lanes
        of eight: the same numbers as one by one, bit by bit, for a fraction of the time.  So do variable steps of
        explicit methods from four trajectories on, each with its own steps, without events and callbacks.  Anything
        with a method `problem` is asked for it: a mechanism, a nonholonomic system, a row of
        `mechanics.systems.SYSTEMS`.
    method : str or Method, optional
        From the catalogue `integrators.methods`, by name or as an object.  Without one, ``integrate(problem, t_span)``,
        it is GAUSS8, with steps from `suggest_step` unless `step` is given; with a tolerance or a controller
        RKMK_DOP853, and so where things strike each other (`Problem.strikes`: contacts, stops, cables) and no step is
        given, with rtol=1e-9 and atol=1e-12: GAUSS8 is for smooth fields.  Where it would take more than 10 000 steps
        only because something decays within one of them (stiff equations, strong dampers), it is RKMK_RADAU_IIA5 with
        these tolerances.  The message of the solution then names both.
    t_span : (t0, t1)
        t1 < t0 integrates backwards.
    step : float, optional
        Step size, positive.  Fixed steps that do not divide the interval are replaced by the next smaller ones that
        do.  With a controller: the first step (default: found from the field); with the integrating controller and the
        logarithmic Hamiltonian: ε.
    y0 : array (n,) or (m, n), optional
        Start from here instead of ``problem.y0``.
    rtol, atol : float, optional
        Relative and absolute tolerance (default 1e-6, 1e-9) of the error of a step in the algebra; rotations count as
        of size 1, positions by their length, components of Rⁿ by their magnitude.  Both may be one number per
        component of the velocity.  What is below rounding is raised to it, with a warning.
    controller : str or Controller, optional
        From `integrators.controllers.CONTROLLERS` (default "PI42"; of implicit Runge-Kutta methods "PREDICTIVE"; BDF
        choose their steps with their order), an `IntegratingController` or a `LogarithmicHamiltonian`.
    max_step : float
        Largest variable step.
    max_steps : int, optional
        Most variable steps; reaching it is a status.
    save_every : int, optional
        Keep every `save_every`-th state and the last; default every variable step, and of fixed steps as few as needed
        for at most 10 000 states.  The extremes and the mean of the invariants are taken over every step in any case.
    t_eval : array (k,), optional
        Keep the states at these times instead: within steps by the method's continuous extension, or by a step of the
        part.
    events : optional
        Functions g(t, y) whose zeros are located: `Event` objects, functions, a sequence or a mapping from names.
    callback : callable, optional
        ``callback(t, y)`` is called between chunks of about 0.1 s, with a copy of the state; a true value stops the
        run.  An object with a method ``look(stretch)`` gets all that was saved since, with the extremes of the
        invariants (`integrators.engine.run.Stretch`).
    progress : bool, optional
        Progress bar; default: on terminals, for runs longer than a second.
    checkpoint : path, optional
        Keep there what `resume` needs to go on, should this run be killed; written atomically about `every` seconds.
        If that fails during the run (a full disk), a warning says so and it is tried again.  SIGTERM then ends the run
        as Ctrl-C does.
    every : float
        Seconds between checkpoints.
    into : path, optional
        Append the saved states to this file while the run goes on, and keep only a window of them in memory: HDF5
        (``.h5``, ``.hdf5``, ``.nc``) or a folder of Zarr (``.zarr``, extra ``zarr``), compressed, with the names that
        `Solution.save` gives.  What was appended is there after two seconds or so; at every moment xarray opens the
        file, and `Solution.load` with ``lazy=True``.  Its checkpoint is kept beside it (``NAME.checkpoint``):
        ``resume(into, problem)`` goes on bit by bit, whatever ended the run.  The solution reads its arrays from the
        file where they are asked for (`Solution.in_memory`).  Events, and states at times given in `t_eval`, stay in
        memory as well.
    overwrite : bool
        Replace what is there under this name; else it is an error.
    energy_tolerance, fast
        Of methods that divide their steps by an estimate (`GAUSS8`), as in `Method.tuned`.
    workers : int, optional
        Of an ensemble: how many trajectories, or packs in eight lanes, are integrated at the same time, in threads; in
        processes where functions of the problem are plain Python, which then must be named in a module (and the program
        start below ``if __name__ == "__main__":``).  The results are the same bits for any number.  Default: as many as
        there are cores if everything is compiled; 1 with a callback, which then sees one trajectory after the other,
        with plain Python functions, and in threads of the caller's own.
    statistics : sequence of Moments, Slope, Histogram, Section, FirstPassage, optional
        Gather these on the way (`integrators.statistics`), at every `save_every`-th state (default 1) of fixed steps;
        ``solution.statistics`` has them by name.  Of the states a summary stays, as if few had been saved (at most 1024
        rows), so that memory does not grow with the number of steps.

    Returns
    -------
    Solution
        Also if the run failed or was interrupted (Ctrl-C): what was computed, with a status and a message.  A second
        Ctrl-C raises KeyboardInterrupt.

    Raises
    ------
    ValueError, TypeError
        For arguments that make no sense, with the remedy.
    Exception
        Whatever a plain Python function of the problem or the callback raises; a note says at which time and step, and
        the attribute ``solution`` of the exception holds the states saved until then.

    Warns
    -----
    RuntimeWarning
        Before fixed steps of a method that kicks: springs too stiff for them at the start, by the name of the element.
        Before ten thousand of any method: what else it presupposes and does not find there.  Runs also say it in their
        message.  Tolerances below rounding, with what is taken in their place.

    Notes
    -----
    A jitted field is inlined or called at once, a plain Python one is called back by the compiled step, to the same
    numbers; it costs its own time and 2 µs or so.

    Examples
    --------
    >>> from integrators import Problem, integrate
    >>> from liegroup import rn
    >>> oscillator = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    >>> import numpy as np
    >>> solution = integrate(oscillator, "RKMK4", (0.0, 1.0), 0.1)
    >>> solution.t.shape, solution.y.shape, solution.message
    ((11,), (11, 2), 'reached the end')
    >>> bool(abs(solution["q"][-1, 0] - np.cos(1.0)) < 1e-6)
    True

    Steps of variable size, states at given times, and a zero of the first component:

    >>> zero = {"zero": lambda t, y: y[0]}
    >>> solution = integrate(
    ...     oscillator, "RKMK_DORMAND_PRINCE54", (0.0, 2.0), rtol=1e-8, t_eval=[0.5, 1.0], events=zero
    ... )
    >>> solution.t.tolist(), bool(abs(solution.events["zero"][0][0] - np.pi / 2) < 1e-6)
    ([0.5, 1.0], True)
    """
    wanted, t_span = method_and_span(method, t_span)
    problem, steering = pose(problem), (rtol, atol, controller, step, energy_tolerance)
    striking = wanted is None and problem.strikes and not fast and all(x is None for x in steering)
    if striking:
        rtol, atol = STRIKING
    variable = rtol is not None or atol is not None or controller is not None
    chosen = find(("RKMK_DOP853" if variable else "GAUSS8") if wanted is None else wanted)
    if energy_tolerance is not None or fast:
        chosen = chosen.tuned(energy_tolerance, fast)
        if variable:
            raise TypeError(
                "energy_tolerance, fast: of fixed steps, which they divide; variable steps (rtol, atol, controller) "
                "are never divided: leave out one or the other"
            )
    if y0 is not None:
        problem = problem.with_start(y0)
    span = _interval(t_span)
    _check_begin(problem, span[0])
    with undisturbed():
        _check_field(problem, *span)
    if isinstance(chosen, Reference):
        given = {
            "controller": controller,
            "t_eval": t_eval,
            "events": events,
            "callback": callback,
            "checkpoint": checkpoint,
            "into": into,
            "workers": workers,
            "statistics": statistics,
            "max_step": None if max_step == np.inf else max_step,
            "max_steps": max_steps,
        }
        if unused := [name for name, value in given.items() if value is not None]:
            raise TypeError(f"{', '.join(unused)}: not supported by {chosen.name}, which is here for comparison")
        tolerances = {name: value for name, value in (("rtol", rtol), ("atol", atol)) if value is not None}
        step = None if step is None else positive(step, "step", " (t_span tells the direction)")
        save_every = None if save_every is None else integer(save_every, "save_every", 1)
        solution: Solution = chosen.solve(problem, span, step=step, save_every=save_every, **tolerances)
        return solution
    chosen.check(problem, span[0])
    says = "" if wanted else f"{chosen.name}, chosen for want of a method"
    says = f"{says}, with rtol={STRIKING[0]} for things that strike each other" if striking else says
    if chosen.stepper.report and step is None and not variable:
        if max_steps is not None or max_step != np.inf:
            raise ValueError(
                f"max_step, max_steps: they belong to variable steps, but {chosen.name} takes fixed ones; give `step`, "
                "or leave the method out and give rtol"
            )
        length = abs(span[1] - span[0])
        step = min(suggest_step(problem, chosen, t=span[0]), length) if length else 1.0
        if not wanted and energy_tolerance is None and not fast and _is_stiff(problem, span, step):
            chosen, step, (rtol, atol) = _known(STIFF), None, STRIKING
            says = f"{STIFF}, chosen for want of a method, with rtol={STRIKING[0]} for what decays fast"
        elif length:
            says = f"{says or chosen.name}, with steps of {step:.3g}"
    if callback is not None and not callable(getattr(callback, "look", None)):
        check_function(callback, "callback", "a function callback(t, y) or an object with a method look", 2)
    gathered = () if statistics is None else checked(statistics)
    output = Output(times=_times(t_eval, span), events=_events(events, problem, gathered), statistics=gathered)
    way = _way(chosen, span, step, rtol, atol, controller, max_step, max_steps, problem)
    output = replace(output, save_every=_save_every(1 if gathered and save_every is None else save_every, way))
    if gathered:
        _check_gathering(way, output, into)
        output = replace(output, window=window_for(problem))
    if into is not None:
        if checkpoint is not None:
            raise TypeError(f"checkpoint: the one of a run into a file is kept beside it, {checkpoint_of(into)}")
        place_of(into, overwrite)
        output = replace(output, window=window_of(problem, output))
    with undisturbed():
        runs = start_runs(problem, chosen, output, way)
    _warn_of(problem, chosen, way)
    crew = crew_of(workers, problem, chosen, output, way, runs, callback)
    keeper: Checkpoint | None = None
    if into is not None:
        keeper = Streaming(into, every, problem, chosen, output, way, runs, overwrite)
    elif checkpoint is not None:
        keeper = Checkpoint(checkpoint, every, problem, chosen, output, way, runs)
    solution = _solved(problem, chosen, way, runs, progress, callback, keeper, crew)
    return replace(solution, message=f"{solution.message} ({says})") if says else solution


def integrate_together(
    problems: Sequence[Problem], method: Method, t_span: Sequence[float], step: float, save_every: int | None = None
) -> list[Solution]:
    """Up to eight problems that are alike (`integrators.engine.varied_run.likeness`) with fixed steps, in lanes: the
    solutions that `integrate` gives of each.  Each is looked at for doubts by itself, as a first trajectory.
    """
    span = _interval(t_span)
    way = _plan(span, positive(step, "step", " (t_span tells the direction)"))
    output = Output(save_every=_save_every(save_every, way))
    for problem in problems:
        with undisturbed():
            _check_field(problem, *span)
        method.check(problem, span[0])
        check_room(problem, output, way, 1)
        _warn_of(problem, method, way)
    with undisturbed():
        run = VariedRun(problems, method, output, way)
    seconds = drive([run], progress=False)
    return [collect(problem, method, way, [run.alone(k)], seconds) for k, problem in enumerate(problems)]


def _warn_of(problem: Problem, method: Method, way: Plan | Steering) -> None:
    """Before the steps of a method, what it presupposes and does not find at the start of the first trajectory."""
    if not _trying.get() and isinstance(way, Plan) and (way.steps >= MANY or method.stepper.own):
        try:
            doubts = method.doubts(problem, np.atleast_2d(problem.y0)[0], abs(way.h), way.t0)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):  # the run will say what is wrong
            return
        for doubt in doubts:
            warnings.warn(f"before {way.steps} steps: {doubt}", RuntimeWarning, stacklevel=3)


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
    chosen, problem = find(method), pose(problem)
    if isinstance(chosen, Reference):
        raise TypeError(f"method: {chosen.name} chooses its steps itself")
    if tolerance is not None:
        tolerance = real(tolerance, "tolerance", "a positive number", lambda x: 0 < x < np.inf)
    problem = problem.with_start(np.atleast_2d(problem.y0)[0])
    first = _first_step(problem, t)
    trying = _trying.set(True)
    try:
        if chosen.stepper.report:
            return _undivided(problem, chosen.tuned(tolerance) if tolerance else chosen, t, first)
        found = _halved(problem, chosen, 1e-9 if tolerance is None else tolerance, t, first)
    finally:
        _trying.reset(trying)
    return held_step(problem, chosen, t, found)


_trying: ContextVar[bool] = ContextVar("trying", default=False)
"""Whether steps are tried, which may be too long for what a method presupposes."""
_TRIALS, _AT_REST, _TRIAL_STEPS = 20, 8, 16
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
_FEWER, _LEAST = 0.1, 40
"""Part of the steps of GAUSS8 that variable ones take there, at most, and the number that is granted anyway."""


def _known(name: str) -> Method:
    """A method of the catalogue that is our own."""
    method = find(name)
    assert isinstance(method, Method)
    return method


def _is_stiff(problem: Problem, span: tuple[float, float], step: float) -> bool:
    """Whether GAUSS8 would take more than `MANY` steps for what decays within one of them, where a method that damps it
    takes far fewer: of the beginning of the run it is tried.  Where the energy is kept nothing decays.
    """
    length, forward = abs(span[1] - span[0]), float(np.sign(span[1] - span[0]))
    if not step * MANY < length or problem.dimension > _LARGEST:
        return False
    if any(guard.name == "energy" and not np.isfinite(guard.rise) for guard in problem.guards):
        return False
    one, method = problem.with_start(np.atleast_2d(problem.y0)[0]), _known(STIFF)
    try:
        method.check(one, span[0])
        begun = Plan(span[0], forward * step, _BEGUN)
        [run] = start_runs(one, _known("GAUSS8"), Output(save_every=NEVER), begun)
        [found] = to_its_end(run)
        rates = np.linalg.eigvals(forward * derivative(one, found.last_t, found.last))
        decays = -rates.real[np.abs(rates.imag) <= np.abs(rates.real)]
        if found.status is not Status.OK or not step * decays.max(initial=0.0) > _DECAYS:
            return False
        beginning = span[0], span[0] + _BEGINNING * (span[1] - span[0])
        most = max(_LEAST, int(_FEWER * _BEGINNING * length / step))
        way = _way(method, beginning, None, *STRIKING, None, np.inf, most, one)
        [run] = start_runs(one, method, Output(save_every=NEVER), way)
        return to_its_end(run)[0].status is Status.OK
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


def _tried(problem: Problem, method: Method, span: tuple[float, float], step: float, **options: Any) -> Solution:
    """A few steps of a size that may not do; Ctrl-C ends the search, and is no answer."""
    with interruptible() as interrupted:
        trial = integrate(problem, method, span, step, progress=False, **options)
    if interrupted():
        raise KeyboardInterrupt
    return trial


def _undivided(problem: Problem, method: Method, t: float, step: float) -> float:
    """The largest step that the first ones of a run would not have divided."""
    for _ in range(_trials(problem, t)):
        trial = _tried(problem, method, (t, t + _TRIAL_STEPS * step), step, save_every=_TRIAL_STEPS)
        fastest = trial.smallest_substep if len(trial.levels) > 1 or not trial.finished else np.inf
        wanted = min(0.9 * trial.recommended_step, fastest, _RANGE * step)
        if not wanted > 0.0 or 0.8 * step <= wanted <= 1.25 * step:
            break
        step = wanted
    return step


def _halved(problem: Problem, method: Method, tolerance: float, t: float, step: float) -> float:
    """The step whose two halves differ from the whole by the tolerance."""
    y = np.asarray(problem.y0)
    parts = np.split(np.abs(y), [problem.n - problem.dimension // 2]) if problem.canonical else [np.abs(y)]
    norms = np.concatenate([np.full(len(x), np.linalg.norm(x)) for x in parts])
    one = np.where(norms > 0.0, np.minimum(1.0, _TIMES * norms), 1.0)  # of small units all is small
    sizes = np.maximum(one + np.abs(y), _SHARE * norms if problem.canonical else 0.0)
    for _ in range(_trials(problem, t)):
        ends = [_tried(problem, method, (t, t + step), step / k) for k in (1, 2)]
        if not all(end.finished for end in ends):
            step /= _RANGE
            continue
        seen = sizes if problem.canonical else np.maximum(sizes, _SHARE * _reach(problem, t, step, y, ends[1].y[-1]))
        error = float(np.max(np.abs(ends[0].y[-1] - ends[1].y[-1]) / seen))
        power = 1.0 / (method.order + 1)
        factor = min((tolerance / error) ** power if error > 0.0 else _RANGE, _RANGE)
        if 0.8 <= factor <= 1.25:
            break
        step *= max(factor, 1.0 / _RANGE)
    return step


def _reach(problem: Problem, t: float, step: float, y: Array, end: Array) -> Array:
    """How far the components of a state on Rⁿ come in the time in which one of them changes by its size, by the rates
    at both ends of a step: what begins at zero, in large units, is of this size.
    """
    if problem.dimension != problem.n:
        return np.zeros(problem.n)
    rate, then = problem.velocity(t, y), problem.velocity(t + step, end)
    size, speed, bend = np.abs(y), np.abs(rate), np.abs(then - rate) / step
    with np.errstate(all="ignore"):
        times = 2.0 * size / (speed + np.sqrt(speed**2 + 2.0 * bend * size))
    times = times[np.isfinite(times) & (times > 0.0)]
    reach: Array = speed * times.min() if len(times) else np.zeros(problem.n)
    return np.where(np.isfinite(reach), reach, 0.0)


def resume(
    path: str | os.PathLike[str],
    problem: Problem | Poses,
    *,
    method: Method | None = None,
    controller: StepController | None = None,
    events: Any = None,
    callback: Any = None,
    progress: bool | None = None,
    every: float = 60.0,
    unchecked: Sequence[str] = (),
    workers: int | None = None,
    statistics: Any = None,
) -> Solution:
    """Go on from a checkpoint; the result equals that of the uninterrupted run bit by bit.

    Parameters
    ----------
    path : path
        What `integrate` was given as `checkpoint` or as `into`; it is kept up to date.
    problem : Problem, or what poses one
        The same as then: functions are not kept in files.  Also its start, where guards take their limits from it, as
        those of mechanisms do; of other problems it is not used.
    method, controller, events, statistics
        Again as then, if the method is not in the catalogue, if the controller was given as an object with functions,
        if there were events or statistics.
    callback, progress, every, workers
        As in `integrate`.
    unchecked : sequence of str
        Parts of the problem that are as they were, though no fingerprint tells it or the run itself has changed them:
        the beginnings of what the error message names, for example ``["field: global 'calls' of force"]``.

    Returns
    -------
    Solution
        As from `integrate`.

    Raises
    ------
    StorageError
        The file is damaged, not a checkpoint, or of another problem, method or version: the message says what differs.
    TypeError
        A solver of another library, which keeps no checkpoints.

    Warns
    -----
    RuntimeWarning
        The last checkpoint is damaged, and the one before it is used: later, to the same numbers.

    Examples
    --------
    >>> import os, tempfile
    >>> from integrators import Problem, integrate, resume
    >>> from liegroup import rn
    >>> oscillator = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.checkpoint")
    ...     whole = integrate(oscillator, "RKMK4", (0.0, 1.0), 0.1, checkpoint=path)
    ...     again = resume(path, oscillator)
    >>> bool((whole.y == again.y).all())
    True
    """
    is_stream = checkpoint_of(path_of(path, "path", "the path of a checkpoint")).exists()
    stored = load(checkpoint_of(path) if is_stream else path)
    chosen = find(stored.method) if method is None else method
    if isinstance(chosen, Reference):
        raise TypeError(f"method: {chosen.name} keeps no checkpoints")
    problem = pose(problem)
    with content_of(path):
        if (size := np.shape(stored.y0)[-1]) != problem.n:
            raise StorageError(
                f"{path}: a run of model {stored.attributes['model']!r} with {size} numbers in a state, but the given "
                f"problem {problem.model!r} has {problem.n}"
            )
        problem = problem.with_start(stored.y0)
    gathered = () if statistics is None else checked(statistics)
    way, output = stored.way(controller), stored.output(_events(events, problem, gathered), gathered)
    stored.check(problem, chosen, output, unchecked)
    with undisturbed():
        runs = start_runs(problem, chosen, output, way)
    stored.restore(runs)
    crew = crew_of(workers, problem, chosen, output, way, runs, callback)
    keeper: Checkpoint
    if is_stream:
        keeper = Streaming(path, every, problem, chosen, output, way, runs, follows=stored)
    else:
        keeper = Checkpoint(path, every, problem, chosen, output, way, runs, stored.is_last or None)
    return _solved(problem, chosen, way, runs, progress, callback, keeper, crew)


def _solved(
    problem: Problem, method: Method, way: Plan | Steering, runs: list[Run], progress: bool | None, callback: Any,
    keeper: Checkpoint | None, crew: Crew,
) -> Solution:  # fmt: skip
    """The runs brought to their end; what a function of the user's raises carries the results so far."""

    def collected(seconds: float) -> Solution:
        if isinstance(keeper, Streaming):
            return keeper.collect(runs, seconds)
        settle(runs)
        return collect(problem, method, way, runs, seconds)

    try:
        seconds = drive(runs, progress, callback, keeper, crew)
    except Exception as error:
        try:
            error.solution = collected(0.0)  # type: ignore[attr-defined]
        except Exception as further:  # it must not take the place of what the user's function says
            error.add_note(f"what was computed before could not be collected ({type(further).__name__}: {further})")
        raise
    else:
        return collected(seconds)
    finally:
        if isinstance(keeper, Streaming):
            keeper.in_use.give_back()


def _check_gathering(way: Plan | Steering, output: Output, into: Any) -> None:
    """TypeError for what goes not together with statistics."""
    if into is not None:
        raise TypeError("statistics: not together with into, whose file has every state; leave one of them out")
    if isinstance(way, Steering) or len(output.times):
        raise TypeError("statistics: of samples at equal times, expected fixed steps (step=…) without t_eval")


def method_and_span(method: Any, t_span: Any) -> tuple[str | Method | Reference | None, Any]:
    """Method and interval, where the first may have been left out."""
    if t_span is None and not isinstance(method, (str, Method, Reference)):
        return None, method
    if t_span is None:
        raise TypeError("t_span: missing; expected integrate(problem, method, (t0, t1), step)")
    return method, t_span


def _way(
    method: Method, span: tuple[float, float], step: float | None, rtol: ArrayLike | None, atol: ArrayLike | None,
    controller: Any,
    max_step: float, max_steps: int | None, problem: Problem,
) -> Plan | Steering:  # fmt: skip
    """Fixed steps or a controller."""
    step = None if step is None else positive(step, "step", " (t_span tells the direction)")
    max_step = real(max_step, "max_step", "a positive number", lambda h: h > 0)
    most = 2**62 if max_steps is None else min(integer(max_steps, "max_steps"), 2**62)
    if step is not None and rtol is None and atol is None and controller is None:
        if np.isfinite(max_step) or max_steps is not None:
            raise ValueError(
                "max_step, max_steps: they belong to variable steps, but `step` without a tolerance means fixed steps"
            )
        return _plan(span, step)
    usual = method.with_variable_steps().stepper.controller or "PI42"
    chosen = find_controller(usual if controller is None else controller)
    chosen.check(method, step, rtol, atol, max_step)
    relative, absolute = (
        _tolerance(value, name, default, problem.dimension)
        for value, name, default in ((rtol, "rtol", 1e-6), (atol, "atol", 1e-9))
    )
    if (relative + absolute == 0.0).any():
        raise ValueError(f"rtol, atol: {rtol!r}, {atol!r}, expected non-negative numbers that are not both 0")
    relative, absolute = attainable(problem, rtol, atol, relative, absolute, 3)
    return Steering(span, chosen, relative, absolute, step, max_step, most)


def fixed_plan(t_span: Sequence[float], step: float, save_every: int | None) -> tuple[Plan, int]:
    """The equal steps of an interval, and after how many a state is kept, as of `integrate`."""
    way = _plan(_interval(t_span), positive(step, "step", " (t_span tells the direction)"))
    return way, _save_every(save_every, way)


def _tolerance(value: ArrayLike | None, name: str, default: float, dimension: int) -> Array:
    """A tolerance: one number, or one per component of the velocity."""
    wanted = f"a non-negative number, or one per component of the velocity ({dimension})"
    given = reals(default if value is None else value, name, wanted)
    if given.shape not in ((), (dimension,)) or not ((given >= 0) & (given < np.inf)).all():
        raise ValueError(f"{name}: {value!r}, expected {wanted}")
    return given


def _plan(span: tuple[float, float], step: float) -> Plan:
    """Equal steps from t0 to t1: of the size `step` if these end at t1 to rounding, else of a part of the interval."""
    check_steps(span, step)
    length = abs(span[1] - span[0])
    ratio = length / step
    steps = round(ratio) if abs(ratio - round(ratio)) <= 1e-9 * ratio else int(np.ceil(ratio))
    ends = abs(steps * step - length) <= 4.0 * np.spacing(max(abs(span[0]), abs(span[1])))
    h = step if ends or not steps else length / steps
    return Plan(span[0], h if span[1] >= span[0] else -h, steps)


def _save_every(save_every: int | None, way: Plan | Steering) -> int:
    if save_every is None:
        return max(1, -(-way.steps // ROWS)) if isinstance(way, Plan) else 1
    return min(integer(save_every, "save_every", 1), 2**62)


def _interval(t_span: Sequence[float]) -> tuple[float, float]:
    span = reals(t_span, "t_span", "two finite numbers (t0, t1)")
    if span.shape != (2,) or not np.isfinite(span).all():
        raise ValueError(f"t_span: {t_span}, expected two finite numbers (t0, t1)")
    return float(span[0]), float(span[1])


def _events(events: Any, problem: Problem, statistics: Sequence[Statistic]) -> Events | None:
    """The events of a run and, behind them, those of its statistics; ValueError where data files would give one name to
    two of them, or to one and to a variable.
    """
    found = as_events(events)
    if found is not None:
        check_truth(found.rows, problem)
    own = [("events", name, names_of_event(name)) for name in (() if found is None else found.names)]
    own += [("statistics", statistic.label, names_in_files(statistic)) for statistic in statistics]
    taken = set(problem.names_in_files) if own else set()
    for what, name, names in own:
        if clash := sorted(taken & {*names}):
            raise ValueError(
                f"{what}: {name!r} is written to data files as {name}_…, but {clash[0]!r} is a variable or an "
                "invariant there, or of another event or statistic; choose another name"
            )
        taken |= {*names}
    return with_events(found, statistics)


def _times(t_eval: ArrayLike | None, span: tuple[float, float]) -> Array:
    if t_eval is None:
        return np.zeros(0)
    times = reals(t_eval, "t_eval", "a one-dimensional array of finite times")
    forward = 1.0 if span[1] >= span[0] else -1.0
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise ValueError(f"t_eval: {times}, expected a one-dimensional array of finite times")
    rounding = 4.0 * float(np.spacing(max(map(abs, span))))
    if 0.0 < forward * (times[-1] - span[1]) <= rounding:  # sums of steps, as those of another run
        times = np.append(times[:-1], span[1])
    if (
        (np.diff(forward * times) <= 0).any()
        or forward * (times[0] - span[0]) < 0
        or forward * (times[-1] - span[1]) > 0
    ):
        raise ValueError(
            f"t_eval: from {times[0]} to {times[-1]}, expected times in the order of t_span = {span}, within it, "
            "each once"
        )
    return times


def _check_begin(problem: Problem, t: float) -> None:
    if problem.begins is not None and t != problem.begins:
        raise ValueError(
            f"t_span: begins at {t}, expected {problem.begins}: the start of {problem.model!r} is the given one at "
            "that time, where its velocities have the momenta, and satisfy the constraints, that are others now; pose "
            f"the problem with t={t}, or give the state y0="
        )


def _check_field(problem: Problem, t0: float, t1: float) -> None:
    """A field that is wrong or not finite at the start, or reads the time though it is said not to, is an error of the
    caller.
    """
    y = np.atleast_2d(problem.y0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            velocity = problem.velocity(t0, y)
        except np.exceptions.ComplexWarning as error:
            raise TypeError("field: writes complex numbers, expected real ones") from error
    for name, values in (("field", velocity), ("invariants", problem.invariant_values(t0, y))):
        if not np.isfinite(values).all():
            where = f"; {said}" if (said := dependence(problem, t0, y)) else ""
            raise ValueError(f"{name}: not finite at the start t = {t0}, y = {y.tolist()}: {values.tolist()}{where}")
    check_jitted(problem, t0, y, velocity)
    if problem.autonomous and reads_time(problem.field):
        check_autonomous(problem, t0, t1)
