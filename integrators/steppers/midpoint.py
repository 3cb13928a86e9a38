"""The midpoint rule on a group: symplectic on T*G, symmetric everywhere, solved to rounding.

On canonical problems (state (g, p) on T*G, left-trivialised; field (ξ, ṗ) with ṗ = ad_ξᵀ p + f) it is the variational
one-stage Gauss method with the chart at the middle of the step,

    Y = (h/2) ξ,  g_c = g₀ τ(Y),     n₀ = Ad_τ(Y)ᵀ p₀,  n₁ = n₀ + h f,     P = ½ [dτ_right(Y)ᵀ n₁ + dτ_left(Y)ᵀ n₀],
    (ξ, f) at (t + h/2, g_c, P),     g₁ = g₀ τ(Y) τ(Y),  p₁ = Ad_τ(Y)ᵀ n₁,

which on Rⁿ is the implicit midpoint rule.  The update of p consists of group actions: momentum maps are exact.
On other problems it is the Lie midpoint rule: ξ at (t + h/2, y₀ τ(Y)), y₁ = y₀ τ(Y) τ(Y).

The equations are solved from the values extrapolated over the last steps, by fixed-point iteration, which contracts by
about h|ω|/2; where it does not converge, or slowly, by Newton's method (`integrators.steppers.newton`), with which the
next steps then begin.  Either goes on until rounding stops it: the result is the same.  Newton's matrix is 1 − (h/2) J
for the slopes (ξ, ṗ), with ṗ = f + ad_ξᵀ P at fixed P.  Sources: Bou-Rabee and Marsden 2009 (variational
methods on groups); Hairer, McLachlan, Razakarivony 2008 (why the iteration must end in rounding).

coefficients
    Q = 1 and R = 1/2 of Newton's method.
options
    largest number of iterations; number of past values to extrapolate from; the block of R (2); the pattern of the
    problem.
own rows
    z = (ξ, f) at the middle; the newly evaluated one; state at the middle; Y; n₀; n₁; scratch; differences of past z;
    the memory of Newton's method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import absorb
from integrators.layout import (
    CANONICAL,
    COMPENSATION,
    ERROR,
    EVALUATIONS,
    HISTORY,
    ITERATIONS,
    OWN_OPTIONS,
    OWN_ROWS,
    POSITIONS,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.sparsity import HALF, per
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, dimension, leaves_chart
from integrators.steppers.composition import in_parts
from integrators.steppers.iteration import FLOOR, extrapolate, goes_on, move, nought, relative, remember
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    ROUNDS,
    attempts,
    begin_stiff,
    conclude,
    damp,
    damping,
    errors_of,
    exact,
    explain,
    failure,
    judge,
    levels,
    linearise,
    linearise_where_needed,
    newton_rows,
    of_another_branch,
    remember_stiffness,
    share,
    steer,
    tell_again,
)
from integrators.steppers.newton_systems import correct, factorise, room
from liegroup.compile import (
    absolute,
    any_,
    entry,
    helper,
    integer,
    joined,
    kernel,
    ld,
    magnitude,
    never,
    rare,
    scalar_of,
    select,
    st,
)
from liegroup.compile.scalars import maximum
from liegroup.table import (
    EXP,
    bracket_transpose,
    coadjoint,
    coadjoint_difference,
    dtau_left_transpose,
    dtau_right_transpose,
    retract,
)

LIMIT, PAST, BLOCK = range(OWN_OPTIONS, OWN_OPTIONS + 3)
Z, NEW, MIDDLE, Y, N0, N1, SCRATCH, PASTS = range(OWN_ROWS, OWN_ROWS + 8)


@kernel
def evaluate(
    field: Any,
    t: Any,
    h: Any,
    y: Any,
    table: Any,
    options: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
) -> None:
    """The field at the middle of the step that z describes, into row NEW: (ξ, f) on canonical problems, else ξ."""
    n, d = y.shape[0], dimension(table)
    z, new, middle, half = work[Z][:d], work[NEW][:d], work[MIDDLE][:n], work[Y][:d]
    tau = options[TAU]
    for i in range(d):
        st(half, i, (0.5 * h) * ld(z, i))
    if not options[CANONICAL]:
        retract(table, tau, y, half, middle)
        field(t + 0.5 * h, middle, parameters, structure, field_work, new)
        return
    k = table.shape[0] - 1
    group, g, m = table[:k], table[k, 1], table[k, 4]
    n0, n1, scratch = work[N0][:m], work[N1][:m], work[SCRATCH][:m]
    coadjoint(group, tau, half, y[g:], n0)
    for i in range(m):
        st(n1, i, ld(n0, i) + h * ld(z, m + i))
    retract(group, tau, y, half, middle)
    dtau_right_transpose(group, tau, half, n1, scratch)
    dtau_left_transpose(group, tau, half, n0, n1)
    for i in range(m):
        st(middle, g + i, 0.5 * (ld(scratch, i) + ld(n1, i)))
    field(t + 0.5 * h, middle, parameters, structure, field_work, new)
    bracket_transpose(group, new, middle[g:], scratch)
    for i in range(m):
        st(new, m + i, ld(new, m + i) - ld(scratch, i))


@kernel
def iterate(
    field: Any, t: Any, h: Any, y: Any, table: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
    counters: Any, going: Any,
) -> Any:  # fmt: skip
    """Iterate z to rounding where `going`; each lane stops by itself.  Returns 1 where it is not solved, and the
    rounds that were taken.
    """
    d = dimension(table)
    m = table[table.shape[0] - 1, 4] if options[CANONICAL] else d
    z, new, often = work[Z][:d], work[NEW][:d], options[BLOCK + 2 :][per(d)].view(np.float64)
    zero = ld(y, 0) * 0.0
    best, speed, force, lost, rounds = zero + 1.0, zero, zero, zero, zero
    for i in range(d - m):
        force = maximum(force, often[m + i] * magnitude(ld(y, y.shape[0] - m + i)))
    step = absolute(h)
    for _ in range(options[LIMIT]):
        evaluate(field, t, h, y, table, options, parameters, structure, field_work, work)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        change, size = move(z, new, 0, m, often, going)
        speed = maximum(speed, size)
        residual = relative(change, speed)
        change, size = move(z, new, m, d, often, going)
        force = maximum(force, step * size)
        residual = maximum(residual, relative(step * change, force)) + nought(new, d) + 0.0 * force
        rounds = rounds + going
        lost = select((going > 0.0) & (residual != residual), zero + 1.0, lost)
        going, best = goes_on(select(lost > 0.0, zero, going), residual, best), residual
        if not any_(going > 0.0):
            break
    st(work[ERROR], 0, best)
    return select((going > 0.0) & (best > FLOOR), zero + 1.0, lost), rounds


@helper
def memory_row(options: Any) -> Any:
    """Where the memory of Newton's method begins."""
    return PASTS + options[PAST]


