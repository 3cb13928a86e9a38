"""The work of inputs, integrated beside the state: y = (state, W) on the group × Rᵐ with Ẇ = the power of every input.

Methods with a field integrate both together: energy − Σ W is constant to their order.  A step that the problem brings
itself adds h/2 times the power at both of its ends, of order 2 as it is itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from integrators.problem.driven import driven, undriven, without_power
from integrators.problem.fields import Field
from integrators.signatures import FIELD_SIGNATURE, FIELD_SIGNATURES, STEP_SIGNATURES
from integrators.status import OK
from liegroup.compile import Entry, compile_field, ld, st
from liegroup.table import RN

if TYPE_CHECKING:
    from integrators.problem.problem import OwnStep, Problem

ROWS = 2
"""Of the workspace of a step, behind its own: the powers at both ends, and the coefficients of one part."""


def with_work(problem: Problem) -> Problem:
    """See `Problem.with_work`."""
    from integrators.problem.problem import Variable

    held, inputs = undriven(problem), problem.inputs
    if inputs.worked:
        return problem
    if inputs.power is None:
        raise ValueError(f"with_work: {without_power(problem)}")
    account = _Account(held)
    start = np.asarray(held.y0)
    table = np.vstack([held.table, [RN, held.n, held.dimension, account.m, account.m]])
    watches = "energy" in held.invariant_names
    worked = replace(
        held,
        group=table,
        y0=np.concatenate([start, np.zeros((*start.shape[:-1], account.m))], axis=-1),
        field=account.field(),
        variables=(*held.variables, Variable("work", inputs.names, "J", "work of the inputs")),
        invariants=account.invariants(watches) if held.invariants is not None else None,
        invariant_names=(*held.invariant_names, "balance") if watches else held.invariant_names,
        invariant_units=(*held.invariant_units, "J") if watches else held.invariant_units,
        projection=None if held.projection is None else account.projection(),
        explain=None if held.explain is None else account.of_state(held.explain),
        doubts=None if held.doubts is None else account.doubts(held.doubts),
        directions=None if held.directions is None else account.of_state(held.directions),
        fastest=None if held.fastest is None else account.of_start(held.fastest),
        scene=account.of_state(held.scene) if callable(held.scene) else held.scene,
        own_steps={name: account.own_step(x) for name, x in held.own_steps.items() if not name.endswith("_tangent")},
        canonical=False,
        jacobian=None,
        jacobian_sparsity=None,
        scales=np.concatenate([held.scales, np.ones(account.m)]),
        parts=None,
        parts_layout="",
        vectorized=False,
        exact=None,
        inputs=replace(inputs, worked=True, signal=None),
    )
    signal = inputs.signal
    return worked if signal is None else driven(worked, replace(signal, undriven=worked))


class _Account:
    """The functions of a problem, its inputs held, on states with the work of these behind them."""

    def __init__(self, held: Problem) -> None:
        self.held, self.n, self.d, self.m = held, held.n, held.dimension, len(held.inputs)
        self.power: Field = held.inputs.power

    def of_state(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function (t, y) of the state alone."""
        return partial(_of_state, function, self.n)

    def doubts(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function (t, y) or (t, y, u): it is asked by its signature what it takes."""
        return partial(_of_motion if "u" in signature(function).parameters else _of_state, function, self.n)

    def of_start(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A function (y) of the state alone."""
        return partial(_of_start, function, self.n)

    def made(self, build: Callable[[Any], Any], recipe: tuple[Any, ...], *parts: Field) -> Field:
        """A field of others: compiled where they are."""
        python = build([f.python for f in parts])

        def compiled() -> Any:
            return compile_field(build([f.compiled for f in parts]), FIELD_SIGNATURE)

        def lanes() -> Any:
            return compile_field(build([f.compiled_lanes for f in parts]), FIELD_SIGNATURES[1])

        return Field(python, all(f.is_compiled for f in parts), tuple(f.source for f in parts), compiled, lanes, recipe)

    def field(self) -> Field:
        """(f, P)."""
        n, d = self.n, self.d

        def build(calls: Any) -> Any:
            field, power = calls

            def worked(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                field(t, y[:n], parameters, structure, work, out[:d])
                power(t, y[:n], parameters, structure, work, out[d:])

            return worked

        return self.made(build, (self.field, ()), self.held.field, self.power)

    def invariants(self, watches: bool) -> Field:
        """The invariants, and behind them the balance."""
        n, count = self.n, self.held.invariant_count
        energy = list(self.held.invariant_names).index("energy") if watches else 0
        m = self.m if watches else 0

        def build(calls: Any) -> Any:
            (invariants,) = calls

            def watched(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                invariants(t, y[:n], parameters, structure, work, out[:count])
                for k in range(m):
                    out[count] = (out[energy] if k == 0 else out[count]) - y[n + k]

            return watched

        return self.made(build, (self.invariants, (watches,)), self.held.invariants)

    def projection(self) -> Field:
        """The state projected, the work as it is."""
        n, m = self.n, self.m

        def build(calls: Any) -> Any:
            (projection,) = calls

            def projected(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
                projection(t, y[:n], parameters, structure, work, out[:n])
                for k in range(m):
                    out[n + k] = y[n + k]

            return projected

        return self.made(build, (self.projection, ()), self.held.projection)

    def own_step(self, own: OwnStep) -> OwnStep:
        """A step that the problem brings itself, with the work over each of its parts."""
        rows, columns = own.shape
        step = _WorkedStep(self, own.step, rows)
        doubts = None if own.doubts is None else partial(_of_step, own.doubts, self.n)
        return replace(own, step=step, shape=(rows + ROWS, max(columns, 2 * self.m, 2)), action=None, doubts=doubts)


def _of_state(function: Callable[..., Any], n: int, t: Any, y: Any) -> Any:
    return function(t, np.asarray(y)[..., :n])


def _of_motion(function: Callable[..., Any], n: int, t: Any, y: Any, u: Any) -> Any:
    return function(t, np.asarray(y)[..., :n], u)


def _of_start(function: Callable[[Any], Any], n: int, y: Any) -> Any:
    return function(np.asarray(y)[..., :n])


def _of_step(function: Callable[..., Any], n: int, y: Any, h: float) -> Any:
    return function(y[:n], h)


class _WorkedStep(Entry):
    """The step of `_Account.own_step`."""

    def __init__(self, account: _Account, base: Entry, rows: int) -> None:
        self._given, self._base, self._rows = account, base, rows
        self._made: dict[bool, Any] = {}
        super().__init__(_worked_step(account, account.power.python, base.python, rows), ())
        self.recipe = _WorkedStep, (account, base, rows)

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
            parts = self._given.power, self._base
            power, base = (f.compiled_lanes if in_lanes else f.compiled for f in parts)
            step = _worked_step(self._given, power, base, self._rows)
            self._made[in_lanes] = compile_field(step, STEP_SIGNATURES[in_lanes])
        return self._made[in_lanes]


def _worked_step(account: _Account, power: Any, base: Any, rows: int) -> Callable[..., int]:
    n, m = account.n, account.m

    def step(
        field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
        structure: Any, field_work: Any, work: Any, counters: Any,
    ) -> int:  # fmt: skip
        inner, before, after = work[:rows], work[rows][:m], work[rows][m : 2 * m]
        single = work[rows + 1].ravel()
        single[0], single[1] = coefficients[0], 1.0
        for s in range(coefficients.shape[0] - 1):
            part = coefficients[1 + s] * h
            power(t, y[:n], parameters, structure, field_work, before)
            status = base(
                field, t, part, y[:n], low[:n], table, single[:2], options, parameters, structure, field_work, inner,
                counters,
            )  # fmt: skip
            if status != OK:
                return int(status)
            t = t + part
            power(t, y[:n], parameters, structure, field_work, after)
            for k in range(m):
                st(y, n + k, ld(y, n + k) + (0.5 * part) * (ld(before, k) + ld(after, k)))
        return int(OK)

    return step
