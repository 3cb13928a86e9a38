"""Runge-Kutta-Munthe-Kaas: any explicit Butcher tableau on any product of groups.

    uᵢ = h Σⱼ aᵢⱼ kⱼ,   kᵢ = dτ_left(uᵢ)⁻¹ f(t + cᵢh, y τ(uᵢ)),   u = h Σ bᵢ kᵢ,   y <- y τ(u)

with the estimate h Σ (bᵢ − b̂ᵢ) kᵢ in the algebra.  A tableau whose last stage is the new point (FSAL) passes on the field
there, not k: the next step works in another chart.  Source: Munthe-Kaas 1999.

coefficients
    A (s, s) by rows, b (s), c (s), b − b̂ (s), b − b̂_low (s).
options
    stages s; 1 if FSAL; number of error estimates (0, 1, 2).
own rows
    kᵢ (s), u, stage state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import (
    COMPENSATION,
    ERROR,
    ERROR_LOW,
    EVALUATIONS,
    FIRST,
    FIRST_KNOWN,
    LAST,
    LAST_KNOWN,
    OWN_OPTIONS,
    OWN_ROWS,
    STAGE,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, copy, dimension, leaves_chart
from integrators.tableaus import ButcherTableau
from liegroup.compile import entry, helper, ld, st
from liegroup.table import dtau_inverse_left, retract

STAGES, FSAL, ESTIMATES = OWN_OPTIONS, OWN_OPTIONS + 1, OWN_OPTIONS + 2


@helper
def combine(work: Any, h: Any, coefficients: Any, start: Any, stages: Any, u: Any) -> None:
    """u = h Σᵢ coefficients[start + i] kᵢ; coefficients that are zero cost nothing."""
    for m in range(u.shape[0]):
        st(u, m, 0.0)
    for i in range(stages):
        a = coefficients[start + i]
        if a != 0.0:
            k = work[OWN_ROWS + i]
            for m in range(u.shape[0]):
                st(u, m, ld(u, m) + a * ld(k, m))
    for m in range(u.shape[0]):
        st(u, m, h * ld(u, m))


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of an explicit Runge-Kutta-Munthe-Kaas method."""
    s, tau, d, n = options[STAGES], options[TAU], dimension(table), y.shape[0]
    b, c = s * s, s * s + s
    u, x, first = work[OWN_ROWS + s][:d], work[OWN_ROWS + s + 1][:n], work[FIRST][:d]
    if not counters[FIRST_KNOWN]:
        field(t + coefficients[c] * h, y, parameters, structure, field_work, first)
        counters[EVALUATIONS] += 1
    copy(first, work[OWN_ROWS][:d])
    last = s - options[FSAL]
    for i in range(1, last):
        k = work[OWN_ROWS + i][:d]
        combine(work, h, coefficients, i * s, i, u)
        if leaves_chart(table, u):
            counters[STAGE] = i
            return CHART_LEFT
        retract(table, tau, y, u, x)
        field(t + coefficients[c + i] * h, x, parameters, structure, field_work, k)
        dtau_inverse_left(table, tau, u, k, k)
    counters[EVALUATIONS] += last - 1
    combine(work, h, coefficients, b, last, u)
    if leaves_chart(table, u):
        counters[STAGE] = s
        return CHART_LEFT
    advance_state(table, tau, y, low, u, x, options[COMPENSATION], counters)
    counters[LAST_KNOWN] = options[FSAL]
    if options[FSAL]:
        k = work[OWN_ROWS + last][:d]
        field(t + h, y, parameters, structure, field_work, work[LAST][:d])
        counters[EVALUATIONS] += 1
        dtau_inverse_left(table, tau, u, work[LAST][:d], k)
    if options[ESTIMATES] > 0:
        combine(work, h, coefficients, c + s, s, work[ERROR][:d])
    if options[ESTIMATES] > 1:
        combine(work, h, coefficients, c + 2 * s, s, work[ERROR_LOW][:d])
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return int(options[0]) + 2


RKMK = Stepper("rkmk", step, _rows)


def rkmk(tableau: ButcherTableau, name: str = "", **changes: Any) -> Method:
    """The Runge-Kutta-Munthe-Kaas method of an explicit tableau."""
    if not tableau.explicit:
        raise ValueError(f"rkmk: the tableau {tableau.name} is implicit; expected an explicit one")
    r = tableau.rounded
    estimates = bool(tableau.b_hat) + bool(tableau.b_hat_low)
    return Method(
        name=name or f"RKMK[{tableau.name}]",
        stepper=RKMK,
        order=tableau.order,
        coefficients=np.concatenate([r.A.ravel(), r.b, r.c, r.error, r.error_low]),
        options=np.array([tableau.stages, tableau.fsal, estimates]),
        evaluations=tableau.evaluations,
        embedded_order=tableau.embedded_order,
        source=f"Munthe-Kaas 1999; {tableau.source}" if tableau.source else "Munthe-Kaas 1999",
        **changes,
    )
