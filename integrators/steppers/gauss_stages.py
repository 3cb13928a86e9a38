"""The stages of the Gauss method in lanes: where they stand in the workspace, one sweep of their iteration, its end.

coefficients
    ν, b, c, the weights of the highest Legendre coefficient, those of the field at the ends, four matrices of first
    guesses (`integrators.tableaus.gauss_in_lanes`), the tolerance (energy, or relative where the problem is not
    canonical; 0: a part of the energy at play, which follows, or 1); K by rows, of a kinetic energy ½ pᵀK p.
options
    largest level, 1 for the fast stop, 1 if every factor of the group is
    commutative, 1 if the kinetic energy is ½ pᵀK p with a constant K; then per component of the velocity the components
    (first, count) of the state that say how large it is; then per row of K the columns (first, last + 1) of its
    entries.
own rows
    The clock, the report, substeps per level (two rows); ν; sizes and their inverses, S; the centre and
    its low words; one stage and its field; in lanes x, L, h b f, Y, and room for displacements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.layout import CANONICAL, ERROR, EVALUATIONS, ITERATIONS, OWN_OPTIONS, OWN_ROWS, TAU
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import dimension, leaves_chart
from liegroup.compile import absolute, flattened, helper, in_rows_of_lanes, kernel, ld, ld2, st, st2
from liegroup.compile.scalars import maximum
from liegroup.table import KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, displacement, dtau_inverse_left

STAGES = 8
LARGEST, FAST, FLAT, SEPARABLE, SIZES = range(OWN_OPTIONS, OWN_OPTIONS + 5)
MOST_SWEEPS, UNSETTLED_SWEEPS = 400, 40
"""At most so many; so many if the change is not below `SETTLED` by then (more only serve numbers of many digits)."""
GEOMETRY = 3
"""Sweeps of the chart alone after a first guess of the body velocities."""
SETTLED = 1e-12
"""Relative to the sizes: changes below it may end in rounding."""
FAST_END = 1e-17
"""The fast stop ends where the next change is predicted below this."""

NU, B, C, HIGHEST, ENDS, GUESSES = 0, 64, 72, 80, 88, 152
SAME, DOWN, UP, AGAIN = (GUESSES + 64 * k for k in range(4))
TOLERANCE = GUESSES + 256
ENERGY = TOLERANCE + 1
KINETIC = ENERGY + 1
FRESH, KEPT = 0, 1
"""Where a guess would stand: there is none, all stages begin with the field at the start; it is there already."""

# the clock: what the next step goes on from
LEVEL, STEP_SIZE, AT_PLAY, GUESS, STEEPEST, TOLERATED, JUMP, JUMP_TIME = range(8)
"""The last four: largest estimate divided by the fifteenth power of the substep; the tolerance at last; the largest
jump of the field between two substeps, in units of what a smooth one allows, and the time of the first that is more.
"""
# the report of the run so far
LARGEST_ESTIMATE, ESTIMATE_SUM, SMALLEST, SMALLEST_TIME, MOST, REJECTIONS, SUBSTEP_COUNT, SWEEPS = range(8)
CLOCK_ROW, REPORT_ROW, LEVELS_ROW = OWN_ROWS, OWN_ROWS + 1, OWN_ROWS + 2
LAST_START, LAST_SIZE, TOP = STAGES - 3, STAGES - 2, STAGES - 1
"""Behind the counts of the levels: where the last substep began, its size, and its highest coefficients divided by it.
"""
OWN = OWN_ROWS + 4


@helper
def rows_of(count: Any) -> Any:
    """Rows of eight numbers for `count` of them."""
    return (count + STAGES - 1) // STAGES


class Room(NamedTuple):
    """Where the parts of the workspace begin, for n components of the state and d of the velocity: the first number of
    those that are vectors (to `state`), the first row of those that are in lanes (from `x`).

    scale, inverse    sizes of the components met so far (d), one over them (d)
    last              the field at the end of the substep before (d)
    total, half       S (d), ½ S (d)
    value, state      the field at one stage (d), one stage (n)
    middle, its low   the centre y τ(½ S) and its low words (n)
    x, l, f, body     chart coordinates, L, the field, h b f, of all stages (d); x: changes of momenta, if they are flat
    y, centre, moved  the stages, the centre, displacements from it (n)
    seen              momenta foreseen in the sweep before (of the variational form)
    """

    scale: Any
    inverse: Any
    last: Any
    total: Any
    half: Any
    value: Any
    middle: Any
    middle_low: Any
    state: Any
    x: Any
    l: Any
    f: Any
    body: Any
    y: Any
    centre: Any
    moved: Any
    seen: Any
    end: Any


@helper
def room(n: Any, d: Any) -> Any:
    """Where the parts of the workspace begin."""
    r, s, first = STAGES * rows_of(n), STAGES * rows_of(d), STAGES * OWN
    k = first + 5 * s
    x = OWN + 6 * rows_of(d) + 3 * rows_of(n)
    y = x + 4 * d
    return Room(
        first, first + s, first + 2 * s, first + 3 * s, first + 4 * s, k, k + s, k + s + r, k + s + 2 * r,
        x, x + d, x + 2 * d, x + 3 * d, y, y + n, y + 2 * n, y + 3 * n, y + 3 * n + d // 2,
    )  # fmt: skip


# --- one sweep --------------------------------------------------------------------------------------------------------


@helper
def evaluate(
    field: Any, t: Any, h: Any, n: Any, d: Any, coefficients: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
) -> None:  # fmt: skip
    """The field at the stages: at once in lanes, with their times in the last row of its workspace, or one after the
    other.
    """
    at, flat = room(n, d), flattened(work)
    y, f = work[at.y : at.y + n], work[at.f : at.f + d]
    if field_work.ndim == 3:
        times = t + ld(in_rows_of_lanes(coefficients[C : C + STAGES]), 0) * h
        st2(field_work, field_work.shape[0] - 1, 0, times)
        field(t, y, parameters, structure, field_work, f)
    else:
        state, value = flat[at.state : at.state + n], flat[at.value : at.value + d]
        for i in range(STAGES):
            take(y, i, state)
            field(t + coefficients[C + i] * h, state, parameters, structure, field_work, value)
            put(value, f, i)


@helper
def body_row(at: Any, options: Any) -> Any:
    """First row of h b f: the L themselves where the group is commutative."""
    return at.l if options[FLAT] else at.body


@helper
def weigh(h: Any, n: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any) -> None:
    """h b f."""
    d = dimension(table)
    at = room(n, d)
    first, hb = body_row(at, options), weights(h, coefficients)
    f, l = work[at.f : at.f + d], work[first : first + d]
    for m in range(d):
        st(l, m, ld(f, m) * hb)


@helper
def weights(h: Any, coefficients: Any) -> Any:
    """h b, a register."""
    return ld(in_rows_of_lanes(coefficients[B : B + STAGES]), 0) * h


@kernel
def into_chart(n: Any, table: Any, options: Any, field_work: Any, work: Any) -> None:
    """L = dτ_left(x)⁻¹ (h b f), unless they are the same; in lanes where the field is."""
    if options[FLAT]:
        return
    at = room(n, dimension(table))
    for r in range(table.shape[0]):
        if table[r, KIND] == RN:
            first, last = table[r, V_OFFSET], table[r, V_OFFSET] + table[r, N_V]
            for m in range(first, last):
                st(work, at.l + m, ld(work, at.body + m))
        else:
            factor_into_chart(table[r : r + 1], options, at, field_work, work)


@helper
def factor_into_chart(row: Any, options: Any, at: Any, field_work: Any, work: Any) -> None:
    """The same of one factor."""
    flat, tau, d = flattened(work), options[TAU], row[0, V_OFFSET] + row[0, N_V]
    x, body, l = work[at.x : at.x + d], work[at.body : at.body + d], work[at.l : at.l + d]
    if field_work.ndim == 3:
        dtau_inverse_left(row, tau, x, body, l)
    else:
        one, value = flat[at.total : at.total + d], flat[at.value : at.value + d]
        for i in range(STAGES):
            take(x, i, one)
            take(body, i, value)
            dtau_inverse_left(row, tau, one, value, value)
            put_from(row[0, V_OFFSET], value, l, i)


@helper
def take(stages: Any, i: Any, one: Any) -> None:
    """one = stage i."""
    for m in range(one.shape[0]):
        st(one, m, ld2(stages, m, i))


@helper
def put(one: Any, stages: Any, i: Any) -> None:
    """Stage i = one."""
    put_from(0, one, stages, i)


@helper
def put_from(first: Any, one: Any, stages: Any, i: Any) -> None:
    """The same from component `first` on."""
    for m in range(first, one.shape[0]):
        st2(stages, m, i, ld(one, m))


@helper
def columns_at(coefficients: Any, first: Any) -> Any:
    """The eight columns of a matrix of 8 × 8 numbers, registers."""
    m = in_rows_of_lanes(coefficients[first : first + STAGES * STAGES])
    return ld(m, 0), ld(m, 1), ld(m, 2), ld(m, 3), ld(m, 4), ld(m, 5), ld(m, 6), ld(m, 7)


@helper
def sum_of_stages(l: Any, m: Any) -> Any:
    """Σⱼ L of component m; reversing the order of the stages leaves it alone."""
    outer = (ld2(l, m, 0) + ld2(l, m, 7)) + (ld2(l, m, 1) + ld2(l, m, 6))
    return outer + ((ld2(l, m, 2) + ld2(l, m, 5)) + (ld2(l, m, 3) + ld2(l, m, 4)))


@helper
def product(columns: Any, l: Any, m: Any) -> Any:
    """Σⱼ (column j) L of component m, a register; reversing the order of the stages leaves it alone."""
    c0, c1, c2, c3, c4, c5, c6, c7 = columns
    outer = (c0 * ld2(l, m, 0) + c7 * ld2(l, m, 7)) + (c1 * ld2(l, m, 1) + c6 * ld2(l, m, 6))
    inner = (c2 * ld2(l, m, 2) + c5 * ld2(l, m, 5)) + (c3 * ld2(l, m, 3) + c4 * ld2(l, m, 4))
    return outer + inner


@helper
def refresh(y: Any, low: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any) -> Any:
    """Stages from the L; the largest change in units of the sizes, or NaN."""
    n, d = y.shape[0], dimension(table)
    at = room(n, d)
    if options[FLAT]:
        return largest_of_stages(refresh_flat(y, low, 0, 0, d, at, coefficients, work, False), work)
    return largest_of_stages(refresh_centred(y, low, table, coefficients, options, field_work, work), work)


@kernel
def refresh_in_turn(h: Any, y: Any, low: Any, coefficients: Any, options: Any, work: Any) -> Any:
    """The same for H = ½ pᵀK p + V(t, q) on Rⁿ: momenta first, then positions from the velocities v + K Δp at these.

    One evaluation of the field, at positions and momenta of before, then does the work of two; where the stages stay,
    Δp = 0 and the velocities are those of the field.
    """
    n = y.shape[0]
    half, at = n // 2, room(n, n)
    l, moved = work[at.l : at.l + half], work[at.x + half : at.x + n]
    pushed = refresh_flat(y, low, half, half, half, at, coefficients, work, True)
    hb = weights(h, coefficients)
    for m in range(half):
        k, columns = KINETIC + half * m, SIZES + 2 * (n + m)
        first, last = options[columns], options[columns + 1]
        v = coefficients[k + first] * ld(moved, first)
        for j in range(first + 1, last):
            v = v + coefficients[k + j] * ld(moved, j)
        st(l, m, ld(l, m) + hb * v)
    carried = refresh_flat(y, low, 0, 0, half, at, coefficients, work, False)
    return largest_of_stages(maximum(pushed, carried) + (pushed + carried) * 0.0, work)


@helper
def largest_of_stages(x: Any, work: Any) -> Any:
    """The largest number of a register."""
    st(work, ERROR, x)
    worst = ld2(work, ERROR, 0)
    for i in range(1, STAGES):
        worst = maximum(worst, ld2(work, ERROR, i))
    return worst


@helper
def refresh_flat(
    y: Any, low: Any, q: Any, v: Any, count: Any, at: Any, coefficients: Any, work: Any, keep: Any
) -> Any:  # fmt: skip
    """Y = y + (low + (½ S + x)), the low words of y first, for `count` components of the state from q on, of the
    velocity from v on; `keep` their changes in the rows of x.
    """
    flat = flattened(work)
    nu, l = columns_at(coefficients, NU), work[at.l + v : at.l + v + count]
    stages, moved = work[at.y + q : at.y + q + count], work[at.x + v : at.x + v + count]
    inverse = flat[at.inverse + v : at.inverse + v + count]
    largest = nu[0] * 0.0
    total = largest
    for m in range(count):
        new = ld(y, q + m) + (ld(low, q + m) + (0.5 * sum_of_stages(l, m) + product(nu, l, m)))
        step = new - ld(stages, m)
        if keep:
            st(moved, m, step)
        change = absolute(step) * ld(inverse, m)
        st(stages, m, new)
        largest, total = maximum(largest, change), total + change
    return largest + total * 0.0


@kernel
def refresh_centred(y: Any, low: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any) -> Any:
    """x and Y, factor by factor; their largest change."""
    at = room(y.shape[0], dimension(table))
    largest = ld(in_rows_of_lanes(coefficients[B : B + STAGES]), 0) * 0.0
    for r in range(table.shape[0]):
        q, v, count = table[r, Q_OFFSET], table[r, V_OFFSET], table[r, N_V]
        if table[r, KIND] == RN:
            change = refresh_flat(y, low, q, v, count, at, coefficients, work, False)
        else:
            change = refresh_coordinates(v, v + count, at, coefficients, work)
            place_centred(y, low, table, r, options, at, field_work, work)
        largest = maximum(largest, change) + change * 0.0
    return largest


@helper
def refresh_coordinates(first: Any, last: Any, at: Any, coefficients: Any, work: Any) -> Any:
    """x = Σ ν L and ½ S of components first … last − 1; the largest change of both, in every stage."""
    flat = flattened(work)
    nu, l, x = columns_at(coefficients, NU), work[at.l : at.l + last], work[at.x : at.x + last]
    inverse, half = flat[at.inverse : at.inverse + last], flat[at.half : at.half + last]
    largest = nu[0] * 0.0
    total = largest
    for m in range(first, last):
        new, h = product(nu, l, m), 0.5 * sum_of_stages(l, m)
        change = (absolute(new - ld(x, m)) + absolute(h - ld(half, m))) * ld(inverse, m)
        st(x, m, new)
        st(half, m, h)
        largest, total = maximum(largest, change), total + change
    return largest + total * 0.0


@helper
def place(y: Any, low: Any, table: Any, options: Any, at: Any, field_work: Any, work: Any) -> None:
    """The stages of the factors of the table from x and ½ S."""
    for r in range(table.shape[0]):
        if table[r, KIND] == RN:
            place_flat(y, low, table[r, Q_OFFSET], table[r, V_OFFSET], table[r, N_V], at, work)
        else:
            place_centred(y, low, table, r, options, at, field_work, work)


@helper
def place_flat(y: Any, low: Any, q: Any, v: Any, count: Any, at: Any, work: Any) -> None:
    """Y = y + (low + (½ S + x)) of the components of Rⁿ from q on, velocities from v on."""
    flat = flattened(work)
    for k in range(count):
        step = ld(low, q + k) + (ld(flat, at.half + v + k) + ld(work, at.x + v + k))
        st(work, at.y + q + k, ld(y, q + k) + step)


@helper
def place_centred(y: Any, low: Any, table: Any, r: Any, options: Any, at: Any, field_work: Any, work: Any) -> None:
    """The centre m = y τ(½ S) and Y = m τ(x) of factor r, with the low words of y and of the centre."""
    flat, tau, row = flattened(work), options[TAU], table[r : r + 1]
    first, n, d = table[r, Q_OFFSET], table[r, Q_OFFSET] + table[r, N_Q], table[r, V_OFFSET] + table[r, N_V]
    x, half = work[at.x : at.x + d], flat[at.half : at.half + d]
    state, value = flat[at.state : at.state + n], flat[at.value : at.value + d]
    middle, middle_low = flat[at.middle : at.middle + n], flat[at.middle_low : at.middle_low + n]
    displacement(row, tau, y, half, middle_low)
    centre, moved, stages = work[at.centre : at.centre + n], work[at.moved : at.moved + n], work[at.y : at.y + n]
    for i in range(first, n):
        step = ld(low, i) + ld(middle_low, i)
        m = ld(y, i) + step
        st(middle, i, m)
        st(middle_low, i, step - (m - ld(y, i)))
        st(centre, i, m)
    if field_work.ndim == 3:
        displacement(row, tau, centre, x, moved)
    else:
        for i in range(STAGES):
            take(x, i, value)
            displacement(row, tau, middle, value, state)
            put_from(first, state, moved, i)
    for i in range(first, n):
        st(stages, i, ld(middle, i) + (ld(middle_low, i) + ld(moved, i)))


# --- one substep ------------------------------------------------------------------------------------------------------


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
            size = size_of(y, options, m) + absolute(sum_of_stages(l, m))
            if size == size:
                st(scale, m, maximum(ld(scale, m), size))
            largest = maximum(largest, ld(scale, m))
        for m in range(first, last):
            size = ld(scale, m) + 1e-9 * largest
            st(inverse, m, 1.0 / size if size > 0.0 else 1.0)


@helper
def size_of(y: Any, options: Any, m: Any) -> Any:
    """How large the state behind component m of the velocity is; 1 for turns."""
    first, count = options[SIZES + 2 * m], options[SIZES + 2 * m + 1]
    total = ld(y, 0) * 0.0
    for i in range(first, first + count):
        total = total + absolute(ld(y, i))
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
    refresh(y, low, table, coefficients, options, field_work, work)
    if not options[FLAT]:
        for _ in range(GEOMETRY):
            into_chart(y.shape[0], table, options, field_work, work)
            refresh(y, low, table, coefficients, options, field_work, work)


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
