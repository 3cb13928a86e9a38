r"""Generalised-α on a group: constraints on positions (index 3), on positions and velocities, or on velocities alone
(rolling).

    a₁ = ((1 − α_f) v̇₁ + α_f v̇₀ − α_m a₀)/(1 − α_m)
    q₁ = q exp(h [v₀ + h (½ − β) a₀ + h β a₁ − P₀ η]),    v₁ = v₀ + h (1 − γ) a₀ + h γ a₁,    P₀ = M₀⁻¹A₀ᵀ
    M₁ v̇₁ + r₁ − D₁ = (F − G)₁ + A₁ᵀ λ₁

    POSITIONS    φ(q₁) = 0,                   η = 0
    BOTH         φ(q₁) = 0,  A₁ v₁ = c₁       with the unknown η
    VELOCITIES   A₁ v₁ = c₁,                  η = 0

    α_m = (2ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ + α_f − α_m,   β = (γ + ½)²/4

The simplified Newton iteration keeps M₀, A₀, and for POSITIONS alone those of the first guess at the end of the step,
with ε in place of the zero of the matrix: where the rank of A drops within a step, A₀ has its weakest direction with
the wrong sign, and the iteration would run away from the solution.  Its equations are divided by h² β (1 − α_f)/(1 −
α_m) and h γ (1 − α_f)/(1 − α_m), which is the scaling that makes the matrix independent of h.  Where it does not
converge, or slowly, because springs or dampers are stiff, Newton's method with their derivatives takes over and begins
the next steps (`integrators.steppers.constrained_newton`): stiffness limits no step.  Start: a₀ = v̇₀ + (α_m − α_f) h
v̈₀; where dampers end within the first step what v̇₀ belongs to, both are those of a step with the numbers `START`.
Order 2, not symmetric.  Closing positions with ρ = 1 fails in long runs.  With wheels it is the rival from
engineering, right for stiff tyres and joints, never for questions of energy: the height of a rolling contact drifts by
O(h²).
Sources: Arnold and Brüls 2007; Brüls, Cardona and Arnold 2012; Arnold, Brüls and Cardona 2015.

coefficients
    α_m, α_f, γ, β; those of a start.
options
    largest number of iterations; what is closed: `POSITIONS`, `BOTH` or `VELOCITIES`.
own rows
    those of the nonholonomic node (NODE: whose matrix is kept); MEMORY holds a, MEMORY_2 v̇, DAMPER the unknown η, GUESS
    λ of the step before; then the memory of Newton's method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, copy, leaves_chart
from integrators.steppers.constrained_newton import (
    ABRUPT,
    accelerations_count,
    balance,
    begin_damped,
    conclude,
    correct,
    is_over,
    keep,
    memory_row,
    move,
    of_another_branch,
    part_within,
    proceed,
    renew_at_end,
    room,
    rows_needed,
    stale,
    tame,
    unbalanced,
    undamped,
)
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    ROUNDS,
    attempts,
    count_stiff_steps,
    errors_of,
    explain,
    failure,
    tell_again,
)
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import (
    END,
    HX,
    MATRIX,
    MEMORY,
    MEMORY_2,
    MU,
    NODE,
    SCRATCH,
    TREND,
    L,
    P,
    R,
    S,
    X,
)
from liegroup.compile import (
    absolute,
    any_,
    entry,
    helper,
    joined,
    kernel,
    ld,
    ld2,
    never,
    rare,
    scalar_of,
    select,
    st,
    st2,
)
from liegroup.compile.dense import ldl_solve
from liegroup.compile.scalars import maximum

LOOPS = "short"

LIMIT, CLOSED = OWN_OPTIONS, OWN_OPTIONS + 1
POSITIONS, BOTH, VELOCITIES = range(3)
DAMPER, VELOCITY_DEFECT, GUESS = TREND, TREND + 1, TREND + 2
SOFTNESS = 1e-7
"""In place of the zero of the matrix, relative to A M⁻¹ Aᵀ of rows of comparable sizes: it stays regular where the rank
drops.
"""
START = (0.0, 0.0, 1.0, 0.5)
"""α_m, α_f, γ, β of a start: velocities by the implicit Euler rule, without a₀ and v̇₀."""
AHEAD = 1e-2
"""Part of a step by whose multiples v̈ is taken at the start, by differences into the step: drives may begin with it."""


@kernel
def _acceleration(values: Any, structure: Any, work: Any) -> None:
    """R <- v̇ and S <- λ of the equations with multipliers, at the node with parts `values`."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    node.factor(values, structure, work)
    for i in range(n):
        st2(work, R, i, balance(values, structure, i))
    for j in range(m):
        st2(work, S, j, -ld(values, at.BIAS + j))
    node.solve_node(values, structure, work)


