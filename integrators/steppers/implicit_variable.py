"""Variable steps of implicit Runge-Kutta-Munthe-Kaas methods: stages solved as far as the tolerance asks.

The motion in the chart at the start of a step, y τ(u(t)) with u(0) = 0, solves

    u̇ = g(t, u) = dτ_left(u)⁻¹ f(t, y τ(u)),      uᵢ = h Σⱼ aᵢⱼ g(t + cⱼh, uⱼ),      y <- y τ(uₛ)

so that all that is known on Rⁿ of the method, its estimate and its iteration holds of the exponents uᵢ on every group.
The methods are stiffly accurate: the last stage is the step.

The iteration is the simplified one of Newton (`integrators.steppers.newton_systems`),

    (1 − h A ⊗ J) Δ = h A g(u) − u,      J = ∂f/∂x,

which leaves out of ∂g/∂u what is small with the step, and ends at κ of the tolerance
(`integrators.steppers.to_tolerance`), |Δ| the mean square of all stages.
J is kept from step to step while two rounds are enough or Θ ≤ 1e-3, its factors while the step stays what it was;
all that is remembered is in the workspace, which a checkpoint keeps.  Where the rounds do not contract J is made anew,
and where it is new the step fails, for a smaller one.  The first guess continues the polynomial through the stages of
the step before, from its chart to that at the new state.

The error is estimated by the weights e₀, e of the embedded method, and where e₀ is not zero with a factor, without
which it would be |h J| times what is left unsolved of y,

    err = e₀ h f(t, y) + Σ eᵢ uᵢ,      err <- (1 − h γ₀ J)⁻¹ err,      γ₀ a real eigenvalue of A, e₀ in collocation

and where it is too large in a first step, or after one, once more with e₀ h g(t, err) in the place of e₀ h f(t, y).
Sources: Hairer and Wanner 1996, IV.8; Hosea and Shampine 1996 (weights of the stages);
Munthe-Kaas 1999.

coefficients
    A (s, s) by rows, c (s), e₀, e (s), Q and R of A (as of `integrators.steppers.implicit`), κ, relative and absolute
    tolerances (d each).
options
    stages s; the column of R whose factors filter the estimate, or −1; how many stages the polynomial goes through, and
    which (s places); the blocks of R (2 s); the pattern of the problem.
own rows
    uᵢ (s); g at the stages (s); the uᵢ of the step before (s); start; start before; field at the start; exponent;
    state; numbers of the method's own (`OWN_NUMBERS`) and the memory of the iteration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.error_norm import error_norm
from integrators.layout import (
    COMPENSATION,
    ERROR,
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
from integrators.problem.sparsity import HALF
from integrators.signatures import STEP_SIGNATURE
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, copy, dimension, leaves_chart
from integrators.steppers.iteration import nought
from integrators.steppers.newton import differentiate, exact, newton_rows
from integrators.steppers.newton_systems import correct, eliminations, factorise, room, solve_one
from integrators.steppers.to_tolerance import GOES_ON, SOLVED, explain, first_slope, judged, told_tolerances
from liegroup.compile import entry, helper, joined, kernel
from liegroup.compile.scalars import sqrt
from liegroup.table import dtau_inverse_left, increment, retract

Array = NDArray[np.float64]
STAGES, FILTER, COUNT, NODES = range(OWN_OPTIONS, OWN_OPTIONS + 4)
BEGUN, TAKEN, PAST, SLOPE, KEPT, HERE, FACTORED = range(7)
"""Of the method's own: 1 where the row of the start is that of the last step tried; its h; that of the polynomial of
the step before, 0 without one; the last η; 1 where J may serve; 1 where it is that at the start; the h of the
factors.
"""
OWN_NUMBERS = 7
MOST = 7
"""Rounds of three stages."""
ROUNDED = 1e-12
"""Of weights and sums of coefficients: what would be zero, were it not rounded."""
FAST, ENOUGH = 1e-3, 2
"""A contraction with which J is kept, and rounds within which it is kept whatever that is."""


@helper
def own(s: Any) -> Any:
    """Rows: g, stages before, start, start before, field, exponent, state, numbers."""
    first = OWN_ROWS + s
    last = first + 2 * s
    return first, first + s, last, last + 1, last + 2, last + 3, last + 4, last + 5


@helper
def parts(s: Any) -> Any:
    """Where c, e₀, Q, R and κ begin among the coefficients."""
    q = s * s + 2 * s + 1
    return s * s, s * s + s, q, q + s * s, q + 2 * s * s


@kernel
def _polynomial(h: Any, part: Any, first: Any, work: Any, coefficients: Any, options: Any, out: Any) -> None:
    """out <- the exponent at a part of a step of size h, by the polynomial through zero at its start and the stages in
    the rows from `first` on.
    """
    c, count, x = parts(options[STAGES])[0], options[COUNT], part / h
    for m in range(out.shape[0]):
        out[m] = 0.0
    for i in range(count):
        here = coefficients[c + options[NODES + i]]
        weight = x / here
        for j in range(count):
            if j != i:
                other = coefficients[c + options[NODES + j]]
                weight = weight * ((x - other) / (here - other))
        for m in range(out.shape[0]):
            out[m] = out[m] + weight * work[first + options[NODES + i], m]


@kernel
def _begin(y: Any, options: Any, work: Any, told: Any, counters: Any) -> None:
    """What the last call has left becomes the past where its step was accepted, stays where it is tried again, and is
    forgotten where the motion begins anew.
    """
    s, n = options[STAGES], y.shape[0]
    _, before, start, start_before, _, _, _, _ = own(s)
    if counters[HISTORY] > 0:
        for i in range(s):
            copy(work[OWN_ROWS + i], work[before + i])
        copy(work[start], work[start_before])
        told[PAST], told[HERE] = told[TAKEN], 0.0
    else:
        same = told[BEGUN] > 0.0
        for k in range(n):
            same = same and work[start, k] == y[k]
        if not same:
            told[PAST] = told[KEPT] = told[HERE] = 0.0
            told[SLOPE] = 1.0
    copy(y, work[start][:n])
    told[BEGUN] = 1.0


@kernel
def _guess(h: Any, y: Any, table: Any, coefficients: Any, options: Any, work: Any, told: Any) -> None:
    """The stages <- the polynomial of the step before, seen from the chart at y; zero without one."""
    s, d, n, tau = options[STAGES], dimension(table), y.shape[0], options[TAU]
    _, before, _, start_before, _, exponent, state, _ = own(s)
    u, x, c = work[exponent][:d], work[state][:n], parts(s)[0]
    found = told[PAST] != 0.0
    for i in range(s):
        if found:
            part = told[PAST] + coefficients[c + i] * h
            _polynomial(told[PAST], part, before, work, coefficients, options, u)
            found = not leaves_chart(table, u) and nought(u, d) == 0.0
        if found:
            retract(table, tau, work[start_before][:n], u, x)
            increment(table, tau, y, x, work[OWN_ROWS + i][:d])
            found = not leaves_chart(table, work[OWN_ROWS + i][:d])
    for i in range(s):
        if not found or coefficients[c + i] == 0.0:
            for m in range(d):
                work[OWN_ROWS + i, m] = 0.0


@kernel
def _prepared(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, told: Any, memory: Any, counters: Any,
) -> None:  # fmt: skip
    """The field at the start, J and the factors, as far as they are not there."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    _, _, _, _, first, _, state, _ = own(s)
    pattern, R = options[NODES + 3 * s :], coefficients[parts(s)[3] :]
    f0 = work[first][:d]
    if told[KEPT] == 0.0:
        differentiate(
            field, t, y, table, options[POSITIONS], pattern, parameters, structure, field_work, memory, s, d,
            work[state][:n], 1.0, counters,
        )  # fmt: skip
        copy(memory[room(s, d, pattern[HALF]).value :][:d], f0)
        told[KEPT] = told[HERE] = 1.0
        told[FACTORED] = 0.0
    else:
        field(t, y, parameters, structure, field_work, f0)
        counters[EVALUATIONS] += 1
    if told[FACTORED] != h:
        factorise(h, memory, s, d, R, options[NODES + s :], pattern)
        told[FACTORED] = h


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, memory: Any, counters: Any,
) -> Any:  # fmt: skip
    """h A g(u) − u into the memory; returns OK, or CHART_LEFT where a stage turns by π or more."""
    s, d, n, tau = options[STAGES], dimension(table), y.shape[0], options[TAU]
    slopes, _, _, _, first, _, state, _ = own(s)
    c, x = parts(s)[0], work[state][:n]
    for i in range(s):
        u, g = work[OWN_ROWS + i][:d], work[slopes + i][:d]
        if coefficients[c + i] == 0.0:  # the first stage of some methods is the start
            copy(work[first][:d], g)
            continue
        if leaves_chart(table, u):
            counters[STAGE] = i
            return CHART_LEFT
        retract(table, tau, y, u, x)
        field(t + coefficients[c + i] * h, x, parameters, structure, field_work, g)
        dtau_inverse_left(table, tau, u, g, g)
        counters[EVALUATIONS] += 1
    for i in range(s):
        for m in range(d):
            total = 0.0
            for j in range(s):
                total += coefficients[i * s + j] * work[slopes + j, m]
            memory[i * d + m] = h * total - work[OWN_ROWS + i, m]
    return OK


