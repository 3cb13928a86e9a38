"""Whether the Jacobian of a problem is the derivative of its field: compared with differences before a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem.problem import Problem
from liegroup.table import EXP, retract

Array = NDArray[np.float64]
_DELTA = 2.0**-17
"""Of central differences, relative to the size of the state."""
_WRONG = 1e-3
"""Part of the largest entry of a row and column that an entry may be off, besides what differences cannot tell."""
_ROUNDING = 1e-12
"""Part of the largest entry that an entry may be off: sums whose parts cancel leave their rounding."""


def check_jacobian(problem: Problem, t: float) -> None:
    """ValueError with the entry that contradicts the differences of the field at the start, or if it is not finite.

    Differences over two lengths and to either side tell how far they can be trusted: near a kink of the field they
    contradict each other, and any derivative between them is taken.
    """
    if problem.jacobian is None:
        return
    y, d = np.atleast_2d(problem.y0)[0], problem.dimension
    given = problem.evaluate(problem.jacobian, t, y, d * d).reshape(d, d)
    if not np.isfinite(given).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(given))[0])
        raise ValueError(f"jacobian: entry ({i}, {j}) is {given[i, j]} at the start t = {t}, y = {y.tolist()}")
    (near, bend), (far, _) = (_differences(problem, t, y, k * _DELTA) for k in (1.0, 4.0))
    if not (np.isfinite(near).all() and np.isfinite(far).all()):
        return
    size = np.minimum.outer(np.abs(near).max(axis=1), np.abs(near).max(axis=0))
    unsure = 10.0 * np.abs(near - far) + bend + _noise(problem, t, y)[:, None]
    allowed = unsure + _WRONG * np.maximum(size, np.abs(near)) + _ROUNDING * np.abs(near).max(initial=1.0)
    off = np.abs(given - near) > allowed
    if off.any():
        i, j = divmod(int(np.argmax(np.where(off, np.abs(given - near) / allowed, 0.0))), d)
        raise ValueError(
            f"jacobian: entry ({i}, {j}) is {given[i, j]:.9g} at the start t = {t}, y = {y.tolist()}, but differences "
            f"of the field give {near[i, j]:.6g}; expected the derivative of component {i} of the field f(t, y τ(x)) "
            f"by component {j} of x at x = 0, by rows"
        )


def derivative(problem: Problem, t: float, y: Array) -> Array:
    """The derivative of the field at one state: that of the problem, or by differences."""
    d = problem.dimension
    if problem.jacobian is None:
        return _differences(problem, t, y, _DELTA)[0]
    return problem.evaluate(problem.jacobian, t, y, d * d).reshape(d, d)


def _differences(problem: Problem, t: float, y: Array, delta: float) -> tuple[Array, Array]:
    """Central differences of the field along right increments, and by how much those to either side differ."""
    columns, bends, here = [], [], problem.velocity(t, y)
    for e in np.eye(problem.dimension) * delta * max(1.0, float(np.abs(y).max())):
        ahead, behind = y.copy(), y.copy()
        retract(problem.table, EXP, y, e, ahead)
        retract(problem.table, EXP, y, -e, behind)
        after, before, size = problem.velocity(t, ahead), problem.velocity(t, behind), np.abs(e).max()
        columns.append((after - before) / (2.0 * size))
        bends.append(np.abs(after - 2.0 * here + before) / size)
    return np.array(columns).T, np.array(bends).T


def _noise(problem: Problem, t: float, y: Array) -> Array:
    """What the rounding of the field leaves of differences."""
    size = max(1.0, float(np.abs(y).max()))
    return np.asarray(1e-13 * np.abs(problem.velocity(t, y)) / (_DELTA * size))
