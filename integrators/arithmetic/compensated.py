"""Additions that lose nothing: states in two words, y + low, and sums and products with their errors.

Every update of a state is an increment computed to relative precision and added in full (the addition of two
double-doubles without its last correction); the unit norm of quaternions is kept in double-double.  What a plain
addition rounds away at every step stays in `low`, so that the error of a long run is that of its increments: smaller by
about h. Sources: Knuth 1969 (two_sum), Dekker 1971 (two_product), Hairer, McLachlan, Razakarivony 2008 (why it matters
here).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, spared, st
from liegroup.formulas.facts import LENGTH_Q, QUATERNION_COUNT, QUATERNIONS
from liegroup.table import KIND, N_Q, Q_OFFSET

_SPLIT = 134217729.0  # 2²⁷ + 1: halves of 26 bits


@helper
def two_sum(a: Any, b: Any) -> Any:
    """(s, e) with s = fl(a + b) and s + e = a + b exactly."""
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


@helper
def split(a: Any) -> Any:
    """(high, low) of 26 bits each with high + low = a, for |a| < 1e300."""
    c = _SPLIT * a
    high = c - (c - a)
    return high, a - high


@helper
def two_product(a: Any, b: Any) -> Any:
    """(p, e) with p = fl(a b) and p + e = a b exactly."""
    p = a * b
    ah, al = split(a)
    bh, bl = split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@helper
def add_to(y: Any, low: Any, i: Any, increment: Any) -> None:
    """Component i of y + low increased by the increment."""
    s, e = two_sum(ld(y, i), increment)
    high, rest = two_sum(s, e + ld(low, i))
    st(y, i, high)
    st(low, i, rest)


@helper
def increase(y: Any, low: Any, i: Any, x: Any, compensation: Any) -> None:
    """Component i of the state increased by x, with (compensation = 1) or without the low words."""
    if compensation:
        add_to(y, low, i, x)
    else:
        st(y, i, ld(y, i) + x)


@helper
def increase3(y: Any, low: Any, i: Any, x: Any, compensation: Any) -> None:
    """Components i … i + 2 increased by x."""
    increase(y, low, i, x[0], compensation)
    increase(y, low, i + 1, x[1], compensation)
    increase(y, low, i + 2, x[2], compensation)


@helper
def absorb(y: Any, low: Any, increment: Any, first: Any, last: Any, compensation: Any) -> None:
    """y <- y + increment for components first … last − 1, with (compensation = 1) or without the low words."""
    for i in range(first, last):
        increase(y, low, i, ld(increment, i), compensation)


@helper
def renormalise(table: Any, y: Any, low: Any) -> None:
    """Bring the quaternions of y + low back to unit norm: q <- q (1 − (|q|² − 1)/2), in double-double."""
    renormalise_but(table, y, low, 0)


@helper
def renormalise_but(table: Any, y: Any, low: Any, lanes: Any) -> None:
    """The same, but not in the lanes whose bits are set."""
    for row in range(table.shape[0]):
        kind, start = table[row, KIND], table[row, Q_OFFSET]
        for k in range(QUATERNION_COUNT[kind]):
            for q in range(start + QUATERNIONS[kind, k], start + table[row, N_Q], LENGTH_Q[kind]):
                _renormalise(y, low, q, lanes)


@helper
def _renormalise(y: Any, low: Any, start: Any, lanes: Any) -> None:
    total, rest = ld(y, start) * 0.0 - 1.0, ld(y, start) * 0.0
    for i in range(start, start + 4):
        p, e = two_product(ld(y, i), ld(y, i))
        total, f = two_sum(total, p)
        rest = rest + ((e + f) + 2.0 * ld(y, i) * ld(low, i))
    correction = -0.5 * (total + rest)
    for i in range(start, start + 4):
        x, e = ld(y, i), ld(low, i)
        add_to(y, low, i, correction * x)
        st(y, i, spared(lanes, x, ld(y, i)))
        st(low, i, spared(lanes, e, ld(low, i)))
