"""One sweep of the stages of the Gauss method in lanes: the field at the stages, their L, and new stages from these."""

from __future__ import annotations

from typing import Any

from integrators.layout import ERROR, TAU
from integrators.steppers.common import dimension
from integrators.steppers.gauss_workspace import FLAT, KINETIC, NU, SIZES, STAGES, B, C, room
from liegroup.compile import flattened, helper, in_rows_of_lanes, kernel, ld, ld2, magnitude, st, st2
from liegroup.compile.scalars import maximum
from liegroup.table import KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, displacement, dtau_inverse_left


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
        change = magnitude(step) * ld(inverse, m)
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
        change = (magnitude(new - ld(x, m)) + magnitude(h - ld(half, m))) * ld(inverse, m)
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
