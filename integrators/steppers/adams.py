"""The method of Adams and Bashforth of order two, on any product of groups: one evaluation of the field per step.

    yₙ₊₁ = yₙ τ(h (3/2 fₙ − 1/2 fₙ₋₁)),      fₙ = f(tₙ, yₙ)

Along a smooth motion the exponent is right to O(h³), what does not commute in it included.  The first two steps, and
those after an event, are Heun's.

A projection after every step may re-base momenta, pₙ = p̂ₙ + Jₙ, as it does with closed loops, where Jₙ = Gₙᵀ Λₙ with
the impulse Λₙ ≈ h λ of the last step (`mechanics.closed_trees.projection`): within a step reactions accumulate from
zero, and with the next they begin anew.  The motion that goes on smoothly backwards from the newest state has another
fₙ₋₁, where they stand at −h λ,

    fₙ₋₁ + Ġᵀ h λ = fₙ₋₁ + (Jₙ − Jₙ₋₁)/h + O(h²) + what is along Gₙᵀ, which the next projection takes.

Without these jumps the order would be one.  What else a projection moves is as small as the error of a step.
Source: Hairer, Nørsett and Wanner 1993, III.1.

options
    of a problem: how many components of the state may jump; of each its place in the state and in the velocity.
own rows
    fₙ₋₁; the state that the last step has reached; Jₙ₋₁; Jₙ; u; stage state; field at a stage.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import (
    COMPENSATION,
    EVALUATIONS,
    FIRST,
    FIRST_KNOWN,
    HISTORY,
    LAST_KNOWN,
    OWN_OPTIONS,
    OWN_ROWS,
    STAGE,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, copy, dimension, leaves_chart
from liegroup.compile import entry, helper, ld, st
from liegroup.table import KIND, N_V, Q_OFFSET, RN, V_OFFSET, retract

JUMPS = OWN_OPTIONS
PAST, REACHED, JUMP, NEW_JUMP, EXPONENT, STATE, VALUE = range(OWN_ROWS, OWN_ROWS + 7)


@helper
def _formula(h: Any, y: Any, options: Any, work: Any, first: Any, u: Any) -> None:
    """u of the method."""
    for m in range(u.shape[0]):
        st(u, m, h * (1.5 * ld(first, m) - 0.5 * ld(work[PAST], m)))
    for k in range(options[JUMPS]):
        m = options[JUMPS + 2 + 2 * k]
        st(u, m, ld(u, m) - 0.5 * (ld(work[NEW_JUMP], k) - ld(work[JUMP], k)))


@helper
def _heun(
    field: Any, t: Any, h: Any, y: Any, table: Any, tau: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, first: Any, u: Any, counters: Any,
) -> bool:  # fmt: skip
    """u of Heun's method, which begins; returns whether it stays in the chart."""
    x, value = work[STATE][: y.shape[0]], work[VALUE][: u.shape[0]]
    for m in range(u.shape[0]):
        st(u, m, h * ld(first, m))
    if leaves_chart(table, u):
        return False
    retract(table, tau, y, u, x)
    field(t + h, x, parameters, structure, field_work, value)
    counters[EVALUATIONS] += 1
    for m in range(u.shape[0]):
        st(u, m, 0.5 * h * (ld(first, m) + ld(value, m)))
    return True


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of the method, or one of the two that begin it."""
    d, n, tau, known = dimension(table), y.shape[0], options[TAU], counters[HISTORY]
    u, first = work[EXPONENT][:d], work[FIRST][:d]
    if not counters[FIRST_KNOWN]:
        field(t, y, parameters, structure, field_work, first)
        counters[EVALUATIONS] += 1
        counters[FIRST_KNOWN] = 1
    for k in range(options[JUMPS]):
        i = options[JUMPS + 1 + 2 * k]
        st(work[NEW_JUMP], k, ld(y, i) - ld(work[REACHED], i))
    inside = True
    if known > 1:
        _formula(h, y, options, work, first, u)
    else:
        inside = _heun(
            field, t, h, y, table, tau, parameters, structure, field_work, work, first, u, counters
        )  # fmt: skip
    if not inside or leaves_chart(table, u):
        counters[STAGE] = 1
        return CHART_LEFT
    copy(first, work[PAST][:d])
    copy(work[NEW_JUMP][:d], work[JUMP][:d])
    advance_state(table, tau, y, low, u, work[STATE][:n], options[COMPENSATION], counters)
    copy(y, work[REACHED][:n])
    counters[HISTORY], counters[LAST_KNOWN] = min(known + 1, 2), 0
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return 7


def _prepare(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The components on Rⁿ of a problem with a projection, but for angles, of which a run takes whole turns off."""
    places = [
        (int(row[Q_OFFSET]) + k, int(row[V_OFFSET]) + k)
        for row in problem.table
        if row[KIND] == RN and problem.projection is not None
        for k in range(int(row[N_V]))
    ]
    kept = [place for place in places if place[0] not in problem.angles]
    return np.zeros(0), np.array([len(kept), *np.ravel(kept)], dtype=np.int64)


def growth(coefficients: NDArray[np.float64], z: complex) -> float:
    """The largest |ζ| with ζ² = ζ + z (3/2 ζ − 1/2)."""
    return float(np.abs(np.roots([1.0, -1.0 - 1.5 * z, 0.5 * z])).max())


STEPPER = Stepper(
    "adams", step, _rows, prepare=_prepare, multistep=True, counts_jumps=True, begins_with_field=True, growth=growth
)


def adams_bashforth(name: str = "ADAMS_BASHFORTH2") -> Method:
    """The method of order two, with fixed steps."""
    return Method(name, STEPPER, order=2, evaluations=1, source="Hairer, Nørsett and Wanner 1993")