@helper
def _size(y: Any, s: Any, d: Any, table: Any, coefficients: Any, memory: Any) -> Any:
    """|Δ|: the mean square of the corrections of all stages in units of the tolerance."""
    kappa, total = parts(s)[4], 0.0
    relative, absolute = coefficients[kappa + 1 : kappa + 1 + d], coefficients[kappa + 1 + d :]
    for i in range(s):
        total += error_norm(table, y, y, memory[i * d : i * d + d], relative, absolute)
    return sqrt(total / s)


@kernel
def _newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, told: Any, memory: Any, counters: Any,
) -> Any:  # fmt: skip
    """The stages to κ of the tolerance, from what they are; returns a status, with Θ and the reason in the row of
    errors where it is not OK.
    """
    s, d = options[STAGES], dimension(table)
    pattern, blocks = options[NODES + 3 * s :], options[NODES + s :]
    _, _, at_q, at_r, at_kappa = parts(s)
    kappa, most = coefficients[at_kappa], MOST + (5 * (s - 3)) // 2 if s > 3 else MOST
    eta, theta, last, why = first_slope(told[SLOPE]), 0.0, 0.0, GOES_ON
    for k in range(most):
        status = _residual(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, memory, counters
        )
        counters[ITERATIONS] += 1
        if status != OK:
            return status
        if nought(memory, s * d) != 0.0:
            return NON_FINITE
        correct(h, memory, s, d, coefficients[at_q:], coefficients[at_r:], blocks, pattern)
        size = _size(y, s, d, table, coefficients, memory)
        theta, eta, why = judged(k, size, last, theta, eta, most, kappa)
        if why > SOLVED:
            break
        for i in range(s):
            for m in range(d):
                work[OWN_ROWS + i, m] += memory[i * d + m]
        if why == SOLVED:
            told[SLOPE] = eta
            told[KEPT] = 1.0 if k < ENOUGH or theta <= FAST else 0.0
            return OK
        last = size
    work[ERROR, 0], work[ERROR, 1] = theta, why
    return NOT_CONVERGED


