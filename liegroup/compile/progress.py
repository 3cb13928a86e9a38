"""A word on the screen while kernels are compiled, if that takes longer than a second: what, that it happens once, and
how many are left.

On terminals and in notebooks it is a bar that goes away; elsewhere nothing is printed.  The logger ``liemech`` tells
the same at level INFO, for whoever asks: ``logging.getLogger("liemech").setLevel(logging.INFO)``.
"""

from __future__ import annotations

import logging
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from liegroup.compile.folders import cache_directory
from liegroup.display import bar

LOGGER = logging.getLogger("liemech")
PATIENCE = 1.0
"""Seconds of compilation that need no word."""


class _Compilation:
    """A set of functions that are compiled together: how many kernels it has, how many are done."""

    def __init__(self) -> None:
        self.began, self.done = time.perf_counter(), 0
        self.functions: list[Callable[..., Any]] = []
        self._kernels: set[Any] = set()
        self.bar: Any = None
        self.told = False

    def tick(self, compiled: bool) -> None:
        """One more kernel is there."""
        self.done += 1
        if not self.told and (not compiled or time.perf_counter() - self.began < PATIENCE):
            return
        if not self.told:
            self.told = True
            LOGGER.info("compiling about %d kernels, once; they are kept in %s", self.wanted, cache_directory())
            self.bar = _bar(self.wanted)
        self.bar.total = max(self.wanted, self.done)
        self.bar.update(self.done - self.bar.n)

    @property
    def wanted(self) -> int:
        """How many kernels there are: looked for where it is to be told, which most compilations are too short for."""
        self._kernels.update(*map(kernels_of, self.functions))
        self.functions.clear()
        return len(self._kernels)

    def end(self) -> None:
        if self.told:
            self.bar.close()
            LOGGER.info("compiled %d kernels in %.1f s", self.done, time.perf_counter() - self.began)


_now: list[_Compilation] = []


@contextmanager
def announced() -> Iterator[None]:
    """Around a set of functions that are compiled together."""
    outermost = not _now
    if outermost:
        _now.append(_Compilation())
    try:
        yield
    finally:
        if outermost:
            _now.pop().end()


def wanted(function: Callable[..., Any]) -> None:
    """A function is about to be compiled, with all the kernels it calls."""
    for compilation in _now[-1:]:  # of another thread, it may end meanwhile
        compilation.functions.append(function)


def tick(compiled: bool) -> None:
    """A kernel has been compiled, or else read from the cache."""
    for compilation in _now[-1:]:
        compilation.tick(compiled)


def kernels_of(function: Callable[..., Any]) -> set[Any]:
    """The kernels that a function calls by name, directly or through formulas and other kernels, and itself; not
    those that are compiled late.
    """
    found, seen, todo = {function}, set[Any](), [function]
    while todo:
        caller = todo.pop()
        for called in called_by(caller):
            if called not in seen and not getattr(called, "is_rare", False):
                seen.add(called)
                todo.append(called)
                if getattr(called, "is_kernel", False):
                    found.add(called)
    return found


def called_by(function: Any) -> Iterator[Any]:
    """Formulas and kernels among what the names of a function's code stand for."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or () if is_full(cell)]
    named = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    for module in [x for x in named if isinstance(x, types.ModuleType)]:
        named += [getattr(module, name) for name in code.co_names if hasattr(module, name)]
    for x in (*cells, *named):
        if getattr(x, "is_formula", False) and hasattr(x, "__code__"):
            yield x


def is_full(cell: Any) -> bool:
    """Whether a name that a function has from outside stands for something yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _bar(total: int) -> Any:
    layout = "{desc}: {n_fmt} of about {total_fmt} |{bar}| {elapsed}"
    return bar(desc="compiling kernels, once", bar_format=layout, total=total, mininterval=0.0)
