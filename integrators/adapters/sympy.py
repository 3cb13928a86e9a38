"""SymPy expressions as plain functions of numbers, which the tracer makes compiled code of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import dynamicsymbols
from sympy.printing.pycode import PythonCodePrinter

from liegroup.compile.scalars import arctan2, maximum, minimum, select, sincos, sqrt
from liegroup.compile.tracing import acosh, asinh, atanh, cosh, exp, floor, log, sinh, tanh

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": lambda x: sincos(x)[0],
    "cos": lambda x: sincos(x)[1],
    "tan": lambda x: sincos(x)[0] / sincos(x)[1],
    "sec": lambda x: 1.0 / sincos(x)[1],
    "csc": lambda x: 1.0 / sincos(x)[0],
    "cot": lambda x: sincos(x)[1] / sincos(x)[0],
    "asin": lambda x: arctan2(x, sqrt((1.0 - x) * (1.0 + x))),
    "acos": lambda x: arctan2(sqrt((1.0 - x) * (1.0 + x)), x),
    "atan": lambda x: arctan2(x, 1.0),
    "atan2": arctan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "abs": abs,
    "sign": lambda x: select(x < 0.0, -1.0, select(x > 0.0, 1.0, 0.0)),
    "floor": floor,
    "ceil": lambda x: -floor(-x),
    "Min": lambda *x: reduce(minimum, x),
    "Max": lambda *x: reduce(maximum, x),
    "Heaviside": lambda x, at_zero=0.5: select(x < 0.0, 0.0, select(x > 0.0, 1.0, at_zero)),
    "select": select,
    "negation": lambda x: ~x if hasattr(x, "select") else np.logical_not(x),
}
"""What an expression may contain besides + − * / **, comparisons and Piecewise, in functions of any scalar."""
_NAMES = {"Abs": "abs", "ceiling": "ceil"}
"""SymPy's names that are others here."""


class _Printer(PythonCodePrinter):  # type: ignore[misc]
    """Choices by `select`, which both sides of are evaluated; what decides by Python's `if` cannot be traced."""

    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr))

    def _print_Piecewise(self, expr: Any) -> str:
        *rest, (last, condition) = expr.args
        text = str(self._print(last))
        if condition != True:  # noqa: E712 (SymPy's own true)
            text = f"select({self._print(condition)}, {text}, {float('nan')!r})".replace("nan", "(0.0 * float('inf'))")
        for value, condition in reversed(rest):
            text = f"select({self._print(condition)}, {self._print(value)}, {text})"
        return text

    def _print_ITE(self, expr: Any) -> str:
        return f"select({', '.join(map(self._print, expr.args))})"

    def _joined(self, expr: Any, operator: str) -> str:
        return f"({f' {operator} '.join(f'({self._print(a)})' for a in expr.args)})"

    def _print_And(self, expr: Any) -> str:
        return self._joined(expr, "&")

    def _print_Or(self, expr: Any) -> str:
        return self._joined(expr, "|")

    def _print_Not(self, expr: Any) -> str:
        return f"negation({self._print(expr.args[0])})"

    def _called(self, expr: Any) -> str:
        name = type(expr).__name__
        return f"{_NAMES.get(name, name)}({', '.join(map(self._print, expr.args))})"

    _print_sign = _print_Min = _print_Max = _print_Heaviside = _print_sec = _print_csc = _print_cot = _called


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
    expression : sympy expression, or a (nested) sequence or matrix of them
        A Lagrangian, generalised forces, constraints, …
    q, v, parameters : sequences of sympy symbols or functions of the time
        Coordinates, velocities, parameters, in the order of the problem; ``dynamicsymbols`` and their derivatives, too.
    t : sympy symbol, optional
        Time; default that of ``dynamicsymbols``.

    Returns
    -------
    callable
        ``f(t, q, v, parameters)`` → number, or (nested) list of numbers, of any scalar type.

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
    return _compiled(expression, (q, v, parameters), t)


def constraints_of(
    expression: Any, q: Sequence[Any], parameters: Sequence[Any] = (), t: Any = None
) -> Callable[..., Any]:
    """A plain function ``c(t, q, parameters)`` of SymPy expressions, for `integrators.problem.holonomic`.

    Parameters
    ----------
    expression : sequence of sympy expressions
        What the motion keeps at zero.
    q, parameters, t
        As for `function_of`.

    Returns
    -------
    callable
        ``c(t, q, parameters)`` → list of numbers.

    Raises
    ------
    ValueError
        Symbols or functions that are not known.

    Examples
    --------
    >>> x, y, r = sympy.symbols("x y r")
    >>> constraints_of([x**2 + y**2 - r**2], [x, y], [r])(0.0, [3.0, 4.0], [5.0])
    [0.0]
    """
    return _compiled(expression, (q, parameters), t)


def _compiled(expression: Any, arguments: Sequence[Sequence[Any]], t: Any) -> Callable[..., Any]:
    """The function of (t, *arguments) of an expression in these symbols."""
    time = dynamicsymbols._t if t is None else sympy.sympify(t)
    own = {x: sympy.Dummy() for x in [time, *(sympy.sympify(x) for some in arguments for x in some)]}
    given = sympy.sympify(expression.tolist() if hasattr(expression, "tolist") else expression)
    parts = [given] if isinstance(given, sympy.Basic) and not isinstance(given, sympy.Tuple) else _flat(given)
    for part in parts:
        replaced = _in(own, part)
        unknown = replaced.free_symbols - set(own.values()) | replaced.atoms(AppliedUndef, sympy.Derivative)
        if unknown:
            back = {dummy: x for x, dummy in own.items()}
            names = ", ".join(sorted(str(x.xreplace(back)) for x in unknown))
            raise ValueError(
                f"expression: unknown symbols {names}; list them among coordinates, velocities or parameters, or put "
                "numbers in their place"
            )
        called = {_NAMES.get(f.func.__name__, f.func.__name__) for f in replaced.atoms(sympy.Function)}
        if strange := {n for n in called if n not in FUNCTIONS and n not in ("Piecewise", "Mod")}:
            raise ValueError(
                f"expression: functions {', '.join(sorted(strange))}, expected only "
                f"{', '.join(n for n in FUNCTIONS if n not in ('select', 'negation'))}, Piecewise, Mod"
            )
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    dummies = [own[time], *([own[sympy.sympify(x)] for x in some] for some in arguments)]
    made = sympy.lambdify(dummies, _nested(own, given), modules=[FUNCTIONS], printer=printer, cse=True)
    return made  # type: ignore[no-any-return]


def _in(own: dict[Any, Any], part: Any) -> Any:
    """In symbols of our own; derivatives are carried out first, those by the time of what is not listed stay."""
    return sympy.sympify(part).doit().xreplace(own)


def _flat(given: Any) -> list[Any]:
    return [x for part in given for x in _flat(part)] if isinstance(given, (list, tuple, sympy.Tuple)) else [given]


def _nested(own: dict[Any, Any], given: Any) -> Any:
    if isinstance(given, (list, tuple, sympy.Tuple)):
        return [_nested(own, part) for part in given]
    return _in(own, given)
