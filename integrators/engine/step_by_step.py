"""Steps of a method that divides them by its own estimate, taken one at a time, each as large as the last one allows.

A step that was divided is followed by one of the size of its last substep; one that could have been twice as large, by
the rule of the division itself, is followed by one that is.  Sizes are h 2^k, so that the stages of the next step are
guessed from those of the last one, as within a step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, single_run
from integrators.engine.run import NEVER, Output, Plan
from integrators.layout import ITERATIONS, STEPS
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.ambient import state_sizes
from integrators.status import Status
from integrators.steppers.gauss_in_lanes import UP_BELOW, fifteenth
from integrators.steppers.gauss_workspace import CLOCK_ROW, GUESS, LEVEL, SAME, STEEPEST, STEP_SIZE, TOLERATED, UP, room

Array = NDArray[np.float64]
_FIRST, _SMALLER, _TRIALS = 0.05, 2.0**-8, 4
"""The first step, as a part of the time in which the state changes by its size; by how much it becomes smaller if even
its smallest parts are not solved, and how often.
"""
_SWEEPS, _WAIT = 16, 16
"""A step of more sweeps is not doubled; after one that was doubled in vain, so many steps are not."""


class StepByStep:
    """One trajectory from y0 (n,) at t, in the direction of `forward` (1 or −1).

    Parameters
    ----------
    first, largest : float
        Size of the first step (None: found from the field) and of any.
    sizes : array (dimension,)
        Components of the state count as at least that large.
    """

    def __init__(
        self, problem: Problem, method: Method, t: float, y0: Array, forward: float, first: float | None,
        largest: float, sizes: Array,
    ) -> None:  # fmt: skip
        self.problem, self.method, self.y0, self.sizes = problem, method, y0, sizes
        self.t, self.forward, self.largest = t, forward, largest
        self.size = min(largest, max(first or first_step(problem, t, y0), least_step(t)))
        self.size = self.size if math.isfinite(self.size) else 1.0
        self.wait, self.doubled = 0, False
        self.run = self._run()

    def _run(self) -> FixedRun:
        run = single_run(self.problem, self.method, Output(save_every=NEVER), self._plan(self.size), self.y0)
        first = int(room(self.problem.n, self.problem.dimension).scale)
        run.work.reshape(-1)[first : first + len(self.sizes)] = self.sizes
        return run

    def _plan(self, size: float) -> Plan:
        return Plan(self.t, self.forward * size, NEVER)

    def step(self, end: float) -> None:
        """One step, to `end` at the farthest; `run` has the state and the status after it."""
        for trial in range(_TRIALS):
            if trial:
                self.size *= _SMALLER
                self.run = self._run()
            left = abs(end - self.t)
            last = left <= self.size * (1.0 + 1e-9)
            if not last and self.size < least_step(self.t):
                self.run.end(Status.STEP_UNDERFLOW)
                return
            self._take(left if last else self.size)
            if self.run.status is Status.OK or self.t != self.run.t0:
                break
        if self.run.status is Status.OK:
            self.t = end if last else self.run.t
            self._choose(left if last else self.size)

    def _take(self, size: float) -> None:
        run = self.run
        run.plan, run.counters[STEPS] = self._plan(size), 0
        run.work[CLOCK_ROW, STEEPEST] = 0.0
        self.before = int(run.counters[ITERATIONS])
        run.go(1)

    def _choose(self, size: float) -> None:
        """The size of the next step."""
        clock = self.run.work[CLOCK_ROW]
        level, doubled, self.doubled = int(clock[LEVEL]), self.doubled, False
        self.wait = _WAIT if level and doubled else max(0, self.wait - 1)
        if level:
            self._resize(size / 2**level)
            clock[LEVEL] = 0
            return
        error, sweeps = clock[STEEPEST] * fifteenth(size), self.run.counters[ITERATIONS] - self.before
        allowed = UP_BELOW * error < clock[TOLERATED] and 2.0 * size <= self.largest and sweeps <= _SWEEPS
        if allowed and clock[GUESS] == SAME and not self.wait:
            self._resize(2.0 * size)
            clock[GUESS], self.doubled = UP, True

    def _resize(self, size: float) -> None:
        self.size = size
        self.run.work[CLOCK_ROW, STEP_SIZE] = self.forward * size


def least_step(t: float) -> float:
    """Ten units in the last place of a time: smaller steps do not move it."""
    return 10.0 * float(np.spacing(abs(t)))


def first_step(problem: Problem, t: float, y: Array) -> float:
    """A part of the time in which the state would change by its size, no component counting as much smaller than the
    largest one; infinite where nothing moves.
    """
    sizes, velocity = state_sizes(problem.table, y), np.abs(problem.velocity(t, y))
    sizes = np.maximum(sizes, 0.1 * sizes.max(initial=0.0))
    moving = (velocity > 0.0) & (sizes > 0.0)
    return _FIRST * float(np.min(sizes[moving] / velocity[moving], initial=np.inf))
