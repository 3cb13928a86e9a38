"""What tells functions apart that the same lines make: the same digest in every process.

Pickled functions do not serve: their bytes depend on which of their strings are one object, and that on whether their
module was compiled or read from its bytecode.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.core.serialize import dumps

from liegroup.compile.progress import is_full

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


def digest_of(function: FunctionType) -> str:
    """Of a function with all that it holds and reads: code, constants, defaults, cells, and globals; of functions among
    these, too, unless they are names of a module, which stand for themselves.  Anything else is told by its pickle.
    """
    digest, seen = hashlib.sha256(), dict[int, int]()

    def tell(*what: object) -> None:
        digest.update(f"{what!r}\n".encode())

    def add(x: Any) -> None:
        if type(x) in _PLAIN:
            tell(type(x).__name__, x)
        elif type(x) in (tuple, list, frozenset):
            tell(type(x).__name__, len(x))
            for part in sorted(x, key=repr) if type(x) is frozenset else x:
                add(part)
        elif isinstance(x, CodeType):
            tell("code", x.co_argcount, x.co_kwonlyargcount, x.co_flags, x.co_names, x.co_varnames, x.co_freevars)
            add(x.co_code)
            add(x.co_consts)
        elif isinstance(x, ModuleType):
            tell("module", x.__name__)
        elif isinstance(x, FunctionType) and id(x) in seen:
            tell("again", seen[id(x)])
        elif isinstance(x, FunctionType):
            seen[id(x)] = len(seen)
            tell("function", _module_of(x), x.__qualname__)
            if x is function or not _is_name(x):
                add(x.__code__)
                add(x.__defaults__)
                add(sorted((x.__kwdefaults__ or {}).items()))
                add([cell.cell_contents for cell in x.__closure__ or () if is_full(cell)])
                for name in sorted(set(_names(x.__code__)) & x.__globals__.keys()):
                    tell("global", name)
                    add(x.__globals__[name])
        else:
            tell("pickle", hashlib.sha256(dumps(x)).hexdigest())

    add(function)
    return digest.hexdigest()


def _is_name(function: FunctionType) -> bool:
    """Whether a module has the function by its name, in every process."""
    module = _module_of(function)
    return bool(module) and getattr(sys.modules.get(module), function.__qualname__, None) is function


def _module_of(function: FunctionType) -> str:
    """The name of its module; none of that which is run, which has another name in other processes."""
    module = str(function.__module__)
    return "" if module.startswith("__") else module


def _names(code: CodeType) -> Iterator[str]:
    """Names that a function, and those within it, may read from their module."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