@helper
def _turn(sign: Any, x: Any, table: Any, options: Any, work: Any) -> None:
    """(ξ, f) as (ξ, ṗ) of canonical problems, ṗ = f + ad_ξᵀ P (sign 1), and back (sign −1)."""
    if options[CANONICAL]:
        k = table.shape[0] - 1
        g, m = table[k, 1], table[k, 4]
        scratch = work[SCRATCH][:m]
        bracket_transpose(table[:k], x, work[MIDDLE][g : g + m], scratch)
        for i in range(m):
            st(x, m + i, ld(x, m + i) + sign * ld(scratch, i))


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, table: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual of (ξ, ṗ) into the memory; returns its largest share of what rounding may leave."""
    d, pattern = dimension(table), options[BLOCK + 2 :]
    at, largest = room(1, d, pattern[HALF]), ld(y, 0) * 0.0
    for i in range(d):
        st(memory, at.change + i, absolute(h * ld(work[Z], i)))
    levels(memory, 1, d, pattern)
    evaluate(field, t, h, y, table, options, parameters, structure, field_work, work)
    for i in range(d):
        st(memory, at.residual + i, ld(work[NEW], i) - ld(work[Z], i))
    _turn(1.0, memory, table, options, work)
    for i in range(d):
        r = ld(memory, at.residual + i)
        largest = maximum(largest, share(memory, 1, d, i, r, ld(work[Z], i), ld(work[NEW], i)))
    return largest + nought(memory, d)


@rare(never, lambda field, t, h, y, *others: scalar_of(y))
def newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, going: Any, history: Any, damped: Any,
) -> Any:  # fmt: skip
    """Solve for z to rounding where `going`; returns 1 where it is not solved."""
    d, n = dimension(table), y.shape[0]
    Q, R, blocks, pattern = coefficients[:1], coefficients[1:], options[BLOCK:], options[BLOCK + 2 :]
    memory, at = joined(work[memory_row(options) :]), room(1, d, pattern[HALF])
    z, x, asked, zero, positions = work[Z][:d], work[MIDDLE][:n], going, ld(y, 0) * 0.0, options[POSITIONS]
    linearise_where_needed(
        field, t, h, y, table, positions, pattern, parameters, structure, field_work, memory, 1, d, R, blocks, x,
        going, history, counters,
    )  # fmt: skip
    best, least, lost, rounds, renewed = zero + 1.0, zero + 1e300, zero, zero, zero
    sigma, shift = zero + 1.0 / absolute(h), zero
    for m in range(d):
        st(memory, at.apart + m, zero)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS):
        ratio = _residual(field, t, h, y, table, options, parameters, structure, field_work, work, memory)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewed)
        if damped:
            where = going
        if any_(where > 0.0):
            renewed = renewed + where
            linearise(
                field, t, x, table, positions, pattern, parameters, structure, field_work, memory, 1, d,
                work[NEW][:n], where, counters,
            )  # fmt: skip
            if damped:
                shift = damping(memory, 1, d, pattern, sigma, going)
                damp(memory, 1, d, pattern, shift)
            factorise(h, memory, 1, d, R, blocks, pattern)
        correct(h, memory, 1, d, Q, R, blocks, pattern)
        if damped:
            damp(memory, 1, d, pattern, -shift)
            sigma = steer(work, Z, memory, 1, d, damped, sigma)
        _turn(-1.0, memory, table, options, work)
        for i in range(d):
            st(z, i, select(going > 0.0, ld(z, i) + ld(memory, at.residual + i), ld(z, i)))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, memory, 1, d, asked, going, lost, rounds, best, least)
    if damped:
        unsolved = maximum(unsolved, of_another_branch(h * R[0], memory, 1, d, R, pattern, asked))
    return unsolved


@kernel
def start(
    field: Any, t: Any, y: Any, table: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any, known: Any, going: Any,
) -> None:  # fmt: skip
    """First guess of z, where `going`: extrapolated over `known` past steps, else of the field at the start."""
    d = dimension(table)
    z, new = work[Z][:d], work[NEW][:d]
    if known > 0:
        extrapolate(work, NEW, PASTS, known, d)
    else:
        field(t, y, parameters, structure, field_work, new)
        counters[EVALUATIONS] += 1
        if options[CANONICAL]:
            k = table.shape[0] - 1
            g, m = table[k, 1], table[k, 4]
            bracket_transpose(table[:k], new, y[g:], work[SCRATCH])
            for i in range(m):
                st(new, m + i, ld(new, m + i) - ld(work[SCRATCH], i))
    for i in range(d):
        st(z, i, select(going > 0.0, ld(new, i), ld(z, i)))


@rare(never, lambda *types: integer)
def solve_otherwise(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, left: Any, stiff: Any,
) -> Any:  # fmt: skip
    """z by Newton's method where it is `left` by the iteration, and where a step is `stiff`; returns a status."""
    d, known = dimension(table), min(counters[HISTORY], options[PAST])
    if any_(left > 0.0):
        start(field, t, y, table, options, parameters, structure, field_work, work, counters, known, left)
    left = select(stiff > 0.0, stiff, left)
    if any_(left > 0.0):
        left = newton(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left,
            counters[HISTORY], 0,
        )  # fmt: skip
    if any_(left > 0.0) and known > 0:
        start(field, t, y, table, options, parameters, structure, field_work, work, counters, 0, left)
        left = newton(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left, 0, 0
        )
    if any_(left > 0.0) and any_(stiff > 0.0):  # long steps of what is not stiff
        residual = ld(work[ERROR], 0)
        start(field, t, y, table, options, parameters, structure, field_work, work, counters, known, left)
        left, _rounds = iterate(field, t, h, y, table, options, parameters, structure, field_work, work, counters, left)
        st(work[ERROR], 0, select(left > 0.0, residual, ld(work[ERROR], 0)))
    errors = errors_of(work)
    for damped in range(1, attempts(d, options[BLOCK + 2 + HALF], counters)):
        if any_(left > 0.0):
            start(field, t, y, table, options, parameters, structure, field_work, work, counters, 0, left)
            left = newton(
                field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left,
                0, damped,
            )  # fmt: skip
    if any_(left > 0.0):
        tell_again(work, left, errors)
        return failure(work)
    return OK


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """z, by iteration where it converges, by Newton's method where it does not or where the steps before tell."""
    d, one, row = dimension(table), ld(y, 0) * 0.0 + 1.0, memory_row(options)
    known = min(counters[HISTORY], options[PAST])
    stiff = begin_stiff(work, row, 1, d, one, 0)
    start(field, t, y, table, options, parameters, structure, field_work, work, counters, known, one)
    left, rounds = one - stiff, 0.0 * one
    if any_(left > 0.0):
        left, rounds = iterate(field, t, h, y, table, options, parameters, structure, field_work, work, counters, left)
    remember_stiffness(work, row, 1, d, left, rounds)
    if any_(left > 0.0) or any_(stiff > 0.0):
        return solve_otherwise(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left, stiff
        )
    return OK


