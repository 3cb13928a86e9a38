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

The stages are iterated in turn from values extrapolated over the last steps, until no iterate moves or rounding stops
the progress; the iteration contracts by about h|ω|/4. Sources: Bou-Rabee and Marsden 2009; Bogfjellmo and Marthinsen
2016; Hall and Leok 2017 (Galerkin on groups).

coefficients
    A (s, s), Â (s, s) by rows, b (s), c (s).
options
    stages s; largest number of iterations; number of past steps to extrapolate from.
own rows
    (K, N, f) of every stage, one row each; P (s); the newly evaluated stage; x; Y; n₀; n₁; P̄; stage state; scratch;
    differences of past (K, N, f).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import absorb
from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, OWN_ROWS, TAU
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.iteration import extrapolate, goes_on, move, relative, remember, unsolved
from integrators.tableaus import GAUSS, LOBATTO_IIIA, LOBATTO_IIIB, ButcherTableau
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, st
from liegroup.compile.scalars import maximum
from liegroup.table import (
    EXP,
    N_V,
    bracket_transpose,
    coadjoint,
    coadjoint_difference,
    dtau_inverse_left,
    dtau_inverse_left_gradient,
    dtau_inverse_left_transpose,
    dtau_left_transpose,
    dtau_right_transpose,
    retract,
)

STAGES, LIMIT, PAST = range(OWN_OPTIONS, OWN_OPTIONS + 3)


@helper
def own(s: Any) -> Any:
    """Rows: momenta P, newly evaluated stage, x, Y, n₀, n₁, P̄, stage state, scratch, where the past begins."""
    first = OWN_ROWS + 4 * s
    return (
        OWN_ROWS + 3 * s,
        first,
        first + 3,
        first + 4,
        first + 5,
        first + 6,
        first + 7,
        first + 8,
        first + 9,
        first + 10,
    )


@helper
def stage_sum(h: Any, coefficients: Any, start: Any, work: Any, first: Any, s: Any, m: Any, out: Any) -> None:
    """out = h Σⱼ coefficients[start + j] work[first + 3 j]."""
    for k in range(m):
        total = coefficients[start] * ld(work[first], k)
        for j in range(1, s):
            total = total + coefficients[start + j] * ld(work[first + 3 * j], k)
        st(out, k, h * total)


@kernel
def centre(h: Any, y: Any, group: Any, tau: Any, m: Any, coefficients: Any, s: Any, work: Any) -> None:
    """Y, n₀, n₁ and P̄ from (K, f) of the stages."""
    _, _, _, half, n0, n1, mean, _, scratch, _ = own(s)
    b, g = 2 * s * s, y.shape[0] - m
    Y, n_0, n_1, P, z = work[half][:m], work[n0][:m], work[n1][:m], work[mean][:m], work[scratch][:m]
    stage_sum(0.5 * h, coefficients, b, work, OWN_ROWS, s, m, Y)
    coadjoint(group, tau, Y, y[g:], n_0)
    impulse(h, group, tau, m, coefficients, s, work, P)
    for k in range(m):
        st(n_1, k, ld(n_0, k) + ld(P, k))
    mean_momentum(group, tau, Y, n_0, n_1, z, P)


@helper
def mean_momentum(group: Any, tau: Any, Y: Any, n0: Any, n1: Any, scratch: Any, out: Any) -> None:
    """P̄ = ½ (dτ_right(Y)ᵀ n₁ + dτ_left(Y)ᵀ n₀)."""
    dtau_right_transpose(group, tau, Y, n1, out)
    dtau_left_transpose(group, tau, Y, n0, scratch)
    for k in range(out.shape[0]):
        st(out, k, 0.5 * (ld(out, k) + ld(scratch, k)))


