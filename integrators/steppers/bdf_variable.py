"""Backward differentiation formulas with variable steps and orders 1 … K, on any product of groups.

As `integrators.steppers.bdf` the formula is applied to the motion in the chart at the newest state, y(t) = yₙ τ(u(t)),
u(tₙ) = 0, here by backward differences ∇ʲ of its values at equal distances h:

    Σⱼ₌₁ᵏ γⱼ ∇ʲ + αₖ δ = h g(tₙ + h, u),     u = Σⱼ₌₁ᵏ ∇ʲ + δ,     g = dτ_left(u)⁻¹ f(t, y τ(u))
    γⱼ = Σ_{i ≤ j} 1/i,    αₖ = (1 − κₖ) γₖ,    err = (κₖ γₖ + 1/(k + 1)) δ

κₖ are Klopfenstein's and Shampine's numbers, with which the errors are smaller by a quarter; δ is the next difference.
After the step the past is seen from the chart at the new state: its values there, τ⁻¹(τ(u)⁻¹ τ(u₁₋ⱼ)), and their
differences.  Where all factors commute that changes nothing and is left out.  A projection that moves states by more
than errors ends the past: there steps are of order 1, and many in a row end the run.  In every chart the motion
solves an equation with a smooth right-hand side, so that order and error estimates are those on Rⁿ.

Steps stay as they are for k + 1 steps at least; then the differences themselves tell the errors of the orders k − 1, k
and k + 1, and the order with the longest step is taken: the stepper chooses both (`integrators.controllers.ordered`).
A step of another size begins with differences at its distances (interpolation).  The equations are solved to κ of the
tolerance (`integrators.steppers.to_tolerance`), with J and the factors of 1 − (h/αₖ) J kept while that works.  All that
is remembered is in the workspace, which a checkpoint keeps.
Sources: Shampine and Reichelt 1997; Hairer and Wanner 1996, III.1 and V.1; Wieloch and Arnold 2021 (on groups).

coefficients
    α, γ and the constants of the errors (orders 0 … 6 each); Q = R = 1; the identity of the group (n); κ, relative and
    absolute tolerances (d each).
options
    the highest order K; the block of R (2); 1 if states are projected after a step; the pattern of the problem.
own rows
    ∇ʲ (8); values of the past (8); start; end; identity of the group moved (2); predicted; δ; Σ γⱼ ∇ʲ/αₖ; exponent;
    state; numbers of the method's own (`OWN_NUMBERS`) and the memory of the iteration.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.error_norm import error_norm
from integrators.layout import (
    COMPENSATION,
    ERROR,
    ERROR_LOW,
    EVALUATIONS,
    HISTORY,
    ITERATIONS,
    OWN_OPTIONS,
    OWN_ROWS,
    POSITIONS,
    STAGE,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURE
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, copy, dimension, keep_turns, leaves_chart
from integrators.steppers.iteration import nought
from integrators.steppers.newton import differentiate, exact, newton_rows
from integrators.steppers.newton_systems import correct, factorise
from integrators.steppers.to_tolerance import GOES_ON, SOLVED, explain, first_slope, judged, told_tolerances
from liegroup.compile import absolute, entry, joined, kernel, power
from liegroup.compile.scalars import maximum, minimum, sqrt
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import FACTORS, KIND, dtau_inverse_left, increment, retract

Array = NDArray[np.float64]
HIGHEST, ORDERS = 5, 7
KAPPAS = (0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0, 0.0)
"""Of orders 0 … 6: as long as the formulas stay as stable as they are (Shampine and Reichelt 1997)."""
MOST = 4
"""Rounds of Newton's method."""
SAFETY, LEAST, GREATEST, WORTH = 0.9, 0.2, 10.0, 1.2
"""Of a factor between two steps: less than the error asks for, bounds, and what a longer step must be longer by."""
HIGHEST_OPTION, BLOCK, PROJECTED, EXACT = OWN_OPTIONS, OWN_OPTIONS + 1, OWN_OPTIONS + 3, OWN_OPTIONS + 4
BEGUN, STEP, ORDER, EQUAL, NEXT, SLOPE, KEPT, HERE, FACTORED, ALONE, MOVED = range(11)
"""Of the method's own: 1 where the row of the start is that of a step tried and not taken; the h of the differences;
the order; how many steps had it; the order of the next step; the last η; 1 where J may serve; 1 where it has been made
in this step; the h/α of the factors; 1 where the state before has been moved; how many steps in a row begin so.
"""
OWN_NUMBERS = 11
FORGETFUL, MOST_MOVED = 5.0, 100.0
"""Why a step fails: before so many in a row the state has been moved, so that all are of order 1."""
_DIFFERENCES = OWN_ROWS
_VALUES = _DIFFERENCES + 8
_START, _END, _HERE, _THERE, _PREDICTED, _DELTA, _PSI, _EXPONENT, _STATE, _NUMBERS = range(_VALUES + 8, _VALUES + 18)
ROWS = _NUMBERS - OWN_ROWS
TURN = 2.0 * math.pi
FAR = 0.1
"""Of the tolerance: states that are projected further have no past."""
OF_IDENTITY = 3 * ORDERS + 2


