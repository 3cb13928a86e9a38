"""Whole turns are kept beside the state, so that an angle that turns for ever is never rounded coarsely.

    angle = y + low + 2π turns,      |y| at most about half a turn

A double of 4·10⁴ rad is rounded to 7·10⁻¹² rad: closures are then open by as much, and implicit steps cannot be solved closer.
Angles of SO(2) and SE(2) are points of a circle; fields, invariants and closures are functions of them with period 2π.  Before every step
a turn is taken off an angle beyond half a turn, with 2π in two words, and results count it again.  Angles on the line R are left alone:
springs may act on them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.compensated import increase, two_product
from liegroup.compile import absolute, any_, helper, kernel, ld, select, st
from liegroup.table import KIND, N_Q, Q_OFFSET, SE2, SO2

TURN, TURN_REST = 2.0 * math.pi, 2.4492935982947064e-16
"""2π in two words."""


@kernel
def wind(table: Any, y: Any, low: Any, turns: Any, compensation: Any) -> None:
    """Take one turn off every angle beyond half a turn; y + low + 2π turns stays as it is."""
    for row in range(table.shape[0]):
        kind, start, end = table[row, KIND], table[row, Q_OFFSET], table[row, Q_OFFSET] + table[row, N_Q]
        if kind == SO2:
            for i in range(start, end):
                _take_off(y, low, turns, i, compensation)
        elif kind == SE2:
            for i in range(start + 2, end, 3):
                _take_off(y, low, turns, i, compensation)


@helper
def _take_off(y: Any, low: Any, turns: Any, i: Any, compensation: Any) -> None:
    x, rest = ld(y, i), ld(low, i)
    if any_(absolute(x) > math.pi):
        zero = 0.0 * x
        k = select(x > math.pi, 1.0 + zero, select(x < -math.pi, zero - 1.0, zero))
        increase(y, low, i, -k * TURN, compensation)
        increase(y, low, i, -k * TURN_REST, compensation)
        st(y, i, select(k == 0.0, x, ld(y, i)))
        st(low, i, select(k == 0.0, rest, ld(low, i)))
        st(turns, i, ld(turns, i) + k)


@helper
def unwound(y: Any, turns: Any, i: Any) -> Any:
    """Component i with its turns."""
    x, k = ld(y, i), ld(turns, i)
    p, rest = two_product(k, TURN)
    return select(k == 0.0, x, p + (x + (rest + k * TURN_REST)))


@kernel
def unwind(y: Any, turns: Any, out: Any) -> None:
    """out <- the state with the turns of its angles."""
    for i in range(y.shape[0]):
        st(out, i, unwound(y, turns, i))


def one_turn_more(table: NDArray[np.int64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The state with a whole turn added to every angle on a circle."""
    out = y.copy()
    for kind, start, _, n_q, _ in table.tolist():
        if kind in (SO2, SE2):
            out[start + (2 if kind == SE2 else 0) : start + n_q : 3 if kind == SE2 else 1] += TURN
    return out
