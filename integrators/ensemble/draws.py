"""Random cases, each from a stream of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liegroup.arrays import check_function, integer, sequence


def draws(draw: Callable[[np.random.Generator], Any], numbers: int | Sequence[int], seed: int) -> Any:
    """Random initial states, or parameters, the same however they are divided into chunks.

    Case k is ``draw(random)`` with the generator of ``SeedSequence(seed, spawn_key=(k,))``: its stream depends on the
    seed and on k, and on nothing else.

    Parameters
    ----------
    draw : callable
        ``draw(random)`` → a case: an array of numbers, or anything a builder takes; random is a
        `numpy.random.Generator`.
    numbers : int, or sequence of int
        How many cases, from number 0 on; or which.
    seed : int
        Not negative.

    Returns
    -------
    array (m, …), or list
        Stacked where all cases are arrays of numbers of one shape, in the units of the draw: floats, or whole numbers
        or booleans where all are.

    Raises
    ------
    TypeError, ValueError
        No function; numbers or a seed that are none.

    Examples
    --------
    >>> from integrators.ensemble import draws
    >>> def start(random):
    ...     return [random.uniform(-1.0, 1.0), 0.0]
    >>> states = draws(start, 100, seed=1)
    >>> states.shape, bool((draws(start, [41, 42], seed=1) == states[41:43]).all())
    ((100, 2), True)
    """
    check_function(draw, "draw", "a function draw(random)")
    seed = integer(seed, "seed")
    if np.ndim(numbers) == 0:
        listed: Sequence[int] = range(integer(numbers, "numbers", 1))
    else:
        listed = [integer(k, "numbers") for k in sequence(numbers, "numbers", "how many cases, or which")]
    cases = [draw(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,)))) for k in listed]
    try:
        stacked = np.array(cases)
    except ValueError:  # not of one shape
        return cases
    if stacked.dtype.kind == "f":
        return stacked.astype(np.float64)
    return stacked if stacked.dtype.kind in "biu" else cases
