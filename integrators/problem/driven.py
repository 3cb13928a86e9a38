"""Problems whose inputs are functions: the same fields and steps, with the inputs put among the parameters first.

Wherever the field is evaluated, so is the signal; one that reads velocities takes those that the field gives, which
costs a second evaluation where the state holds momenta.  A step that a problem brings itself (`OwnStep`) holds its
inputs from end to end: over each part of a composition, of signals that read the time alone the value in the middle,
of others the mean of those at both ends, where the end is that of a step with the value at the start.  Both are of
order 2, and what the inputs add to the momenta of a step is exactly h times what was held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from integrators.layout import FIRST_KNOWN, HISTORY
from integrators.problem.fields import Field
from integrators.problem.inputs import Inputs, Signal
from integrators.problem.signals import MOTION, TIME, Given, moves, sizes
from integrators.signatures import FIELD_SIGNATURE, STEP_SIGNATURE
from integrators.status import OK
from liegroup.compile import Entry, compile_field

if TYPE_CHECKING:
    from integrators.problem.problem import OwnStep, Problem

ROWS = 3
"""Of the workspace of a driven field, behind those of the field: z and u, the rates, and nothing (times in lanes)."""


def with_inputs(problem: Problem, u: Any) -> Problem:
    """See `Problem.with_inputs`."""
    held = undriven(problem)
    given = Given(held)
    given.take(u)
    inputs: Inputs = held.inputs
    if given.held:
        parameters = np.array(held.parameters, dtype=np.float64)
        for k, x in given.held.items():
            parameters[inputs.places[k]] = x
        held = replace(held, parameters=parameters)
    if not given.parts:
        return held
    part = given.together()
    kinds = {k: p.kind for p in given.parts for k in p.which}
    of = tuple(kinds[k] for k in part.which)
    return driven(held, Signal(part.field, part.which, of, part.reads, held, tuple(given.tables)))


def undriven(problem: Problem) -> Problem:
    """The problem with all inputs held, from the same start."""
    signal = problem.inputs.signal
    return problem if signal is None else replace(signal.undriven, y0=problem.y0, guards=problem.guards)


def driven(held: Problem, signal: Signal) -> Problem:
    """A problem whose inputs are held, with a signal for some of them."""
    drive = _Drive(held, signal)
    rows, columns = held.work_shape
    feeds_back = signal.reads != TIME
    own = {name: drive.own_step(step) for name, step in held.own_steps.items() if not name.endswith("_tangent")}
    return replace(
        held,
        field=drive.field(held.field, held.dimension, feeds_back),
        parts=None if held.parts is None else drive.field(held.parts, held.parts_size, True),
        invariants=None if held.invariants is None else drive.cut(held.invariants),
        projection=None if held.projection is None else drive.cut(held.projection),
        jacobian=None if held.jacobian is None or feeds_back else drive.field(held.jacobian, held.dimension**2, True),
        jacobian_sparsity=None if feeds_back else held.jacobian_sparsity,
        parameters=drive.parameters,
        work_shape=(rows + ROWS, max(columns, drive.width, held.dimension)),
        inputs=replace(held.inputs, signal=signal),
        guards=[g for g in held.guards if g.name != "energy"],
        own_steps=own,
        explain=drive.explain,
        autonomous=False,
        vectorized=False,
        exact=None,
    )


class _Drive:
    """Puts the inputs of one problem among its parameters."""

    def __init__(self, held: Problem, signal: Signal) -> None:
        self.held, self.signal = held, signal
        self.places = tuple(held.inputs.places[k] for k in signal.which)
        self.rows, self.count = held.work_shape[0], len(np.asarray(held.parameters))
        self.n, self.n_q, self.n_v = sizes(held)
        self.parameters = np.concatenate([np.asarray(held.parameters), *signal.tables])
        self.m, self.width = len(self.places), self.n + self.n_v + len(self.places)
        self.evaluates = signal.reads == MOTION and moves(held) and held.variables[1].name == "p"

    # --- interpreted ----------------------------------------------------------------------------------------------

    def loaded(self, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
        """A copy of the problem's own parameters with u(t, y) among them."""
        like = np.result_type(y, np.asarray(t), np.asarray(parameters), np.float64)
        z = np.concatenate([y, self.velocities(t, y, parameters, structure, work)])
        u, own = np.zeros(self.m, like), np.array(parameters[: self.count], like)
        self.signal.field.python(t, z, parameters, structure, work, u)
        own[list(self.places)] = u
        return own

    def velocities(self, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
        """Of the first variable: from the state, or as the field gives them."""
        if not self.evaluates:
            return y[self.n_q : self.n_q + self.n_v]
        rates = np.zeros(self.held.dimension, np.result_type(y, np.float64))
        self.held.field.python(t, y, parameters[: self.count], structure, work[: self.rows], rates)
        return rates[: self.n_v]

    def explain(self, t: float, y: Any) -> str:
        """Which input is no number at a state where a run failed, or what the problem itself says of it."""
        own = self.loaded(t, y, self.parameters, self.held.structure, np.zeros(self.held.work_shape))
        for k, place in zip(self.signal.which, self.places, strict=True):
            if not np.isfinite(own[place]):
                return f"input {self.held.inputs.names[k]!r} is {own[place]}"
        return self.held.explain(t, y) if self.held.explain is not None else ""

    # --- compiled -------------------------------------------------------------------------------------------------

    def put(self) -> Any:
        """Compiled: ``put(t, y, parameters, structure, work, own)`` writes u(t, y) into `own`."""
        rows, n, n_q, n_v, m, d = self.rows, self.n, self.n_q, self.n_v, self.m, self.held.dimension
        places, evaluates, first, last = self.places, self.evaluates, self.n + self.n_v, self.width
        signal = self.signal.field.compiled
        field = self.held.field.compiled if evaluates else signal

        def put(t: Any, y: Any, parameters: Any, structure: Any, work: Any, own: Any) -> None:
            row = work[rows]
            for i in range(n):
                row[i] = y[i]
            if evaluates:
                rates = work[rows + 1][:d]
                field(t, y, own, structure, work[:rows], rates)
                for i in range(n_v):
                    row[n + i] = rates[i]
            else:
                for i in range(n_v):
                    row[n + i] = y[n_q + i]
            signal(t, row[:first], parameters, structure, work, row[first:last])
            for k in range(m):
                own[places[k]] = row[first + k]

        return compile_field(put, FIELD_SIGNATURE)

    def field(self, base: Field, size: int, plain: bool) -> Field:
        """A field of the problem, driven; `plain`: it does not give derivatives."""
        rows, count = self.rows, self.count

        def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            own = self.loaded(t, y, parameters, structure, work)
            base.python(t, y, own, structure, work[:rows], out)

        def build() -> Any:
            put, compiled = self.put(), base.compiled

            def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                own = parameters[:count]
                put(t, y, parameters, structure, work, own)
                compiled(t, y, own, structure, work[:rows], out)

            return compile_field(field, FIELD_SIGNATURE)

        sources = base.source, self.signal.field.source
        return Field(
            python, base.is_compiled, sources, build, _no_lanes, differentiates=base.differentiates and not plain
        )

    def cut(self, base: Field) -> Field:
        """A function that is to see no tables behind the parameters of the problem."""
        count = self.count

        def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            base.python(t, y, parameters[:count], structure, work, out)

        def build() -> Any:
            compiled = base.compiled

            def function(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                compiled(t, y, parameters[:count], structure, work, out)

            return compile_field(function, FIELD_SIGNATURE)

        return Field(python, base.is_compiled, base.source, build, _no_lanes) if self.signal.tables else base

    def own_step(self, own: OwnStep) -> OwnStep:
        """A step that the problem brings itself, with inputs held over each of its parts."""
        rows, columns = own.shape
        more = max(columns, 2 * self.held.n, self.m, 2)
        return replace(own, step=_Step(self, own.step, rows), shape=(rows + ROWS, more), action=None)


def _no_lanes() -> Any:
    raise TypeError("a problem whose inputs are functions runs one trajectory after the other, not in lanes")


class _Step(Entry):
    """The step of `_Drive.own_step`."""

    def __init__(self, drive: _Drive, base: Entry, rows: int) -> None:
        self._drive, self._base, self._rows = drive, base, rows
        super().__init__(self._interpreted, ())
        self._made: Any = None

    @property
    def compiled(self) -> Any:
        if self._made is None:
            self._made = compile_field(
                _held_step(self._drive.put(), self._base.compiled, self._drive, self._rows), STEP_SIGNATURE
            )
        return self._made

    @property
    def compiled_lanes(self) -> Any:
        return _no_lanes()

    def _interpreted(self, *arguments: Any) -> int:
        def put(t: Any, y: Any, parameters: Any, structure: Any, work: Any, own: Any) -> None:
            own[:] = self._drive.loaded(t, y, parameters, structure, work)

        return int(_held_step(put, self._base.python, self._drive, self._rows)(*arguments))


def _held_step(put: Any, base: Any, drive: _Drive, rows: int) -> Callable[..., int]:
    """A step of `base` with inputs that `put` finds, held over each part of it."""
    of_time, count, n, places, m = drive.signal.reads == TIME, drive.count, drive.held.n, drive.places, drive.m

    def step(
        field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
        structure: Any, field_work: Any, work: Any, counters: Any,
    ) -> int:  # fmt: skip
        own, inner, before, u, single = parameters[:count], work[:rows], work[rows], work[rows + 1], work[rows + 2]
        single[0], single[1] = coefficients[0], 1.0
        for s in range(coefficients.shape[0] - 1):
            part = coefficients[1 + s] * h
            if of_time:
                put(t + 0.5 * part, y, parameters, structure, field_work, own)
            else:
                put(t, y, parameters, structure, field_work, own)
                for k in range(m):
                    u[k] = own[places[k]]
                for i in range(n):
                    before[i], before[n + i] = y[i], low[i]
                counters[FIRST_KNOWN], counters[HISTORY] = 0, 0
                status = base(
                    field, t, part, y, low, table, single[:2], options, own, structure, field_work, inner, counters
                )
                if status != OK:
                    return int(status)
                put(t + part, y, parameters, structure, field_work, own)
                for k in range(m):
                    own[places[k]] = 0.5 * (u[k] + own[places[k]])
                for i in range(n):
                    y[i], low[i] = before[i], before[n + i]
            counters[FIRST_KNOWN], counters[HISTORY] = 0, 0
            status = base(
                field, t, part, y, low, table, single[:2], options, own, structure, field_work, inner, counters
            )
            if status != OK:
                return int(status)
            t = t + part
        return int(OK)

    return step
