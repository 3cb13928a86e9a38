"""What the compiler puts in the place of a Python function, chosen once per types of the arguments."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import types
from numba.core.cpu_options import InlineOptions
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import _OverloadFunctionTemplate, infer, infer_global

from liegroup.compile.calls import caller_of
from liegroup.compile.dispatchers import dispatcher_of
from liegroup.compile.options import KERNEL
from liegroup.compile.straight import straight_form, taught

_FAST_MATH = set(KERNEL["fastmath"] or ())


def forced_inline() -> bool:
    """Whether what is being compiled now is inlined by force, and with it the kernels it calls."""
    caller = ConfigStack.top_or_none()
    return bool(caller and caller.forceinline)


def follows_our_rules() -> bool:
    """Whether what is being compiled now has the options of kernels: those that say what arithmetic means, and that
    nothing is allocated.
    """
    caller = ConfigStack.top_or_none()
    if caller is None or caller.nrt:
        return False
    return bool(caller.error_model == KERNEL["error_model"] and caller.fastmath.flags == _FAST_MATH)


class Remembered(_OverloadFunctionTemplate):
    """Remembers what it has found by the types and by what is inherited from the caller.

    The compiler asks twenty times per function, and remembers by all options of the caller: a formula would be compiled
    anew for entries, for kernels and for other formulas.
    """

    _cache_class: Any = None

    def _inherited(self) -> tuple[bool, bool]:
        """Whether it is inlined by force, and may be written into its caller."""
        return self._is_formula() or forced_inline(), self._is_formula() and follows_our_rules()

    def _is_formula(self) -> bool:
        return bool(self._jit_options.get("forceinline"))

    def generic(self, args: Any, kws: Any) -> Any:
        key = self._inherited(), tuple(args), tuple(kws.items())
        if key not in self._signatures:
            self._signatures[key] = self._straight_signature(key, args, kws) or self._compiled_signature(key, args, kws)
        return self._signatures[key]

    def _straight_signature(self, key: Any, args: Any, kws: Any) -> Any:
        _, may_be_written = key[0]
        found = may_be_written and straight_form(type(self).key, self._overload_func(*args, **kws), args, dict(kws))
        if not found:
            return None
        signature, implementation = found
        cpu_target.target_context.insert_func_defn([(implementation, implementation, signature.args)])
        self._compiled_overloads[key[0], signature.args] = implementation
        return signature

    def _compiled_signature(self, key: Any, args: Any, kws: Any) -> Any:
        dispatcher, args = self._impl_cache.get(key) or self._build_impl(key, args, kws)
        if dispatcher is None:
            return None
        compiled = types.Dispatcher(dispatcher)
        signature: Any = compiled.get_call_type(self.context, args, kws)
        implementation = compiled.get_overload(signature)
        if not isinstance(signature.return_type, types.Generator):
            implementation = caller_of(dispatcher.overloads[signature.args])
            cpu_target.target_context.insert_func_defn([(implementation, implementation, signature.args)])
        self._compiled_overloads[key[0], signature.args] = implementation
        return signature

    def _get_jit_decorator(self) -> Any:
        def jit(**options: Any) -> Callable[..., Any]:
            def decorate(function: Any) -> Any:
                return dispatcher_of(function, options, self._cache_class)

            return decorate

        return jit

    def get_impl_key(self, sig: Any) -> Any:
        return self._compiled_overloads[self._inherited(), sig.args]


def teach(
    function: Any, resolve: Callable[..., Any], options: dict[str, Any], cache: Any = None, template: type = Remembered
) -> None:
    """Teach the compiler a Python function: ``resolve(*types)`` → what is compiled in its place with these options,
    kept by `cache`; `template` puts it there.

    The compiler hears of it when it looks for what is new, before it compiles: in most processes it never does.
    """
    taught[function] = resolve if options.get("forceinline") else None
    _untold.append(partial(_tell, function, resolve, options, cache, template))


_untold: deque[Callable[[], None]] = deque()


def tell() -> None:
    """Tell the compiler what it has been taught since it last asked."""
    while _untold:
        _untold.popleft()()


def _tell(function: Any, resolve: Callable[..., Any], options: dict[str, Any], cache: Any, template: type) -> None:
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
    made: Any = type(f"Overload_{getattr(function, '__name__', function)}", (template,), attributes)
    infer(made)
    infer_global(function, types.Function(made))


def _ask(others: Callable[[], None]) -> Callable[[], None]:
    def ask() -> None:
        tell()
        others()

    return ask


_typing = cpu_target.typing_context
_typing.load_additional_registries = _ask(_typing.load_additional_registries)
