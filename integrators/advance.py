"""The run loop: fixed steps with any stepper on any field, watching every invariant at every step.

The time of step n is t0 + n h from the integer n.  The loop allocates nothing and raises nothing; it returns a status
and leaves in `counters` how far it came, in `previous` the last state that was finite.
"""

from __future__ import annotations

from typing import Any

from integrators.layout import FIRST, FIRST_KNOWN, LAST, LAST_KNOWN, ROW, STEPS
from integrators.signatures import FIELD, FIELD_LANES, FIELD_SIGNATURES, STEP, STEP_LANES
from integrators.status import NON_FINITE, OK
from integrators.steppers.common import copy
from liegroup.compile import (
    any_,
    entry,
    helper,
    integer,
    integer_table,
    integers,
    kernel,
    lane_matrix,
    lane_vector,
    ld,
    ld2,
    matrix,
    real,
    select,
    st2,
    vector,
)

LEAST, GREATEST, SUM, SUM_LOW = 0, 1, 2, 3
"""Rows of the statistics of the invariants between two saved states; SUM + SUM_LOW is a compensated sum."""
STATISTICS = 4


@entry(*FIELD_SIGNATURES)
def nothing_to_watch(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The invariants of a problem that has none, and the projection of one that needs none."""


@helper
def is_finite(y: Any) -> Any:
    """Whether every component (in every lane) is finite: x − x is 0 for numbers and NaN otherwise."""
    s = ld(y, 0) - ld(y, 0)
    for i in range(1, y.shape[0]):
        x = ld(y, i)
        s = s + (x - x)
    return not any_(s != 0.0)


@helper
def project(projection: Any, t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, projected: Any, counters: Any) -> None:
    """y <- the projection of y, if the problem has one; what was known of the field at y is then forgotten."""
    if projected.shape[0]:
        projection(t, y, parameters, structure, field_work, projected)
        copy(projected, y)
        counters[LAST_KNOWN] = 0


@helper
def pass_on_last(work: Any, counters: Any) -> None:
    """After an accepted step: the field at its end is the field at the start of the next one."""
    if counters[LAST_KNOWN]:
        copy(work[LAST], work[FIRST])
    counters[FIRST_KNOWN] = counters[LAST_KNOWN]


@kernel
def watch(values: Any, statistics: Any, row: Any, fresh: Any) -> None:
    """Include the values of the invariants at one step in the statistics of the current stretch."""
    m = values.shape[0]
    for k in range(m):
        x = ld(values, k)
        if fresh:
            st2(statistics, row, LEAST * m + k, x)
            st2(statistics, row, GREATEST * m + k, x)
            st2(statistics, row, SUM * m + k, x)
            st2(statistics, row, SUM_LOW * m + k, x - x)
        else:
            least, greatest = ld2(statistics, row, LEAST * m + k), ld2(statistics, row, GREATEST * m + k)
            st2(statistics, row, LEAST * m + k, select(x < least, x, least))
            st2(statistics, row, GREATEST * m + k, select(x > greatest, x, greatest))
            old = ld2(statistics, row, SUM * m + k)
            total = old + x
            part = total - old
            st2(statistics, row, SUM * m + k, total)
            st2(statistics, row, SUM_LOW * m + k, ld2(statistics, row, SUM_LOW * m + k) + ((old - (total - part)) + (x - part)))


@entry(
    integer(STEP, FIELD, FIELD, FIELD, real, real, integer, integer, integer, vector, vector, vector, integer_table, vector, integers,
            vector, integers, matrix, matrix, integers, vector, vector, matrix, matrix, matrix),
    integer(STEP_LANES, FIELD_LANES, FIELD_LANES, FIELD_LANES, real, real, integer, integer, integer, lane_vector, lane_vector, lane_vector,
            integer_table, vector, integers, vector, integers, lane_matrix, lane_matrix, integers, lane_vector,
            lane_vector, lane_matrix, lane_matrix, lane_matrix),
)  # fmt: skip
def advance(
    step: Any, field: Any, invariants: Any, projection: Any, t0: Any, h: Any, count: Any, last: Any, save_every: Any, y: Any, low: Any,
    previous: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any, values: Any, projected: Any, saved: Any, saved_values: Any, statistics: Any,
) -> Any:  # fmt: skip
    """Up to `count` steps of size h, ending at the latest with step number `last`; returns a status.

    After every step the state is projected, if the problem has a projection (`projected` is then as long as y, else empty), and
    the invariants go into `statistics` (row = the stretch since the last saved state); after every
    `save_every`-th step, and after step `last`, the state and the invariants go into the next row of `saved`,
    `saved_values`.  If a step fails, y is the state before it.
    """
    n = y.shape[0]
    for _ in range(count):
        k = counters[STEPS]
        if k >= last:
            break
        copy(y, previous)
        status = step(field, t0 + k * h, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters)
        if status == OK:
            project(projection, t0 + (k + 1) * h, y, parameters, structure, field_work, projected, counters)
            if not is_finite(y):
                status = NON_FINITE
        if status != OK:
            copy(previous, y)
            return status
        pass_on_last(work, counters)
        row = counters[ROW]
        if values.shape[0]:
            invariants(t0 + (k + 1) * h, y, parameters, structure, field_work, values)
            watch(values, statistics, row, k % save_every == 0)
        if (k + 1) % save_every == 0 or k + 1 == last:
            for i in range(n):
                st2(saved, row, i, ld(y, i))
            for i in range(values.shape[0]):
                st2(saved_values, row, i, ld(values, i))
            counters[ROW] = row + 1
        counters[STEPS] = k + 1
    return OK
