"""Runs whose steps a controller chooses."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.error_norm import LEAST
from integrators.controllers import StepController, first_step
from integrators.controllers.clock import (
    CLOCK,
    END,
    ESTIMATES,
    MAX_STEP,
    MOST_REPEATED,
    NARROWEST,
    NARROWEST_AT,
    NEXT,
    OWN,
    OWN_TIME,
    REPEAT,
    RETRIES,
    TAKEN,
    WISHES,
    H,
    T,
)
from integrators.controllers.signatures import JUDGE, PROPOSE
from integrators.controllers.trial import check_controller, check_estimates
from integrators.engine.adaptive_loop import adaptive_loop
from integrators.engine.records import Control
from integrators.engine.run import Output, Run, Trajectory
from integrators.layout import PENDING
from integrators.method import Method
from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.ambient import state_sizes, unit_sizes
from integrators.problem.fields import Field
from integrators.problem.python_field import SIZE
from integrators.status import Status
from liegroup.compile import is_ours

Array = NDArray[np.float64]
WATCHED = 2
"""Numbers that a function watched by a controller gives, at most."""
FINEST = 100 * float(np.finfo(float).eps)
"""The smallest relative tolerance, as SciPy's."""
_ROWS = 1024
"""Saved states there is room for at first, where every step is saved; they are doubled as they fill."""
_FEWEST = 4
"""The same where few steps are: each run of an ensemble has its own."""
SHORTEST = 32.0
"""Spacings of the time in a first step that is found."""


@dataclass(frozen=True)
class Steering:
    """How the steps of a run are chosen.

    Attributes
    ----------
    span
        From t0 to t1.
    controller
    relative, absolute
        Tolerances, one number or one per component of the velocity (dimension,).
    first, largest
        First step, or None to find one; largest step.
    most
        Accepted steps, at most.
    """

    span: tuple[float, float]
    controller: StepController
    relative: float | Array
    absolute: float | Array
    first: float | None
    largest: float
    most: int


