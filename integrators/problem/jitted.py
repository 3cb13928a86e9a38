"""Functions that users have jitted, compiled so that what they raise is not lost.

Exceptions cannot pass through compiled loops, which would go on with whatever `out` held.  Here the values become NaN,
and the call is reported number by number to Python, where the function is called once more for its exception, which
`raise_raised` raises when the loop is left.  Whoever calls compiled code calls it afterwards: it also raises what kept
that code from a formula it needed.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from integrators.signatures import FIELD_LANES_SIGNATURE, FIELD_SIGNATURE, FIELD_TIMED_SIGNATURE
from liegroup.compile import C_FUNCTION, call_at, kernel, ld2, raise_pending
from liegroup.compile.attempt import attempt_of, compile_around

NAN = float("nan")
_HEADER = 7
"""Numbers at the beginning of a report: t and the sizes of y, parameters, structure, work (two), out."""
_kept: list[Any] = []
"""The C functions whose addresses compiled code holds."""


class _Raised(threading.local):
    """What a jitted function has raised, the first time, in this thread."""

    first: BaseException | None = None


_raised = _Raised()


def take_raised() -> BaseException | None:
    """What a jitted function has raised below compiled code, if anything; it is then forgotten."""
    error, _raised.first = _raised.first, None
    return error


def raise_raised(where: str = "") -> None:
    """Raise what kept compiled code from a formula, or what a jitted function has raised below such code, if anything
    did; the latter with a note where.
    """
    raise_pending()
    if (error := take_raised()) is not None:
        if where:
            error.add_note(where)
        raise error


def keep_raised(error: BaseException) -> None:
    """Keep what a Python function below compiled code has raised, unless something was raised before: `raise_raised`
    raises it.
    """
    _raised.first = _raised.first or error


def compiled_field(function: Callable[..., None], python: Callable[..., None], name: str) -> Any:
    """A jitted function of all six arguments for one trajectory; `python`: its interpreted form."""
    attempt, address = attempt_of(function, FIELD_SIGNATURE, name), address_of(_Reports(python, name))

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        if attempt(t, y, parameters, structure, work, out):
            report(address, t, y, parameters, structure, work, out)

    return compile_around(field, FIELD_SIGNATURE)


def compiled_field_lanes(function: Callable[..., None], python: Callable[..., None], name: str) -> Any:
    """The same in lanes, where only that something was raised is reported: the steps are taken again one by one."""
    attempt, address = attempt_of(function, FIELD_LANES_SIGNATURE, name), address_of(_Reports(python, name))

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        if attempt(t, y, parameters, structure, work, out):
            out[:] = NAN
            call_at(address, NAN)

    return compile_around(field, FIELD_LANES_SIGNATURE)


def compiled_field_timed(function: Callable[..., None], python: Callable[..., None], name: str) -> Any:
    """The same with a time of its own in each lane, from the last row of the workspace; None if the compiler refuses
    times in lanes.
    """
    try:
        attempt = attempt_of(function, FIELD_TIMED_SIGNATURE, name)
    except TypeError:
        return None
    address = address_of(_Reports(python, name))

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        times = work.shape[0] - 1
        if attempt(ld2(work, times, 0), y, parameters, structure, work[:times], out):
            out[:] = NAN
            call_at(address, NAN)

    return compile_around(field, FIELD_LANES_SIGNATURE)


@kernel
def report(address: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = NaN; the arguments of the call go to Python, number by number."""
    call_at(address, t)
    call_at(address, float(y.shape[0]))
    call_at(address, float(parameters.shape[0]))
    call_at(address, float(structure.shape[0]))
    call_at(address, float(work.shape[0]))
    call_at(address, float(work.shape[1]))
    call_at(address, float(out.shape[0]))
    for i in range(y.shape[0]):
        call_at(address, y[i])
    for i in range(parameters.shape[0]):
        call_at(address, parameters[i])
    for i in range(structure.shape[0]):
        call_at(address, float(structure[i]))
    for i in range(out.shape[0]):
        out[i] = NAN


def address_of(reports: Callable[[float], None]) -> int:
    """The address of a Python function as a C function, which is kept from now on."""
    _kept.append(C_FUNCTION(reports))
    return ctypes.cast(_kept[-1], ctypes.c_void_p).value or 0


class _Reports(threading.local):
    """Takes a report number by number; when it is complete, keeps what the function raises."""

    def __init__(self, python: Callable[..., None], name: str) -> None:
        self._python, self._name = python, name
        self._numbers: list[float] = []

    def __call__(self, number: float) -> None:
        numbers = self._numbers
        numbers.append(number)
        if np.isnan(numbers[0]):
            self._numbers, _raised.first = [], _raised.first or RuntimeError(f"{self._name} raises an exception")
            return
        if len(numbers) >= _HEADER and len(numbers) == _HEADER + sum(numbers[1:4]):
            self._numbers = []
            _raised.first = _raised.first or self._raised(numbers)

    def _raised(self, numbers: list[float]) -> BaseException:
        n, p, _, rows, columns, values = (int(x) for x in numbers[1:_HEADER])
        t, (y, parameters, structure) = numbers[0], np.split(np.array(numbers[_HEADER:]), [n, n + p])
        where = f"{self._name}, called at t = {t!r}, y = {y.tolist()}"
        try:
            self._python(t, y, parameters, structure.astype(np.int64), np.zeros((rows, columns)), np.zeros(values))
        except BaseException as error:
            error.add_note(f"raised by {where}")
            return error
        return RuntimeError(f"{where}, raises an exception in its compiled form, but not as plain Python")
