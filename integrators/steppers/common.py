"""What steppers share: the length of the velocity, the chart's limit, the compensated update of a state."""

from __future__ import annotations

import math
from typing import Any

from integrators.arithmetic.compensated import absorb, renormalise_but
from integrators.layout import FIRST, FIRST_KNOWN, LAST, LAST_KNOWN, SPARED, STEPS
from liegroup.compile import any_, helper, lane_real, ld, st, st2
from liegroup.compile.decorators import compiled_form
from liegroup.formulas.facts import CHART, CHARTS, COMMUTATIVE, LENGTH_V
from liegroup.table import KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, displacement

RENORMALISE_EVERY = 8
_PI_SQUARED = math.pi * math.pi


@helper
def copy(source: Any, target: Any) -> None:
    """target <- source."""
    for i in range(source.shape[0]):
        st(target, i, ld(source, i))


@helper
def clear(target: Any) -> None:
    """target <- 0."""
    for i in range(target.shape[0]):
        st(target, i, 0.0)


def evaluate(
    field: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any
) -> None:  # fmt: skip
    """out <- the field at (t, y); times of lanes of their own go into the last row of the workspace, where it looks."""
    field(t, y, parameters, structure, work, out)


def _evaluate(field: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> Any:
    if t is not lane_real:
        return evaluate

    def at_times(field: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        st2(work, work.shape[0] - 1, 0, t)
        field(0.0, y, parameters, structure, work, out)

    return at_times


compiled_form(evaluate)(_evaluate)


@helper
def pass_on_last(work: Any, counters: Any) -> None:
    """Between two steps: what is known of the field at the end of one is known at the start of the next."""
    if counters[LAST_KNOWN]:
        copy(work[LAST], work[FIRST])
    counters[FIRST_KNOWN] = counters[LAST_KNOWN]


@helper
def length(table: Any) -> Any:
    """Components of the state."""
    last = table.shape[0] - 1
    return table[last, Q_OFFSET] + table[last, N_Q]


@helper
def dimension(table: Any) -> Any:
    """Components of the velocity."""
    last = table.shape[0] - 1
    return table[last, V_OFFSET] + table[last, N_V]


@helper
def leaves_chart(table: Any, u: Any) -> bool:
    """Whether the rotation part of u, in any factor (and lane), has reached π: beyond, the chart is no longer safe."""
    for row in range(table.shape[0]):
        kind, start, end = table[row, KIND], table[row, V_OFFSET], table[row, V_OFFSET] + table[row, N_V]
        for k in range(CHARTS[kind]):
            for w in range(start + CHART[kind, k, 0], end, LENGTH_V[kind]):
                if _turns_over(u, w, CHART[kind, k, 1]):
                    return True
    return False


@helper
def keep_turns(table: Any, counted: Any, u: Any) -> None:
    """u, a logarithm, <- `counted` where exponents on a circle simply add: there they know their turns."""
    for row in range(table.shape[0]):
        if COMMUTATIVE[table[row, KIND]] and table[row, KIND] != RN:
            for m in range(table[row, V_OFFSET], table[row, V_OFFSET] + table[row, N_V]):
                st(u, m, ld(counted, m))


@helper
def _turns_over(u: Any, w: Any, count: Any) -> Any:
    """Whether the vector of `count` components of u from w on is as long as π."""
    last = w + count - 1
    total = ld(u, last) * ld(u, last)
    for i in range(1, count):
        total = ld(u, last - i) * ld(u, last - i) + total
    return any_(total >= _PI_SQUARED)


@helper
def advance_state(
    table: Any, tau: Any, y: Any, low: Any, u: Any, scratch: Any, compensation: Any, counters: Any
) -> None:
    """y <- y τ(u), by the increment y τ(u) − y computed to relative precision and added in full; `scratch` is as long
    as y.

    Components of y beyond those of the table are left alone.
    """
    displacement(table, tau, y, u, scratch)
    absorb(y, low, scratch, 0, length(table), compensation)
    if compensation and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise_but(table, y, low, counters[SPARED])
