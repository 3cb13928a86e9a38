"""Runs in progress: the arrays of the compiled loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from integrators.engine.diagnosis import diagnose
from integrators.engine.ends import reaches
from integrators.engine.memory import free_memory
from integrators.engine.observe import (
    GREATEST,
    LEAST,
    PIECES,
    STATISTICS,
    begin_part,
    begin_within,
    call_projection,
    crosses,
    end_part,
    guarded,
    include,
    save,
    save_reached,
    save_within,
    watch,
)
from integrators.engine.records import Crossings, Equations, Guarding, Saving, State, Stepping, Within
from integrators.engine.summary import Summary
from integrators.engine.winding import circles, unwind, wind
from integrators.events import Events, dips, steepness, zeros
from integrators.layout import (
    COUNTERS,
    EVALUATIONS,
    ITERATIONS,
    PENDING,
    PROJECTED,
    ROW,
    STEPS,
    STRETCH,
    TAU,
)
from integrators.method import Method, Report
from integrators.problem import Problem
from integrators.problem.fields import NOTHING, Field
from integrators.problem.jitted import raise_raised
from integrators.problem.python_field import EVALUATED, EVENTS, INVARIANTS, PROJECTION, RATES, CalledBack
from integrators.results.solution import explain
from integrators.signatures import FIELD, STEP
from integrators.statistics.statistic import Statistic
from integrators.status import Status
from liegroup.compile import Entry, Packed, Pointer, bind_needed, bind_these
from liegroup.table import bind

Array = NDArray[np.float64]
CALL_BACK = True
"""Compiled loops call plain Python functions back; False: the interpreted source of the engine runs them, to the same
numbers.
"""


_KEPT = 100_000
"""Numbers of workspaces that are kept and cleared, where others are made anew."""
GUARDED = ("lower", "upper", "first_time", "furthest", "excess")
"""The arrays of `integrators.engine.records.Guarding` that belong to a trajectory."""


class NotANumberError(ValueError):
    """A function that must give numbers gives NaN."""


NEVER = 2**62
"""Steps between saved states where the last is asked for alone: more than anybody takes."""


class WithinStepError(ArithmeticError):
    """There is no state within a step; why says its status."""

    def __init__(self, t: float, status: Status) -> None:
        super().__init__(f"a state within the step from t = {t:.9g}: {status.name}")
        self.status = status


@dataclass(frozen=True)
class Output:
    """What a run keeps: every `save_every`-th state and the last one, or those at the given times; zeros of events."""

    save_every: int = 1
    times: Array = field(default_factory=lambda: np.zeros(0))
    events: Events | None = None
    window: int = 0
    """Rows that stay in memory where a sink takes them; 0: all."""
    statistics: tuple[Statistic, ...] = ()
    """What is gathered on the way; the events that they need are the last of `events`."""

    @property
    def own_events(self) -> tuple[str, ...]:
        """Names of the events that are not those of statistics."""
        names = () if self.events is None else self.events.names
        return names[: len(names) - sum(statistic._event is not None for statistic in self.statistics)]


class Sink(Protocol):
    """Whoever takes rows over from runs."""

    def make_room(self, run: Run) -> None:
        """Before further steps: take rows of the run if its window is half full."""


class Gathering(Protocol):
    """Whoever looks at rows before they are given up."""

    def take(self, run: Run) -> None:
        """Look at all rows of the run, and at its events."""

    def finish(self) -> None:
        """The run has ended."""

    def state(self) -> dict[str, Any]:
        """As arrays, for a checkpoint."""

    def restore(self, kept: dict[str, Any]) -> None:
        """Take over what `state` gave."""


@dataclass(frozen=True)
class Plan:
    """Fixed steps: from t0, `steps` of size h.  Nothing is asked after `limit`, and the t0 + n h that is a rounding
    away from it is `limit` itself.
    """

    t0: float
    h: float
    steps: int
    limit: float = math.inf

    @property
    def end(self) -> float:
        return self.time(self.steps)

    def time(self, step: int) -> float:
        """When so many steps are over."""
        t = self.t0 + step * self.h
        return self.limit if step and reaches(t, self.h, self.limit) else t


def check_steps(span: tuple[float, float], step: float) -> None:
    """ValueError for steps from one time to another, which may be infinite, that are more than can be counted, or of
    which some would end where they begin.
    """
    ratio = abs(span[1] - span[0]) / step
    if ratio > 2.0**62 and math.isfinite(span[1]):
        raise ValueError(f"step: {step} needs {ratio:.3g} steps for the interval {span}")
    farthest = max(filter(math.isfinite, span), key=abs)
    spacing = float(np.spacing(abs(farthest)))
    if step < spacing and ratio > 1.0:
        raise ValueError(
            f"step: {step:g} s is below the spacing of times near {farthest:g} s, {spacing:.3g} s, so that steps would "
            "end where they begin; count the time from the beginning of the run"
        )


@dataclass(frozen=True)
class Stretch:
    """What happened since the last look: times (k,) and states (…, k, n) that were saved and the newest one, and the
    extremes (…, k, m) of the invariants between each of them and the one before, over every step.  Lanes come first.
    """

    t: Array
    y: Array
    least: Array
    greatest: Array


@dataclass(frozen=True)
class Trajectory:
    """One trajectory as far as it came: a row per saved state, the last good state, its events, and how it ended."""

    t: Array
    y: Array
    invariants: Array
    statistics: Array
    stretch: NDArray[np.int64]
    last_t: float
    last: Array
    counters: NDArray[np.int64]
    status: Status
    message: str
    events: list[tuple[float, int, Array]]
    guarded: Array
    """A row for each of `GUARDED`, a column per guard."""
    narrowest: tuple[float, float, Array] | None = None
    """Of variable steps: the time after the smallest one, its size, the state there."""
    report: Report | None = None
    """What a stepper that divides its steps says of them."""


class Run:
    """One trajectory in progress; what both kinds of steps share.

    Everything a run needs to go on is in the arrays that `state` names: a checkpoint keeps these.
    """

    STEP, FIELD = STEP, FIELD
    STATES = 1
    """In one call of what the stepper evaluates."""
    EVALUATING: tuple[Any, ...] = (Equations, Stepping, Within)
    KEPT: tuple[str, ...] = (
        "y", "low", "turns", "previous", "work", "dense_work", "values", "before", "after", "rates_before",
        "rates_after", *GUARDED, "counters", "dense_counters",
    )  # fmt: skip
    forward: float
    """1.0, or −1.0 backwards in time."""
    ROWS: tuple[str, ...] = ("saved_t", "saved", "saved_values", "statistics", "stretch")

    def __init__(self, problem: Problem, method: Method, output: Output, t0: float, y0: Array, rows: int) -> None:
        self.problem, self.method, self.output, self.t0 = problem, method, output, t0
        self.status, self.message = Status.OK, ""
        self._scratch: tuple[NDArray[Any], ...] | None = None
        self.stopped_at: float | None = None
        self.events_found: list[tuple[float, int, Array]] = []
        self._allocate(min(rows, output.window) if output.window else rows)
        self.sink: Sink | None = None
        self.gathered: Gathering | None = None
        self.handed, self.handed_last = 0, (np.nan, self.y)
        self.summary = Summary({name: getattr(self, name) for name in self.ROWS}) if output.window else None
        self._functions()
        self.y[...] = y0.T
        self._start()

    # --- records --------------------------------------------------------------------------------------------------

    def filled(self, kind: Any) -> Any:
        """A record of `integrators.engine.records`, filled from the attributes of the same names."""
        return kind(*(getattr(self, name) for name in kind._fields))

    @cached_property
    def records(self) -> tuple[Any, ...]:
        """The records that every loop takes, in its order."""
        return tuple(self.given_record(kind) for kind in (*self.EVALUATING, State, Crossings, Saving, Guarding))

    def given_record(self, kind: Any) -> Any:
        """A record as the loop takes it."""
        return self.filled(kind) if self.interpreted else Packed(self.filled(kind))

    # --- arrays and functions -------------------------------------------------------------------------------------

    def zeros(self, *shape: int) -> Array:
        """Zeros for a state or workspace of this run."""
        return np.zeros(shape)

    def scratch(self) -> tuple[NDArray[Any], ...]:
        """Zeros for a step beside the run: a state, its low words, one projected, both workspaces, the counters.

        Small ones are kept for the next call; of large ones most is never touched, and new zeros take no memory.
        """
        if self._scratch is not None:
            for array in self._scratch:
                array.fill(0)
            return self._scratch
        n, zeros = self.problem.n, self.zeros
        made = zeros(n), zeros(n), zeros(n), *self.workspaces(), np.zeros(COUNTERS, dtype=np.int64)
        if sum(array.size for array in made) <= _KEPT:
            self._scratch = made
        return made

    def workspaces(self) -> tuple[Array, Array]:
        """Other workspaces for a step: of the stepper, and of the field within it."""
        return self.zeros(*self.work.shape[:2]), self.zeros(*self.step_work.shape[:2])

    def _allocate(self, rows: int) -> None:
        problem, method, zeros = self.problem, self.method, self.zeros
        n, m = problem.n, problem.invariant_count
        try:
            # one stretch more: that after the last saved state
            self.saved, self.saved_values, self.statistics = (
                zeros(rows, n),
                zeros(rows, m),
                zeros(rows + 1, STATISTICS * m),
            )
        except MemoryError as error:
            raise ValueError(f"save_every: {rows} states of {n} numbers do not fit into memory; save fewer") from error
        self.saved_t, self.stretch = np.zeros(rows), np.zeros(rows, dtype=np.int64)
        self.y, self.low, self.turns, self.previous, self.between, self.between_low = (zeros(n) for _ in range(6))
        self.field_work = zeros(*problem.work_shape_for(method.stepper.evaluates))
        self.work = zeros(*method.work_shape(problem))
        self.step_work = self.field_work
        self.dense_work = self.work if method.has_own_interpolant else zeros(*method.work_shape(problem))
        self.table, self.circles = problem.table, self._circles()
        self.save_every, self.times = self.output.save_every, self.output.times
        self.values, self.projected = zeros(m), zeros(self._projected_size())
        self.directions = np.zeros(0, dtype=np.int64) if self.output.events is None else self.output.events.directions
        count = len(self.directions)
        self.before, self.after, self.values_near, self.rates_before, self.rates_after = (
            zeros(count) for _ in range(5)
        )
        self.rates_before.fill(np.nan)
        self.rate, self.near = zeros(problem.dimension if count else 0), zeros(n if count else 0)
        names, guards = problem.invariant_names, problem.guards
        self.guarded = np.array([names.index(g.name) for g in guards], dtype=np.int64)
        self.stopping = np.array([g.stops for g in guards], dtype=np.int64)
        self.lower, self.upper, self.first_time, self.furthest, self.excess = (zeros(len(guards)) for _ in range(5))
        self.counters, self.dense_counters = np.zeros(COUNTERS, dtype=np.int64), np.zeros(COUNTERS, dtype=np.int64)
        self.dense_counters[PENDING] = not method.has_own_interpolant
        self.coefficients, self.options = method.kernel_numbers(problem, self.t0)
        self.projection_every = method.projection_every

    def _projected_size(self) -> int:
        """Room for a projected state, for the invariants where the projection tells them, and for the field where the
        method begins its steps with it.
        """
        problem, stepper = self.problem, self.method.stepper
        size = problem.n if problem.projection is not None else 0
        if problem.tells:
            size += problem.invariant_count + (problem.dimension if stepper.begins_with_field else 0)
        return size

    def _circles(self) -> NDArray[np.int64]:
        return circles(self.problem, self.t0)

    def compiled(self, function: Any) -> Any:
        """A field or an entry, compiled for the arrays of this run."""
        return function.compiled

    def loop_form(self, loop: Entry) -> Any:
        """A loop as this run calls it, with what it calls late."""
        if self.interpreted:
            return loop.python
        compiled = self.compiled(loop)
        bind_these([compiled], self._called_late())
        return compiled

    def form(self, function: Entry, type_: Any) -> Any:
        """A compiled function of a type (as in `integrators.signatures`) as the loop calls it."""
        return function.python if self.interpreted else Pointer(self.compiled(function), type_)

    def field_form(self, field: Field | None, slot: int) -> Any:
        """A field as the loop calls it; `slot`: as which of `integrators.problem.python_field` it may be called
        back.
        """
        field = field or NOTHING
        if self.interpreted:
            return field.python
        if self.called_back is not None and not field.is_kernel:  # kernels do not mind longer arrays
            return Pointer(self.called_back.compiled(field, slot), self.FIELD)
        return Pointer(self.compiled(field), self.FIELD)

    def stepper_form(self, stepper: Entry) -> Any:
        """A stepper, or what gives states within a step, as the loop calls it."""
        return self.form(stepper, self.STEP)

    def evaluated_form(self) -> Any:
        """The field as steppers call it."""
        return self.field_form(self.evaluated, EVALUATED)

    @cached_property
    def within_step(self) -> Any:
        """What gives states within a step: compiled where the loop needs it, or when it is first asked for."""
        made = self.stepper_form(self.method.interpolant(self.problem))
        self._bind(made)
        return made

    @property
    def _looks_within_steps(self) -> bool:
        """Whether the loop asks for states within a step."""
        return bool(len(self.output.times)) or self.output.events is not None or self.method.has_step_of_time

    @cached_property
    def evaluated(self) -> Field:
        """What the stepper evaluates."""
        return self.method.function(self.problem)

    def _functions(self) -> None:
        problem, events = self.problem, self.output.events
        self.parameters, self.structure = problem.own_parameters(), problem.structure
        self.called_back: CalledBack | None = None
        is_compiled = problem.is_compiled and (events is None or events.field.is_compiled)
        self.interpreted = not (is_compiled or CALL_BACK)
        if not (is_compiled or self.interpreted):
            parts = problem.parts_size if problem.parts is not None else 0
            d = problem.dimension
            values = d + d * d if problem.has_jacobian else d
            self.called_back = CalledBack(
                problem,
                max(problem.n, values + 1, problem.invariant_count, len(self.directions), parts),
                self.STATES,
            )
            self.parameters, self.structure = self.called_back.parameters, self.called_back.structure
        self.step, self.field = self.stepper_form(self.method.step(problem)), self.evaluated_form()
        self.invariants = self.field_form(problem.invariants, INVARIANTS)
        self.projection = self.field_form(problem.projection, PROJECTION)
        self.events = self.field_form(None if events is None else events.field, EVENTS)
        self.own_field = self.field_form(None if events is None else problem.field, RATES)
        self._bind(self.step, self.field, self.invariants, self.projection, self.events, self.own_field)
        self.interpolant = self.within_step if self._looks_within_steps else self.step

    def _bind(self, *called: Any) -> None:
        """Have compiled what steppers and functions of the problem call late."""
        tau = int(self.options[TAU])
        bind(called, self.problem.table, [tau])
        if self.method.stepper.late is not None:
            bind_these(called, self.method.stepper.late(self.method.options, self.problem))
        bind_needed(called, self.problem.structure, tau)

    def _call_field(self, function: Any, t: float, y: Array, out: Array) -> None:
        with np.errstate(all="ignore"):
            function(t, y, self.parameters, self.structure, self.field_work, out)
        self._raise_pending()

    def _raise_pending(self, before: int | None = None) -> None:
        """Raise what a function of the user's has raised below compiled code, or what kept such code from a formula: in
        the step in progress, or in one of those behind `before`, where compiled loops went on.
        """
        done, step = self.steps_done, f"step {self.steps_done + 1}"
        if before is not None:
            done += int(self.counters[PENDING])
            step = f"step {done}" if done <= before + 1 else f"one of the steps {before + 1} to {done}"
        where = f"in {step} of {self.method.name}"
        raise_raised(where)
        if self.called_back is not None:
            self.called_back.raise_pending(where)

    def _called_late(self) -> Iterator[Any]:
        """What the loop calls late in this run."""
        if self.problem.invariant_count:
            yield include
        if len(self.guarded):
            yield guarded
        if self.output.events is not None:
            yield crosses
        if len(self.output.times):
            yield from (save_within, save_reached)
        if self.problem.projection is not None:
            yield call_projection
        if len(self.circles):
            yield wind

    def _start(self) -> None:
        """Watch and save the start."""
        m = self.problem.invariant_count
        if m:
            self._call_field(self.invariants, self.t0, self.y, self.values)
        if len(self.directions):
            self._call_field(self.events, self.t0, self.y, self.before)
            self._refuse_nan(self.t0, self.y, self.before)
        self._guard(self.problem, ...)
        self.statistics[0, : 3 * m] = np.concatenate([self.values] * 3)
        self.counters[STRETCH] = 1
        if not len(self.output.times) or self.output.times[0] == self.t0:
            self.saved_t[0], self.saved[0], self.saved_values[0], self.stretch[0] = self.t0, self.y, self.values, 1
            self.counters[ROW], self.counters[STRETCH] = 1, 0

    def _guard(self, problem: Problem, lane: Any) -> None:
        """Note the limits of the guards of a problem, for one lane or all."""
        for k, guard in enumerate(self.method.guards(problem)):
            x = self.values[self.guarded[k]][lane]
            self.lower[k, lane], self.upper[k, lane] = guard.limits(x, self.forward > 0.0)
            self.excess[k, lane] = guard.excess_at_start(x)
            self.first_time[k, lane] = self.t0
            self.furthest[k, lane] = x

    # --- going on -------------------------------------------------------------------------------------------------

    @property
    def steps_done(self) -> int:
        return int(self.counters[STEPS])

    def given(self, y: Array, turns: Array | None = None) -> Array:
        """A state as results show it: angles with their turns (default: those of now)."""
        out, turned = y.copy(), self.turns if turns is None else turns
        if turned.any():  # else each component stays: nothing to do for each of many
            unwind(y, turned, out)
        return out

    def shown(self) -> Array:
        """The state y as results show it: projected, angles with their turns."""
        y = self.y
        if self.problem.projection is not None and self.steps_done and not self.counters[PROJECTED]:
            y = np.empty_like(y)
            self._call_field(self.projection, self.t, self.y, y)
        return self.given(y)

    @property
    def t(self) -> float:
        """Time of the state y."""
        raise NotImplementedError

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        raise NotImplementedError

    @property
    def limit(self) -> float:
        """When the run is over."""
        raise NotImplementedError

    @property
    def progress(self) -> float:
        """Part of the way that is done, 0 to 1."""
        raise NotImplementedError

    def call_loop(self, count: int) -> int:
        """Up to `count` steps by the loop; returns its status."""
        raise NotImplementedError

    def step_in_progress(self) -> tuple[float, float]:
        """Start and size of the step that an event or a failure has stopped."""
        raise NotImplementedError

    def go(self, count: int) -> None:
        """Up to `count` further steps."""
        if self.sink is not None:
            self.sink.make_room(self)
        if self.done:
            return
        for steps in (count, 1):
            before = self.steps_done
            with np.errstate(all="ignore"):
                status = Status(self.call_loop(steps))
            went_on = status in (Status.OK, Status.FULL, Status.EVENT)
            self._raise_pending(before if went_on else None)
            self.take(status)
            if self.status is not Status.OK or not self.counters[PENDING]:
                return  # else the step of an event is still to be finished: y is its end already, the time is not

    def take(self, status: Status) -> None:
        """What the loop has come back with."""
        if status is Status.EVENT:
            self._look_at_events()
        elif status is Status.FULL:
            if self.sink is None:  # which else takes the rows before further steps
                self._grow_if_there_is_room()
        elif status is not Status.OK:
            self.end(status, diagnose(self, status))

    def kept_now(self) -> dict[str, Array]:
        """What `put_back` needs to take back the next steps."""
        row = int(self.counters[ROW])
        kept = {name: getattr(self, name).copy() for name in self.KEPT}
        return kept | {"stretch_now": self.statistics[row : row + 1].copy()}

    def put_back(self, kept: dict[str, Array]) -> None:
        """Take back the steps since `kept_now`."""
        for name in self.KEPT:
            getattr(self, name)[...] = kept[name]
        row = int(self.counters[ROW])
        self.statistics[row : row + 1] = kept["stretch_now"]

    def since(self, row: int) -> Stretch:
        """What was saved from a row on, as far as it has not been handed over, and the newest state."""
        last, m, row = int(self.counters[ROW]), self.problem.invariant_count, max(0, row - self.handed_away)
        open_ = int(self.counters[STRETCH] > 0)
        y = np.concatenate([self.saved[row:last], self.shown()[None][:open_]])
        extremes = self.statistics[row : last + open_, : 2 * m].copy()
        if y.ndim == 3:
            y, extremes = np.moveaxis(y, -1, 0), np.moveaxis(extremes, -1, 0)
        t = np.append(self.saved_t[row:last], [self.t] * open_)
        return Stretch(
            t, y, extremes[..., LEAST * m : (LEAST + 1) * m], extremes[..., GREATEST * m : (GREATEST + 1) * m]
        )

    def end(self, status: Status, detail: str = "") -> None:
        """End the run where it is."""
        self.status, self.message = status, explain(status, self.t, self.steps_done, detail)

    def _grow_if_there_is_room(self) -> None:
        """Twice as many rows, or the end of the run: what it has would be lost if it took more memory than there is."""
        needed, free = 4 * sum(getattr(self, name).nbytes for name in self.ROWS), free_memory()
        if free is not None and needed > free:
            self.end(Status.FULL, f"save_every: {needed} more bytes are needed, {free} are free; keep fewer states")
        else:
            self._grow()

    def _grow(self) -> None:
        for name in self.ROWS:
            table = getattr(self, name)
            setattr(self, name, np.concatenate([table, np.zeros_like(table)]))
        self.__dict__.pop("records", None)

    # --- rows that are handed over ----------------------------------------------------------------------------------

    @property
    def handed_away(self) -> int:
        """Rows that have been handed over and are in the tables no more."""
        return self.handed if self.summary is not None else 0

    @property
    def fresh(self) -> int:
        """The first row of the tables that has not been handed over."""
        return self.handed - self.handed_away

    @property
    def rows_saved(self) -> int:
        """Rows since the start."""
        return self.handed_away + int(self.counters[ROW])

    @property
    def is_half_full(self) -> bool:
        """Whether there are many rows to hand over."""
        return self.summary is not None and 2 * int(self.counters[ROW]) >= len(self.saved_t)

    def rows_of(self, lane: int) -> int:
        """Rows of the window that a trajectory has saved itself."""
        return int(self.counters[ROW])

    def hand_over(self, rows: int) -> None:
        """Note that so many rows have been taken; of a window a summary stays."""
        last = int(self.counters[ROW])
        if self.gathered is not None:
            self.gathered.take(self)
        if last:
            self.handed_last = float(self.saved_t[last - 1]), self.saved[last - 1].copy()
        if self.summary is not None and last:
            self.summary.include({name: getattr(self, name)[:last] for name in self.ROWS})
            self.statistics[0] = self.statistics[last]
            self.counters[ROW] = 0
        self.handed += rows

    def condense(self) -> None:
        """After the end: the tables become those of the summary, as if fewer states had been saved."""
        if self.summary is None:
            return
        if self.gathered is not None:
            self.gathered.finish()
        tables, count = self.summary.with_open(self.statistics[:1], int(self.counters[STRETCH]))
        for name, table in tables.items():
            setattr(self, name, table)
        self.counters[ROW], self.counters[STRETCH] = len(self.saved_t), count
        self.output = replace(self.output, save_every=self.output.save_every * self.summary.stride)

    # --- within a step --------------------------------------------------------------------------------------------

    def state_at(self, part: float) -> Array:
        """The state after a part of the step in progress."""
        return self.state_within(self.step_in_progress()[0], part, self.previous, self.dense_work, self.dense_counters)

    def state_within(self, t: float, part: float, previous: Array, work: Array, counters: NDArray[np.int64]) -> Array:
        """The state after a part of the step that began at t in the state `previous` and left `work`; in pieces where
        one fails, as of `integrators.engine.observe.save_within`.
        """
        pieces, status = 1, int(Status.NOT_CONVERGED)
        while status != Status.OK and (pieces == 1 or (counters[PENDING] and pieces <= PIECES)):
            y, low, size = previous.copy(), np.zeros_like(self.low), part / pieces
            begin_part(counters)
            for k in range(pieces):
                with np.errstate(all="ignore"):
                    status = self.within_step(
                        self.field, t + k * size, size, y, low, self.table, self.coefficients, self.options,
                        self.parameters, self.structure,
                        self.step_work, work, counters,
                    )  # fmt: skip
                self._raise_pending()
                if status != Status.OK:
                    break
            pieces *= 4
        if status != Status.OK:
            raise WithinStepError(t, Status(status))
        end_part(counters)
        if self.problem.projection is not None:
            projected = self.projected[: y.shape[0]]
            self._call_field(self.projection, t + part, y, projected)
            y[...] = projected
        return y

    def _look_at_events(self) -> None:
        """Locate the zeros within the step in progress; a terminal one ends the run there, a function that gives NaN,
        or a part of the step that fails, before the step.
        """
        events = self.output.events
        assert events is not None
        t, h = self.step_in_progress()
        begin_within(self.dense_counters)

        def values_at(part: float, y: Array) -> Array:
            values = np.zeros(len(events.rows))
            self._call_field(self.events, t + part, self.given(y), values)
            self._refuse_nan(t + part, y, values)
            return values

        known = len(self.events_found)
        try:
            self._refuse_nan(t + h, self.y, self.after)
            with np.errstate(all="ignore"):  # functions may be infinite
                slopes = h * self.rates_before, h * self.rates_after
                found = zeros(events, self.before, self.after, h, self.state_at, values_at, slopes)
            for row, (part, k, y) in enumerate(found):
                self.events_found.append((t + part, k, self.given(y)))
                seen = sum(event[1] == k for event in self.events_found)
                if events.rows[k].terminal and seen >= int(events.rows[k].terminal):
                    together = [other for other in found[row + 1 :] if other[0] == part]
                    self.events_found += [(t + part, other, self.given(y)) for _, other, y in together]
                    self._end_at(t, part, y, events.names[k])
                    return
            for k in {k for _, k, _ in found}:  # one that comes often in a step may do so in the next, too
                often = steepness(sum(row[1] == k for row in found), self.before[k], self.after[k]) / abs(h)
                if dips(*(float(x[k]) for x in (self.before, self.after, *slopes))):
                    self.rates_after[k] = np.copysign(max(abs(self.rates_after[k]), often), self.rates_after[k])
        except (NotANumberError, WithinStepError) as error:
            del self.events_found[known:]
            self.y[...], self.counters[PENDING] = self.previous, 0
            self.end(getattr(error, "status", Status.NON_FINITE), str(error))

    def _refuse_nan(self, t: float, y: Array, values: Array) -> None:
        """NotANumberError if an event function gives NaN: its zeros could not be noticed."""
        assert self.output.events is not None
        for name, value in zip(self.output.events.names, values.tolist(), strict=True):
            if value != value:
                raise NotANumberError(f"event {name!r} gives NaN at t = {t:.9g}, y = {self.given(y).tolist()}")

    def _end_at(self, t: float, part: float, y: Array, name: str) -> None:
        """End the run within the step in progress, with what was to be saved until there."""
        times = self.output.times
        while self.counters[ROW] < len(times) and abs(times[self.counters[ROW]] - t) <= abs(part):
            wanted = float(times[self.counters[ROW]])
            state = self.state_at(wanted - t)
            if self.problem.invariant_count:
                self._call_field(self.invariants, wanted, state, self.values)
            watch(self.values, self.statistics, self.counters)
            save(wanted, state, *(self.filled(kind) for kind in (State, Saving)))
        if self.problem.invariant_count:
            self._call_field(self.invariants, t + part, y, self.values)
            watch(self.values, self.statistics, self.counters)
        self.y[...], self.stopped_at, self.counters[PROJECTED] = y, t + part, 1
        self.end(Status.EVENT, name)

    # --- checkpoints and results ------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Arrays and texts from which `restore` makes the run go on as if nothing had happened."""
        rows = int(self.counters[ROW]) + 1
        kept = {name: getattr(self, name) for name in self.KEPT} | {
            name: getattr(self, name)[:rows] for name in self.ROWS
        }
        found = self.events_found
        kept["event_times"] = np.array([row[0] for row in found])
        kept["event_numbers"] = np.array([row[1] for row in found], dtype=np.int64)
        kept["event_states"] = np.array([row[2] for row in found]).reshape(len(found), self.problem.n)
        kept["stopped_at"] = np.array([np.nan if self.stopped_at is None else self.stopped_at])
        kept["ends"] = np.array([f"{self.status.name}: {self.message}"])
        if self.summary is not None:
            kept |= {f"summary_{name}": table for name, table in self.summary.state().items()}
        if self.gathered is not None:
            kept |= {f"gathered_{name}": table for name, table in self.gathered.state().items()}
        kept["handed"] = np.array([self.handed, self.handed_last[0]])
        kept["handed_state"] = self.handed_last[1]
        return kept

    def restore(self, kept: dict[str, Any]) -> None:
        """Take over the state of a run of the same problem, method and output."""
        while len(self.saved_t) < len(kept["saved_t"]):
            self._grow()
        for name in self.KEPT:
            getattr(self, name)[...] = kept[name]
        for name in self.ROWS:
            getattr(self, name)[: len(kept[name])] = kept[name]
        events = zip(kept["event_times"], kept["event_numbers"], kept["event_states"], strict=True)
        self.events_found = [(float(t), int(k), y) for t, k, y in events]
        self.stopped_at = None if np.isnan(kept["stopped_at"][0]) else float(kept["stopped_at"][0])
        status, self.message = str(kept["ends"][0]).split(": ", 1)
        self.status = Status[status]
        self.handed, self.handed_last = int(kept["handed"][0]), (float(kept["handed"][1]), kept["handed_state"])
        if self.gathered is not None:
            self.gathered.restore({name[9:]: table for name, table in kept.items() if name.startswith("gathered_")})
        if self.summary is not None:
            self.summary.restore({name[8:]: table for name, table in kept.items() if name.startswith("summary_")})

    @property
    def one_by_one(self) -> Run | None:
        """What takes the steps that fail in lanes, as those that are divided do; None where nothing else would."""
        return None

    @property
    def counters_of_all(self) -> NDArray[np.int64]:
        """The counters, with what was done for states within steps."""
        return self.counters + self.dense_counters * _COUNTED

    def trajectories(self) -> list[Trajectory]:
        """What every trajectory of this run has computed."""
        return [self.trajectory(Ellipsis, self.status, self.message or explain(Status.OK, self.t, self.steps_done))]

    def trajectory(self, pick: Any, status: Status, message: str, last: Array | None = None) -> Trajectory:
        """One trajectory; `pick` indexes the lane, `last` is the state as results show it, if that is at hand."""
        rows = int(self.counters[ROW])
        cut = rows + self.handed > 0 and self.called_back is not None and self.called_back.has_raised
        last_row = (float(self.saved_t[rows - 1]), self.saved[rows - 1]) if rows else self.handed_last
        return Trajectory(
            t=self.saved_t[:rows].copy(),
            y=self.saved[:rows][pick].copy(),
            invariants=self.saved_values[:rows][pick].copy(),
            statistics=self.statistics[: rows + 1][pick].copy(),
            stretch=np.append(self.stretch[:rows], self.counters[STRETCH]),
            last_t=last_row[0] if cut else self.t,
            last=(last_row[1] if cut else self.shown() if last is None else last)[pick].copy(),
            counters=self.counters_of_all,
            status=status,
            message=message,
            events=self.events_found,
            guarded=np.array([getattr(self, name)[pick] for name in GUARDED]),
            report=self.method.report(self.work),
        )


_COUNTED = np.zeros(COUNTERS, dtype=np.int64)
_COUNTED[[EVALUATIONS, ITERATIONS]] = 1
