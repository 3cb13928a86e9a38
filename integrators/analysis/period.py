"""Whether a motion comes back after a period, and what drives it, too: component by component, so that neither large
numbers nor stiff springs elsewhere hide those that do not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.problem.ambient import state_sizes
from integrators.problem.jacobian import sizes_of
from liegroup.table import EXP, increment, retract

Array = NDArray[np.float64]
Stepped = Callable[[Array, float], tuple[Array, Array]]
"""(y, t) → the state after a step and the derivative of the step."""
CLOSED = 1e-5
"""Distance from the start at which a component still counts as back, of how far it goes; of what has not moved to
speak of, of its size.
"""
SAME = 1e-4
"""Difference of what two steps do that still counts as none: of how it changes along the motion, for what drives it; of
what a step does, for what has not moved to speak of.
"""
MOMENT = 1e-9
"""Part of the period by which steps are taken later, to get away from a jump of the drive."""
ROUNDED, NOISE = 1e-14, 1e-11
"""Rounding of states and of derivatives of steps, which may be iterated, of their own numbers."""


class Period:
    """Looks at a motion step by step, and says at its end whether the time in between was a period.

    Parameters
    ----------
    problem : Problem
    stepped : callable
        A step with its derivative A (d, d).
    start : array (n,)
        Where the motion begins.
    period : float
        s.
    """

    def __init__(self, problem: Problem, stepped: Stepped, start: Array, period: float) -> None:
        self.problem, self.stepped, self.start, self.period = problem, stepped, start, period
        d = problem.dimension
        self.sizes = sizes_of(problem, start)
        self.way, self.later = np.zeros(d), np.zeros(d)
        self.least, self.most = np.full((d, d), np.inf), np.full((d, d), -np.inf)
        self.looked_at: list[tuple[float, Array, Array]] = []
        self.unknown = ""
        """Why a step could not be taken a period later."""

    def passes(self, A: Array, end: Array) -> None:
        """One step of the motion after the other: its derivative, and where it ends."""
        self.way = np.maximum(self.way, np.abs(self._from_start(end)))
        self.least, self.most = np.minimum(self.least, A), np.maximum(self.most, A)

    def look(self, t: float, y: Array, A: Array) -> None:
        """Some steps are taken again a period later."""
        self.looked_at.append((t, y, A))
        try:
            later = self.stepped(y, t + self.period)[1]
        except ArithmeticError as error:
            self.unknown = str(error)
        else:
            self.later = np.maximum(self.later, self._rows(later - A))

    def check_drive(self) -> None:
        """ValueError unless the derivative of a step is that of the step from the same state a period later: a state of
        rest returns after any time, whatever drives it.
        """
        changes = self._rows(self.most - self.least)
        over = self.later - SAME * changes - NOISE * self._rows(np.maximum(-self.least, self.most))
        if not (over <= 0.0).all():
            k = int(np.argmax(over > 0.0))
            if (at := self._jumps_at(changes)) is not None:
                raise ValueError(
                    f"period: what drives {self.problem.model!r} jumps where a stage of the step from t = {at:.6g} s "
                    "falls, on one side of it or the other as the time is rounded; take a method whose stages lie "
                    "within steps (RKMK_GAUSS2, GAUSS8) and steps that end at its jumps"
                )
            raise ValueError(
                f"period: {self.period} s, which is not that of what drives {self.problem.model!r}: a period later a "
                f"step from the same state has another derivative, in component {k} by "
                f"{self.later[k] / max(changes[k], 1e-300):.2g} of how that changes along the motion, expected at most "
                f"{SAME:.0e}; give the period of the drive, or a multiple, with all its digits"
            )

    def _jumps_at(self, changes: Array) -> float | None:
        """The time of a step that is another one a period later, and the same where both begin a moment later."""
        for t, y, A in self.looked_at:
            moment = max(MOMENT * self.period, 16.0 * float(np.spacing(abs(t) + self.period)))
            first, second, later = (self.stepped(y, t + by)[1] for by in (moment, self.period, self.period + moment))
            allowed = SAME * changes + NOISE * self._rows(A)
            if (self._rows(second - A) > allowed).any() and (self._rows(later - first) <= allowed).all():
                return t
        return None

    def check_return(self, end: Array) -> float:
        """The gap, the greatest component of the increment from start to end; ValueError where one is not closed."""
        gaps = np.abs(self._from_start(end))
        allowed = CLOSED * self.way + ROUNDED * state_sizes(self.problem.table, self.start)
        is_open = gaps > allowed
        if is_open.any() and not ((gaps <= CLOSED * self.sizes)[is_open].all() and self._rests(is_open)):
            k = int(np.argmax(np.where(is_open, gaps, 0.0)))
            besides = abs(self._from_start(end - 2.0 * np.pi * self._turns(end))[k])
            says = (
                f"whole turns of an angle that counts them and {besides:.1g} besides: take an angle that closes, such "
                "as that of a joint Continuous in the place of Revolute, or a factor `liegroup.so2` of the group"
                if besides < 0.1 * gaps[k]
                else f"expected less than {allowed[k]:.1g}; correct start and period (a Newton step with the "
                "derivative of `linearised_step`), or take more steps"
            )
            raise ValueError(
                f"period: after {self.period} s component {k} of the motion of {self.problem.model!r} is "
                f"{gaps[k]:.3g} from its start, {says}"
            )
        return float(gaps.max(initial=0.0))

    def _from_start(self, y: Array) -> Array:
        away = np.zeros(self.problem.dimension)
        increment(self.problem.table, EXP, self.start, y, away)
        return away

    def _turns(self, end: Array) -> Array:
        """Whole turns since the start in components that are angles on the line."""
        turns, angles = np.zeros(self.problem.n), list(self.problem.angles)
        turns[angles] = np.round((end - self.start)[angles] / (2.0 * np.pi))
        return turns

    def _rows(self, change: Array) -> Array:
        """How far each component goes by a change of a derivative, at most, if others go by their sizes."""
        return np.asarray((np.abs(change) * self.sizes).max(axis=1, initial=0.0))

    def _rests(self, moved: NDArray[np.bool_]) -> bool:
        """Whether what components have moved is nothing to the motion: steps do the same without."""
        for t, y, A in self.looked_at:
            still = np.empty_like(y)
            retract(self.problem.table, EXP, self.start, np.where(moved, 0.0, self._from_start(y)), still)
            try:
                other = self.stepped(still, t)[1]
            except ArithmeticError:
                return False
            allowed = SAME * self._rows(A - np.eye(len(A))) + NOISE * self._rows(A)
            if not (self._rows(other - A) <= allowed).all():
                return False
        return True
