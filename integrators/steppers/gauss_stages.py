"""The stages of a substep of the Gauss method in lanes: their first guess, their iteration, and its end."""

from __future__ import annotations

from typing import Any

from integrators.layout import CANONICAL, ERROR, EVALUATIONS, ITERATIONS
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import dimension, leaves_chart
from integrators.steppers.gauss_sweep import (
    body_row,
    columns_at,
    evaluate,
    into_chart,
    product,
    refresh,
    refresh_in_turn,
    sum_of_stages,
    weigh,
)
from integrators.steppers.gauss_workspace import (
    CLOCK_ROW,
    FAST,
    FLAT,
    FRESH,
    GUESS,
    KEPT,
    LARGEST,
    MOST,
    REPORT_ROW,
    SEPARABLE,
    SIZES,
    STAGES,
    SWEEPS,
    B,
    C,
    room,
)
from liegroup.compile import flattened, helper, in_rows_of_lanes, kernel, ld, magnitude, st, st2
from liegroup.compile.scalars import maximum

MOST_SWEEPS, UNSETTLED_SWEEPS = 400, 40
"""At most so many; so many if the change is not below `SETTLED` by then (more only serve numbers of many digits)."""
GEOMETRY = 3
"""Sweeps of the chart alone after a first guess of the body velocities."""
SETTLED = 1e-12
"""Relative to the sizes: changes below it may end in rounding."""
SMALL, NEARLY = 1e-4, 1e-6
"""Part of the largest size that small ones count as where changes below `NEARLY` end above `SETTLED`."""
LEAST = 1e-300
"""Size of what is not nothing: one over less has no number."""
FAST_END = 1e-17
"""The fast stop ends where the next change is predicted below this."""


@kernel
def measure(y: Any, table: Any, options: Any, work: Any) -> None:
    """Sizes of the components: the largest met so far in the run, and 1e-9 of the largest of positions or momenta."""
    n, d = y.shape[0], dimension(table)
    at, flat = room(n, d), flattened(work)
    l, scale, inverse = work[at.l : at.l + d], flat[at.scale : at.scale + d], flat[at.inverse : at.inverse + d]
    parts = 2 if options[CANONICAL] else 1
    for part in range(parts):
        first, last = part * d // parts, (part + 1) * d // parts
        largest = ld(scale, first) * 0.0
        for m in range(first, last):
            size = size_of(y, options, m) + magnitude(sum_of_stages(l, m))
            if size == size:
                st(scale, m, maximum(ld(scale, m), size))
            largest = maximum(largest, ld(scale, m))
        for m in range(first, last):
            size = ld(scale, m) + 1e-9 * largest
            st(inverse, m, 1.0 / maximum(size, LEAST) if size > 0.0 else 1.0)


@kernel
def coarsened(n: Any, table: Any, options: Any, work: Any) -> bool:
    """Whether some components, small beside the largest of positions or momenta, have been given `SMALL` of its size:
    those that constraints hold at zero are of the rounding of others, which is no change.
    """
    d = dimension(table)
    at, flat = room(n, d), flattened(work)
    scale, inverse = flat[at.scale : at.scale + d], flat[at.inverse : at.inverse + d]
    parts, found = 2 if options[CANONICAL] else 1, False
    for part in range(parts):
        first, last = part * d // parts, (part + 1) * d // parts
        largest = ld(scale, first) * 0.0
        for m in range(first, last):
            largest = maximum(largest, ld(scale, m))
        for m in range(first, last):
            if ld(scale, m) < SMALL * largest:
                st(scale, m, SMALL * largest)
                st(inverse, m, 1.0 / maximum(ld(scale, m), LEAST))
                found = True
    return found


@helper
def size_of(y: Any, options: Any, m: Any) -> Any:
    """How large the state behind component m of the velocity is; 1 for turns."""
    first, count = options[SIZES + 2 * m], options[SIZES + 2 * m + 1]
    total = ld(y, 0) * 0.0
    for i in range(first, first + count):
        total = total + magnitude(ld(y, i))
    return total if count > 0 else total + 1.0


@helper
def guess(
    weigh: Any, field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
) -> None:  # fmt: skip
    """First guess of h b f and of the L, and the sizes; `weigh` makes h b f of the field."""
    n, d = y.shape[0], dimension(table)
    at = room(n, d)
    l, body = work[at.l : at.l + d], body_row(at, options)
    lb = work[body : body + d]
    start = int(work[CLOCK_ROW, GUESS].real)
    if start == FRESH:
        stages = work[at.y : at.y + n]
        for i in range(n):
            st(stages, i, ld(y, i) + ld(low, i))
        evaluate(field, t, 0.0 * h, n, d, coefficients, parameters, structure, field_work, work)
        counters[EVALUATIONS] += STAGES
        weigh(h, n, table, coefficients, options, field_work, work)
    elif start != KEPT:
        columns = columns_at(coefficients, start)
        for m in range(d):
            st(lb, m, product(columns, lb, m))
    if not options[FLAT]:
        for m in range(d):
            st(l, m, ld(lb, m))
    measure(y, table, options, work)


