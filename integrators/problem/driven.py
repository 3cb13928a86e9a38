"""Problems whose inputs are functions: the same fields and steps, with the inputs put among the parameters first.

Wherever the field is evaluated, so is the signal; one that reads velocities takes those that the field gives, which
costs a second evaluation where the state holds momenta.  Inputs that are nothing but a force along one velocity each
are added to the rates of the momenta instead: one evaluation serves both, and eight trajectories, or eight stages, have
inputs of their own in lanes.

A step that a problem brings itself (`OwnStep`) holds its inputs from end to end: over each part of a composition, of
signals that read the time alone the value in the middle, of others the mean of those at both ends, where the end is
that of a step with the value at the start.  Both are of order 2, and what the inputs add to the momenta of a step is
exactly h times what was held; forces along velocities do so by halves, before the step and after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import DIVIDED, FIRST_KNOWN, HISTORY, SUBSTEPS
from integrators.problem.fields import Field
from integrators.problem.inputs import Inputs, Signal
from integrators.problem.jitted import raise_raised
from integrators.problem.signals import MOTION, TIME, Given, moves, sizes
from integrators.signatures import FIELD_SIGNATURE, FIELD_SIGNATURES, STEP_SIGNATURES
from integrators.status import OK
from liegroup.compile import (
    Entry,
    compile_field,
    integers,
    lane_matrix,
    lane_vector,
    ld,
    ld2,
    matrix,
    nothing,
    real,
    st,
    st2,
    vector,
)

if TYPE_CHECKING:
    from integrators.problem.problem import OwnStep, Problem

ROWS = 5
"""Of the workspace of a driven field, behind those of the field: times in lanes, z and u, the rates, and two registers
of functions that are called for one lane after the other.
"""
ZU, RATES, REGISTERS = 1, 2, 3
_PUT = nothing(real, vector, vector, integers, matrix)
_PUT_IN_LANES = nothing(real, lane_vector, vector, integers, lane_matrix)


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
    data = tuple(given.tables), tuple(given.samples)
    return driven(held, Signal(part.field, part.which, of, part.reads, held, *data))


def undriven(problem: Problem) -> Problem:
    """The problem with all inputs held, from the same start and with the same other parameters."""
    signal = problem.inputs.signal
    if signal is None:
        return problem
    held: Problem = signal.undriven
    own = np.asarray(problem.parameters)[: len(np.asarray(held.parameters))]
    return replace(held, y0=problem.y0, guards=problem.guards, parameters=own)


def powers_at(problem: Problem, t: float, y: Any) -> NDArray[np.float64]:
    """See `Problem.input_powers`: at one state."""
    held, signal, inputs = undriven(problem), problem.inputs.signal, problem.inputs
    if inputs.power is None:
        raise ValueError(f"input_powers: {without_power(problem)}")
    if signal is not None:
        drive = _Drive(held, signal)
        work = np.zeros(problem.work_shape)
        held = replace(held, parameters=drive.loaded(t, y, problem.own_parameters(), held.structure, work))
    out, own = np.zeros(len(inputs)), held.n - len(inputs) * inputs.worked
    call = inputs.power.compiled if inputs.power.is_compiled else inputs.power.python
    call(t, np.ascontiguousarray(y[:own]), held.own_parameters(), held.structure, np.zeros(held.work_shape), out)
    raise_raised()
    return out


def inputs_at(problem: Problem, t: float, y: Any) -> NDArray[np.float64]:
    """The inputs (m,) of a problem at a state (n,), as its field reads them."""
    return np.array(inputs_along(problem, np.array([t]), np.asarray(y)[None])[0])


def inputs_along(problem: Problem, t: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inputs (k, m) of a problem at times (k,) and states (k, n), as its field reads them."""
    signal, places = problem.inputs.signal, list(problem.inputs.places)
    own, work = problem.own_parameters(), np.zeros(problem.work_shape)
    if signal is None:
        return np.tile(np.asarray(own[places], dtype=np.float64), (len(t), 1))
    drive, found = _Drive(undriven(problem), signal), []
    for s, x in zip(t, y, strict=True):
        found.append(np.array(drive.loaded(float(s), x, own, problem.structure, work)[places], dtype=np.float64))
        raise_raised()
    return np.array(found).reshape(len(t), len(places))


