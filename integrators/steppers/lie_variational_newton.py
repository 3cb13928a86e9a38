"""The equations of a variational Gauss step on T*G, solved by Newton's method (`integrators.steppers.newton`).

In the chart of the step (x, P) are canonical coordinates, with slopes (K, N), and the method in them is that of the
tableau; what its matrix 1 − h a ⊗ J leaves out is small with the step and not stiff.  Where that does not converge the
stages have derivatives of their own, and where that does not either it is damped, as in
`integrators.steppers.newton_of_stages`.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.matrices import decompose, solve_factors
from integrators.layout import EVALUATIONS, ITERATIONS, OWN_ROWS, TAU
from integrators.problem.sparsity import HALF
from integrators.steppers.iteration import goes_on, nought
from integrators.steppers.lie_variational_stages import BLOCKS, PAST, STAGES, centre, own, stage
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    ROUNDS,
    conclude,
    damp,
    damping,
    judge,
    least_counted,
    levels,
    linearise,
    linearise_where_needed,
    next_damping,
    of_another_branch,
    share,
    take_back,
    turned,
)
from integrators.steppers.newton_of_stages import ROUNDS as OF_STAGES
from integrators.steppers.newton_of_stages import rows_of_stage
from integrators.steppers.newton_systems import correct, factorise, room
from liegroup.compile import absolute, any_, helper, joined, kernel, ld, never, rare, scalar_of, select, st
from liegroup.compile.scalars import maximum

LOOPS = "short"


@helper
def memory_row(options: Any) -> Any:
    """Where the memory of Newton's method begins."""
    return own(options[STAGES])[9] + 3 * options[STAGES] * options[PAST]


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, group: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual of (K, N) of all stages into the memory; f and N keep the difference that the equations give them.
    Returns the largest share of what rounding may leave.
    """
    s, tau, d = options[STAGES], options[TAU], 2 * m
    pattern = options[BLOCKS + 2 * s :]
    new, at, zero = own(s)[1], room(s, d, pattern[HALF]), ld(y, 0) * 0.0
    for row in range(2):
        for k in range(m):
            reach = zero
            for i in range(s):
                reach = maximum(reach, absolute(h * ld(work[OWN_ROWS + 3 * i + row], k)))
            st(memory, at.change + row * m + k, reach)
    levels(memory, s, d, pattern)
    centre(h, y, group, tau, m, coefficients, s, work)
    largest = zero
    for i in range(s):
        stage(field, t, h, y, i, group, tau, m, coefficients, s, parameters, structure, field_work, work)
        for row in range(2):
            for k in range(m):
                slope, value = ld(work[OWN_ROWS + 3 * i + row], k), ld(work[new + row], k)
                st(memory, at.residual + i * d + row * m + k, value - slope)
                largest = maximum(largest, share(memory, s, d, row * m + k, value - slope, slope, value))
        for k in range(m):
            apart = ld(work[new + 2], k) - ld(work[new + 1], k)
            st(memory, at.apart + i * m + k, apart)
    return largest + nought(memory, s * d)


@kernel
def _move(s: Any, m: Any, work: Any, memory: Any, at: Any, going: Any) -> None:
    """(K, N) of all stages moved by the correction in the place of the residual, where `going`, and f by N."""
    for i in range(s):
        for row in range(2):
            for k in range(m):
                z = ld(work[OWN_ROWS + 3 * i + row], k)
                change = ld(memory, at.residual + (2 * i + row) * m + k)
                st(work[OWN_ROWS + 3 * i + row], k, select(going > 0.0, z + change, z))
        for k in range(m):
            f = ld(work[OWN_ROWS + 3 * i + 1], k) + ld(memory, at.apart + i * m + k)
            st(work[OWN_ROWS + 3 * i + 2], k, select(going > 0.0, f, ld(work[OWN_ROWS + 3 * i + 2], k)))


@kernel
def _steer(s: Any, m: Any, work: Any, memory: Any, at: Any, attempt: Any, sigma: Any) -> Any:
    """The damping of the next round (`integrators.steppers.newton.steer`); the corrections of this one and of that
    before wait among the residuals and behind the memory.
    """
    back, steady = 0.0 * sigma, 0.0 * sigma
    for i in range(s):
        for row in range(2):
            for k in range(m):
                place = (2 * i + row) * m + k
                slope, level = ld(work[OWN_ROWS + 3 * i + row], k), ld(memory, at.level + row * m + k)
                now, before = ld(memory, at.residual + place), ld(memory, at.end + place)
                back, steady = turned(now, before, least_counted(slope, level, attempt), back, steady)
    take_back(memory[at.residual :], memory[at.end :], 2 * s * m, back)
    return next_damping(sigma, back, steady)


@rare(never, lambda field, t, h, y, *others: scalar_of(y))
def newton_of_stages(
    field: Any, t: Any, h: Any, y: Any, table: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, going: Any, damped: Any,
) -> Any:  # fmt: skip
    """The same with a derivative for every stage, damped or not; returns 1 where the stages are not solved."""
    s, d, n, group = options[STAGES], 2 * m, y.shape[0], table[: table.shape[0] - 1]
    pattern, b = options[BLOCKS + 2 * s :], coefficients[2 * s * s : 2 * s * s + s]
    if pattern[HALF] >= 0:
        return going
    memory, at = joined(work[memory_row(options) :]), room(s, d, pattern[HALF])
    x, scratch = work[own(s)[7]][:n], work[own(s)[8]][:n]
    asked, zero = going, ld(y, 0) * 0.0
    best, least, lost, rounds, sigma = zero + 1.0, zero + 1e300, zero, zero, zero + 1.0 / absolute(h)
    for k in range(s * d):
        st(memory, at.end + k, zero)
    for _ in range(DAMPED_ROUNDS if damped else OF_STAGES):
        ratio = _residual(
            field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, memory
        )
        counters[EVALUATIONS] += 2 * s
        counters[ITERATIONS] += 1
        going, lost, rounds, _where = judge(ratio, going, lost, rounds, best, zero)
        if not any_(going > 0.0):
            break
        for i in range(s):
            stage(field, t, h, y, i, group, options[TAU], m, coefficients, s, parameters, structure, field_work, work)
            linearise(
                field, t + coefficients[2 * s * s + s + i] * h, x, table, 1, pattern, parameters, structure, field_work,
                memory, s, d, scratch, going, counters,
            )  # fmt: skip
            shift = damping(memory, s, d, pattern, sigma, going) if damped else zero
            damp(memory, s, d, pattern, shift)
            rows_of_stage(h, memory, s, d, i, coefficients, b, 1)
            damp(memory, s, d, pattern, -shift)
        decompose(memory[at.factors :], s * d, memory[at.pivots :])
        solve_factors(memory[at.factors :], s * d, memory[at.pivots :], memory[at.residual :])
        if damped:
            sigma = _steer(s, m, work, memory, at, damped, sigma)
        _move(s, m, work, memory, at, going)
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, memory, s, d, asked, going, lost, rounds, best, least)
    if damped:  # J is that of the last stage
        own_weight = 0.5 if s == 1 else 1.0
        unsolved = maximum(unsolved, of_another_branch(h * own_weight, memory, s, d, b, pattern, asked))
    st(memory, at.kept, select(asked > 0.0, zero, ld(memory, at.kept)))
    st(memory, at.step, zero)  # of the factors of all lanes
    return unsolved


@rare(never, lambda field, t, h, y, *others: scalar_of(y))
def newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, going: Any, history: Any,
) -> Any:  # fmt: skip
    """Solve for the stages to rounding where `going`, with 1 − h a ⊗ J for the slopes (K, N) of (x, P); returns 1
    where they are not solved.
    """
    s, d, n, group = options[STAGES], 2 * m, y.shape[0], table[: table.shape[0] - 1]
    pattern = options[BLOCKS + 2 * s :]
    memory, at, q = joined(work[memory_row(options) :]), room(s, d, pattern[HALF]), 2 * s * s + 2 * s
    Q, R = coefficients[q : q + s * s], coefficients[q + s * s :]
    blocks = options[BLOCKS:]
    x, asked, zero = work[own(s)[7]][:n], going, ld(y, 0) * 0.0
    linearise_where_needed(
        field, t, h, y, table, 1, pattern, parameters, structure, field_work, memory, s, d, R, blocks, x, going,
        history, counters,
    )  # fmt: skip
    best, least, lost, rounds, renewed = zero + 1.0, zero + 1e300, zero, zero, zero
    for _ in range(ROUNDS):
        ratio = _residual(
            field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, memory
        )
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewed)
        if any_(where > 0.0):
            renewed = renewed + where
            linearise(
                field, t, x, table, 1, pattern, parameters, structure, field_work, memory, s, d,
                work[own(s)[8]][:n], where, counters,
            )  # fmt: skip
            factorise(h, memory, s, d, R, blocks, pattern)
        correct(h, memory, s, d, Q, R, blocks, pattern)
        _move(s, m, work, memory, at, going)
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    return conclude(work, memory, s, d, asked, going, lost, rounds, best, least)
