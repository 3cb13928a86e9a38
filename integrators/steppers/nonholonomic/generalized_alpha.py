r"""Index-2 generalised-α on a group: velocities satisfy the constraints, high frequencies are damped by design.

    a₁ = ((1 − α_f) v̇₁ + α_f v̇₀ − α_m a₀)/(1 − α_m)
    q₁ = q exp(h [v₀ + h (½ − β) a₀ + h β a₁]),    v₁ = v₀ + h (1 − γ) a₀ + h γ a₁
    M₁ v̇₁ + r₁ − D₁ = (F − G)₁ + A₁ᵀ λ₁,    A₁ v₁ = c₁

    α_m = (2ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ + α_f − α_m,   β = (γ + ½)²/4

with the spectral radius ρ at infinity.  Order 2, not symmetric; the height of a rolling contact drifts by O(h²).  The rival from
engineering: right for stiff tyres and joints, never for questions of energy.
Sources: Arnold and Brüls 2007; Arnold, Brüls and Cardona 2015.

coefficients
    ρ.
options
    largest number of iterations.
own rows
    MEMORY holds a, MEMORY_2 v̇.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import END, HX, MEMORY, MEMORY_2, MU, NODE, SCRATCH, L, P, R, S, X
from liegroup.compile import any_, entry, helper, kernel, ld, ld2, st, st2

LIMIT = OWN_OPTIONS


@helper
def balance(values: Any, structure: Any, i: Any) -> Any:
    """Component i of F − G + D − r."""
    at = constrained(structure[0], structure[1], structure[2])
    return node.force(values, structure, i) + ld(values, at.KINETIC + i) - ld(values, at.RATE + i)


@kernel
def _start(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, work: Any) -> None:
    """a <- v̇ <- the acceleration of the equations with multipliers, with the factors of the node."""
    n, m = structure[0], structure[1]
    n_q = y.shape[0] - n
    at = constrained(n, m, structure[2])
    node.parts_at(parts, t, y[:n_q], y[n_q:], parameters, structure, field_work, work, NODE)
    node.factor(work[NODE], structure, work)
    for i in range(n):
        st2(work, R, i, balance(work[NODE], structure, i))
    for j in range(m):
        st2(work, S, j, -ld(work[NODE], at.BIAS + j))
    node.solve_node(work[NODE], structure, work)
    for i in range(n):
        st2(work, MEMORY, i, ld2(work, R, i))
        st2(work, MEMORY_2, i, ld2(work, R, i))
    for j in range(m):
        st2(work, L, j, ld2(work, S, j))


@kernel
def _place(h: Any, v: Any, rho: Any, work: Any, n: Any) -> None:
    """a₁ into P, v₁ into MU, the increment of q into HX, all from v̇₁ in X."""
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) * (gamma + 0.5)
    for i in range(n):
        a0 = ld2(work, MEMORY, i)
        a1 = ((1.0 - af) * ld2(work, X, i) + af * ld2(work, MEMORY_2, i) - am * a0) / (1.0 - am)
        st2(work, P, i, a1)
        st2(work, MU, i, ld(v, i) + h * ((1.0 - gamma) * a0 + gamma * a1))
        st2(work, HX, i, h * (ld(v, i) + h * ((0.5 - beta) * a0 + beta * a1)))


@kernel
def _solve(
    parts: Any, t: Any, h: Any, y: Any, group: Any, rho: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any,
) -> int:  # fmt: skip
    """X = v̇₁ and L = λ₁, to rounding; the matrix is the node's, A v₁ = c₁ divided by h γ (1 − α_f)/(1 − α_m)."""
    n, m = structure[0], structure[1]
    n_q, tau = y.shape[0] - n, options[TAU]
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    slope = h * (0.5 + af - am) * (1.0 - af) / (1.0 - am)
    velocity, hx = work[MU][:n], work[HX][:n]
    zero = ld(y, 0) * 0.0
    going, best = zero + 1.0, zero + 1.0
    for count in range(options[LIMIT]):
        _place(h, y[n_q:], rho, work, n)
        node.parts_beyond(parts, t + h, group, tau, y[:n_q], hx, velocity, parameters, structure, field_work, work, END)
        node.mass_times(work[END], structure, work[X][:n], work[SCRATCH][:n])
        for i in range(n):
            push = node.reaction(work[END], structure, work[L], i)
            st2(work, R, i, balance(work[END], structure, i) + push - ld2(work, SCRATCH, i))
        for j in range(m):
            st2(work, S, j, -(node.row_defect(work[END], structure, velocity, j) / slope))
        node.solve_node(work[NODE], structure, work)
        node.learn(work, n, m, count)
        change, size = node.add_solution(work, X, R, n, going)
        node.add_solution(work, L, S, m, going)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        going, best = node.converged(change, size, best, going)
        if node.fails(best):
            return NON_FINITE
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step; `field` is the problem's parts."""
    n = structure[0]
    n_q, rho = y.shape[0] - n, coefficients[0]
    group, v, hx = table[: table.shape[0] - 1], y[y.shape[0] - n :], work[HX][:n]
    if counters[HISTORY] == 0:
        _start(field, t, y, parameters, structure, field_work, work)
    else:
        node.parts_at(field, t, y[:n_q], v, parameters, structure, field_work, work, NODE)
        node.factor(work[NODE], structure, work)
    counters[HISTORY] = 0
    for i in range(n):
        st2(work, X, i, ld2(work, MEMORY_2, i))
    status = _solve(field, t, h, y, group, rho, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(group, hx):
        status = CHART_LEFT
    if status != OK:
        return status
    _place(h, v, rho, work, n)
    advance_state(group, options[TAU], y, low, hx, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    for i in range(n):
        st(v, i, ld2(work, MU, i))
        st(low, n_q + i, 0.0)
        st2(work, MEMORY, i, ld2(work, P, i))
        st2(work, MEMORY_2, i, ld2(work, X, i))
    counters[HISTORY] = 1
    return OK


STEPPER = Stepper(
    "generalized-alpha-rolling",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=node.check,
    evaluates="parts",
    shape=node.work_shape,
)


def generalized_alpha(name: str, radius: float = 0.8, iterations: int = 120, **changes: object) -> Method:
    """The method with spectral radius ρ in [0, 1] at infinity; ValueError outside."""
    if not 0.0 <= radius <= 1.0:
        raise ValueError(f"radius: {radius}, expected a spectral radius in [0, 1]")
    return Method(
        name=name,
        stepper=STEPPER,
        order=2,
        coefficients=np.array([radius]),
        options=np.array([iterations]),
        source="Arnold and Brüls 2007",
        **changes,  # type: ignore[arg-type]
    )
