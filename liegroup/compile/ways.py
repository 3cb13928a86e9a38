"""Ways through a function: places where code goes on, and values that are one or another where ways meet (φ)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import types
from numba.core.registry import cpu_target

from liegroup.compile.straight import Notes, NotStraightError, Placeholder, type_of

CONSTANTS = bool, int, float, type(None)
"""Kinds of values that are known while a function is gone through."""


class NotPlainError(NotStraightError):
    """A function does what is left to the compiler."""


class End:
    """The end of a way: which values it brings to where ways meet."""

    def __init__(self, notes: Notes) -> None:
        self.given: list[tuple[Phi, Any]] = []
        self.numbers: list[int] = []
        notes.add(types.none, self._emit, self.numbers, acts=True)

    def give(self, phi: Phi, x: Any) -> None:
        """Bring a value."""
        self.given.append((phi, x))
        if isinstance(x, Placeholder):
            self.numbers.append(x.number)

    def _emit(self, context: Any, builder: Any, values: list[Any]) -> None:
        found = []
        for phi, x in self.given:
            is_known = not isinstance(x, Placeholder)
            value = context.get_constant_generic(builder, type_of(x), x) if is_known else values[x.number]
            found.append((phi, context.cast(builder, value, type_of(x), phi.type)))
        for phi, value in found:
            phi.bring(value, builder.block)


class Phi:
    """A value that is one or another."""

    def __init__(self, notes: Notes, type_: Any) -> None:
        self.type, self._waiting = type_, list[tuple[Any, Any]]()
        self._made: Any = None
        self.placeholder = notes.add(type_, self._emit, (), acts=True)

    def bring(self, value: Any, block: Any) -> None:
        """One that a way brings."""
        if self._made is None:
            self._waiting.append((value, block))
        else:
            self._made.add_incoming(value, block)

    def _emit(self, context: Any, builder: Any, values: list[Any]) -> Any:
        self._made = builder.phi(context.get_value_type(self.type))
        for value, block in self._waiting:
            self._made.add_incoming(value, block)
        return self._made


class Place:
    """Where code goes on."""

    def __init__(self) -> None:
        self._made: Any = None

    def made(self, builder: Any) -> Any:
        """The place in the function that is written."""
        if self._made is None:
            self._made = builder.function.append_basic_block()
        return self._made

    def begin(self, builder: Any) -> None:
        """Go on here."""
        block, blocks = self.made(builder), builder.function.blocks
        blocks.remove(block)
        blocks.append(block)
        builder.position_at_end(block)


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are one."""
    if a is b:
        return True
    if isinstance(a, Placeholder) or isinstance(b, Placeholder):
        return isinstance(a, Placeholder) and isinstance(b, Placeholder) and a.number == b.number
    if isinstance(a, tuple) and isinstance(b, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    return type(a) is type(b) and isinstance(a, CONSTANTS) and repr(a) == repr(b)


def joint(found: Sequence[Any]) -> Any:
    """One type for several."""
    plain = [types.unliteral(x) for x in found]
    first = plain[0]
    if all(x == first for x in plain):
        return first
    type_ = cpu_target.typing_context.unify_types(*plain)
    if type_ is None or isinstance(type_, types.Optional) or type_ == types.pyobject:
        raise NotPlainError(f"{plain}: no common type")
    return type_


def like(x: Any, parts: list[Any]) -> Any:
    """A tuple of the kind of another."""
    return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
