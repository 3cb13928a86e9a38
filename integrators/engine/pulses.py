"""What a field does between the stages of steps: a blow that is over before the next one, a ball in the way that a step
leads through, are not in the run, and nothing of the run shows it.

The field is asked at many times beside those of the steps, at the saved states; where it is so far from what it is at
the saved times before and after (between them on a line) that a step of it would lead elsewhere, the step is taken in
small parts; of variable steps, all from the saved state to the next.  Both lead to the same place unless something
happens in between that the stages do not see.  Where things strike each other (`Problem.strikes`), and of variable
steps, the field is asked on the way from each step to the next, as far as the rates at both ends tell it; if it does
not read the time, what it is there must also be more than what it changes by from one end to the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.adaptive_run import AdaptiveRun
from integrators.engine.fixed_run import FixedRun, LaneRun, single_run
from integrators.engine.halves import ELSEWHERE, ROOM
from integrators.engine.loop import loop
from integrators.engine.resolution import positions_of
from integrators.engine.run import NEVER, Output, Plan, Run, Trajectory
from integrators.engine.step_again import looked, stepped, to_its_end, with_start
from integrators.engine.ways import TINY, of_velocities, ways_of_each
from integrators.layout import EVALUATIONS, STEPS
from integrators.problem import Doubt, Problem
from integrators.problem.jitted import take_raised
from integrators.problem.python_field import EVALUATED
from integrators.signatures import FIELD
from integrators.status import OK, Status
from liegroup.arrays import spread
from liegroup.compile import integer, integer_table, integers, ld, matrix, st, vector
from liegroup.compile.scalars import absolute, maximum
from liegroup.table import EXP, bind, retract

Array = NDArray[np.float64]
OFTEN, FEWEST, MOST = (4, 1), (2000, 200), 20_000
"""Times at which a compiled field and a plain Python function are asked: so many times as often as by the run; at
least, and at most.
"""
PARTS, MOST_PARTS = 16, 512
"""Of a step, at least and at most: half as long as what is between the times."""
MOST_STRUCK = 8000
"""Times at which a field of what strikes is asked, at most, where it does not read the time."""
SHAKEN, NEARLY = 100.0, 10.0
"""Times absolute and relative tolerances by which what rests on a contact may be shaken."""
PLACES = 3
"""Steps that are taken in parts."""
MOST_CALLED = 1000
"""Steps of plain Python functions, at most, in the place of those from one saved state to the next."""
SOME = 64
"""Saved states of which velocities are asked for, at most."""
_OFF = 0.37
"""Where in what is between two of the times the first of them is."""


def pulses(run: FixedRun | AdaptiveRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory whose steps pass over what the field does on the way; of ensembles the first is asked.
    What goes wrong in the look, and Ctrl-C, end it with a warning: the run is not lost with it.
    """
    asked = run.problem.strikes or not run.problem.is_autonomous
    if not asked or number or isinstance(run, LaneRun) or not len(found.t):
        return []
    return looked(lambda: _pulses(run, found), "whether its steps see what the field does")


def _pulses(run: FixedRun | AdaptiveRun, found: Trajectory) -> list[Doubt]:
    problem = run.problem
    on_the_way = problem.strikes or isinstance(run, AdaptiveRun)  # fixed steps are looked at in halves
    t, y, follows = _every_step(run, found) if on_the_way else (*with_start(run, found, 0), False)
    if isinstance(run, AdaptiveRun) and t[-1] != found.last_t:
        t, y = np.append(t, found.last_t), np.vstack([y, found.last])
    if len(t) < 2 or (problem.is_autonomous and not follows):
        return []
    times, scale, forward = _asked(run, found.last_t), _ways(run, t, y), np.sign(t[-1] - t[0])
    if problem.is_autonomous and not np.isfinite(scale[: positions_of(problem)]).any():  # at rest
        return []
    rows = np.clip(np.searchsorted(forward * t, forward * times, side="right") - 1, 0, len(t) - 2)
    steps, sizes = _steps(run, t, times, rows)
    apart = sizes[rows] * _changes(run, t, y, times, rows, 1.0 / of_velocities(problem, scale), follows)
    places = PLACES if problem.field.is_compiled or isinstance(run, FixedRun) else 1
    for k in _furthest(apart, steps)[:places]:
        time, row, between = float(times[k]), int(rows[k]), abs(float(times[1] - times[0]))
        if isinstance(run, AdaptiveRun):
            begin, whole, fine = _of_variable(run, t, y, row, between)
        else:
            begin, whole, fine = _of_fixed(run, t, y, time, row, between)
            whole = y[row + 1] if follows and len(t) > row + 2 else whole
        start, whole, fine = (_shown(problem, begin, x) for x in (y[row], whole, fine))
        doubt = _passed_over(run, begin, start, whole, fine, _ways_shown(problem, t, y, scale))
        if doubt is not None:
            return [doubt]
    return []


