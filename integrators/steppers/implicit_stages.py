"""The equations of an implicit Runge-Kutta-Munthe-Kaas step, solved by iteration.

    centred:  m = y τ(v),  uᵢ = h Σⱼ (aᵢⱼ − bⱼ/2) kⱼ,   v = (h/2) Σ bⱼ kⱼ,   y <- y τ(v) τ(v)
    else:     m = y,       uᵢ = h Σⱼ aᵢⱼ kⱼ,            u = h Σ bⱼ kⱼ,        y <- y τ(u)

    kᵢ = dτ_left(uᵢ)⁻¹ f(t + cᵢh, m τ(uᵢ))

The stages are iterated in turn (each uses the newest others) from values extrapolated over the last steps, until no
iterate moves or rounding stops the progress.  `integrators.steppers.implicit` says what the method is.

coefficients
    A or the centred A (s, s) by rows, b (s), c (s), b − b̂ (s).
options
    stages s; 1 if centred; 1 with an error estimate (for variable steps,
    `integrators.steppers.implicit_variable`); largest number of iterations; number of past steps to extrapolate
    from; 1 for Newton's method from the beginning; the blocks of R (2 s); the pattern of the problem.
own rows
    kᵢ (s); the newly evaluated one; uᵢ or v; m; stage state; past differences of every kᵢ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, OWN_ROWS, STAGE, TAU
from integrators.problem.sparsity import per
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, copy, dimension, leaves_chart
from integrators.steppers.iteration import FLOOR, extrapolate, goes_on, move, nought, relative, remember
from integrators.steppers.rkmk import combine
from liegroup.compile import any_, helper, kernel, ld, never, rare, scalar_of, select, st
from liegroup.compile.scalars import maximum
from liegroup.table import EXP, dtau_inverse_left, retract

LOOPS = "short"

STAGES, CENTRED, _ESTIMATE, LIMIT, PAST, NEWTON, BLOCKS = range(OWN_OPTIONS, OWN_OPTIONS + 7)


@helper
def own(s: Any) -> Any:
    """Rows: new value, exponent, m, stage state, and where the past begins."""
    first = OWN_ROWS + s
    return first, first + 1, first + 2, first + 3, first + 4


@helper
def centre(h: Any, y: Any, table: Any, coefficients: Any, options: Any, work: Any) -> None:
    """The point m at which the chart is put."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    _, exponent, middle, _, _ = own(s)
    if options[CENTRED]:
        combine(work, 0.5 * h, coefficients, s * s, s, work[exponent][:d])
        retract(table, options[TAU], y, work[exponent][:d], work[middle][:n])
    else:
        copy(y, work[middle][:n])


@helper
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


@rare(never, lambda field, t, h, y, *others: (scalar_of(y), scalar_of(y)))
def iterate(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, counters: Any, going: Any,
) -> Any:  # fmt: skip
    """Iterate the kᵢ to rounding where `going`; each lane stops by itself.  Returns 1 where they are not solved, and
    the rounds that were taken.
    """
    s, d = options[STAGES], dimension(table)
    new, often = own(s)[0], options[BLOCKS + 2 * s :][per(d)].view(np.float64)
    zero = ld(y, 0) * 0.0
    best, speed, lost, rounds = zero + 1.0, zero, zero, zero
    for _ in range(options[LIMIT]):
        centre(h, y, table, coefficients, options, work)
        largest, check = zero, zero
        for i in range(s):
            evaluate(field, t, h, y.shape[0], i, table, coefficients, options, parameters, structure, field_work, work)
            change, size = move(work[OWN_ROWS + i][:d], work[new][:d], 0, d, often, going)
            largest, speed, check = maximum(largest, change), maximum(speed, size), check + nought(work[new], d)
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        residual, rounds = relative(largest, speed) + check, rounds + going
        lost = select((going > 0.0) & (residual != residual), zero + 1.0, lost)
        going, best = goes_on(select(lost > 0.0, zero, going), residual, best), residual
        if not any_(going > 0.0):
            break
    st(work[ERROR], 0, best)
    return select((going > 0.0) & (best > FLOOR), zero + 1.0, lost), rounds


@kernel
def start(
    field: Any, t: Any, y: Any, table: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any, known: Any, going: Any,
) -> None:  # fmt: skip
    """First guess of the kᵢ, where `going`: extrapolated by backward differences over `known` past steps, else the
    field at the start.
    """
    s, past, d = options[STAGES], options[PAST], dimension(table)
    new, pasts = own(s)[0], own(s)[4]
    if known == 0:
        field(t, y, parameters, structure, field_work, work[new][:d])
        counters[EVALUATIONS] += 1
    for i in range(s):
        if known > 0:
            extrapolate(work, new, pasts + i * past, known, d)
        for k in range(d):
            st(work[OWN_ROWS + i], k, select(going > 0.0, ld(work[new], k), ld(work[OWN_ROWS + i], k)))


@kernel
def finish(h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, work: Any, counters: Any) -> None:
    """y <- the state at the end of the step, by increments."""
    s, d, n, tau, compensation = options[STAGES], dimension(table), y.shape[0], options[TAU], options[COMPENSATION]
    _, exponent, _, state, _ = own(s)
    u, x = work[exponent][:d], work[state][:n]
    twice = options[CENTRED] and tau != EXP
    combine(work, 0.5 * h if twice else h, coefficients, s * s, s, u)
    for _ in range(2 if twice else 1):
        advance_state(table, tau, y, low, u, x, compensation, counters)


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


def own_rows(options: NDArray[np.int64]) -> int:
    """Rows of the workspace that the stages, the step and the past need."""
    s, past = int(options[0]), int(options[4])
    return s + 4 + s * past
