"""Collecting one solution from runs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.engine.adaptive_run import AdaptiveRun, Steering
from integrators.engine.branches import other_branches
from integrators.engine.crowded import crowded
from integrators.engine.diagnosis import explained
from integrators.engine.exchanged import is_little, spent
from integrators.engine.fixed_run import FixedRun, single_run
from integrators.engine.gathering import gathered_by
from integrators.engine.halves import MOST, ROOM, elsewhere
from integrators.engine.interrupts import interruptible
from integrators.engine.jumps import jumps
from integrators.engine.kept import unkept
from integrators.engine.losses import losses
from integrators.engine.observe import GREATEST, LEAST, SUM, SUM_LOW
from integrators.engine.presupposed import departed
from integrators.engine.pulses import pulses
from integrators.engine.resolution import can_repeat, is_cheap, of_full_steps, scale_of, unresolved
from integrators.engine.resonance import resonant
from integrators.engine.run import Output, Plan, Run, Trajectory
from integrators.engine.step_again import looked, to_its_end
from integrators.engine.swings import lost_swings
from integrators.engine.tolerances import loose
from integrators.layout import DIVIDED, EVALUATIONS, ITERATIONS, REJECTED, STEPS, SUBSTEPS
from integrators.method import Method, Report
from integrators.problem import Doubt, Guard, Problem
from integrators.problem.by_source import beyond_arrays
from integrators.problem.consistency import inconsistent
from integrators.problem.dependence import NEAR_SINGULAR
from integrators.problem.drawing import scene_of
from integrators.problem.driven import inputs_at
from integrators.problem.guards import ENERGY_CHANGE, doubtful
from integrators.problem.joints import JointStates
from integrators.results.solution import Solution
from integrators.status import REACHED, Status
from liegroup.arrays import spread

Array = NDArray[np.float64]
Attributes = dict[str, str | int | float]
COLLAPSED = 1e-3
"""Part of the mean step below which the smallest one says that something was in the way."""
OFTEN = 0.5
"""Part of the steps that may be divided by their stepper: beyond, steps of half the size are divided alike, and say
nothing.
"""
LOOKS = 64
"""Saved states, of all trajectories together, at which the hypotheses of the steps are looked at again."""
ARRAYS, ARRAYS_OF = 8, 4
"""Saved states of one trajectory, and trajectories, in which compiled functions of the user's are called once more by
their source.
"""
STATES = 4096
"""Saved states, of all trajectories together, of which the problem is asked for its own doubts."""


def collect(problem: Problem, method: Method, way: Plan | Steering, runs: Sequence[Run], seconds: float) -> Solution:
    """The solution that the runs of a problem have computed so far."""
    single = np.ndim(problem.y0) == 1
    each = [(run, trajectory) for run in runs for trajectory in run.trajectories()][: len(np.atleast_2d(problem.y0))]
    found = [trajectory for _, trajectory in each]
    counters = np.sum([run.counters_of_all for run in runs], axis=0)
    own = np.sum([trajectory.counters for trajectory in found], axis=0)
    divisions = _divisions(own)
    names = runs[0].output.own_events
    failures = {} if single else {k: f.message for k, f in enumerate(found) if f.status not in REACHED}
    ended = found if single or isinstance(way, Plan) else [with_end(problem, run, one) for run, one in each]
    with interruptible() as interrupted:
        doubts = tuple(_doubts_of_all(problem, each, interrupted))
        at_start = _at_the_start(problem, method, way)
        on_the_way = _on_the_way(problem, method, way, found, at_start)
        doubts = (*at_start, *on_the_way, *_of_states(problem, found), *_of_arrays(problem, found), *doubts)
        if interrupted() and any(trajectory.status is not Status.INTERRUPTED for trajectory in found):
            says = "the run is over, but what it presupposes was not looked at to the end (interrupted)"
            warnings.warn(says, RuntimeWarning, stacklevel=2)
    return Solution(
        **(rows_of_single(problem, runs[0], found[0]) if single else rows_of_ensemble(ended, way, runs[0].output)),
        **described(problem, method, way),
        status=found[0].status if single else tuple(f.status for f in found),
        message=(found[0].message if single else in_words(failures, found[0].message, len(found)))
        + divided(divisions, f" of {own[STEPS]}")
        + doubtful(doubts),
        doubts=doubts,
        failures=failures,
        steps=max(int(f.counters[STEPS]) for f in found),
        evaluations=int(counters[EVALUATIONS]),
        iterations=int(counters[ITERATIONS]),
        rejected=int(counters[REJECTED]),
        seconds=seconds,
        attributes=({} if isinstance(way, Plan) else _attributes(way)) | divisions | _report(found),
        events=_events(names, found[0]) if single else tuple(_events(names, f) for f in found),
        statistics=gathered_by(runs, len(found), single),
    )


def described(problem: Problem, method: Method, way: Plan | Steering) -> dict[str, Any]:
    """What a solution says of where it comes from."""
    return {
        "variables": tuple(problem.variables),
        "invariant_names": tuple(problem.invariant_names),
        "invariant_units": tuple(problem.invariant_units),
        "model": problem.model,
        "method": method.name,
        "step": abs(way.h) if isinstance(way, Plan) else 0.0,
        "scene": scene_of(problem),
        "joints": None if problem.joints is None else JointStates(problem),
    }


def rows_of_single(problem: Problem, run: Run, found: Trajectory, last: bool = True) -> dict[str, Any]:
    """The rows one trajectory has saved, and the `last` good state if the run ended between two of them."""
    k = len(found.t)
    t, y, invariants = found.t, found.y, found.invariants
    if last and not len(run.output.times) and found.last_t != (t[-1] if k else run.handed_last[0]):
        t, y = np.append(t, found.last_t), np.vstack([y, found.last])
        invariants = np.vstack([invariants, problem.invariant_values(found.last_t, found.last)])
    statistics, stretch = found.statistics[:k], found.stretch[:k]
    if len(t) > k:
        statistics, stretch = _with_last(found, invariants[-1])
    return {"t": t, "y": y, "invariants": invariants, "stretch": stretch, **_statistics(statistics, stretch)}


def _with_last(found: Trajectory, values: Array) -> tuple[Array, NDArray[np.int64]]:
    """The statistics with the stretch up to the last state, which counts itself if no step of it has been watched."""
    k, m = len(found.t), len(values)
    if found.stretch[k]:
        return found.statistics[: k + 1], found.stretch
    return np.vstack([found.statistics[:k], np.concatenate([values, values, values, np.zeros(m)])]), np.append(
        found.stretch[:k], 1
    )


def with_end(problem: Problem, run: Run, found: Trajectory) -> Trajectory:
    """A trajectory of times of its own with its last state, as `rows_of_single` has it."""
    if len(run.output.times) or found.last_t == (found.t[-1] if len(found.t) else run.handed_last[0]):
        return found
    values = problem.invariant_values(found.last_t, found.last)
    statistics, stretch = _with_last(found, values)
    return replace(
        found, t=np.append(found.t, found.last_t), y=np.vstack([found.y, found.last]),
        invariants=np.vstack([found.invariants, values]), statistics=statistics, stretch=stretch,
    )  # fmt: skip


def rows_of_ensemble(found: Sequence[Trajectory], way: Plan | Steering, output: Output) -> dict[str, Any]:
    """Trajectories row by row; NaN where one has not come.  With fixed steps, and at given times, they have their times
    in common, with fixed steps the numbers of steps between them; else these are (m, k), also where they happen to be
    the same: who reads them need not ask how the steps were chosen.
    """
    longest = max(found, key=lambda f: len(f.t))
    alike = isinstance(way, Plan)
    common = alike or len(output.times) > 0

    def stacked(values: Sequence[Array]) -> Array:
        table = np.full((len(found), len(longest.t), *values[0].shape[1:]), np.nan)
        for row, rows, trajectory in zip(table, values, found, strict=True):
            row[: len(trajectory.t)] = rows[: len(trajectory.t)]
        return table

    t = longest.t if common else stacked([f.t for f in found])
    stretch = longest.stretch[: longest.t.size] if alike else stacked([f.stretch.astype(float) for f in found])
    return {
        "t": t,
        "y": stacked([f.y for f in found]),
        "invariants": stacked([f.invariants for f in found]),
        "stretch": stretch,
        **_statistics(stacked([f.statistics for f in found]), stretch),
    }


def _statistics(statistics: Array, stretch: NDArray[Any]) -> dict[str, Array]:
    m = statistics.shape[-1] // 4

    def part(k: int) -> Array:
        return statistics[..., k * m : (k + 1) * m]

    return {
        "least": part(LEAST),
        "greatest": part(GREATEST),
        "mean_since": (part(SUM) + part(SUM_LOW)) / stretch[..., None],
    }


def _events(names: Sequence[str], found: Trajectory) -> dict[str, tuple[Array, Array]]:
    def of(k: int) -> tuple[Array, Array]:
        rows = [row for row in found.events if row[1] == k]
        return np.array([row[0] for row in rows]), np.array([row[2] for row in rows]).reshape(
            len(rows), len(found.last)
        )

    return {name: of(k) for k, name in enumerate(names)}


def in_words(failures: Mapping[int, str], reached: str, count: int) -> str:
    """What an ensemble of so many trajectories says of its failures; without any, what the first says."""
    if not failures:
        return reached
    number = min(failures)
    return f"{len(failures)} of {count} trajectories did not reach the end; trajectory {number}: {failures[number]}"


def _at_the_start(problem: Problem, method: Method, way: Plan | Steering) -> list[Doubt]:
    """What the motion presupposes of its start, and the method of fixed steps from there, and does not find."""
    doubts, t0 = [], way.t0 if isinstance(way, Plan) else way.span[0]
    if problem.parts_layout != "constrained" and not (isinstance(way, Plan) and method.has_hypotheses(problem)):
        return []
    for k, y in enumerate(np.atleast_2d(problem.y0)):
        try:
            of_steps = method.doubts(problem, y, way.h, t0) if isinstance(way, Plan) else ()
            found = [*inconsistent(problem, t0, y), *of_steps]
        except Exception as error:  # also of the user's functions; what is said of a run must not lose it
            says = f"the hypotheses of {method.name} could not be checked ({error})"
            found = [Doubt("hypotheses", t0, np.nan, np.nan, says)]
        doubts += [replace(doubt, time=t0, trajectory=k) for doubt in found]
    return doubts


def _on_the_way(
    problem: Problem, method: Method, way: Plan | Steering, found: Sequence[Trajectory | Solution],
    at_start: Sequence[Doubt],
) -> list[Doubt]:  # fmt: skip
    """What a method of fixed steps presupposes and does not find in some of the saved states, the first of each
    trajectory; nothing where there were doubts at the start.
    """
    if not isinstance(way, Plan) or not method.has_hypotheses(problem):
        return []
    doubts: list[Doubt] = []
    doubted = {doubt.trajectory for doubt in at_start}
    for k, one in enumerate(map(_seen, found)):
        if k in doubted:
            continue
        looked_at = set(np.linspace(0, len(one.t) - 1, 1 + min(8, LOOKS // len(found))).astype(int).tolist())
        rows = np.array(sorted({*looked_at, *(_kicked(one.y) if method.stepper.own else ())}))
        for row in rows[one.t[rows] != way.t0]:
            y = one.y[row]
            try:
                of_steps = method.doubts(problem, y, way.h, float(one.t[row])) if np.isfinite(y).all() else ()
            except (ArithmeticError, ValueError, np.linalg.LinAlgError):
                of_steps = ()
            except (
                Exception
            ) as error:  # of the user's functions; at the state where one has ended the run it says no more
                of_steps = ()
                if found[k].status is Status.OK:
                    says = (
                        f"the run is over, but what its steps presuppose at t = {one.t[row]:.6g} could not be looked at"
                    )
                    warnings.warn(f"{says} ({error})", RuntimeWarning, stacklevel=4)
            if of_steps:
                time = float(one.t[row])
                doubts += [replace(doubt, time=time, trajectory=k) for doubt in of_steps]
                break
    return doubts


def _of_states(problem: Problem, found: Sequence[Trajectory | _Rows]) -> list[Doubt]:
    """What the problem itself says of saved states, `STATES` of them at the most."""
    doubts: list[Doubt] = []
    for k, one in enumerate(found if problem.doubts is not None else ()):
        rows = np.flatnonzero(np.isfinite(one.y).all(axis=1))
        rows = rows[:: 1 + len(rows) * len(found) // STATES]
        try:
            said = _said(problem, one.t[rows], one.y[rows]) if len(rows) else ()
        except Exception as error:  # also of the user's functions; what is said of a run must not lose it
            says = f"whether the model holds in the saved states could not be checked ({error})"
            said = [Doubt("model", float(one.t[rows[0]]), np.nan, np.nan, says)]
        doubts += [replace(doubt, trajectory=k) for doubt in said]
    return doubts


def _of_arrays(problem: Problem, found: Sequence[Trajectory | _Rows]) -> list[Doubt]:
    """Where a compiled function of the user's leaves its arrays in saved states, or at the end: it has read other
    numbers.
    """
    doubts: list[Doubt] = []
    for k, one in enumerate(found[:ARRAYS_OF]):
        rows = spread(len(one.t), ARRAYS)
        states = [(float(one.t[row]), one.y[row]) for row in rows if np.isfinite(one.y[row]).all()]
        if isinstance(one, Trajectory) and np.isfinite(one.last).all():
            states.append((one.last_t, one.last))
        if (said := beyond_arrays(problem, states)) is not None:
            says = f"{said[1]}: compiled code read what is behind its arrays, and went on with that"
            doubts.append(Doubt("arrays", said[0], np.nan, np.nan, says, "give the function all that it reads", k))
    return doubts


def _said(problem: Problem, t: Array, y: Array) -> Sequence[Doubt]:
    """What a problem says of states, with its inputs in them and its parameters if it asks for these."""
    if problem.doubts is None:
        return ()
    has: dict[str, Any] = {
        "u": lambda k: inputs_at(problem, float(t[k]), y[k]),
        "parameters": problem.own_parameters(),
    }
    asked = signature(problem.doubts).parameters
    return problem.doubts(t, y, **{name: value for name, value in has.items() if name in asked})


def _kicked(y: Array) -> NDArray[np.int64]:
    """The three saved states about the greatest second difference: where a body touches something stiff, for less time
    than is between the states that are looked at anyway.
    """
    if len(y) < 3 or not np.isfinite(y).all():
        return np.zeros(0, dtype=np.int64)
    size = np.ptp(y, axis=0)
    bent = np.abs(np.diff(y, 2, axis=0)) / np.where(size > 0.0, size, 1.0)
    return int(np.argmax(bent.max(axis=1))) + np.arange(3)


def _doubts_of_all(
    problem: Problem, each: Sequence[tuple[Run, Trajectory]], interrupted: Callable[[], str]
) -> list[Doubt]:
    """The doubts of trajectories, one after another; steps of half the size are asked of those that have no others, and
    swings of those that have none then.  Ctrl-C ends the looks, and what it falls into says nothing; what runs have
    noted themselves is told anyway.
    """
    doubts: list[Doubt] = []
    looks: dict[int, tuple[FixedRun, dict[int, Trajectory], int]] = {}
    first = 0
    for number, (run, found) in enumerate(each):
        first = number if number and run is not each[number - 1][0] else first
        own = _noted(problem, run, found, number)
        if not interrupted():
            try:
                full = of_full_steps(found)
                if len(each) == 1 and isinstance(run, FixedRun) and len(run.output.times):
                    run, full = _of_every_step(run, full)
                further = _looked_into(run, found, full, number, own)
            except KeyboardInterrupt:
                further = []
            if not interrupted():
                own = own + further
                if not own and isinstance(run, FixedRun) and found.report is None and can_repeat(run, full):
                    looks.setdefault(first, (run, {}, first))[1][number - first] = full
        begin = _begin(run, found)
        doubts += sorted(own, key=lambda doubt: abs(doubt.time - begin))
    if not interrupted():
        doubts += elsewhere(looks.values())
    if not interrupted():
        doubts += lost_swings(looks.values(), {doubt.trajectory for doubt in doubts})
    return sorted(doubts, key=lambda doubt: doubt.trajectory)


def _of_every_step(run: FixedRun, found: Trajectory) -> tuple[FixedRun, Trajectory]:
    """A run that keeps the state after every step in the place of those at given times, up to the last of these, and
    what it comes to: what happens within a step shows there.  Of many steps, where plain Python functions are called
    for them, and where it fails, the run as it is.
    """
    plan = run.plan
    steps = min(plan.steps, int(np.ceil((run.output.times[-1] - plan.t0) / plan.h - 1e-9)))
    few = 0 < steps <= MOST and (steps + 1) * run.problem.n <= ROOM
    if not (few and found.report is None and can_repeat(run, found) and is_cheap(run)):
        return run, found
    plan = replace(plan, steps=steps)
    again = single_run(run.problem, run.method, Output(), plan, np.atleast_2d(run.problem.y0)[0])
    one = looked(lambda: to_its_end(again), "what happens within its steps")
    return (again, one[0]) if one and one[0].status is Status.OK else (run, found)


def _begin(run: Run, found: Trajectory) -> float:
    return float(found.t[0]) if len(found.t) else run.t0


def _noted(problem: Problem, run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The limits that a trajectory has passed by what its run has noted."""
    doubts, begin, seen = [], _begin(run, found), _seen(found)
    for k, guard in enumerate(problem.guards):
        lower, upper, time, value, excess = (float(x) for x in found.guarded[:, k])
        if excess > 0.0 and not is_little(run, found, k, number):
            doubts.append(_passed(problem, guard, seen, begin, lower, upper, time, value, number))
    return [
        *doubts, *coarse(found.report, number), *_no_numbers(problem, found, number),
        *_narrow(problem, found, begin, number), *_often_divided(found, begin, number), *crowded(run, found, number),
    ]  # fmt: skip


def _looked_into(run: Run, found: Trajectory, full: Trajectory, number: int, noted: Sequence[Doubt]) -> list[Doubt]:
    """What further looks into a trajectory find, of which `full` are its full steps and so much is noted."""
    doubts = [
        *looked(lambda: unkept(run, found, number), "whether the motion keeps its energy"),
        *looked(lambda: departed(run, found, number), "whether the problem keeps the form that the method goes by"),
    ]
    if not (noted or doubts):
        doubts += spent(run, found, number)
    if isinstance(run, AdaptiveRun) and not (noted or doubts):
        doubts += loose(run, found, number)
    found = full
    if isinstance(run, AdaptiveRun) and not (noted or doubts) and not run.interpreted:
        doubts += pulses(run, found, number)
    if isinstance(run, FixedRun) and found.report is None and can_repeat(run, found):
        scale = scale_of(run, found.y)
        long = looked(lambda: unresolved(run, found, scale, number), "whether its steps resolve the motion")
        doubts += long
        if is_cheap(run):
            doubts += () if long else jumps(run, found, scale, number)
            doubts += [*resonant(run, found, number), *losses(run, found, number), *other_branches(run, found, number)]
    if isinstance(run, FixedRun) and not (noted or doubts) and can_repeat(run, found):
        doubts += pulses(run, found, number)
    return doubts


