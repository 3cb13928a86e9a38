"""Reading and writing states of one trajectory, ``(n,)``, and of eight, ``(n, 8)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from liegroup.compile.decorators import compiled_form
from liegroup.compile.lanes import VECTOR, WIDTH, Lanes, register

ALIGNMENT = 64
"""Bytes; lane arrays from `lane_array` start on this boundary."""


def _address(context: Any, builder: Any, array_type: Any, array: Any, indices: Any) -> Any:
    """Pointer to a register of a contiguous array; the length of its last axis is a constant, so that columns are displacements."""
    a = context.make_array(array_type)(context, builder, array)
    lengths = cgutils.unpack_tuple(builder, a.shape)
    offset = indices[0]
    for length, index in zip(lengths[1:], indices[1:], strict=False):
        offset = builder.add(builder.mul(offset, length), index)
    return builder.gep(a.data, [builder.mul(offset, context.get_constant(types.intp, WIDTH))])


def _indices(context: Any, builder: Any, sig: Any, args: Any, which: slice) -> list[Any]:
    return [context.cast(builder, x, t, types.intp) for t, x in zip(sig.args[which], args[which], strict=True)]


@intrinsic
def _load1(typing_context: Any, a: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 2)))
        return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)

    return Lanes(a, i), generate


@intrinsic
def _load2(typing_context: Any, a: Any, i: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 3)))
        return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)

    return Lanes(a, i, k), generate


@intrinsic
def _store1(typing_context: Any, a: Any, i: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 2)))
        builder.store(register(context, builder, sig.args[2], args[2]), builder.bitcast(pointer, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(a, i, x), generate


@intrinsic
def _store2(typing_context: Any, a: Any, i: Any, k: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 3)))
        builder.store(register(context, builder, sig.args[3], args[3]), builder.bitcast(pointer, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(a, i, k, x), generate


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
    return (lambda a, i: a[i]) if a.ndim == 1 else (lambda a, i: _load1(a, i))


@compiled_form(st)
def _st(a: Any, i: Any, x: Any) -> Any:
    if a.ndim > 1:
        return lambda a, i, x: _store1(a, i, x)

    def store(a: Any, i: Any, x: Any) -> None:
        a[i] = x

    return store


@compiled_form(ld2)
def _ld2(a: Any, i: Any, k: Any) -> Any:
    return (lambda a, i, k: a[i, k]) if a.ndim == 2 else (lambda a, i, k: _load2(a, i, k))


@compiled_form(st2)
def _st2(a: Any, i: Any, k: Any, x: Any) -> Any:
    if a.ndim > 2:
        return lambda a, i, k, x: _store2(a, i, k, x)

    def store(a: Any, i: Any, k: Any, x: Any) -> None:
        a[i, k] = x

    return store


def lane_array(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Zeros of shape ``(*shape, 8)``, aligned to 64 bytes."""
    size = int(np.prod(shape)) * WIDTH
    raw = np.zeros(size * 8 + ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + size * 8].view(np.float64).reshape(*shape, WIDTH)
