"""Is one step of a method on T*G symplectic?  Measured in many digits, on any canonical problem with an interpreted
source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.analysis.symplecticity import cotangent_form, symplectic_defect
from integrators.method import Method
from integrators.method.step_map import step_map
from integrators.problem import Problem
from liegroup.table import EXP, bracket, increment, retract

Array = NDArray[np.float64]


def many_digits(problem: Problem) -> Any:
    """The start in mpmath numbers, its quaternions of unit norm to all digits of the context."""
    import mpmath

    y: Any = np.array([mpmath.mpf(float(x)) for x in np.ravel(np.asarray(problem.y0))], dtype=np.object_)
    for _ in range(3):  # each product corrects the norm quadratically
        moved = y * 0
        retract(problem.table, EXP, y, y[: problem.dimension] * 0, moved)
        y = moved
    return y


def step_derivative(problem: Problem, step: Callable[[Any, Any], Any], y: Any, h: Any, delta: Any) -> Array:
    """Derivative of ``step(y, h)`` at y in left-trivialised coordinates, by one-sided differences of size `delta`."""
    columns, end = [], step(y, h)
    for k in range(problem.dimension):
        x, moved, out = y[: problem.dimension] * 0, y * 0, y[: problem.dimension] * 0
        x[k] = delta
        retract(problem.table, EXP, y, x, moved)
        increment(problem.table, EXP, end, step(moved, h), out)
        columns.append([float(value / delta) for value in out])
    return np.array(columns).T


def two_form(problem: Problem, y: Any) -> Array:
    """The canonical two-form of T*G at a state, as a matrix in left-trivialised coordinates."""
    n = problem.dimension // 2
    group = problem.table[:-1]

    def lie(a: Array, b: Array) -> Array:
        out = np.zeros(n)
        bracket(group, np.array(a), np.array(b), out)
        return out

    return cotangent_form(np.array(y[-n:], dtype=np.float64), lie)


def canonical_defect(problem: Problem, method: Method, h: float | str, digits: int = 60) -> float:
    """Largest entry of Jᵀ Ω₁ J − Ω₀ for one step of size h from the start of a canonical problem.

    Parameters
    ----------
    h : float or str
        Step size; a string is read in all digits.
    digits : int
        Decimal digits of the arithmetic; differences lose 40 % of them.

    Raises
    ------
    ValueError
        The problem is not canonical.
    """
    import mpmath

    if not problem.canonical:
        raise ValueError(f"{problem.model}: not a canonical problem, state (q, p) on T*G")
    with mpmath.workdps(digits):
        step = step_map(problem, method, interpreted=True)
        y, size = many_digits(problem), mpmath.mpf(h)
        J = step_derivative(problem, step, y, size, mpmath.mpf(10) ** -(2 * digits // 5))
        after = step(y, size)
    return symplectic_defect(J, two_form(problem, problem.y0), two_form(problem, after))
