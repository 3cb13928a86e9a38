"""Backward differentiation formulas of order k = 1 … 5 with fixed steps, on any product of groups; with variable ones
`integrators.steppers.bdf_variable`.

The formula is applied to the motion in the chart at the newest state, y(t) = yₙ τ(u(t)), with past states known there
from the increments wᵢ of the last steps:

    u₁₋ⱼ = τ⁻¹(τ(−wₙ) τ(−wₙ₋₁) …),   u₀ = 0,      Σⱼ αⱼ u₁₋ⱼ = h g(t + h, u₁),      g = dτ_left(u)⁻¹ f(t, y τ(u))
    Σⱼ αⱼ zʲ = Σ_{m ≤ k} (1 − z)ᵐ/m,      yₙ₊₁ = yₙ τ(u₁),      wₙ₊₁ = u₁

In every chart the motion solves an equation with a smooth right-hand side, so that the error of a step is that of the
formula on Rⁿ; a change of chart shifts all values by the same amount, which Σ αⱼ = 0 does not see, and turns them by
O(h): the order on every group is k.  The first k − 1 steps, and those after an event, are taken by Radau IIA of order
5.  Orders 1 and 2 are A-stable.  The others are stable for eigenvalues within 86.0°, 73.4° and 51.8° (k = 3, 4, 5) of
the negative axis: damped motions decay, springs with less damping than the cosine of the angle may grow, at hω of about
one the most (`growth`); such modes are doubts of a run.
Source: Hairer and Wanner 1996, V.1 and V.2; Wieloch and Arnold 2021 (on groups).

coefficients
    those of Radau IIA; Q = 1, R = 1/α₀, α₁/α₀ … αₖ/α₀.
options
    those of Radau IIA, the pattern of the problem, the block of R (2).
own rows
    those of Radau IIA and its memory; w (5); c; u; g; k; state; the memory of the iteration.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import (
    COMPENSATION,
    EVALUATIONS,
    HISTORY,
    ITERATIONS,
    OWN_ROWS,
    POSITIONS,
    STAGE,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.sparsity import HALF
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.bdf_variable import variable
from integrators.steppers.common import advance_state, clear, copy, dimension, keep_turns, leaves_chart
from integrators.steppers.implicit import implicit_rkmk
from integrators.steppers.implicit import solve as solve_stages
from integrators.steppers.implicit_newton import memory_row
from integrators.steppers.implicit_stages import BLOCKS, STAGES, accept
from integrators.steppers.implicit_stages import own as own_of_stages
from integrators.steppers.implicit_stages import own_rows as rows_of_stages
from integrators.steppers.iteration import goes_on, nought
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    ROUNDS,
    attempts,
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
    share,
    steer,
    tell_again,
)
from integrators.steppers.newton_systems import correct, factorise, room
from integrators.tableaus import RADAU_IIA
from liegroup.compile import absolute, any_, entry, helper, integer, joined, kernel, ld, never, rare, select, st
from liegroup.compile.scalars import maximum
from liegroup.table import dtau_inverse_left, increment, retract

LOOPS = "short"

START = 3
"""Stages of Radau IIA for the first steps."""
OF_START = START * START + 3 * START + 2 * START * START
"""Coefficients of Radau IIA."""
EXACT = BLOCKS + 2 * START
HIGHEST = 5


@helper
def order_of(coefficients: Any) -> Any:
    """The order k of the formula."""
    return coefficients.shape[0] - OF_START - 2


@helper
def rows_for(options: Any, d: Any, columns: Any) -> Any:
    """Rows: the increments w, c, u, g, k, state, memory of the iteration."""
    k = HIGHEST
    first = memory_row(options) + (room(options[STAGES], d, options[EXACT + HALF]).end + columns - 1) // columns
    return first, first + k, first + k + 1, first + k + 2, first + k + 3, first + k + 4, first + k + 5


@kernel
def _past(y: Any, table: Any, coefficients: Any, options: Any, work: Any) -> None:
    """c = −Σ_{j ≥ 2} (αⱼ/α₀) u₁₋ⱼ, and the slope at which u₁ continues the past, as the first guess of k."""
    d, n, tau, order = dimension(table), y.shape[0], options[TAU], order_of(coefficients)
    past, offset, exponent, value, slope, state, _ = rows_for(options, d, work.shape[1])
    c, u, x, k, back = work[offset][:d], work[exponent][:d], work[state][:n], work[slope][:d], work[value][:d]
    ratios = coefficients[OF_START + 2 :]
    clear(c)
    clear(k)
    clear(u)
    copy(y, x)
    for j in range(2, order + 1):
        for m in range(d):
            st(back, m, -ld(work[past + j - 2], m))
        retract(table, tau, x, back, x)
        for m in range(d):
            st(back, m, ld(back, m) + ld(u, m))
        increment(table, tau, y, x, u)
        keep_turns(table, back, u)
        sign, binomial = -1.0, 1.0
        for i in range(1, j + 1):
            sign, binomial = -sign, binomial * (order + 1.0 - i) / i
        for m in range(d):
            st(c, m, ld(c, m) - ratios[j - 1] * ld(u, m))
            st(k, m, ld(k, m) + sign * binomial * ld(u, m))


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual of k at u = c + (h/α₀) k; returns its largest share of what rounding may leave."""
    d, n, tau = dimension(table), y.shape[0], options[TAU]
    _, offset, exponent, value, slope, state, _ = rows_for(options, d, work.shape[1])
    u, g, k, x, beta = work[exponent][:d], work[value][:d], work[slope][:d], work[state][:n], coefficients[OF_START + 1]
    pattern = options[EXACT:]
    at, largest = room(1, d, pattern[HALF]), ld(y, 0) * 0.0
    for m in range(d):
        st(u, m, ld(work[offset], m) + (h * beta) * ld(k, m))
        st(memory, at.change + m, maximum(absolute(h * ld(k, m)), absolute(ld(u, m))))
    levels(memory, 1, d, pattern)
    retract(table, tau, y, u, x)
    field(t + h, x, parameters, structure, field_work, g)
    dtau_inverse_left(table, tau, u, g, g)
    for m in range(d):
        r = ld(g, m) - ld(k, m)
        st(memory, at.residual + m, r)
        largest = maximum(largest, share(memory, 1, d, m, r, ld(k, m), ld(g, m)))
    return largest + nought(memory, d)


