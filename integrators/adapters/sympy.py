"""SymPy expressions as plain functions of numbers, which the tracer makes compiled code of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import sympy
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import dynamicsymbols

from liegroup.compile.scalars import (
    acosh,
    arctan2,
    asinh,
    atanh,
    cosh,
    exp,
    expm1,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    select,
    sincos,
    sinh,
    sqrt,
    tanh,
)


def _asin(x: Any) -> Any:
    return arctan2(x, sqrt((1.0 - x) * (1.0 + x)))


def _acos(x: Any) -> Any:
    return arctan2(sqrt((1.0 - x) * (1.0 + x)), x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": lambda x: sincos(x)[0],
    "cos": lambda x: sincos(x)[1],
    "tan": lambda x: sincos(x)[0] / sincos(x)[1],
    "sec": lambda x: 1.0 / sincos(x)[1],
    "csc": lambda x: 1.0 / sincos(x)[0],
    "cot": lambda x: sincos(x)[1] / sincos(x)[0],
    "asin": _asin,
    "acos": _acos,
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
    "sech": lambda x: 1.0 / cosh(x),
    "csch": lambda x: 1.0 / sinh(x),
    "coth": lambda x: cosh(x) / sinh(x),
    "acot": lambda x: select(x < 0.0, -1.0, 1.0) * arctan2(1.0, abs(x)),
    "asec": lambda x: _acos(1.0 / x),
    "acsc": lambda x: _asin(1.0 / x),
    "sinc": lambda x: select(x == 0.0, 1.0, sincos(x)[0] / select(x == 0.0, 1.0, x)),
    "frac": lambda x: x - floor(x),
    "expm1": expm1,
    "log1p": log1p,
    "exp2": lambda x: 2.0**x,
    "log2": lambda x: log(x) / 0.6931471805599453,
    "log10": lambda x: log(x) / 2.302585092994046,
    "hypot": lambda x, y: sqrt(x * x + y * y),
    "Min": lambda *x: reduce(minimum, x),
    "Max": lambda *x: reduce(maximum, x),
    "Heaviside": lambda x, at_zero=0.5: select(x < 0.0, 0.0, select(x > 0.0, 1.0, at_zero)),
    "select": select,
    "ITE": select,
    "Not": lambda x: ~x if hasattr(x, "select") else np.logical_not(x),
}
"""What an expression may contain besides + − * / **, comparisons and Piecewise, in functions of any scalar."""
_NAMES = {"Abs": "abs", "ceiling": "ceil", "Sqrt": "sqrt"}
"""SymPy's names that are others here."""


_SIGNS = {
    sympy.StrictLessThan: "<", sympy.LessThan: "<=", sympy.StrictGreaterThan: ">", sympy.GreaterThan: ">=",
    sympy.Equality: "==", sympy.Unequality: "!=", sympy.And: "&", sympy.Or: "|", sympy.Add: "+", sympy.Mod: "%",
}  # fmt: skip
_NAN = "(float('inf') * 0.0)"


