"""Formulas on many rows: compiled loops that take the place of NumPy on large float64 batches, with the same bits.

A formula of tuples becomes ``for r in rows: out[r] = formula(a[r], b[r], …)``, compiled as soon as it has served `MANY`
rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import Entry, constants, helper, integer, is_formula, nothing, vector
from liegroup.table import load_components, store_components

Array = NDArray[Any]
MANY = 2**14
"""Rows a formula must have served, in large batches or in many calls, before its loop is compiled: that costs about a
second, once.
"""
CALL = 16
"""What a call counts for, however few its rows: NumPy and Python spend that much on it."""
_served: dict[Any, float] = {}


def worthwhile(function: Callable[..., Any], parts: Sequence[Array], lead: tuple[int, ...]) -> bool:
    """Whether `evaluate` can take this call and should."""
    if any(p.dtype.char != "d" for p in parts) or 0 in lead:
        return False
    served = _served.get(function)
    if served is None:
        served = 0.0 if _can_compile(function) and len(parts) in _LOOPS else -math.inf
    _served[function] = served = served + math.prod(lead) + CALL
    return served > MANY


def _can_compile(function: Any) -> bool:
    """A formula of this package: the cache of compiled loops knows its sources only."""
    return is_formula(function) and function.__module__.startswith("liegroup.")


def evaluate(function: Callable[..., Any], parts: Sequence[Array], lead: tuple[int, ...]) -> Array:
    """The formula on arrays ``(…, nₖ)`` with common leading shape `lead`: array ``(*lead, *shape of the result)``."""
    sizes = tuple([p.shape[-1] for p in parts])
    loop, shape = _loops.get((function, sizes)) or _build(function, sizes)
    arguments: list[Any] = []
    for p, n in zip(parts, sizes, strict=True):
        single = p.size == n
        rows = p if single or p.shape[:-1] == lead else np.broadcast_to(p, (*lead, n))
        arguments += [np.ascontiguousarray(rows).reshape(-1), 0 if single else n]
    out = np.empty(lead + shape)
    loop(*arguments, out.reshape(-1), math.prod(lead))
    return out


_loops: dict[tuple[Any, tuple[int, ...]], tuple[Any, tuple[int, ...]]] = {}


def _build(function: Any, sizes: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """The compiled loop, and the shape of one result."""
    with np.errstate(all="ignore"):
        shape = np.shape(function(*(tuple(np.full(n, 0.5)) for n in sizes)))
    entry = Entry(
        loop_over_rows(function, sizes, shape), (nothing(*(constants, integer) * len(sizes), vector, integer),)
    )
    _loops[function, sizes] = entry.compiled, shape
    return _loops[function, sizes]


def loop_over_rows(function: Any, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The Python function ``(a, step_a, b, step_b, …, out, rows)`` on flat arrays, for `Entry`.

    A function made by another one names in `sources` the files of what it was made of.
    """
    loads = [load_components(n) for n in sizes]
    python: Any = _LOOPS[len(sizes)](
        function, *loads, flatten(shape), store_components(math.prod(shape)), math.prod(shape)
    )
    python.sources = (function.__code__.co_filename, *getattr(function, "sources", ()))
    return python


def flatten(shape: tuple[int, ...]) -> Any:
    """The function from a formula's result (a scalar, a tuple, a tuple of rows) to one flat tuple."""
    if len(shape) == 0:

        @helper
        def pack(x: Any) -> Any:
            return (x,)
    elif len(shape) == 1:

        @helper
        def pack(x: Any) -> Any:
            return x
    else:
        pack = _join_rows(shape[0])
    return pack


def _join_rows(n: int) -> Any:
    if n == 1:

        @helper
        def only(x: Any) -> Any:
            return x[0]

        return only
    rest, last = _join_rows(n - 1), n - 1

    @helper
    def join(x: Any) -> Any:
        return rest(x[:last]) + x[last]

    return join


def _loop_of_one(function: Any, load_a: Any, pack: Any, store: Any, m: int) -> Any:
    def loop(a: Any, step_a: Any, out: Any, rows: Any) -> None:
        for r in range(rows):
            store(out, r * m, pack(function(load_a(a, r * step_a))))

    return loop


def _loop_of_two(function: Any, load_a: Any, load_b: Any, pack: Any, store: Any, m: int) -> Any:
    def loop(a: Any, step_a: Any, b: Any, step_b: Any, out: Any, rows: Any) -> None:
        for r in range(rows):
            store(out, r * m, pack(function(load_a(a, r * step_a), load_b(b, r * step_b))))

    return loop


def _loop_of_three(function: Any, load_a: Any, load_b: Any, load_c: Any, pack: Any, store: Any, m: int) -> Any:
    def loop(a: Any, step_a: Any, b: Any, step_b: Any, c: Any, step_c: Any, out: Any, rows: Any) -> None:
        for r in range(rows):
            store(out, r * m, pack(function(load_a(a, r * step_a), load_b(b, r * step_b), load_c(c, r * step_c))))

    return loop


_LOOPS: dict[int, Callable[..., Any]] = {1: _loop_of_one, 2: _loop_of_two, 3: _loop_of_three}