@kernel
def _newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, going: Any, history: Any, damped: Any,
) -> Any:  # fmt: skip
    """Solve for k to rounding where `going`; returns 1 where it is not solved."""
    d, n = dimension(table), y.shape[0]
    _, _, _, value, slope, state, row = rows_for(options, d, work.shape[1])
    pattern, blocks = options[EXACT:], options[options.shape[0] - 2 :]
    memory, at = joined(work[row:]), room(1, d, pattern[HALF])
    Q, R = coefficients[OF_START : OF_START + 1], coefficients[OF_START + 1 :]
    k, x, asked, zero, positions = work[slope][:d], work[state][:n], going, ld(y, 0) * 0.0, options[POSITIONS]
    linearise_where_needed(
        field, t, h, y, table, positions, pattern, parameters, structure, field_work, memory, 1, d, R, blocks, x,
        going, history, counters,
    )  # fmt: skip
    best, least, lost, rounds, renewed = zero + 1.0, zero + 1e300, zero, zero, zero
    sigma, shift = zero + 1.0 / absolute(h), zero
    for m in range(d):
        st(memory, at.apart + m, zero)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS):
        ratio = _residual(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, memory)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewed)
        if damped:
            where = going
        if any_(where > 0.0):
            renewed = renewed + where
            linearise(
                field, t + h, x, table, positions, pattern, parameters, structure, field_work, memory, 1, d,
                work[value][:n], where, counters,
            )  # fmt: skip
            if damped:
                shift = damping(memory, 1, d, pattern, sigma, going)
                damp(memory, 1, d, pattern, shift)
            factorise(h, memory, 1, d, R, blocks, pattern)
        correct(h, memory, 1, d, Q, R, blocks, pattern)
        if damped:
            damp(memory, 1, d, pattern, -shift)
            sigma = steer(work, slope, memory, 1, d, damped, sigma)
        for m in range(d):
            st(k, m, select(going > 0.0, ld(k, m) + ld(memory, at.residual + m), ld(k, m)))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, memory, 1, d, asked, going, lost, rounds, best, least)
    if damped:
        unsolved = maximum(unsolved, of_another_branch(h * R[0], memory, 1, d, R, pattern, asked))
    return unsolved


@kernel
def _remember(table: Any, coefficients: Any, options: Any, work: Any, row: Any) -> None:
    """The increment of the step in a row becomes the newest; as many are known as the formula asks for."""
    d = dimension(table)
    past = rows_for(options, d, work.shape[1])[0]
    for j in range(order_of(coefficients) - 1, 0, -1):
        copy(work[past + j - 1][:d], work[past + j][:d])
    copy(work[row][:d], work[past][:d])


