"""Tables of integers that compiled code reads where they lie: not constants of it, so that what is entered later is
known to code that has been compiled before, in this process and on disk.
"""

from __future__ import annotations

import operator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_constant
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model

_WORD = ir.IntType(64)


class _Shared(types.Type):
    """The type of a table: its name and its shape."""

    def __init__(self, symbol: str, shape: tuple[int, ...]) -> None:
        self.symbol, self.shape = symbol, shape
        super().__init__(f"Shared({symbol}, {shape})")


@register_model(_Shared)
class _SharedModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: _Shared) -> None:
        super().__init__(manager, type_, _WORD.as_pointer())


class SharedTable:
    """A table of int64, all 0 in the beginning.  In compiled code: numbers by all indices, read only.

    Parameters
    ----------
    name : str
        By which compiled code finds it, in any process: one name for one table.
    shape : tuple of int
    """

    def __init__(self, name: str, *shape: int) -> None:
        self._values = np.zeros(shape, dtype=np.int64)
        self._numba_type_ = _Shared(f"liemech_table.{name}", shape)
        llvm.add_symbol(self._numba_type_.symbol, self._values.ctypes.data)

    def __getitem__(self, index: Any) -> Any:
        return self._values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[index] = value


@infer_global(operator.getitem)
class _Reading(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        table, index = args
        if not isinstance(table, _Shared):
            return None
        indices = tuple(index) if isinstance(index, types.BaseTuple) else (index,)
        if len(indices) != len(table.shape) or not all(isinstance(x, types.Integer) for x in indices):
            return None
        return signature(types.int64, table, index)


@lower_constant(_Shared)
def _where_it_lies(context: Any, builder: Any, type_: _Shared, table: SharedTable) -> Any:
    module, size = builder.module, int(np.prod(type_.shape))
    found = module.globals.get(type_.symbol) or ir.GlobalVariable(module, ir.ArrayType(_WORD, size), type_.symbol)
    return builder.bitcast(found, _WORD.as_pointer())


@lower_builtin(operator.getitem, _Shared, types.Integer)
def _at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(context, builder, sig, args[0], [(args[1], sig.args[1])])


@lower_builtin(operator.getitem, _Shared, types.BaseTuple)
def _at_all(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = [builder.extract_value(args[1], k) for k in range(len(sig.args[1]))]
    return _read(context, builder, sig, args[0], list(zip(given, sig.args[1], strict=True)))


def _read(context: Any, builder: Any, sig: Any, table: Any, indices: list[Any]) -> Any:
    """The number at some indices, which nobody writes while compiled code runs."""
    place = _WORD(0)
    for (index, type_), size in zip(indices, sig.args[0].shape, strict=True):
        place = builder.add(builder.mul(place, _WORD(size)), context.cast(builder, index, type_, types.int64))
    loaded = builder.load(builder.gep(table, [place]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded
