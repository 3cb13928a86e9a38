"""Eight problems that differ in their numbers, in lanes: variants of a model, from starts of their own.

The steppers and the loop are those of any lanes.  The field finds the parameters of its lanes in the last rows of its
workspace, and each lane has the bits that its problem has alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, LaneRun
from integrators.engine.run import Output, Plan, Trajectory
from integrators.engine.winding import circles
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import Field
from integrators.signatures import FIELD_LANES
from liegroup.compile import WIDTH, Pointer, lane_array

Array = NDArray[np.float64]


def likeness(problem: Problem, method: Method, t: float) -> Any:
    """What problems have in common that can go in lanes together; None for one that cannot.

    Steps that a problem brings itself read its parameters past the field; stages in lanes leave none free.
    """
    stepper = method.stepper
    if (
        not problem.is_compiled
        or problem.inputs.signal is not None
        or np.ndim(problem.y0) != 1
        or not len(problem.parameters)  # type: ignore[arg-type]
        or stepper.own
        or stepper.stages_in_lanes
        or not method.step(problem).takes_lanes
        or problem.jacobian is not None
    ):
        return None
    numbers = (problem.table, problem.structure, circles(problem, t), *_of_method(problem, method))
    return (
        tuple(np.asarray(x).tobytes() for x in numbers),
        tuple(id(field.source) for field in _fields(problem, method)),
        tuple((guard.name, guard.stops) for guard in problem.guards),
        (problem.work_shape, len(problem.parameters), problem.invariant_names, problem.is_autonomous),  # type: ignore[arg-type]
    )


def varies(problem: Problem, method: Method) -> bool:
    """Whether the functions of a problem take parameters in lanes; compiles them."""
    return all(field.compiled_varied is not None for field in _fields(problem, method))


def _fields(problem: Problem, method: Method) -> list[Field]:
    return [f for f in (method.function(problem), problem.invariants, problem.projection) if f is not None]


def _of_method(problem: Problem, method: Method) -> tuple[Any, ...]:
    return *method.kernel_numbers(problem), method.work_shape(problem)


class VariedRun(LaneRun):
    """Fixed steps of up to eight problems that are alike (`likeness`)."""

    def __init__(self, problems: Sequence[Problem], method: Method, output: Output, plan: Plan) -> None:
        self.problems = [*problems, *[problems[-1]] * (WIDTH - len(problems))]
        super().__init__(problems[0], method, output, plan, np.array([problem.y0 for problem in self.problems]))

    def problem_of(self, lane: int) -> Problem:
        return self.problems[lane]

    def _allocate(self, rows: int) -> None:
        super()._allocate(rows)
        lines, columns = self.field_work.shape[:2]
        tables = [np.asarray(problem.parameters) for problem in self.problems]
        self.field_work = self.step_work = lane_array(lines - (-len(tables[0]) // columns), columns)
        self.field_work[lines:].reshape(-1, WIDTH)[: len(tables[0])] = np.stack(tables, axis=-1)

    def field_form(self, field: Field | None, slot: int) -> Any:
        return super().field_form(field, slot) if field is None else Pointer(field.compiled_varied, FIELD_LANES)

    def straight_code(self) -> None:
        """None: straight-line code reads parameters that all lanes have in common."""

    def _guard(self, problem: Problem, lane: Any) -> None:
        for number, own in enumerate(self.problems):
            super()._guard(own, number)

    def alone(self, lane: int) -> FixedRun:
        """The trajectory of a lane as that of a run of its own, which has ended."""
        found = self.trajectories()[lane]
        return _Ended(self.problems[lane], self.method, self.output, self.plan, found)


class _Ended(FixedRun):
    """A run of which one trajectory is known."""

    def __init__(self, problem: Problem, method: Method, output: Output, plan: Plan, found: Trajectory) -> None:
        super().__init__(problem, method, output, plan, np.asarray(problem.y0))
        self.found = found
        self.counters[:] = found.counters

    def trajectories(self) -> list[Trajectory]:
        return [self.found]
