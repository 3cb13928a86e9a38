"""Variational partitioned Runge–Kutta methods on T*G: Galerkin variational integrators of any order on any product of
groups.

The discrete Lagrangian is the quadrature (b, c) of the action along a curve that is a polynomial in a chart at the
**middle** of the step.  With A = a − 1bᵀ/2, Â = â − 1bᵀ/2 and â the symplectic partner of a (Gauss: Â = A; Lobatto
IIIA: IIIB),

    Y = (h/2) Σ bⱼ Kⱼ,    g_c = g₀ τ(Y),    xᵢ = h Σ Aᵢⱼ Kⱼ,    F = Σ bᵢ Ad_{τ(xᵢ)⁻¹}ᵀ fᵢ,
    n₀ = Ad_{τ(Y)}ᵀ p₀,    n₁ = n₀ + h F,    P̄ = ½ (dτ_right(Y)ᵀ n₁ + dτ_left(Y)ᵀ n₀),    Pᵢ = P̄ + h Σ Âᵢⱼ Nⱼ,
    μᵢ = dτ_left(xᵢ)⁻ᵀ Pᵢ,    (ξᵢ, fᵢ) at (t + cᵢh, g_c τ(xᵢ), μᵢ),
    Kᵢ = dτ_left(xᵢ)⁻¹ ξᵢ,    Nᵢ = dτ_left(xᵢ)ᵀ fᵢ − ∇ₓ⟨Pᵢ, dτ_left(xᵢ)⁻¹ ξᵢ⟩,
    g₁ = g₀ τ(Y) τ(Y),    p₁ = Ad_{τ(Y)}ᵀ n₁

where the field of the problem gives ξ = ∂H/∂p and ṗ = ad_ξᵀ p + f.  Symplectic and symmetric, order 2s (Gauss) and 2s −
2 (Lobatto); momenta change by group actions only, so that momentum maps are exact even if the iteration stopped early.
(With the chart at the start and the plain partitioned Runge–Kutta update the order is the same but the method is not
symplectic.)

The stages are solved from values extrapolated over the last steps, each in turn, by an iteration that contracts by
about h|ω|/4; where it does not converge, or slowly, by Newton's method (`integrators.steppers.newton`) if â = a, with
which the next steps then begin: (x, P) are canonical coordinates, and the method in them is that of the tableau.
Either goes on until rounding stops it. (With â ≠ a the method has limits of stability of its own.)  Sources:
Bou-Rabee and Marsden 2009; Bogfjellmo and Marthinsen 2016; Hall and Leok 2017 (Galerkin on groups).

coefficients
    A (s, s), Â (s, s) by rows, b (s), c (s); Q and R of a, for Newton's method.
options
    stages s; largest number of iterations; number of past steps to extrapolate from; 1 if â = a; the blocks of R (2 s);
    1 if the problem has a Jacobian.
own rows
    (K, N, f) of every stage, one row each; P (s); the newly evaluated stage; x; Y; n₀; n₁; P̄; stage state; scratch;
    differences of past (K, N, f); the memory of Newton's method, and the last correction of a damped iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import ERROR, HISTORY, OWN_ROWS
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.sparsity import HALF
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from integrators.steppers.common import leaves_chart
from integrators.steppers.iteration import remember
from integrators.steppers.lie_variational_newton import memory_row, newton, newton_of_stages
from integrators.steppers.lie_variational_stages import BLOCKS, OWN_PARTNER, PAST, STAGES, finish, iterate, own, start
from integrators.steppers.newton import (
    attempts,
    begin_stiff,
    errors_of,
    exact,
    explain,
    failure,
    newton_rows,
    remember_stiffness,
    tell_again,
)
from integrators.steppers.newton_systems import schur_form
from integrators.tableaus import GAUSS, LOBATTO_IIIA, LOBATTO_IIIB, ButcherTableau
from liegroup.compile import any_, entry, integer, kernel, ld, never, rare, select, st
from liegroup.table import N_V

LOOPS = "short"


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """The stages, by iteration where it converges, by Newton's method where it does not or where the steps before
    tell, and where the partner of the tableau is the tableau itself.
    """
    s, d, one, group = options[STAGES], 2 * m, ld(y, 0) * 0.0 + 1.0, table[: table.shape[0] - 1]
    known, row = min(counters[HISTORY], options[PAST]), memory_row(options)
    stiff = begin_stiff(work, row, s, d, one, 0)
    start(field, t, y, group, m, options, parameters, structure, field_work, work, counters, known, one)
    left, rounds = one - stiff, 0.0 * one
    if any_(left > 0.0):
        left, rounds = iterate(
            field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, counters, left
        )
    if not options[OWN_PARTNER]:
        return NOT_CONVERGED if any_(left > 0.0) else OK
    remember_stiffness(work, row, s, d, left, rounds)
    if any_(left > 0.0) or any_(stiff > 0.0):
        return _solve_otherwise(
            field, t, h, y, table, m, coefficients, options, parameters, structure, field_work, work, counters, left,
            stiff,
        )  # fmt: skip
    return OK


@rare(never, lambda *types: integer)
def _solve_otherwise(
    field: Any, t: Any, h: Any, y: Any, table: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, left: Any, stiff: Any,
) -> Any:  # fmt: skip
    """The stages by Newton's method where they are `left` by the iteration, and where a step is `stiff`."""
    s, d, group = options[STAGES], 2 * m, table[: table.shape[0] - 1]
    known = min(counters[HISTORY], options[PAST])
    if any_(left > 0.0):
        start(field, t, y, group, m, options, parameters, structure, field_work, work, counters, known, left)
    left = select(stiff > 0.0, stiff, left)
    if any_(left > 0.0):
        left = newton(
            field, t, h, y, table, m, coefficients, options, parameters, structure, field_work, work, counters, left,
            counters[HISTORY],
        )  # fmt: skip
    if any_(left > 0.0) and known > 0:
        start(field, t, y, group, m, options, parameters, structure, field_work, work, counters, 0, left)
        left = newton(
            field, t, h, y, table, m, coefficients, options, parameters, structure, field_work, work, counters, left, 0
        )
    if any_(left > 0.0) and any_(stiff > 0.0):  # long steps of what is not stiff
        residual = ld(work[ERROR], 0)
        start(field, t, y, group, m, options, parameters, structure, field_work, work, counters, known, left)
        left, _rounds = iterate(
            field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, counters, left
        )
        st(work[ERROR], 0, select(left > 0.0, residual, ld(work[ERROR], 0)))
    errors = errors_of(work)
    for damped in range(attempts(s * d, options[BLOCKS + 2 * s + HALF], counters)):
        if any_(left > 0.0):
            start(field, t, y, group, m, options, parameters, structure, field_work, work, counters, 0, left)
            left = newton_of_stages(
                field, t, h, y, table, m, coefficients, options, parameters, structure, field_work, work, counters,
                left, damped,
            )  # fmt: skip
            errors = errors_of(work) if damped == 0 else errors
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
    """One step of a variational partitioned Runge–Kutta method."""
    group, m = table[: table.shape[0] - 1], table[table.shape[0] - 1, N_V]
    status = solve(field, t, h, y, table, m, coefficients, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(group, work[own(options[STAGES])[3]]):
        status = CHART_LEFT
    if status == OK:
        past, pasts = options[PAST], own(options[STAGES])[9]
        counters[HISTORY] = min(counters[HISTORY] + 1, past)
        for i in range(3 * options[STAGES]):
            remember(work, OWN_ROWS + i, pasts + i * past, counters[HISTORY], m)
        finish(h, y, low, group, m, coefficients, options, work, counters)
    return status


def _rows(options: NDArray[np.int64]) -> int:
    s, past = int(options[0]), int(options[2])
    return 4 * s + 10 + 3 * s * past


def check_canonical(problem: Problem) -> None:
    """ValueError if the problem is not canonical."""
    if not problem.canonical:
        raise ValueError(
            f"{problem.model}: variational methods need a canonical problem, state (q, p) on T*G; this one is not "
            "marked canonical"
        )


def _prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    check_canonical(problem)
    return exact(problem)


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    s = int(options[0])
    before = -(-s * problem.dimension // columns)  # the last correction of a damped iteration
    return OWN_ROWS + _rows(options) + newton_rows(s, problem, columns) + before, columns


VARIATIONAL_RK = Stepper(
    "lie_variational", step, _rows, maps=("exp", "cayley"), prepare=_prepare, evaluates="linearised", shape=_shape,
    explain=explain, needs="canonical",
)  # fmt: skip


def variational_rk(
    tableau: ButcherTableau,
    partner: ButcherTableau | None = None,
    name: str = "",
    iterations: int = 200,
    past: int = 4,
    **changes: Any,
) -> Method:
    """The variational partitioned Runge–Kutta method of a tableau and its symplectic partner (default: itself).

    Parameters
    ----------
    tableau, partner
        a and â with bᵢâᵢⱼ + bⱼaⱼᵢ = bᵢbⱼ; both symmetric.
    iterations : int
        Largest number of iterations per step.
    past : int
        Past steps from which the first guess is extrapolated.

    Raises
    ------
    ValueError
        The tableaus are not partners, or not symmetric.
    """
    partner = tableau if partner is None else partner
    r, q, s = tableau.rounded, partner.rounded, tableau.stages
    form, blocks = schur_form(r.A)
    if partner.stages != s or not np.array_equal(r.b, q.b) or _asymmetry(r.b, r.A_centred, q.A_centred) > 1e-14:
        raise ValueError(f"variational_rk: {partner.name} is not the symplectic partner of {tableau.name}")
    if not (tableau.symmetric and partner.symmetric):
        raise ValueError(f"variational_rk: {tableau.name} and {partner.name} are not both symmetric")
    return Method(
        name=name or f"VARIATIONAL[{tableau.name}]",
        stepper=VARIATIONAL_RK,
        order=tableau.order,
        coefficients=np.concatenate([r.A_centred.ravel(), q.A_centred.ravel(), r.b, r.c, form]),
        options=np.array([s, iterations, past, partner is tableau, *blocks]),
        symmetric=True,
        symplectic=True,
        source="Bou-Rabee and Marsden 2009; Bogfjellmo and Marthinsen 2016",
        **changes,
    )


def _asymmetry(b: NDArray[np.float64], A: NDArray[np.float64], partner: NDArray[np.float64]) -> float:
    """Largest |bᵢâᵢⱼ + bⱼaⱼᵢ − bᵢbⱼ|, of centred matrices."""
    return float(np.abs(b[:, None] * partner + (b[:, None] * A).T).max())


def gauss(s: int, name: str = "") -> Method:
    """Galerkin method with s Gauss nodes, order 2s."""
    return variational_rk(GAUSS(s), name=name or f"VARIATIONAL_GAUSS{s}")


def lobatto(s: int, name: str = "") -> Method:
    """Galerkin method with s Lobatto nodes (the pair IIIA–IIIB), order 2s − 2."""
    return variational_rk(LOBATTO_IIIA(s), LOBATTO_IIIB(s), name=name or f"VARIATIONAL_LOBATTO{s}")
