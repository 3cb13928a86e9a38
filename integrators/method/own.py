"""Steppers of one's own are looked at before their first run: whether they keep to their arrays, and go where the field
points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COUNTERS
from integrators.problem import Problem
from integrators.status import OK
from liegroup.compile import is_ours
from liegroup.table import retract
from liegroup.tau import EXP

if TYPE_CHECKING:
    from integrators.method.method import Method

Array = NDArray[np.float64]
LARGEST = 100
"""Components of a state for which a step is interpreted."""
SMALL, HALVED, OFF = 1e-3, 4, 0.01
"""Part of a state by which the first step changes it, how often the step is halved, and what of it may stay wrong."""


def check_step(method: Method, problem: Problem, t: float) -> None:
    """ValueError for a stepper of one's own that reads or writes behind its workspace, or is not consistent, y(h) =
    y exp(h f) + O(h²), from the start of a problem; by its source, on arrays of the sizes that it gets.
    """
    step = method.stepper.in_parts or method.stepper.step
    if step is None or is_ours(step.__module__) or problem.n > LARGEST:
        return
    start = np.array(np.atleast_2d(problem.y0)[0])
    rates = problem.velocity(t, start)
    fastest = float(np.abs(rates).max(initial=0.0))
    if not (np.isfinite(fastest) and fastest > 0.0):
        return
    h, found = SMALL * (1.0 + float(np.abs(start).max())) / fastest, []
    for k in range(HALVED):
        size = h / 2.0**k
        end, moved = _after(method, problem, t, size, start), np.array(start)
        retract(problem.table, EXP, start, size * rates, moved)
        if end is None or not np.isfinite([*end, *moved]).all():
            return
        found.append(float(np.abs(end - moved).max() / np.abs(moved - start).max()))
    if found[-1] > OFF and found[-1] > 0.75 * found[0]:
        raise ValueError(
            f"{method.name}: a step of {size:.3g} from the start ends {100.0 * found[-1]:.2g} % of its way beside "
            "y exp(h f), and so do larger ones: it is not consistent (order 0)"
        )


def _after(method: Method, problem: Problem, t: float, h: float, start: Array) -> Array | None:
    """The state after a step, or None where it says nothing."""
    y, low = start.copy(), np.zeros_like(start)
    field, work = method.function(problem).python, np.zeros(method.work_shape(problem))
    field_work = np.zeros(problem.work_shape_for(method.stepper.evaluates))
    counters = np.zeros(COUNTERS, dtype=np.int64)
    try:
        with np.errstate(all="ignore"):
            status = method.step(problem).python(
                field, t, h, y, low, problem.table, method.kernel_coefficients(problem, t),
                method.kernel_options(problem, t), problem.own_parameters(), problem.structure, field_work, work,
                counters,
            )  # fmt: skip
    except IndexError as error:
        raise ValueError(
            f"{method.name}: {error}; its compiled step would read or write what is behind its arrays: a workspace of "
            f"{work.shape[0]} rows of {work.shape[1]} numbers (the third argument of Stepper says how many rows)"
        ) from error
    except Exception:  # what has no interpreted form is not looked at
        return None
    return y if status == OK else None
