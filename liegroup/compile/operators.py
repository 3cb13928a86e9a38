"""Types of what operators and builtin functions give, remembered.

The compiler asks for each operation anew, through all that was ever registered for it, NumPy's rules among them: half
of the time that it takes to find types.  Remembered is what comes of the types of the arguments alone: where the code
of an operation is that of the operation itself, not of a function compiled with the options of its caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.types.functions import BaseFunction

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
