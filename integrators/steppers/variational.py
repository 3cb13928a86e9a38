"""Variational integrators on Rⁿ for any Lagrangian: discrete Euler–Lagrange equations in position–momentum form.

The curve over the step is a polynomial, its velocity spanned by s functions with coefficients Uₖ; the action is a
quadrature with r nodes,

    Vᵢ = Σ Bᵢₖ Uₖ,    Qᵢ = q₀ + h Σ Aᵢₖ Uₖ,    q₁ = q₀ + h Σ βₖ Uₖ,    L_d(q₀, q₁) = ext_U h Σ bᵢ L(t + cᵢh, Qᵢ, Vᵢ)

and with π = ∂L/∂v, φ = ∂L/∂q + F (the Lagrange–d'Alembert principle for forces that are not in L) the step is

    Σᵢ bᵢ [Bᵢₖ πᵢ + h (Aᵢₖ − βₖ) φᵢ] = βₖ p₀   for k = 1 … s,        p₁ = p₀ + h Σ bᵢ φᵢ

One form for all: one velocity and one node are the midpoint and α methods, two nodes the trapezoidal and symmetrised
ones; as many nodes as coefficients with B = 1 are variational (symplectic partitioned) Runge–Kutta methods; more nodes
than coefficients are Galerkin methods with over-integration.  Symplectic always (without F); symmetric if the nodes
are; momenta of linear symmetries of L exact.

Newton's method on U with the exact second derivatives of L, from values extrapolated over past steps.
Sources: Marsden and West 2001; Moiseev et al. 2021, eqs. (6)–(15) (α family); Leok and Zhang 2011; Ober-Blöbaum and
Saake 2015.

coefficients
    A (r, s), B (r, s) by rows, b (r), c (r), β (s).
options
    nodes r; coefficients s; past steps to extrapolate from.
work
    rows: state of a node; values of a node; U; its past differences; Newton's equations (s n) with the last correction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import absorb
from integrators.arithmetic.elimination import solve_rows
from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, OWN_ROWS
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.parts import lagrangian as layout
from integrators.signatures import STEP_SIGNATURES
from integrators.status import NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.composition import in_parts
from integrators.steppers.iteration import extrapolate, remember
from integrators.tableaus.galerkin import Galerkin
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import KIND

LOOPS = "short"

NODES, BASIS, PAST = range(OWN_OPTIONS, OWN_OPTIONS + 3)
STATE, VALUES, UNKNOWN, PASTS = range(OWN_ROWS, OWN_ROWS + 4)
LIMIT = 30
SMALL = 1e-8
"""Relative correction of an exact Newton iteration that leaves an error below rounding."""


@helper
def places(r: Any, s: Any) -> Any:
    """Where A, B, b, c, β begin."""
    return 0, r * s, 2 * r * s, 2 * r * s + r, 2 * r * s + 2 * r


@kernel
def node(
    parts: Any, t: Any, h: Any, y: Any, i: Any, n: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, second: Any,
) -> None:  # fmt: skip
    """The derivatives of L at node i, into `VALUES`."""
    r, s = options[NODES], options[BASIS]
    A, B, _, c, _ = places(r, s)
    state, U, of_q = work[STATE][: 2 * n], work[UNKNOWN], layout(n)
    for k in range(n):
        q, v = ld(y, k), 0.0 * ld(y, k)
        for j in range(s):
            u = ld(U, n * j + k)
            q, v = q + (h * coefficients[A + i * s + j]) * u, v + coefficients[B + i * s + j] * u
        st(state, k, q)
        st(state, n + k, v)
    size = of_q.SIZE if second else of_q.PUSH_Q
    parts(t + coefficients[c + i] * h, state, parameters, structure, field_work, work[VALUES][:size])


@kernel
def assemble(
    parts: Any, t: Any, h: Any, y: Any, n: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, counters: Any,
) -> None:  # fmt: skip
    """Newton's equations: matrix, and minus the residual in the last column."""
    r, s, m = options[NODES], options[BASIS], options[BASIS] * n
    A, B, b, _, beta = places(r, s)
    values, system, at = work[VALUES], PASTS + options[PAST], layout(n)
    for a in range(m):
        for j in range(m):
            st2(work, system + a, j, 0.0)
        st2(work, system + a, m, coefficients[beta + a // n] * ld(y, n + a % n))
    for i in range(r):
        node(parts, t, h, y, i, n, coefficients, options, parameters, structure, field_work, work, True)
        w = coefficients[b + i]
        for k in range(s):
            turn, push = (
                w * coefficients[B + i * s + k],
                (w * h) * (coefficients[A + i * s + k] - coefficients[beta + k]),
            )
            for x in range(n):
                row = system + n * k + x
                residual = turn * ld(values, at.MOMENTUM + x) + push * ld(values, at.PUSH + x)
                st2(work, row, m, ld2(work, row, m) - residual)
                for z in range(n):
                    e = n * x + z
                    by_q = h * (turn * ld(values, at.MOMENTUM_Q + e) + push * ld(values, at.PUSH_Q + e))
                    by_v = turn * ld(values, at.MOMENTUM_V + e) + push * ld(values, at.PUSH_V + e)
                    for l in range(s):
                        d = coefficients[A + i * s + l] * by_q + coefficients[B + i * s + l] * by_v
                        st2(work, row, n * l + z, ld2(work, row, n * l + z) + d)
    counters[EVALUATIONS] += r


@kernel
def solve(
    parts: Any, t: Any, h: Any, y: Any, n: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, counters: Any,
) -> int:  # fmt: skip
    """Newton's method on U; each lane stops by itself.

    A correction, or the guess, that leads where the derivatives of L are not finite (beyond the speed of light) is
    halved; it stands behind the equations.
    """
    m, U, system = options[BASIS] * n, work[UNKNOWN], PASTS + options[PAST]
    zero = 0.0 * ld(y, 0)
    going, left, lost = zero + 1.0, zero, zero
    for a in range(m):
        st2(work, system + a, m + 1, ld(U, a))
    for _ in range(LIMIT):
        assemble(parts, t, h, y, n, coefficients, options, parameters, structure, field_work, work, counters)
        solve_rows(work, system, m, 1)
        change, size, lost = zero, zero, zero
        for a in range(m):
            d = select(going > 0.0, ld2(work, system + a, m), zero)
            lost = lost + (d - d)  # 0, or not a number
            change, size = maximum(change, absolute(d)), maximum(size, absolute(ld(U, a) + d))
        counters[ITERATIONS] += 1
        left = change / select(size == 0.0, 1.0 + size, size)
        for a in range(m):
            half = 0.5 * ld2(work, system + a, m + 1)
            d = select(going > 0.0, ld2(work, system + a, m), zero)
            st(U, a, ld(U, a) + select(lost == 0.0, d, -half))
            st2(work, system + a, m + 1, select(lost == 0.0, d, half))
        going = select((left <= SMALL) & (lost == 0.0), zero, going)
        if not any_(going > 0.0):
            return OK
    if any_(lost != 0.0):
        return NON_FINITE
    st(work[ERROR], 0, left)
    return NOT_CONVERGED


@kernel
def start(
    parts: Any, t: Any, y: Any, n: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any,
    counters: Any,
) -> None:  # fmt: skip
    """First guess of U: extrapolated by backward differences, else every Vᵢ the velocity at the start, one Newton step
    from rest.
    """
    s, past, U, state, values = options[BASIS], options[PAST], work[UNKNOWN], work[STATE][: 2 * n], work[VALUES]
    known, system, at = min(counters[HISTORY], past), PASTS + past, layout(n)
    if known > 0:
        extrapolate(work, UNKNOWN, PASTS, known, s * n)
        return
    for k in range(n):
        st(state, k, ld(y, k))
        st(state, n + k, 0.0)
    parts(t, state, parameters, structure, field_work, values[: at.SIZE])
    counters[EVALUATIONS] += 1
    for x in range(n):
        for z in range(n):
            st2(work, system + x, z, ld(values, at.MOMENTUM_V + n * x + z))
        st2(work, system + x, n, ld(y, n + x) - ld(values, at.MOMENTUM + x))
    solve_rows(work, system, n, 1)
    for k in range(s):
        for x in range(n):
            st(U, n * k + x, ld2(work, system + x, n))


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of a variational integrator on Rⁿ; `field` gives the derivatives of the Lagrangian."""
    n, r, s = y.shape[0] // 2, options[NODES], options[BASIS]
    _, _, b, _, beta = places(r, s)
    start(field, t, y, n, coefficients, options, parameters, structure, field_work, work, counters)
    status = solve(field, t, h, y, n, coefficients, options, parameters, structure, field_work, work, counters)
    if status != OK:
        return status
    change, values = work[PASTS + options[PAST]][: 2 * n], work[VALUES]
    for k in range(n):
        x = 0.0 * ld(y, k)
        for j in range(s):
            x = x + coefficients[beta + j] * ld(work[UNKNOWN], n * j + k)
        st(change, k, h * x)
        st(change, n + k, 0.0)
    for i in range(r):
        node(field, t, h, y, i, n, coefficients, options, parameters, structure, field_work, work, False)
        for k in range(n):
            st(change, n + k, ld(change, n + k) + (h * coefficients[b + i]) * ld(values, k))
    counters[EVALUATIONS] += r
    counters[HISTORY] = min(counters[HISTORY] + 1, options[PAST])
    remember(work, UNKNOWN, PASTS, counters[HISTORY], s * n)
    absorb(y, low, change, 0, 2 * n, options[COMPENSATION])
    return OK


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    n, s, past = problem.dimension // 2, int(options[1]), int(options[2])
    return PASTS + past + s * n, max(layout(n).SIZE, s * n + 2, 2 * n)


def _prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if problem.parts_layout != "lagrangian":
        raise ValueError(
            f"{problem.model}: methods of the Lagrangian need its derivatives; pose the problem by "
            "integrators.problem.lagrangian_problem, "
            f"or use VARIATIONAL_GAUSS or VARIATIONAL_LOBATTO methods, which need Hamilton's equations only"
        )
    if len(np.asarray(problem.structure)):
        raise ValueError(
            f"{problem.model}: holonomic constraints, which methods of the Lagrangian alone would ignore; use RATTLE"
        )
    if not COMMUTATIVE[problem.table[:, KIND]].all():
        raise ValueError(
            f"{problem.model}: methods of the Lagrangian are for Rⁿ; on other groups use VARIATIONAL_GAUSS or "
            "VARIATIONAL_LOBATTO methods"
        )
    return np.zeros(0), np.zeros(0, dtype=np.int64)


VARIATIONAL = Stepper(
    "variational",
    step,
    lambda options: 0,
    maps=("exp",),
    groups=("R",),
    prepare=_prepare,
    evaluates="parts",
    shape=_shape,
    needs="lagrangian",
    in_parts=in_parts(step),
)


def variational(tableau: Galerkin, name: str = "", past: int = 4, **changes: Any) -> Method:
    """The variational integrator of a Galerkin tableau; `past` steps are extrapolated for the first guess."""
    order, symmetric = tableau.order, tableau.symmetric
    return Method(
        name=name or f"DEL_{tableau.name}",
        stepper=VARIATIONAL,
        order=order,
        coefficients=tableau.packed,
        options=np.array([tableau.nodes, tableau.basis, past]),
        symmetric=symmetric,
        symplectic=True,
        source=tableau.source,
        **changes,
    )