def _every_step(run: FixedRun | AdaptiveRun, found: Trajectory) -> tuple[Array, Array, bool]:
    """Times and states of all steps, taken anew where few of them were saved, or given times, unless they are too many;
    and whether these are all.
    """
    t, y = with_start(run, found, 0)
    steps, plain = int(run.counters[STEPS]), not run.problem.field.is_compiled
    if len(t) >= steps and not len(run.output.times):
        return t, y, True
    if steps > (MOST_CALLED if plain else MOST) or steps * len(found.last) > ROOM:
        return t, y, False
    again: Run
    if isinstance(run, AdaptiveRun):
        steering = replace(run.steering, span=(float(t[0]), found.last_t))
        again = AdaptiveRun(run.problem, run.as_given, Output(), steering, y[0])
    else:
        again = single_run(run.problem, run.method, Output(), replace(run.plan, steps=steps), y[0])
    [one] = to_its_end(again)
    t, y = with_start(again, one, 0)
    return t, y, len(t) >= steps


def _asked(run: Run, end: float) -> Array:
    """The times."""
    plain = int(not run.problem.field.is_compiled)
    most = MOST_STRUCK if run.problem.is_autonomous else MOST
    count = int(np.clip(OFTEN[plain] * int(run.counters[EVALUATIONS]), FEWEST[plain], most))
    return np.array(run.t0 + (end - run.t0) * (np.arange(count) + _OFF) / count)


def _steps(run: FixedRun | AdaptiveRun, t: Array, times: Array, rows: NDArray[np.int64]) -> tuple[Array, Array]:
    """In which step each of the times is (of variable steps: behind which saved state), and how long a step is behind
    every saved state.
    """
    if isinstance(run, AdaptiveRun):
        return rows.astype(float), np.abs(np.diff(t)) * min(1.0, (len(t) - 1) / max(1, int(run.counters[STEPS])))
    return np.floor((times - run.t0) / run.plan.h), np.full(len(t), abs(run.plan.h))


def _furthest(apart: Array, step: Array) -> list[int]:
    """The times at which it is furthest, and far enough, one of each step, the furthest first."""
    order = [int(k) for k in np.argsort(-apart)[: 64 * PLACES] if apart[k] > ELSEWHERE]
    first: dict[int, int] = {}
    for k in order:
        first.setdefault(int(step[k]), k)
    return list(first.values())[:PLACES]


def _changes(
    run: Run, t: Array, y: Array, times: Array, rows: NDArray[np.int64], weights: Array, follows: bool
) -> Array:
    problem, found = run.problem, np.zeros(len(times))
    here, after, there, by, place = (*np.zeros((4, problem.dimension)), np.zeros(problem.n))
    field, asked, numbers = problem.field.python, changes.python, (problem.own_parameters(), problem.structure)
    if problem.field.is_compiled:
        field, asked = run.field_form(problem.field, EVALUATED), changes.compiled
        numbers = run.parameters, run.structure
        run._bind(field)
        bind([asked], problem.table, [EXP])
    with np.errstate(all="ignore"):
        asked(
            field, t, np.ascontiguousarray(y), times, rows, problem.table, *numbers, np.zeros(problem.work_shape),
            here, after, there, by, place, weights, found, int(follows), int(problem.is_autonomous),
        )  # fmt: skip
    take_raised()  # at times of no step
    return np.where(np.isfinite(found), found, 0.0)


@loop(
    integer(
        FIELD, vector, matrix, vector, integers, integer_table, vector, integers, matrix, vector, vector, vector,
        vector, vector, vector, vector, integer, integer,
    )
)  # fmt: skip
def changes(
    field: Any, t: Any, y: Any, times: Any, rows: Any, table: Any, parameters: Any, structure: Any, work: Any,
    here: Any, after: Any, there: Any, by: Any, place: Any, weights: Any, found: Any, follows: Any, announced: Any,
) -> Any:  # fmt: skip
    """How far the field at each of the `times`, on the way from a saved state to the next, is from what is on a line
    between the fields at both, weighted; `rows` are those of the states.

    `follows`: the way is that of the fields at both ends, from the nearer one; else it stays at the first state.
    `announced`: what the field changes by from one end to the other is taken off.
    """
    for k in range(times.shape[0]):
        row = rows[k]
        if k == 0 or row != rows[k - 1]:
            field(t[row], y[row], parameters, structure, work, here)
            field(t[row + 1], y[row + 1 if follows else row], parameters, structure, work, after)
        length = t[row + 1] - t[row]
        part, begin = (times[k] - t[row]) / length, row
        if follows:
            gone, begin = part, row
            if part > 0.5:
                gone, begin = part - 1.0, row + 1
            for i in range(by.shape[0]):
                a, b = ld(here, i), ld(after, i)
                if part > 0.5:
                    a, b = b, a
                st(by, i, length * gone * (a + 0.5 * absolute(gone) * (b - a)))
            retract(table, EXP, y[begin], by, place)
            field(times[k], place, parameters, structure, work, there)
        else:
            field(times[k], y[row], parameters, structure, work, there)
        for i in range(here.shape[0]):
            change = ld(after, i) - ld(here, i)
            off = absolute(ld(there, i) - (ld(here, i) + part * change))
            if announced:
                off = off - absolute(change)
            st(found, k, maximum(ld(found, k), off * ld(weights, i)))
    return OK


