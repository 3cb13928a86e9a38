"""How far the constraint rows of a problem are from depending on each other: what is said where a run fails near
there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem.parts import constrained
from integrators.problem.problem import Problem

Array = NDArray[np.float64]
NEAR_SINGULAR = "near a singular position"
"""What a problem says of such a state begins with this (`Problem.explain`)."""
NEAR = 0.2
"""A position is near a singular one if the smallest singular value of the rows is below this part of that at the
start.
"""
LOST = 1e-7
"""Smallest singular value of rows of length one, whose squares are decomposed, that is none."""
_TIES = 1e-9
"""By which squares of singular values, and parts of rows in them, differ that are the same."""


def near_dependence(problem: Problem, begin: float, t: float, y: Array) -> str:
    """The row with the largest part in what is about to vanish, or nothing; for parts `Constrained` only, of a run from
    the time `begin`.
    """
    if problem.parts_layout != "constrained" or problem.sizes[1] == 0:
        return ""
    here, row = _smallest(problem, t, y)
    part = here / max(_smallest(problem, begin, np.atleast_2d(problem.y0)[0])[0], 1e-300)
    if part >= NEAR:
        return ""
    return f"{NEAR_SINGULAR}: {_name(problem, row)}, {part:.2g} of its value at the start"


def dependence(problem: Problem, t: float, y: Array) -> str:
    """The row with the largest part in what has vanished, or nothing, as of `near_dependence`."""
    if problem.parts_layout != "constrained" or problem.sizes[1] == 0:
        return ""
    try:
        with np.errstate(all="ignore"):
            here, row = _smallest(problem, t, y)
    except (ArithmeticError, ValueError):  # rows or a mass that are no numbers
        return ""
    return "" if here > LOST else f"a singular position: {_name(problem, row)} depends on the other constraint rows"


def _name(problem: Problem, row: int) -> str:
    return problem.row_names[row] if problem.row_names else f"constraint row {row}"


def _smallest(problem: Problem, t: float, y: Array) -> tuple[float, int]:
    """Smallest singular value of A M^(−1/2) with rows of length one, and the row with the largest part in it: in all
    that are as small, to rounding, and the last of rows that tie, as closures stand behind joints; one direction of
    several would be any.
    """
    n, m, k = problem.sizes
    at, out = constrained(n, m, k), np.zeros(problem.parts_size)
    problem.parts.python(t, np.array(y), problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    mass, rows = out[at.MASS : at.ROWS].reshape(n, n), out[at.ROWS : at.GRADIENT].reshape(m, n)
    gram = rows @ np.linalg.solve(mass, rows.T)
    lengths = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(lengths, lengths))
    parts = np.square(vectors[:, values <= values[0] + _TIES]).sum(axis=1)
    return float(np.sqrt(max(values[0], 0.0))), int(np.flatnonzero(parts >= (1.0 - _TIES) * parts.max())[-1])
