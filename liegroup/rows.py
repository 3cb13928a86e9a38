"""Formulas on many rows: compiled loops that take the place of NumPy on large float64 batches, with the same bits.

A formula of tuples becomes ``for r in rows: out[r] = formula(a[r], b[r], …)``, compiled when a batch of `MANY` rows first asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import Entry, constants, helper, integer, is_formula, nothing, vector
from liegroup.table import load_components, store_components

Array = NDArray[Any]
MANY = 2**14
"""Rows from which a compiled loop takes over; compiling it costs about a second, once."""


def worthwhile(function: Callable[..., Any], parts: Sequence[Array], lead: tuple[int, ...]) -> bool:
    """Whether `evaluate` can take this call and should; the cache of loops knows the sources of this package only."""
    ours = is_formula(function) and function.__module__.startswith("liegroup.")
    return math.prod(lead) >= MANY and ours and all(p.dtype == np.float64 for p in parts) and len(parts) in _LOOPS


def evaluate(function: Callable[..., Any], parts: Sequence[Array], lead: tuple[int, ...]) -> Array:
    """The formula on arrays ``(…, nₖ)`` with common leading shape `lead`: array ``(*lead, *shape of the result)``."""
    first = [tuple(p[(0,) * (p.ndim - 1)]) for p in parts]
    with np.errstate(all="ignore"):
        shape = np.shape(function(*first))
    loop = _loop(function, tuple(map(len, first)), shape)
    out = np.empty((*lead, *shape))
    arguments: list[Any] = []
    for p in parts:
        single = math.prod(p.shape[:-1]) == 1
        rows = p if single else np.broadcast_to(p, (*lead, p.shape[-1]))
        arguments += [np.ascontiguousarray(rows).reshape(-1), 0 if single else p.shape[-1]]
    loop(*arguments, out.reshape(-1), math.prod(lead))
    return out


@cache
def _loop(function: Any, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Entry:
    return Entry(loop_over_rows(function, sizes, shape), (nothing(*(constants, integer) * len(sizes), vector, integer),))


def loop_over_rows(function: Any, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The Python function ``(a, step_a, b, step_b, …, out, rows)`` on flat arrays, for `Entry`."""
    loads = [load_components(n) for n in sizes]
    python: Any = _LOOPS[len(sizes)](function, *loads, _flatten(shape), store_components(math.prod(shape)), math.prod(shape))
    python.sources = (function.__code__.co_filename,)
    return python


def _flatten(shape: tuple[int, ...]) -> Any:
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