@helper
def finish(h: Any, y: Any, low: Any, table: Any, options: Any, work: Any, counters: Any) -> None:
    """y <- the state at the end of the step, from z, by increments."""
    n, d = y.shape[0], dimension(table)
    tau, compensation = options[TAU], options[COMPENSATION]
    z, half, middle = work[Z][:d], work[Y][:d], work[MIDDLE][:n]
    for i in range(d):
        st(half, i, (0.5 * h) * ld(z, i))
    group = table
    if options[CANONICAL]:
        k = table.shape[0] - 1
        group, g, m = table[:k], table[k, 1], table[k, 4]
        n1, scratch = work[N1][:m], work[SCRATCH][:m]
        coadjoint_difference(group, tau, half, y[g:], scratch)
        for i in range(m):
            st(scratch, i, ld(scratch, i) + h * ld(z, m + i))
            st(n1, i, ld(y, g + i) + ld(scratch, i))
        coadjoint_difference(group, tau, half, n1, n1)
        for i in range(m):
            st(middle, g + i, ld(scratch, i) + ld(n1, i))
        absorb(y, low, middle, g, g + m, compensation)
    if tau == EXP:
        for i in range(d):
            st(half, i, h * ld(z, i))
    else:
        advance_state(group, tau, y, low, half, middle, compensation, counters)
    advance_state(group, tau, y, low, half, middle, compensation, counters)


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the midpoint rule."""
    d = dimension(table)
    status = solve(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(table, work[Y]):
        status = CHART_LEFT
    if status == OK:
        counters[HISTORY] = min(counters[HISTORY] + 1, options[PAST])
        remember(work, Z, PASTS, counters[HISTORY], d)
        finish(h, y, low, table, options, work, counters)
    return status


def _rows(options: NDArray[np.int64]) -> int:
    return PASTS - OWN_ROWS + int(options[1])


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    return OWN_ROWS + _rows(options) + newton_rows(1, problem, columns), columns


STEPPER = Stepper(
    "midpoint", step, _rows, maps=("exp", "cayley"), prepare=exact, evaluates="linearised", shape=_shape,
    explain=explain, in_parts=in_parts(step),
)  # fmt: skip


def midpoint(name: str = "MIDPOINT", iterations: int = 100, past: int = 4, **changes: object) -> Method:
    """The midpoint rule; `past` values are extrapolated to start the iteration, which goes over to Newton's method
    after at most `iterations`.
    """
    return Method(
        name=name,
        stepper=STEPPER,
        order=2,
        coefficients=np.array([1.0, 0.5]),
        options=np.array([iterations, past, 1, 0]),
        symmetric=True,
        symplectic=True,
        source="Bou-Rabee and Marsden 2009",
        **changes,  # type: ignore[arg-type]
    )
