"""Whole turns are kept beside the state, so that an angle that turns for ever is never rounded coarsely.

    angle = y + low + 2π turns,      |y| at most about half a turn

A double of 4·10⁴ rad is rounded to 7·10⁻¹² rad: closures are then open by as much, and implicit steps cannot be
solved closer. The `ANGLES` of groups (SO(2), SE(2)) are points of a circle; problems name others on the line R (hinges
of trees). Where field and invariants are functions with period 2π in one, before every step a turn is taken off it
beyond half a turn, with 2π in two words, and results count it again. Where they are not (a spring acts on the turns),
it is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import increase, two_product
from integrators.problem import Problem
from liegroup.compile import absolute, any_, helper, kernel, ld, never, rare, select, st
from liegroup.table import angles

TURN, TURN_REST = 2.0 * math.pi, 2.4492935982947064e-16
"""2π in two words."""
TURNS = (1, -1, 1000, -1000)
"""Turns that are tried: a stop on either side, which the first does not reach, acts on the thousandth."""
NEARBY, AROUND = 0.1, 8
"""How far from the start a function is tried, too, and at how many angles."""
OF_CHANGE, OF_LARGEST, OF_NOISE, UNITS = 1e-9, 1e-11, 1e3, 2.0**-50
"""What a thousand turns, which are rounded, may change of a number that a function on the circle gives: so much of what
it changes within a turn, of the largest that has its kind, and of what units in the last place of the state change.
"""


@rare(never)
def wind(circles: Any, y: Any, low: Any, turns: Any, compensation: Any) -> None:
    """Take one turn off every angle of `circles` (components of y) beyond half a turn; y + low + 2π turns stays as it
    is.
    """
    for k in range(circles.shape[0]):
        _take_off(y, low, turns, circles[k], compensation)


@helper
def _take_off(y: Any, low: Any, turns: Any, i: Any, compensation: Any) -> None:
    """Take one turn off component i if it is beyond half a turn."""
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


def circles(problem: Problem, t: float) -> NDArray[np.int64]:
    """The angles that a run winds: those in which field and invariants have period 2π, at the start and near it; those
    on the line also around the circle, and only where no later time can bring what counts their turns.
    """
    start = np.atleast_2d(problem.y0)[0]
    if not problem.is_compiled:  # plain functions of a user's may have changed since
        return _circles(problem, t, start)
    key = (0.0 if problem.is_autonomous else t, start.tobytes(), problem.own_parameters().tobytes())
    known = _KNOWN.setdefault(problem, {})
    if key not in known:
        known[key] = _circles(problem, t, start)
    return known[key]


_KNOWN: WeakKeyDictionary[Problem, dict[tuple[float, bytes, bytes], NDArray[np.int64]]] = WeakKeyDictionary()
"""The circles of problems: the looks at a run begin many others of its problem."""


def _circles(problem: Problem, t: float, start: NDArray[np.float64]) -> NDArray[np.int64]:
    line = problem.angles if problem.is_autonomous else ()
    found = np.array(sorted({*angles(problem.table).tolist(), *line}), dtype=np.int64)
    if not len(found):
        return found
    near = start.copy()
    for _, first, _, n_q, n_v in problem.table.tolist():
        if n_q == n_v:  # any numbers are an element
            near[first : first + n_q] += NEARBY * np.cos(np.arange(n_q))

    def wound(places: NDArray[np.int64]) -> bool:
        return all(_has_period(f, t, start, near, places, bool(line), kinds) for f, kinds in functions)

    of_field = 2 if problem.canonical else 1
    functions = (problem.velocity, of_field), (problem.invariant_values, max(1, problem.invariant_count))
    return found if wound(found) else np.array([k for k in found if wound(np.array([k]))], dtype=np.int64)


def _has_period(
    f: Callable[..., NDArray[np.float64]], t: float, start: NDArray[np.float64], near: NDArray[np.float64],
    found: NDArray[np.int64], on_line: bool, kinds: int,
) -> bool:  # fmt: skip
    """Whether whole turns change nothing of what a function gives, number by number: what the others are excuses
    rounding alone.  `kinds`: parts of its values, of one size, that have units of their own.
    """
    try:
        for place in (start, near):
            looked_at = [place, *(_turned(place, found, part / AROUND) for part in range(1, AROUND))]
            values = np.array([f(t, y) for y in looked_at])
            sizes = np.abs(values).max(axis=0).reshape(kinds, -1)
            largest = np.repeat(sizes.max(axis=1, initial=0.0), sizes.shape[1])
            allowed = OF_CHANGE * np.ptp(values, axis=0) + OF_LARGEST * largest
            for y, before in zip(looked_at if on_line and place is start else looked_at[:1], values, strict=False):
                after = [f(t, _turned(y, found, turns)) for turns in TURNS] if np.isfinite(before).all() else []
                excess = np.max([np.abs(x - before) for x in after], axis=0, initial=0.0) - allowed
                if np.any(excess > 0.0) or np.isnan(after).any():
                    noise = [np.abs(f(t, y + units) - before) for units in _some_units(y, found)]
                    if not np.all(excess <= OF_NOISE * np.max(noise, axis=0)):
                        return False
    except Exception:  # a function of the user's that refuses such angles: they stay as they are
        return False
    return True


def _some_units(y: NDArray[np.float64], found: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Some units in the last place of a state, and of a turn of its angles."""
    size = UNITS * np.abs(y)
    size[found] += UNITS
    return [size, -size, np.where(np.arange(len(y)) % 2, -size, size)]


def _turned(y: NDArray[np.float64], found: NDArray[np.int64], turns: float) -> NDArray[np.float64]:
    turned = y.copy()
    turned[found] += turns * TURN
    return turned
