"""Named records as arguments of compiled functions: a pointer to what they hold.

A tuple of forty arrays is three hundred numbers, which the compiler would carry through every function that the tuple
is given to, and take out of Python's objects at every call.  A record lies in memory: word by word, of each field in
turn, the address of an array and its shape, the address of a function, a number.
"""

from __future__ import annotations

import hashlib
import struct
from ctypes import addressof, c_char
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, register_model, unbox
from numba.np.numpy_support import as_dtype

from liegroup.compile.addresses import Address
from liegroup.compile.contiguous import contiguous

_WORD = ir.IntType(64)


class Record(types.Type):
    """The type of a pointer to the fields of a `NamedTuple` of the class `kind`."""

    def __init__(self, kind: type, fields: tuple[Any, ...]) -> None:
        self.kind, self.fields = kind, dict(zip(kind._fields, fields, strict=True))  # type: ignore[attr-defined]
        self.dtypes = [as_dtype(f.dtype) if isinstance(f, types.Array) else None for f in fields]
        self.dimensions = [getattr(field, "ndim", 0) for field in fields]
        self.offsets, size = {}, 0
        for name, field in self.fields.items():
            self.offsets[name] = size
            size += 1 + getattr(field, "ndim", 0)
        digest = hashlib.sha256(f"{kind.__module__} {self.fields}".encode()).hexdigest()
        super().__init__(f"{kind.__name__}({digest[:12]})")


@register_model(Record)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _WORD.as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = Record

    def generic_resolve(self, record: Any, name: str) -> Any:
        return record.fields.get(name)


@lower_getattr_generic(Record)
def _field(context: Any, builder: Any, record: Any, pointer: Any, name: str) -> Any:
    type_, first = record.fields[name], record.offsets[name]

    def word(k: int) -> Any:
        loaded = builder.load(builder.gep(pointer, [_WORD(first + k)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))  # nobody writes while a function runs
        return loaded

    if isinstance(type_, types.Array):
        dtype = context.get_data_type(type_.dtype)
        shape = [word(1 + axis) for axis in range(type_.ndim)]
        return contiguous(context, builder, type_, builder.inttoptr(word(0), dtype.as_pointer()), shape)
    if isinstance(type_, Address):
        return builder.inttoptr(word(0), cgutils.voidptr_t)
    return builder.bitcast(word(0), context.get_value_type(type_))


_TYPES: dict[type, list[Record]] = {}
"""The types of records of a class."""


def record(kind: type, *fields: Any) -> Any:
    """The type of a `NamedTuple` passed as an argument (`Packed`), from the types of its fields in order.

    Of two types of one class, a tuple has that whose arrays have the dimensions of its own.
    """
    names = kind._fields  # type: ignore[attr-defined]
    if len(fields) != len(names):
        raise TypeError(f"record: {len(fields)} types for the fields of {kind.__name__}: {names}")
    made, known = Record(kind, fields), _TYPES.setdefault(kind, [])
    if made not in known:
        known.append(made)
    return made


def record_at(type_: Any) -> Any:
    """For compiled code: what makes of an address (`Packed.address`) the record of the type that lies there."""

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], _WORD.as_pointer())

        return type_(types.int64), generate

    return at


def type_of(given: Any) -> Record:
    """Which type of record a tuple has; TypeError if one of its fields fits none."""
    first, *others = _TYPES[type(given)]
    if not others:
        return first
    dimensions = [getattr(x, "ndim", 0) for x in given]
    return next((x for x in others if x.dimensions == dimensions), first)


class Packed:
    """A record in memory, for as long as this object lives; arrays are those of the tuple it is made of."""

    def __init__(self, given: Any) -> None:
        self.given, self._numba_type_ = given, type_of(given)
        self._words = np.array(_words(self._numba_type_, given), dtype=np.int64)
        self.address = _data(self._words)


def _data(a: Any) -> int:
    """Where the numbers of a contiguous array lie: `ndarray.ctypes` takes five times as long."""
    return addressof(c_char.from_buffer(a)) if a.size and a.flags.writeable else int(a.ctypes.data)


def _words(record_type: Record, given: Any) -> list[int]:
    words: list[int] = []
    expected = zip(record_type.fields.items(), record_type.dtypes, record_type.dimensions, given, strict=True)
    for (name, type_), dtype, dimensions, value in expected:
        if dtype is not None:
            fits = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == dimensions
            if not (fits and value.flags.c_contiguous):
                kind = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else repr(value)
                raise TypeError(f"{type(given).__name__}.{name}: {kind}, expected a contiguous {type_}")
            words.append(_data(value))
            words += value.shape
        elif isinstance(type_, Address):
            words.append(value.address)
        elif isinstance(type_, types.Float):
            words += struct.unpack("q", struct.pack("d", value))
        else:
            words.append(int(value))
    return words


@unbox(Record)
def _given(type_: Any, packed: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(packed, "address")
    pointer = c.builder.bitcast(c.pyapi.long_as_voidptr(number), _WORD.as_pointer())
    c.pyapi.decref(number)
    return NativeValue(pointer)