@kernel
def _start(
    parts: Any,
    t: Any,
    h: Any,
    y: Any,
    group: Any,
    numbers: Any,
    options: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
) -> None:
    """v̇₀ and a₀ = v̇₀ + (α_m − α_f) h v̈₀, with the factors of the node.

    Where stiff springs are stretched fast, h v̈₀ says nothing about the step: what is added is at most |v|/h or |v̇₀|.
    """
    n, m = structure[0], structure[1]
    n_q = y.shape[0] - n
    shift = numbers[0] - numbers[1]
    node.parts_at(parts, t, y[:n_q], y[n_q:], parameters, structure, field_work, work, NODE)
    _acceleration(work[NODE], structure, work)
    for i in range(n):
        st2(work, MEMORY_2, i, ld2(work, R, i))
        st2(work, MEMORY, i, ld2(work, R, i))
    for j in range(m):
        st2(work, L, j, ld2(work, S, j))
    for i in range(n):
        st2(work, P, i, (shift * -1.5 / AHEAD) * ld2(work, MEMORY_2, i))
    for k, weight in ((1.0, 2.0), (2.0, -0.5)):
        e = k * AHEAD * h
        for i in range(n):
            a = ld2(work, MEMORY_2, i)
            st2(work, HX, i, e * (ld(y, n_q + i) + 0.5 * e * a))
            st2(work, MU, i, ld(y, n_q + i) + e * a)
        node.parts_at_end(parts, t + e, y, group, options[TAU], parameters, structure, field_work, work)
        _acceleration(work[END], structure, work)
        for i in range(n):
            st2(work, P, i, ld2(work, P, i) + (shift * weight / AHEAD) * ld2(work, R, i))
    largest = maximum(
        node.greatest_velocity(work, y, n_q, n) / absolute(h), node.greatest_velocity(work, work[MEMORY_2], 0, n)
    )
    part = part_within(node.greatest_velocity(work, work[P], 0, n), largest)
    for i in range(n):
        st2(work, MEMORY, i, ld2(work, MEMORY, i) + part * ld2(work, P, i))
    node.factor(work[NODE], structure, work)


@helper
def ratio_of(numbers: Any) -> Any:
    """(1 − α_f)/(1 − α_m)."""
    return (1.0 - numbers[1]) / (1.0 - numbers[0])


@helper
def blended(numbers: Any, x: Any, old: Any, a0: Any) -> Any:
    """a₁ from v̇₁, v̇₀ and a₀."""
    am, af = numbers[0], numbers[1]
    return ((1.0 - af) * x + af * old - am * a0) / (1.0 - am)


@helper
def shift(numbers: Any, h: Any, a0: Any, a1: Any) -> Any:
    """What a₀ and a₁ add to v₀ in the mean over the step, by which q moves: h (½ − β) a₀ + h β a₁."""
    beta = numbers[3]
    return h * ((0.5 - beta) * a0 + beta * a1)


@helper
def change(numbers: Any, h: Any, a0: Any, a1: Any) -> Any:
    """v₁ − v₀."""
    gamma = numbers[2]
    return h * ((1.0 - gamma) * a0 + gamma * a1)


@kernel
def _place(h: Any, v: Any, numbers: Any, closed: Any, structure: Any, work: Any) -> None:
    """a₁ into P, v₁ into MU, the increment of q into HX, from v̇₁ in X and η."""
    n, m = structure[0], structure[1]
    for i in range(n):
        a0 = ld2(work, MEMORY, i)
        a1 = blended(numbers, ld2(work, X, i), ld2(work, MEMORY_2, i), a0)
        st2(work, P, i, a1)
        st2(work, MU, i, ld(v, i) + change(numbers, h, a0, a1))
        x = ld(v, i) + shift(numbers, h, a0, a1)
        if closed == BOTH:
            for j in range(m):
                x = x - ld2(work, MATRIX + n + j, i) * ld2(work, DAMPER, j)
        st2(work, HX, i, h * x)


