"""Runs with fixed steps: one trajectory, or eight in lanes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine import run as run_
from integrators.engine.fixed_loop import fixed_loop, stages_loop
from integrators.engine.gathering import Gathered
from integrators.engine.records import BY_STAGES, Stepping
from integrators.engine.run import GUARDED, Output, Plan, Run, Trajectory
from integrators.layout import DIVIDED, FIRST_KNOWN, HISTORY, LAST_KNOWN, ROW, SUBSTEPS
from integrators.method import Method
from integrators.method.stages import aligned, stages_form, stages_workspaces, takes_stages
from integrators.problem import Problem
from integrators.problem.batches import takes_batches
from integrators.problem.jitted import take_raised
from integrators.results.solution import explain
from integrators.signatures import FIELD_LANES, STEP_LANES, STEP_OF_STAGES
from integrators.statistics.statistic import Samples
from integrators.status import ANOTHER_WAY, OK, Status
from integrators.straight import straight_step
from liegroup.compile import WIDTH, Entry, Packed, Pointer, lane_array

Array = NDArray[np.float64]
LONG, LONGER = 200_000, 10_000_000
"""Steps of a run from which on straight-line code for them (`integrators.straight`) is looked for in the cache, and is
compiled: writing it takes as long as some 1e5 steps, compiling as a few 1e6.
"""
OF_DIVISIONS = [DIVIDED, SUBSTEPS]
"""Counters that lanes do not share."""
OF_THE_PAST, FEW = [HISTORY, FIRST_KNOWN, LAST_KNOWN], 4
"""Counters of what a step knows of those before it, and the steps that lanes take one by one where these differ."""
DETOUR = 64
"""Steps that the stepper takes itself where one goes another way than the straight-line code."""


class FixedRun(Run):
    """Fixed steps of one trajectory, y0 of shape (n,)."""

    def __init__(self, problem: Problem, method: Method, output: Output, plan: Plan, y0: Array) -> None:
        self.plan, self.forward = plan, 1.0 if plan.h >= 0.0 else -1.0
        rows = len(output.times) or 1 + -(-plan.steps // output.save_every)
        super().__init__(problem, method, output, plan.t0, y0, rows)
        self.loop = self.loop_form(fixed_loop)
        if output.statistics:
            samples = Samples(plan.t0, plan.h * output.save_every, 1 + plan.steps // output.save_every)
            self.gathered = self.sink = Gathered(problem, output.statistics, samples, len(output.own_events))
            self.gathered.begin(1 if self.y.ndim == 1 else WIDTH)

    @property
    def t(self) -> float:
        return self.plan.time(self.steps_done) if self.stopped_at is None else self.stopped_at

    @property
    def done(self) -> bool:
        return self.status is not Status.OK or self.steps_done >= self.plan.steps

    @property
    def limit(self) -> float:
        return self.plan.limit

    @property
    def progress(self) -> float:
        return self.steps_done / max(1, self.plan.steps)

    def step_in_progress(self) -> tuple[float, float]:
        return self.plan.t0 + self.steps_done * self.plan.h, self.plan.h

    def call_loop(self, count: int) -> int:
        if self.summary is not None:  # one row less than there is room for, that of the end
            every = self.output.save_every
            count = min(count, (len(self.saved_t) - 1 - int(self.counters[ROW])) * every - self.steps_done % every)
        end = self.steps_done + count
        is_single = count == 1  # its stages may be wanted
        status = self._go_to(end, self.records if is_single or self.straight is None else self.straight)
        while status == ANOTHER_WAY:
            status = self._go_to(min(end, self.steps_done + DETOUR), self.records)
            if status == OK:
                status = self._go_to(end, self.straight)
        return status

    def _go_to(self, end: int, records: Any) -> int:
        count = end - self.steps_done
        return int(self.loop(*records, self.plan.t0, self.plan.h, self.plan.limit, count, self.plan.steps))

    @cached_property
    def straight(self) -> tuple[Any, ...] | None:
        """The records with the step as straight-line code; None where there is none, or it does not pay."""
        step = self.straight_code()
        if step is None:
            return None
        equations, stepping, *others = self.records
        stepping = self.filled(Stepping)._replace(step=Pointer(self.compiled(step), self.STEP))
        return equations, Packed(stepping), *others

    def straight_code(self) -> Entry | None:
        """The step as straight-line code, where the run is long enough for it and looks at nothing within steps."""
        if self.plan.steps < LONG or self.interpreted or self._looks_within_steps or self.problem.tells:
            return None
        found = straight_step(self.problem, self.method, self.plan.h, self.plan.t0)
        if found is None or not (self.plan.steps >= LONGER or found.step.has(self.y.ndim > 1)):
            return None
        return found.step


class StagesRun(FixedRun):
    """Fixed steps of one trajectory by a method that evaluates its stages in lanes.

    The workspaces are those of `integrators.method.stages`.
    """

    EVALUATING, STATES = BY_STAGES, WIDTH

    def _allocate(self, rows: int) -> None:
        super()._allocate(rows)
        self.work, self.step_work = self.workspaces()
        self.dense_work = aligned(*self.work.shape)

    def workspaces(self) -> tuple[Array, Array]:
        return stages_workspaces(self.problem, self.method)

    def stepper_form(self, stepper: Entry) -> Any:
        return Pointer(stepper.compiled_lanes, STEP_OF_STAGES)

    def evaluated_form(self) -> Any:
        return Pointer(self._stages_of_field(), FIELD_LANES)

    def _stages_of_field(self) -> Any:
        field = self.evaluated
        if self.called_back is not None and not field.is_kernel:
            return self.called_back.compiled_at_once(field, takes_batches(self.problem, self.t0))
        return stages_form(self.problem, field)

    def loop_form(self, loop: Entry) -> Any:
        return super().loop_form(stages_loop)


def single_run(problem: Problem, method: Method, output: Output, plan: Plan, y0: Array) -> FixedRun:
    """Fixed steps of one trajectory, with its stages in lanes if the method evaluates them so and the field can be."""
    kind = StagesRun if method.stepper.stages_in_lanes and _has_stages(problem, output) else FixedRun
    return kind(problem, method, output, plan, y0)


def _has_stages(problem: Problem, output: Output) -> bool:
    """Whether the field can be evaluated at eight stages in one call."""
    is_compiled = problem.is_compiled and (output.events is None or output.events.field.is_compiled)
    if not (is_compiled or run_.CALL_BACK):
        return False
    return not problem.field.is_compiled or takes_stages(problem, problem.field)


class LaneRun(FixedRun):
    """Fixed steps of eight trajectories in lanes, y0 of shape (8, n).

    If a step fails in one of them, the chunk is repeated one by one: the same numbers, bit by bit; and they go on so
    until all know as much of the steps before, which one that was divided has forgotten.  The lane of a trajectory that
    has ended goes on with a copy of another.
    """

    STEP, FIELD = STEP_LANES, FIELD_LANES
    KEPT = ("divided", "past", *FixedRun.KEPT)

    def __init__(self, problem: Problem, method: Method, output: Output, plan: Plan, y0: Array) -> None:
        self.alive = [True] * WIDTH
        self.divided = np.zeros((len(OF_DIVISIONS), WIDTH), dtype=np.int64)
        """The counters `OF_DIVISIONS` of every lane: steps that one of them has to divide are taken one by one."""
        self.past = np.zeros((len(OF_THE_PAST), WIDTH), dtype=np.int64)
        """The counters `OF_THE_PAST` of every lane."""
        self.ended: dict[int, Trajectory] = {}
        self.came: dict[int, int] = {}
        """Of trajectories that have ended and whose rows have been handed over: how many they were."""
        super().__init__(problem, method, output, plan, y0)

    def zeros(self, *shape: int) -> Array:
        return lane_array(*shape)

    def compiled(self, function: Any) -> Any:
        return function.compiled_lanes

    @property
    def done(self) -> bool:
        return super().done or not any(self.alive)

    def go(self, count: int) -> None:
        if self.sink is not None:
            self.sink.make_room(self)
        while not self.done and count > 0:
            if self._are_apart:
                few = min(count, FEW)
                self._separately(few, self._kept())
            else:
                few = count
                self._go_together(few)
            count -= few

    @property
    def _are_apart(self) -> bool:
        """Whether lanes know more of their past than others."""
        known = self.past[:, self.alive]
        return bool((known != known[:, :1]).any())

    def _kept(self) -> dict[str, Any]:
        """What a chunk of steps begins with."""
        row = int(self.counters[ROW])
        names = [name for name in FixedRun.KEPT if name != "dense_work"]
        return {name: getattr(self, name).copy() for name in names} | {
            "stretch_now": self.statistics[row : row + 1].copy()
        }

    def _go_together(self, count: int) -> None:
        start = self._kept()
        status, raised = self.call_loop(count), take_raised()
        if status != Status.OK or raised is not None:
            self._separately(count, start)
        else:
            self.past[...] = self.counters[OF_THE_PAST, None]

    def _separately(self, count: int, start: dict[str, Any]) -> None:
        for lane in range(WIDTH):
            if self.alive[lane]:
                one = self._single(lane, start)
                one.go(count)
                self.divided[:, lane] += (one.counters - start["counters"])[OF_DIVISIONS]
                self._take(lane, one, int(start["counters"][ROW]))
        survivors = [lane for lane in range(WIDTH) if self.alive[lane]]
        for lane in set(range(WIDTH)) - set(survivors):
            for name in FixedRun.KEPT[:-2]:
                if survivors:
                    getattr(self, name)[..., lane] = getattr(self, name)[..., survivors[0]]

    @cached_property
    def one_by_one(self) -> FixedRun:
        plan = self.plan
        return FixedRun(self.problem, self.method, Output(save_every=plan.steps), plan, np.atleast_2d(self.y.T)[0])

    def problem_of(self, lane: int) -> Problem:
        """What is integrated in a lane."""
        return self.problem

    def _single(self, lane: int, start: dict[str, Any]) -> FixedRun:
        """The trajectory of a lane as a run of its own."""
        one = FixedRun(
            self.problem_of(lane), self.method, self.output, self.plan, np.ascontiguousarray(start["y"][:, lane])
        )
        for name in start:
            if name in ("counters", "dense_counters"):
                getattr(one, name)[...] = start[name]
            elif name != "stretch_now":
                getattr(one, name)[...] = start[name][..., lane]
        one.counters[OF_THE_PAST] = self.past[:, lane]
        row = int(one.counters[ROW])
        one.statistics[row : row + 1] = start["stretch_now"][..., lane]
        one.saved_t[:row], one.stretch[:row] = self.saved_t[:row], self.stretch[:row]
        for name in ("saved", "saved_values"):
            getattr(one, name)[:row] = getattr(self, name)[:row, ..., lane]
        one.statistics[:row] = self.statistics[:row, ..., lane]
        return one

    def _take(self, lane: int, one: FixedRun, row: int) -> None:
        for name in ("y", "low", "turns", "previous", "work", "values", *GUARDED):
            getattr(self, name)[..., lane] = getattr(one, name)
        for name in ("saved", "saved_values", "statistics"):
            getattr(self, name)[row:, ..., lane] = getattr(one, name)[row:]
        if one.status is not Status.OK:
            self.alive[lane] = False
            self.ended[lane] = self._counted(lane, one.trajectories()[0])
        else:
            self.counters[:], self.dense_counters[:] = one.counters, one.dense_counters
            self.past[:, lane] = one.counters[OF_THE_PAST]
            self.saved_t[row:], self.stretch[row:] = one.saved_t[row:], one.stretch[row:]

    def end(self, status: Status, detail: str = "") -> None:
        for lane in range(WIDTH):
            if self.alive[lane]:
                self.alive[lane] = False
                ended = self.trajectory((..., lane), status, explain(status, self.t, self.steps_done, detail))
                self.ended[lane] = self._counted(lane, ended)

    def trajectories(self) -> list[Trajectory]:
        reached, last = explain(Status.OK, self.t, self.steps_done), self.shown()
        return [
            self.ended.get(lane) or self._counted(lane, self.trajectory((..., lane), Status.OK, reached, last))
            for lane in range(WIDTH)
        ]

    def _counted(self, lane: int, found: Trajectory) -> Trajectory:
        """With the divisions of the lane itself."""
        counters = found.counters.copy()
        counters[OF_DIVISIONS] = self.divided[:, lane]
        return replace(found, counters=counters)

    def rows_of(self, lane: int) -> int:
        if lane in self.came:
            return 0
        return len(self.ended[lane].t) if lane in self.ended else super().rows_of(lane)

    def hand_over(self, rows: int) -> None:
        super().hand_over(rows)
        if self.summary is not None:
            for lane, ended in self.ended.items():
                self.came.setdefault(lane, self.handed - rows + len(ended.t))
                self.ended[lane] = _without_rows(ended)

    def condense(self) -> None:
        super().condense()
        if self.summary is not None:
            for lane, ended in self.ended.items():
                came = self.came.get(lane, self.handed)  # the last rows are lost where they could not be handed over
                rows = min(-(-came // self.summary.stride), len(self.saved_t))
                self.ended[lane] = self._first_rows(lane, rows, ended)

    def _first_rows(self, lane: int, rows: int, ended: Trajectory) -> Trajectory:
        """A trajectory that has ended with the rows of the summary up to its end."""
        statistics = np.concatenate([self.statistics[:rows, :, lane], ended.statistics[-1:]])
        tables = {name: getattr(self, name)[:rows, :, lane] for name in ("saved", "saved_values")}
        return replace(
            ended, t=self.saved_t[:rows], y=tables["saved"], invariants=tables["saved_values"],
            statistics=statistics, stretch=np.append(self.stretch[:rows], ended.stretch[-1]),
        )  # fmt: skip

    def state(self) -> dict[str, Any]:
        kept = super().state() | {"alive": np.array(self.alive)}
        kept["came"] = np.array([self.came.get(lane, -1) for lane in range(WIDTH)])
        for lane, trajectory in self.ended.items():
            kept |= {f"ended{lane}_{name}": value for name, value in packed(trajectory).items()}
        return kept

    def restore(self, kept: dict[str, Any]) -> None:
        super().restore({"past": kept["counters"][OF_THE_PAST, None]} | kept)  # checkpoints before it had one of all
        self.alive = [bool(x) for x in kept["alive"]]
        self.came = {lane: int(rows) for lane, rows in enumerate(kept["came"]) if rows >= 0}
        for lane in range(WIDTH):
            if f"ended{lane}_t" in kept:
                self.ended[lane] = unpacked({name: kept[f"ended{lane}_{name}"] for name in _PACKED})


def _without_rows(ended: Trajectory) -> Trajectory:
    tables = {name: getattr(ended, name)[:0] for name in ("t", "y", "invariants")}
    return replace(ended, **tables, statistics=ended.statistics[-1:], stretch=ended.stretch[-1:])


_PACKED = ("t", "y", "invariants", "statistics", "stretch", "last", "counters", "guarded", "last_t", "ends")


def packed(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory that has ended, as arrays."""
    arrays = {name: getattr(trajectory, name) for name in _PACKED[:-2]}
    return arrays | {
        "last_t": np.array([trajectory.last_t]),
        "ends": np.array([f"{trajectory.status.name}: {trajectory.message}"]),
    }


def unpacked(arrays: dict[str, Any]) -> Trajectory:
    """The trajectory from its arrays."""
    status, message = str(arrays["ends"][0]).split(": ", 1)
    fields = {name: arrays[name] for name in _PACKED[:-2]}
    return Trajectory(**fields, last_t=float(arrays["last_t"][0]), status=Status[status], message=message, events=[])