def _passed(
    problem: Problem, guard: Guard, found: _Rows, begin: float, lower: float, upper: float, time: float, value: float,
    number: int,
) -> Doubt:  # fmt: skip
    """A guard whose limits were passed first at a time, by that value at most."""
    row = int(np.argmin(np.abs(found.t - time)))
    at = float(found.t[row])
    says = ", ".join(text for text in (guard.says, explained(problem, at, found.y[row], begin, found.y[0])) if text)
    limit = lower if value < lower else min(upper, guard.start) if time == begin else upper
    return Doubt(guard.name, time, value, limit, says, guard.remedy, number)


class _Rows(NamedTuple):
    """The saved states of one trajectory."""

    t: Array
    y: Array


def _seen(found: Trajectory | Solution) -> _Rows:
    """What is known of a trajectory: where it ended, if that was before the first state it was to save."""
    if isinstance(found, Trajectory) and not len(found.t):
        return _Rows(np.array([found.last_t]), found.last[None])
    return _Rows(found.t, found.y)


def with_doubts_of_rows(problem: Problem, method: Method, way: Plan, whole: Solution) -> Solution:
    """An ensemble of fixed steps with the doubts that its saved states alone tell: limits of guards, and the hypotheses
    of the method.
    """
    doubts: list[Doubt] = []
    for guard in method.guards(problem):
        x = whole[guard.name]
        lower, upper = guard.limits(x[:, 0], way.h > 0.0)
        excess = np.maximum(x - upper[:, None], lower[:, None] - x)
        if guard.name == "balance":  # what work has brought is at play besides
            excess -= ENERGY_CHANGE * np.nan_to_num(np.ptp(whole["energy"], axis=1))[:, None]
        excess[:, 0] = guard.excess_at_start(x[:, 0])
        if (no_number := np.isnan(x)).any():
            excess[no_number & ~np.isnan(whole.y).any(axis=-1)] = np.inf
        for k in np.flatnonzero((excess > 0.0).any(axis=1)):
            time, most = float(whole.t[np.argmax(excess[k] > 0.0)]), float(x[k, np.nanargmax(excess[k])])
            rows = _Rows(whole.t, whole.y[k])
            begin = float(whole.t[0])
            doubts.append(_passed(problem, guard, rows, begin, float(lower[k]), float(upper[k]), time, most, int(k)))
    at_start = _at_the_start(problem, method, way)
    found = [whole.trajectory(k) for k in range(len(whole.y))] if method.has_hypotheses(problem) else []
    doubts = [*at_start, *_on_the_way(problem, method, way, found, at_start), *doubts]
    if problem.doubts is not None:
        doubts += _of_states(problem, [_Rows(whole.t, y) for y in whole.y])
    return doubting(whole, doubts)