@kernel
def _to_differences(work: Any, d: Any, last: Any) -> None:
    """The differences ∇ʲ, j = 0 … last <- those of the values of the past."""
    for j in range(last + 1):
        for m in range(d):
            total, weight = 0.0, 1.0
            for i in range(j + 1):
                total += weight * work[_VALUES + i, m]
                weight = -weight * (j - i) / (i + 1.0)
            work[_DIFFERENCES + j, m] = total


@kernel
def _to_values(work: Any, d: Any, last: Any, known: Any, factor: Any) -> None:
    """The values at the distances 0 … last of `factor` steps each, of the polynomial with the differences up to
    `known`.
    """
    for j in range(last + 1):
        for m in range(d):
            total, weight = work[_DIFFERENCES, m], 1.0
            for i in range(1, known + 1):
                weight = weight * (i - 1.0 - factor * j) / i
                total += weight * work[_DIFFERENCES + i, m]
            work[_VALUES + j, m] = total


@kernel
def _moved(y: Any, table: Any, coefficients: Any, options: Any, work: Any, d: Any) -> Any:
    """Whether the new state has been moved to y by more than errors may be, turns of angles apart: the past, where
    the field led to another state, then tells nothing of the motion from y on.
    """
    moved, at = work[_EXPONENT][:d], OF_IDENTITY + y.shape[0]
    increment(table, options[TAU], work[_END][: y.shape[0]], y, moved)
    for m in range(d):
        if absolute(absolute(moved[m]) - TURN) < 0.5:
            moved[m] -= TURN if moved[m] > 0.0 else -TURN
    relative, tolerances = coefficients[at + 1 : at + 1 + d], coefficients[at + 1 + d :]
    return error_norm(table, y, y, moved, relative, tolerances) > FAR**2


@kernel
def _anew(
    field: Any, t: Any, h: Any, y: Any, d: Any, parameters: Any, structure: Any, field_work: Any, work: Any, told: Any,
    counters: Any,
) -> None:  # fmt: skip
    """The differences of order 1, from the field."""
    for j in range(8):
        for m in range(d):
            work[_DIFFERENCES + j, m] = 0.0
    field(t, y, parameters, structure, field_work, work[_STATE][:d])
    counters[EVALUATIONS] += 1
    for m in range(d):
        work[_DIFFERENCES + 1, m] = h * work[_STATE, m]
    told[STEP], told[ORDER], told[NEXT], told[EQUAL] = h, 1.0, 1.0, 0.0


@kernel
def _begin(
    field: Any, t: Any, h: Any, y: Any, d: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, told: Any, counters: Any,
) -> None:  # fmt: skip
    """The differences for a step of size h from y: those that are there, or of order 1 where the motion begins anew."""
    n = y.shape[0]
    if counters[HISTORY] == 0:
        same = told[BEGUN] > 0.0
        for k in range(n):
            same = same and work[_START, k] == y[k]
        if not same:
            _anew(field, t, h, y, d, parameters, structure, field_work, work, told, counters)
            told[KEPT], told[FACTORED], told[SLOPE], told[ALONE] = 0.0, 0.0, 1.0, 0.0
    elif options[PROJECTED]:
        told[ALONE] = 0.0
        told[MOVED] += 1.0
        if _moved(y, table, coefficients, options, work, d):
            _anew(field, t, h, y, d, parameters, structure, field_work, work, told, counters)
            told[ALONE] = 1.0
        else:
            told[MOVED] = 0.0
    copy(y, work[_START][:n])
    told[BEGUN], told[HERE] = 1.0, 0.0
    if told[NEXT] != told[ORDER]:
        told[ORDER], told[EQUAL] = told[NEXT], 0.0
    if told[STEP] != h:
        order = int(told[ORDER])
        _to_values(work, d, order, order, h / told[STEP])
        _to_differences(work, d, order)
        told[STEP], told[EQUAL] = h, 0.0


