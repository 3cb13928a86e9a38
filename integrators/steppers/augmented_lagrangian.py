r"""Augmented Lagrangian of index 3 on a group: the trapezoidal rule, iterated multipliers, projected velocities and
accelerations.

    q₁ = q exp(h v₀ + (h²/4)(v̇₀ + v̇₁)),    v₁ = v₀ + (h/2)(v̇₀ + v̇₁)
    M₁ v̇₁ + r₁ − D₁ = (F − G)₁ + A₁ᵀ λ,    λ ← λ − a φ(q₁)

Every iteration is Newton's for a fixed old λ, with the matrices of the newest position,

    [[M₁, −A₁ᵀ], [A₁, E]] (δv̇; δλ) = (residual; −4 φ(q₁)/h²),    a = 4/h² E⁻¹,    E = ε diag(A₁ M₁⁻¹ A₁ᵀ)

so that positions close although ε > 0 keeps the matrix regular where rows depend on each other.  Afterwards v₁ and v̇₁
are replaced by the nearest ones in the metric of M₁ that satisfy A₁ v = c and A₁ v̇ = −β, iterated in the same way.
The tangent leaves out damping and stiffness until the iteration does not converge for them
(`integrators.steppers.constrained_newton`); the metric of the projections is M alone.  Where dampers end within the
first step what v̇₀ belongs to, v̇₀ is v̇₁ of a step without it.  Order 2.  No rank is decided; through positions where it
drops the gap closes slowly or not at all.
Sources: Bayo and Ledesma 1996; Cuadrado, Cardenal and Bayo 1997.

coefficients
    ε, relative to A M⁻¹ Aᵀ.
options
    largest number of iterations; rounds of the projections.
own rows
    those of the nonholonomic node; MEMORY holds v̇, GUESS λ of the step before; then the memory of Newton's method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.arithmetic.saddle_point import times_row
from integrators.layout import COMPENSATION, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
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
    proceed,
    renew_at_end,
    room,
    stale,
    tame,
    unbalanced,
    undamped,
)
from integrators.steppers.generalized_alpha import check, work_shape
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    attempts,
    count_stiff_steps,
    errors_of,
    explain,
    failure,
    tell_again,
)
from integrators.steppers.newton import ROUNDS as ROUNDS_OF_NEWTON
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import END, HX, MEMORY, MU, NODE, SCRATCH, TREND, L, R, S, X
from liegroup.compile import any_, entry, joined, kernel, ld, ld2, never, rare, scalar_of, select, st, st2
from liegroup.compile.scalars import maximum

LIMIT, ROUNDS = OWN_OPTIONS, OWN_OPTIONS + 1
GUESS = TREND
HALF, ALL = 0.5, 1.0
"""Of the step, for which v̇₁ counts."""


@kernel
def _project(values: Any, structure: Any, work: Any, row: Any, offset: Any, sign: Any, rounds: Any) -> None:
    """Row x <- the nearest with A x + sign·offset = 0, `offset` the place of m numbers in `values`."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    for _ in range(rounds):
        for j in range(m):
            st2(work, S, j, -(times_row(values, at.ROWS + j * n, work, row, n) + sign * ld(values, offset + j)))
        for i in range(n):
            st2(work, R, i, 0.0 * ld2(work, row, i))
        node.solve_node(values, structure, work)
        for i in range(n):
            st2(work, row, i, ld2(work, row, i) + ld2(work, R, i))


@kernel
def _start(
    parts: Any, t: Any, y: Any, softness: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any
) -> None:
    """MEMORY <- v̇₀, L <- λ₀."""
    n, m = structure[0], structure[1]
    n_q = y.shape[0] - n
    at = constrained(n, m, structure[2])
    node.parts_at(parts, t, y[:n_q], y[n_q:], parameters, structure, field_work, work, NODE)
    node.soft_factor(work[NODE], structure, work, softness)
    for i in range(n):
        st2(work, R, i, balance(work[NODE], structure, i))
    for j in range(m):
        st2(work, S, j, -ld(work[NODE], at.BIAS + j))
    node.solve_node(work[NODE], structure, work)
    for i in range(n):
        st2(work, MEMORY, i, ld2(work, R, i))
    for j in range(m):
        st2(work, L, j, ld2(work, S, j))
    _project(work[NODE], structure, work, MEMORY, at.BIAS, 1.0, options[ROUNDS])


@kernel
def _place(h: Any, v: Any, later: Any, structure: Any, work: Any) -> None:
    """v₁ into MU and the increment of q into HX, from v̇₁ in X, which counts for this part of the step: half, or all
    of it where v̇₀ is not known.
    """
    for i in range(structure[0]):
        a = 2.0 * ((1.0 - later) * ld2(work, MEMORY, i) + later * ld2(work, X, i))
        st2(work, MU, i, ld(v, i) + 0.5 * h * a)
        st2(work, HX, i, h * (ld(v, i) + 0.25 * h * a))


