"""Steppers of one's own are looked at before their first run: whether they keep to their arrays, and go where the field
points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
SHORT, TELLS = 1e-6, 1e-10
"""Parts of the state by which the first step moves it: as wanted, and at least."""
STEADY, OFF = 1e-3, 0.01
"""Parts of the field that may change in the step, and of the step that may be wrong."""


class OfTheField(Exception):
    """The field is not to be asked there: that is no fault of the step."""


def check_step(method: Method, problem: Problem, t: float) -> None:
    """ValueError for a stepper of one's own that reads or writes behind its workspace, or is not consistent, y(h) =
    y exp(h f) + O(h²), from the start of a problem; by its source, on arrays of the sizes that it gets.

    Consistency is asked where the field is the same after the step, to `STEADY`: implicit steps of stiff motions do not
    follow it otherwise.
    """
    step = method.stepper.in_parts or method.stepper.step
    if step is None or is_ours(step.__module__) or problem.n > LARGEST:
        return
    start = np.array(np.atleast_2d(problem.y0)[0])
    rates, largest = problem.velocity(t, start), float(np.abs(start).max()) or 1.0
    fastest = float(np.abs(rates).max(initial=0.0))
    h = min(SHORT * largest / fastest, 1.0) if fastest > 0.0 else SHORT
    end, moved = _after(method, problem, t, h, start), np.array(start)
    retract(problem.table, EXP, start, h * rates, moved)
    size = float(np.abs(moved - start).max())
    if end is None or method.stepper.evaluates not in ("field", "linearised") or not size > TELLS * largest:
        return
    off = float(np.abs(end - moved).max())
    if not off > OFF * size:
        return
    try:
        change = float(np.abs(problem.velocity(t + h, moved) - rates).max())
    except Exception:  # the field is not to be asked there
        return
    if change <= STEADY * fastest:
        raise ValueError(
            f"{method.name}: a step of {h:.3g} from the start ends {100.0 * off / size:.2g} % of its way beside "
            "y exp(h f), where the field hardly changes: it is not consistent (order 0)"
        )


def _after(method: Method, problem: Problem, t: float, h: float, start: Array) -> Array | None:
    """The state after a step, or None where it says nothing."""
    y, low = start.copy(), np.zeros_like(start)
    function, work = method.function(problem).python, np.zeros(method.work_shape(problem))
    field_work = np.zeros(problem.work_shape_for(method.stepper.evaluates))
    counters = np.zeros(COUNTERS, dtype=np.int64)

    def field(*arguments: Any) -> None:
        try:
            function(*arguments)
        except IndexError as error:
            raise OfTheField from error

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
    return y + low if status == OK else None
