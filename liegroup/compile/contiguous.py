"""The code for entries and views of contiguous arrays, and for arrays that are passed as a pointer and a shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import StructModel
from numba.extending import register_model
from numba.np.arrayobj import load_item

_WORD = ir.IntType(64)
_ZERO = _WORD(0)
Index = tuple[Any, bool]
"""A word, and whether it may be negative."""


def is_contiguous(type_: Any) -> bool:
    """Whether a type is that of contiguous arrays, of one axis at least."""
    return isinstance(type_, types.Array) and type_.layout == "C" and type_.ndim > 0


def indices_of(context: Any, builder: Any, value: Any, kind: Any) -> list[Index]:
    """What `value` of the type `kind` says as an index; nothing if it is not made of integers."""
    kinds = list(kind) if isinstance(kind, types.BaseTuple) else [kind]
    if not all(isinstance(x, types.Integer) for x in kinds):
        return []
    values = [value]
    if isinstance(kind, types.BaseTuple):
        values = [builder.extract_value(value, k) for k in range(len(kinds))]
    return [_word(context, builder, x, of) for x, of in zip(values, kinds, strict=True)]


def _word(context: Any, builder: Any, value: Any, kind: Any) -> Index:
    if isinstance(kind, types.IntegerLiteral):
        return _WORD(kind.literal_value), kind.literal_value < 0
    plain = types.unliteral(kind)
    word = context.cast(builder, value, plain, types.intp if plain.signed else types.uintp)
    known = word.constant if isinstance(word, ir.Constant) else None
    return word, plain.signed and not (isinstance(known, int) and known >= 0)


class Known:
    """A contiguous array as a function that is being written knows it."""

    def __init__(self, context: Any, builder: Any, type_: Any, value: Any) -> None:
        self._context, self._builder, self._type = context, builder, type_
        self._model, self.value = context.data_model_manager[type_], value

    def part(self, name: str) -> Any:
        """What the compiler keeps under a name."""
        return self._model.get(self._builder, self.value, name)

    def with_part(self, value: Any, part: Any, name: str) -> Any:
        """A value of this kind with another part under a name."""
        return self._model.set(self._builder, value, part, name)

    @property
    def shape(self) -> list[Any]:
        """The lengths of the axes."""
        shape = self.part("shape")
        return [self._builder.extract_value(shape, k) for k in range(self._type.ndim)]

    def place(self, indices: Sequence[Index]) -> Any:
        """A pointer to what is at some of the first indices."""
        builder, offset = self._builder, None
        shape = self.shape if self._type.ndim > 1 or indices[0][1] else [_ZERO]
        for (index, signed), size in zip(indices, shape, strict=False):
            if signed:
                index = builder.select(builder.icmp_signed("<", index, _ZERO), builder.add(index, size), index)
            offset = index if offset is None else builder.add(builder.mul(offset, size), index)
        for size in shape[len(indices) :]:
            offset = builder.mul(offset, size)
        return builder.gep(self.part("data"), [offset])

    def at(self, indices: Sequence[Index], result: Any) -> Any:
        """The entry at all indices, or what is left of the array at some of the first ones, of the type `result`."""
        context, builder, count = self._context, self._builder, len(indices)
        if count == self._type.ndim:
            return load_item(context, builder, self._type, self.place(indices))
        left, strides = self.shape[count:], self.part("strides")
        parts = {name: self.part(name) for name in ("meminfo", "parent", "itemsize")}
        parts |= {
            "nitems": reduce(builder.mul, left),
            "data": self.place(indices),
            "shape": cgutils.pack_array(builder, left),
            "strides": cgutils.pack_array(
                builder, [builder.extract_value(strides, k) for k in range(count, self._type.ndim)]
            ),
        }
        return made(context, builder, result, parts)


def view(builder: Any, array: Known, starts: Any, stops: Any) -> Any:
    """The entries of an array from one to another along its first axis, both within it; None where it begins or ends
    with the array.
    """
    size, *across = array.shape
    first = _ZERO if starts is None else _within(builder, starts, size)
    last = size if stops is None else _within(builder, stops, size)
    count = last if starts is None else builder.sub(last, first)
    if starts is not None and stops is not None:
        count = builder.select(builder.icmp_signed("<", count, _ZERO), _ZERO, count)
    shape = builder.insert_value(array.part("shape"), count, 0)
    found = array.with_part(array.value, reduce(builder.mul, across, count), "nitems")
    found = array.with_part(found, shape, "shape")
    return array.with_part(found, builder.gep(array.part("data"), [reduce(builder.mul, across, first)]), "data")


def _within(builder: Any, bound: Any, size: Any) -> Any:
    """A bound of a view; one that is negative or too large is mended apart, so that others do not wait for it."""
    is_odd, usual = builder.icmp_unsigned(">", bound, size), builder.block
    with builder.if_then(is_odd, likely=False):
        mended = builder.select(builder.icmp_signed("<", bound, _ZERO), builder.add(bound, size), bound)
        mended = builder.select(builder.icmp_signed("<", mended, _ZERO), _ZERO, mended)
        mended = builder.select(builder.icmp_signed(">=", mended, size), size, mended)
        odd = builder.block
    found = builder.phi(_WORD)
    found.add_incoming(bound, usual)
    found.add_incoming(mended, odd)
    return found


def words_as(context: Any, builder: Any, given: Any, wanted: Any, array: Any) -> Any:
    """A contiguous array of one type with all 64 bits of each entry taken for numbers of another."""
    of, to = (context.data_model_manager[x] for x in (given, wanted))
    found = ir.Constant(to.get_value_type(), ir.Undefined)
    for name in ("meminfo", "parent", "nitems", "itemsize", "shape", "strides"):
        found = to.set(builder, found, of.get(builder, array, name), name)
    data = builder.bitcast(of.get(builder, array, "data"), context.get_data_type(wanted.dtype).as_pointer())
    return to.set(builder, found, data, "data")


def made(context: Any, builder: Any, type_: Any, parts: Mapping[str, Any]) -> Any:
    """A value of several parts."""
    model = context.data_model_manager[type_]
    value = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, x in parts.items():
        value = model.set(builder, value, x, name)
    return value


def contiguous(context: Any, builder: Any, type_: Any, data: Any, shape: Sequence[Any]) -> Any:
    """The contiguous array at an address with a shape, owned by nobody."""
    size = context.get_abi_sizeof(context.get_data_type(type_.dtype))
    strides = [_WORD(size)]
    for n in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], n))
    parts = {
        "meminfo": ir.Constant(cgutils.voidptr_t, None),
        "parent": ir.Constant(cgutils.voidptr_t, None),
        "nitems": reduce(builder.mul, shape),
        "itemsize": _WORD(size),
        "data": data,
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    return made(context, builder, type_, parts)


# --- arguments --------------------------------------------------------------------------------------------------------


class Bare(types.Type):
    """A contiguous array as a pointer and a shape."""

    def __init__(self, array: Any) -> None:
        self.array = array
        super().__init__(f"Bare({array})")


@register_model(Bare)
class _BareModel(StructModel):
    def __init__(self, manager: Any, type_: Bare) -> None:
        shape = types.UniTuple(types.intp, type_.array.ndim)
        super().__init__(manager, type_, [("data", types.CPointer(type_.array.dtype)), ("shape", shape)])


def bare(type_: Any) -> Any:
    """How an argument is passed."""
    return Bare(type_) if is_contiguous(type_) else type_


def laid_bare(context: Any, builder: Any, type_: Any, value: Any) -> Any:
    """An argument as it is passed."""
    if not is_contiguous(type_):
        return value
    known = Known(context, builder, type_, value)
    return made(context, builder, Bare(type_), {name: known.part(name) for name in ("data", "shape")})


def restored(context: Any, builder: Any, type_: Any, value: Any) -> Any:
    """What was passed, `type_`, as it was."""
    if not isinstance(type_, Bare):
        return value
    known = Known(context, builder, type_, value)
    shape = known.part("shape")
    return contiguous(
        context,
        builder,
        type_.array,
        known.part("data"),
        [builder.extract_value(shape, k) for k in range(type_.array.ndim)],
    )
