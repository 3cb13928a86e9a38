"""Types of what operators, builtin functions and calls give, remembered.

The compiler asks for each operation anew, through all that was ever registered for it, NumPy's rules among them: half
of the time that it takes to find types.  Remembered is what comes of the types of the arguments alone: where the code
of an operation is that of the operation itself, not of a function compiled with the options of its caller.  Within a
function all is asked until nothing changes, twice at least; of a call it is asked again only if one of its types has
changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core import base
from numba.core.errors import ForceLiteralArg, TypingError
from numba.core.targetconfig import ConfigStack
from numba.core.typeinfer import CallConstraint, ConstraintNetwork, IntrinsicCallConstraint
from numba.core.types.functions import BaseFunction
from numba.core.utils import chain_exception

_MODULES = {"_operator", "builtins", "math"}
_version = [0]


def forget() -> None:
    """Ask anew: the compiler has been taught something."""
    _version[0] += 1


def _remembering(ask: Callable[..., Any]) -> Callable[..., Any]:
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = self.typing_key
        if kws or getattr(key, "__module__", None) not in _MODULES:
            return ask(self, context, args, kws)
        version, known = self.__dict__.get("_remembered", (None, {}))
        if version != _version[0]:
            known = {}
            self._remembered = _version[0], known
        args = tuple(args)
        found = known.get(args)
        if found is None:
            found = ask(self, context, args, kws)
            if found is not None and self._impl_keys.get(found.args) is key:
                known[args] = found
        return found

    return get_call_type


BaseFunction.get_call_type = _remembering(BaseFunction.get_call_type)  # type: ignore[method-assign]


# --- calls within a function ------------------------------------------------------------------------------------------

_CALLS = CallConstraint, IntrinsicCallConstraint


def _types_in(call: Any, inferer: Any) -> list[Any]:
    """The types that the answer for a call depends on, as far as they are known."""
    names = [call.target, *(x.name for x in call.args), *(x.name for _, x in call.kws or ())]
    names += [call.func] if type(call) is CallConstraint else []
    names += [call.vararg.name] if call.vararg is not None else []
    return [inferer.typevars[name].type for name in names]


def _going_on(ask: Callable[..., Any]) -> Callable[..., Any]:
    def propagate(self: Any, inferer: Any) -> Any:
        flags = ConfigStack.top_or_none()
        if flags is None or flags.nrt:
            return ask(self, inferer)
        answered: dict[int, list[Any]] = self.__dict__.setdefault("_answered", {})
        errors = []
        where = inferer.func_id
        with inferer.warnings.catch_warnings(filename=where.filename, lineno=where.firstlineno):
            for k, constraint in enumerate(self.constraints):
                is_call = type(constraint) in _CALLS
                if is_call and k in answered and answered[k] == _types_in(constraint, inferer):
                    continue
                try:
                    constraint(inferer)
                    if is_call:
                        answered[k] = _types_in(constraint, inferer)
                except ForceLiteralArg as error:
                    errors.append(error)
                except TypingError as error:
                    known = TypingError(str(error), loc=constraint.loc, highlighting=False)
                    errors.append(chain_exception(known, error))
        return errors

    return propagate


ConstraintNetwork.propagate = _going_on(ConstraintNetwork.propagate)


# --- implementations --------------------------------------------------------------------------------------------------

if hasattr(base, "_has_loc"):
    base._has_loc = cache(base._has_loc)  # asked of an implementation wherever it is called, by its signature