def doubting(whole: Solution, doubts: Sequence[Doubt]) -> Solution:
    """A solution with further doubts, in the order of trajectories, of which its message says so."""
    known = sorted([*whole.doubts, *doubts], key=lambda doubt: doubt.trajectory)
    return replace(whole, doubts=tuple(known), message=without_doubts(whole) + doubtful(known))


def without_doubts(whole: Solution) -> str:
    """The message of a solution without what it says of doubts."""
    return whole.message.removesuffix(doubtful(whole.doubts))


def coarse(report: Report | None, number: int = 0) -> list[Doubt]:
    """Substeps that could not be made as small as their estimate demanded."""
    if report is None:
        return []
    remedy = "end the run at what is not smooth there by an event and start anew, or take RKMK_DOP853 with rtol=1e-9"
    if report.jump > 1.0:
        says = "the field jumps from one substep to the next: it is not smooth, and the order of the method is void"
        return [Doubt("jump", report.jump_at, report.jump, 1.0, says, remedy, number)]
    if not report.largest_estimate > report.tolerance:
        return []
    says = f"the smallest substep, {report.smallest_substep:.3g}, is too large for the tolerance"
    smaller = "take a smaller step where the motion is only fast there, as in a close passage; else "
    return [
        Doubt("estimate", report.smallest_at, report.largest_estimate, report.tolerance, says, smaller + remedy, number)
    ]


