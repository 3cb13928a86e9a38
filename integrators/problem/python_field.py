"""Plain Python functions as compiled fields: compiled steppers call them back, so that only the functions themselves
cost Python's time.

The addresses of the functions are at the end of `structure`, behind them in `parameters` is room for their arguments
and values: one compilation serves all.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from integrators.problem.fields import Field
from integrators.problem.problem import Problem
from integrators.signatures import FIELD_LANES_SIGNATURE, FIELD_SIGNATURE
from liegroup.compile import C_FUNCTION, WIDTH, call_at, entry, helper, is_jitted

EVALUATED, INVARIANTS, PROJECTION, EVENTS, SIZE, RATES = range(6)
COUNT = 6
"""Slots: what the stepper evaluates, the invariants, the projection, the event functions, what an integrating
controller goes by, the field itself.
"""


@helper
def call(slot: Any, t: Any, y: Any, parameters: Any, structure: Any, out: Any) -> None:
    """out = the values of the function of a slot: it reads their number and y in `parameters` and writes its values
    behind them.
    """
    addresses = structure.shape[0] - COUNT
    first = structure[addresses - 1]
    values = first + 1 + y.shape[0]
    parameters[first] = out.shape[0]
    for i in range(y.shape[0]):
        parameters[first + 1 + i] = y[i]
    call_at(structure[addresses + slot], t)
    for i in range(out.shape[0]):
        out[i] = parameters[values + i]


@entry(FIELD_SIGNATURE)
def evaluated(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """In the slot of what the stepper evaluates."""
    call(EVALUATED, t, y, parameters, structure, out)


@entry(FIELD_SIGNATURE)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The invariants."""
    call(INVARIANTS, t, y, parameters, structure, out)


