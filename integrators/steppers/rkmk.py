"""Runge-Kutta-Munthe-Kaas: any explicit Butcher tableau on any product of groups.

    uᵢ = h Σⱼ aᵢⱼ kⱼ,   kᵢ = dτ_left(uᵢ)⁻¹ f(t + cᵢh, y τ(uᵢ)),   u = h Σ bᵢ kᵢ,   y <- y τ(u)

with the estimate h Σ (bᵢ − b̂ᵢ) kᵢ in the algebra.  A tableau whose last stage is the new point (FSAL) passes on the
field there, not k: the next step works in another chart.  Within a step the continuous extension of the tableau acts in
the algebra,

    y(t + θh) = y τ(h Σ bᵢ(θ) kᵢ),

with e extra stages where it needs them and weights by `integrators.arithmetic.interpolation`.  Source: Munthe-Kaas
1999.

coefficients
    A (s, s) by rows, b (s), c (s), b − b̂ (s), b − b̂_low (s); for the extension: extra_A (e, s + e), extra_c (e), and
    aᵢₖ (s + e, d).
options
    stages s; 1 if FSAL; number of error estimates (0, 1, 2); extra stages e; degree d; highest power of ad_u in dτ⁻¹
    (−1: exact).
own rows
    kᵢ (s + e), u, stage state, step size, scratch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.interpolation import chebyshev, continuous_weight
from integrators.layout import (
    COMPENSATION,
    ERROR,
    ERROR_LOW,
    EVALUATIONS,
    FIRST,
    FIRST_KNOWN,
    HISTORY,
    LAST,
    LAST_KNOWN,
    OWN_OPTIONS,
    OWN_ROWS,
    STAGE,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.signatures import STEP_PACED_SIGNATURE, STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, clear, copy, dimension, evaluate, leaves_chart
from integrators.steppers.series import EXACT, inverse_differential, power_for
from integrators.tableaus import ButcherTableau
from liegroup.compile import entry, helper, ld, ld2, st
from liegroup.table import retract

STAGES, FSAL, ESTIMATES, EXTRA, DEGREE, POWER = range(OWN_OPTIONS, OWN_OPTIONS + 6)


@helper
def combine(work: Any, h: Any, coefficients: Any, start: Any, stages: Any, u: Any) -> None:
    """u = h Σᵢ coefficients[start + i] kᵢ; coefficients that are zero cost nothing."""
    empty = True
    for i in range(stages):
        a = coefficients[start + i]
        if a != 0.0:
            for m in range(u.shape[0]):
                term = a * ld2(work, OWN_ROWS + i, m)
                st(u, m, term if empty else ld(u, m) + term)
            empty = False
    if empty:
        clear(u)
    for m in range(u.shape[0]):
        st(u, m, h * ld(u, m))


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of an explicit Runge-Kutta-Munthe-Kaas method."""
    s, tau, d, n = options[STAGES], options[TAU], dimension(table), y.shape[0]
    b, c, own = s * s, s * s + s, OWN_ROWS + s + options[EXTRA]
    u, x, first, scratch = work[own][:d], work[own + 1][:n], work[FIRST][:d], work[own + 3][:d]
    st(work[own + 2], 0, h)
    if not counters[FIRST_KNOWN]:
        evaluate(field, t + coefficients[c] * h, y, parameters, structure, field_work, first)
        counters[EVALUATIONS] += 1
        counters[FIRST_KNOWN] = 1
    copy(first, work[OWN_ROWS][:d])
    last = s - options[FSAL]
    for i in range(1, last):
        k = work[OWN_ROWS + i][:d]
        combine(work, h, coefficients, i * s, i, u)
        if leaves_chart(table, u):
            counters[STAGE] = i
            return CHART_LEFT
        retract(table, tau, y, u, x)
        evaluate(field, t + coefficients[c + i] * h, x, parameters, structure, field_work, k)
        inverse_differential(table, tau, options[POWER], u, k, scratch, k)
    counters[EVALUATIONS] += last - 1
    combine(work, h, coefficients, b, last, u)
    if leaves_chart(table, u):
        counters[STAGE] = s
        return CHART_LEFT
    advance_state(table, tau, y, low, u, x, options[COMPENSATION], counters)
    counters[LAST_KNOWN] = options[FSAL]
    if options[FSAL]:
        k = work[OWN_ROWS + last][:d]
        evaluate(field, t + h, y, parameters, structure, field_work, work[LAST][:d])
        counters[EVALUATIONS] += 1
        inverse_differential(table, tau, options[POWER], u, work[LAST][:d], scratch, k)
    if options[ESTIMATES] > 0:
        combine(work, h, coefficients, c + s, s, work[ERROR][:d])
    if options[ESTIMATES] > 1:
        combine(work, h, coefficients, c + 2 * s, s, work[ERROR_LOW][:d])
    return OK


