"""Functions that users have compiled, called once more by their source: compiled code reads and writes behind its
arrays without a word, and keeps what it has read of its module.

Of states of up to `LOOKED_AT` numbers, since sources with long loops take their time; what has no interpreted form is
not looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.fields import ReturnedError, functions_of, source_of, writes_values
from liegroup.compile import Entry, is_jitted, is_ours

Array = NDArray[np.float64]
LOOKED_AT, APART = 100, 1e-6
"""Components of the largest state that is looked at, and what a jitted field and its source may differ by."""


def _of_users(problem: Any) -> Iterator[tuple[str, Any, int]]:
    """Name, source and number of values of the functions of a problem that users have compiled."""
    if problem.n > LOOKED_AT:
        return
    for name, function, size in (
        ("field", problem.field, problem.dimension), ("invariants", problem.invariants, problem.invariant_count),
    ):  # fmt: skip
        found = functions_of(function)
        if any(is_jitted(f) and not (isinstance(f, Entry) and is_ours(f.__module__)) for f in found):
            yield name, source_of(function, name), size


def _written_by_hand(problem: Any) -> Iterator[tuple[str, Any, int]]:
    """The same of plain Python functions that write their values."""
    for name, function, size in (
        ("field", problem.field, problem.dimension), ("invariants", problem.invariants, problem.invariant_count),
    ):  # fmt: skip
        if any(writes_values(f, name) and not is_ours(getattr(f, "__module__", None)) for f in functions_of(function)):
            yield name, function.python, size


def _called(problem: Any, source: Any, t: float, y: Array, out: Array) -> None:
    """Write the values of a source at one state, on arrays of the sizes that its compiled form gets."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source(t, y, problem.own_parameters(), problem.structure, np.zeros(problem.work_shape), out)


def check_arrays(problem: Any, t: float, y: Array) -> None:
    """ValueError where a function that users have compiled reads or writes behind its arrays, writes into its state, or
    leaves a value out, `ReturnedError` where it returns what it should write; asked before its compiled form is called.
    """
    for name, source, size in _of_users(problem):
        given, values, others = np.array(y), np.full(size, np.nan), np.zeros(size)
        try:
            for out in (values, others):
                _called(problem, source, t, given, out)
        except IndexError as error:
            raise ValueError(
                f"{name}: {error}; its compiled form would read what is behind its arrays. The problem gives it "
                f"{len(y)} numbers of y, {len(problem.parameters)} parameters, {len(problem.structure)} integers of "
                f"structure, a workspace of {problem.work_shape[0]} × {problem.work_shape[1]} numbers, and room for "
                f"{size} values"
            ) from error
        except ReturnedError:
            raise
        except Exception:  # what has no interpreted form is not looked at
            continue
        if not np.array_equal(given, y, equal_nan=True):
            k = int(np.flatnonzero(given != y)[0])
            raise ValueError(f"{name}: writes into y[{k}], the state of the run; work on a copy: y = y.copy()")
        if (left := np.flatnonzero(np.isnan(values) & ~np.isnan(others))).size:
            raise ValueError(f"{name}: does not set component {left[0]} of {size}; st(out, {left[0]}, …) sets it")
    for name, source, size in _written_by_hand(problem):
        values, others = np.full(size, np.nan), np.zeros(size)
        try:
            for out in (values, others):
                _called(problem, source, t, np.array(y), out)
        except Exception:  # the run says what it is, with time and state
            continue
        if (left := np.flatnonzero(np.isnan(values) & ~np.isnan(others))).size:
            raise ValueError(f"{name}: does not set component {left[0]} of {size}; out[{left[0]}] = … sets it")


def check_frozen(problem: Any, t: float, y: Array, velocity: Array) -> None:
    """A RuntimeWarning where a jitted field gives another velocity than its source: what it has read of its module is
    that of the time when it was compiled.
    """
    field = problem.field.source
    if not is_jitted(field) or isinstance(field, Entry) or problem.n > LOOKED_AT:
        return
    values = np.zeros(problem.dimension)
    try:
        _called(problem, source_of(problem.field, "field"), t, np.array(y), values)
    except Exception:  # what has no interpreted form is not compared
        return
    apart = np.abs(values - velocity)
    if np.isfinite(values).all() and apart.max(initial=0.0) > APART * np.abs(values).max(initial=1.0):
        k = int(np.argmax(apart))
        warnings.warn(
            f"field: component {k} is {velocity[k]:.9g} at the start, and {values[k]:.9g} by its source: was something "
            "that it reads changed since it was compiled? give it as `parameters`",
            RuntimeWarning,
            stacklevel=4,
        )


def beyond_arrays(problem: Any, states: Sequence[tuple[float, Array]]) -> tuple[float, str] | None:
    """The first of some times and states at which a function that users have compiled leaves its arrays, and what
    Python says of it.
    """
    for name, source, size in _of_users(problem):
        for t, y in states:
            try:
                _called(problem, source, t, np.array(y), np.zeros(size))
            except IndexError as error:
                return t, f"{name}: {error}"
            except Exception:  # what has no interpreted form there is not looked at
                break
    return None


def check_truth(events: Sequence[Any], problem: Any) -> None:
    """TypeError for jitted event functions that return truth values, of which compiled code makes 0 and 1."""
    y = np.array(np.atleast_2d(problem.y0)[0])
    for event in events:
        function = event.function
        if not is_jitted(function) or isinstance(function, Entry):
            continue
        try:
            _called(problem, source_of(function, f"event {event.name!r}"), 0.0, y, np.zeros(1))
        except TypeError as error:
            if "returned a truth value" in str(error):
                raise
        except Exception:  # what has no interpreted form is not asked
            pass
