"""What the run loops do between two steps: projection, extremes of invariants, events, saved states.

Extremes and means of the invariants are taken at every step, so that saving few states never hides an energy band.
"""

from __future__ import annotations

from typing import Any

from integrators.engine.winding import unwound
from integrators.layout import FIRST, FIRST_KNOWN, HISTORY, LAST, LAST_KNOWN, ROW, STEPS, STRETCH
from integrators.signatures import FIELD_SIGNATURES
from integrators.status import OK
from integrators.steppers.common import clear, copy
from liegroup.compile import any_, entry, helper, kernel, ld, ld2, select, st2

LEAST, GREATEST, SUM, SUM_LOW = 0, 1, 2, 3
"""Blocks of the statistics of the invariants between two saved states; SUM + SUM_LOW is a compensated sum."""
STATISTICS = 4
_SAME_TIME = 1e-9
"""Times closer than this part of a step are the same."""


@entry(*FIELD_SIGNATURES)
def nothing_to_do(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The invariants, events and projection of a problem that has none."""


@helper
def is_finite(y: Any) -> Any:
    """Whether every component (in every lane) is finite: x − x is 0 for numbers and NaN otherwise."""
    s = ld(y, 0) - ld(y, 0)
    for i in range(1, y.shape[0]):
        x = ld(y, i)
        s = s + (x - x)
    return not any_(s != 0.0)


@helper
def project(
    projection: Any, t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, projected: Any, counters: Any
) -> None:
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


@helper
def crossed(before: Any, after: Any, directions: Any) -> bool:
    """Whether an event function has changed its sign in its direction (+1 upwards, −1 downwards, 0 both)."""
    for k in range(directions.shape[0]):
        a, b = ld(before, k), ld(after, k)
        up, down = (a < 0.0) & (b >= 0.0), (a > 0.0) & (b <= 0.0)
        if (directions[k] >= 0 and any_(up)) or (directions[k] <= 0 and any_(down)):
            return True
    return False


@kernel
def watch(values: Any, statistics: Any, counters: Any) -> None:
    """Include values of the invariants in the statistics of the stretch since the last saved state."""
    m, row = values.shape[0], counters[ROW]
    for k in range(m):
        x = ld(values, k)
        if counters[STRETCH] == 0:
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
            st2(
                statistics,
                row,
                SUM_LOW * m + k,
                ld2(statistics, row, SUM_LOW * m + k) + ((old - (total - part)) + (x - part)),
            )
    counters[STRETCH] += 1


@kernel
def save(
    t: Any, y: Any, turns: Any, values: Any, saved_t: Any, saved: Any, saved_values: Any, stretch: Any, counters: Any
) -> None:
    """Write the next row of the results; angles with their turns."""
    row = counters[ROW]
    saved_t[row] = t
    for i in range(y.shape[0]):
        st2(saved, row, i, unwound(y, turns, i))
    for k in range(values.shape[0]):
        st2(saved_values, row, k, ld(values, k))
    stretch[row] = counters[STRETCH]
    counters[ROW] = row + 1
    counters[STRETCH] = 0


@helper
def observe(
    interpolant: Any, field: Any, invariants: Any, t: Any, t_new: Any, h: Any, last: Any, save_every: Any, times: Any,
    y: Any,
    turns: Any, previous: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    dense_work: Any, counters: Any, dense_counters: Any, values: Any, between: Any, between_low: Any, saved_t: Any,
    saved: Any,
    saved_values: Any, statistics: Any, stretch: Any,
) -> Any:  # fmt: skip
    """Watch the invariants at the end of an accepted step and save what is due; returns a status.

    Due are every `save_every`-th state and the last one, or, if `times` are given, the states at those the step has
    reached: `between` <- `previous`, advanced by the interpolant.
    """
    dense_counters[HISTORY] = dense_counters[FIRST_KNOWN] = 0
    near, forward = _SAME_TIME * abs(h), 1.0 if h >= 0.0 else -1.0
    while counters[ROW] < times.shape[0] and forward * (times[counters[ROW]] - t_new) < -near:
        wanted = times[counters[ROW]]
        copy(previous, between)
        clear(between_low)
        status = interpolant(
            field, t, wanted - t, between, between_low, table, coefficients, options, parameters, structure, field_work,
            dense_work,
            dense_counters,
        )  # fmt: skip
        if status != OK:
            return status
        if values.shape[0]:
            invariants(wanted, between, parameters, structure, field_work, values)
        watch(values, statistics, counters)
        save(wanted, between, turns, values, saved_t, saved, saved_values, stretch, counters)
    if values.shape[0]:
        invariants(t_new, y, parameters, structure, field_work, values)
    watch(values, statistics, counters)
    if times.shape[0] == 0:
        if last or (counters[STEPS] + 1) % save_every == 0:
            save(t_new, y, turns, values, saved_t, saved, saved_values, stretch, counters)
    else:
        while counters[ROW] < times.shape[0] and (last or forward * (times[counters[ROW]] - t_new) <= near):
            if counters[STRETCH] == 0:
                watch(values, statistics, counters)
            save(times[counters[ROW]], y, turns, values, saved_t, saved, saved_values, stretch, counters)
    return OK