@kernel
def _solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, told: Any, memory: Any, counters: Any,
) -> Any:  # fmt: skip
    """The stages, with the J that is there and, where that does not serve, with that at the start."""
    _prepared(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory, counters
    )
    _guess(h, y, table, coefficients, options, work, told)
    status = _newton(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory, counters
    )
    if status != OK and told[HERE] == 0.0:
        told[KEPT] = 0.0
        _prepared(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory,
            counters,
        )  # fmt: skip
        _guess(h, y, table, coefficients, options, work, told)
        status = _newton(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory,
            counters,
        )  # fmt: skip
    if status != OK:
        told[SLOPE] = 1.0
        told[KEPT] = told[HERE]
    return status


@kernel
def _estimate(
    s: Any, d: Any, h: Any, g: Any, table: Any, coefficients: Any, options: Any, work: Any, memory: Any
) -> None:
    """The row of errors <- (1 − h γ₀ J)⁻¹ (e₀ h g + Σ eᵢ uᵢ), or without the factor."""
    e, pattern, error = parts(s)[1], options[NODES + 3 * s :], work[ERROR][:d]
    for m in range(d):
        total = h * coefficients[e] * g[m]
        for i in range(s):
            total += coefficients[e + 1 + i] * work[OWN_ROWS + i, m]
        error[m] = total
    if options[FILTER] >= 0:
        solve_one(h, memory, s, d, coefficients[parts(s)[3] :], options[FILTER], pattern, error)


