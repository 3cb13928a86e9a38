"""Implicit Runge-Kutta-Munthe-Kaas by Newton's method, for stiff problems; the equations are those of
`integrators.steppers.implicit`.

    (1 − h A ⊗ J) Δk = r(k),   k <- k + Δk,     J = ∂f/∂x at the start of the step, f(t, y τ(x))

with one derivative (by differences, d + 1 evaluations) and one inverse per step.  What the matrix leaves out, the terms
½[u, k] of the inverse differential, is small with the step and not stiff. Source: Hairer and Wanner 1996, IV.8.

coefficients, options
    those of `integrators.steppers.implicit`, and A (s, s) by rows once more, not centred.
own rows
    those of `integrators.steppers.implicit`; residual and change of all kᵢ (2); J (d); the matrix and its inverse side
    by side (s d).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.elimination import solve_rows
from integrators.layout import ERROR, EVALUATIONS, ITERATIONS, OWN_ROWS
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURES
from integrators.status import NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import dimension
from integrators.steppers.implicit import (
    LIMIT,
    PAST,
    STAGES,
    accept,
    centre,
    evaluate,
    implicit_rkmk,
    own,
    own_rows,
    start,
)
from integrators.steppers.iteration import goes_on, relative, unsolved
from integrators.tableaus import ButcherTableau
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from liegroup.table import retract

_DELTA = 2.0**-26
"""Differences for the derivative: half the digits are lost, and the iteration converges as if none were."""


@helper
def newton_rows(options: Any) -> Any:
    """Rows: residual, change, where J begins."""
    after = own(options[STAGES])[4] + options[STAGES] * options[PAST]
    return after, after + 1, after + 2


@kernel
def differentiate(
    field: Any,
    t: Any,
    y: Any,
    table: Any,
    options: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
    counters: Any,
) -> None:
    """J by differences at the start of the step."""
    d, n = dimension(table), y.shape[0]
    new, exponent, _, state, _ = own(options[STAGES])
    residual, _, jacobian = newton_rows(options)
    here, there, u, x = work[residual][:d], work[new][:d], work[exponent][:d], work[state][:n]
    field(t, y, parameters, structure, field_work, here)
    for b in range(d):
        for m in range(d):
            st(u, m, _DELTA if m == b else 0.0)
        retract(table, 0, y, u, x)
        field(t, x, parameters, structure, field_work, there)
        for m in range(d):
            st2(work, jacobian + m, b, (ld(there, m) - ld(here, m)) / _DELTA)
    counters[EVALUATIONS] += d + 1


@kernel
def assemble(h: Any, table: Any, coefficients: Any, options: Any, work: Any) -> None:
    """1 − h A ⊗ J, and its inverse beside it."""
    s, d = options[STAGES], dimension(table)
    jacobian = newton_rows(options)[2]
    first, plain, size = jacobian + d, s * s + 3 * s, s * d
    for i in range(size):
        for j in range(size):
            st2(work, first + i, size + j, 1.0 if i == j else 0.0)
    for i in range(s):
        for j in range(s):
            a = h * coefficients[plain + i * s + j]
            for m in range(d):
                for b in range(d):
                    one = 1.0 if i == j and m == b else 0.0
                    st2(work, first + i * d + m, j * d + b, one - a * ld2(work, jacobian + m, b))
    solve_rows(work, first, size, size)


@kernel
def improve(d: Any, options: Any, work: Any, going: Any) -> Any:
    """k <- k + Δk where the iteration is still going; returns the largest change and the largest value."""
    s = options[STAGES]
    residual, change, jacobian = newton_rows(options)
    first, size = jacobian + d, s * d
    largest, speed = going * 0.0, going * 0.0
    for i in range(size):
        total = going * 0.0
        for j in range(size):
            total = total + ld2(work, first + i, size + j) * ld2(work, residual, j)
        st2(work, change, i, total)
    for i in range(s):
        k = work[OWN_ROWS + i]
        for m in range(d):
            delta = ld2(work, change, i * d + m)
            value = select(going > 0.0, ld(k, m) + delta, ld(k, m))
            largest, speed = maximum(largest, absolute(delta)), maximum(speed, absolute(value))
            st(k, m, value)
    return largest, speed


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, counters: Any,
) -> Any:  # fmt: skip
    """Iterate the kᵢ to rounding; each lane stops by itself."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    new, residual = own(s)[0], newton_rows(options)[0]
    differentiate(field, t, y, table, options, parameters, structure, field_work, work, counters)
    assemble(h, table, coefficients, options, work)
    zero = ld(y, 0) * 0.0
    going, best = zero + 1.0, zero + 1.0
    for _ in range(options[LIMIT]):
        centre(h, y, table, coefficients, options, work)
        for i in range(s):
            evaluate(field, t, h, n, i, table, coefficients, options, parameters, structure, field_work, work)
            for m in range(d):
                st2(work, residual, i * d + m, ld2(work, new, m) - ld2(work, OWN_ROWS + i, m))
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        largest, speed = improve(d, options, work, going)
        distance = relative(largest, speed)
        if any_(distance != distance):
            return NON_FINITE
        going, best = goes_on(going, distance, best), distance
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED if unsolved(going, best) else OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of an implicit Runge-Kutta-Munthe-Kaas method, solved by Newton's method."""
    start(field, t, y, table, options, parameters, structure, field_work, work, counters)
    status = solve(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters)
    return accept(status, h, y, low, table, coefficients, options, work, counters)


def _rows(options: NDArray[np.int64]) -> int:
    return own_rows(options) + 2


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    size = int(options[0]) * problem.dimension
    return OWN_ROWS + _rows(options) + problem.dimension + size, max(problem.n, 2 * size)


CENTRED_NEWTON = Stepper("implicit_rkmk_newton", step, _rows, maps=("exp", "cayley"), shape=_shape)
NEWTON_AT_START = Stepper("implicit_rkmk_newton", step, _rows, shape=_shape)


def newton_rkmk(
    tableau: ButcherTableau, name: str = "", centred: bool | None = None, iterations: int = 50, **changes: Any
) -> Method:
    """The implicit Runge-Kutta-Munthe-Kaas method of a tableau, solved by Newton's method: for stiff problems.

    Parameters
    ----------
    tableau, name, centred, iterations
        As for `implicit_rkmk`.
    """
    method = implicit_rkmk(tableau, name or f"RKMK[{tableau.name}, Newton]", centred, iterations)
    return Method(
        name=method.name,
        stepper=CENTRED_NEWTON if method.stepper.maps == CENTRED_NEWTON.maps else NEWTON_AT_START,
        order=method.order,
        coefficients=np.concatenate([method.coefficients, tableau.rounded.A.ravel()]),
        options=method.options,
        embedded_order=method.embedded_order,
        symmetric=method.symmetric,
        source=method.source,
        **changes,
    )