@kernel
def _newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, told: Any, memory: Any, counters: Any,
) -> Any:  # fmt: skip
    """δ to κ of the tolerance; returns a status, and how many rounds that took."""
    d, n, tau, order = dimension(table), y.shape[0], options[TAU], int(told[ORDER])
    pattern, at = options[EXACT:], OF_IDENTITY + y.shape[0]
    kappa, relative, tolerances = coefficients[at], coefficients[at + 1 : at + 1 + d], coefficients[at + 1 + d :]
    u, x, g, c = work[_EXPONENT][:d], work[_STATE][:n], work[_THERE][:d], h / coefficients[order]
    if told[KEPT] == 0.0:
        retract(table, tau, y, work[_PREDICTED][:d], work[_HERE][:n])
        differentiate(
            field, t + h, work[_HERE][:n], table, options[POSITIONS], pattern, parameters, structure, field_work,
            memory, 1, d, x, 1.0, counters,
        )  # fmt: skip
        told[KEPT] = told[HERE] = 1.0
        told[FACTORED] = 0.0
    if told[FACTORED] != c:
        factorise(c, memory, 1, d, coefficients[3 * ORDERS + 1 :], options[BLOCK:], pattern)
        told[FACTORED], told[SLOPE] = c, 1.0
    for m in range(d):
        work[_DELTA, m] = 0.0
    eta, theta, last, why = first_slope(told[SLOPE]), 0.0, 0.0, GOES_ON
    for k in range(MOST):
        for m in range(d):
            u[m] = work[_PREDICTED, m] + work[_DELTA, m]
        if leaves_chart(table, u):
            counters[STAGE] = 1
            return CHART_LEFT, k
        retract(table, tau, y, u, x)
        field(t + h, x, parameters, structure, field_work, g)
        dtau_inverse_left(table, tau, u, g, g)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        for m in range(d):
            memory[m] = c * g[m] - work[_PSI, m] - work[_DELTA, m]
        if nought(memory, d) != 0.0:
            return NON_FINITE, k
        correct(c, memory, 1, d, coefficients[3 * ORDERS :], coefficients[3 * ORDERS + 1 :], options[BLOCK:], pattern)
        size = sqrt(error_norm(table, y, y, memory[:d], relative, tolerances))
        theta, eta, why = judged(k, size, last, theta, eta, MOST, kappa)
        if why > SOLVED:
            break
        for m in range(d):
            work[_DELTA, m] += memory[m]
        if why == SOLVED:
            told[SLOPE] = eta
            return OK, k + 1
        last = size
    work[ERROR, 0], work[ERROR, 1] = theta, why
    return NOT_CONVERGED, MOST


@kernel
def _solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, told: Any, memory: Any, counters: Any,
) -> Any:  # fmt: skip
    """δ, with the J that is there and, where that does not serve, with that at the predicted state."""
    d, order = dimension(table), int(told[ORDER])
    for m in range(d):
        predicted, psi = 0.0, 0.0
        for j in range(1, order + 1):
            predicted += work[_DIFFERENCES + j, m]
            psi += coefficients[ORDERS + j] * work[_DIFFERENCES + j, m]
        work[_PREDICTED, m], work[_PSI, m] = predicted, psi / coefficients[order]
    if leaves_chart(table, work[_PREDICTED][:d]):
        counters[STAGE] = 0
        return CHART_LEFT, 0
    status, rounds = _newton(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory, counters
    )
    if status != OK and told[HERE] == 0.0:
        told[KEPT] = 0.0
        status, rounds = _newton(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory,
            counters,
        )  # fmt: skip
    return status, rounds