@kernel
def _estimate_again(
    field: Any, t: Any, h: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, memory: Any, y: Any, counters: Any,
) -> None:  # fmt: skip
    """The estimate with the field moved by itself, where it is above the tolerance."""
    s, d, n, tau = options[STAGES], dimension(table), y.shape[0], options[TAU]
    _, _, start, _, _, exponent, state, _ = own(s)
    kappa, u, error = parts(s)[4], work[exponent][:d], work[ERROR][:d]
    relative, absolute = coefficients[kappa + 1 : kappa + 1 + d], coefficients[kappa + 1 + d :]
    if error_norm(table, work[start][:n], y, error, relative, absolute) < 1.0 or leaves_chart(table, error):
        return
    retract(table, tau, work[start][:n], error, work[state][:n])
    field(t, work[state][:n], parameters, structure, field_work, u)
    dtau_inverse_left(table, tau, error, u, u)
    counters[EVALUATIONS] += 1
    if nought(u, d) == 0.0:
        _estimate(s, d, h, u, table, coefficients, options, work, memory)


@entry(STEP_SIGNATURE)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of an implicit Runge-Kutta-Munthe-Kaas method, with its stages solved as far as the tolerance asks."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    _, _, _, _, first, _, state, numbers = own(s)
    told = joined(work[numbers:])
    memory, last = told[OWN_NUMBERS:], work[OWN_ROWS + s - 1][:d]
    again = counters[HISTORY] == 0
    _begin(y, options, work, told, counters)
    status = _solve(
        field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, told, memory, counters
    )
    if status != OK:
        return status
    if leaves_chart(table, last):
        counters[STAGE] = s
        return CHART_LEFT
    told[TAKEN] = h
    advance_state(table, options[TAU], y, low, last, work[state][:n], options[COMPENSATION], counters)
    _estimate(s, d, h, work[first][:d], table, coefficients, options, work, memory)
    if again and options[FILTER] >= 0:
        _estimate_again(
            field, t, h, table, coefficients, options, parameters, structure, field_work, work, memory, y, counters
        )
    counters[HISTORY] = 1
    return OK


