"""Implicit Runge-Kutta-Munthe-Kaas: any Butcher tableau on any product of groups.

    centred:  m = y τ(v),  uᵢ = h Σⱼ (aᵢⱼ − bⱼ/2) kⱼ,   v = (h/2) Σ bⱼ kⱼ,   y <- y τ(v) τ(v)
    else:     m = y,       uᵢ = h Σⱼ aᵢⱼ kⱼ,            u = h Σ bⱼ kⱼ,        y <- y τ(u)

    kᵢ = dτ_left(uᵢ)⁻¹ f(t + cᵢh, m τ(uᵢ))

With the chart at the middle of the step a symmetric tableau gives a symmetric method for maps with τ(−x) = τ(x)⁻¹; with
the chart at the start it does not.  The matrix of the centred form is rounded as a whole, so that it is odd to the last
bit. The stages are iterated in turn (each uses the newest others) from values extrapolated over the last steps, or by
Newton's method, until no iterate moves or rounding stops the progress. Sources: Munthe-Kaas 1999; Zanna, Engø and
Munthe-Kaas 2001 (the symmetric form); Hairer, McLachlan and Razakarivony 2008 (why the iteration must end in rounding).

coefficients
    A or the centred A (s, s) by rows, b (s), c (s), b − b̂ (s).
options
    stages s; 1 if centred; 1 with an error estimate; largest number of iterations; number of past steps to extrapolate
    from.
own rows
    kᵢ (s); the newly evaluated one; uᵢ or v; m; stage state; past differences of every kᵢ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, OWN_ROWS, STAGE, TAU
from integrators.method import Method, Stepper
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, copy, dimension, leaves_chart
from integrators.steppers.iteration import extrapolate, goes_on, move, relative, remember, unsolved
from integrators.steppers.rkmk import combine
from integrators.tableaus import ButcherTableau
from liegroup.compile import any_, entry, helper, kernel, ld, st
from liegroup.compile.scalars import maximum
from liegroup.table import EXP, dtau_inverse_left, retract

STAGES, CENTRED, ESTIMATE, LIMIT, PAST = range(OWN_OPTIONS, OWN_OPTIONS + 5)


@helper
def own(s: Any) -> Any:
    """Rows: new value, exponent, m, stage state, and where the past begins."""
    first = OWN_ROWS + s
    return first, first + 1, first + 2, first + 3, first + 4


@kernel
def centre(h: Any, y: Any, table: Any, coefficients: Any, options: Any, work: Any) -> None:
    """The point m at which the chart is put."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    _, exponent, middle, _, _ = own(s)
    if options[CENTRED]:
        combine(work, 0.5 * h, coefficients, s * s, s, work[exponent][:d])
        retract(table, options[TAU], y, work[exponent][:d], work[middle][:n])
    else:
        copy(y, work[middle][:n])


@kernel
def evaluate(
    field: Any, t: Any, h: Any, n: Any, i: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any,
) -> None:  # fmt: skip
    """What the equations give for kᵢ, into the row of the new value."""
    s, tau, d = options[STAGES], options[TAU], dimension(table)
    new, exponent, middle, state, _ = own(s)
    u, x, k = work[exponent][:d], work[state][:n], work[new][:d]
    combine(work, h, coefficients, i * s, s, u)
    retract(table, tau, work[middle][:n], u, x)
    field(t + coefficients[s * s + s + i] * h, x, parameters, structure, field_work, k)
    dtau_inverse_left(table, tau, u, k, k)


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, counters: Any,
) -> int:  # fmt: skip
    """Iterate the kᵢ to rounding; each lane stops by itself."""
    s, d = options[STAGES], dimension(table)
    new = own(s)[0]
    zero = ld(y, 0) * 0.0
    going, best, speed = zero + 1.0, zero + 1.0, zero
    for _ in range(options[LIMIT]):
        centre(h, y, table, coefficients, options, work)
        largest = zero
        for i in range(s):
            evaluate(field, t, h, y.shape[0], i, table, coefficients, options, parameters, structure, field_work, work)
            change, size = move(work[OWN_ROWS + i][:d], work[new][:d], 0, d, going)
            largest, speed = maximum(largest, change), maximum(speed, size)
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        residual = relative(largest, speed)
        if any_(residual != residual):
            return NON_FINITE
        going, best = goes_on(going, residual, best), residual
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED if unsolved(going, best) else OK


