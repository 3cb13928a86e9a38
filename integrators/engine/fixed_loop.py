"""The run loop with fixed steps: any stepper on any field, on one trajectory or on eight in lanes.

The time of step n is t0 + n h from the integer n.  The loop allocates nothing and raises nothing; it returns a status
and leaves in `counters` how far it came, in `previous` the state before the last step.
"""

from __future__ import annotations

from typing import Any

from integrators.engine.observe import crossed, is_finite, observe, pass_on_last, project
from integrators.engine.winding import unwind, wind
from integrators.layout import COMPENSATION, PENDING, STEPS
from integrators.signatures import FIELD, FIELD_LANES, STEP, STEP_LANES
from integrators.status import EVENT, NON_FINITE, OK
from integrators.steppers.common import copy
from liegroup.compile import entry, integer, integer_table, integers, lane_matrix, lane_vector, matrix, real, vector


@entry(
    integer(STEP, STEP, FIELD, FIELD, FIELD, FIELD, real, real, integer, integer, integer, vector, integers, vector,
    vector, vector, vector,
            integer_table, vector, integers, vector, integers, matrix, matrix, matrix, integers, integers,
            vector, vector, vector, vector, integers, vector, vector, vector, matrix, matrix, matrix, integers),
    integer(STEP_LANES, STEP_LANES, FIELD_LANES, FIELD_LANES, FIELD_LANES, FIELD_LANES, real, real, integer, integer,
    integer, vector,
            integers, lane_vector, lane_vector, lane_vector, lane_vector,
            integer_table, vector, integers, vector, integers, lane_matrix, lane_matrix, lane_matrix, integers,
            integers,
            lane_vector, lane_vector, lane_vector, lane_vector, integers, lane_vector, lane_vector, vector, lane_matrix,
            lane_matrix,
            lane_matrix, integers),
)  # fmt: skip
def advance(
    step: Any, interpolant: Any, field: Any, invariants: Any, projection: Any, events: Any, t0: Any, h: Any, count: Any,
    last: Any,
    save_every: Any, times: Any, circles: Any, y: Any, low: Any, turns: Any, previous: Any,
    table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    dense_work: Any,
    counters: Any, dense_counters: Any,
    values: Any, projected: Any, before: Any, after: Any, directions: Any, between: Any, between_low: Any, saved_t: Any,
    saved: Any,
    saved_values: Any, statistics: Any, stretch: Any,
) -> Any:  # fmt: skip
    """Up to `count` steps of size h, ending at the latest with step number `last`; returns a status.

    step, interpolant, field, invariants, projection, events
        Compiled functions; the interpolant gives states within a step.
    save_every, times
        Save every `save_every`-th state and the last, or at the given times.
    circles, y, low, turns, previous
        Angles to wind (`integrators.engine.winding`), the state, its low words, whole turns of its angles, the state
        before the step.  If a step fails, y is the state before it.
    values, projected, before, after, between, between_low
        Room for invariants, a projected state (empty: no projection), event functions, a state within a step.
    directions
        One per event.  When an event function has crossed zero, the loop returns EVENT before anything of the step is
        saved; called again, it goes on from there.
    saved_t, saved, saved_values, statistics, stretch
        The results, a row per saved state.
    """
    for _ in range(count):
        k = counters[STEPS]
        if k >= last:
            break
        t, t_new = t0 + k * h, t0 + (k + 1) * h
        if not counters[PENDING]:
            wind(circles, y, low, turns, options[COMPENSATION])
            copy(y, previous)
            status = step(
                field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
            )
            if status == OK:
                project(projection, t_new, y, parameters, structure, field_work, projected, counters)
                if not is_finite(y):
                    status = NON_FINITE
            if status != OK:
                copy(previous, y)
                return status
            if directions.shape[0]:
                unwind(y, turns, between)
                events(t_new, between, parameters, structure, field_work, after)
                if crossed(before, after, directions):
                    counters[PENDING] = 1
                    return EVENT
        counters[PENDING] = 0
        status = observe(
            interpolant, field, invariants, t, t_new, h, k + 1 == last, save_every, times, y, turns, previous, table,
            coefficients, options,
            parameters, structure, field_work, dense_work, counters, dense_counters, values, between, between_low,
            saved_t, saved,
            saved_values, statistics, stretch,
        )  # fmt: skip
        copy(after, before)
        pass_on_last(work, counters)
        counters[STEPS] = k + 1
        if status != OK:
            return status
    return OK
