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
Either goes on until rounding stops it. (With â ≠ a the method has limits of stability of its own.)  Sources: Bou-Rabee and Marsden 2009; Bogfjellmo and Marthinsen
2016; Hall and Leok 2017 (Galerkin on groups).

coefficients
    A (s, s), Â (s, s) by rows, b (s), c (s); Q and R of a, for Newton's method.
options
    stages s; largest number of iterations; number of past steps to extrapolate from; 1 if â = a; the blocks of R (2 s);
    1 if the problem has a Jacobian.
own rows
    (K, N, f) of every stage, one row each; P (s); the newly evaluated stage; x; Y; n₀; n₁; P̄; stage state; scratch;
    differences of past (K, N, f); the memory of Newton's method.
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
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.iteration import FLOOR, extrapolate, goes_on, move, nought, relative, remember
from integrators.steppers.newton import (
    ROUNDS,
    begin_stiff,
    conclude,
    correct,
    exact,
    explain,
    factorise,
    failure,
    judge,
    levels,
    linearise,
    linearise_where_needed,
    remember_stiffness,
    room,
    rows_needed,
    schur_form,
    share,
)
from integrators.tableaus import GAUSS, LOBATTO_IIIA, LOBATTO_IIIB, ButcherTableau
from liegroup.compile import absolute, any_, entry, helper, joined, kernel, ld, select, st
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

STAGES, LIMIT, PAST, OWN_PARTNER, BLOCKS = range(OWN_OPTIONS, OWN_OPTIONS + 5)


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
def iterate(
    field: Any, t: Any, h: Any, y: Any, group: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any, going: Any,
) -> Any:  # fmt: skip
    """Iterate the stages to rounding where `going`; each lane stops by itself.  Returns 1 where they are not solved,
    and the rounds that were taken.
    """
    s, tau, step = options[STAGES], options[TAU], absolute(h)
    new, zero = own(s)[1], ld(y, 0) * 0.0
    best, speed, force, lost, rounds = zero + 1.0, zero, zero, zero, zero
    for k in range(y.shape[0] - m, y.shape[0]):
        force = maximum(force, absolute(ld(y, k)))
    for _ in range(options[LIMIT]):
        centre(h, y, group, tau, m, coefficients, s, work)
        moved, pushed, check = zero, zero, zero
        for i in range(s):
            stage(field, t, h, y, i, group, tau, m, coefficients, s, parameters, structure, field_work, work)
            change, size = move(work[OWN_ROWS + 3 * i][:m], work[new][:m], 0, m, going)
            moved, speed = maximum(moved, change), maximum(speed, size)
            for row in range(1, 3):
                change, size = move(work[OWN_ROWS + 3 * i + row][:m], work[new + row][:m], 0, m, going)
                pushed, force = maximum(pushed, step * change), maximum(force, step * size)
            check = check + (nought(work[new], m) + nought(work[new + 1], m))
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        residual = maximum(relative(moved, speed), relative(pushed, force)) + check
        rounds = rounds + going
        lost = select((going > 0.0) & (residual != residual), zero + 1.0, lost)
        going, best = goes_on(select(lost > 0.0, zero, going), residual, best), residual
        if not any_(going > 0.0):
            break
    st(work[ERROR], 0, best)
    return select((going > 0.0) & (best > FLOOR), zero + 1.0, lost), rounds


