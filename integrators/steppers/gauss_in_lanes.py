"""The Gauss method of eight stages (order 16), its stages in eight lanes, and a free estimate of the error of a step.

    m = y τ(½ S),   xᵢ = Σⱼ νᵢⱼ Lⱼ,   Yᵢ = m τ(xᵢ),   Lᵢ = h bᵢ dτ_left(xᵢ)⁻¹ f(t + cᵢh, Yᵢ),   S = Σ Lⱼ,   y <- y τ(S)

On commutative groups Yᵢ = y + ½ S + xᵢ and nothing else is needed.  One call of the field in lanes evaluates all
stages; a field that reads the time, or has no lanes, is called stage by stage, to the same numbers.  The stages are
iterated from the polynomial of the step before until rounding ends their progress: the change must fail to become
smaller twice in a row.  On T*Rⁿ the method is symplectic; on other groups up to its truncation error, which is kept
below rounding.

The estimate is made of the highest Legendre coefficient hγ of the stages' derivatives,

    e = (1/h) Σₘ |hγ_q,m hγ_p,m|   (canonical: energy)      or      maxₘ (hγₘ/scaleₘ)²   (otherwise: relative).

A step whose estimate exceeds the tolerance, or whose stages are not found, is divided into halves, down to h/2¹²; the
steps become larger again where that is allowed.  Sources: Hairer, McLachlan and Razakarivony 2008; Antoñana, Makazaga
and Murua 2017, 2018 (antisymmetric form, starting values); Zanna, Engø and Munthe-Kaas 2001 (centred chart).

coefficients
    ν, b, c, highest, four matrices of first guesses (`integrators.tableaus.gauss_in_lanes`), the tolerance (J, or
    relative where the problem is not canonical; 0: `ROUNDING` of the energy at play, which follows, or 1).
options
    largest level, 1 for the fast stop, 1 if states are projected after every step, 1 if every factor of the group is
    commutative, then per component of the
    velocity the components (first, count) of the state that say how large it is.
own rows
    The clock, the report, substeps per level (two rows); ν; sizes and their inverses, S; the centre and
    its low words; one stage and its field; in lanes x, L, h b f, Y, and room for displacements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.layout import (
    CANONICAL,
    COMPENSATION,
    ERROR,
    EVALUATIONS,
    HISTORY,
    ITERATIONS,
    LAST_KNOWN,
    OWN_OPTIONS,
    OWN_ROWS,
    REJECTED,
    TAU,
)
from integrators.method import Method, Report, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_OF_STAGES_SIGNATURE, STEP_SIGNATURE
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, dimension, leaves_chart
from integrators.tableaus.gauss_in_lanes import gauss_in_lanes
from liegroup.arrays import real
from liegroup.compile import absolute, entry, helper, kernel, ld, ld2, st, st2
from liegroup.compile.scalars import maximum
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import FACTORS, KIND, displacement, dtau_inverse_left

STAGES = 8
LARGEST, FAST, PROJECTED, FLAT, SIZES = range(OWN_OPTIONS, OWN_OPTIONS + 5)
LEVELS = 12
"""A step is divided into at most 2¹² substeps."""
ROUNDING = 1e-16
"""Default tolerance of a substep, as a part of the energy at play."""
MOST_SWEEPS, UNSETTLED_SWEEPS = 400, 40
"""At most so many; so many if the change is not below `SETTLED` by then (more only serve numbers of many digits)."""
GEOMETRY = 3
"""Sweeps of the chart alone after a first guess of the body velocities."""
SETTLED = 1e-12
"""Relative to the sizes: changes below it may end in rounding."""
FAST_END = 1e-17
"""The fast stop ends where the next change is predicted below this."""

NU, B, C, HIGHEST, BELOW, AT_START, GUESSES = 0, 64, 72, 80, 88, 96, 104
SAME, DOWN, UP, AGAIN = (GUESSES + 64 * k for k in range(4))
TOLERANCE = GUESSES + 256
ENERGY = TOLERANCE + 1
SMOOTH, NOISE = 100.0, 1e-10
"""A smooth field differs at the end of one substep and the start of the next by less than this many times its two
highest coefficients, and this part of the sizes.
"""
FRESH = 0
"""Where a guess would stand: there is none, all stages begin with the field at the start."""

# the clock: what the next step goes on from
LEVEL, STEP_SIZE, AT_PLAY, GUESS, STEEPEST, TOLERATED, JUMP, JUMP_TIME = range(8)
"""The last four: largest estimate divided by the fifteenth power of the substep; the tolerance at last; the largest
jump of the field between two substeps, in units of what a smooth one allows, and the time of the first that is more.
"""
# the report of the run so far
LARGEST_ESTIMATE, ESTIMATE_SUM, SMALLEST, SMALLEST_TIME, MOST, REJECTIONS, SUBSTEP_COUNT, SWEEPS = range(8)
CLOCK_ROW, REPORT_ROW, LEVELS_ROW = OWN_ROWS, OWN_ROWS + 1, OWN_ROWS + 2
TOP = STAGES - 1
"""Behind the counts of the levels: the highest coefficients of the last substep, divided by its size."""
NU_ROWS = OWN_ROWS + 4
OWN = NU_ROWS + STAGES


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
    x, l, f, body     chart coordinates, L, the field, h b f, of all stages (d)
    y, centre, moved  the stages, the centre, displacements from it (n)
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
        x, x + d, x + 2 * d, x + 3 * d, y, y + n, y + 2 * n, y + 3 * n,
    )  # fmt: skip


# --- one sweep --------------------------------------------------------------------------------------------------------


@kernel
def evaluate(
    field: Any, t: Any, h: Any, n: Any, d: Any, coefficients: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
) -> None:  # fmt: skip
    """The field at the stages: at once in lanes, or one after the other at their own times."""
    at, flat = room(n, d), work.reshape((work.size,))
    y, f = work[at.y : at.y + n], work[at.f : at.f + d]
    if field_work.ndim == 3:
        field(t, y, parameters, structure, field_work, f)
    else:
        state, value = flat[at.state : at.state + n], flat[at.value : at.value + d]
        for i in range(STAGES):
            take(y, i, state)
            field(t + coefficients[C + i] * h, state, parameters, structure, field_work, value)
            put(value, f, i)


@helper
def weigh(h: Any, d: Any, coefficients: Any, f: Any, l: Any) -> None:
    """l = h b f."""
    weights = coefficients[B : B + STAGES].reshape((1, STAGES))
    hb = ld(weights, 0) * h
    for m in range(d):
        st(l, m, ld(f, m) * hb)


@helper
def body_row(at: Any, options: Any) -> Any:
    """First row of h b f: the L themselves where the group is commutative."""
    return at.l if options[FLAT] else at.body


@kernel
def into_chart(n: Any, table: Any, options: Any, field_work: Any, work: Any) -> None:
    """L = dτ_left(x)⁻¹ (h b f), unless they are the same; in lanes where the field is."""
    d, tau = dimension(table), options[TAU]
    at, flat = room(n, d), work.reshape((work.size,))
    if not options[FLAT]:
        x, body, l = work[at.x : at.x + d], work[at.body : at.body + d], work[at.l : at.l + d]
        if field_work.ndim == 3:
            dtau_inverse_left(table, tau, x, body, l)
        else:
            one, value = flat[at.total : at.total + d], flat[at.value : at.value + d]
            for i in range(STAGES):
                take(x, i, one)
                take(body, i, value)
                dtau_inverse_left(table, tau, one, value, value)
                put(value, l, i)


@helper
def take(stages: Any, i: Any, one: Any) -> None:
    """one = stage i."""
    for m in range(one.shape[0]):
        st(one, m, ld2(stages, m, i))


@helper
def put(one: Any, stages: Any, i: Any) -> None:
    """Stage i = one."""
    for m in range(one.shape[0]):
        st2(stages, m, i, ld(one, m))


@helper
def sum_of_stages(l: Any, m: Any) -> Any:
    """Σⱼ L of component m; reversing the order of the stages leaves it alone."""
    outer = (ld2(l, m, 0) + ld2(l, m, 7)) + (ld2(l, m, 1) + ld2(l, m, 6))
    return outer + ((ld2(l, m, 2) + ld2(l, m, 5)) + (ld2(l, m, 3) + ld2(l, m, 4)))


@helper
def product(columns: Any, l: Any, m: Any) -> Any:
    """Σⱼ (column j) L of component m, a register; reversing the order of the stages leaves it alone."""
    outer = (ld(columns, 0) * ld2(l, m, 0) + ld(columns, 7) * ld2(l, m, 7)) + (
        ld(columns, 1) * ld2(l, m, 1) + ld(columns, 6) * ld2(l, m, 6)
    )
    inner = (ld(columns, 2) * ld2(l, m, 2) + ld(columns, 5) * ld2(l, m, 5)) + (
        ld(columns, 3) * ld2(l, m, 3) + ld(columns, 4) * ld2(l, m, 4)
    )
    return outer + inner


@kernel
def refresh(y: Any, low: Any, table: Any, options: Any, field_work: Any, work: Any) -> Any:
    """Stages from the L; the largest change in units of the sizes, or NaN."""
    n, d = y.shape[0], dimension(table)
    at = room(n, d)
    if options[FLAT]:
        largest = refresh_flat(y, low, d, at, work)
    else:
        largest = refresh_centred(y, low, table, options, at, field_work, work)
    st(work, ERROR, largest)
    worst = ld2(work, ERROR, 0)
    for i in range(1, STAGES):
        worst = maximum(worst, ld2(work, ERROR, i))
    return worst


@helper
def refresh_flat(y: Any, low: Any, d: Any, at: Any, work: Any) -> Any:
    """Y = y + (low + (½ S + x)), the low words of y first."""
    flat = work.reshape((work.size,))
    nu, l, stages = work[NU_ROWS : NU_ROWS + STAGES], work[at.l : at.l + d], work[at.y : at.y + d]
    inverse = flat[at.inverse : at.inverse + d]
    largest = ld(nu, 0) * 0.0
    broken = largest
    for m in range(d):
        new = ld(y, m) + (ld(low, m) + (0.5 * sum_of_stages(l, m) + product(nu, l, m)))
        change = absolute(new - ld(stages, m)) * ld(inverse, m)
        st(stages, m, new)
        largest, broken = maximum(largest, change), broken + change * 0.0
    return largest + broken


@helper
def refresh_centred(y: Any, low: Any, table: Any, options: Any, at: Any, field_work: Any, work: Any) -> Any:
    """x, the centre and Y = m τ(x), with the low words of y and of the centre."""
    flat = work.reshape((work.size,))
    n, d, tau = y.shape[0], dimension(table), options[TAU]
    nu, l, x = work[NU_ROWS : NU_ROWS + STAGES], work[at.l : at.l + d], work[at.x : at.x + d]
    inverse, half = flat[at.inverse : at.inverse + d], flat[at.half : at.half + d]
    middle, middle_low = flat[at.middle : at.middle + n], flat[at.middle_low : at.middle_low + n]
    largest = ld(nu, 0) * 0.0
    broken = largest
    for m in range(d):
        new, h = product(nu, l, m), 0.5 * sum_of_stages(l, m)
        change = (absolute(new - ld(x, m)) + absolute(h - ld(half, m))) * ld(inverse, m)
        st(x, m, new)
        st(half, m, h)
        largest, broken = maximum(largest, change), broken + change * 0.0
    displacement(table, tau, y, half, middle_low)
    centre, moved, stages = work[at.centre : at.centre + n], work[at.moved : at.moved + n], work[at.y : at.y + n]
    state, value = flat[at.state : at.state + n], flat[at.value : at.value + d]
    for i in range(n):
        step = ld(low, i) + ld(middle_low, i)
        m = ld(y, i) + step
        st(middle, i, m)
        st(middle_low, i, step - (m - ld(y, i)))
        st(centre, i, m)
    if field_work.ndim == 3:
        displacement(table, tau, centre, x, moved)
    else:
        for i in range(STAGES):
            take(x, i, value)
            displacement(table, tau, middle, value, state)
            put(state, moved, i)
    for i in range(n):
        st(stages, i, ld(middle, i) + (ld(middle_low, i) + ld(moved, i)))
    return largest + broken


# --- one substep ------------------------------------------------------------------------------------------------------


@kernel
def measure(y: Any, table: Any, options: Any, work: Any) -> None:
    """Sizes of the components: the largest met so far in the run, and 1e-9 of the largest of positions or momenta."""
    n, d = y.shape[0], dimension(table)
    at, flat = room(n, d), work.reshape((work.size,))
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


@kernel
def begin(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> None:  # fmt: skip
    """First guess of the stages."""
    n, d = y.shape[0], dimension(table)
    at = room(n, d)
    l, body = work[at.l : at.l + d], body_row(at, options)
    lb = work[body : body + d]
    guess = int(work[CLOCK_ROW, GUESS].real)
    if guess == FRESH:
        stages = work[at.y : at.y + n]
        for i in range(n):
            st(stages, i, ld(y, i) + ld(low, i))
        evaluate(field, t, 0.0 * h, n, d, coefficients, parameters, structure, field_work, work)
        counters[EVALUATIONS] += STAGES
        weigh(h, d, coefficients, work[at.f : at.f + d], lb)
    else:
        columns = coefficients[guess : guess + STAGES * STAGES].reshape((STAGES, STAGES))
        for m in range(d):
            st(lb, m, product(columns, lb, m))
    if not options[FLAT]:
        for m in range(d):
            st(l, m, ld(lb, m))
    measure(y, table, options, work)
    refresh(y, low, table, options, field_work, work)
    if not options[FLAT]:
        for _ in range(GEOMETRY):
            into_chart(n, table, options, field_work, work)
            refresh(y, low, table, options, field_work, work)


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """Iterate the stages until rounding ends their progress; a status."""
    n, d = y.shape[0], dimension(table)
    begin(
        field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )  # fmt: skip
    at, report = room(n, d), work[REPORT_ROW]
    body = body_row(at, options)
    best, before, strikes, status, sweeps = 1e300, 1e300, 0, NOT_CONVERGED, 0
    for k in range(1, MOST_SWEEPS + 1):
        evaluate(field, t, h, n, d, coefficients, parameters, structure, field_work, work)
        weigh(h, d, coefficients, work[at.f : at.f + d], work[body : body + d])
        into_chart(n, table, options, field_work, work)
        change = refresh(y, low, table, options, field_work, work).real
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
        if strikes > 5 or slow or (k > 4 and change > before and change > 1e-9):
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


@helper
def turns_over(n: Any, table: Any, work: Any) -> bool:
    """Whether the step or a stage turns by π or more in its chart."""
    d = dimension(table)
    at, flat = room(n, d), work.reshape((work.size,))
    return leaves_chart(table, flat[at.half : at.half + d]) or leaves_chart(table, work[at.x : at.x + d])


@kernel
def estimate(h: Any, n: Any, table: Any, coefficients: Any, options: Any, work: Any) -> Any:
    """The error of the substep: of the energy, or relative and squared; and the energy at play."""
    d = dimension(table)
    at, flat = room(n, d), work.reshape((work.size,))
    l = work[at.l : at.l + d]
    total = 0.0
    if options[CANONICAL]:
        half = d // 2
        for m in range(half):
            total += abs(highest(coefficients, l, m).real * highest(coefficients, l, half + m).real)
        return total / abs(h.real)
    inverse = flat[at.inverse : at.inverse + d]
    for m in range(d):
        part = (highest(coefficients, l, m) * ld(inverse, m)).real
        total = max(total, part * part)
    return total


@helper
def highest(coefficients: Any, l: Any, m: Any) -> Any:
    """h times the highest Legendre coefficient of component m."""
    total = coefficients[HIGHEST] * (ld2(l, m, 0) - ld2(l, m, 7))
    for j in range(1, STAGES // 2):
        total = total + coefficients[HIGHEST + j] * (ld2(l, m, j) - ld2(l, m, STAGES - 1 - j))
    return total


@kernel
def jump(h: Any, n: Any, table: Any, coefficients: Any, options: Any, work: Any, follows: Any) -> Any:
    """How far the field at the start of the substep is from that at the end of the one before, if it `follows` one, in
    units of what a smooth field allows by the highest coefficients of the two; the field at its end is kept.
    """
    d = dimension(table)
    at, flat = room(n, d), work.reshape((work.size,))
    l = work[body_row(at, options) : body_row(at, options) + d]
    inverse, last = flat[at.inverse : at.inverse + d], flat[at.last : at.last + d]
    differs, top, size = 0.0, 0.0, abs(h.real)
    for m in range(d):
        start, end, below = 0.0 * ld(last, m), 0.0 * ld(last, m), 0.0 * ld(last, m)
        for j in range(STAGES):
            weight, x = coefficients[AT_START + j], ld2(l, m, j)
            start, end = start + weight * x, end + coefficients[AT_START + STAGES - 1 - j] * x
            below = below + coefficients[BELOW + j] * x
        differs = max(differs, abs(((start - h * ld(last, m)) * ld(inverse, m)).real))
        top = max(top, (abs(highest(coefficients, l, m).real) + abs(below.real)) * ld(inverse, m).real)
        st(last, m, end / h)
    before = ld2(work, LEVELS_ROW + 1, TOP).real * size
    st2(work, LEVELS_ROW + 1, TOP, top / size)
    return differs / (SMOOTH * max(top, before) + NOISE) if follows else 0.0


@kernel
def energy_at_play(n: Any, table: Any, work: Any) -> Any:
    """½ Σ |v p| at the stages, the largest."""
    d = dimension(table)
    at = room(n, d)
    half = d // 2
    y, f = work[at.y : at.y + n], work[at.f : at.f + d]
    total = absolute(ld(f, 0) * ld(y, n - half))
    for m in range(1, half):
        total = total + absolute(ld(f, m) * ld(y, n - half + m))
    st(work, ERROR, total)
    largest = 0.0
    for i in range(STAGES):
        largest = max(largest, 0.5 * ld2(work, ERROR, i).real)
    return largest


@kernel
def advance(y: Any, low: Any, table: Any, options: Any, work: Any, counters: Any) -> None:
    """y <- y τ(S), by the increment and with its low words."""
    n, d = y.shape[0], dimension(table)
    at, flat = room(n, d), work.reshape((work.size,))
    l, total = work[at.l : at.l + d], flat[at.total : at.total + d]
    for m in range(d):
        st(total, m, sum_of_stages(l, m))
    advance_state(
        table, options[TAU], y, low, total, flat[at.state : at.state + n], options[COMPENSATION], counters
    )  # fmt: skip


# --- the step and its substeps ----------------------------------------------------------------------------------------


@helper
def allowed(coefficients: Any, options: Any, work: Any) -> Any:
    """The tolerance of a substep."""
    given = coefficients[TOLERANCE]
    if given > 0.0:
        return given
    return ROUNDING * work[CLOCK_ROW, AT_PLAY].real if options[CANONICAL] else ROUNDING


@kernel
def wake(h: Any, coefficients: Any, work: Any, counters: Any) -> None:
    """Before a step: what an earlier one left is used if it was the step before and of the same size."""
    clock = work[CLOCK_ROW]
    for j in range(STAGES):
        for i in range(STAGES):
            st2(work, NU_ROWS + j, i, coefficients[NU + STAGES * j + i])
    if ld(clock, AT_PLAY) == 0.0:
        st(clock, AT_PLAY, coefficients[ENERGY])
    if counters[HISTORY] == 0 or ld(clock, STEP_SIZE) != h:
        st(clock, GUESS, FRESH)
        st(clock, STEP_SIZE, h)


@helper
def fifteenth(x: Any) -> Any:
    """x¹⁵."""
    square = x * x
    fourth = square * square
    return fourth * fourth * fourth * square * x


@kernel
def note(t: Any, h: Any, level: Any, error: Any, work: Any) -> None:
    """An accepted substep, in the report of the run."""
    report, size = work[REPORT_ROW], abs(h.real)
    st2(
        work,
        LEVELS_ROW + level // STAGES,
        level % STAGES,
        ld2(work, LEVELS_ROW + level // STAGES, level % STAGES) + 1.0,
    )
    st(report, LARGEST_ESTIMATE, max(ld(report, LARGEST_ESTIMATE).real, error))
    st(report, ESTIMATE_SUM, ld(report, ESTIMATE_SUM) + error)
    st(report, SUBSTEP_COUNT, ld(report, SUBSTEP_COUNT) + 1.0)
    steep = error / fifteenth(size)
    st(work[CLOCK_ROW], STEEPEST, max(ld(work[CLOCK_ROW], STEEPEST).real, steep))
    if ld(report, SMALLEST) == 0.0 or size < ld(report, SMALLEST).real:
        st(report, SMALLEST, size)
        st(report, SMALLEST_TIME, t)


@kernel
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step, in as many substeps as its estimate and its iteration demand."""
    n, clock, largest = y.shape[0], work[CLOCK_ROW], options[LARGEST]
    wake(h, coefficients, work, counters)
    level, whole, position = int(ld(clock, LEVEL).real), 1 << largest, 0
    follows = counters[HISTORY] > 0 and options[PROJECTED] == 0
    while position < whole:
        part = 1.0 / (1 << level)
        start, size = t + (position / whole) * h, part * h
        status = solve(
            field, start, size, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
        )  # fmt: skip
        error = estimate(size, n, table, coefficients, options, work)
        solved = status == OK and error == error
        if solved and options[CANONICAL]:
            st(clock, AT_PLAY, max(ld(clock, AT_PLAY).real, energy_at_play(n, table, work)))
        tolerance = allowed(coefficients, options, work)
        st(clock, TOLERATED, tolerance)
        if not (solved and (error <= tolerance or level == largest)):
            if level == largest:
                st(clock, GUESS, FRESH)
                return status if status != OK else NON_FINITE
            level += 1
            near = solved and error <= 1e14 * tolerance
            st(clock, GUESS, AGAIN if near else FRESH)
            counters[REJECTED] += 1
            st(work[REPORT_ROW], REJECTIONS, ld(work[REPORT_ROW], REJECTIONS) + 1.0)
        else:
            advance(y, low, table, options, work, counters)
            position += whole >> level
            note(start, size, level, error, work)
            rough = jump(size, n, table, coefficients, options, work, follows)
            if rough > 1.0 and ld(clock, JUMP).real <= 1.0:
                st(clock, JUMP_TIME, start)
            st(clock, JUMP, max(ld(clock, JUMP).real, rough))
            follows = True
            larger = level > 0 and position % (whole >> (level - 1)) == 0 and 131072.0 * error < tolerance
            st(clock, GUESS, UP if larger else SAME)
            if larger:
                level -= 1
    st(clock, LEVEL, float(level))
    counters[HISTORY] = 1
    counters[LAST_KNOWN] = 0
    return OK