def _report(found: Sequence[Trajectory]) -> Attributes:
    """What steppers that divide their steps say, of all trajectories together."""
    reports = [f.report for f in found if f.report is not None]
    told = [
        {name: getattr(report, name) for name in _REPORTED}
        | {"levels": json.dumps(report.levels), "estimate_tolerance": report.tolerance}
        for report in reports
    ]
    return _reports_together(told, [1] * len(told)) if told else {}


_REPORTED = (
    "smallest_substep", "smallest_at", "largest_estimate", "estimate_sum", "recommended_step", "sweeps", "most_sweeps",
)  # fmt: skip


def attributes_together(each: Sequence[Attributes], members: Sequence[int]) -> Attributes:
    """The attributes of ensembles of so many trajectories as those of one ensemble: what they say of how steps were
    divided is put together as `collect` does, the rest is that of the first.
    """
    told = [(one, count) for one, count in zip(each, members, strict=True) if "levels" in one]
    reported = _reports_together(*zip(*told, strict=True)) if told else {}
    divided = {name: sum(int(one.get(name, 0)) for one in each) for name in _DIVISIONS}
    return each[0] | reported | (divided if any(divided.values()) else {})


def _reports_together(each: Sequence[Attributes], members: Sequence[int]) -> Attributes:
    """What several ensembles of so many trajectories, or single trajectories, report of their substeps."""

    def all_of(name: str) -> list[float]:
        return [float(one[name]) for one in each]

    smallest = min(each, key=lambda one: one["smallest_substep"] or np.inf)
    levels = [sum(column) for column in zip_longest(*(json.loads(str(one["levels"])) for one in each), fillvalue=0)]
    return {
        "levels": json.dumps(levels),
        "smallest_substep": smallest["smallest_substep"],
        "smallest_at": smallest["smallest_at"],
        "largest_estimate": max(all_of("largest_estimate")),
        "estimate_sum": max(all_of("estimate_sum")),
        "estimate_tolerance": max(all_of("estimate_tolerance")),
        "recommended_step": min(all_of("recommended_step")),
        "sweeps": float(np.average(all_of("sweeps"), weights=members)),
        "most_sweeps": max(all_of("most_sweeps")),
    }