@kernel
def _seen_from_the_end(table: Any, coefficients: Any, options: Any, work: Any, told: Any) -> None:
    """The differences in the chart at the new state, from those in the old chart; of lower order where the past turns
    too far for a chart.
    """
    d, tau, order = dimension(table), options[TAU], int(told[ORDER])
    n, known, all_commute = coefficients.shape[0] - OF_IDENTITY - 1 - 2 * d, order + 2, True
    for row in range(table.shape[0]):
        all_commute = all_commute and COMMUTATIVE[table[row, KIND]] != 0
    if all_commute:
        return
    _to_values(work, d, known, known, 1.0)
    one, u = coefficients[OF_IDENTITY : OF_IDENTITY + n], work[_EXPONENT][:d]
    retract(table, tau, one, work[_VALUES][:d], work[_HERE][:n])
    reached = known
    for j in range(1, known + 1):
        past = work[_VALUES + j][:d]
        for m in range(d):
            u[m] = past[m] - work[_VALUES, m]
        if leaves_chart(table, past) or leaves_chart(table, u):
            reached = j - 1
            break
        retract(table, tau, one, past, work[_THERE][:n])
        increment(table, tau, work[_HERE][:n], work[_THERE][:n], past)
        keep_turns(table, u, past)
    for m in range(d):
        work[_VALUES, m] = 0.0
    _to_differences(work, d, reached)
    if reached < known:
        for j in range(reached + 1, known + 1):
            for m in range(d):
                work[_DIFFERENCES + j, m] = 0.0
        told[NEXT] = maximum(1.0, minimum(told[NEXT], reached - 1.0))


@kernel
def _choose(size: Any, safety: Any, y: Any, table: Any, coefficients: Any, options: Any, work: Any, told: Any) -> Any:
    """After an accepted step with an error of this size: the order of the next one, and the factor of its size."""
    d, order = dimension(table), int(told[ORDER])
    at = OF_IDENTITY + y.shape[0]
    relative, tolerances = coefficients[at + 1 : at + 1 + d], coefficients[at + 1 + d :]
    start, u = work[_START][: y.shape[0]], work[_EXPONENT][:d]
    best, factor = order, power(maximum(size, 1e-10), -1.0 / (order + 1.0))
    for other in (order - 1, order + 1):
        if 1 <= other <= options[HIGHEST_OPTION]:
            for m in range(d):
                u[m] = coefficients[2 * ORDERS + other] * work[_DIFFERENCES + other + 1, m]
            error = sqrt(error_norm(table, start, y, u, relative, tolerances))
            its = power(maximum(error, 1e-10), -1.0 / (other + 1.0))
            if its > factor:
                best, factor = other, its
    factor = minimum(GREATEST, safety * factor)
    if 0.9 < factor < WORTH and best == order:
        factor = 1.0
    told[NEXT] = 1.0 * best
    return factor


@kernel
def _remember(y: Any, d: Any, work: Any, told: Any) -> None:
    """The differences with the step that has been taken, in its chart."""
    order = int(told[ORDER])
    for m in range(d):
        delta = work[_DELTA, m]
        work[_DIFFERENCES + order + 2, m] = delta - work[_DIFFERENCES + order + 1, m]
        work[_DIFFERENCES + order + 1, m] = delta
        work[_DIFFERENCES, m] = 0.0
        for j in range(order, -1, -1):
            work[_DIFFERENCES + j, m] += work[_DIFFERENCES + j + 1, m]
    copy(y, work[_END][: y.shape[0]])
    told[BEGUN] = 0.0