@kernel
def start(
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
    """First guess of the kᵢ: extrapolated by backward differences over past steps, else the field at the start."""
    s, past, d = options[STAGES], options[PAST], dimension(table)
    pasts = own(s)[4]
    known = min(counters[HISTORY], past)
    if known == 0:
        field(t, y, parameters, structure, field_work, work[OWN_ROWS][:d])
        counters[EVALUATIONS] += 1
        for i in range(1, s):
            copy(work[OWN_ROWS][:d], work[OWN_ROWS + i][:d])
        return
    for i in range(s):
        extrapolate(work, OWN_ROWS + i, pasts + i * past, known, d)


@kernel
def finish(h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, work: Any, counters: Any) -> None:
    """y <- the state at the end of the step, by increments."""
    s, d, n, tau, compensation = options[STAGES], dimension(table), y.shape[0], options[TAU], options[COMPENSATION]
    _, exponent, _, state, _ = own(s)
    u, x = work[exponent][:d], work[state][:n]
    twice = options[CENTRED] and tau != EXP
    combine(work, 0.5 * h if twice else h, coefficients, s * s, s, u)
    advance_state(table, tau, y, low, u, x, compensation, counters)
    if twice:
        advance_state(table, tau, y, low, u, x, compensation, counters)
    if options[ESTIMATE]:
        combine(work, h, coefficients, s * s + 2 * s, s, work[ERROR][:d])


@kernel
def stages_leave_chart(h: Any, table: Any, coefficients: Any, options: Any, work: Any, counters: Any) -> bool:
    """Whether a stage or the step, as solved, turns by π or more in its chart."""
    s = options[STAGES]
    u = work[own(s)[1]][: dimension(table)]
    for i in range(s + 1):
        combine(work, 0.5 * h if i == s and options[CENTRED] else h, coefficients, i * s, s, u)
        if leaves_chart(table, u):
            counters[STAGE] = i
            return True
    return False


@kernel
def accept(
    status: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, work: Any, counters: Any
) -> Any:
    """Take the step whose equations are solved, unless it leaves the chart."""
    if status == OK and stages_leave_chart(h, table, coefficients, options, work, counters):
        status = CHART_LEFT
    if status == OK:
        s, past, d = options[STAGES], options[PAST], dimension(table)
        counters[HISTORY] = min(counters[HISTORY] + 1, past)
        for i in range(s):
            remember(work, OWN_ROWS + i, own(s)[4] + i * past, counters[HISTORY], d)
        finish(h, y, low, table, coefficients, options, work, counters)
    return status


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of an implicit Runge-Kutta-Munthe-Kaas method."""
    start(field, t, y, table, options, parameters, structure, field_work, work, counters)
    status = solve(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters)
    return accept(status, h, y, low, table, coefficients, options, work, counters)


def own_rows(options: NDArray[np.int64]) -> int:
    """Rows of the workspace that the stages, the step and the past need."""
    s, past = int(options[0]), int(options[4])
    return s + 4 + s * past


CENTRED_CHART = Stepper("implicit_rkmk", step, own_rows, maps=("exp", "cayley"))
CHART_AT_START = Stepper("implicit_rkmk", step, own_rows)


def implicit_rkmk(
    tableau: ButcherTableau,
    name: str = "",
    centred: bool | None = None,
    iterations: int = 200,
    past: int = 4,
    **changes: Any,
) -> Method:
    """The implicit Runge-Kutta-Munthe-Kaas method of a tableau.

    Parameters
    ----------
    tableau : ButcherTableau
    centred : bool, optional
        Chart at the middle of the step (default for symmetric tableaus, which it makes symmetric methods) or at its
        start.
    iterations : int
        At most so many iterations per step.
    past : int
        The first guess is extrapolated from so many past steps.
    """
    centred = tableau.symmetric if centred is None else centred
    if past < 1 or iterations < 1:
        raise ValueError(f"implicit_rkmk: past = {past}, iterations = {iterations}; both must be at least 1")
    if centred and tableau.b_hat:
        raise ValueError(
            f"implicit_rkmk: {tableau.name} has an error estimate, which needs the chart at the start: centred=False"
        )
    r = tableau.rounded
    return Method(
        name=name or f"RKMK[{tableau.name}]",
        stepper=CENTRED_CHART if centred else CHART_AT_START,
        order=tableau.order,
        coefficients=np.concatenate([(r.A_centred if centred else r.A).ravel(), r.b, r.c, r.error]),
        options=np.array([tableau.stages, centred, bool(tableau.b_hat), iterations, past]),
        embedded_order=tableau.embedded_order,
        symmetric=centred and tableau.symmetric,
        source=f"Zanna, Engø and Munthe-Kaas 2001; {tableau.source}".rstrip("; "),
        **changes,
    )
