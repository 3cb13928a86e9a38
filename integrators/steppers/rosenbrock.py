"""Rosenbrock methods on any product of groups: one linear system per stage, no iteration.

The Rosenbrock method of a table is applied to the equation of the step in its chart, y τ(u) with u(0) = 0,

    u̇ = g(t, u) = dτ_left(u)⁻¹ f(t, y τ(u)),      J = ∂g/∂u at u = 0:  J δ = (∂f/∂x) δ + ½ [δ, f]
    (1/(hγ) − J) Uᵢ = g(t + cᵢh, Σ aᵢⱼ Uⱼ) + Σ (Cᵢⱼ/h) Uⱼ + h gᵢ ∂f/∂t,      y <- y τ(Σ mᵢ Uᵢ)

so that its order on Rⁿ is its order on every group.  ∂f/∂x comes from the problem (`Problem.jacobian`) or from central
differences, ∂f/∂t from differences within the step.  J belongs to the method, not to an iteration: an error in it is
an error of the step.  Source: Hairer and Wanner 1996, IV.7; Munthe-Kaas 1999.

coefficients
    A, C (s, s) by rows, m, e, c, g (s each), γ, with which R = γ of the linear systems begins; what counts as one in
    each component of the velocity.
options
    stages s; 1 with an error estimate; the block of R (2); 1 if the problem has a Jacobian; 1 if it is autonomous.
own rows
    Uᵢ (s); field; exponent; stage state; scratch; ∂f/∂t; the memory of `integrators.steppers.newton`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.matrices import solve_factors
from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, OWN_OPTIONS, OWN_ROWS, POSITIONS, STAGE, TAU
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.sparsity import per
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, OK
from integrators.steppers.common import advance_state, clear, copy, dimension, leaves_chart
from integrators.steppers.iteration import nought
from integrators.steppers.newton import sizes, tiny_as_one
from integrators.steppers.newton_systems import factorise, room
from integrators.tableaus import RosenbrockTableau
from liegroup.compile import absolute, any_, entry, helper, joined, kernel, ld, st
from liegroup.compile.scalars import maximum, minimum
from liegroup.table import KIND, N_V, Q_OFFSET, RN, V_OFFSET, bracket, dtau_inverse_left, retract

LOOPS = "rows"

STAGES, ESTIMATE, BLOCK, EXACT, AUTONOMOUS = (OWN_OPTIONS, OWN_OPTIONS + 1, OWN_OPTIONS + 2, OWN_OPTIONS + 4,
                                              OWN_OPTIONS + 6)  # fmt: skip
_DELTA = 2.0**-17
"""Of central differences, relative to the size of what is moved: errors of truncation and rounding meet near 1e-11."""
_OF_WAY = 2.0**-4
"""Least size of what is moved, in parts of what the step adds: of a state that is zero but for rounding, differences
relative to itself would be noise of the field.
"""
_PART = 2.0**-10
"""Of the step, for the derivative by the time."""


@helper
def own(s: Any) -> Any:
    """Rows: field, exponent, stage state, scratch, ∂f/∂t, memory."""
    first = OWN_ROWS + s
    return first, first + 1, first + 2, first + 3, first + 4, first + 5


@kernel
def _own_sizes(y: Any, h: Any, value: Any, slope: Any, autonomous: Any, table: Any, often: Any, out: Any) -> None:
    """The size of the factor, and `_OF_WAY` of h f + h² ∂f/∂t at least, <- that of the number itself on Rⁿ, one at
    least, where that is less.
    """
    for row in range(table.shape[0]):
        if table[row, KIND] == RN:
            first, way = table[row, V_OFFSET], 0.0 * ld(y, 0)
            for i in range(first, first + table[row, N_V]):
                adds = absolute(h * ld(value, i))
                if not autonomous:
                    adds = adds + absolute(h * h * ld(slope, i))
                way = maximum(way, _OF_WAY * often[i] * adds)
            for k in range(table[row, N_V]):
                i = first + k
                own = maximum(absolute(ld(y, table[row, Q_OFFSET] + k)), 0.0 * ld(y, 0) + 1.0 / often[i])
                st(out, i, minimum(maximum(ld(out, i), way / often[i]), own))


@kernel
def _by_time(
    field: Any, t: Any, h: Any, y: Any, d: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, counters: Any,
) -> None:  # fmt: skip
    """∂f/∂t at the start, from three values within the step."""
    value, _, _, scratch, slope, _ = own(options[STAGES])
    part = _PART * h
    field(t + part, y, parameters, structure, field_work, work[scratch][:d])
    field(t + 2.0 * part, y, parameters, structure, field_work, work[slope][:d])
    for m in range(d):
        rise = 4.0 * (ld(work[scratch], m) - ld(work[value], m)) - (ld(work[slope], m) - ld(work[value], m))
        st(work[slope], m, rise / (2.0 * part))
    counters[EVALUATIONS] += 2


@kernel
def _linearise(
    field: Any, t: Any, h: Any, y: Any, table: Any, often: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> None:  # fmt: skip
    """f at the start into the row of the field, ∂f/∂t into its own, and J into the memory."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    value, exponent, state, scratch, slope, row = own(s)
    memory, at = joined(work[row:]), room(1, d, -1)
    J, size, u, x = memory[at.jacobian :], memory[at.size :], work[exponent][:d], work[state][:n]
    if options[EXACT]:
        both = memory[at.value : at.value + d + d * d]
        field(t, y, parameters, structure, field_work, both)
        copy(both[:d], work[value][:d])
        for k in range(d * d):
            st(J, k, ld(both, d + k))
    else:
        field(t, y, parameters, structure, field_work, work[value][:d])
    counters[EVALUATIONS] += 1
    if not options[AUTONOMOUS]:
        _by_time(field, t, h, y, d, options, parameters, structure, field_work, work, counters)
    if not options[EXACT]:
        sizes(y, table, options[POSITIONS], often, size, ld(y, 0) * 0.0 + 1.0)
        _own_sizes(y, h, work[value], work[slope], options[AUTONOMOUS], table, often, size)
        ahead, behind = memory[at.value : at.value + d], memory[at.value + d : at.value + 2 * d]
        clear(u)
        for b in range(d):
            delta = _DELTA * tiny_as_one(ld(size, b))
            st(u, b, delta)
            retract(table, 0, y, u, x)
            field(t, x, parameters, structure, field_work, ahead)
            st(u, b, -delta)
            retract(table, 0, y, u, x)
            field(t, x, parameters, structure, field_work, behind)
            st(u, b, 0.0)
            for m in range(d):
                st(J, m * d + b, (ld(ahead, m) - ld(behind, m)) / (2.0 * delta))
        counters[EVALUATIONS] += 2 * d
    clear(u)
    for b in range(d):
        st(u, b, 1.0)
        bracket(table, u, work[value][:d], work[scratch][:d])
        st(u, b, 0.0)
        for m in range(d):
            st(J, m * d + b, ld(J, m * d + b) + 0.5 * ld(work[scratch], m))


