"""The midpoint rule on a group: symplectic on T*G, symmetric everywhere, solved to rounding.

On canonical problems (state (g, p) on T*G, left-trivialised; field (ξ, ṗ) with ṗ = ad_ξᵀ p + f) it is the variational
one-stage Gauss method with the chart at the middle of the step,

    Y = (h/2) ξ,  g_c = g₀ τ(Y),     n₀ = Ad_τ(Y)ᵀ p₀,  n₁ = n₀ + h f,     P = ½ [dτ_right(Y)ᵀ n₁ + dτ_left(Y)ᵀ n₀],
    (ξ, f) at (t + h/2, g_c, P),     g₁ = g₀ τ(Y) τ(Y),  p₁ = Ad_τ(Y)ᵀ n₁,

which on Rⁿ is the implicit midpoint rule.  The update of p consists of group actions: momentum maps are exact.
On other problems it is the Lie midpoint rule: ξ at (t + h/2, y₀ τ(Y)), y₁ = y₀ τ(Y) τ(Y).

The equations are solved by fixed-point iteration, from the values extrapolated over the last steps, until no iterate
moves or rounding stops the progress.  Sources: Bou-Rabee and Marsden 2009 (variational methods on groups); Hairer,
McLachlan, Razakarivony 2008 (why the iteration must end in rounding).

options
    largest number of iterations; number of past values to extrapolate from.
own rows
    z = (ξ, f) at the middle; the newly evaluated one; state at the middle; Y; n₀; n₁; scratch; differences of past z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import absorb
from integrators.layout import (
    CANONICAL,
    COMPENSATION,
    ERROR,
    EVALUATIONS,
    HISTORY,
    ITERATIONS,
    OWN_OPTIONS,
    OWN_ROWS,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, dimension, leaves_chart
from integrators.steppers.iteration import extrapolate, goes_on, move, relative, remember, unsolved
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, st
from liegroup.compile.scalars import maximum
from liegroup.table import (
    EXP,
    bracket_transpose,
    coadjoint,
    coadjoint_difference,
    dtau_left_transpose,
    dtau_right_transpose,
    retract,
)

LIMIT, PAST = OWN_OPTIONS, OWN_OPTIONS + 1
Z, NEW, MIDDLE, Y, N0, N1, SCRATCH, PASTS = range(OWN_ROWS, OWN_ROWS + 8)


@kernel
def evaluate(
    field: Any,
    t: Any,
    h: Any,
    y: Any,
    table: Any,
    options: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
) -> None:
    """The field at the middle of the step that z describes, into row NEW: (ξ, f) on canonical problems, else ξ."""
    n, d = y.shape[0], dimension(table)
    z, new, middle, half = work[Z][:d], work[NEW][:d], work[MIDDLE][:n], work[Y][:d]
    tau = options[TAU]
    for i in range(d):
        st(half, i, (0.5 * h) * ld(z, i))
    if not options[CANONICAL]:
        retract(table, tau, y, half, middle)
        field(t + 0.5 * h, middle, parameters, structure, field_work, new)
        return
    k = table.shape[0] - 1
    group, g, m = table[:k], table[k, 1], table[k, 4]
    n0, n1, scratch = work[N0][:m], work[N1][:m], work[SCRATCH][:m]
    coadjoint(group, tau, half, y[g:], n0)
    for i in range(m):
        st(n1, i, ld(n0, i) + h * ld(z, m + i))
    retract(group, tau, y, half, middle)
    dtau_right_transpose(group, tau, half, n1, scratch)
    dtau_left_transpose(group, tau, half, n0, n1)
    for i in range(m):
        st(middle, g + i, 0.5 * (ld(scratch, i) + ld(n1, i)))
    field(t + 0.5 * h, middle, parameters, structure, field_work, new)
    bracket_transpose(group, new, middle[g:], scratch)
    for i in range(m):
        st(new, m + i, ld(new, m + i) - ld(scratch, i))


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
    counters: Any,
) -> int:  # fmt: skip
    """Iterate z to rounding; each lane stops by itself."""
    d = dimension(table)
    m = table[table.shape[0] - 1, 4] if options[CANONICAL] else d
    z, new = work[Z][:d], work[NEW][:d]
    zero = ld(y, 0) * 0.0
    going, best, speed, force = zero + 1.0, zero + 1.0, zero, zero
    for i in range(d - m):
        force = maximum(force, absolute(ld(y, y.shape[0] - m + i)))
    step = absolute(h)
    for _ in range(options[LIMIT]):
        evaluate(field, t, h, y, table, options, parameters, structure, field_work, work)
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        change, size = move(z, new, 0, m, going)
        speed = maximum(speed, size)
        residual = relative(change, speed)
        change, size = move(z, new, m, d, going)
        force = maximum(force, step * size)
        residual = maximum(residual, relative(step * change, force))
        if any_(residual != residual):
            return NON_FINITE
        going, best = goes_on(going, residual, best), residual
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED if unsolved(going, best) else OK


@helper
def finish(h: Any, y: Any, low: Any, table: Any, options: Any, work: Any, counters: Any) -> None:
    """y <- the state at the end of the step, from z, by increments."""
    n, d = y.shape[0], dimension(table)
    tau, compensation = options[TAU], options[COMPENSATION]
    z, half, middle = work[Z][:d], work[Y][:d], work[MIDDLE][:n]
    for i in range(d):
        st(half, i, (0.5 * h) * ld(z, i))
    group = table
    if options[CANONICAL]:
        k = table.shape[0] - 1
        group, g, m = table[:k], table[k, 1], table[k, 4]
        n1, scratch = work[N1][:m], work[SCRATCH][:m]
        coadjoint_difference(group, tau, half, y[g:], scratch)
        for i in range(m):
            st(scratch, i, ld(scratch, i) + h * ld(z, m + i))
            st(n1, i, ld(y, g + i) + ld(scratch, i))
        coadjoint_difference(group, tau, half, n1, n1)
        for i in range(m):
            st(middle, g + i, ld(scratch, i) + ld(n1, i))
        absorb(y, low, middle, g, g + m, compensation)
    if tau == EXP:
        for i in range(d):
            st(half, i, h * ld(z, i))
    else:
        advance_state(group, tau, y, low, half, middle, compensation, counters)
    advance_state(group, tau, y, low, half, middle, compensation, counters)


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of the midpoint rule."""
    d = dimension(table)
    if counters[HISTORY] == 0:
        field(t, y, parameters, structure, field_work, work[Z][:d])
        counters[EVALUATIONS] += 1
        if options[CANONICAL]:
            k = table.shape[0] - 1
            g, m = table[k, 1], table[k, 4]
            bracket_transpose(table[:k], work[Z], y[g:], work[SCRATCH])
            for i in range(m):
                st(work[Z], m + i, ld(work[Z], m + i) - ld(work[SCRATCH], i))
    if counters[HISTORY] > 0:
        extrapolate(work, Z, PASTS, min(counters[HISTORY], options[PAST]), d)
    status = solve(field, t, h, y, table, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(table, work[Y]):
        status = CHART_LEFT
    if status == OK:
        counters[HISTORY] = min(counters[HISTORY] + 1, options[PAST])
        remember(work, Z, PASTS, counters[HISTORY], d)
        finish(h, y, low, table, options, work, counters)
    return status


def _rows(options: NDArray[np.int64]) -> int:
    return PASTS - OWN_ROWS + int(options[1])


STEPPER = Stepper("midpoint", step, _rows, maps=("exp", "cayley"))


def midpoint(name: str = "MIDPOINT", iterations: int = 100, past: int = 4, **changes: object) -> Method:
    """The midpoint rule; `past` values are extrapolated to start the iteration, which ends after at most
    `iterations`.
    """
    return Method(
        name=name,
        stepper=STEPPER,
        order=2,
        options=np.array([iterations, past]),
        symmetric=True,
        symplectic=True,
        source="Bou-Rabee and Marsden 2009",
        **changes,  # type: ignore[arg-type]
    )
