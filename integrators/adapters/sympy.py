"""Lagrangians written as SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from liegroup.compile.scalars import arctan2, sincos, sqrt
from liegroup.compile.tracing import exp, log, tanh

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": lambda x: sincos(x)[0],
    "cos": lambda x: sincos(x)[1],
    "tan": lambda x: sincos(x)[0] / sincos(x)[1],
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "atan2": arctan2,
    "abs": abs,
}
"""What an expression may contain besides + − * / **, in the functions of `liegroup.compile.scalars`."""


def function_of(
    expression: Any,
    q: Sequence[Any],
    v: Sequence[Any],
    parameters: Sequence[Any] = (),
    t: Any = None,
) -> Callable[..., Any]:
    """A plain function ``f(t, q, v, parameters)`` of a SymPy expression, for `integrators.problem.lagrangian`.

    Parameters
    ----------
    expression : sympy expression, or a sequence of them
        A Lagrangian, or generalised forces.
    q, v, parameters : sequences of sympy symbols
        Coordinates, velocities, parameters, in the order of the problem.
    t : sympy symbol, optional
        Time.

    Returns
    -------
    callable
        ``f(t, q, v, parameters)`` → number, or list of numbers.

    Raises
    ------
    ValueError
        Symbols or functions that are not known.

    Examples
    --------
    >>> q, v, g = sympy.symbols("q v g")
    >>> L = function_of(v**2 / 2 + g * sympy.cos(q), [q], [v], [g])
    >>> L(0.0, [0.0], [2.0], [9.81])
    11.81
    """
    t = sympy.Dummy("t") if t is None else t
    parts = (
        [sympy.sympify(x) for x in expression] if isinstance(expression, (list, tuple)) else [sympy.sympify(expression)]
    )
    for part in parts:
        unknown = part.free_symbols - {t, *q, *v, *parameters}
        if unknown:
            names = ", ".join(sorted(map(str, unknown)))
            raise ValueError(
                f"expression: unknown symbols {names}; list them in q, v or parameters, or put numbers in their place"
            )
        strange = {f.func.__name__ for f in part.atoms(sympy.Function)} - set(FUNCTIONS) - {"Abs"}
        if strange:
            raise ValueError(
                f"expression: functions {', '.join(sorted(strange))}, expected only {', '.join(FUNCTIONS)}"
            )
    return sympy.lambdify([t, list(q), list(v), list(parameters)], expression, modules=[FUNCTIONS])  # type: ignore[no-any-return]
