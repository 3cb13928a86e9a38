"""Arrays of which something is known while functions are compiled: what it is, formulas ask as they ask for a constant.

A function that takes such an array is compiled anew for it, without what cannot occur.  In Python an array is what it
is, and nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.datamodel.models import ArrayModel
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic

from liegroup.compile.decorators import compiled_form
from liegroup.compile.straight import without_effect


class Marked(types.Array):
    """The type of a contiguous array with a mark."""

    def __init__(self, dtype: Any, ndim: int, layout: str, mark: str) -> None:
        self.mark = mark
        super().__init__(dtype, ndim, layout, name=f"Marked({mark}, {dtype}, {ndim}, {layout})")

    @property
    def key(self) -> Any:
        """What tells types apart."""
        return (*super().key, self.mark)


register_default(Marked)(ArrayModel)


def mark(name: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """A mark: ``put(a)`` → the array with it; ``has(a)`` → whether an array has it, in compiled code alone."""

    def put(a: Any) -> Any:
        return a

    def has(a: Any) -> bool:
        return False

    @without_effect
    @intrinsic
    def marked(typing_context: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return args[0]

        return Marked(a.dtype, a.ndim, a.layout, name)(a), generate

    @compiled_form(put)
    def _put(a: Any) -> Any:
        return lambda a: marked(a)

    @compiled_form(has)
    def _has(a: Any) -> Any:
        return (lambda a: True) if isinstance(a, Marked) and a.mark == name else (lambda a: False)

    return put, has