@kernel
def _defects(h: Any, numbers: Any, closed: Any, structure: Any, work: Any) -> None:
    """S <- what the rows ask of v̇₁; where both are closed, row VELOCITY_DEFECT <- what η must add."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    gamma, beta, ratio = numbers[2], numbers[3], ratio_of(numbers)
    for j in range(m):
        if closed == POSITIONS:
            st2(work, S, j, -(ld(work[END], at.POSITION + j) / (h * h * beta * ratio)))
        else:
            rate = node.row_defect(work[END], structure, work[MU][:n], j)
            st2(work, S, j, -(rate / (h * gamma * ratio)))
            if closed == BOTH:
                st2(work, VELOCITY_DEFECT, j, ld(work[END], at.POSITION + j) / h - (h * beta / (h * gamma)) * rate)


@kernel
def _residuals(
    parts: Any, t: Any, h: Any, y: Any, group: Any, numbers: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any,
) -> None:  # fmt: skip
    """R, S and, where both are closed, row VELOCITY_DEFECT: what X, L and η leave of the equations; parts in END."""
    _place(h, y[y.shape[0] - structure[0] :], numbers, options[CLOSED], structure, work)
    node.parts_at_end(parts, t + h, y, group, options[TAU], parameters, structure, field_work, work)
    unbalanced(work[END], structure, work[X], work[L], work[R])
    _defects(h, numbers, options[CLOSED], structure, work)


@kernel
def _damp(work: Any, n: Any, m: Any, going: Any) -> None:
    """The correction of η, where the iteration goes on."""
    ldl_solve(work, MATRIX + n + m, m, work, VELOCITY_DEFECT)
    for j in range(m):
        old = ld2(work, DAMPER, j)
        st2(work, DAMPER, j, select(going > 0.0, old + ld2(work, VELOCITY_DEFECT, j), old))


@kernel
def _guess(structure: Any, work: Any, where: Any) -> None:
    """X, L and η as a step begins with them, where asked."""
    for i in range(structure[0]):
        st2(work, X, i, select(where > 0.0, ld2(work, MEMORY_2, i), ld2(work, X, i)))
    for j in range(structure[1]):
        st2(work, L, j, select(where > 0.0, ld2(work, GUESS, j), ld2(work, L, j)))
        st2(work, DAMPER, j, select(where > 0.0, 0.0 * where, ld2(work, DAMPER, j)))


@kernel
def _iterate(
    parts: Any, t: Any, h: Any, y: Any, group: Any, numbers: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any,
) -> Any:  # fmt: skip
    """X = v̇₁, L = λ₁ and η by the simplified iteration, to rounding, where asked; (1 where they are not found,
    rounds).
    """
    n, m, closed, zero = structure[0], structure[1], options[CLOSED], 0.0 * asked
    going, best, lost, rounds = asked, zero + 1.0, zero, zero
    counts = accelerations_count(h, y, y.shape[0] - n, closed == POSITIONS, work)
    for count in range(options[LIMIT]):
        _residuals(parts, t, h, y, group, numbers, options, parameters, structure, field_work, work)
        if count == 0 and closed == POSITIONS:
            copy(work[END], work[NODE])
            node.soft_factor(work[NODE], structure, work, SOFTNESS)
        node.solve_node(work[NODE], structure, work)
        node.learn(structure, work, count)
        if closed == BOTH:
            _damp(work, n, m, going)
        change, size = move(work, n, m, going)
        going, lost, rounds, best, _ = proceed(change, maximum(size, counts), going, lost, rounds, best, zero)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        if not any_(going > 0.0):
            break
    return conclude(work, going, lost, best), rounds


@rare(never, lambda parts, t, h, y, *others: scalar_of(y))
def _newton(
    parts: Any, t: Any, h: Any, y: Any, group: Any, numbers: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any, history: Any, damped: Any,
) -> Any:  # fmt: skip
    """The same by Newton's method, damped or not; 1 where they are not found."""
    n, m, closed, zero = structure[0], structure[1], options[CLOSED], 0.0 * asked
    n_q = y.shape[0] - n
    memory, at = joined(work[memory_row(structure) :]), room(1, n, m, n_q)
    going, best, lost, rounds, renewed = asked, zero + 1.0, zero, zero, zero
    where, counts = stale(memory, at, h, asked, history), accelerations_count(h, y, n_q, True, work)
    gamma, beta, ratio = numbers[2], numbers[3], ratio_of(numbers)
    begin_damped(h, memory, at, asked, damped)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS):
        where = going if damped else where
        _residuals(parts, t, h, y, group, numbers, options, parameters, structure, field_work, work)
        if any_(where > 0.0):
            renewed = renewed + where
            st(memory, at.velocities, zero + h * gamma * ratio)
            st(memory, at.positions, zero + h * h * beta * ratio)
            renew_at_end(
                parts, t + h, h, y, group, options[TAU], parameters, structure, field_work, work, memory, at, where,
                counters,
            )  # fmt: skip
        sigma = ld(memory, at.sigma)
        correct(structure, work, memory, at, 1, R, S, X, counts, damped)
        if closed == BOTH:
            _damp(work, n, m, going)
        change, size = move(work, n, m, going)
        change = tame(undamped(h, change, sigma), size, counts)
        going, lost, rounds, best, where = proceed(change, maximum(size, counts), going, lost, rounds, best, renewed)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, going, lost, best)
    keep(memory, at, asked, unsolved, rounds, damped)
    if damped:
        V, W = h * gamma * ratio, h * h * beta * ratio
        unsolved = maximum(unsolved, of_another_branch(V, W, structure, work, memory, at, asked))
    return unsolved


