"""The catalogue of methods: one line each.

`find("RKMK4")` returns a row by name, `METHODS` holds them all, `register` adds one (also from outside the package).
Every claim of a row (order, symmetric, symplectic) is measured by the tests.
"""

from __future__ import annotations

import difflib

from integrators.comparison import solve_with_scipy
from integrators.method import Method, Reference
from integrators.steppers.midpoint import midpoint
from integrators.steppers.rkmk import rkmk
from integrators.tableaus import EXPLICIT

METHODS: dict[str, Method | Reference] = {}


def register(method: Method | Reference) -> Method | Reference:
    """Add a method to the catalogue under its name; ValueError if the name is taken."""
    if method.name in METHODS:
        raise ValueError(f"method {method.name!r} is already in the catalogue")
    METHODS[method.name] = method
    return method


def find(method: str | Method | Reference) -> Method | Reference:
    """The method of a name (upper or lower case), or the method itself; ValueError lists the names."""
    if isinstance(method, (Method, Reference)):
        return method
    if not isinstance(method, str):
        raise TypeError(f"method: {method!r}, expected a name from {sorted(METHODS)} or a Method")
    by_name = {name.lower(): name for name in METHODS}
    if method.lower() not in by_name:
        near = difflib.get_close_matches(method.lower(), by_name, 3, 0.4)
        hint = f"did you mean {' or '.join(by_name[n] for n in near)}? " if near else ""
        raise ValueError(f"method: no method {method!r}; {hint}There are {', '.join(sorted(METHODS))}")
    return METHODS[by_name[method.lower()]]


RKMK4 = register(rkmk(EXPLICIT["rk4"], name="RKMK4"))
MIDPOINT = register(midpoint())
SCIPY_DOP853 = register(Reference("SCIPY_DOP853", 8, solve_with_scipy("DOP853"), "Hairer, Nørsett and Wanner 1993; SciPy"))