def _of_fixed(run: FixedRun, t: Array, y: Array, time: float, row: int, between: float) -> tuple[float, Array, Array]:
    """The step in which a time lies: its begin, and the states after it, taken at once and in parts."""
    h, begin = run.plan.h, float(t[row])
    steps = int((time - begin) / h * (1.0 - 1e-12))
    start = y[row]
    if steps:
        start = _end(
            single_run(run.problem, run.method, Output(save_every=steps), Plan(begin, h, steps, run.plan.limit), start)
        )
    begin += steps * h
    parts = int(np.clip(np.ceil(2.0 * abs(h) / between), PARTS, MOST_PARTS))
    whole, fine = stepped(run, begin, h, start), start
    for k in range(parts):
        fine = stepped(run, begin + k * h / parts, h / parts, fine)
    return begin, whole, fine


def _of_variable(run: AdaptiveRun, t: Array, y: Array, row: int, between: float) -> tuple[float, Array, Array]:
    """The same of all steps from the saved state before a time to the next one."""
    span = float(t[row]), float(t[row + 1])
    length = abs(span[1] - span[0])
    most = MOST if run.problem.field.is_compiled else MOST_CALLED
    part = max(min(0.5 * between, length / PARTS, run.steering.largest), length / most)
    steering = replace(run.steering, span=span, first=part, largest=part)
    again = AdaptiveRun(run.problem, run.as_given, Output(save_every=NEVER), steering, y[row])
    return span[0], y[row + 1], _end(again)


def _end(run: Run) -> Array:
    """The last state; not numbers if it fails."""
    last = to_its_end(run)[0].last
    return np.array(last if run.status is Status.OK else np.full_like(last, np.nan))


def _passed_over(run: Run, begin: float, start: Array, whole: Array, fine: Array, scale: Array) -> Doubt | None:
    """The doubt of what lies behind a time, if its parts lead elsewhere; where those fail nothing is known."""
    if not np.isfinite(fine).all():
        return None
    moved = np.abs(fine - start)
    scale = np.fmax(scale, np.where(moved > np.maximum(TINY * run.problem.scales, _least(run, fine)), moved, np.nan))
    with np.errstate(invalid="ignore"):
        apart = float(np.nanmax(np.abs(whole - fine) / scale, initial=0.0))
    if not apart > ELSEWHERE:
        return None
    says = "within a step the field does what its stages do not see: steps of a fraction of the size lead elsewhere"
    remedy = "use a smaller step, or end the run before and after what happens there"
    return Doubt("pulse", begin, apart, ELSEWHERE, says, remedy, 0)


def _shown(problem: Problem, t: float, y: Array) -> Array:
    """A state with velocities in the place of momenta that accumulate impulses of closures, as steps of any size."""
    if not problem.accumulates:
        return y
    rates = _rates(problem)
    return np.concatenate([y[: rates.start], problem.velocity(t, y)[: rates.stop - rates.start], y[rates.stop :]])


def _rates(problem: Problem) -> slice:
    """Where momenta or velocities stand in a state whose positions are known; works may follow."""
    k = positions_of(problem)
    return slice(k, k + problem.positions if problem.positions else problem.n)


def _ways(run: Run, t: Array, y: Array) -> Array:
    """How far the components of a state move; not numbers where they do not, or by less than tolerances ask for."""
    scale = ways_of_each(run, t, y)
    return np.where(np.isfinite(scale) & (scale > _least(run, np.abs(y).max(axis=0))), scale, np.nan)


def _ways_shown(problem: Problem, t: Array, y: Array, scale: Array) -> Array:
    """The same of states that are `_shown`: of velocities how fast they are at some of the times."""
    if not problem.accumulates:
        return scale
    at, rows = _rates(problem), spread(len(t), SOME)
    rates = np.max([np.abs(_shown(problem, float(t[row]), y[row])[at]) for row in rows], axis=0)
    return np.concatenate([scale[: at.start], np.where(rates > 0.0, rates, np.nan), scale[at.stop :]])


def _least(run: Run, y: Array) -> Array:
    """What tolerances do not ask for; where things touch, what they leave of a rest: stiff steps shake it."""
    if not isinstance(run, AdaptiveRun):
        return np.zeros(len(y))
    absolute, relative = float(np.max(run.absolute)), float(np.max(run.relative))
    if not (run.problem.strikes and run.problem.is_autonomous):
        return absolute + relative * np.abs(y)
    k = positions_of(run.problem)
    sizes = (float(np.abs(part).max(initial=0.0)) for part in (y[:k], y[k:]))
    return SHAKEN * absolute + NEARLY * relative * np.repeat([*sizes], [k, len(y) - k])