@helper
def memory_row(options: Any) -> Any:
    """Where the memory of Newton's method begins."""
    return own(options[STAGES])[9] + 3 * options[STAGES] * options[PAST]


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, group: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual of (K, N) of all stages into the memory; f and N keep the difference that the equations give them.
    Returns the largest share of what rounding may leave.
    """
    s, tau, d = options[STAGES], options[TAU], 2 * m
    new, at, zero = own(s)[1], room(s, d), ld(y, 0) * 0.0
    for row in range(2):
        for k in range(m):
            reach = zero
            for i in range(s):
                reach = maximum(reach, absolute(h * ld(work[OWN_ROWS + 3 * i + row], k)))
            st(memory, at.change + row * m + k, reach)
    levels(memory, s, d)
    centre(h, y, group, tau, m, coefficients, s, work)
    largest = zero
    for i in range(s):
        stage(field, t, h, y, i, group, tau, m, coefficients, s, parameters, structure, field_work, work)
        for row in range(2):
            for k in range(m):
                slope, value = ld(work[OWN_ROWS + 3 * i + row], k), ld(work[new + row], k)
                st(memory, at.residual + i * d + row * m + k, value - slope)
                largest = maximum(largest, share(memory, s, d, row * m + k, value - slope, slope, value))
        for k in range(m):
            apart = ld(work[new + 2], k) - ld(work[new + 1], k)
            st(memory, at.apart + i * m + k, apart)
    return largest + nought(memory, s * d)


@kernel
def newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, going: Any, history: Any,
) -> Any:  # fmt: skip
    """Solve for the stages to rounding where `going`, with 1 − h a ⊗ J for the slopes (K, N) of (x, P); returns 1
    where they are not solved.
    """
    s, d, n, group = options[STAGES], 2 * m, y.shape[0], table[: table.shape[0] - 1]
    memory, at, q = joined(work[memory_row(options) :]), room(s, d), 2 * s * s + 2 * s
    Q, R = coefficients[q : q + s * s], coefficients[q + s * s :]
    blocks, is_exact = options[BLOCKS:], options[BLOCKS + 2 * s]
    x, asked, zero = work[own(s)[7]][:n], going, ld(y, 0) * 0.0
    linearise_where_needed(
        field, t, h, y, table, 1, is_exact, parameters, structure, field_work, memory, s, d, R, blocks, x, going,
        history, counters,
    )  # fmt: skip
    best, least, lost, rounds, renewed = zero + 1.0, zero + 1e300, zero, zero, zero
    for _ in range(ROUNDS):
        ratio = _residual(
            field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, memory
        )
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewed)
        if any_(where > 0.0):
            renewed = renewed + where
            linearise(
                field, t, x, table, 1, is_exact, parameters, structure, field_work, memory, s, d,
                work[own(s)[8]][:n], where, counters,
            )  # fmt: skip
            factorise(h, memory, s, d, R, blocks)
        correct(h, memory, s, d, Q, R, blocks)
        for i in range(s):
            for row in range(2):
                for k in range(m):
                    z = ld(work[OWN_ROWS + 3 * i + row], k)
                    change = ld(memory, at.residual + i * d + row * m + k)
                    st(work[OWN_ROWS + 3 * i + row], k, select(going > 0.0, z + change, z))
            for k in range(m):
                f = ld(work[OWN_ROWS + 3 * i + 1], k) + ld(memory, at.apart + i * m + k)
                st(work[OWN_ROWS + 3 * i + 2], k, select(going > 0.0, f, ld(work[OWN_ROWS + 3 * i + 2], k)))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    return conclude(work, memory, s, d, asked, going, lost, rounds, best, least)


@kernel
def start(
    field: Any, t: Any, y: Any, group: Any, m: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, counters: Any, known: Any, going: Any,
) -> None:  # fmt: skip
    """First guess of (K, N, f), where `going`: extrapolated by backward differences over `known` past steps, else from
    the field at the start.
    """
    s, past = options[STAGES], options[PAST]
    new, pasts, z = own(s)[1], own(s)[9], work[own(s)[8]][: 2 * m]
    if known == 0:
        field(t, y, parameters, structure, field_work, z)
        counters[EVALUATIONS] += 1
        f = work[new][:m]
        bracket_transpose(group, z, y[y.shape[0] - m :], f)
        for k in range(m):
            x, v = ld(z, m + k) - ld(f, k), ld(z, k)
            for i in range(s):
                for row in range(3):
                    place = work[OWN_ROWS + 3 * i + row]
                    st(place, k, select(going > 0.0, v if row == 0 else x, ld(place, k)))
        return
    for i in range(3 * s):
        extrapolate(work, new, pasts + i * past, known, m)
        for k in range(m):
            st(work[OWN_ROWS + i], k, select(going > 0.0, ld(work[new], k), ld(work[OWN_ROWS + i], k)))


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
    if any_(left > 0.0):
        start(field, t, y, group, m, options, parameters, structure, field_work, work, counters, known, left)
    remember_stiffness(work, row, s, d, left, rounds)
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
    return failure(work) if any_(left > 0.0) else OK


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
    return OWN_ROWS + _rows(options) + rows_needed(int(options[0]), problem.dimension, columns), columns


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