@kernel
def _residuals(
    parts: Any, t: Any, h: Any, y: Any, group: Any, later: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any,
) -> None:  # fmt: skip
    """R and S: what X and L leave of the equations; the parts in END."""
    n, m = structure[0], structure[1]
    n_q, at = y.shape[0] - n, constrained(n, m, structure[2])
    _place(h, y[n_q:], later, structure, work)
    node.parts_at_end(parts, t + h, y, group, options[TAU], parameters, structure, field_work, work)
    unbalanced(work[END], structure, work[X], work[L], work[R])
    for j in range(m):
        st2(work, S, j, -(2.0 / (later * h * h)) * ld(work[END], at.POSITION + j))


@kernel
def _guess(structure: Any, work: Any, where: Any) -> None:
    """X and L as a step begins with them, where asked."""
    for i in range(structure[0]):
        st2(work, X, i, select(where > 0.0, ld2(work, MEMORY, i), ld2(work, X, i)))
    for j in range(structure[1]):
        st2(work, L, j, select(where > 0.0, ld2(work, GUESS, j), ld2(work, L, j)))


@kernel
def _iterate(
    parts: Any, t: Any, h: Any, y: Any, group: Any, softness: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any,
) -> Any:  # fmt: skip
    """X = v̇₁ and L = λ₁, to rounding, where asked; (1 where they are not found, rounds)."""
    n, m, zero = structure[0], structure[1], 0.0 * asked
    going, best, lost, rounds = asked, zero + 1.0, zero, zero
    counts = accelerations_count(h, y, y.shape[0] - n, True, work)
    for _ in range(options[LIMIT]):
        _residuals(parts, t, h, y, group, HALF, options, parameters, structure, field_work, work)
        node.soft_factor(work[END], structure, work, softness)
        node.solve_node(work[END], structure, work)
        change, size = move(work, n, m, going)
        going, lost, rounds, best, _ = proceed(change, maximum(size, counts), going, lost, rounds, best, zero)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        if not any_(going > 0.0):
            break
    return conclude(work, going, lost, best), rounds


@rare(never, lambda parts, t, h, y, *others: scalar_of(y))
def _newton(
    parts: Any, t: Any, h: Any, y: Any, group: Any, later: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any, history: Any, damped: Any,
) -> Any:  # fmt: skip
    """The same by Newton's method, damped or not; 1 where they are not found."""
    n, m, zero = structure[0], structure[1], 0.0 * asked
    n_q = y.shape[0] - n
    memory, at = joined(work[memory_row(structure) :]), room(1, n, m, n_q)
    going, best, lost, rounds, renewed = asked, zero + 1.0, zero, zero, zero
    where, counts = stale(memory, at, h, asked, history), accelerations_count(h, y, n_q, True, work)
    begin_damped(h, memory, at, asked, damped)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS_OF_NEWTON):
        where = going if damped else where
        _residuals(parts, t, h, y, group, later, options, parameters, structure, field_work, work)
        if any_(where > 0.0):
            renewed = renewed + where
            st(memory, at.velocities, zero + later * h)
            st(memory, at.positions, zero + 0.5 * later * h * h)
            renew_at_end(
                parts, t + h, h, y, group, options[TAU], parameters, structure, field_work, work, memory, at, where,
                counters,
            )  # fmt: skip
        sigma = ld(memory, at.sigma)
        correct(structure, work, memory, at, 1, R, S, X, counts, damped)
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
        V, W = later * h, 0.5 * later * h * h
        unsolved = maximum(unsolved, of_another_branch(V, W, structure, work, memory, at, asked))
    return unsolved


@kernel
def _settle(
    parts: Any, t: Any, h: Any, y: Any, group: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, counters: Any, asked: Any,
) -> None:  # fmt: skip
    """v̇₀ and the guess of λ from a step without v̇₀, where asked and where that step is over what v̇₀ is of: dampers have
    ended it.
    """
    n, m = structure[0], structure[1]
    for i in range(n):
        st2(work, X, i, select(asked > 0.0, 0.0 * asked, ld2(work, X, i)))
    for j in range(m):
        st2(work, L, j, select(asked > 0.0, 0.0 * asked, ld2(work, L, j)))
    unsolved = _newton(
        parts, t, h, y, group, ALL, options, parameters, structure, field_work, work, counters, asked, 0, 0
    )
    settled = (asked > 0.0) & (unsolved == 0.0) & is_over(h, y, structure, work, MEMORY, ABRUPT)
    for i in range(n):
        st2(work, MEMORY, i, select(settled, ld2(work, X, i), ld2(work, MEMORY, i)))
    for j in range(m):
        st2(work, GUESS, j, select(settled, ld2(work, L, j), ld2(work, GUESS, j)))


