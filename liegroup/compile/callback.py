"""Functions by their addresses: how compiled code reaches a plain Python function, or a compiled one."""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from liegroup.compile.decorators import compiled_form
from liegroup.compile.lanes import DOUBLE

C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_double)
"""The kind of function that `call_at` calls; ``C_FUNCTION(f)`` makes one of a Python function f(t)."""


def call_at(address: Any, t: Any) -> None:
    """Call the C function ``void f(double)`` at an address: how compiled code reaches a plain Python function."""
    C_FUNCTION(address)(t)


@intrinsic
def _call_at(typing_context: Any, address: Any, t: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        c_function = ir.FunctionType(ir.VoidType(), [DOUBLE]).as_pointer()
        builder.call(builder.inttoptr(args[0], c_function), [args[1]])
        return context.get_dummy_value()

    return types.none(types.int64, types.float64), generate


@compiled_form(call_at)
def _call_at_form(address: Any, t: Any) -> Any:
    return lambda address, t: _call_at(address, t)
