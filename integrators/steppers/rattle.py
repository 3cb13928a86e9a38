"""RATTLE for any Lagrangian with holonomic constraints, on Rⁿ and on groups (`integrators.problem.holonomic`).

One velocity v carries q₀ to q₁ = q₀ τ(X), X = h v; the discrete Lagrangian (h/2)(L(q₀, v) + L(q₁, v)) and impulses λ, μ
of the constraints give, with π = ∂L/∂v, φ = ∂L/∂q + F and π̄ = (π(q₀, v) + π(q₁, v))/2,

    dτ_right(X)⁻ᵀ π̄ = p₀ + (h/2) φ(q₀, v) + Φ₀ᵀ λ,        c(t₁, q₁) = 0
    p₁ = Ad_{τ(X)}ᵀ (p₀ + (h/2) φ(q₀, v) + Φ₀ᵀ λ) + (h/2) φ(q₁, v) + Φ₁ᵀ μ,        Φ₁ v(t₁, q₁, p₁) + ∂c/∂t = 0

On Rⁿ with a constant mass matrix this is the classical RATTLE; on SO(3) and SE(3) a Lie group variational integrator.
Symmetric, symplectic on the constraint manifold, order 2; momenta of symmetries that the constraints share are kept.
Newton's method on (v, λ) with exact derivatives; c and its rate end at rounding.  λ + μ is h times the mean reaction.
Sources: Andersen 1983; Leimkuhler and Skeel 1994; Reich 1996; Marsden and West 2001, section 3; Leyendecker, Marsden
and Ortiz 2008.

work
    rows: states of both nodes; their values; v; X; −X; (λ, μ); π̄; scratch (4); Newton's equations (n + m).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import absorb
from integrators.arithmetic.elimination import solve_rows
from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, ITERATIONS, OWN_ROWS, TAU
from integrators.method import Method, Stepper
from integrators.method.step_map import SingleStep
from integrators.problem import Problem
from integrators.problem.holonomic import constraints_layout
from integrators.problem.parts import lagrangian as layout
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.own import by_own_steps, own_stepper
from integrators.tableaus import Composition
from liegroup.compile import absolute, any_, entry, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from liegroup.table import (
    N_V,
    coadjoint_difference,
    dtau_inverse_left_transpose_derivative,
    dtau_inverse_right_transpose,
    dtau_left,
    retract,
)

(STATE0, STATE1, VALUES0, VALUES1, VELOCITY, TWIST, BACK, IMPULSES, MEAN, UNIT, MOVED, SCRATCH, CHANGE, SYSTEM) = range(
    OWN_ROWS, OWN_ROWS + 14
)  # fmt: skip
LIMIT = 30
SMALL = 1e-8
"""Relative correction of an exact Newton iteration that leaves an error below rounding."""
ROUNDED = 1e-15
"""Part of the positions, over h, below which corrections are their rounding: far from the origin, of slow motions."""


@kernel
def nodes(
    parts: Any, t: Any, h: Any, y: Any, group: Any, tau: Any, n_q: Any, n: Any, size: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any,
) -> None:  # fmt: skip
    """X, q₁ and the values at both nodes for the present v; π̄."""
    at = layout(n)
    start, end = work[STATE0][: n_q + n], work[STATE1][: n_q + n]
    for i in range(n):
        v = ld(work[VELOCITY], i)
        st(start, n_q + i, v)
        st(end, n_q + i, v)
        st(work[TWIST], i, h * v)
        st(work[BACK], i, -h * v)
    for i in range(n_q):
        st(start, i, ld(y, i))
    retract(group, tau, start, work[TWIST], end)
    parts(t, start, parameters, structure, field_work, work[VALUES0][:size])
    parts(t + h, end, parameters, structure, field_work, work[VALUES1][:size])
    for i in range(n):
        st(work[MEAN], i, 0.5 * (ld(work[VALUES0], at.MOMENTUM + i) + ld(work[VALUES1], at.MOMENTUM + i)))


@kernel
def aimed(h: Any, y: Any, n_q: Any, n: Any, m: Any, work: Any, out: Any) -> None:
    """(h/2) φ(q₀, v) + Φ₀ᵀ λ."""
    at = constraints_layout(n, m)
    for i in range(n):
        x = (0.5 * h) * ld(work[VALUES0], i)
        for c in range(m):
            x = x + ld(work[VALUES0], at.ROWS + n * c + i) * ld(work[IMPULSES], c)
        st(out, i, x)


@kernel
def assemble(h: Any, y: Any, group: Any, tau: Any, n_q: Any, n: Any, m: Any, work: Any) -> None:
    """Newton's equations for (v, λ): matrix, and minus the residual in the last column."""
    of_l, of_c = layout(n), constraints_layout(n, m)
    start, end, unit, moved, z = work[VALUES0], work[VALUES1], work[UNIT], work[MOVED], work[SCRATCH]
    aimed(h, y, n_q, n, m, work, moved)
    dtau_inverse_right_transpose(group, tau, work[TWIST], work[MEAN], z)
    for i in range(n):
        st2(work, SYSTEM + i, n + m, ld(z, i) - (ld(y, n_q + i) + ld(moved, i)))
    for c in range(m):
        st2(work, SYSTEM + n + c, n + m, -ld(end, of_c.GAP + c))
        for d in range(m):
            st2(work, SYSTEM + n + c, n + d, 0.0)
        for i in range(n):
            st2(work, SYSTEM + i, n + c, ld(start, of_c.ROWS + n * c + i))
    for k in range(n):
        for i in range(n):
            st(unit, i, h if i == k else 0.0)
        dtau_left(group, tau, work[TWIST], unit, moved)
        for c in range(m):
            x = 0.0 * ld(moved, 0)
            for i in range(n):
                x = x + ld(end, of_c.ROWS + n * c + i) * ld(moved, i)
            st2(work, SYSTEM + n + c, k, x)
        change = work[CHANGE]
        for i in range(n):
            x = ld(start, of_l.MOMENTUM_V + n * i + k) + ld(end, of_l.MOMENTUM_V + n * i + k)
            for j in range(n):
                x = x + ld(end, of_l.MOMENTUM_Q + n * i + j) * ld(moved, j)
            st(change, i, 0.5 * x)
        dtau_inverse_right_transpose(group, tau, work[TWIST], change, z)
        dtau_inverse_left_transpose_derivative(group, tau, work[BACK], work[MEAN], unit, change)
        for i in range(n):
            x = (0.5 * h) * ld(start, of_l.PUSH_V + n * i + k) - (ld(z, i) - ld(change, i))
            st2(work, SYSTEM + i, k, x)


