"""Whether a function can be found by its name, as another process must find it."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any


def check_importable(function: Any, what: str = "", or_else: str = "") -> None:
    """TypeError for a plain function that is no name of its module: pickle sends names.  It says `what` the function is
    given for, and what may be given `or_else`.

    Nothing is said where a pickler has been imported that sends the code of functions instead (cloudpickle, alone or
    in joblib; dill).
    """
    others = (name for name in sys.modules if name.rpartition(".")[2] in ("cloudpickle", "dill"))
    if any(not name.startswith("numba.") for name in others):
        return
    if isinstance(function, FunctionType) and not _is_found(function):
        code = function.__code__
        raise TypeError(
            f"{what + ': ' if what else ''}function {function.__qualname__!r} ({code.co_filename}, line "
            f"{code.co_firstlineno}) cannot be sent to another process: it has no name that can be imported; define it "
            f"by `def` at the top of a module{', or give ' + or_else if or_else else ''}"
        )


def _is_found(function: FunctionType) -> bool:
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function
