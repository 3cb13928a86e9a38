"""Whether a motion with constraints starts on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem.guards import Doubt
from integrators.problem.parts import constrained
from integrators.problem.problem import Problem

INCONSISTENT, ROUNDED = 1e-6, 1e-11
"""Residual of A v = c, relative to |A||v| + |c|, and φ in units of length, from which on a start is inconsistent; of φ,
the second part of |A||q| where that is more: rounding of large numbers is none.
"""


def inconsistent(problem: Problem, t: float, y: NDArray[np.float64]) -> list[Doubt]:
    """The doubt of a start whose velocity violates A v = c, or whose position violates φ = 0: a method then jumps onto
    the constraints, or goes on beside them.
    """
    if problem.parts_layout != "constrained":
        return []
    n, m, k = problem.sizes
    at, values = constrained(n, m, k), problem.parts_values(t, y)
    rows, target, v = values[at.ROWS : at.GRADIENT].reshape(m, n), values[at.VALUE : at.BIAS], y[-n:]
    size = np.linalg.norm(rows, axis=1) * np.linalg.norm(v) + np.abs(target)
    residual = np.abs(rows @ v - target) / np.where(size > 0.0, size, 1.0)
    reach = np.linalg.norm(rows[m - k :], axis=1) * np.abs(y[:-n]).max(initial=0.0)
    position = np.abs(values[at.POSITION : at.POTENTIAL]) / np.maximum(1.0, ROUNDED / INCONSISTENT * reach)
    worst = float(max(residual.max(initial=0.0), position.max(initial=0.0)))
    if worst <= INCONSISTENT:
        return []
    what = "velocity" if residual.max(initial=0.0) == worst else "position"
    says = f"the {what} at the start violates the constraints, onto which the method jumps or beside which it goes on"
    return [Doubt("start", t, worst, INCONSISTENT, says, "pose the problem from a consistent start")]