@kernel
def _settle(
    parts: Any, t: Any, h: Any, y: Any, group: Any, numbers: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any,
) -> None:  # fmt: skip
    """a₀ = v̇₀, and the guess of λ, from the step with the numbers of a start, where asked and where that step is over
    what v̇₀ is of: dampers have ended it.
    """
    n, m = structure[0], structure[1]
    zero = 0.0 * asked
    for i in range(n):
        st2(work, X, i, select(asked > 0.0, zero, ld2(work, X, i)))
    for j in range(m):
        st2(work, L, j, select(asked > 0.0, zero, ld2(work, L, j)))
        st2(work, DAMPER, j, select(asked > 0.0, zero, ld2(work, DAMPER, j)))
    unsolved = _newton(
        parts, t, h, y, group, numbers, options, parameters, structure, field_work, work, counters, asked, 0, 0
    )
    settled = (asked > 0.0) & (unsolved == 0.0) & is_over(h, y, structure, work, MEMORY_2, ABRUPT)
    for i in range(n):
        st2(work, MEMORY, i, select(settled, ld2(work, X, i), ld2(work, MEMORY, i)))
        st2(work, MEMORY_2, i, select(settled, ld2(work, X, i), ld2(work, MEMORY_2, i)))
    for j in range(m):
        st2(work, GUESS, j, select(settled, ld2(work, L, j), ld2(work, GUESS, j)))