class _Lines:
    """Expressions as assignments, each part once however often it occurs: the work grows with what is different.

    Parameters
    ----------
    own : mapping of expression to str
        What stands for symbols, functions of the time and their derivatives.
    instead : mapping of expression to expression
        What is put in the place of others.
    """

    def __init__(self, own: Mapping[Any, str], instead: Mapping[Any, Any]) -> None:
        self._own, self._instead = own, instead
        self._texts: dict[Any, str] = {}
        self.lines: list[str] = []
        self.unknown: set[str] = set()
        self.strange: set[str] = set()

    def text(self, expression: Any) -> str:
        """How the value of an expression is named."""
        todo = [expression]
        while todo:
            e = todo[-1]
            if e in self._texts:
                todo.pop()
                continue
            missing = [a for a in self._parts(e) if a not in self._texts]
            if missing:
                todo += missing
                continue
            todo.pop()
            written = self._own.get(e) or self._number(e)
            if written is None:
                written = f"x{len(self.lines)}"
                self.lines.append(f"{written} = {self._written(e)}")
            self._texts[e] = written
        return self._texts[expression]

    def _parts(self, e: Any) -> Sequence[Any]:
        """What must be there before an expression can be written."""
        if e in self._own:
            return ()
        if e in self._instead:
            return (self._instead[e],)
        if isinstance(e, sympy.Mul):
            return [x for some in _fraction(e) for x in some]
        if isinstance(e, sympy.Pow):
            return (e.base,) if e.exp.is_Rational else e.args
        if isinstance(e, (AppliedUndef, sympy.Derivative, ExprWithLimits, sympy.Subs)):
            done = e.doit()
            return () if done == e else (done,)
        if isinstance(e, sympy.Piecewise):
            return [x for pair in e.args for x in pair.args]
        return () if e.is_Atom or is_name(e) else e.args

    def _number(self, e: Any) -> str | None:
        if e in (sympy.true, sympy.false):
            return str(bool(e))
        if e is sympy.nan:
            return _NAN
        if e in (sympy.oo, -sympy.oo):
            return f"{'' if e > 0 else '-'}float('inf')"
        if not (e.is_number and e.is_Atom and e.is_real):
            return None
        number = _machine(e)
        return f"({e.p} / {e.q})" if e.is_Rational and not e.is_Integer else number

    def _written(self, e: Any) -> str:
        x = [self._texts[a] for a in self._parts(e)]
        if e in self._instead or isinstance(e, (AppliedUndef, sympy.Derivative, ExprWithLimits, sympy.Subs)):
            return x[0] if x else self._not_known(e)
        if isinstance(e, sympy.Mul):
            count = len(_fraction(e)[0])
            above, below = " * ".join(x[:count]) or "1.0", " * ".join(x[count:])
            return f"{above} / ({below})" if below else above
        if isinstance(e, sympy.Pow):
            return self._power(e, *x)
        if isinstance(e, sympy.Piecewise):
            return reduce(_choice, list(zip(x[::2], x[1::2], strict=True))[::-1], _NAN)
        if type(e) in _SIGNS:
            return f" {_SIGNS[type(e)]} ".join(f"({a})" for a in x)
        name = type(e).__name__
        name = _NAMES.get(name, name)
        if name in FUNCTIONS:
            return f"{name}({', '.join(x)})"
        return self._not_known(e)

    def _power(self, e: Any, base: str, exponent: str = "") -> str:
        power = e.exp
        if not power.is_Rational:
            return f"({base}) ** {exponent}"
        if power < 0:
            return f"1.0 / ({self._power(sympy.Pow(e.base, -power, evaluate=False), base)})"
        if power == sympy.S.Half:
            return f"sqrt({base})"
        return base if power == 1 else f"({base}) ** {power.p if power.is_Integer else _machine(power)}"

    def _not_known(self, e: Any) -> str:
        if is_name(e) or isinstance(e, (AppliedUndef, sympy.Derivative)):
            self.unknown.add(str(e))
        else:
            self.strange.add(type(e).__name__)
        return "0.0"


def _choice(rest: str, pair: tuple[str, str]) -> str:
    """A piece of a `Piecewise` before the rest of them."""
    value, condition = pair
    return value if condition == "True" else f"select({condition}, {value}, {rest})"


def _fraction(e: Any) -> tuple[list[Any], list[Any]]:
    """Factors above and below the bar of a product."""
    below = [a for a in e.args if a.is_Pow and a.exp.is_Rational and a.exp < 0]
    return [a for a in e.args if a not in below], [sympy.Pow(a.base, -a.exp) for a in below]


def is_name(e: Any) -> bool:
    """Whether an expression is a symbol, or one of those that an `IndexedBase` numbers, such as m[2].

    Parameters
    ----------
    e : sympy expression

    Returns
    -------
    bool

    Examples
    --------
    >>> m = sympy.IndexedBase("m")
    >>> [is_name(e) for e in (sympy.Symbol("x"), m[2], 2 * m[2])]
    [True, True, False]
    """
    return bool(e.is_Symbol) or isinstance(e, sympy.Indexed)


