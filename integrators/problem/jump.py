"""Whether a field jumps along a way: what jumps keeps its change, however short the part of the way is that has it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem.problem import Problem
from liegroup.table import EXP, retract

Array = NDArray[np.float64]


def steepest_part(
    problem: Problem, t: float, y: Array, h: float, way: Array, k: int, halvings: int
) -> tuple[float, float]:
    """Where component k of the field changes most along y exp(s ξ), at the times t + s h, by bisection.

    Parameters
    ----------
    problem : Problem
    t, h : float
        Time at the start, and how long the way takes, s.
    y : array (n,)
        The start.
    way : array (dimension,)
        ξ, a displacement in the axes of the velocities.
    k : int
        The component.
    halvings : int
        How often the half is taken in which it changes by more.

    Returns
    -------
    place, share : float
        The end s of the part that is left, and what of the whole change it has: nothing of one that is smooth; not a
        number where there is no change.
    """
    out = np.empty_like(y)

    def at(s: float) -> float:
        retract(problem.table, EXP, y, s * way, out)
        return float(problem.velocity(t + s * h, out)[k])

    low, high, left, right = 0.0, 1.0, at(0.0), at(1.0)
    whole = abs(right - left)
    for _ in range(halvings):
        half = 0.5 * (low + high)
        value = at(half)
        if abs(value - left) > abs(right - value):
            high, right = half, value
        else:
            low, left = half, value
    return high, abs(right - left) / whole if whole > 0.0 else np.nan