@entry(STEP_SIGNATURE)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of a formula; the factor of the next one is left in the second row of errors."""
    d, n = dimension(table), y.shape[0]
    told = joined(work[_NUMBERS:])
    memory, u, at = told[OWN_NUMBERS:], work[_EXPONENT][:d], OF_IDENTITY + n
    relative, tolerances = coefficients[at + 1 : at + 1 + d], coefficients[at + 1 + d :]
    _begin(field, t, h, y, d, table, coefficients, options, parameters, structure, field_work, work, told, counters)
    if told[MOVED] > MOST_MOVED:
        work[ERROR, 0], work[ERROR, 1] = 1.0, FORGETFUL
        return NOT_CONVERGED
    status, rounds = _solve(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory, counters
    )
    if status != OK:
        told[SLOPE] = 1.0
        return status
    order = int(told[ORDER])
    for m in range(d):
        u[m] = work[_PREDICTED, m] + work[_DELTA, m]
        work[ERROR, m] = coefficients[2 * ORDERS + order] * work[_DELTA, m]
    if leaves_chart(table, u):
        counters[STAGE] = 1
        return CHART_LEFT
    advance_state(table, options[TAU], y, low, u, work[_STATE][:n], options[COMPENSATION], counters)
    size = sqrt(error_norm(table, work[_START][:n], y, work[ERROR][:d], relative, tolerances))
    safety = SAFETY * (2.0 * MOST + 1.0) / (2.0 * MOST + rounds)
    if not size <= 1.0:
        work[ERROR_LOW, 0] = maximum(LEAST, safety * power(size, -1.0 / (order + 1.0)))
        return OK
    told[EQUAL] += 1.0
    _remember(y, d, work, told)
    work[ERROR_LOW, 0] = 1.0
    if told[ALONE] > 0.0:
        work[ERROR_LOW, 0] = minimum(GREATEST, safety * power(maximum(size, 1e-10), -0.5))
    elif told[EQUAL] > order:
        work[ERROR_LOW, 0] = _choose(size, safety, y, table, coefficients, options, work, told)
    _seen_from_the_end(table, coefficients, options, work, told)
    counters[HISTORY] = 1
    return OK


@entry(STEP_SIGNATURE)
def interpolate(
    field: Any, t: Any, part: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """y, the state at the start of the last step, becomes the state at t + part within it, by the polynomial through
    the newest states, in the chart at the last of them.
    """
    d, told = dimension(table), joined(work[_NUMBERS:])
    u, order, back = work[_EXPONENT][:d], int(told[ORDER]), 1.0 - part / told[STEP]
    for m in range(d):
        total, weight = 0.0, 1.0
        for j in range(1, order + 1):
            weight = weight * (j - 1.0 - back) / j
            total += weight * work[_DIFFERENCES + j, m]
        u[m] = total
    retract(table, options[TAU], work[_END][: y.shape[0]], u, y)
    return OK


def _explain(errors: Array) -> str:
    """What the row of errors says of a step that failed."""
    if float(errors[1]) != FORGETFUL:
        return explain(errors)
    return (
        "the projection after a step moves states by more than errors may be, step for step (supports that move, "
        "velocities that are kept admissible), so that nothing is remembered and all steps are of order 1; take a "
        "method that does not remember, such as RKMK_RADAU_IIA5 or RKMK_KVAERNO54, or fixed steps"
    )


def _rows(options: NDArray[np.int64]) -> int:
    return ROWS


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    return OWN_ROWS + ROWS + -(-OWN_NUMBERS // columns) + newton_rows(1, problem, columns), columns


def _prepare(problem: Problem) -> tuple[Array, NDArray[np.int64]]:
    identity = [
        np.tile(np.asarray(FACTORS[kind].identity(0.0), dtype=np.float64), n_q // FACTORS[kind].N_Q)
        for kind, _, _, n_q, _ in problem.table.tolist()
    ]
    return np.concatenate(identity), np.append([problem.projection is not None], exact(problem)[1])


STEPPER = Stepper(
    "bdf_variable", step, _rows, maps=("exp", "cayley"), prepare=_prepare, evaluates="linearised", shape=_shape,
    explain=_explain, interpolant=interpolate, multistep=True, tolerances=told_tolerances, controller="ORDERED",
)  # fmt: skip


def constants() -> Array:
    """α, γ and the constants of the errors, for orders 0 … 6."""
    gamma = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, ORDERS))])
    kappa = np.array(KAPPAS)
    return np.concatenate([(1.0 - kappa) * gamma, gamma, kappa * gamma + 1.0 / np.arange(1.0, ORDERS + 1.0)])


def variable(method: Method) -> Method:
    """The method of `integrators.steppers.bdf` as it takes variable steps, with orders up to its own; it begins with
    order 1.
    """
    return replace(
        method,
        stepper=STEPPER,
        order=1,
        coefficients=np.concatenate([constants(), [1.0, 1.0]]),
        options=np.array([method.order, 1, 0]),
        dense_order=1,
    )