@kernel
def solve(
    parts: Any, t: Any, h: Any, y: Any, group: Any, tau: Any, n_q: Any, n: Any, m: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """Newton's method on v and λ; each lane stops by itself; the values at the nodes are those of the solution."""
    size, zero = constraints_layout(n, m).SIZE, 0.0 * ld(y, 0)
    going, left, far = zero + 1.0, zero, zero
    for i in range(n_q):
        far = maximum(far, absolute(ld(y, i)))
    for _ in range(LIMIT):
        nodes(parts, t, h, y, group, tau, n_q, n, size, parameters, structure, field_work, work)
        counters[EVALUATIONS] += 2
        if not any_(going > 0.0):
            return OK
        assemble(h, y, group, tau, n_q, n, m, work)
        solve_rows(work, SYSTEM, n + m, 1)
        change, speed = zero, zero
        for i in range(n):
            d = select(going > 0.0, ld2(work, SYSTEM + i, n + m), zero)
            v = ld(work[VELOCITY], i) + d
            st(work[VELOCITY], i, v)
            change, speed = maximum(change, absolute(d)), maximum(speed, absolute(v))
        for c in range(m):
            d = select(going > 0.0, ld2(work, SYSTEM + n + c, n + m), zero)
            st(work[IMPULSES], c, ld(work[IMPULSES], c) + d)
        counters[ITERATIONS] += 1
        left = change / select(speed == 0.0, 1.0 + speed, speed)
        if any_(left != left):
            return NON_FINITE
        going = select((left <= SMALL) | (change * abs(h) <= ROUNDED * far), zero, going)
    st(work[ERROR], 0, left)
    return NOT_CONVERGED


@kernel
def begin(
    parts: Any, t: Any, y: Any, n_q: Any, n: Any, m: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any
) -> None:  # fmt: skip
    """First guess: no impulse, and v from p₀ by one Newton step from rest (exact where π is linear in v)."""
    at, state = layout(n), work[STATE0][: n_q + n]
    for i in range(n_q):
        st(state, i, ld(y, i))
    for i in range(n):
        st(state, n_q + i, 0.0)
    parts(t, state, parameters, structure, field_work, work[VALUES0][: at.SIZE])
    counters[EVALUATIONS] += 1
    for i in range(n):
        for j in range(n):
            st2(work, SYSTEM + i, j, ld(work[VALUES0], at.MOMENTUM_V + n * i + j))
        st2(work, SYSTEM + i, n, ld(y, n_q + i) - ld(work[VALUES0], at.MOMENTUM + i))
    solve_rows(work, SYSTEM, n, 1)
    for i in range(n):
        st(work[VELOCITY], i, ld2(work, SYSTEM + i, n))
    for c in range(2 * m):
        st(work[IMPULSES], c, 0.0)


@kernel
def close(
    parts: Any, t: Any, p: Any, n_q: Any, n: Any, m: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any
) -> int:  # fmt: skip
    """μ and v at the end: π(q₁, v) = p + Φ₁ᵀ μ, Φ₁ v + ∂c/∂t = 0; the row `SCRATCH` <- Φ₁ᵀ μ."""
    of_l, of_c = layout(n), constraints_layout(n, m)
    state, values, zero = work[STATE1][: n_q + n], work[VALUES1][: constraints_layout(n, m).SIZE], 0.0 * ld(p, 0)
    going = zero + 1.0
    for _ in range(LIMIT):
        parts(t, state, parameters, structure, field_work, values)
        counters[EVALUATIONS] += 1
        for i in range(n):
            x = ld(p, i) - ld(values, of_l.MOMENTUM + i)
            for j in range(n):
                st2(work, SYSTEM + i, j, ld(values, of_l.MOMENTUM_V + n * i + j))
            for c in range(m):
                row = ld(values, of_c.ROWS + n * c + i)
                st2(work, SYSTEM + i, n + c, -row)
                st2(work, SYSTEM + n + c, i, row)
                x = x + row * ld(work[IMPULSES], m + c)
            st2(work, SYSTEM + i, n + m, x)
        for c in range(m):
            x = ld(values, of_c.RATE + c)
            for i in range(n):
                x = x + ld(values, of_c.ROWS + n * c + i) * ld(state, n_q + i)
            for d in range(m):
                st2(work, SYSTEM + n + c, n + d, 0.0)
            st2(work, SYSTEM + n + c, n + m, -x)
        solve_rows(work, SYSTEM, n + m, 1)
        change, speed = zero, zero
        for i in range(n):
            d = select(going > 0.0, ld2(work, SYSTEM + i, n + m), zero)
            v = ld(state, n_q + i) + d
            st(state, n_q + i, v)
            change, speed = maximum(change, absolute(d)), maximum(speed, absolute(v))
        for c in range(m):
            d = select(going > 0.0, ld2(work, SYSTEM + n + c, n + m), zero)
            st(work[IMPULSES], m + c, ld(work[IMPULSES], m + c) + d)
        left = change / select(speed == 0.0, 1.0 + speed, speed)
        if any_(left != left):
            return NON_FINITE
        going = select(left <= SMALL, zero, going)
        if not any_(going > 0.0):
            for i in range(n):
                x = zero
                for c in range(m):
                    x = x + ld(values, of_c.ROWS + n * c + i) * ld(work[IMPULSES], m + c)
                st(work[SCRATCH], i, x)
            return OK
    return NOT_CONVERGED


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of RATTLE; `field` gives the derivatives of the Lagrangian and of the constraints."""
    group, n, m, tau = table[: table.shape[0] - 1], table[table.shape[0] - 1, N_V], structure[0], options[TAU]
    n_q = y.shape[0] - n
    begin(field, t, y, n_q, n, m, parameters, structure, field_work, work, counters)
    status = solve(field, t, h, y, group, tau, n_q, n, m, parameters, structure, field_work, work, counters)
    if status != OK:
        return status
    if leaves_chart(group, work[TWIST]):
        return CHART_LEFT
    change, onward, p = work[CHANGE], work[MOVED], work[UNIT]
    aimed(h, y, n_q, n, m, work, change)
    for i in range(n):
        st(p, i, ld(y, n_q + i) + ld(change, i))
    coadjoint_difference(group, tau, work[TWIST], p, onward)
    for i in range(n):
        st(change, i, (ld(change, i) + ld(onward, i)) + (0.5 * h) * ld(work[VALUES1], i))
        st(p, i, ld(y, n_q + i) + ld(change, i))
    status = close(field, t + h, p, n_q, n, m, parameters, structure, field_work, work, counters)
    if status != OK:
        return status
    for i in range(n):
        st(onward, n_q + i, ld(change, i) + ld(work[SCRATCH], i))
    absorb(y, low, onward, n_q, n_q + n, options[COMPENSATION])
    advance_state(group, tau, y, low, work[TWIST], onward, options[COMPENSATION], counters)
    return OK


def _count(problem: Problem) -> int:
    """How many constraints there are."""
    structure = np.asarray(problem.structure)
    return int(structure[0]) if len(structure) else 0


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    n, m = problem.dimension // 2, _count(problem)
    return SYSTEM + n + m, max(constraints_layout(n, m).SIZE, problem.n, n + m + 1, 2 * m)


def _prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if problem.parts_layout != "lagrangian" or _count(problem) == 0:
        raise ValueError(
            f"{problem.model}: RATTLE needs a Lagrangian and its constraints; pose the problem by "
            "integrators.problem.holonomic_problem (closed loops of trees: TREE_VARIATIONAL)"
        )
    return np.zeros(0), np.zeros(0, dtype=np.int64)


RATTLE = Stepper(
    "rattle",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=_prepare,
    evaluates="parts",
    shape=_shape,
    needs="holonomic",
)


_SOURCE = "Andersen 1983; Leimkuhler and Skeel 1994; Reich 1996"


def rattle(name: str = "RATTLE", **changes: Any) -> Method:
    """RATTLE for Lagrangian systems with holonomic constraints; `map` "exp" or "cayley"."""
    return Method(
        name=name,
        stepper=RATTLE,
        order=2,
        symmetric=True,
        symplectic=True,
        source=_SOURCE,
        **changes,
    )


RATTLE_DRIFT = own_stepper("rattle_drift", "rattle")


def rattle_drift(composition: Composition | None = None, name: str = "RATTLE_DRIFT", **changes: Any) -> Method:
    """RATTLE with the exact free motion of bodies between its impulses, for problems that bring it: rods that keep
    strains; symmetric, of order 2, or of that of a composition.

    Parameters
    ----------
    composition : Composition, optional
        Symmetric weights, for orders above 2.
    """
    return by_own_steps(RATTLE_DRIFT, composition, name, _SOURCE, **changes)


def multipliers(
    problem: Problem, method: Method, y: NDArray[np.float64], h: float, t: float = 0.0
) -> NDArray[np.float64]:
    """Mean multipliers λ (m,) over one step of `rattle` from y, of order 2 in the middle of the step; the reaction is
    Φᵀ λ.

    Raises
    ------
    ValueError
        Another kind of method.
    ArithmeticError
        The step fails.
    """
    if method.stepper is not RATTLE:
        raise ValueError(f"method: {method.name}, expected RATTLE, not composed")
    m, impulses = _count(problem), SingleStep(problem, method)(y, h, t).work[IMPULSES]
    return np.asarray((impulses[:m] + impulses[m : 2 * m]) / h)