@kernel
def impulse(h: Any, group: Any, tau: Any, m: Any, coefficients: Any, s: Any, work: Any, out: Any) -> None:
    """h F: the forces of all stages carried to the axes of the middle."""
    _, _, x, _, _, _, _, _, scratch, _ = own(s)
    X, z = work[x][:m], work[scratch][:m]
    for k in range(m):
        st(out, k, 0.0)
    for i in range(s):
        stage_sum(-h, coefficients, i * s, work, OWN_ROWS, s, m, X)
        coadjoint(group, tau, X, work[OWN_ROWS + 3 * i + 2][:m], z)
        for k in range(m):
            st(out, k, ld(out, k) + (h * coefficients[2 * s * s + i]) * ld(z, k))


@helper
def force(group: Any, z: Any, mu: Any, out: Any) -> None:
    """f = ṗ − ad_ξᵀ μ of the field z = (ξ, ṗ) at the momentum μ."""
    m = out.shape[0]
    bracket_transpose(group, z, mu, out)
    for k in range(m):
        st(out, k, ld(z, m + k) - ld(out, k))


@kernel
def stage(
    field: Any, t: Any, h: Any, y: Any, i: Any, group: Any, tau: Any, m: Any, coefficients: Any, s: Any,
    parameters: Any, structure: Any,
    field_work: Any, work: Any,
) -> None:  # fmt: skip
    """(K, N, f) that the equations give for stage i, into the rows of the newly evaluated stage."""
    momenta, new, x, half, _, _, mean, state, scratch, _ = own(s)
    X, Y, P, z, u = (
        work[x][:m],
        work[half][:m],
        work[momenta + i][:m],
        work[scratch][: 2 * m],
        work[state][: y.shape[0]],
    )
    K, N, f = work[new][:m], work[new + 1][:m], work[new + 2][:m]
    g = y.shape[0] - m
    stage_sum(h, coefficients, i * s, work, OWN_ROWS, s, m, X)
    stage_sum(h, coefficients, s * s + i * s, work, OWN_ROWS + 1, s, m, P)
    for k in range(m):
        st(P, k, ld(P, k) + ld(work[mean], k))
    retract(group, tau, y, Y, u)
    retract(group, tau, u, X, u)
    dtau_inverse_left_transpose(group, tau, X, P, u[g:])
    field(t + coefficients[2 * s * s + s + i] * h, u, parameters, structure, field_work, z)
    force(group, z, u[g:], f)
    dtau_inverse_left(group, tau, X, z, K)
    dtau_inverse_left_gradient(group, tau, X, z, P, z[m:])
    dtau_left_transpose(group, tau, X, f, N)
    for k in range(m):
        st(N, k, ld(N, k) - ld(z, m + k))


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, group: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """Iterate the stages to rounding; each lane stops by itself."""
    s, tau, step = options[STAGES], options[TAU], absolute(h)
    new, zero = own(s)[1], ld(y, 0) * 0.0
    going, best, speed, force = zero + 1.0, zero + 1.0, zero, zero
    for k in range(y.shape[0] - m, y.shape[0]):
        force = maximum(force, absolute(ld(y, k)))
    for _ in range(options[LIMIT]):
        centre(h, y, group, tau, m, coefficients, s, work)
        moved, pushed = zero, zero
        for i in range(s):
            stage(field, t, h, y, i, group, tau, m, coefficients, s, parameters, structure, field_work, work)
            change, size = move(work[OWN_ROWS + 3 * i][:m], work[new][:m], 0, m, going)
            moved, speed = maximum(moved, change), maximum(speed, size)
            for row in range(1, 3):
                change, size = move(work[OWN_ROWS + 3 * i + row][:m], work[new + row][:m], 0, m, going)
                pushed, force = maximum(pushed, step * change), maximum(force, step * size)
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        residual = maximum(relative(moved, speed), relative(pushed, force))
        if any_(residual != residual):
            return NON_FINITE
        going, best = goes_on(going, residual, best), residual
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED if unsolved(going, best) else OK