class AdaptiveRun(Run):
    """Variable steps of one trajectory from t0 to t1.

    `shared` is what the runs of an ensemble have in common, found by the first of them: to find it takes longer than
    many a run.
    """

    KEPT = (*Run.KEPT, "previous_low", "narrow", "clock")
    SHARED = (
        "step", "field", "invariants", "projection", "events", "own_field", "interpolant", "watched", "propose",
        "judge", "loop", "circles",
    )  # fmt: skip

    def __init__(
        self, problem: Problem, method: Method, output: Output, steering: Steering, y0: Array,
        shared: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        controller, span = steering.controller, steering.span
        self.span, self.steering = span, steering
        self.relative, self.absolute = (
            np.array(np.broadcast_to(x, problem.dimension), dtype=np.float64)
            for x in (steering.relative, steering.absolute)
        )
        self.forward = 1.0 if span[1] >= span[0] else -1.0
        self.shared = {} if shared is None else shared
        self.as_given, method = method, controller.method(method)
        check_estimates(controller, method)
        rows = len(output.times) or output.window or max(_FEWEST, _ROWS // output.save_every)
        super().__init__(problem, method, output, span[0], y0, rows)
        self.previous_low, self.narrow = np.zeros(problem.n), np.zeros(problem.n)
        if method.stepper.tolerances is not None:
            sizes = state_sizes(problem.table, np.asarray(y0, dtype=np.float64))
            told = method.stepper.tolerances(self.relative, self.absolute, sizes)
            self.coefficients = np.concatenate([self.coefficients, told])
            if method.stepper.multistep:  # begins with order one, whose error of what leaves zero at rest is all of it
                self.absolute = told[-problem.dimension :]
        self.watched_values = np.zeros(WATCHED)
        self.clock, self.numbers = np.zeros(CLOCK), np.concatenate([np.zeros(OWN), controller.data(method)])
        self.clock[T], self.clock[NARROWEST] = span[0], np.inf
        self.numbers[[END, MAX_STEP]] = span[1], steering.largest
        self.numbers[[ESTIMATES, OWN_TIME]] = controller.estimates(method), method.stepper.step_of_time is not None
        self.numbers[RETRIES] = controller.retries
        self.numbers[WISHES] = controller.follows
        controller.start(self)
        if span[1] != span[0]:
            check_controller(controller, self, span[1] - span[0], self.field_work.shape)

    def _circles(self) -> NDArray[np.int64]:
        return self.shared["circles"] if self.shared else super()._circles()

    def _functions(self) -> None:
        if self.shared:
            vars(self).update(self.shared)
            self.parameters, self.structure = self.problem.own_parameters(), self.problem.structure
            self.called_back, self.interpreted = None, False
            return
        super()._functions()
        controller = self.steering.controller
        self.watched = self.field_form(controller.watched, SIZE)
        self.propose, self.judge = self.form(controller.propose, PROPOSE), self.form(controller.judge, JUDGE)
        self.loop = self.loop_form(adaptive_loop)
        if self.called_back is None and not self.interpreted:
            self.shared.update((name, vars(self)[name]) for name in self.SHARED)

    def look(self, t: float | None = None, y: Array | None = None) -> Array:
        """The values of the function the controller watches, at the start or elsewhere."""
        at = (self.t0 if t is None else t), (self.y if y is None else y)
        self._call_field(self.watched, *at, self.watched_values)
        return self.watched_values.copy()

    @cached_property
    def records(self) -> tuple[Any, ...]:
        return *super().records, self.given_record(Control)

    @cached_property
    def evaluated(self) -> Field:
        return self.steering.controller.evaluated(self.problem, super().evaluated)

    def first_step(self) -> float:
        """The first step as it was given, or found from the field."""
        return self.steering.first or self._found_first_step()

    def _found_first_step(self) -> float:
        problem, sizes = self.problem, state_sizes(self.problem.table, self.y)
        scale, length = self.absolute + self.relative * sizes, abs(self.span[1] - self.span[0])
        if length == 0.0:
            return 0.0
        v0 = problem.velocity(self.t0, self.y)

        def probe(h: float) -> Array:
            t = self.span[1] if h == length else self.t0 + self.forward * h
            return problem.velocity(t, moved(problem, self.y, self.forward * h * v0))

        found = first_step(scale, sizes, v0, probe, self.method.order, length)
        shortest = min(SHORTEST * float(np.spacing(abs(self.t0))), length)  # the clock tells no shorter ones
        return min(max(found, shortest), self.steering.largest)

    def trajectory(self, pick: Any, status: Status, message: str, last: Array | None = None) -> Trajectory:
        at, step = float(self.clock[NARROWEST_AT]), float(self.clock[NARROWEST])
        return replace(super().trajectory(pick, status, message, last), narrowest=(at, step, self.narrow.copy()))

    @property
    def t(self) -> float:
        return float(self.clock[T]) if self.stopped_at is None else self.stopped_at

    @property
    def done(self) -> bool:
        return self.status is not Status.OK or self.t == self.span[1]

    @property
    def limit(self) -> float:
        return self.span[1]

    @property
    def progress(self) -> float:
        t0, t1 = self.span
        return (self.t - t0) / (t1 - t0) if t1 != t0 else 1.0

    def step_in_progress(self) -> tuple[float, float]:
        return float(self.clock[T]), float(self.clock[TAKEN] if self.counters[PENDING] else self.clock[H])

    def take(self, status: Status) -> None:
        if status is Status.CONTROLLER_FAILED and self._is_of_the_field():
            super().take(Status.NON_FINITE)
        elif status in (Status.CONTROLLER_FAILED, Status.STEP_UNDERFLOW) and (
            known := self.steering.controller.why_no_step(self.clock, self.numbers)
        ):
            self.end(Status.CONTROLLER_FAILED, f"{self.steering.controller.name}: {known}")
        elif status is Status.CONTROLLER_FAILED:
            self.end(status, self._why_the_controller_failed())
        else:
            super().take(status)

    def _is_of_the_field(self) -> bool:
        """Whether a controller of ours has no step because the field gives none."""
        return is_ours(type(self.steering.controller).__module__) and not math.isfinite(self.clock[TAKEN])

    def _why_the_controller_failed(self) -> str:
        name, h, verdict = self.steering.controller.name, float(self.clock[TAKEN]), int(self.clock[NEXT])
        if verdict == Status.OK:
            left = f"{self.span[1] - self.t:.6g} s"
            beyond = "expected one towards the end" if self.numbers[OWN_TIME] else f"expected a part of the {left} left"
            return f"the {name} proposes a step of {h:.6g} s, {beyond}"
        if verdict == REPEAT:
            return (
                f"the {name} has repeated the step {MOST_REPEATED} times in a row, last with {h:.6g} s; a step that is "
                "repeated has to become smaller"
            )
        return (
            f"the verdict of the {name} on a step of {h:.6g} s is {verdict}, expected OK, REPEAT, NON_FINITE, "
            "NOT_CONVERGED, CHART_LEFT, STEP_UNDERFLOW or TOO_MANY_STEPS"
        )

    def call_loop(self, count: int) -> int:
        return int(self.loop(*self.records, count, self.steering.most))


def usual_atol(problem: Problem, part: float) -> Array:
    """An absolute tolerance (dimension,) where none is given: `part` of what counts as one behind every component
    (`Problem.scales`), where that is less than one, or what rounding leaves of the largest component at the start, if
    that is more.

    Momenta count as those of the heaviest body, and a wheel or a reed of it has less: no more than `part` is taken.
    """
    units = unit_sizes(problem.table, problem.scales)
    starts = np.atleast_2d(problem.y0)
    largest = max(float((state_sizes(problem.table, y) / units).max(initial=0.0)) for y in starts)
    return np.asarray(np.maximum(part * np.minimum(units, 1.0), LEAST * largest * units))


def attainable(
    problem: Problem, rtol: Any, atol: Any, relative: Array, absolute: Array, level: int
) -> tuple[Array, Array]:
    """Tolerances (dimension,) that rounding lets steps reach, from those given: below, an error estimate is rounding,
    which follows the step by its first power only, so that steps become so small that a run never ends.

    Relative tolerances are raised to `FINEST`; an absolute one, if it is one positive number for all components, which
    then have one unit, to `LEAST` times the largest component at the start; with a RuntimeWarning for what was given,
    `level` callers up.
    """
    largest = max(float(state_sizes(problem.table, y).max(initial=0.0)) for y in np.atleast_2d(problem.y0))
    floors = {"rtol": FINEST, "atol": LEAST * largest if np.ndim(absolute) == 0 and absolute > 0.0 else 0.0}
    whose = {"rtol": "100 times the rounding of a number", "atol": f"what rounding leaves of a state of {largest:.3g}"}
    found = {"rtol": np.maximum(relative, floors["rtol"]), "atol": np.maximum(absolute, floors["atol"])}
    for name, given, values in (("rtol", rtol, relative), ("atol", atol, absolute)):
        if given is not None and np.any(values < floors[name]):
            separately = "; where components differ in scale, give one number for each" if name == "atol" else ""
            warnings.warn(
                f"{name}: {float(np.min(values)):.3g} is below {floors[name]:.3g}, {whose[name]}: no step shows an "
                f"error so small, and the run would hardly end; {floors[name]:.3g} is taken{separately}",
                RuntimeWarning,
                stacklevel=level + 1,
            )
    return tuple(np.array(np.broadcast_to(x, problem.dimension)) for x in found.values())  # type: ignore[return-value]
