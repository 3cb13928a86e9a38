"""Loops: entries that leave Python to other threads while they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liegroup.compile import Entry
from liegroup.compile.dispatchers import dispatcher_of
from liegroup.compile.options import KERNEL


class Loop(Entry):
    """An entry that runs without the lock of Python's interpreter; a plain Python function called back takes it again.

    Only what runs for long is one: giving the lock away and taking it again costs as much as a small kernel.
    """

    def _compile(self, wanted: Any) -> None:
        if self._dispatcher is None:
            self._dispatcher = dispatcher_of(self.python, KERNEL | {"nogil": True}, self._cache)
        super()._compile(wanted)


def loop(*signatures: Any) -> Callable[[Callable[..., Any]], Loop]:
    """Decorator: a loop with the given signatures, as those of `liegroup.compile.entry`."""
    return lambda function: Loop(function, signatures)
