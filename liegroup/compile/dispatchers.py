"""Dispatchers of kernels: what holds a function compiled for some types, and compiles it for others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba.core import event, sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.np.numpy_support import map_layout

_KINDS = {np.dtype(x): getattr(types, x) for x in ("float64", "int64", "complex128")}
"""Kinds of numbers in the arrays that kernels take."""


class KernelDispatcher(CPUDispatcher):
    """The compiler's own, without its clocks: every function being compiled has two, which hear of each call of LLVM
    below it.
    """

    def typeof_pyval(self, val: Any) -> Any:
        """The type of an argument; of a plain array without the compiler's question whether it is a masked one, for
        which it imports what makes those.
        """
        if type(val) is not np.ndarray or val.dtype not in _KINDS:
            return super().typeof_pyval(val)
        found = types.Array(_KINDS[val.dtype], val.ndim, map_layout(val), readonly=not val.flags.writeable)
        self._types_active_call.add(found)
        return found

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load from the cache; returns what Python calls."""
        with global_compiler_lock:
            if not self._can_compile:
                raise RuntimeError(f"{self.py_func.__qualname__}: it is not to be compiled for other types than it was")
            args, result = sigutils.normalize_signature(sig)
            if args not in self.overloads:
                self.add_overload(self._kept(sig) or self._made(sig, args, result))
            return self.overloads[args].entry_point

    def is_kept(self, sig: Any) -> bool:
        """Whether the cache has it for a signature; then it is loaded."""
        with global_compiler_lock:
            if sig.args not in self.overloads and (found := self._kept(sig)) is not None:
                self.add_overload(found)
            return sig.args in self.overloads

    def _kept(self, sig: Any) -> Any:
        with self._compiling_counter:
            found = self._cache.load_overload(sig, self.targetctx)
        if found is not None:
            self._cache_hits[sig] += 1
            self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
        return found

    def _made(self, sig: Any, args: Any, result: Any) -> Any:
        self._cache_misses[sig] += 1
        told = {"dispatcher": self, "args": args, "return_type": result}
        with self._compiling_counter, event.trigger_event("numba:compile", data=told):
            made = self._compiler.compile(args, result)
            self._cache.save_overload(sig, made)
        return made


def dispatcher_of(function: Callable[..., Any], options: Mapping[str, Any], cache: type | None = None) -> Any:
    """The dispatcher of a function with these options of the compiler; `cache(function)` keeps what it compiles."""
    others = {name: value for name, value in options.items() if name != "pipeline_class"}
    others |= {"nopython": True, "boundscheck": None}
    made = KernelDispatcher(py_func=function, targetoptions=others, pipeline_class=options["pipeline_class"])
    if cache is not None:
        made._cache = cache(function)
        made._cache.takes_bare_arrays = getattr(options["pipeline_class"], "takes_bare_arrays", False)
    return made
