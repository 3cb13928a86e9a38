"""Around what is compiled together: a word on the screen; a clock; no collection of garbage, which takes a sixth of the
time, but of what each function was compiled with; no search for what the compiler has been taught meanwhile, unless it
has been taught something.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core.registry import cpu_target
from numba.core.typing import templates

from liegroup.compile import operators
from liegroup.compile.overloads import tell
from liegroup.compile.progress import announced
from liegroup.compile.waiting import waiting


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within it nothing is collected; around a set of functions rather than each, because what is put off comes in
    between.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with waiting(), announced(), _searched_once():
            yield
    finally:
        if was_enabled:
            gc.enable()


_searching: list[bool] = []


@contextmanager
def _searched_once() -> Iterator[None]:
    """The compiler looks for what it has been taught before each function that it compiles, or looks up in the cache,
    through sixty lists.
    """
    contexts = (cpu_target.typing_context, cpu_target.target_context)
    outermost = not _searching
    if outermost:
        _searching.append(True)
        for context in contexts:
            context.refresh = _where_something_is_new(context.refresh)
    try:
        yield
    finally:
        if outermost:
            _searching.clear()
            for context in contexts:
                with suppress(AttributeError):
                    del context.refresh


def _where_something_is_new(refresh: Callable[[], Any]) -> Callable[[], None]:
    known: list[int] = []

    def once() -> None:
        tell()
        if known != _taught():
            _learn_arrays()
            refresh()
            operators.forget()
            known[:] = _taught()

    return once


def _learn_arrays() -> None:
    """Load what the compiler knows of arrays, without its question whether SciPy's linear algebra is there.

    It asks by an import of 10 MB, and SciPy is required here.  What uses linear algebra imports it later.
    """
    if "numba.np.arraymath" not in sys.modules:
        linalg: Any = importlib.import_module("numba.np.linalg")
        asks = linalg.ensure_blas
        linalg.ensure_blas = lambda: None
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = asks


def _taught() -> list[int]:
    """Of how many things the compiler has been told, list by list."""
    lists = [getattr(templates.builtin_registry, name) for name in ("functions", "attributes", "globals")]
    for registry in cpu_target.target_context._registries:
        lists += [getattr(registry, name) for name in ("functions", "getattrs", "setattrs", "casts", "constants")]
    return [len(x) for x in lists]