def parts_of(expressions: Iterable[Any]) -> Iterator[Any]:
    """Everything that occurs in expressions, each once, but for what sums run over and what is in names.

    Parameters
    ----------
    expressions : iterable of sympy expressions

    Yields
    ------
    sympy expression
        In no order; the expressions themselves, too.

    Raises
    ------
    ValueError
        A sum of what an `IndexedBase` numbers whose limits are no numbers.

    Examples
    --------
    >>> x, y = sympy.symbols("x y")
    >>> sorted(str(part) for part in parts_of([x * y, x]))
    ['x', 'x*y', 'y']
    """
    seen, todo = set[Any](), list(expressions)
    while todo:
        e = todo.pop()
        if e not in seen:
            seen.add(e)
            yield e
            todo += _parts_of(e)


def _parts_of(e: Any) -> Iterable[Any]:
    if is_name(e):
        return ()
    if not isinstance(e, ExprWithLimits):
        return tuple(e.args)
    if not e.has(sympy.Indexed):
        return (*e.free_symbols, *e.atoms(AppliedUndef))
    if (done := e.doit()) == e:
        raise ValueError(f"expression: {e} cannot be written out, expected limits that are numbers")
    return (done,)


def _machine(e: Any) -> str:
    """A number as Python writes it; ValueError for one beyond doubles."""
    number = float(e)
    if not np.isfinite(number):
        raise ValueError(f"expression: {sympy.Float(e, 3)}, expected numbers below 1.8e308; choose other units")
    return repr(number)


def function_of(
    expression: Any,
    q: Sequence[Any],
    v: Sequence[Any],
    parameters: Sequence[Any] = (),
    t: Any = None,
    instead: Mapping[Any, Any] | None = None,
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
    instead : mapping of expression to expression, optional
        What is put in the place of others, wherever they occur.

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
    return _compiled(expression, (q, v, parameters), t, instead)


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


def _compiled(
    expression: Any, arguments: Sequence[Sequence[Any]], t: Any, instead: Mapping[Any, Any] | None = None
) -> Callable[..., Any]:
    """The function of (t, *arguments) of an expression in these symbols; `instead`: what is put for others."""
    time = dynamicsymbols._t if t is None else sympy.sympify(t)
    own = {sympy.sympify(x): f"s{k}[{i}]" for k, some in enumerate(arguments) for i, x in enumerate(some)}
    written = _Lines({time: "t"} | own, instead or {})
    result = _nested(written, sympy.sympify(expression.tolist() if hasattr(expression, "tolist") else expression))
    if written.unknown:
        raise ValueError(
            f"expression: unknown symbols {', '.join(sorted(written.unknown))}; list them among coordinates, "
            "velocities or parameters, or put numbers in their place"
        )
    if written.strange:
        hint = "; make coordinates dynamicsymbols(…, real=True)" if written.strange & {"re", "im", "arg"} else ""
        raise ValueError(
            f"expression: functions {', '.join(sorted(written.strange))}, expected only "
            f"{', '.join(n for n in FUNCTIONS if n not in ('select', 'ITE', 'Not'))}, Piecewise, Mod{hint}"
        )
    given = ", ".join(["t", *(f"s{k}" for k in range(len(arguments)))])
    body = "".join(f"    {line}\n" for line in [*written.lines, f"return {result}"])
    space: dict[str, Any] = dict(FUNCTIONS)
    exec(compile(f"def made({given}):\n{body}", "<expressions of SymPy>", "exec"), space)
    return space["made"]  # type: ignore[no-any-return]


def _nested(written: _Lines, given: Any) -> str:
    """The text of a nested list."""
    if isinstance(given, (list, tuple, sympy.Tuple)):
        return f"[{', '.join(_nested(written, part) for part in given)}]"
    return written.text(sympy.sympify(given))
