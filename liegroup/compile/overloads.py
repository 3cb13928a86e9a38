"""What the compiler puts in the place of a Python function, chosen once per types of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.cpu_options import InlineOptions
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import _OverloadFunctionTemplate, infer, infer_global


def forced_inline() -> bool:
    """Whether what is being compiled now is inlined by force, and with it the kernels it calls."""
    caller = ConfigStack.top_or_none()
    return bool(caller and caller.forceinline)


class _Remembered(_OverloadFunctionTemplate):
    """Remembers what it has found by the types and by the one option that is inherited.

    The compiler asks twenty times per function, and remembers by all options of the caller: a formula would be compiled anew for
    entries, for kernels and for other formulas.
    """

    _cache_class: Any = None

    def generic(self, args: Any, kws: Any) -> Any:
        key = forced_inline(), tuple(args), tuple(kws.items())
        if key not in self._signatures:
            self._signatures[key] = self._compiled_signature(key, args, kws)
        return self._signatures[key]

    def _compiled_signature(self, key: Any, args: Any, kws: Any) -> Any:
        dispatcher, args = self._impl_cache.get(key) or self._build_impl(key, args, kws)
        if dispatcher is None:
            return None
        compiled = types.Dispatcher(dispatcher)
        signature: Any = compiled.get_call_type(self.context, args, kws)
        self._compiled_overloads[forced_inline(), signature.args] = compiled.get_overload(signature)
        return signature

    def _get_jit_decorator(self) -> Any:
        def jit(**options: Any) -> Callable[..., Any]:
            def decorate(function: Any) -> Any:
                dispatcher = numba.njit(**options)(function)
                if self._cache_class is not None:
                    dispatcher._cache = self._cache_class(function)
                return dispatcher

            return decorate

        return jit

    def get_impl_key(self, sig: Any) -> Any:
        return self._compiled_overloads[forced_inline(), sig.args]


def teach(function: Any, resolve: Callable[..., Any], options: dict[str, Any], cache: Any = None) -> None:
    """Teach the compiler a Python function: ``resolve(*types)`` → what is compiled in its place with these options, kept by `cache`."""
    attributes = {
        "key": function,
        "prefer_literal": False,
        "metadata": {},
        "_overload_func": staticmethod(resolve),
        "_impl_cache": {},
        "_compiled_overloads": {},
        "_inline_overloads": {},
        "_jit_options": options,
        "_strict": False,
        "_inline": staticmethod(InlineOptions("never")),
        "_cache_class": cache,
        "_signatures": {},
    }
    template = type(f"Overload_{getattr(function, '__name__', function)}", (_Remembered,), attributes)
    infer(template)
    infer_global(function, types.Function(template))
