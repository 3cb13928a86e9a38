"""Schemes of exponentials: Crouch-Grossman, commutator-free, Magnus, RKMK with few commutators.

    Yᵢ = y ∏ exp(h Σ points[i][J][k] Fₖ),   Fᵢ = f(t + cᵢh, Yᵢ),   y <- y ∏ exp(h Σ final[J][i] Fᵢ)

first exponential first; after F₁ … Fₛ the sums go on with brackets [h Σ leftₖ Fₖ, Σ rightₖ Fₖ], formed as soon as their
terms are known.  A stage that begins with all exponentials of an earlier one starts from that stage's point.  Linear
schemes evaluate F at y itself: they have their order for f(t) only.  The order conditions hold for the exponential map,
except up to order 2, where any map that agrees with it to second order will do.

The error estimate is either a sum of the F in the algebra, or τ⁻¹(ŷ⁻¹ y) with ŷ the result of the embedded method.
Sources: Crouch and Grossman 1993; Celledoni, Marthinsen and Owren 2003; Blanes, Casas and Ros 2000; Munthe-Kaas and
Owren 1999.

coefficients
    c (s); then rows of the width of the registers: exponents, sides of brackets.
options
    stages s; brackets; registers; 1 if linear; estimate (0 none, 1 sum, 2 embedded product); 1 if it needs f at the new
    point; (start, first row, number of rows) of each stage, the step and the estimate; (left row, right row, stages
    needed) of each bracket.
own rows
    registers F₁ … Fₛ, brackets or f at the new point; Yᵢ (s); exponent; scratch; old state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import (
    COMPENSATION,
    ERROR,
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
from integrators.signatures import STEP_PACED_SIGNATURE, STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, copy, dimension, evaluate, leaves_chart
from integrators.steppers.rkmk import combine
from integrators.tableaus import ExponentialScheme
from integrators.tableaus.exponential import HasScheme
from integrators.tableaus.numbers import floats
from liegroup.compile import entry, helper, kernel
from liegroup.table import bracket, increment, retract

STAGES, BRACKETS, REGISTERS, LINEAR, ESTIMATE, NEW_POINT, PRODUCTS = range(OWN_OPTIONS, OWN_OPTIONS + 7)
SUM, PRODUCT = 1, 2
"""Kinds of error estimates."""


@helper
def exponent(work: Any, h: Any, coefficients: Any, options: Any, row: Any, u: Any) -> None:
    """u = h Σₖ coefficients[row, k] registerₖ."""
    w = options[REGISTERS]
    combine(work, h, coefficients, options[STAGES] + row * w, w, u)


@kernel
def follow(
    table: Any, tau: Any, work: Any, h: Any, coefficients: Any, options: Any, product: Any, u: Any, point: Any
) -> bool:
    """point <- point ∏ τ(exponents of the product); False if one leaves the chart."""
    first, count = options[PRODUCTS + 3 * product + 1], options[PRODUCTS + 3 * product + 2]
    for row in range(first, first + count):
        exponent(work, h, coefficients, options, row, u)
        if leaves_chart(table, u):
            return False
        retract(table, tau, point, u, point)
    return True


@kernel
def form_brackets(table: Any, work: Any, h: Any, coefficients: Any, options: Any, known: Any, u: Any, x: Any) -> None:
    """Form the brackets whose last term has just become known."""
    s = options[STAGES]
    for k in range(options[BRACKETS]):
        place = PRODUCTS + 3 * (s + 2) + 3 * k
        if options[place + 2] == known:
            exponent(work, h, coefficients, options, options[place], u)
            exponent(work, 1.0, coefficients, options, options[place + 1], x)
            bracket(table, u, x, work[OWN_ROWS + s + k][: u.shape[0]])


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of a scheme of exponentials."""
    s, w, tau, d, n = options[STAGES], options[REGISTERS], options[TAU], dimension(table), y.shape[0]
    points = OWN_ROWS + w
    u, x, old = work[points + s][:d], work[points + s + 1], work[points + s + 2][:n]
    copy(y, old)
    for i in range(s):
        point, f = work[points + i][:n], work[OWN_ROWS + i][:d]
        start = options[PRODUCTS + 3 * i]
        if start < 0:
            copy(y, point)
        else:
            copy(work[points + start][:n], point)
        if not follow(table, tau, work, h, coefficients, options, i, u, point):
            counters[STAGE] = i
            return CHART_LEFT
        if i == 0 and not options[LINEAR]:
            if not counters[FIRST_KNOWN]:
                evaluate(field, t, point, parameters, structure, field_work, work[FIRST][:d])
                counters[EVALUATIONS] += 1
                counters[FIRST_KNOWN] = 1
            copy(work[FIRST][:d], f)
        else:
            evaluate(field, t + coefficients[i] * h, point, parameters, structure, field_work, f)
            counters[EVALUATIONS] += 1
        form_brackets(table, work, h, coefficients, options, i + 1, u, x[:d])
    first, count = options[PRODUCTS + 3 * s + 1], options[PRODUCTS + 3 * s + 2]
    for row in range(first, first + count):
        exponent(work, h, coefficients, options, row, u)
        if leaves_chart(table, u):
            counters[STAGE] = s
            return CHART_LEFT
    for row in range(first, first + count):
        exponent(work, h, coefficients, options, row, u)
        advance_state(table, tau, y, low, u, x[:n], options[COMPENSATION], counters)
    counters[LAST_KNOWN] = options[NEW_POINT]
    if options[NEW_POINT]:
        evaluate(field, t + h, y, parameters, structure, field_work, work[LAST][:d])
        counters[EVALUATIONS] += 1
        copy(work[LAST][:d], work[OWN_ROWS + s][:d])
    if options[ESTIMATE] == SUM:
        exponent(work, h, coefficients, options, options[PRODUCTS + 3 * (s + 1) + 1], work[ERROR][:d])
    elif options[ESTIMATE] == PRODUCT:
        if not follow(table, tau, work, h, coefficients, options, s + 1, u, old):
            return CHART_LEFT
        increment(table, tau, old, y, work[ERROR][:d])
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return int(options[2] + options[0] + 3)


