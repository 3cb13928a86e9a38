"""Does a step lead back?  Symmetric methods: Φ₋ₕ ∘ Φₕ = 1; reversible ones: ρ ∘ Φₕ ∘ ρ ∘ Φₕ = 1."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from integrators.analysis.order import distance
from liegroup.arrays import check_function, integer, real


def symmetry_defect(
    step: Callable[[Any, float], Any],
    y: Any,
    h: float,
    steps: int = 1,
    distance: Callable[[Any, Any], float] = distance,
) -> float:
    """Distance to the start after `steps` steps of h and as many of −h.

    Parameters
    ----------
    step : callable
        ``step(y, h)`` → the state after one step of an autonomous problem (put the time into y otherwise).
    y : array or number
        The start.
    h : float
        Step, s.
    steps : int
        How many each way.
    distance : callable
        ``distance(y, z)`` → number; a metric on the state space.

    Returns
    -------
    float
        0 for symmetric methods but for rounding.

    Examples
    --------
    >>> midpoint = lambda y, h: y * (1 + h / 2) / (1 - h / 2)
    >>> symmetry_defect(midpoint, 1.0, 0.1) < 1e-15 < symmetry_defect(lambda y, h: y * (1 + h), 1.0, 0.1)
    True
    """
    steps = _checked_steps(step, h, steps, distance)
    z = deepcopy(y)  # steps may work in place
    for size in (h, -h):
        for _ in range(steps):
            z = step(z, size)
    return distance(z, y)


def reversibility_defect(
    step: Callable[[Any, float], Any],
    reverse: Callable[[Any], Any],
    y: Any,
    h: float,
    steps: int = 1,
    distance: Callable[[Any, Any], float] = distance,
) -> float:
    """Distance to the start after `steps` steps, reversal, `steps` steps, reversal.

    `reverse` is the reversal ρ of the problem, ρ(ρ(y)) = y; for mechanical systems it turns the momenta round.

    Parameters
    ----------
    step : callable
        ``step(y, h)`` → the state after one step of an autonomous problem.
    reverse : callable
        The reversal ρ of the problem, ρ(ρ(y)) = y; for mechanical systems it turns the momenta round.
    y : array or number
        The start.
    h : float
        Step, s.
    steps : int
        How many each way.
    distance : callable
        ``distance(y, z)`` → number; a metric on the state space.

    Returns
    -------
    float
        0 for reversible methods but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> def leapfrog(y, h):
    ...     v = y[1] - 0.5 * h * y[0]
    ...     x = y[0] + h * v
    ...     return np.array([x, v - 0.5 * h * x])
    >>> turn = lambda y: np.array([y[0], -y[1]])
    >>> reversibility_defect(leapfrog, turn, np.array([1.0, 0.0]), 0.1, 10) < 1e-14
    True
    """
    steps = _checked_steps(step, h, steps, distance)
    check_function(reverse, "reverse")
    z = deepcopy(y)  # steps may work in place
    for _ in range(2):
        for _ in range(steps):
            z = step(z, h)
        z = reverse(z)
    return distance(z, y)


def _checked_steps(step: Any, h: Any, steps: Any, distance: Any) -> int:
    check_function(step, "step")
    check_function(distance, "distance", "a function of two states", 2)
    real(h, "h")
    return integer(steps, "steps", 1)