@kernel
def _solve(
    parts: Any, t: Any, h: Any, y: Any, group: Any, softness: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, history: Any,
) -> Any:  # fmt: skip
    """X = v̇₁ and L = λ₁, to rounding: by Newton's method where the iteration does not find them, or the steps before
    tell.
    """
    n, m, one = structure[0], structure[1], 0.0 * ld(y, 0) + 1.0
    memory, at = joined(work[memory_row(structure) :]), room(1, n, m, y.shape[0] - n)
    copy(work[L], work[GUESS])
    _guess(structure, work, one)
    stiff = select(ld(memory, at.stiff) > 0.0, one, 0.0 * one)
    left, rounds = one - stiff, 0.0 * one
    if any_(left > 0.0):
        left, rounds = _iterate(
            parts, t, h, y, group, softness, options, parameters, structure, field_work, work, counters, left
        )
    if history == 0:
        left = select((stiff == 0.0) & is_over(h, y, structure, work, MEMORY, 1.0), one, left)
    count_stiff_steps(memory, at.stiff, left, rounds)
    left = select(stiff > 0.0, stiff, left)
    if any_(left > 0.0):
        if history == 0:
            _settle(parts, t, h, y, group, options, parameters, structure, field_work, work, counters, left)
        _guess(structure, work, left)
        left = _newton(
            parts, t, h, y, group, HALF, options, parameters, structure, field_work, work, counters, left, history, 0
        )
    if any_(left > 0.0) and any_(stiff > 0.0):  # what is not stiff any more
        _guess(structure, work, left)
        left, rounds = _iterate(
            parts, t, h, y, group, softness, options, parameters, structure, field_work, work, counters, left
        )
    errors = errors_of(work)
    for damped in range(1, attempts(n + m, -1, counters)):
        if any_(left > 0.0):
            _guess(structure, work, left)
            left = _newton(
                parts, t, h, y, group, HALF, options, parameters, structure, field_work, work, counters, left, 0,
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
    n, m = structure[0], structure[1]
    n_q, softness, at = y.shape[0] - n, coefficients[0], constrained(n, m, structure[2])
    group, v, hx = table[: table.shape[0] - 1], y[y.shape[0] - n :], work[HX][:n]
    node.take_scales(coefficients, y, work)
    if counters[HISTORY] == 0:
        _start(field, t, y, softness, options, parameters, structure, field_work, work)
    history, counters[HISTORY] = counters[HISTORY], 0
    status = _solve(
        field, t, h, y, group, softness, options, parameters, structure, field_work, work, counters, history
    )
    if status == OK and leaves_chart(group, hx):
        status = CHART_LEFT
    if status != OK:
        return status
    _place(h, v, HALF, structure, work)
    node.parts_at_end(field, t + h, y, group, options[TAU], parameters, structure, field_work, work)
    node.soft_factor(work[END], structure, work, softness)
    _project(work[END], structure, work, MU, at.VALUE, -1.0, options[ROUNDS])
    node.parts_at_end(field, t + h, y, group, options[TAU], parameters, structure, field_work, work)
    _project(work[END], structure, work, X, at.BIAS, 1.0, options[ROUNDS])
    advance_state(group, options[TAU], y, low, hx, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    for i in range(n):
        st(v, i, ld2(work, MU, i))
        st(low, n_q + i, 0.0)
        st2(work, MEMORY, i, ld2(work, X, i))
    counters[EVALUATIONS] += 2
    counters[HISTORY] = 1
    return OK


STEPPER = Stepper(
    "augmented-lagrangian",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=check,
    evaluates="parts",
    shape=work_shape,
    needs="closures",
    remembers=True,
    explain=explain,
)


def augmented_lagrangian(name: str, softness: float = 1e-7, rounds: int = 3, iterations: int = 60) -> Method:
    """The method with penalty 1/ε, of the size of A M⁻¹ Aᵀ; ValueError unless 0 < ε < 1."""
    if not 0.0 < softness < 1.0:
        raise ValueError(f"softness: {softness}, expected between 0 and 1: the inverse of the penalty")
    return Method(
        name=name,
        stepper=STEPPER,
        order=2,
        coefficients=np.array([softness]),
        options=np.array([iterations, rounds]),
        source="Bayo and Ledesma 1996; Cuadrado, Cardenal and Bayo 1997",
    )