paced = entry(STEP_PACED_SIGNATURE)(step.python)
"""The same step in lanes with times and sizes of their own."""
EXPONENTIAL = Stepper("exponential", step, _rows, maps=("exp",), paced=paced, begins_with_field=True)
SECOND_ORDER = Stepper("exponential", step, _rows, maps=("exp", "cayley"), paced=paced, begins_with_field=True)
"""The same kernel: up to order 2 the Cayley map is as good as the exponential."""


def exponential(scheme: ExponentialScheme | HasScheme, name: str = "", **changes: Any) -> Method:
    """The method of a Crouch-Grossman, commutator-free, Magnus or reduced-commutator scheme."""
    scheme = scheme.scheme if isinstance(scheme, HasScheme) else scheme
    coefficients, options = _pack(scheme)
    stepper = SECOND_ORDER if scheme.order <= 2 else EXPONENTIAL
    return Method(
        name=name or f"EXPONENTIAL[{scheme.name}]",
        stepper=replace(stepper, needs="time", begins_with_field=False) if scheme.linear else stepper,
        order=scheme.order,
        coefficients=coefficients,
        options=options,
        evaluations=scheme.stages,
        embedded_order=scheme.embedded_order,
        symmetric=scheme.symmetric,
        source=scheme.source,
        **changes,
    )


def _pack(scheme: ExponentialScheme) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The scheme as the kernel reads it."""
    s, m = scheme.stages, len(scheme.brackets)
    width = s + max(m, int(scheme.uses_new_point))
    table: list[Any] = []
    places: list[int] = []

    def put(rows: Any) -> int:
        """Append rows to the table; where they begin."""
        table.extend(list(floats(r)) + [0.0] * (width - len(r)) for r in rows)
        return len(table) - len(rows)

    points, starts = (((),) * s, (-1,) * s) if scheme.linear else (scheme.points, scheme.starts[:-1])
    for point, start in zip(points, starts, strict=True):
        own = point[len(points[start]) if start >= 0 else 0 :]
        places += [start, put(own), len(own)]
    embedded = [scheme.estimate] if scheme.estimate else scheme.final_hat
    for product in (scheme.final, embedded):
        places += [-1, put(product), len(product)]
    for (left, right), ready in zip(scheme.brackets, scheme.bracket_ready, strict=True):
        places += [put([left]), put([right]), ready]
    estimate = SUM if scheme.estimate else PRODUCT if scheme.final_hat else 0
    coefficients = np.concatenate([floats(scheme.c), np.array(table).ravel()])
    return coefficients, np.array(
        [s, m, width, scheme.linear, estimate, scheme.uses_new_point, *places], dtype=np.int64
    )
