"""Reading and writing states of one trajectory, ``(n,)``, and of eight, ``(n, 8)``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, type_callable
from numba.np.arrayobj import populate_array

from liegroup.compile.decorators import compiled_form
from liegroup.compile.lanes import VECTOR, WIDTH, Lanes, register
from liegroup.compile.straight import taught, without_effect

ALIGNMENT = 64
"""Bytes; lane arrays from `lane_array` start on this boundary."""


def _pointer(context: Any, builder: Any, sig: Any, args: Any, count: int) -> Any:
    """Pointer to entry (i, …) of a contiguous array (or behind a pointer), the first argument; `count` indices, none
    negative, follow.

    Indices of the compiler's own would be tested for their sign, which costs a tenth of a sweep over a tree.  The
    length of the last axis of lane arrays is a constant, so that columns are displacements.
    """
    array_type = sig.args[0]
    if isinstance(array_type, types.CPointer):
        return builder.gep(args[0], [context.cast(builder, args[1], sig.args[1], types.intp)])
    if array_type.layout != "C":
        raise TypeError(f"ld, st: {array_type}: expected a contiguous array")
    model = context.data_model_manager[array_type]
    data, shape = model.get(builder, args[0], "data"), model.get(builder, args[0], "shape")
    indices = [context.cast(builder, args[k], sig.args[k], types.intp) for k in range(1, 1 + count)]
    offset = indices[0]
    for axis in range(1, count):
        offset = builder.add(builder.mul(offset, builder.extract_value(shape, axis)), indices[axis])
    if array_type.ndim == count:
        return builder.gep(data, [offset])
    lane = builder.gep(data, [builder.mul(offset, context.get_constant(types.intp, WIDTH))])
    return builder.bitcast(lane, VECTOR.as_pointer())


def _load(array_type: Any, sig: Any) -> Any:
    """How an entry is read; `sig` its number of indices and arguments."""
    count = len(sig.args) - 1

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, sig, args, count), align=8)

    return sig, generate


def _store(sig: Any) -> Any:
    count = len(sig.args) - 2

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array_type, type_, x = sig.args[0], sig.args[-1], args[-1]
        in_lanes = array_type.dtype is Lanes or (isinstance(array_type, types.Array) and array_type.ndim > count)
        x = register(context, builder, type_, x) if in_lanes else context.cast(builder, x, type_, array_type.dtype)
        builder.store(x, _pointer(context, builder, sig, args, count), align=8)
        return context.get_dummy_value()

    return sig, generate


@without_effect
@intrinsic
def _load1(typing_context: Any, a: Any, i: Any) -> Any:
    return _load(a, (a.dtype if isinstance(a, types.CPointer) or a.ndim == 1 else Lanes)(a, i))


@without_effect
@intrinsic
def _load2(typing_context: Any, a: Any, i: Any, k: Any) -> Any:
    return _load(a, (a.dtype if a.ndim == 2 else Lanes)(a, i, k))


@intrinsic
def _store1(typing_context: Any, a: Any, i: Any, x: Any) -> Any:
    return _store(types.void(a, i, x))


@intrinsic
def _store2(typing_context: Any, a: Any, i: Any, k: Any, x: Any) -> Any:
    return _store(types.void(a, i, k, x))


def ld(a: Any, i: Any) -> Any:
    """Component ``i`` of a state ``(n,)`` (a number) or ``(n, 8)`` (a lane register)."""
    return a[i]


def st(a: Any, i: Any, x: Any) -> None:
    """Write component ``i`` of a state ``(n,)`` or ``(n, 8)``."""
    a[i] = x


def ld2(a: Any, i: Any, k: Any) -> Any:
    """Entry ``i, k`` of a workspace ``(m, n)`` (a number) or ``(m, n, 8)`` (a lane register)."""
    return a[i, k]


def st2(a: Any, i: Any, k: Any, x: Any) -> None:
    """Write entry ``i, k`` of a workspace ``(m, n)`` or ``(m, n, 8)``."""
    a[i, k] = x


@compiled_form(ld)
def _ld(a: Any, i: Any) -> Any:
    return lambda a, i: _load1(a, i)


@compiled_form(st)
def _st(a: Any, i: Any, x: Any) -> Any:
    return lambda a, i, x: _store1(a, i, x)


@compiled_form(ld2)
def _ld2(a: Any, i: Any, k: Any) -> Any:
    return lambda a, i, k: _load2(a, i, k)


@compiled_form(st2)
def _st2(a: Any, i: Any, k: Any, x: Any) -> Any:
    return lambda a, i, k, x: _store2(a, i, k, x)


def flattened(a: Any) -> Any:
    """The numbers of a contiguous array ``(m, n)`` as a vector in the same memory."""
    return a.reshape(a.size)


def in_rows_of_lanes(a: Any) -> Any:
    """A vector ``(8 m,)`` as ``(m, 8)`` in the same memory."""
    return a.reshape(-1, WIDTH)


def joined(a: Any) -> Any:
    """The entries of contiguous rows ``(m, n)`` or ``(m, n, 8)`` as one state ``(m n,)`` or ``(m n, 8)`` in the same
    memory.
    """
    return a.reshape(-1, *a.shape[2:])


def in_rows(a: Any, columns: Any) -> Any:
    """The numbers of a contiguous vector ``(m,)`` as rows of so many, in the same memory; what is left over is left
    out.
    """
    rows = len(a) // columns
    return a[: rows * columns].reshape(rows, columns)


@type_callable(in_rows)
def _in_rows_type(context: Any) -> Any:
    return lambda a, columns: types.Array(a.dtype, 2, "C")


@lower_builtin(in_rows, types.Array, types.Integer)
def _in_rows(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = context.make_array(sig.args[0])(context, builder, args[0])
    made, size = context.make_array(sig.return_type)(context, builder), given.itemsize
    across = context.cast(builder, args[1], sig.args[1], types.intp)
    shape, strides = [builder.sdiv(given.nitems, across), across], [builder.mul(size, across), size]
    populate_array(made, given.data, shape, strides, size, given.meminfo, given.parent)
    return made._getvalue()


taught[in_rows] = None


def lines_from(a: Any, first: Any) -> Any:
    """Lines of a workspace ``(m, n)`` or ``(m, n, 8)`` from `first` on, in the same memory.  Compiled, those of one
    trajectory begin where eight numbers are read at once without crossing what the processor fetches at once: anywhere
    in line `first`, and there may be one line less.
    """
    return a[first:]


@type_callable(lines_from)
def _lines_from_type(context: Any) -> Any:
    return lambda a, first: types.Array(a.dtype, a.ndim, "C")


@lower_builtin(lines_from, types.Array, types.Integer)
def _lines_from(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = context.make_array(sig.args[0])(context, builder, args[0])
    made, size = context.make_array(sig.return_type)(context, builder), given.itemsize
    first, shape = context.cast(builder, args[1], sig.args[1], types.intp), cgutils.unpack_tuple(builder, given.shape)
    strides = cgutils.unpack_tuple(builder, given.strides)
    begin, lines = builder.mul(first, strides[0]), builder.sub(shape[0], first)
    if len(shape) == 2:
        begin = builder.add(begin, context.get_constant(types.intp, ALIGNMENT - 1))
        address = builder.add(builder.ptrtoint(given.data, begin.type), begin)
        data = builder.inttoptr(builder.and_(address, context.get_constant(types.intp, -ALIGNMENT)), given.data.type)
        lines = builder.sub(lines, context.get_constant(types.intp, 1))
    else:
        data = builder.inttoptr(builder.add(builder.ptrtoint(given.data, begin.type), begin), given.data.type)
    populate_array(made, data, [lines, *shape[1:]], strides, size, given.meminfo, given.parent)
    return made._getvalue()


taught[lines_from] = None


def in_pairs(a: Any) -> Any:
    """The numbers of contiguous rows ``(m, n)``, n even, two and two as complex numbers ``(m, n/2)`` in the same
    memory; TypeError for those that are noted, which have no such memory.
    """
    if a.dtype == object:
        raise TypeError("complex numbers in the memory of real ones are not written as code")
    return a.view(np.complex128)


@type_callable(in_pairs)
def _in_pairs_type(context: Any) -> Any:
    return lambda a: types.Array(types.complex128, 2, "C")


@lower_builtin(in_pairs, types.Array)
def _in_pairs(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = context.make_array(sig.args[0])(context, builder, args[0])
    made, size = context.make_array(sig.return_type)(context, builder), context.get_constant(types.intp, 16)
    rows, across = cgutils.unpack_tuple(builder, given.shape, 2)
    across = builder.sdiv(across, context.get_constant(types.intp, 2))
    data = builder.bitcast(given.data, made.data.type)
    populate_array(made, data, [rows, across], [builder.mul(size, across), size], size, given.meminfo, given.parent)
    return made._getvalue()


taught[in_pairs] = None


def _reshaped(function: Any, columns: int) -> None:
    """Teach the compiler a view in rows of `columns`, 0 for a vector: its own way costs as much as a small field."""

    def view(a: Any) -> Any:
        if a.layout != "C":
            raise TypeError(f"{function.__name__}: {a}: expected a contiguous array")
        return types.Array(a.dtype, 2 if columns else 1, "C")

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        given = context.make_array(sig.args[0])(context, builder, args[0])
        made, size = context.make_array(sig.return_type)(context, builder), given.itemsize
        shape, strides = [given.nitems], [size]
        if columns:
            across = context.get_constant(types.intp, columns)
            shape, strides = [builder.sdiv(given.nitems, across), across], [builder.mul(size, across), size]
        populate_array(made, given.data, shape, strides, size, given.meminfo, given.parent)
        return made._getvalue()

    type_callable(function)(lambda context: view)
    lower_builtin(function, types.Array)(lower)
    taught[function] = None


_reshaped(flattened, 0)
_reshaped(in_rows_of_lanes, WIDTH)


@type_callable(joined)
def _joined_type(context: Any) -> Any:
    return lambda a: types.Array(a.dtype, a.ndim - 1, "C")


@lower_builtin(joined, types.Array)
def _joined(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = context.make_array(sig.args[0])(context, builder, args[0])
    made, size = context.make_array(sig.return_type)(context, builder), given.itemsize
    shape, strides = [given.nitems], [size]
    if sig.return_type.ndim == 2:
        across = context.get_constant(types.intp, WIDTH)
        shape, strides = [builder.sdiv(given.nitems, across), across], [builder.mul(size, across), size]
    populate_array(made, given.data, shape, strides, size, given.meminfo, given.parent)
    return made._getvalue()


taught[joined] = None


def lane_array(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Zeros of shape ``(*shape, 8)``, aligned to 64 bytes."""
    size = math.prod(shape) * WIDTH
    raw = np.zeros(size * 8 + ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + size * 8].view(np.float64).reshape(*shape, WIDTH)
