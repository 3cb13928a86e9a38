"""Whether a field jumps along a motion whose derivatives are taken step by step."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.problem.jacobian import rounding_of
from integrators.problem.jump import steepest_part
from liegroup.table import EXP, increment

Array = NDArray[np.float64]
JUMP, NOTICED = 30.0, 1e-3
"""A field that changes in one step by so many times what it does in those before and behind, and by this part of the
largest rate, may jump there.
"""
MOST = 10_000
"""Steps that are looked at, from the first on: what switches once does so again."""
BISECTIONS = 20
"""Of such a step."""


class Continuity:
    """Looks at the field along a motion, and warns once where it jumps: what neighbours gain by jumping earlier or
    later is in the derivative of no step.
    """

    def __init__(self, problem: Problem, what: str) -> None:
        self.problem, self.what, self.left = problem, what, MOST
        self.seen: list[tuple[float, Array, Array]] = []
        self.largest = 0.0

    def look(self, t: float, y: Array) -> None:
        """At a state of the motion, one after the other."""
        if not self.left:
            return
        self.left -= 1
        rate = self._rate(t, y)
        self.largest = max(self.largest, float(np.abs(rate).max(initial=0.0)))
        self.seen = [*self.seen[-3:], (t, y.copy(), rate)]
        if len(self.seen) < 4:
            return
        before, change, behind = np.abs(np.diff([rate for _, _, rate in self.seen], axis=0))
        for k in np.flatnonzero((change > JUMP * np.maximum(before, behind)) & (change > NOTICED * self.largest)):
            if self._jumps(int(k)):
                self.left = 0
                warnings.warn(
                    f"{self.what} of {self.problem.model!r} are not those of the motion: between t = "
                    f"{self.seen[1][0]:.6g} s and {self.seen[2][0]:.6g} s its field jumps, by {change[k]:.3g}, and "
                    "what that does to neighbouring motions is in the derivative of no step; take a field that is "
                    "continuous (tanh in the place of a sign), and steps that resolve it",
                    RuntimeWarning,
                    stacklevel=3,
                )
                return

    def _rate(self, t: float, y: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.array(self.problem.velocity(t, y))

    def _jumps(self, k: int) -> bool:
        """Whether the change of a component in the middle one of three steps is that of a point of it."""
        (t, y, before), (end, there, behind) = self.seen[1:3]
        with np.errstate(all="ignore"):  # at a place of rest all that a field does is rounding, which jumps
            noise = min(rounding_of(self.problem, at, state)[k] for at, state in ((t, y), (end, there)))
        if abs(behind[k] - before[k]) <= noise:
            return False
        way = np.zeros(self.problem.dimension)
        increment(self.problem.table, EXP, y, there, way)
        with np.errstate(all="ignore"):
            _, share = steepest_part(self.problem, t, y, end - t, way, k, BISECTIONS)
        return share > 0.5
