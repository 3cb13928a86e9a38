"""Ensembles with variable steps: runs taken together in lanes, each with its own steps.

A run keeps all that is its own, so that it may be taken in lanes or alone, from one chunk to the next: the bits are
those of the run alone.  The lanes are room for a chunk, and belong to no run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.controllers import Controller
from integrators.controllers.clock import CLOCK, T
from integrators.engine.adaptive_run import AdaptiveRun, Steering
from integrators.engine.paced_loop import ROWS, paced_loop
from integrators.engine.records import Equations, Paces, State, SteppingPaced
from integrators.engine.run import Output, Run
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import NOTHING, Field, reads_time
from integrators.problem.jitted import take_raised
from integrators.signatures import FIELD_LANES, STEP_PACED
from integrators.status import ANOTHER_WAY, Status
from liegroup.compile import WIDTH, Entry, Packed, Pointer, lane_array

Array = NDArray[np.float64]
HANDFUL = 8 * WIDTH
"""Runs that are taken together, at most: those that have no lane wait for one."""
FEWEST = WIDTH // 2
"""Trajectories that are taken together, at least: a step in lanes takes as long as two or three alone."""
DETOUR = 64
"""Steps that runs take one by one where one of them fails so that the others cannot go on beside it."""


def goes_in_lanes(problem: Problem, method: Method, output: Output, way: Any) -> bool:
    """Whether the runs of an ensemble can be taken together with steps of their own.

    Needed are `FEWEST` trajectories, `WIDTH` where functions of users are called lane by lane, a method with a step in
    lanes (`Stepper.paced`) under a controller of error estimates, and compiled functions without inputs of signals;
    events are located one by one.
    """
    functions = _functions(problem, method)
    return (
        len(np.atleast_2d(problem.y0)) >= (FEWEST if all(f.is_kernel for f, _ in functions) else WIDTH)
        and isinstance(way, Steering)
        and type(way.controller) is Controller
        and method.stepper.paced is not None
        and problem.is_compiled
        and problem.inputs.signal is None
        and output.events is None
    )


def has_lanes(problem: Problem, method: Method) -> bool:
    """Whether the functions have a form in lanes, also of the time if they read it; they are compiled for this."""
    try:
        return all(_form(f, is_read) is not None for f, is_read in _functions(problem, method))
    except TypeError:  # the compiler refuses a function that it takes for one trajectory
        return False


def _functions(problem: Problem, method: Method) -> list[tuple[Field, bool]]:
    """What a step calls, and whether it reads the time."""
    others = [f for f in (problem.invariants, problem.projection) if f is not None]
    return [(method.function(problem), not problem.is_autonomous), *((f, reads_time(f)) for f in others)]


def _form(field: Field, reads: bool) -> Any:
    return field.compiled_timed if reads else field.compiled_lanes


class PacedLanes(Run):
    """Room for eight runs like a given one, and what is called for all of them at once.

    The workspace of the field has a row more, for the times of the lanes.
    """

    FIELD = FIELD_LANES

    def __init__(self, run: AdaptiveRun) -> None:
        start = np.repeat(np.atleast_2d(run.problem.y0)[:1], WIDTH, axis=0)  # not the run's: others may step it
        super().__init__(run.problem, run.method, Output(), run.t0, start, 1)
        self.most, self.snapshots, self.latest = run.steering.most, not _are_kernels(run), run.limit
        self.rows, self.clocks, self.ahead = lane_array(ROWS), lane_array(CLOCK), lane_array(CLOCK)
        self.clocks[T] = run.span[0]
        self.previous_low = lane_array(len(run.y))
        self.before, self.before_low, self.before_turns = (lane_array(len(x)) for x in (run.y, run.y, self.turns))
        self.places = np.zeros(WIDTH, dtype=np.int64)
        self.loop = self.loop_form(paced_loop)

    @property
    def limit(self) -> float:
        return self.latest

    def zeros(self, *shape: int) -> Array:
        return lane_array(*shape)

    def compiled(self, function: Any) -> Any:
        return function.compiled_lanes

    def _allocate(self, rows: int) -> None:
        super()._allocate(rows)
        lines, columns = self.field_work.shape[:2]
        self.field_work = self.step_work = lane_array(lines + 1, columns)

    def field_form(self, field: Field | None, slot: int) -> Any:
        if field is None:
            return Pointer(NOTHING.compiled_lanes, self.FIELD)
        reads = reads_time(field) if field is not self.evaluated else not self.problem.is_autonomous
        return Pointer(_form(field, reads), self.FIELD)

    def stepper_form(self, stepper: Entry) -> Any:
        return Pointer(self.method.stepper.paced.compiled, STEP_PACED)  # type: ignore[union-attr]

    def _start(self) -> None:
        """Nothing: every run has watched its own."""

    def go(self, count: int, runs: Sequence[AdaptiveRun] = ()) -> None:
        """Up to `count` further steps of every run, or of those that come into a lane before that."""
        for run in runs:
            if run.sink is not None:
                run.sink.make_room(run)
        going = [run for run in runs if not run.done]
        if len(going) < FEWEST:  # the last ones
            for run in going:
                run.go(count)
            return
        before = [run.kept_now() for run in going] if self.snapshots else []
        verdicts, status = self._called(going, count)
        if self.snapshots and take_raised() is not None:
            for run, kept in zip(going, before, strict=True):
                run.put_back(kept)
            _one_by_one(going, count)
            return
        self._raise_pending()
        for run, verdict in zip(going, verdicts.tolist(), strict=True):
            run.take(Status(verdict))
        if status == ANOTHER_WAY:
            _one_by_one(going, DETOUR)

    def _called(self, runs: Sequence[AdaptiveRun], count: int) -> tuple[NDArray[np.int64], int]:
        """How every run fared, and the status of the loop."""
        self.addresses = np.array([[record.address for record in run.records] for run in runs], dtype=np.int64)
        self.verdicts = np.zeros(len(runs), dtype=np.int64)
        records = [Packed(self.filled(kind)) for kind in (Equations, SteppingPaced, State, Paces)]
        with np.errstate(all="ignore"):
            status = int(self.loop(*records, count, self.most))
        return self.verdicts, status


def _one_by_one(runs: Sequence[Run], count: int) -> None:
    for run in runs:
        run.go(count)


def _are_kernels(run: AdaptiveRun) -> bool:
    """Whether nothing that users have jitted is called, which may raise an exception."""
    return all(field.is_kernel for field, _ in _functions(run.problem, run.method))
