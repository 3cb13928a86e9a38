"""How far the parts of a state turn in one step, where a step has left the chart of one of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from liegroup.formulas.facts import CHART, CHARTS, LENGTH_V
from liegroup.table import FACTORS, KIND, N_V, Q_OFFSET, V_OFFSET

Array = NDArray[np.float64]
HALF_TURN = math.pi
"""Where the exponential map ceases to be a chart of rotations."""


def too_far(problem: Problem, t: float, h: float, y: Array) -> str:
    """Which part of the state turns furthest in a step of size h from (t, y), at the velocity there, how far, and with
    what step it turns a quarter; nothing where no part can leave its chart.
    """
    turn, row = max(_turns(problem, h * problem.velocity(t, y)), default=(np.nan, 0))
    if not np.isfinite(turn):
        return ""
    step = abs(h) * min(0.5, 0.5 * HALF_TURN / max(turn, 1e-300))
    how_far = f"{_name(problem, row)} turns by {turn:.3g} rad in the step, at the velocity it starts with"
    return f"{how_far}, and π from the centre of its chart is the limit; use a step of {step:.2g}"


def _turns(problem: Problem, u: Array) -> Iterator[tuple[float, int]]:
    """Length of each part of the displacement u that must stay in a chart, and the row of its factor in the table."""
    for row, factor in enumerate(problem.table):
        kind, start, end = factor[KIND], factor[V_OFFSET], factor[V_OFFSET] + factor[N_V]
        for first, count in CHART[kind, : CHARTS[kind]]:
            for w in range(start + first, end, LENGTH_V[kind]):
                yield float(np.linalg.norm(u[w : w + count])), row


def _name(problem: Problem, row: int) -> str:
    """A factor of the group by the joint or the variable it belongs to."""
    place, kind = problem.table[row, Q_OFFSET], problem.table[row, KIND]
    labels = [(variable.name, label) for variable in problem.variables for label in variable.labels]
    variable, label = labels[place]
    name = label.rpartition(".")[0] or variable
    return f"{name!r} on {FACTORS[kind].NAME}"