def _no_numbers(problem: Problem, found: Trajectory, number: int) -> list[Doubt]:
    """Watched numbers that were none at some step: extremes pass over them, sums do not."""
    m, doubts = problem.invariant_count, []
    guarded = {problem.guards[k].name for k in range(len(problem.guards)) if found.guarded[4, k] > 0.0}
    rows = found.stretch > 0
    sums = found.statistics[: len(rows)][rows, SUM * m : (SUM + 1) * m]
    times = np.append(found.t, found.last_t)[rows]
    for name, values in zip(problem.invariant_names, sums.T, strict=True):
        if np.isnan(values).any() and name not in guarded:
            time = float(times[int(np.argmax(np.isnan(values)))])
            remedy = "look at the function, and at the state there"
            doubts.append(Doubt(name, time, np.nan, np.nan, "is not a number", remedy, number))
    return doubts


def _narrow(problem: Problem, found: Trajectory, begin: float, number: int) -> list[Doubt]:
    """Variable steps that collapsed where the problem knows of a singular position: what comes after it is any of the
    motions that meet there.
    """
    if found.narrowest is None or not np.isfinite(found.narrowest[1]):
        return []
    (time, step, state), mean = found.narrowest, abs(found.last_t - begin) / max(1, int(found.counters[STEPS]))
    start = found.y[0] if len(found.y) else None
    says = explained(problem, time, state, begin, start) if step < COLLAPSED * mean else ""
    if not says.startswith(NEAR_SINGULAR):  # what is said of steps in general, as of rods, is no reason for small ones
        return []
    remedy = "start elsewhere, or cross singular positions with fixed steps"
    return [Doubt("smallest_step", time, step, COLLAPSED * mean, says, remedy, number)]


