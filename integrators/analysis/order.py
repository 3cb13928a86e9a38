"""The order of a method, measured: how fast the error falls as the steps are halved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import check_function, integer, positive, real, sequence

Array = NDArray[np.float64]
FLOOR = 1e-13
"""Errors below it are rounding, not the method."""


def distance(y: Any, z: Any) -> float:
    """|y − z|, the largest component."""
    return float(np.max(np.abs(np.asarray(y) - np.asarray(z))))


@dataclass(frozen=True)
class MeasuredOrder:
    """Errors for falling steps.

    Attributes
    ----------
    steps, errors : (n,)
        Steps (or 1/numbers of steps) and errors.
    floor : float
        Errors below it were not used.

    Examples
    --------
    See `measured_order`.
    """

    steps: Array
    errors: Array
    floor: float = FLOOR

    @property
    def slopes(self) -> Array:
        """Order between consecutive steps, NaN where one of the errors is below the floor."""
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.diff(np.log(self.errors)) / np.diff(np.log(self.steps))
        return np.where(np.minimum(self.errors[1:], self.errors[:-1]) > self.floor, slopes, np.nan)

    @property
    def order(self) -> float:
        """Order between the two finest steps whose errors are above the floor."""
        if np.isnan(self.errors[np.argmin(self.steps)]):
            raise ValueError(f"the error of the finest step is not a number: errors {self.errors.tolist()}")
        good = self.slopes[~np.isnan(self.slopes)]
        if not len(good):
            raise ValueError(
                f"no two errors above the floor {self.floor:g}: errors {self.errors.tolist()}; take larger steps"
            )
        return float(good[-1])


def measured_order(
    solve: Callable[[int], Any],
    counts: Sequence[int],
    reference: Any = None,
    distance: Callable[[Any, Any], float] = distance,
    floor: float = FLOOR,
) -> MeasuredOrder:
    """Order of convergence at the end of an interval.

    Parameters
    ----------
    solve : callable
        ``solve(n)`` → the state at the end, reached with n steps.
    counts : sequence of int
        Rising numbers of steps, at least two.
    reference : array or number, optional
        The exact state; without it the error with n steps is the distance to the result with 2n steps.
    distance : callable
        ``distance(y, z)`` → number; a metric on the state space.
    floor : float
        Errors below it are not used (rounding).

    Returns
    -------
    MeasuredOrder
        Errors, slopes between consecutive steps, and the order.

    Raises
    ------
    ValueError
        Fewer than two numbers of steps, or not rising.

    Examples
    --------
    >>> euler = lambda n: (1 + 1 / n) ** n
    >>> round(measured_order(euler, [64, 128, 256], reference=np.e).order, 1)
    1.0
    """
    check_function(solve, "solve")
    check_function(distance, "distance", "a function of two states", 2)
    floor = real(floor, "floor", "a non-negative number", lambda x: x >= 0.0)
    counts = [integer(n, "counts", 1) for n in sequence(counts, "counts", "rising numbers of steps")]
    if len(counts) < 2 or any(a >= b for a, b in pairwise(counts)):
        raise ValueError(f"counts = {list(counts)}: expected at least two rising numbers of steps")
    if reference is not None:
        errors = [distance(solve(n), reference) for n in counts]
    else:
        results: dict[int, Any] = {}
        for n in counts:
            results.update({m: solve(m) for m in (n, 2 * n) if m not in results})
        errors = [distance(results[n], results[2 * n]) for n in counts]
    return MeasuredOrder(1.0 / np.asarray(counts, dtype=np.float64), np.asarray(errors, dtype=np.float64), floor)


def measured_local_order(
    step: Callable[[float], Any],
    exact: Callable[[float], Any],
    sizes: Sequence[float],
    distance: Callable[[Any, Any], float] = distance,
    floor: float = FLOOR,
) -> MeasuredOrder:
    """Order from the error of one step, which falls like h^(order + 1).

    Parameters
    ----------
    step, exact : callable
        ``step(h)`` and ``exact(h)`` → the state after a time h from the same start.
    sizes : sequence of float
        Falling step sizes, at least two, s.
    distance : callable
        ``distance(y, z)`` → number; a metric on the state space.
    floor : float
        Errors below it are not used (rounding).

    Returns
    -------
    MeasuredOrder
        With the errors divided by h.

    Raises
    ------
    ValueError
        Fewer than two sizes, or not falling.

    Examples
    --------
    >>> euler = measured_local_order(lambda h: 1 + h, np.exp, [0.01, 0.005])
    >>> round(euler.order, 1)
    1.0
    """
    check_function(step, "step")
    check_function(exact, "exact")
    check_function(distance, "distance", "a function of two states", 2)
    floor = real(floor, "floor", "a non-negative number", lambda x: x >= 0.0)
    sizes = [positive(h, "sizes") for h in sequence(sizes, "sizes", "falling step sizes")]
    if len(sizes) < 2 or any(a <= b for a, b in pairwise(sizes)):
        raise ValueError(f"sizes = {list(sizes)}: expected at least two falling step sizes")
    errors = np.array([distance(step(h), exact(h)) for h in sizes])
    h = np.asarray(sizes, dtype=np.float64)
    return MeasuredOrder(h, errors / h, floor)