@kernel
def start(
    field: Any, t: Any, y: Any, group: Any, m: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, counters: Any
) -> None:  # fmt: skip
    """First guess of (K, N, f): extrapolated by backward differences over past steps, else from the field at the
    start.
    """
    s, past = options[STAGES], options[PAST]
    known, pasts, z = min(counters[HISTORY], past), own(s)[9], work[own(s)[8]][: 2 * m]
    if known == 0:
        field(t, y, parameters, structure, field_work, z)
        counters[EVALUATIONS] += 1
        f = work[OWN_ROWS + 2][:m]
        bracket_transpose(group, z, y[y.shape[0] - m :], f)
        for k in range(m):
            x = ld(z, m + k) - ld(f, k)
            for i in range(s):
                st(work[OWN_ROWS + 3 * i], k, ld(z, k))
                st(work[OWN_ROWS + 3 * i + 1], k, x)
                st(work[OWN_ROWS + 3 * i + 2], k, x)
        return
    for i in range(3 * s):
        extrapolate(work, OWN_ROWS + i, pasts + i * past, known, m)


@kernel
def finish(
    h: Any, y: Any, low: Any, group: Any, m: Any, coefficients: Any, options: Any, work: Any, counters: Any
) -> None:
    """y <- the state at the end of the step, by increments."""
    s, tau = options[STAGES], options[TAU]
    _, _, _, half, _, n1, mean, state, _, _ = own(s)
    Y, n_1, F, u = work[half][:m], work[n1][:m], work[mean][:m], work[state][: y.shape[0]]
    stage_sum(0.5 * h, coefficients, 2 * s * s, work, OWN_ROWS, s, m, Y)
    impulse(h, group, tau, m, coefficients, s, work, F)
    move_by(y, low, group, tau, Y, F, n_1, u, options[COMPENSATION], counters)


@kernel
def move_by(
    y: Any, low: Any, group: Any, tau: Any, Y: Any, F: Any, n1: Any, scratch: Any, compensation: Any, counters: Any
) -> None:
    """g <- g τ(Y) τ(Y), p <- Ad_{τ(Y)}ᵀ (Ad_{τ(Y)}ᵀ p + h F), by increments; `F` is h F, and is lost, `scratch` as long
    as y.
    """
    m = Y.shape[0]
    g = y.shape[0] - m
    change = scratch[g:]
    coadjoint_difference(group, tau, Y, y[g:], change)
    for k in range(m):
        st(F, k, ld(F, k) + ld(change, k))
        st(n1, k, ld(y, g + k) + ld(F, k))
    coadjoint_difference(group, tau, Y, n1, change)
    for k in range(m):
        st(change, k, ld(change, k) + ld(F, k))
    absorb(y, low, scratch, g, g + m, compensation)
    if tau == EXP:
        for k in range(m):
            st(Y, k, 2.0 * ld(Y, k))
    else:
        advance_state(group, tau, y, low, Y, scratch, compensation, counters)
    advance_state(group, tau, y, low, Y, scratch, compensation, counters)


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of a variational partitioned Runge–Kutta method."""
    group, m = table[: table.shape[0] - 1], table[table.shape[0] - 1, N_V]
    start(field, t, y, group, m, options, parameters, structure, field_work, work, counters)
    status = solve(field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, counters)
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
    return np.zeros(0), np.zeros(0, dtype=np.int64)


VARIATIONAL_RK = Stepper("lie_variational", step, _rows, maps=("exp", "cayley"), prepare=_prepare, needs="canonical")


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
    if partner.stages != s or not np.array_equal(r.b, q.b) or _asymmetry(r.b, r.A_centred, q.A_centred) > 1e-14:
        raise ValueError(f"variational_rk: {partner.name} is not the symplectic partner of {tableau.name}")
    if not (tableau.symmetric and partner.symmetric):
        raise ValueError(f"variational_rk: {tableau.name} and {partner.name} are not both symmetric")
    return Method(
        name=name or f"VARIATIONAL[{tableau.name}]",
        stepper=VARIATIONAL_RK,
        order=tableau.order,
        coefficients=np.concatenate([r.A_centred.ravel(), q.A_centred.ravel(), r.b, r.c]),
        options=np.array([s, iterations, past]),
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
