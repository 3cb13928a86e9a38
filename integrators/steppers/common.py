"""What steppers share: the length of the velocity, the chart's limit, the compensated update of a state."""

from __future__ import annotations

import math
from typing import Any

from integrators.compensated import absorb, renormalise
from integrators.layout import STEPS
from liegroup.compile import any_, helper, ld, st
from liegroup.table import KIND, N_Q, N_V, Q_OFFSET, SE2, SE3, SO3, V_OFFSET, displacement

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
        if kind == SO3:
            for w in range(start, end, 3):
                if _turns_over(u, w):
                    return True
        elif kind == SE3:
            for w in range(start + 3, end, 6):
                if _turns_over(u, w):
                    return True
        elif kind == SE2:
            for w in range(start + 2, end, 3):
                if any_(ld(u, w) * ld(u, w) >= _PI_SQUARED):
                    return True
    return False


@helper
def _turns_over(u: Any, w: Any) -> Any:
    x, y, z = ld(u, w), ld(u, w + 1), ld(u, w + 2)
    return any_(x * x + (y * y + z * z) >= _PI_SQUARED)


@helper
def advance_state(table: Any, tau: Any, y: Any, low: Any, u: Any, scratch: Any, compensation: Any, counters: Any) -> None:
    """y <- y τ(u), by the increment y τ(u) − y computed to relative precision and added in full; `scratch` is as long as y.

    Components of y beyond those of the table are left alone.
    """
    displacement(table, tau, y, u, scratch)
    absorb(y, low, scratch, 0, length(table), compensation)
    if compensation and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise(table, y, low)
