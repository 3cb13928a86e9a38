"""Prescribed motions at one time, from their numbers (`mechanics.joints.Motion.numbers`)."""

from __future__ import annotations

import math
from typing import Any

from liegroup.compile import helper, ld, less, select, taken
from liegroup.compile.scalars import sincos

NAN = math.nan


@helper
def in_pieces(t: Any, parameters: Any, at: Any, powers: Any, pieces: Any) -> Any:
    """Value, rate and acceleration at time t of a motion in pieces; NaN before the first and behind the last.

    At `at` stand the times between which it is known, the starts of the pieces, and their coefficients.
    """
    first, last, starts = ld(parameters, at), ld(parameters, at + 1), at + 2
    low, span = select(less(t, first), 0.0 * first, 0.0 * first), 1
    while span < pieces:
        span = span * 2
    while span > 1:  # the last piece that begins before t
        span = span // 2
        middle = low + span
        middle = select(less(middle, 1.0 * pieces), middle, pieces - 1.0)
        low = select(less(taken(parameters, starts + middle), t), middle, low)
    known = select(less(t, first), NAN, select(less(last, t), NAN, 1.0))
    s, at_piece = t - taken(parameters, starts + low), (starts + pieces) + low * powers
    x = v = a = 0.0 * s
    for k in range(powers - 1, -1, -1):
        a = a * s + 2.0 * v
        v = v * s + x
        x = x * s + taken(parameters, at_piece + k)
    return known * x, known * v, known * a


@helper
def series(t: Any, parameters: Any, at: Any, powers: Any, harmonics: Any) -> Any:
    """Value and rate at time t of a polynomial and harmonics."""
    x = v = 0.0 * t
    for k in range(powers - 1, -1, -1):
        v = v * t + x
        x = x * t + ld(parameters, at + k)
    at = at + powers
    for _ in range(harmonics):
        a, w = ld(parameters, at), ld(parameters, at + 1)
        s, c = sincos(w * t + ld(parameters, at + 2))
        x = x + a * s
        v = v + a * w * c
        at = at + 3
    return x, v
