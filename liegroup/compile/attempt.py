"""Users' functions that may raise, called from compiled code that goes on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from liegroup.compile.dispatchers import dispatcher_of
from liegroup.compile.options import KERNEL, OPTIONS
from liegroup.compile.undisturbed import undisturbed

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CALL = re.compile(r"[>]{3} ([^\n]+)")
_WHERE = ("Failed in", "During", "File ", "Overload")


def attempt_of(function: Callable[..., Any], signature: Any, name: str) -> Any:
    """For compiled code: ``attempt(t, y, parameters, structure, work, out)`` calls the function and tells whether it
    has raised an exception, which is then forgotten.

    TypeError, with the name and the compiler's reason, if the function cannot be compiled.
    """
    dispatcher = dispatcher_of(getattr(function, "py_func", function), OPTIONS | {"forceinline": True})
    try:
        compiled = _compiled(dispatcher, signature).overloads[signature.args]
    except NumbaError as error:
        raise TypeError(
            f"{name}: the compiler refuses it for float64 states and values: {reason_of(error)}; mend it, or give it "
            "as plain Python, without numba.njit"
        ) from error

    @intrinsic
    def attempt(typing_context: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            context.add_linking_libs([compiled.library])
            status, _ = context.call_internal_no_propagate(builder, compiled.fndesc, compiled.signature, args)
            return status.is_error

        return types.boolean(*signature.args), generate

    return attempt


def compile_around(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function around an attempt, in memory only; it must not allocate."""
    return _compiled(dispatcher_of(function, KERNEL), signature)


def _compiled(dispatcher: Any, signature: Any) -> Any:
    with undisturbed():
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


def check_in_lanes(probe: Callable[..., Any], signature: Any, name: str) -> None:
    """TypeError for a formula that the compiler refuses for eight motions at once, as a function of this signature that
    calls it shows.
    """
    try:
        _compiled(dispatcher_of(probe, KERNEL), signature)
    except Exception as error:
        calls = _CALL.findall(str(error))
        why = f"{calls[-1].strip()} has no code" if calls else reason_of(error)
        raise TypeError(
            f"{name}: does not run in lanes ({why}); write it with + - * /, whole powers as products, "
            "`select(condition, a, b)` for an `if` on a value, and sqrt, sincos, exp, log, tanh, … of "
            "liegroup.compile.scalars"
        ) from error


def reason_of(error: Exception) -> str:
    """The first lines of the compiler's explanation that say what is wrong rather than where."""
    lines = [line.strip(" ->\t") for line in _COLOURS.sub("", str(error)).splitlines()]
    telling = [line for line in lines if line and not line.startswith(_WHERE)]
    told = telling or [type(error).__name__]
    return " ".join(told[: 2 if told[0].endswith(":") else 1])