def _often_divided(found: Trajectory, begin: float, number: int) -> list[Doubt]:
    """More than `OFTEN` of the steps divided: what keeps the shape of the motion is lost, and phases with it."""
    part = int(found.counters[DIVIDED]) / max(1, int(found.counters[STEPS]))
    says = "this part of the steps had to be divided: what a fixed step keeps may be lost, and phases and rates with it"
    return [Doubt("division", begin, part, OFTEN, says, "use a smaller step", number)] if part > OFTEN else []


_DIVISIONS = ("divided_steps", "substeps")
_MEANING = "where that happens often the energy is no longer bounded, and a smaller step is better"


def divided(divisions: Attributes, of: str = "") -> str:
    """What to say of steps that their stepper had to divide."""
    if "divided_steps" not in divisions:
        return ""
    count, parts = (divisions[name] for name in _DIVISIONS)
    return f"; {count}{of} steps were divided, into {parts} substeps: {_MEANING}"


def without_divided(message: str) -> str:
    """A message without what `divided` says."""
    return "; ".join(said for said in message.split("; ") if not said.endswith(_MEANING))


def _divisions(counters: NDArray[np.int64]) -> Attributes:
    return {"divided_steps": int(counters[DIVIDED]), "substeps": int(counters[SUBSTEPS])} if counters[DIVIDED] else {}


def _attributes(way: Steering) -> Attributes:
    return {"controller": way.controller.name, "rtol": float(np.max(way.relative)), "atol": float(np.max(way.absolute))}