@kernel
def _solve(
    parts: Any, t: Any, h: Any, y: Any, group: Any, numbers: Any, start: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, history: Any,
) -> Any:  # fmt: skip
    """X = v̇₁, L = λ₁ and η, to rounding: by Newton's method where the simplified iteration does not find them, or the
    steps before tell.
    """
    n, m, one = structure[0], structure[1], 0.0 * ld(y, 0) + 1.0
    memory, at = joined(work[memory_row(structure) :]), room(1, n, m, y.shape[0] - n)
    copy(work[L], work[GUESS])
    _guess(structure, work, one)
    stiff = select(ld(memory, at.stiff) > 0.0, one, 0.0 * one)
    left, rounds = one - stiff, 0.0 * one
    if any_(left > 0.0):
        left, rounds = _iterate(
            parts, t, h, y, group, numbers, options, parameters, structure, field_work, work, counters, left
        )
    if history == 0:
        left = select((stiff == 0.0) & is_over(h, y, structure, work, MEMORY_2, 1.0), one, left)
    count_stiff_steps(memory, at.stiff, left, rounds)
    left = select(stiff > 0.0, stiff, left)
    if any_(left > 0.0):
        if history == 0:
            _settle(parts, t, h, y, group, start, options, parameters, structure, field_work, work, counters, left)
        _guess(structure, work, left)
        left = _newton(
            parts, t, h, y, group, numbers, options, parameters, structure, field_work, work, counters, left, history, 0
        )
    if any_(left > 0.0) and any_(stiff > 0.0):  # what is not stiff any more
        _guess(structure, work, left)
        left, rounds = _iterate(
            parts, t, h, y, group, numbers, options, parameters, structure, field_work, work, counters, left
        )
    errors = errors_of(work)
    for damped in range(1, attempts(n + m, -1, counters)):
        if any_(left > 0.0):
            _guess(structure, work, left)
            left = _newton(
                parts, t, h, y, group, numbers, options, parameters, structure, field_work, work, counters, left, 0,
                damped,
            )  # fmt: skip
    if any_(left > 0.0):
        tell_again(work, left, errors)
        return failure(work)
    return OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step; `field` is the problem's parts."""
    n = structure[0]
    n_q, numbers, start = y.shape[0] - n, coefficients[:4], coefficients[4:8]
    group, v, hx = table[: table.shape[0] - 1], y[y.shape[0] - n :], work[HX][:n]
    node.take_scales(coefficients, y, work)
    if counters[HISTORY] == 0:
        _start(field, t, h, y, group, numbers, options, parameters, structure, field_work, work)
    elif options[CLOSED] != POSITIONS:
        node.parts_at(field, t, y[:n_q], v, parameters, structure, field_work, work, NODE)
        node.factor(work[NODE], structure, work)
    history, counters[HISTORY] = counters[HISTORY], 0
    status = _solve(
        field, t, h, y, group, numbers, start, options, parameters, structure, field_work, work, counters, history
    )
    if status == OK and leaves_chart(group, hx):
        status = CHART_LEFT
    if status != OK:
        return status
    _place(h, v, numbers, options[CLOSED], structure, work)
    advance_state(group, options[TAU], y, low, hx, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    for i in range(n):
        st(v, i, ld2(work, MU, i))
        st(low, n_q + i, 0.0)
        st2(work, MEMORY, i, ld2(work, P, i))
        st2(work, MEMORY_2, i, ld2(work, X, i))
    counters[HISTORY] = 1
    return OK


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    _, columns = node.work_shape(problem, options)
    n, m, _ = problem.sizes
    return memory_row((n, m)) + rows_needed(problem, 1, columns), columns


def check(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """ValueError unless the problem carries positions φ for all of its rows."""
    numbers = node.check(problem)
    _, m, k = problem.sizes
    if m != k:
        raise ValueError(
            f"method: it closes positions, but {m - k} of the {m} rows of {problem.model!r} are not rates of positions"
        )
    return numbers


STEPPER = Stepper(
    "generalized-alpha",
    step,
    lambda options: 0,
    starts=True,
    remembers=True,
    maps=("exp", "cayley"),
    prepare=check,
    evaluates="parts",
    shape=work_shape,
    needs="closures",
    explain=explain,
)
ROLLING = replace(
    STEPPER, name="generalized-alpha-rolling", prepare=node.check, needs="constraints", follows=("rows", "value")
)


def generalized_alpha(name: str, radius: float = 0.9, stabilised: bool = False, iterations: int = 60) -> Method:
    """The method that closes positions, or positions and velocities, with spectral radius ρ in [0, 1) at infinity;
    ValueError outside.
    """
    if not 0.0 <= radius < 1.0:
        raise ValueError(f"radius: {radius}, expected a spectral radius in [0, 1): with 1 long runs fail")
    return _method(name, STEPPER, radius, BOTH if stabilised else POSITIONS, iterations)


def rolling_alpha(name: str, radius: float = 0.8, iterations: int = 120) -> Method:
    """The method that closes velocities only, for constraints that are rates of nothing, with ρ in [0, 1]; ValueError
    outside.
    """
    if not 0.0 <= radius <= 1.0:
        raise ValueError(f"radius: {radius}, expected a spectral radius in [0, 1]")
    return _method(name, ROLLING, radius, VELOCITIES, iterations)


def numbers_of(radius: float) -> tuple[float, float, float, float]:
    """α_m, α_f, γ, β for a spectral radius ρ at infinity."""
    am, af = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 + af - am
    return am, af, gamma, 0.25 * (gamma + 0.5) ** 2


def _method(name: str, stepper: Stepper, radius: float, closed: int, iterations: int) -> Method:
    return Method(
        name=name,
        stepper=stepper,
        order=2,
        coefficients=np.array([*numbers_of(radius), *START]),
        options=np.array([iterations, closed]),
        source="Arnold and Brüls 2007; Brüls, Cardona and Arnold 2012",
    )
