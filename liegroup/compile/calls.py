"""Calls of compiled functions: arrays as pointers and shapes, and no more of what comes back than whether it is an
error.

The compiler passes seven parts or more of each array, asks of what comes back which of five kinds it is, and has a
place for the exception of every call.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_OK
from numba.core.imputils import fix_returning_optional
from numba.core.typing.templates import signature

from liegroup.compile.contiguous import bare, laid_bare


def called(context: Any, builder: Any, function: Any, result: Any, taken: Any, given: Any) -> Any:
    """What a function of the types `taken` returns; an error ends the caller, too."""
    convention = context.call_conv
    if isinstance(result, types.Optional) or hasattr(builder, "_in_try_block"):
        status, value = convention.call_function(builder, function, result, taken, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return fix_returning_optional(context, builder, signature(result), status, value)
    place = cgutils.alloca_once(builder, convention.get_return_type(result).pointee)
    error = convention._get_excinfo_argument(builder.function)
    arguments = context.get_arg_packer(taken).as_arguments(builder, given)
    code = builder.call(function, [place, error, *arguments])
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", code, RETCODE_OK)):
        builder.ret(code)
    return context.get_returned_value(builder, result, builder.load(place))


def bare_form(description: Any) -> Any:
    """How a function is known that takes arrays as pointers and shapes."""
    form = copy(description)
    form.argtypes = tuple(bare(x) for x in description.argtypes)
    return form


def caller_of(compiled: Any) -> Any:
    """What the compiler writes where it calls a function that takes arrays as pointers and shapes."""
    description, form = compiled.fndesc, bare_form(compiled.fndesc)

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = context.declare_function(builder.module, form)
        given = [laid_bare(context, builder, t, x) for t, x in zip(description.argtypes, args, strict=True)]
        return called(context, builder, function, description.restype, form.argtypes, given)

    call.libs = (compiled.library,)  # type: ignore[attr-defined]
    return call