@entry(STEP_SIGNATURE, STEP_OF_STAGES_SIGNATURE)
def gauss_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the Gauss method of eight stages."""
    return step(
        field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )  # fmt: skip


# --- the method -------------------------------------------------------------------------------------------------------


def prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The energy at play at the start; whether the group is commutative, and where the sizes of the state are read."""
    flat = bool(COMMUTATIVE[problem.table[:, KIND]].all()) and problem.n == problem.dimension
    sizes = [
        (0, 0) if size is None else (q + copy * FACTORS[kind].N_Q + size[0], size[1])
        for kind, q, _, n_q, _ in problem.table.tolist()
        for copy in range(n_q // FACTORS[kind].N_Q)
        for size in FACTORS[kind].SIZES
    ]
    projected = problem.projection is not None
    return np.array([_energy(problem)]), np.array([projected, flat, *np.ravel(sizes)], dtype=np.int64)


def _energy(problem: Problem) -> float:
    """|E| and ½ Σ |v p| at the starts of a canonical problem, the largest."""
    if not problem.canonical:
        return 1.0
    largest, half = 0.0, problem.dimension // 2
    for y in np.atleast_2d(problem.y0):
        largest = max(largest, 0.5 * float(np.abs(problem.velocity(0.0, y)[:half] * y[problem.n - half :]).sum()))
        if "energy" in problem.invariant_names:
            largest = max(
                largest, abs(float(problem.invariant_values(0.0, y)[problem.invariant_names.index("energy")]))
            )
    return largest if np.isfinite(largest) else 0.0


def shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the whole workspace."""
    return int(room(problem.n, problem.dimension).end), STAGES


def _rows(options: NDArray[np.int64]) -> int:
    """Rows that do not depend on the problem; `shape` knows the others."""
    return OWN - OWN_ROWS


def report(work: NDArray[np.float64]) -> Report:
    """How the steps were divided so far."""
    found, clock = work[REPORT_ROW].tolist(), work[CLOCK_ROW].tolist()
    levels = np.trim_zeros(work[LEVELS_ROW : LEVELS_ROW + 2].ravel()[: LEVELS + 1], "b")
    tried = found[SUBSTEP_COUNT] + found[REJECTIONS]
    steepest = clock[STEEPEST]
    return Report(
        levels=tuple(int(x) for x in levels),
        rejected=int(found[REJECTIONS]),
        smallest_substep=found[SMALLEST],
        smallest_at=found[SMALLEST_TIME],
        largest_estimate=found[LARGEST_ESTIMATE],
        estimate_sum=found[ESTIMATE_SUM],
        tolerance=clock[TOLERATED],
        recommended_step=(clock[TOLERATED] / steepest) ** (1 / 15) if steepest > 0.0 else float("inf"),
        sweeps=found[SWEEPS] / tried if tried else 0.0,
        most_sweeps=found[MOST],
        jump=clock[JUMP],
        jump_at=clock[JUMP_TIME],
    )


def tuned(method: Method, energy_tolerance: float | None, fast: bool) -> Method:
    """The method with another tolerance, and the fast stop; its name says so."""
    if energy_tolerance is not None:
        real(energy_tolerance, "energy_tolerance", "a positive number, or inf for undivided steps", lambda x: x > 0)
    said = ([] if energy_tolerance is None else [f"energy_tolerance={energy_tolerance!r}"]) + ["fast"] * fast
    return gauss_in_lanes_method(f"{method.name}[{', '.join(said)}]", energy_tolerance, fast)


GAUSS_IN_LANES = Stepper(
    "gauss_in_lanes",
    gauss_step,
    _rows,
    maps=("exp", "cayley"),
    prepare=prepare,
    shape=shape,
    stages_in_lanes=True,
    report=report,
    tuned=tuned,
)


def gauss_in_lanes_method(
    name: str = "GAUSS8", energy_tolerance: float | None = None, fast: bool = False, levels: int = LEVELS
) -> Method:
    """The Gauss method of eight stages, its stages in lanes.

    Parameters
    ----------
    energy_tolerance : float, optional
        Largest estimate of a substep: energy for canonical problems, in the units of the problem; for others the square
        of a relative error.  Default: 1e-16 of the energy at play (or 1e-16).  inf: the step is never divided.
    fast : bool
        End the iteration where the next change is predicted below 1e-17 of the sizes: up to a third faster, with a
        drift of rounding in long runs.
    levels : int
        A step is divided into at most 2^levels substeps.
    """
    tolerance = 0.0 if energy_tolerance is None else float(energy_tolerance)
    whole = tolerance == np.inf
    return Method(
        name=name,
        stepper=GAUSS_IN_LANES,
        order=16,
        coefficients=np.concatenate([gauss_in_lanes().packed(), [1e300 if whole else tolerance]]),
        options=np.array([0 if whole else levels, fast]),
        symmetric=True,
        symplectic=True,
        source="Hairer, McLachlan and Razakarivony 2008; Antoñana, Makazaga and Murua 2017",
    )