def reads_state(problem: Problem) -> bool:
    """Whether inputs of a problem are functions of its state."""
    return problem.inputs.signal is not None and problem.inputs.signal.reads != TIME


def without_power(problem: Problem) -> str:
    """What is wrong with a problem whose inputs have no power, or that has no inputs."""
    what = "its inputs have no power" if len(problem.inputs) else "it has no inputs"
    return (
        f"{problem.model!r}: {what}; give the problem inputs=Inputs(names, places, power=f), with "
        "f(t, y, parameters) the power of every input"
    )


def driven(held: Problem, signal: Signal) -> Problem:
    """A problem whose inputs are held, with a signal for some of them."""
    drive = _Drive(held, signal)
    rows, columns = held.work_shape
    feeds_back = signal.reads != TIME
    own = {name: drive.own_step(step) for name, step in held.own_steps.items() if not name.endswith("_tangent")}
    in_lanes = not feeds_back or (bool(drive.along) and not held.inputs.worked)
    return replace(
        held,
        field=drive.pushed() if drive.along else drive.field(held.field, feeds_back),
        parts=None if held.parts is None else drive.field(held.parts, True),
        invariants=None if held.invariants is None else drive.cut(held.invariants),
        projection=None if held.projection is None else drive.cut(held.projection),
        jacobian=None if held.jacobian is None or feeds_back else drive.field(held.jacobian, True),
        jacobian_sparsity=None if feeds_back else held.jacobian_sparsity,
        parameters=drive.parameters,
        work_shape=(rows + ROWS, max(columns, drive.width, held.dimension)),
        inputs=replace(held.inputs, signal=replace(signal, in_lanes=in_lanes)),
        guards=[g for g in held.guards if g.name != "energy"],
        own_steps=own,
        explain=drive.explain,
        autonomous=False,
        vectorized=False,
        exact=None,
    )


