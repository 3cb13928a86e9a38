"""Runs whose steps a controller chooses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from integrators.controllers import AnyController, IntegratingController, LogarithmicHamiltonian, first_step
from integrators.engine.adaptive_loop import (
    CLOCK,
    CONTROL,
    END,
    EPSILON,
    FICTITIOUS,
    FILTER,
    INTEGRATED,
    INTEGRATING,
    MAX_STEP,
    OLD_ERROR,
    OLDER_ERROR,
    RELATIVE,
    RHO,
    TAKEN,
    TWO_ESTIMATES,
    H,
    T,
    advance_adaptive,
)
from integrators.engine.run import Output, Run
from integrators.layout import PENDING
from integrators.method import Method
from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.fields import Field, as_field, joined
from integrators.problem.python_field import SIZE
from integrators.status import Status
from integrators.steppers.logarithmic import logarithmic, time_momentum
from liegroup.table import FACTORS

Array = NDArray[np.float64]
_ROWS = 1024
"""Saved states there is room for at first."""


@dataclass(frozen=True)
class Steering:
    """How the steps of a run are chosen.

    Attributes
    ----------
    span
        From t0 to t1.
    controller
    relative, absolute
        Tolerances; the absolute one per component of the velocity (dimension,).
    first, largest
        First step, or None to find one; largest step.
    most
        Accepted steps, at most.
    """

    span: tuple[float, float]
    controller: AnyController
    relative: float
    absolute: Array
    first: float | None
    largest: float
    most: int


class AdaptiveRun(Run):
    """Variable steps of one trajectory from t0 to t1."""

    KEPT = (*Run.KEPT, "previous_low", "clock")

    def __init__(self, problem: Problem, method: Method, output: Output, steering: Steering, y0: Array) -> None:
        span = steering.span
        self.span, self.steering = span, steering
        if isinstance(steering.controller, LogarithmicHamiltonian):
            method = logarithmic(method)
        super().__init__(problem, method, output, span[0], y0, len(output.times) or _ROWS)
        self.previous_low, self.sizes = np.zeros(problem.n), np.zeros(2)
        self.clock, self.control = np.zeros(CLOCK), np.zeros(CONTROL)
        self.clock[[T, OLD_ERROR, OLDER_ERROR]] = span[0], 1.0, 1.0
        self.control[[END, MAX_STEP, RELATIVE]] = span[1], steering.largest, steering.relative
        size: Field | None = None
        if isinstance(steering.controller, IntegratingController):
            size = as_field(steering.controller.size, "size")
        self.size = self.field_form(size, SIZE)
        self.loop = self.loop_form(advance_adaptive)
        forward = 1.0 if span[1] >= span[0] else -1.0
        if isinstance(steering.controller, IntegratingController):
            self._start_integrating(forward)
        elif isinstance(steering.controller, LogarithmicHamiltonian):
            self._start_logarithmic(forward, steering.controller)
        else:
            self.control[FILTER:] = steering.controller.data(method.estimate_power)
            self.control[TWO_ESTIMATES] = method.embedded_order_low is not None
            self.clock[H] = forward * (steering.first or self._first_step(forward))

    def _start_integrating(self, forward: float) -> None:
        assert self.steering.first is not None
        self.control[[EPSILON, INTEGRATING]] = self.steering.first, INTEGRATED
        self._call_field(self.size, self.t0, self.y, self.sizes)
        wished, rate = self.sizes
        if not (wished > 0.0 and np.isfinite(self.sizes).all()):
            raise ValueError(
                f"controller: size(t, y) = {self.sizes.tolist()} at the start, expected (Q, G) with Q > 0 and finite "
                "numbers"
            )
        # the rate enters with the direction of time, as in the loop
        self.clock[RHO] = 1.0 / wished + 0.5 * self.control[EPSILON] * forward * rate
        self.clock[H] = forward * self.control[EPSILON] / self.clock[RHO]

    def _start_logarithmic(self, forward: float, controller: LogarithmicHamiltonian) -> None:
        assert self.steering.first is not None
        potential = as_field(controller.potential, "potential")
        self.control[INTEGRATING], self.clock[H] = FICTITIOUS, forward * self.steering.first
        self.coefficients = np.append(self.coefficients, time_momentum(self.problem, potential, self.t0, self.y))

    @cached_property
    def evaluated(self) -> Field:
        controller, field = self.steering.controller, super().evaluated
        if not isinstance(controller, LogarithmicHamiltonian):
            return field
        return joined(field, self.problem.dimension, as_field(controller.potential, "potential"))

    def _first_step(self, forward: float) -> float:
        problem, sizes = self.problem, state_sizes(self.problem, self.y)
        scale = self.steering.absolute + self.steering.relative * sizes
        v0 = problem.velocity(self.t0, self.y)

        def probe(h: float) -> Array:
            return problem.velocity(self.t0 + forward * h, moved(problem, self.y, forward * h * v0))

        return min(
            first_step(scale, sizes, v0, probe, self.method.order),
            self.steering.largest,
            abs(self.span[1] - self.span[0]),
        )

    @property
    def t(self) -> float:
        return float(self.clock[T]) if self.stopped_at is None else self.stopped_at

    @property
    def done(self) -> bool:
        return self.status is not Status.OK or self.t == self.span[1]

    @property
    def progress(self) -> float:
        t0, t1 = self.span
        return (self.t - t0) / (t1 - t0) if t1 != t0 else 1.0

    def step_in_progress(self) -> tuple[float, float]:
        return float(self.clock[T]), float(self.clock[TAKEN] if self.counters[PENDING] else self.clock[H])

    def advance(self, count: int) -> int:
        problem, output = self.problem, self.output
        return int(
            self.loop(
                *self.functions, self.size, self.clock, self.control, self.steering.absolute, count, self.steering.most,
                output.save_every, output.times, self.circles, self.y, self.low, self.turns, self.previous,
                self.previous_low,
                problem.table, self.coefficients, self.options, self.parameters, self.structure, self.field_work,
                self.work,
                self.dense_work,
                self.counters, self.dense_counters, self.values, self.projected, self.before, self.after,
                self.directions, self.sizes,
                self.between, self.between_low, self.saved_t, self.saved, self.saved_values, self.statistics,
                self.stretch,
            )
        )  # fmt: skip


def state_sizes(problem: Problem, y: Array) -> Array:
    """Size of the state behind each component of the velocity: 1 for rotations, lengths of positions, magnitudes on
    Rⁿ.
    """
    sizes = [
        1.0 if size is None else float(np.linalg.norm(y[start + size[0] : start + sum(size)]))
        for kind, q, _, n_q, _ in problem.table.tolist()
        for start in range(q, q + n_q, FACTORS[kind].N_Q)
        for size in FACTORS[kind].SIZES
    ]
    return np.array(sizes)
