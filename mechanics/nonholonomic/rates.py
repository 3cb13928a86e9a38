"""On the rates of which inputs a motion depends: the equations are derived with parameters that stay."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.inputs import Inputs
from integrators.problem.parts import constrained
from mechanics.nonholonomic.contradictions import led_to
from mechanics.nonholonomic.system import FRAME

Array = NDArray[np.float64]
MOVED = 0.3
"""By how much an input is moved, and by which part of itself, to see what changes with it."""


def with_rates(inputs: Inputs, functions: Any, q: Array, numbers: Array, t: float) -> Inputs:
    """The inputs, with the function of `mass`, `rows`, … that each of them stands in, at a configuration or beside it.

    Parameters
    ----------
    inputs : Inputs
        Of a system.
    functions : Functions
        Of the same.
    q : array
        A configuration.
    numbers : array
        The parameters.
    t : float
        Time, s.

    Returns
    -------
    Inputs
        With `Inputs.rates`; of several functions the one that fewest methods follow.
    """
    own = () if functions.parameters is None else (numbers,)
    at = constrained(functions.n, functions.derived.m, functions.derived.k)
    rows = _values(functions, q, numbers, t)[at.ROWS : at.GRADIENT].reshape(-1, functions.n)
    places, random = [q], np.random.default_rng(7)
    for _ in range(2):
        with suppress(Exception):  # functions need not be there
            places.append(led_to(functions, q, rows, own, t, random.uniform(-1.0, 1.0, functions.n)))
    rates = {}
    for name, k in zip(inputs.names, inputs.places, strict=True):
        other = numbers.copy()
        other[k] += MOVED * (1.0 + abs(other[k]))
        if where := _stands_in(functions, places, (numbers, other), t):
            rates[name] = where
    return replace(inputs, rates=rates)


def _values(functions: Any, q: Array, numbers: Array, t: float) -> Array:
    n, m, k = functions.n, functions.derived.m, functions.derived.k
    out = np.zeros(constrained(n, m, k).SIZE)
    functions.derived.parts(t, np.concatenate([q, np.zeros(n)]), numbers, np.array([n, m, k]), np.zeros((0, 0)), out)
    return out


def _stands_in(functions: Any, places: list[Array], both: tuple[Array, Array], t: float) -> str:
    """The first of the functions that has other values with other parameters, somewhere."""
    at = constrained(functions.n, functions.derived.m, functions.derived.k)
    blocks = {
        "position": (at.POSITION, at.POTENTIAL),
        "mass": (at.MASS, at.ROWS),
        "rows": (at.ROWS, at.GRADIENT),
        "value": (at.VALUE, at.BIAS),
    }
    found = set[str]()
    for q in places:
        with suppress(Exception), np.errstate(all="ignore"):  # functions need not be there
            now, then = (_values(functions, q, numbers, t) for numbers in both)
            found |= {
                name for name, (a, b) in blocks.items() if not np.array_equal(now[a:b], then[a:b], equal_nan=True)
            }
            if functions.frame is not None:
                S, other = (np.array(functions.frame(q, numbers), dtype=np.float64) for numbers in both)
                found |= set() if np.array_equal(S, other, equal_nan=True) else {FRAME}
    return next((name for name in (*blocks, FRAME) if name in found), "")