@entry(*STEP_SIGNATURES)
def interpolate(
    field: Any, t: Any, part: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """y, the state at the start of the last step, becomes the state at t + part within it; `work` is what the step left
    behind.
    """
    s, e, tau, d, n = options[STAGES], options[EXTRA], options[TAU], dimension(table), y.shape[0]
    a = s * s + 4 * s
    c, own = a + e * (s + e), OWN_ROWS + s + e
    u, x, h = work[own][:d], work[own + 1][:n], first_lane(work[own + 2])
    if not counters[HISTORY]:
        counters[HISTORY] = 1
        counters[EVALUATIONS] += e
        for i in range(e):
            k = work[OWN_ROWS + s + i][:d]
            combine(work, h, coefficients, a + i * (s + e), s + i, u)
            retract(table, tau, y, u, x)
            field(t + coefficients[c + i] * h, x, parameters, structure, field_work, k)
            inverse_differential(table, tau, options[POWER], u, k, work[own + 3][:d], k)
    for m in range(d):
        st(u, m, 0.0)
    for i in range(s + e):
        weight = continuous_weight(coefficients, c + e + i * options[DEGREE], options[DEGREE], part / h)
        for m in range(d):
            st(u, m, ld(u, m) + (h * weight) * ld(work[OWN_ROWS + i], m))
    retract(table, tau, y, u, y)
    return OK


@helper
def first_lane(row: Any) -> Any:
    """The number a row begins with, the same in every lane."""
    return row.flat[0]


def _rows(options: NDArray[np.int64]) -> int:
    return int(options[0] + options[3]) + 4


paced = entry(STEP_PACED_SIGNATURE)(step.python)
"""The same step in lanes with times and sizes of their own."""
RKMK = Stepper("rkmk", step, _rows, interpolant=interpolate, paced=paced, begins_with_field=True)
TRUNCATED = Stepper("rkmk", step, _rows, maps=("exp",), interpolant=interpolate, paced=paced, begins_with_field=True)
"""The same kernel; the series is that of the exponential."""


def rkmk(tableau: ButcherTableau, name: str = "", truncated: bool = False, **changes: Any) -> Method:
    """The Runge-Kutta-Munthe-Kaas method of an explicit tableau.

    `truncated`: dexp⁻¹ as the shortest series that keeps the order, of brackets only (`integrators.steppers.series`).
    """
    if not tableau.explicit:
        raise ValueError(f"rkmk: the tableau {tableau.name} is implicit; expected an explicit one")
    r = tableau.rounded
    extension = (r.extra_A.ravel(), r.extra_c, chebyshev(tableau.dense).ravel())
    estimates = bool(tableau.b_hat) + bool(tableau.b_hat_low)
    return Method(
        name=name or f"RKMK[{tableau.name}{', truncated' if truncated else ''}]",
        stepper=TRUNCATED if truncated else RKMK,
        order=tableau.order,
        coefficients=np.concatenate([r.A.ravel(), r.b, r.c, r.error, r.error_low, *extension]),
        options=np.array(
            [
                tableau.stages,
                tableau.fsal,
                estimates,
                tableau.extra_stages,
                r.dense.shape[1],
                power_for(tableau.order) if truncated else EXACT,
            ]
        ),
        evaluations=tableau.evaluations,
        embedded_order=tableau.embedded_order,
        embedded_order_low=tableau.embedded_order_low,
        dense_order=tableau.dense_order,
        source=f"Munthe-Kaas 1999; {tableau.source}" if tableau.source else "Munthe-Kaas 1999",
        **changes,
    )