@helper
def _combine(work: Any, coefficients: Any, start: Any, s: Any, out: Any) -> None:
    """out = Σⱼ coefficients[start + j] Uⱼ over the first s."""
    for m in range(out.shape[0]):
        total = 0.0 * ld(out, m)
        for j in range(s):
            total = total + coefficients[start + j] * ld(work[OWN_ROWS + j], m)
        st(out, m, total)


@kernel
def _stage(
    field: Any, t: Any, h: Any, y: Any, i: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> bool:  # fmt: skip
    """Uᵢ into its row; returns whether its exponent leaves the chart."""
    s, d, n, tau = options[STAGES], dimension(table), y.shape[0], options[TAU]
    value, exponent, state, _, slope, row = own(s)
    memory, at, q = joined(work[row:]), room(1, d, -1), 2 * s * s
    gamma, U, u, g = coefficients[q + 4 * s], work[OWN_ROWS + i][:d], work[exponent][:d], work[value][:d]
    if i > 0:
        clear(u)
        _combine(work, coefficients, i * s, i, u)
        if leaves_chart(table, u):
            counters[STAGE] = i
            return True
        retract(table, tau, y, u, work[state][:n])
        field(t + coefficients[q + 2 * s + i] * h, work[state][:n], parameters, structure, field_work, g)
        dtau_inverse_left(table, tau, u, g, g)
        counters[EVALUATIONS] += 1
    clear(U)
    _combine(work, coefficients, s * s + i * s, i, U)
    for m in range(d):
        right = h * ld(g, m) + ld(U, m)
        if not options[AUTONOMOUS]:
            right = right + (h * h * coefficients[q + 3 * s + i]) * ld(work[slope], m)
        st(U, m, gamma * right)
    solve_factors(memory[at.factors :], d, memory[at.pivots :], U)
    return False


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of a Rosenbrock method."""
    s, d, n, q = options[STAGES], dimension(table), y.shape[0], 2 * options[STAGES] * options[STAGES]
    _, exponent, state, _, _, row = own(s)
    often = coefficients[q + 4 * s + 1 :]
    _linearise(field, t, h, y, table, often, options, parameters, structure, field_work, work, counters)
    factorise(h, joined(work[row:]), 1, d, coefficients[q + 4 * s :], options[BLOCK:], options[EXACT:])
    for i in range(s):
        if _stage(field, t, h, y, i, table, coefficients, options, parameters, structure, field_work, work, counters):
            return CHART_LEFT
    u = work[exponent][:d]
    _combine(work, coefficients, q, s, u)
    if any_(nought(u, d) != 0.0):
        return NON_FINITE
    if leaves_chart(table, u):
        counters[STAGE] = s
        return CHART_LEFT
    advance_state(table, options[TAU], y, low, u, work[state][:n], options[COMPENSATION], counters)
    if options[ESTIMATE]:
        _combine(work, coefficients, q + s, s, work[ERROR][:d])
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return int(options[0]) + 5


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    return OWN_ROWS + _rows(options) + -(-room(1, problem.dimension, -1).end // columns), columns


def _prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    often = problem.derivative_pattern[per(problem.dimension)].view(np.float64)
    return often, np.array([problem.has_jacobian, -1, problem.is_autonomous])


STEPPER = Stepper(
    "rosenbrock",
    step,
    _rows,
    maps=("exp", "cayley"),
    prepare=_prepare,
    evaluates="linearised",
    shape=_shape,
    needs_derivative=True,
)


def rosenbrock(tableau: RosenbrockTableau, name: str = "", **changes: Any) -> Method:
    """The Rosenbrock method of a table on any product of groups."""
    r = tableau.transformed
    numbers = [r.A.ravel(), r.C.ravel(), r.m, r.e, r.c, r.g, np.array([r.gamma])]
    return Method(
        name=name or tableau.name,
        stepper=STEPPER,
        order=tableau.order,
        coefficients=np.concatenate(numbers),
        options=np.array([tableau.stages, bool(tableau.b_hat), 1, 0]),
        embedded_order=tableau.embedded_order,
        source=tableau.source,
        **changes,
    )
