"""Cells that hold the addresses of kernels bound late, each under a name that compiled code refers to: code from the
cache finds them in any process.
"""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from typing import Any

import llvmlite.binding as llvm

Key = tuple[str, str, tuple[Any, ...]]
"""Of a kernel: module, name, types of the arguments."""
keys: dict[int, Key] = {}
"""Whose address a cell holds, by the address of the cell."""


def symbol(key: Key) -> str:
    """The name of the cell of a kernel."""
    module, name, types_ = key
    return f"liemech_rare.{module}.{name}.{hashlib.sha256(str(types_).encode()).hexdigest()[:16]}"


@cache
def cell(key: Key) -> ctypes.c_void_p:
    """The cell of a kernel, empty as long as the kernel is not bound."""
    made = ctypes.c_void_p()
    address = ctypes.addressof(made)
    keys[address] = key
    llvm.add_symbol(symbol(key), address)
    return made
