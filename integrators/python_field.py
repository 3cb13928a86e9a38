"""A plain Python function as a compiled field: compiled steppers call it back, so that only the function itself costs Python's time.

The address of the function is in `structure`, the room for its argument and its values in `parameters`: one compilation serves all.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.signatures import FIELD_SIGNATURE
from liegroup.compile import C_FUNCTION, call_at, entry

Array = NDArray[np.float64]


@entry(FIELD_SIGNATURE)
def called_back(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = the values of the function at the address structure[0], which reads y in `parameters` and writes its values behind it."""
    n = y.shape[0]
    for i in range(n):
        parameters[i] = y[i]
    call_at(structure[0], t)
    for i in range(out.shape[0]):
        out[i] = parameters[n + i]


class PythonField:
    """A Python function f(t, y) → v, called back by compiled code.

    Exceptions cannot pass through compiled code: the first one is kept, the field is NaN from then on, and `raise_pending` raises it.
    """

    def __init__(self, function: Callable[[float, Array], Any]) -> None:
        self._function = function
        self._pending: BaseException | None = None
        self._called = C_FUNCTION(self._call)

    def pose(self, problem: Problem) -> Problem:
        """The problem with this function as its field; one at a time."""
        address = ctypes.cast(self._called, ctypes.c_void_p).value
        posed = replace(problem, field=called_back, parameters=np.zeros(problem.n + problem.dimension), structure=[address or 0])
        numbers: Array = posed.parameters  # type: ignore[assignment]
        self._state, self._values = numbers[: problem.n], numbers[problem.n :]
        return posed

    def _call(self, t: float) -> None:
        try:
            self._values[:] = np.nan if self._pending else self._function(t, self._state.copy())
        except BaseException as error:  # also Ctrl-C: raised again by `raise_pending`
            self._pending = error
            self._values[:] = np.nan

    def raise_pending(self) -> None:
        """Raise what the function raised, if it did."""
        if self._pending is not None:
            error, self._pending = self._pending, None
            raise error
