"""Runs in progress: the arrays of the compiled loop, advanced chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.advance import STATISTICS, advance, nothing_to_watch
from integrators.fields import Field, as_field
from integrators.layout import COUNTERS, ERROR, ROW, STEPS
from integrators.method import Method
from integrators.problem import Problem
from integrators.solution import explain
from integrators.status import Status
from liegroup.compile import WIDTH, lane_array

Array = NDArray[np.float64]
_NOTHING = as_field(nothing_to_watch)


@dataclass(frozen=True)
class Plan:
    """Fixed steps: from t0, `steps` of size h, saving every `save_every`-th and the last."""

    t0: float
    h: float
    steps: int
    save_every: int

    @property
    def rows(self) -> int:
        """Saved states, the start included."""
        return 1 + -(-self.steps // self.save_every)

    def times(self) -> Array:
        """Times of the saved states."""
        return self.t0 + self.h * np.minimum(np.arange(self.rows) * self.save_every, self.steps)

    def stretches(self) -> NDArray[np.int64]:
        """Steps since the previous saved state."""
        return np.diff(np.minimum(np.arange(self.rows) * self.save_every, self.steps), prepend=-1)


@dataclass(frozen=True)
class Trajectory:
    """One trajectory as far as it came: saved rows (leading axis), the last good state, and how it ended."""

    y: Array
    invariants: Array
    statistics: Array
    last: Array
    last_values: Array
    steps: int
    status: Status
    message: str


class FixedRun:
    """Fixed steps of one trajectory, y0 of shape (n,), or of eight in lanes, y0 of shape (8, n)."""

    def __init__(self, problem: Problem, method: Method, plan: Plan, y0: Array) -> None:
        self.problem, self.method, self.plan = problem, method, plan
        self.lanes = y0.ndim == 2
        self._zeros: Any = lane_array if self.lanes else lambda *shape: np.zeros(shape)
        self._allocate()
        self.y[...] = y0.T
        self.alive = [True] * (WIDTH if self.lanes else 1)
        self.ends = [(Status.OK, "")] * len(self.alive)
        self.came = [0] * len(self.alive)
        self._invariants: Field = problem.invariants or _NOTHING
        self._projection: Field = problem.projection or _NOTHING
        self._call = self._functions()
        self._save_start()

    def _allocate(self) -> None:
        problem, rows, m = self.problem, self.plan.rows, self.problem.invariant_count
        zeros = self._zeros
        try:
            self.saved, self.saved_values, self.statistics = zeros(rows, problem.n), zeros(rows, m), zeros(rows, STATISTICS * m)
        except MemoryError as error:
            raise ValueError(f"save_every: {rows} states of {problem.n} numbers do not fit into memory; save fewer") from error
        self.y, self.low, self.previous = zeros(problem.n), zeros(problem.n), zeros(problem.n)
        self.field_work = zeros(*problem.work_shape)
        self.work = zeros(*self.method.work_shape(problem))
        self.values = zeros(m)
        self.projected = zeros(problem.n if problem.projection is not None else 0)
        self.counters = np.zeros(COUNTERS, dtype=np.int64)
        self.coefficients, self.options = self.method.kernel_coefficients(problem), self.method.kernel_options(problem)

    def _functions(self) -> tuple[Any, Any, Any, Any, Any]:
        """The loop, the stepper, the field and the invariants: compiled where the problem is, else their sources."""
        field, invariants, step, projection = self.problem.field, self._invariants, self.method.stepper.step, self._projection
        if not self.problem.is_compiled:
            return advance.python, step.python, field.python, invariants.python, projection.python
        if self.lanes:
            return advance.compiled_lanes, step.compiled_lanes, field.compiled_lanes, invariants.compiled_lanes, projection.compiled_lanes
        return advance.compiled, step.compiled, field.compiled, invariants.compiled, projection.compiled

    def _save_start(self) -> None:
        problem = self.problem
        if problem.invariant_count:
            with np.errstate(all="ignore"):
                self._call[3](self.plan.t0, self.y, problem.parameters, problem.structure, self.field_work, self.values)
        self.saved[0], self.saved_values[0] = self.y, self.values
        m = problem.invariant_count
        self.statistics[0, : 3 * m] = np.concatenate([self.values] * 3)
        self.counters[ROW] = 1

    # --- going on -------------------------------------------------------------------------------------------------

    @property
    def steps_done(self) -> int:
        return int(self.counters[STEPS])

    @property
    def done(self) -> bool:
        return self.steps_done >= self.plan.steps or not any(self.alive)

    def go(self, count: int) -> None:
        """Up to `count` further steps."""
        start = self._snapshot() if self.lanes else None
        with np.errstate(all="ignore"):
            status = Status(self._advance(count))
        if status is Status.OK:
            return
        if start is None:
            self._end(0, status, self)
        else:
            self._repeat_one_by_one(count, start)

    def _advance(self, count: int) -> int:
        loop, step, field, invariants, projection = self._call
        plan, problem = self.plan, self.problem
        return int(
            loop(
                step, field, invariants, projection, plan.t0, plan.h, count, plan.steps, plan.save_every, self.y, self.low, self.previous,
                problem.table, self.coefficients, self.options, problem.parameters, problem.structure, self.field_work,
                self.work, self.counters, self.values, self.projected, self.saved, self.saved_values, self.statistics,
            )
        )  # fmt: skip

    def _end(self, lane: int, status: Status, run: FixedRun) -> None:
        self.alive[lane] = False
        self.came[lane] = run.steps_done
        detail = diagnose(run, status)
        self.ends[lane] = status, explain(status, self.plan.t0 + run.steps_done * self.plan.h, run.steps_done, detail)

    def interrupt(self) -> None:
        """Mark what is still running as interrupted."""
        for lane, alive in enumerate(self.alive):
            if alive:
                self._end(lane, Status.INTERRUPTED, self)

    # --- a lane has failed ----------------------------------------------------------------------------------------

    _STATE = ("y", "low", "previous", "work", "values", "counters")

    def _snapshot(self) -> dict[str, Any]:
        row = int(self.counters[ROW])
        return {name: getattr(self, name).copy() for name in self._STATE} | {"stretch": self.statistics[row : row + 1].copy()}

    def _repeat_one_by_one(self, count: int, start: dict[str, Any]) -> None:
        """Repeat a chunk in which a lane failed, trajectory by trajectory (the same numbers, bit by bit); drop the failed ones."""
        counters = self.counters.copy()
        for lane in range(WIDTH):
            if self.alive[lane]:
                one = self._repeat(lane, count, start)
                counters = one if self.alive[lane] else counters
        survivors = [lane for lane in range(WIDTH) if self.alive[lane]]
        if survivors:
            for lane in set(range(WIDTH)) - set(survivors):
                for name in self._STATE[:-1]:
                    getattr(self, name)[..., lane] = getattr(self, name)[..., survivors[0]]
        self.counters[:] = counters

    def _repeat(self, lane: int, count: int, start: dict[str, Any]) -> NDArray[np.int64]:
        one = FixedRun(self.problem, self.method, self.plan, np.ascontiguousarray(start["y"][:, lane]))
        for name in self._STATE[:-1]:
            getattr(one, name)[...] = start[name][..., lane]
        one.counters[:] = start["counters"]
        row = int(one.counters[ROW])
        one.statistics[row : row + 1] = start["stretch"][..., lane]
        one.go(count)
        for name in self._STATE[:-1]:
            getattr(self, name)[..., lane] = getattr(one, name)
        for name in ("saved", "saved_values", "statistics"):
            getattr(self, name)[row:, ..., lane] = getattr(one, name)[row:]
        if not one.alive[0]:
            self.alive[lane], self.came[lane], self.ends[lane] = False, one.steps_done, one.ends[0]
        return one.counters

    # --- results --------------------------------------------------------------------------------------------------

    def trajectories(self) -> list[Trajectory]:
        """What every trajectory has computed."""
        return [self._trajectory(lane) for lane in range(len(self.alive))]

    def _trajectory(self, lane: int) -> Trajectory:
        steps = self.steps_done if self.alive[lane] else self.came[lane]
        rows = self.plan.rows if steps == self.plan.steps else 1 + steps // self.plan.save_every
        pick = (Ellipsis, lane) if self.lanes else Ellipsis
        status, message = self.ends[lane] if not self.alive[lane] else (Status.OK, explain(Status.OK, 0.0, 0))
        return Trajectory(
            y=np.array(self.saved[pick][:rows]),
            invariants=np.array(self.saved_values[pick][:rows]),
            statistics=np.array(self.statistics[pick][: rows + 1]),
            last=np.array(self.y[pick]),
            last_values=np.array(self.values[pick]),
            steps=steps,
            status=status,
            message=message,
        )


def diagnose(run: FixedRun, status: Status) -> str:
    """What can be said about the step that failed, by taking it once more with the interpreted source."""
    if status is Status.NOT_CONVERGED:
        return f"residual {run.work[ERROR, 0]:.2g}"
    return _first_non_finite(run) if status is Status.NON_FINITE else ""


def _first_non_finite(run: FixedRun) -> str:
    problem, method = run.problem, run.method
    calls = 0
    found = ""

    def probe(t: float, y: Array, parameters: Array, structure: Any, work: Array, out: Array) -> None:
        nonlocal calls, found
        calls += 1
        problem.field.python(t, y, parameters, structure, work, out)
        if not found and not np.isfinite(out).all():
            found = f"the field at t = {t:.9g} (evaluation {calls} of the step) gives {out.tolist()} at y = {y.tolist()}"

    with np.errstate(all="ignore"):
        method.stepper.step.python(
            probe, run.plan.t0 + run.steps_done * run.plan.h, run.plan.h, run.y.copy(), run.low.copy(), problem.table,
            run.coefficients, run.options, problem.parameters, problem.structure, run.field_work.copy(), run.work.copy(),
            run.counters.copy(),
        )  # fmt: skip
    return found
