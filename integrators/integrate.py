"""The one entry point: integrate a problem, or what poses one, with a method."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arguments import (
    check_begin,
    check_field,
    check_gathering,
    check_repeats,
    equal_steps,
    events_of,
    interval,
    longest_of,
    method_and_span,
    saved_every,
    times_of,
    way_of,
)
from integrators.choice.default import (
    DEFAULT,
    ROUGH,
    Choice,
    by_default,
    of_divided_steps,
    or_damped,
    or_rough,
    unsmooth,
    varying,
)
from integrators.choice.samples import within_samples
from integrators.choice.stiffness import STIFF, Asking, TurnedStiff, may_decay
from integrators.controllers import StepController
from integrators.engine.adaptive_run import Steering
from integrators.engine.checkpoint import Checkpoint, Stored, content_of
from integrators.engine.collect import collect
from integrators.engine.crew import Crew, crew_of
from integrators.engine.drive import drive
from integrators.engine.gathering import settle, window_for
from integrators.engine.interrupts import interruptible
from integrators.engine.room import check_room
from integrators.engine.run import Output, Plan, Run
from integrators.engine.start import start_runs
from integrators.engine.streaming import Streaming, checkpoint_of, stored_of, window_of, with_choice
from integrators.engine.varied_run import VariedRun
from integrators.method import Method, Reference
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.results.digests import StorageError
from integrators.results.solution import Solution
from integrators.results.streams import place_of
from integrators.statistics.gathered import checked
from liegroup.arrays import check_function, integer, of_kind, path_of, positive
from liegroup.compile import undisturbed

Array = NDArray[np.float64]
MANY = 10_000
"""Steps before which any method says what it cannot hold; those of problems that bring their own step always do."""


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
        it is GAUSS8, with steps from `suggest_step` (that end at the samples of inputs, where equal ones can) unless
        `step` is given; with a tolerance or a controller RKMK_DOP853.  With none of these it is RKMK_DOP853, too, with
        rtol=1e-9 and atol=1e-12 (or of what counts as one, `Problem.scales`, where that is less), where the motion is
        not smooth: things strike each other (`Problem.strikes`: contacts, stops, cables), forces have kinks
        (`Problem.has_kinks`: drives at their limit, slack springs), no equal steps end at the samples of inputs, or the
        field shows the rounding of times that are far from zero.
        And where GAUSS8 would take more than 10 000 steps only because something decays within one of them (stiff
        equations, strong dampers), RKMK_RADAU_IIA5 with these tolerances; one trajectory without callback, file and
        statistics is asked on the way, too (that of RKMK_DOP853 as well: what has struck comes to stand, unless long
        steps then pass over a blow), and begun anew, and so where a step is not solved, if that comes to the end.  A
        run of GAUSS8 (without callback, file and statistics) that finds jumps or kinks of the field is taken anew by
        RKMK_DOP853, which stays if it leaves no doubt.  None of these passes over a sample of inputs and its next one.
        The message of the solution names method, step and tolerance.
    t_span : (t0, t1)
        t1 < t0 integrates backwards.
    step : float, optional
        Step size, positive.  Fixed steps that do not divide the interval are replaced by the next smaller ones that
        do.  With a controller: the first step (default: found from the field); with the integrating controller and the
        logarithmic Hamiltonian: ε.
    y0 : array (n,) or (m, n), optional
        Start from here instead of ``problem.y0``.
    rtol, atol : float, optional
        Relative and absolute tolerance of the error of a step in the algebra; rotations count as of size 1, positions
        by their length, components of Rⁿ by their magnitude.  Both may be one number per component of the velocity.
        Default 1e-6, and 1e-9 or, in components where less than one counts as one (`Problem.scales`), 1e-9 of that.
        What is below rounding is raised to it, with a warning.
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
        as Ctrl-C does.  What an earlier run has left there is replaced if that is over or was another one; the
        checkpoint of this very run with steps to go, and what is no checkpoint, only with `overwrite`.
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
        Replace what is there under the name `into`, or `checkpoint`; else it is an error.
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
        Ctrl-C raises KeyboardInterrupt.  In the looks at a run that is over it ends these, with a warning.

    Raises
    ------
    ValueError, TypeError
        For arguments that make no sense, with the remedy.
    FileExistsError
        What is there under the name `into` or `checkpoint` is not replaced (`overwrite`).
    Exception
        Whatever a plain Python function of the problem or the callback raises; a note says at which time and step, and
        the attribute ``solution`` of the exception holds the states saved until then.

    Warns
    -----
    RuntimeWarning
        Functions in plain Python that give two values for the same arguments (without a method a ValueError).
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
    problem, variable = pose(problem), rtol is not None or atol is not None or controller is not None
    nothing_said = wanted is None and not (variable or fast) and step is None and energy_tolerance is None
    why = unsmooth(problem) if nothing_said else ""
    chosen = find((ROUGH if variable or why else DEFAULT) if wanted is None else wanted)
    if energy_tolerance is not None or fast:
        chosen = chosen.tuned(energy_tolerance, fast)
        if variable:
            raise TypeError(
                "energy_tolerance, fast: of fixed steps, which they divide; variable steps (rtol, atol, controller) "
                "are never divided: leave out one or the other"
            )
    if y0 is not None:
        problem = problem.with_start(y0)
    span = interval(t_span)
    check_begin(problem, span[0])
    with undisturbed():
        check_field(problem, *span)
    check_repeats(problem, span[0], wanted is not None)
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
    says, choice = "" if wanted else f"{chosen.name}, chosen for want of a method", None
    if why:
        choice = varying(problem, ROUGH, why, min(longest_of(max_step), within_samples(problem, span)))
    elif chosen.stepper.report and step is None and not variable:
        if max_steps is not None or max_step != np.inf:
            raise ValueError(
                f"max_step, max_steps: they belong to variable steps, but {chosen.name} takes fixed ones; give `step`, "
                "or leave the method out and give rtol"
            )
        choice = by_default(problem, span) if nothing_said else of_divided_steps(problem, chosen, span)
    if choice is not None:
        chosen, step, rtol, atol, max_step = choice.method, choice.step, choice.rtol, choice.atol, choice.max_step
        says = choice.says or says
    if callback is not None and not callable(getattr(callback, "look", None)):
        check_function(callback, "callback", "a function callback(t, y) or an object with a method look", 2)
    gathered = () if statistics is None else checked(statistics)
    if t_eval is not None and save_every not in (None, 1) and not gathered:
        raise ValueError(f"save_every: {save_every}, given beside t_eval, whose times are kept instead; leave one out")
    output = Output(times=times_of(t_eval, span), events=events_of(events, problem, gathered), statistics=gathered)
    way = way_of(chosen, span, step, rtol, atol, controller, max_step, max_steps, problem)
    output = replace(output, save_every=saved_every(1 if gathered and save_every is None else save_every, way))
    if gathered:
        check_gathering(way, output, into)
        output = replace(output, window=window_for(problem))
    of_kind(overwrite, (bool, np.bool_), "overwrite", "True or False")
    if into is not None:
        if checkpoint is not None:
            raise TypeError(f"checkpoint: the one of a run into a file is kept beside it, {checkpoint_of(into)}")
        place_of(into, overwrite)
        output = replace(output, window=window_of(problem, output))
    with undisturbed():
        runs = start_runs(problem, chosen, output, way)
    _warn_of(problem, chosen, way)
    crew = crew_of(workers, problem, chosen, output, way, runs, callback)
    plain = callback is None and checkpoint is None and into is None and not gathered
    asks = nothing_said and plain and chosen.name != STIFF and may_decay(problem)
    if asks and step is not None:
        max_step = min(max_step, within_samples(problem, span, step))
    crew = Asking(span, max_step) if asks and len(runs) == 1 else crew
    keeper: Checkpoint | None = None
    if into is not None:
        keeper = Streaming(into, every, problem, chosen, output, way, runs, overwrite, says=says)
    elif checkpoint is not None:
        keeper = Checkpoint(checkpoint, every, problem, chosen, output, way, runs, overwrite=overwrite, says=says)

    def first() -> Solution:
        return _solved(problem, chosen, way, runs, progress, callback, keeper, crew, says)

    def anew(choice: Choice, most: int | None) -> Solution:
        solution = integrate(
            problem, choice.method, span, rtol=choice.rtol, atol=choice.atol, max_step=choice.max_step,
            max_steps=max_steps if most is None else most, save_every=save_every, t_eval=t_eval, events=events,
            progress=progress,
        )  # fmt: skip
        return with_choice(solution, choice.says)

    def rough(most: int) -> Solution:
        longest = within_samples(problem, span, np.inf if step is None else step)
        return anew(varying(problem, ROUGH, "a field that jumps or has kinks", longest), most)

    if not asks:
        solution = first()
    else:
        stiff = varying(problem, STIFF, "what has come to decay fast", max_step)
        unasked = partial(anew, choice, None) if choice is not None and chosen.name == ROUGH else None
        solution = or_damped(first, partial(anew, stiff), unasked)
    return or_rough(solution, rough) if nothing_said and plain else solution


def integrate_together(
    problems: Sequence[Problem], method: Method, t_span: Sequence[float], step: float, save_every: int | None = None
) -> list[Solution]:
    """Up to eight problems that are alike (`integrators.engine.varied_run.likeness`) with fixed steps, in lanes: the
    solutions that `integrate` gives of each.  Each is looked at for doubts by itself, as a first trajectory.
    """
    span = interval(t_span)
    way = equal_steps(span, positive(step, "step", " (t_span tells the direction)"))
    output = Output(save_every=saved_every(save_every, way))
    for problem in problems:
        with undisturbed():
            check_field(problem, *span)
        method.check(problem, span[0])
        check_room(problem, output, way, 1)
        _warn_of(problem, method, way)
    with undisturbed():
        run = VariedRun(problems, method, output, way)
    seconds = drive([run], progress=False)
    return [collect(problem, method, way, [run.alone(k)], seconds) for k, problem in enumerate(problems)]


def _warn_of(problem: Problem, method: Method, way: Plan | Steering) -> None:
    """Before the steps of a method, what it presupposes and does not find at the start of the first trajectory."""
    if isinstance(way, Plan) and (way.steps >= MANY or method.stepper.own):
        try:
            doubts = method.doubts(problem, np.atleast_2d(problem.y0)[0], way.h, way.t0)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):  # the run will say what is wrong
            return
        for doubt in doubts:
            warnings.warn(f"before {way.steps} steps: {doubt}", RuntimeWarning, stacklevel=3)


def resume(
    path: str | os.PathLike[str],
    problem: Problem | Poses,
    *,
    method: Method | None = None,
    controller: str | StepController | None = None,
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
        Again as then, if the method is not in the catalogue, if the controller was given as an object with functions or
        is of a kind of one's own, if there were events or statistics.
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
    stored, is_stream = stored_of(path_of(path, "path", "the path of a checkpoint"))
    chosen = _again(stored, method)
    if isinstance(chosen, Reference):
        raise TypeError(f"method: {chosen.name} keeps no checkpoints")
    given = pose(problem)
    with content_of(path):
        if (size := np.shape(stored.y0)[-1]) != given.n:
            raise StorageError(
                f"{path}: a run of model {stored.attributes['model']!r} with {size} numbers in a state, but the given "
                f"problem {given.model!r} has {given.n}"
            )
        problem = given.with_start(stored.y0)
    gathered = () if statistics is None else checked(statistics)
    way, output = stored.way(controller), stored.output(events_of(events, problem, gathered), gathered)
    stored.check(problem, chosen, output, unchecked, given.y0)
    with undisturbed():
        runs = start_runs(problem, chosen, output, way)
    stored.restore(runs)
    crew = crew_of(workers, problem, chosen, output, way, runs, callback)
    says = str(stored.attributes.get("says", ""))
    keeper: Checkpoint
    if is_stream:
        keeper = Streaming(path, every, problem, chosen, output, way, runs, follows=stored, says=says)
    else:
        keeper = Checkpoint(path, every, problem, chosen, output, way, runs, stored.is_last or None, says=says)
    return _solved(problem, chosen, way, runs, progress, callback, keeper, crew, says)


def _again(stored: Stored, method: Method | None) -> Method | Reference:
    """The method of a checkpoint: as given again, or by its name."""
    if method is not None:
        return find(method)
    try:
        return find(stored.method)
    except ValueError as error:
        raise StorageError(
            f"{stored.path}: the method {stored.method!r} of the run is not in the catalogue; give it again (`method=`)"
        ) from error


def _solved(
    problem: Problem, method: Method, way: Plan | Steering, runs: list[Run], progress: bool | None, callback: Any,
    keeper: Checkpoint | None, crew: Crew, says: str,
) -> Solution:  # fmt: skip
    """The runs brought to their end; what a function of the user's raises carries the results so far."""

    def collected(seconds: float) -> Solution:
        with interruptible():  # what is computed is not lost any more
            if isinstance(keeper, Streaming):
                return keeper.collect(runs, seconds)
            settle(runs)
            return with_choice(collect(problem, method, way, runs, seconds), says)

    try:
        seconds = drive(runs, progress, callback, keeper, crew)
    except TurnedStiff:
        raise
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
