"""Whether a field does not read the time, as was said of it (`Problem.autonomous`), and whether a start does
(`Problem.begins`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from integrators.problem.batches import SAME, different
from integrators.problem.problem import Problem

PART = 0.3819660112501051
"""Of the interval, where the field is looked at again: no simple part of a period."""
CONSTANT = 1e-12
"""Relative change, within a stretch of time, of what does not depend on the time."""
_LATER = 0.3819660112501051, 1.7320508075688772
"""Times after the start at which it is looked at, s: no period has both."""


def begin_of(problem: Problem) -> float:
    """The time for which the start of a problem is posed, or 0."""
    return 0.0 if problem.begins is None else float(problem.begins)


def begins_at(
    values: Callable[[float], NDArray[np.float64]], t: float, scale: float | None = None, part: float = CONSTANT
) -> float | None:
    """The time t of a start, if `values` of the time that belong to it, such as the momenta of its velocities, are
    others at other times by more than a part of `scale` (default the greatest); else None.
    """
    with np.errstate(all="ignore"):
        now, later = np.asarray(values(t)), []
        for s in _LATER:
            with suppress(Exception):  # functions may end
                later.append(np.asarray(values(t + s)))
    allowed = part * (float(np.abs(now).max(initial=0.0)) if scale is None else scale)
    return None if all(np.allclose(x, now, 0.0, allowed, equal_nan=True) for x in later) else t


def check_autonomous(problem: Problem, t0: float, t1: float) -> None:
    """ValueError if the field changes with the time between t0 and t1, at the start or at a state near it."""
    t1 = t1 if math.isfinite(t1) and t1 != t0 else t0 + 1.0
    start, near = different(problem, t0, 2)[1]
    states = [start]
    with suppress(ArithmeticError, ValueError):  # it may end there
        problem.velocity(t0, near)
        states.append(near)
    for y in states:
        at_start = problem.velocity(t0, y)
        for t in (t0 + PART * (t1 - t0), t1):
            later = problem.velocity(t, y)
            same = np.abs(later - at_start) <= SAME * np.abs(at_start).max(initial=0.0)
            if not (same | ~np.isfinite(at_start)).all():
                k = int(np.argmin(same | ~np.isfinite(at_start)))
                raise ValueError(
                    f"autonomous: True, but component {k} of the field is {at_start[k]:.9g} at t = {t0:.9g} and "
                    f"{later[k]:.9g} at t = {t:.9g}, at the same state y = {y.tolist()}; it reads the time, leave "
                    "autonomous out"
                )
