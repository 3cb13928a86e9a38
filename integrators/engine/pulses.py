"""What a field that reads the time does between the stages of steps: a blow that is over before the next one is not in
the run, and nothing of the run shows it.

The field is asked at many times beside those of the steps, at the saved states; where it is so far from what it was at
the saved time that a step of it would lead elsewhere, the step is taken in small parts.  Both lead to the same place
unless something happens in it that its stages do not see.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, LaneRun, single_run
from integrators.engine.halves import CHUNK, ELSEWHERE
from integrators.engine.loop import loop
from integrators.engine.run import Output, Plan, Trajectory
from integrators.engine.step_again import looked, stepped
from integrators.engine.ways import ways_of_each
from integrators.layout import EVALUATIONS
from integrators.problem import Doubt, Problem
from integrators.problem.jitted import take_raised
from integrators.problem.python_field import EVALUATED
from integrators.signatures import FIELD
from integrators.status import OK, Status
from liegroup.compile import integer, integers, ld, matrix, st, vector
from liegroup.compile.scalars import absolute, maximum

Array = NDArray[np.float64]
OFTEN, FEWEST, MOST = 4, 16, 20_000
"""Times at which the field is asked: so many times as often as the run has asked it (a plain Python function once as
often); at least, and at most.
"""
PARTS, MOST_PARTS = 16, 512
"""Of a step, at least and at most: half as long as what is between the times."""
PLACES = 3
"""Steps that are taken in parts."""
TINY, _OFF = 1e-9, 0.37
"""Of what counts as one, what rounding moves; where in what is between two of the times the first of them is."""


def pulses(run: FixedRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory whose steps pass over what the field does at times; of ensembles the first is asked.
    What goes wrong in the look, and Ctrl-C, end it with a warning: the run is not lost with it.
    """
    if run.problem.is_autonomous or number or isinstance(run, LaneRun) or not len(found.t):
        return []
    return looked(lambda: _pulses(run, found), "whether its steps see what the field does")


def _pulses(run: FixedRun, found: Trajectory) -> list[Doubt]:
    problem, plan, t, y = run.problem, run.plan, found.t, found.y
    if t[0] != plan.t0:
        t, y = np.append(plan.t0, t), np.vstack([np.atleast_2d(problem.y0)[0], y])
    times, scale = _asked(run, found.last_t), _ways(run, y)
    rows = np.clip(np.searchsorted(np.sign(plan.h) * t, np.sign(plan.h) * times, side="right") - 1, 0, len(t) - 1)
    apart = _changes(run, t, y, times, rows, abs(plan.h) / _of_velocities(problem, scale))
    for k in _furthest(apart, np.floor((times - plan.t0) / plan.h)):
        doubt = _passed_over(run, t, y, scale, float(times[k]), int(rows[k]), abs(float(times[1] - times[0])))
        if doubt is not None:
            return [doubt]
    return []


def _asked(run: FixedRun, end: float) -> Array:
    """The times."""
    often = OFTEN if run.problem.field.is_compiled else 1
    count = int(np.clip(often * int(run.counters[EVALUATIONS]), FEWEST, MOST))
    return np.array(run.plan.t0 + (end - run.plan.t0) * (np.arange(count) + _OFF) / count)


def _furthest(apart: Array, step: Array) -> list[int]:
    """The times at which it is furthest, and far enough, one of each step, the furthest first."""
    order = [int(k) for k in np.argsort(-apart)[: 64 * PLACES] if apart[k] > ELSEWHERE]
    first: dict[int, int] = {}
    for k in order:
        first.setdefault(int(step[k]), k)
    return list(first.values())[:PLACES]


def _changes(run: FixedRun, t: Array, y: Array, times: Array, rows: NDArray[np.int64], weights: Array) -> Array:
    problem, found = run.problem, np.zeros(len(times))
    here, there = np.zeros((2, problem.dimension))
    field, asked, numbers = problem.field.python, changes.python, (problem.own_parameters(), problem.structure)
    if problem.field.is_compiled:
        field, asked = run.field_form(problem.field, EVALUATED), changes.compiled
        numbers = run.parameters, run.structure
        run._bind(field)
    with np.errstate(all="ignore"):
        asked(
            field, t, np.ascontiguousarray(y), times, rows, *numbers, np.zeros(problem.work_shape),
            here, there, weights, found,
        )  # fmt: skip
    take_raised()  # at times of no step
    return np.where(np.isfinite(found), found, 0.0)


@loop(integer(FIELD, vector, matrix, vector, integers, vector, integers, matrix, vector, vector, vector, vector))
def changes(
    field: Any, t: Any, y: Any, times: Any, rows: Any, parameters: Any, structure: Any, work: Any, here: Any,
    there: Any, weights: Any, found: Any,
) -> Any:  # fmt: skip
    """By how much the field at a saved state, from its time on to each of the `times`, changes, weighted; `rows` are
    those of the states.
    """
    for k in range(times.shape[0]):
        row = rows[k]
        if k == 0 or row != rows[k - 1]:
            field(t[row], y[row], parameters, structure, work, here)
        field(times[k], y[row], parameters, structure, work, there)
        for i in range(here.shape[0]):
            st(found, k, maximum(ld(found, k), absolute(ld(there, i) - ld(here, i)) * ld(weights, i)))
    return OK


def _passed_over(
    run: FixedRun, t: Array, y: Array, scale: Array, time: float, row: int, between: float
) -> Doubt | None:
    """The doubt of the step in which a time lies, if its parts lead elsewhere."""
    h, begin = run.plan.h, float(t[row])
    steps = int((time - begin) / h * (1.0 - 1e-12))
    start = y[row]
    if steps:
        again = single_run(run.problem, run.method, Output(save_every=steps), Plan(begin, h, steps), start)
        while not again.done:
            again.go(CHUNK)
        if again.status is not Status.OK:
            return None
        start = again.trajectories()[0].last
    begin += steps * h
    parts = int(np.clip(np.ceil(2.0 * abs(h) / between), PARTS, MOST_PARTS))
    whole, fine = stepped(run, begin, h, start), start
    for k in range(parts):
        fine = stepped(run, begin + k * h / parts, h / parts, fine)
    moved = np.abs(fine - start)
    scale = np.fmax(scale, np.where(moved > TINY * run.problem.scales, moved, np.nan))
    with np.errstate(invalid="ignore"):
        apart = float(np.nanmax(np.abs(whole - fine) / scale, initial=0.0))
    if not apart > ELSEWHERE:
        return None
    says = "within a step the field does what its stages do not see: steps of a fraction of the size lead elsewhere"
    remedy = "use a smaller step, or end the run before and after what happens there"
    return Doubt("pulse", begin, apart, ELSEWHERE, says, remedy, 0)


def _ways(run: FixedRun, y: Array) -> Array:
    """How far the components of a state move; not numbers where they do not."""
    scale = ways_of_each(run, y)
    return np.where(np.isfinite(scale), scale, np.nan)


def _of_velocities(problem: Problem, scale: Array) -> Array:
    """The same of velocities (dimension,): of turns the largest of their state; tiny where nothing moves."""
    found = np.empty(problem.dimension)
    known = np.where(np.isfinite(scale), scale, TINY * problem.scales)
    for _, q, v, n_q, n_v in problem.table.tolist():
        found[v : v + n_v] = known[q : q + n_q] if n_q == n_v else known[q : q + n_q].max()
    return found