@entry(STEP_SIGNATURE)
def interpolate(
    field: Any, t: Any, part: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """y, the state at the start of the last step, becomes the state at t + part within it, by the polynomial through
    the stages that the step left behind.
    """
    s, d = options[STAGES], dimension(table)
    _, _, _, _, _, exponent, _, numbers = own(s)
    u = work[exponent][:d]
    _polynomial(joined(work[numbers:])[TAKEN], part, OWN_ROWS, work, coefficients, options, u)
    retract(table, options[TAU], y, u, y)
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return 3 * int(options[0]) + 5


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    s = int(options[0])
    return OWN_ROWS + _rows(options) + -(-OWN_NUMBERS // columns) + newton_rows(s, problem, columns), columns


def _late(options: NDArray[np.int64], problem: Problem) -> list[Any]:
    stages = int(options[STAGES - OWN_OPTIONS])
    return eliminations(problem, options[NODES - OWN_OPTIONS + stages :][:stages])


def _stepper(maps: tuple[str, ...], interpolant: bool) -> Stepper:
    return Stepper(
        "implicit_variable", step, _rows, maps=maps, prepare=exact, evaluates="linearised", shape=_shape,
        explain=explain, interpolant=interpolate if interpolant else None, tolerances=told_tolerances,
        controller="PREDICTIVE", late=_late,
    )  # fmt: skip


MAPS = ("exp", "cayley", "ccsk")
COLLOCATION = _stepper(MAPS, True)
STAGE_BY_STAGE = _stepper(MAPS, False)


def real_eigenvalue(R: Array, blocks: NDArray[np.int64]) -> int:
    """The column of the first real eigenvalue of A in its Schur form; ValueError where there is none."""
    s = len(R)
    for j in range(s):
        if blocks[j] == 1 and R[j, j] != 0.0:
            return j
    raise ValueError("the matrix A has no real eigenvalue, which the estimate needs: expected an odd number of stages")


def collocation_estimate(A: Array, b: Array, c: Array, gamma: float) -> tuple[float, Array]:
    """(e₀, e) of the embedded method of order s with the weight γ at the start: e₀ = γ, e = A⁻ᵀ (b̂ − b) with
    Σ b̂ᵢ cᵢ^(q−1) = 1/q, less γ where q = 1, for q = 1 … s.
    """
    s = len(b)
    powers = c[None, :] ** np.arange(s)[:, None]
    right = 1.0 / np.arange(1.0, s + 1.0)
    right[0] -= gamma
    return gamma, np.asarray(np.linalg.solve(A.T, np.linalg.solve(powers, right) - b), dtype=np.float64)


def embedded_estimate(A: Array, error: Array) -> tuple[float, Array]:
    """(e₀, e) with e₀ h f(y) + Σ eᵢ uᵢ = h Σ errorᵢ kᵢ, of a tableau whose first stage may be explicit."""
    explicit = int(not A[0].any())
    inner = A[explicit:, explicit:]
    e = np.asarray(np.linalg.solve(inner.T, error[explicit:]), dtype=np.float64)
    if not explicit:
        return 0.0, e
    return float(error[0] - e @ A[1:, 0]), np.concatenate([[0.0], e])


def _is_collocation(A: Array, c: Array) -> bool:
    """Whether Σⱼ aᵢⱼ cⱼ^(q−1) = cᵢ^q/q for q = 1 … s, at distinct times after the start."""
    q = np.arange(1.0, len(c) + 1.0)
    powers = c[:, None] ** (q - 1.0)
    return bool(c.min() > 0.0) and bool(np.allclose(A @ powers, c[:, None] * powers / q, rtol=0.0, atol=ROUNDED))


def variable(method: Method) -> Method:
    """The method of `integrators.steppers.implicit`, with the chart at the start and an estimate, as it takes variable
    steps; ValueError for a tableau of which that would be another method.
    """
    s, centred, embedded, _, _, _, *blocks = method.options.tolist()  # of `implicit_rkmk`
    numbers, collocation = method.coefficients, not embedded
    A, (b, c, error) = numbers[: s * s].reshape(s, s), numbers[s * s : s * s + 3 * s].reshape(3, s)
    form = numbers[s * s + 3 * s :]
    if centred or not np.allclose(A[-1], b, rtol=0.0, atol=ROUNDED):
        raise ValueError(
            f"{method.name}: with variable steps the last stage is the step, expected a stiffly accurate tableau and "
            "centred=False; give `step`"
        )
    if collocation and not _is_collocation(A, c):
        raise ValueError(
            f"{method.name}: without an embedded method the estimate is that of collocation at times after the start, "
            "expected Radau IIA; give `step`"
        )
    column = real_eigenvalue(form[s * s :].reshape(s, s), np.array(blocks))
    if collocation:
        e0, e = collocation_estimate(A, b, c, float(form[s * s + column * s + column]))
        nodes = list(range(s))
    else:
        e0, e = embedded_estimate(A, error)
        if abs(e0) < ROUNDED:  # the embedded method is stiffly accurate, too, or begins with no stage at the start
            column = -1
        inner = [i for i in range(s - 1) if 0.0 < c[i] < 1.0]
        nodes = [min(inner, key=lambda i: abs(c[i] - 0.5)), s - 1]
    return replace(
        method,
        stepper=COLLOCATION if collocation else STAGE_BY_STAGE,
        coefficients=np.concatenate([A.ravel(), c, [e0], e, form]),
        options=np.array([s, column, len(nodes), *nodes, *[0] * (s - len(nodes)), *blocks]),
        dense_order=s if collocation else None,
    )
