"""The types of entry points and of functions passed as arguments."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import typeof_impl

from liegroup.compile.lanes import Lanes

nothing = types.void
boolean = types.boolean
integer = types.int64
real = types.float64
lane_real = Lanes
"""Eight numbers in one register."""
integers = types.int64[::1]
integer_table = types.int64[:, ::1]
vector = types.float64[::1]
constants = types.Array(types.float64, 1, "C", readonly=True)
"""A vector that is only read: arrays that may not be written are accepted, too."""
matrix = types.float64[:, ::1]
lane_vector = types.float64[:, ::1]
lane_matrix = types.float64[:, :, ::1]


def function(result: Any, *arguments: Any) -> Any:
    """The type of a compiled function passed as an argument; called through a pointer (about 2 ns)."""
    return types.FunctionType(result(*arguments))


def record(kind: type, *fields: Any) -> Any:
    """The type of a `NamedTuple` passed as an argument, from the types of its fields in order.

    Such a tuple is then known by its class, without a look at every field (2 µs each); of two types of one class, by
    the first array whose dimension tells them apart.
    """
    names = kind._fields  # type: ignore[attr-defined]
    if len(fields) != len(names):
        raise TypeError(f"record: {len(fields)} types for the fields of {kind.__name__}: {names}")
    made = types.BaseTuple.from_types(fields, kind)
    known = _RECORDS.setdefault(kind, [])
    if made in known:
        return made
    known.append(made)
    place = next((k for k, (x, y) in enumerate(zip(known[0], made, strict=True)) if _ndim(x) != _ndim(y)), None)
    if place is None:
        typeof_impl.register(kind, lambda value, context: made)
    else:
        by_dimension = {_ndim(x[place]): x for x in known}
        typeof_impl.register(kind, lambda value, context: by_dimension[value[place].ndim])
    return made


_RECORDS: dict[type, list[Any]] = {}


def _ndim(type_: Any) -> int:
    return getattr(type_, "ndim", 0)


class Pointer(types.WrapperAddressProtocol):
    """A compiled function as an argument that costs little to pass, for loops in Python around compiled steps.

    Passing the dispatcher itself, the compiler looks its code up at every call (40 µs).  `type_`: as made by
    `function`, which of the dispatcher's signatures is meant.
    """

    def __init__(self, dispatcher: Any, type_: Any) -> None:
        compiled = dispatcher.overloads[type_.signature.args]
        self._dispatcher, self.type, self.library = dispatcher, type_, compiled.library
        self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self.type.signature

    def __call__(self, *args: Any) -> Any:
        return self._dispatcher(*args)


@typeof_impl.register(Pointer)
def _type_of_pointer(pointer: Pointer, context: Any) -> Any:
    return pointer.type