@entry(FIELD_SIGNATURE)
def projection(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The projection."""
    call(PROJECTION, t, y, parameters, structure, out)


@entry(FIELD_SIGNATURE)
def events(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The event functions."""
    call(EVENTS, t, y, parameters, structure, out)


@entry(FIELD_SIGNATURE)
def size(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What an integrating controller goes by."""
    call(SIZE, t, y, parameters, structure, out)


@entry(FIELD_SIGNATURE)
def rates(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The field at one state, where the stepper evaluates something else or elsewhere."""
    call(RATES, t, y, parameters, structure, out)


BY_SLOT = (evaluated, invariants, projection, events, size, rates)


@entry(FIELD_LANES_SIGNATURE)
def evaluated_at_once(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The same slot for eight states in one call, at the times in the last row of the workspace: behind the number of
    values stand the times, the states one by one, and their values.
    """
    addresses, n, d = structure.shape[0] - COUNT, y.shape[0], out.shape[0]
    times = structure[addresses - 1] + 1
    states = times + WIDTH
    values = states + WIDTH * n
    parameters[times - 1] = d
    for lane in range(WIDTH):
        parameters[times + lane] = work[work.shape[0] - 1, 0, lane]
        for i in range(n):
            parameters[states + lane * n + i] = y[i, lane]
    call_at(structure[addresses + EVALUATED], t)
    for lane in range(WIDTH):
        for i in range(d):
            out[i, lane] = parameters[values + lane * d + i]


def _as_called(field: Field) -> Callable[..., None]:
    """A field as it is called from Python.

    Of one that is made of kernels and of what users have jitted, the compiled form: interpreted, the equations of
    motion of a mechanism with one jitted input take a thousand times as long.  A jitted function by itself is called as
    it is, and says what it raises.
    """
    is_made_of_parts = field.is_compiled and not is_jitted(field.source)
    return field.compiled if is_made_of_parts else field.python


class CalledBack:
    """The plain Python functions of one run, called back by compiled code.

    Exceptions cannot pass through compiled code: the first one is kept, all functions give NaN from then on, and
    `raise_pending` raises it.

    Parameters
    ----------
    problem : Problem
    room : int
        Most values one of the functions gives.
    states : int
        Most states in one call.

    Attributes
    ----------
    parameters, structure
        What compiled code must be handed instead of the problem's own.
    has_raised
        Whether an exception has been raised again.
    """

    def __init__(self, problem: Problem, room: int, states: int = 1) -> None:
        self._problem, self._first = problem, len(problem.parameters)  # type: ignore[arg-type]
        self.parameters = np.concatenate([problem.parameters, np.zeros(1 + states * (1 + problem.n + room))])
        self.structure = np.concatenate([problem.structure, [self._first], np.zeros(COUNT)]).astype(np.int64)
        self._work = np.zeros(problem.work_shape)
        self._own, self._structure = self.parameters[: self._first], problem.structure
        self._called: list[Any] = []
        self._pending: BaseException | None = None
        self._when = ""
        self.has_raised = False

    def compiled(self, field: Field, slot: int) -> Any:
        """The function as a compiled field, in its slot."""
        self._put(slot, self._call(_as_called(field), self._name(field, slot)))
        return BY_SLOT[slot].compiled

    def compiled_at_once(self, field: Field, in_batches: bool) -> Any:
        """What the stepper evaluates as a compiled field of eight states, called for one after the other or for all at
        once.
        """
        self._put(EVALUATED, partial(self._call_at_once, _as_called(field), self._name(field, EVALUATED), in_batches))
        return evaluated_at_once.compiled

    def _name(self, field: Field, slot: int) -> str:
        """What the user has given it as."""
        if slot in (EVALUATED, RATES):
            return "parts" if field is self._problem.parts else "field"
        return BY_SLOT[slot].__name__

    def _put(self, slot: int, call: Callable[[float], None]) -> None:
        self._called.append(C_FUNCTION(call))
        self.structure[slot - COUNT] = ctypes.cast(self._called[-1], ctypes.c_void_p).value or 0

    def _call(self, function: Callable[..., None], name: str) -> Callable[[float], None]:
        """What is called back: everything that can be is looked up before."""
        first = self._first + 1
        behind = first + self._problem.n
        given, size = self.parameters[first:behind], self.parameters[first - 1 : first]
        room = lru_cache(lambda size: self.parameters[behind : behind + size])

        def call(t: float) -> None:
            self._evaluate(function, name, t, given.copy(), room(int(size.item())))

        return call

    def _call_at_once(self, function: Callable[..., None], name: str, in_batches: bool, t: float) -> None:
        first, n, d = self._first + 1, self._problem.n, int(self.parameters[self._first])
        given = self.parameters[first : first + WIDTH * (1 + n)].copy()
        times, states = given[:WIDTH], given[WIDTH:].reshape(WIDTH, n)
        values = self.parameters[first + len(given) : first + len(given) + WIDTH * d].reshape(WIDTH, d)
        if in_batches:
            self._evaluate(function, name, times, states, values)
        else:
            for time, y, out in zip(times.tolist(), states, values, strict=True):
                self._evaluate(function, name, time, y, out)

    def _evaluate(self, function: Callable[..., None], name: str, t: Any, y: Any, values: Any) -> None:
        if self._pending is not None:
            values.fill(np.nan)
            return
        values.fill(0.0)
        try:
            function(t, y, self._own, self._structure, self._work, values)
        except BaseException as error:  # also a second Ctrl-C: raised again by `raise_pending`
            self._pending = error
            self._when = f"raised by {name}, called at t = {t!r}, y = {y.tolist()}"
            values.fill(np.nan)

    def take_pending(self, where: str) -> BaseException | None:
        """What a function raised, if one did, with a note when and where; it is then forgotten, and functions are
        called again.
        """
        error, self._pending = self._pending, None
        if error is not None:
            error.add_note(f"{self._when}, {where}")
        return error

    def raise_pending(self, where: str) -> None:
        """Raise what a function raised, if one did, with a note when and where."""
        if (error := self.take_pending(where)) is not None:
            self.has_raised = True
            raise error