class _Drive:
    """Puts the inputs of one problem among its parameters, or adds them to the rates of its momenta."""

    def __init__(self, held: Problem, signal: Signal) -> None:
        self.held, self.signal = held, signal
        self.places = tuple(held.inputs.places[k] for k in signal.which)
        self.rows, self.count = held.work_shape[0], len(np.asarray(held.parameters))
        self.n, self.n_q, self.n_v = sizes(held)
        self.parameters = np.concatenate([np.asarray(held.parameters), *signal.tables])
        self.m, self.width = len(self.places), self.n + self.n_v + len(self.places)
        in_momenta = moves(held) and held.variables[1].name == "p"
        self.evaluates = signal.reads == MOTION and in_momenta
        along = tuple(held.inputs.velocities[k] for k in signal.which)
        self.along = along if in_momenta and min(along) >= 0 else ()
        """The velocity along which each pushes; empty if not all of them do just that, in momenta."""

    # --- interpreted ----------------------------------------------------------------------------------------------

    def loaded(self, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
        """A copy of the problem's own parameters with u(t, y) among them."""
        like = np.result_type(y, np.asarray(t), np.asarray(parameters), np.float64)
        z = np.concatenate([y[: self.n], self.velocities(t, y, parameters, structure, work)])
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

    def values(self, in_lanes: bool = False) -> Any:
        """Compiled: ``values(t, y, parameters, structure, work, u)`` writes u(t, y)."""
        rows, count, n, n_q, n_v, d = self.rows, self.count, self.n, self.n_q, self.n_v, self.held.dimension
        evaluates, length = self.evaluates, self.n + self.n_v
        signal, field = (_form(f, in_lanes) for f in (self.signal.field, self.held.field))

        def values(t: Any, y: Any, parameters: Any, structure: Any, work: Any, u: Any) -> None:
            z = work[rows + ZU][:length]
            for i in range(n):
                st(z, i, ld(y, i))
            if evaluates:
                rates = work[rows + RATES][:d]
                field(t, y, parameters[:count], structure, work[:rows], rates)
                for i in range(n_v):
                    st(z, n + i, ld(rates, i))
            else:
                for i in range(n_v):
                    st(z, n + i, ld(y, n_q + i))
            signal(t, z, parameters, structure, work[rows + REGISTERS :], u)

        return compile_field(values, FIELD_SIGNATURES[in_lanes])

    def put(self, in_lanes: bool = False) -> Any:
        """Compiled: ``put(t, y, parameters, structure, work)`` writes u(t, y) among the parameters; in lanes u(t)."""
        rows, m, places, first, last = self.rows, self.m, self.places, self.n + self.n_v, self.width
        if in_lanes:
            of_time = self.signal.field.compiled

            def put_at_once(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
                row = work[rows + ZU].ravel()
                of_time(t, row[:first], parameters, structure, work[rows + REGISTERS], row[first:last])
                for k in range(m):
                    parameters[places[k]] = row[first + k]

            return compile_field(put_at_once, _PUT_IN_LANES)
        values = self.values()

        def put(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
            u = work[rows + ZU][first:last]
            values(t, y, parameters, structure, work, u)
            for k in range(m):
                parameters[places[k]] = u[k]

        return compile_field(put, _PUT)

    def field(self, base: Field, plain: bool) -> Field:
        """A field of the problem, its inputs among the parameters; `plain`: it does not give derivatives."""
        rows, count = self.rows, self.count

        def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            own = self.loaded(t, y, parameters, structure, work)
            base.python(t, y, own, structure, work[:rows], out)

        def build(in_lanes: bool = False) -> Any:
            put, compiled = self.put(in_lanes), _form(base, in_lanes)

            def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                put(t, y, parameters, structure, work)
                compiled(t, y, parameters[:count], structure, work[:rows], out)

            return compile_field(field, FIELD_SIGNATURES[in_lanes])

        sources = base.source, self.signal.field.source
        return Field(
            python, base.is_compiled, sources, build, partial(self._together, build), (self.field, (base, plain)),
            differentiates=base.differentiates and not plain, by_complex_steps=base.by_complex_steps,
        )  # fmt: skip

    def pushed(self) -> Field:
        """The field of the problem, with what the inputs do added to the rates of the momenta, and their power to the
        rates of their work.
        """
        rows, count, m, n, n_v, places, along = (
            self.rows, self.count, self.m, self.n, self.n_v, self.places, self.along
        )  # fmt: skip
        first, last, base, signal = n + n_v, self.width, self.held.field, self.signal.field
        work_at = tuple(self.held.dimension - len(self.held.inputs) + k for k in self.signal.which)
        worked, timed_base = self.held.inputs.worked, not self.held.is_autonomous

        def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            own = np.array(parameters[:count], np.result_type(y, np.asarray(parameters), np.float64))
            own[list(places)] = 0.0
            base.python(t, y, own, structure, work[:rows], out)
            u = np.zeros(m, np.result_type(own, np.asarray(t)))
            signal.python(t, np.concatenate([y[:n], out[:n_v]]), parameters, structure, work, u)
            for k in range(m):
                out[n_v + along[k]] += u[k]
                if worked:
                    out[work_at[k]] += u[k] * out[along[k]]

        def build(base: Any, signal: Any, signature: Any, timed: bool = False) -> Any:
            inner = rows + 1 if timed else rows

            def pushed(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                own, row = parameters[:count], work[rows + ZU]
                for k in range(m):
                    own[places[k]] = 0.0
                if timed:
                    st2(work, rows, 0, ld2(work, work.shape[0] - 1, 0))
                base(t, y, own, structure, work[:inner], out)
                for i in range(n):
                    st(row, i, ld(y, i))
                for i in range(n_v):
                    st(row, n + i, ld(out, i))
                signal(t, row[:first], parameters, structure, work[rows + REGISTERS :], row[first:last])
                for k in range(m):
                    u = ld(row, first + k)
                    st(out, n_v + along[k], ld(out, n_v + along[k]) + u)
                    if worked:
                        st(out, work_at[k], ld(out, work_at[k]) + u * ld(out, along[k]))

            return compile_field(pushed, signature)

        def build_timed() -> Any:
            parts = base.compiled_timed if timed_base else base.compiled_lanes, signal.compiled_timed
            return None if None in parts else build(*parts, FIELD_SIGNATURES[1], timed_base)

        return Field(
            python, base.is_compiled, (base.source, signal.source),
            lambda: build(base.compiled, signal.compiled, FIELD_SIGNATURE),
            lambda: build(base.compiled_lanes, signal.compiled_lanes, FIELD_SIGNATURES[1]), (self.pushed, ()),
            build_timed=build_timed, differentiates=base.differentiates and self.signal.reads == TIME,
            by_complex_steps=base.by_complex_steps,
        )  # fmt: skip

    def _together(self, build: Callable[[bool], Any]) -> Any:
        """The form in lanes of what reads one set of parameters: of signals of the time alone."""
        return build(True) if self.signal.reads == TIME else _no_lanes()

    def cut(self, base: Field) -> Field:
        """A function that is to see no tables behind the parameters of the problem."""
        count = self.count

        def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            base.python(t, y, parameters[:count], structure, work, out)

        def build(in_lanes: bool = False) -> Any:
            compiled = _form(base, in_lanes)

            def function(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                compiled(t, y, parameters[:count], structure, work, out)

            return compile_field(function, FIELD_SIGNATURES[in_lanes])

        made = Field(python, base.is_compiled, base.source, build, lambda: build(True), (self.cut, (base,)))
        return made if self.signal.tables else base

    def own_step(self, own: OwnStep) -> OwnStep:
        """A step that the problem brings itself, with inputs held over each of its parts."""
        rows, columns = own.shape
        more = max(columns, 2 * self.held.n, 2 * self.m, 2)
        kind = _KickedStep if self.signal.reads != TIME and self.along and not self.held.inputs.worked else _HeldStep
        return replace(own, step=kind(self, own.step, rows), shape=(rows + ROWS, more), action=None)


def _form(function: Field | Entry, in_lanes: bool) -> Any:
    return function.compiled_lanes if in_lanes else function.compiled


def _no_lanes() -> Any:
    raise TypeError("a problem whose inputs are such functions runs one trajectory after the other, not in lanes")


class _HeldStep(Entry):
    """A step with inputs that are held among the parameters over each part of it."""

    def __init__(self, drive: _Drive, base: Entry, rows: int) -> None:
        self._drive, self._base, self._rows = drive, base, rows
        super().__init__(self._interpreted, ())
        self.recipe = type(self), (drive, base, rows)
        self._made: dict[bool, Any] = {}

    @property
    def takes_lanes(self) -> bool:
        return self._base.takes_lanes

    @property
    def compiled(self) -> Any:
        return self._form(False)

    @property
    def compiled_lanes(self) -> Any:
        return self._form(True)

    def _form(self, in_lanes: bool) -> Any:
        if in_lanes not in self._made:
            self._made[in_lanes] = self._build(in_lanes)
        return self._made[in_lanes]

    def _build(self, in_lanes: bool) -> Any:
        drive = self._drive
        if in_lanes and drive.signal.reads != TIME:
            _no_lanes()
        step = _held_step(drive.put(in_lanes), _form(self._base, in_lanes), drive, self._rows)
        return compile_field(step, STEP_SIGNATURES[in_lanes])

    def _interpreted(self, *arguments: Any) -> int:
        drive = self._drive

        def put(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
            parameters[: drive.count] = drive.loaded(t, y, parameters, structure, work)

        return int(_held_step(put, self._base.python, drive, self._rows)(*arguments))


class _KickedStep(_HeldStep):
    """A step with forces along velocities, half of their impulse before each part of it and half behind."""

    def _build(self, in_lanes: bool) -> Any:
        drive = self._drive
        step = _kicked_step(drive.values(in_lanes), _form(self._base, in_lanes), drive, self._rows)
        return compile_field(step, STEP_SIGNATURES[in_lanes])

    def _interpreted(self, *arguments: Any) -> int:
        drive = self._drive

        def values(t: Any, y: Any, parameters: Any, structure: Any, work: Any, u: Any) -> None:
            u[:] = drive.loaded(t, y, parameters, structure, work)[list(drive.places)]

        return int(_kicked_step(values, self._base.python, drive, self._rows)(*arguments))


def _held_step(put: Any, base: Any, drive: _Drive, rows: int) -> Callable[..., int]:
    """A step of `base` with inputs that `put` finds, held over each part of it."""
    of_time, count, n, places, m = drive.signal.reads == TIME, drive.count, drive.held.n, drive.places, drive.m

    def step(
        field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
        structure: Any, field_work: Any, work: Any, counters: Any,
    ) -> int:  # fmt: skip
        own, inner, before, u = parameters[:count], work[:rows], work[rows], work[rows + 1]
        single, divided = work[rows + 2].ravel(), counters[DIVIDED]
        single[0], single[1] = coefficients[0], 1.0
        for s in range(coefficients.shape[0] - 1):
            part = coefficients[1 + s] * h
            if of_time:
                put(t + 0.5 * part, y, parameters, structure, field_work)
            else:
                put(t, y, parameters, structure, field_work)
                for k in range(m):
                    st(u, k, own[places[k]])
                for i in range(n):
                    st(before, i, ld(y, i))
                    st(before, n + i, ld(low, i))
                counters[FIRST_KNOWN], counters[HISTORY] = 0, 0
                tried = counters[DIVIDED], counters[SUBSTEPS]
                status = base(
                    field, t, part, y, low, table, single[:2], options, own, structure, field_work, inner, counters
                )
                if status != OK:
                    return int(status)
                counters[DIVIDED], counters[SUBSTEPS] = tried  # it was only to see where it leads
                put(t + part, y, parameters, structure, field_work)
                for k in range(m):
                    own[places[k]] = 0.5 * (u[k] + own[places[k]])
                for i in range(n):
                    st(y, i, ld(before, i))
                    st(low, i, ld(before, n + i))
            counters[FIRST_KNOWN], counters[HISTORY] = 0, 0
            status = base(
                field, t, part, y, low, table, single[:2], options, own, structure, field_work, inner, counters
            )
            if status != OK:
                return int(status)
            t = t + part
        counters[DIVIDED] = min(counters[DIVIDED], divided + 1)  # of a composition: one step, whichever parts
        return int(OK)

    return step


def _kicked_step(values: Any, base: Any, drive: _Drive, rows: int) -> Callable[..., int]:
    """A step of `base` between the kicks of forces along velocities that `values` finds: first of those at the start,
    then of the mean of these and those at the end.
    """
    count, n, places, m = drive.count, drive.held.n, drive.places, drive.m
    pushed = tuple(drive.n_q + k for k in drive.along)

    def step(
        field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
        structure: Any, field_work: Any, work: Any, counters: Any,
    ) -> int:  # fmt: skip
        own, inner, before, u = parameters[:count], work[:rows], work[rows], work[rows + 1]
        single, divided = work[rows + 2].ravel(), counters[DIVIDED]
        single[0], single[1] = coefficients[0], 1.0
        for k in range(m):
            own[places[k]] = 0.0
        for s in range(coefficients.shape[0] - 1):
            part = coefficients[1 + s] * h
            values(t, y, parameters, structure, field_work, u[:m])
            for i in range(n):
                st(before, i, ld(y, i))
                st(before, n + i, ld(low, i))
            tried = counters[DIVIDED], counters[SUBSTEPS]
            for again in range(2):
                for k in range(m):
                    st(y, pushed[k], ld(y, pushed[k]) + (0.5 * part) * ld(u, k))
                counters[FIRST_KNOWN], counters[HISTORY] = 0, 0
                status = base(
                    field, t, part, y, low, table, single[:2], options, own, structure, field_work, inner, counters
                )
                if status != OK:
                    return int(status)
                for k in range(m):
                    st(y, pushed[k], ld(y, pushed[k]) + (0.5 * part) * ld(u, k))
                if again == 0:
                    counters[DIVIDED], counters[SUBSTEPS] = tried  # it was only to see where it leads
                    values(t + part, y, parameters, structure, field_work, u[m : 2 * m])
                    for k in range(m):
                        st(u, k, 0.5 * (ld(u, k) + ld(u, m + k)))
                    for i in range(n):
                        st(y, i, ld(before, i))
                        st(low, i, ld(before, n + i))
            t = t + part
        counters[DIVIDED] = min(counters[DIVIDED], divided + 1)
        return int(OK)

    return step
