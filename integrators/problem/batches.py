"""Plain Python fields of many states at once: ``f(t, y)`` with t (k,) and y (k, n) gives (k, d), components last.

Such a function is a promise of the user's (`Problem.vectorized`).  It is compared with itself, one state after the
other, before a run: at times and states that differ, so that a function that mixes them is found out.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from integrators.problem.problem import Problem
from liegroup.compile import WIDTH
from liegroup.table import EXP, retract

Array = NDArray[np.float64]
_MOVED = 1e-3
"""How far times and states differ, as a part of the state."""
SAME, _ROUNDING = 1e-9, 1e-14
"""By how much values may differ, as a part of the largest of their component, and of all."""


def takes_batches(problem: Problem, t: float) -> bool:
    """Whether the field takes many states at once, near the start; if it only was said to, with one RuntimeWarning for
    all runs of the problem.
    """
    wrong = _refuted(problem, t) if problem.vectorized else ""
    if wrong and "batches" not in problem.field.said:
        problem.field.said.add("batches")
        warnings.warn(
            f"field: vectorized=True, but {wrong}; it is called for one state after another. Write it for many states: "
            "components last (y[..., 0], np.stack(…, axis=-1)) and times (k,) in a Problem, components first (y[0], "
            "np.stack(…)) in solve_ivp; or leave vectorized=True out",
            RuntimeWarning,
            stacklevel=2,
        )
    return problem.vectorized and not wrong


def _refuted(problem: Problem, t: float) -> str:
    """What shows that the field does not take many states, or nothing."""
    times, states = different(problem, t)
    rows = np.array([problem.velocity(time, y) for time, y in zip(times.tolist(), states, strict=True)])
    values, work = np.zeros_like(rows), np.zeros(problem.work_shape)
    try:
        problem.field.python(times.copy(), states.copy(), problem.parameters, problem.structure, work, values)
    except Exception as error:
        return f"with {WIDTH} states of {problem.n} numbers it raises {type(error).__name__}: {error}"
    sizes = np.abs(rows).max(axis=0, initial=0.0)
    same = np.abs(values - rows) <= SAME * sizes + _ROUNDING * sizes.max(initial=0.0)
    if (same | ~np.isfinite(rows)).all():
        return ""
    k, m = np.argwhere(~same)[0].tolist()
    return f"component {m} of state {k} of {WIDTH} is {values[k, m]:.9g}, where that state alone gives {rows[k, m]:.9g}"


def different(problem: Problem, t: float, count: int = WIDTH) -> tuple[Array, Array]:
    """Times (k,) and states (k, n) near the start, all different: the first `count` of as many as there are lanes."""
    start, part = np.atleast_2d(problem.y0)[0], _MOVED * np.arange(count) / WIDTH
    states, size = np.tile(start, (count, 1)), np.ones(problem.dimension)
    if problem.n == problem.dimension and start.any():
        size = np.maximum(np.abs(start), _MOVED * np.abs(start).max())
    for k, y in enumerate(states):
        retract(problem.table, EXP, y, part[k] * size * np.cos(np.arange(1.0 + k, problem.dimension + 1.0 + k)), y)
    return t + part * max(1.0, abs(t)), states