@kernel
def _first_steps(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """A step of Radau IIA."""
    status = solve_stages(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters
    )
    status = accept(status, h, y, low, table, coefficients, options, work, counters)
    if status == OK:
        _remember(table, coefficients, options, work, own_of_stages(options[STAGES])[1])
    return status


@rare(never, lambda *types: integer)
def _solve_otherwise(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, left: Any,
) -> Any:  # fmt: skip
    """k from the field at the start of the step, where Newton's method has not found it from the past (`left`)."""
    d = dimension(table)
    _, _, _, _, slope, state, _ = rows_for(options, d, work.shape[1])
    k, errors = work[slope][:d], errors_of(work)
    for damped in range(attempts(d, options[EXACT + HALF], counters)):
        if any_(left > 0.0):
            field(t, y, parameters, structure, field_work, work[state][:d])
            counters[EVALUATIONS] += 1
            for m in range(d):
                st(k, m, select(left > 0.0, ld(work[state], m), ld(k, m)))
            left = _newton(
                field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left,
                0, damped,
            )  # fmt: skip
            errors = errors_of(work) if damped == 0 else errors
    if any_(left > 0.0):
        tell_again(work, left, errors)
        return failure(work)
    return OK


@kernel
def _formula(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """A step of the backward differentiation formula."""
    d, n, one = dimension(table), y.shape[0], ld(y, 0) * 0.0 + 1.0
    _, offset, exponent, _, slope, state, _ = rows_for(options, d, work.shape[1])
    beta, u, k = coefficients[OF_START + 1], work[exponent][:d], work[slope][:d]
    _past(y, table, coefficients, options, work)
    for m in range(d):
        st(k, m, (ld(k, m) - ld(work[offset], m)) / (h * beta))
    left = _newton(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, one,
        counters[HISTORY], 0,
    )  # fmt: skip
    if any_(left > 0.0):
        status = _solve_otherwise(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left
        )
        if status != OK:
            return status
    for m in range(d):
        st(u, m, ld(work[offset], m) + (h * beta) * ld(k, m))
    if leaves_chart(table, u):
        counters[STAGE] = 1
        return CHART_LEFT
    _remember(table, coefficients, options, work, exponent)
    counters[HISTORY] = max(counters[HISTORY], 1)
    advance_state(table, options[TAU], y, low, u, work[state][:n], options[COMPENSATION], counters)
    return OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of a backward differentiation formula, or one of those that begin it."""
    if counters[HISTORY] < order_of(coefficients) - 1:
        return _first_steps(
            field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
        )
    return _formula(
        field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    own = rows_of_stages(options) + newton_rows(START, problem, columns) + HIGHEST + 5
    return OWN_ROWS + own + newton_rows(1, problem, columns), columns


def _prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    numbers, known = exact(problem)
    return numbers, np.append(known, [1, 0])


def growth(coefficients: NDArray[np.float64], z: complex) -> float:
    """The largest |ζ| with Σⱼ αⱼ ζᵏ⁻ʲ = z ζᵏ."""
    inverse, *ratios = coefficients[OF_START + 1 :]
    return float(np.abs(np.roots([1.0 - z * inverse, *ratios])).max())


STEPPER = Stepper(
    "bdf", step, rows_of_stages, maps=("exp", "cayley"), prepare=_prepare, evaluates="linearised", shape=_shape,
    explain=explain, multistep=True, growth=growth, variable=variable,
)  # fmt: skip


def ratios(k: int) -> list[Fraction]:
    """1/α₀ and α₁/α₀ … αₖ/α₀ of the formula of order k."""
    alpha = [
        sum((Fraction((-1) ** j * comb(m, j), m) for m in range(max(j, 1), k + 1)), Fraction(0)) for j in range(k + 1)
    ]
    return [1 / alpha[0], *(x / alpha[0] for x in alpha[1:])]


def bdf(k: int, name: str = "") -> Method:
    """The backward differentiation formula of order k, 1 to 5, with fixed steps; with variable ones those of orders 1 …
    k, for k > 1 (order 1 alone would need too many to be right).  A-stable up to order 2, see the module.
    """
    if not 1 <= k <= HIGHEST:
        raise ValueError(f"bdf: order {k}, expected 1 to {HIGHEST}: higher formulas are not stable")
    start = implicit_rkmk(RADAU_IIA(START), newton=True)
    return Method(
        name=name or f"BDF{k}",
        stepper=STEPPER,
        order=k,
        coefficients=np.concatenate([start.coefficients, [1.0], [float(x) for x in ratios(k)]]),
        options=start.options,
        embedded_order=k if k > 1 else None,
        source="Hairer and Wanner 1996; Wieloch and Arnold 2021",
    )