@kernel
def guess_within(ratio: Any, n: Any, table: Any, coefficients: Any, options: Any, work: Any) -> None:
    """h b f of a substep from those of another one from the same start, whose size is that of the other times `ratio`:
    by the collocation polynomial of the other.
    """
    d = dimension(table)
    first = body_row(room(n, d), options)
    lb = work[first : first + d]
    x = ratio * ld(in_rows_of_lanes(coefficients[C : C + STAGES]), 0)
    weight = ratio * ld(in_rows_of_lanes(coefficients[B : B + STAGES]), 0)
    columns = (
        column_within(0, x, weight, coefficients), column_within(1, x, weight, coefficients),
        column_within(2, x, weight, coefficients), column_within(3, x, weight, coefficients),
        column_within(4, x, weight, coefficients), column_within(5, x, weight, coefficients),
        column_within(6, x, weight, coefficients), column_within(7, x, weight, coefficients),
    )  # fmt: skip
    for m in range(d):
        st(lb, m, product(columns, lb, m))


@helper
def column_within(j: Any, x: Any, weight: Any, coefficients: Any) -> Any:
    """weight ℓⱼ(x)/bⱼ at the eight places x."""
    value = weight / coefficients[B + j]
    for i in range(STAGES):
        if i != j:
            value = value * ((x - coefficients[C + i]) / (coefficients[C + j] - coefficients[C + i]))
    return value


@helper
def iterate(
    begin: Any, sweep: Any, field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """Iterate the stages, which `begin` guesses, until rounding ends their progress; a status.

    `sweep` makes stages of the field at the stages and returns their largest change.
    """
    n, d = y.shape[0], dimension(table)
    begin(
        field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )  # fmt: skip
    report = work[REPORT_ROW]
    best, before, strikes, status, sweeps = 1e300, 1e300, 0, NOT_CONVERGED, 0
    for k in range(1, MOST_SWEEPS + 1):
        evaluate(field, t, h, n, d, coefficients, parameters, structure, field_work, work)
        change = sweep(h, y, low, table, coefficients, options, field_work, work).real
        sweeps = k
        if not change < 1e300:
            status = NON_FINITE
            break
        if change == 0.0:
            status = OK
            break
        strikes = strikes + 1 if change >= best else 0
        if strikes >= 2 and best < SETTLED:
            status = OK
            break
        if options[FAST] and k > 1 and change < 0.7 * before and change * change < FAST_END * before:
            status = OK
            break
        slow = k >= UNSETTLED_SWEEPS and change > SETTLED
        grows = k > 4 and change > before and change > 1e-9
        if strikes > 5 and best < NEARLY and coarsened(n, table, options, work):
            best, before, strikes = 1e300, 1e300, 0
            continue
        if strikes > 5 or slow or (grows and options[LARGEST] > 0):  # what can be divided need not be waited for
            break
        best, before = min(best, change), change
    counters[EVALUATIONS] += STAGES * sweeps
    counters[ITERATIONS] += sweeps
    st(report, MOST, max(ld(report, MOST).real, float(sweeps)))
    st(report, SWEEPS, ld(report, SWEEPS) + sweeps)
    if status == OK and not options[FLAT] and turns_over(n, table, work):
        return CHART_LEFT
    if status == NOT_CONVERGED:
        st2(work, ERROR, 0, best)
    return status


@kernel
def begin(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> None:  # fmt: skip
    """First guess of the stages."""
    guess(
        weigh, field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )  # fmt: skip
    left = 0 if options[FLAT] else GEOMETRY
    while True:  # the code of `refresh`, which is long, stands here once
        refresh(y, low, table, coefficients, options, field_work, work)
        if left == 0:
            break
        left -= 1
        into_chart(y.shape[0], table, options, field_work, work)


@helper
def sweep(
    h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any
) -> Any:  # fmt: skip
    """Stages from the field at the stages; their largest change."""
    weigh(h, y.shape[0], table, coefficients, options, field_work, work)
    if options[SEPARABLE]:
        return refresh_in_turn(h, y, low, coefficients, options, work)
    into_chart(y.shape[0], table, options, field_work, work)
    return refresh(y, low, table, coefficients, options, field_work, work)


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """Find the stages; a status."""
    return iterate(
        begin, sweep, field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work,
        counters,
    )  # fmt: skip


@helper
def turns_over(n: Any, table: Any, work: Any) -> bool:
    """Whether the step or a stage turns by π or more in its chart."""
    d = dimension(table)
    at, flat = room(n, d), flattened(work)
    return leaves_chart(table, flat[at.half : at.half + d]) or leaves_chart(table, work[at.x : at.x + d])
