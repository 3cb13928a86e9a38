"""Exact derivatives of plain functions of numbers: the function is run once on `Traced` scalars, which note what is done to them.

The notes are a graph of elementary operations, each kept once.  Differentiating it gives more of the same graph, and the graph
gives straight-line source code that runs on floats, lanes, complex and mpmath numbers, compiled or not.  Functions may use
+ − * / ** with constant exponents, the functions of `liegroup.scalars` and the NumPy functions of the same names, loops, lists
and arrays; but no `if` on a value (use `select`), and nothing that needs a number (`float`, `math.sin`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from liegroup.compile import each_lane, ld, primitive, st
from liegroup.scalars import arctan2, is_machine_real, less, library_of, select, sincos, sqrt

CONSTANT, INPUT = "constant", "input"
_BINARY = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_NAMES = {"atan2": "arctan2"}
_exp_each, _log_each = each_lane(math.exp), each_lane(math.log)


@primitive(_exp_each)
def exp(x: Any) -> Any:
    """eˣ of any scalar."""
    if is_machine_real(x):
        return np.exp(x)
    return np.exp(x) if np.iscomplexobj(x) else library_of(x).exp(x)


@primitive(_log_each)
def log(x: Any) -> Any:
    """Natural logarithm of any scalar."""
    if is_machine_real(x):
        return np.log(x)
    return np.log(x) if np.iscomplexobj(x) else library_of(x).log(x)


NAMESPACE = {
    "ld": ld,
    "st": st,
    "sincos": sincos,
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "arctan2": arctan2,
    "select": select,
    "less": less,
}
"""What the generated code calls."""


class Graph:
    """Elementary operations in the order in which they were noted, each once."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._derivatives: dict[tuple[int, int], int] = {}

    def node(self, *what: Any) -> int:
        """The number of an operation (name, arguments…), or of a constant or an input."""
        if what not in self._known:
            self._known[what] = len(self.nodes)
            self.nodes.append(what)
        return self._known[what]

    def constant(self, value: float) -> int:
        return self.node(CONSTANT, float(value))

    def value(self, k: int) -> float | None:
        """The value of a constant; None for anything else."""
        return self.nodes[k][1] if self.nodes[k][0] == CONSTANT else None

    def input(self, source: str) -> Traced:
        """A scalar that the generated code reads by the expression `source`."""
        return Traced(self, self.node(INPUT, source))

    # --- operations, with what is trivial left out -----------------------------------------------------------------------

    def apply(self, name: str, *arguments: int) -> int:
        values = [self.value(k) for k in arguments]
        if name in _FOLDED and None not in values:
            return self.constant(_FOLDED[name](*values))
        simple = _SIMPLE[name](self, arguments, values) if name in _SIMPLE else None
        return self.node(name, *arguments) if simple is None else simple

    # --- derivatives ---------------------------------------------------------------------------------------------------------

    def derivative(self, k: int, variable: int) -> int:
        """The node of ∂(node k)/∂(node variable)."""
        todo = [k]
        while todo:
            j = todo[-1]
            if (j, variable) in self._derivatives:
                todo.pop()
                continue
            name, *arguments = self.nodes[j]
            missing = [a for a in _differentiable(name, arguments) if (a, variable) not in self._derivatives]
            if missing:
                todo += missing
                continue
            self._derivatives[j, variable] = self._chain(j, name, arguments, variable)
            todo.pop()
        return self._derivatives[k, variable]

    def _chain(self, j: int, name: str, arguments: Sequence[Any], variable: int) -> int:
        if name in (CONSTANT, INPUT, "less"):
            return self.constant(1.0 if j == variable else 0.0)
        inner = [self._derivatives[a, variable] for a in _differentiable(name, arguments)]
        return _RULES[name](self, j, arguments, inner)


class Traced:
    """A scalar that notes what is done to it."""

    def __init__(self, graph: Graph, k: int) -> None:
        self.graph, self.k = graph, k

    def _with(self, name: str, other: Any, swapped: bool = False) -> Any:
        if isinstance(other, Traced):
            k = other.k
        elif isinstance(other, (int, float)) or hasattr(other, "__float__"):
            k = self.graph.constant(float(other))
        else:
            return NotImplemented
        return Traced(self.graph, self.graph.apply(name, *((k, self.k) if swapped else (self.k, k))))

    def __add__(self, other: Any) -> Any:
        return self._with("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("add", other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._with("subtract", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("subtract", other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._with("multiply", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("multiply", other, swapped=True)

    def __truediv__(self, other: Any) -> Any:
        return self._with("divide", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("divide", other, swapped=True)

    def __neg__(self) -> Traced:
        return 0.0 - self  # type: ignore[no-any-return]

    def __pos__(self) -> Traced:
        return self

    def __lt__(self, other: Any) -> Any:
        return self._with("less", other)

    def __gt__(self, other: Any) -> Any:
        return self._with("less", other, swapped=True)

    def __abs__(self) -> Traced:
        return (self < 0.0).select(-self, self)  # type: ignore[no-any-return]

    def __pow__(self, exponent: Any) -> Traced:
        if isinstance(exponent, Traced):
            raise TypeError("a power with a variable exponent cannot be traced; write exp(b * log(a))")
        e = float(exponent)
        if e == int(e) and abs(e) <= 64:
            power = self._whole_power(int(abs(e)))
            return power if e >= 0 else 1.0 / power
        if 2 * e == int(2 * e) and abs(e) <= 64:
            return self.sqrt() ** int(2 * e)
        return (e * self.log()).exp()  # type: ignore[no-any-return]

    def _whole_power(self, n: int) -> Traced:
        if n == 0:
            return Traced(self.graph, self.graph.constant(1.0))
        half = self._whole_power(n // 2)
        square = half * half
        return square * self if n % 2 else square  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        raise TypeError("an `if` on a value cannot be traced; use liegroup.scalars.select(condition, a, b), with both sides safe")

    def __float__(self) -> float:
        raise TypeError("a traced scalar has no value; use functions of liegroup.scalars or NumPy instead of those of `math`")

    # --- what liegroup.scalars and NumPy ask for -----------------------------------------------------------------------------

    def _function(self, name: str) -> Traced:
        return Traced(self.graph, self.graph.apply(name, self.k))

    def sin(self) -> Traced:
        return self._function("sin")

    def cos(self) -> Traced:
        return self._function("cos")

    def tan(self) -> Traced:
        return self.sin() / self.cos()  # type: ignore[no-any-return]

    def sqrt(self) -> Traced:
        return self._function("sqrt")

    def exp(self) -> Traced:
        return self._function("exp")

    def log(self) -> Traced:
        return self._function("log")

    def select(self, a: Any, b: Any) -> Traced:
        """a where this condition holds, else b."""
        a, b = (x if isinstance(x, Traced) else Traced(self.graph, self.graph.constant(float(x))) for x in (a, b))
        return Traced(self.graph, self.graph.apply("select", self.k, a.k, b.k))

    class library:
        """The functions under the names of the libraries that `liegroup.scalars` knows."""

        @staticmethod
        def sin(x: Any) -> Any:
            return x.sin()

        @staticmethod
        def cos(x: Any) -> Any:
            return x.cos()

        @staticmethod
        def atan2(y: Any, x: Any) -> Any:
            known = y if isinstance(y, Traced) else x
            y, x = (a if isinstance(a, Traced) else Traced(known.graph, known.graph.constant(float(a))) for a in (y, x))
            return Traced(known.graph, known.graph.apply("atan2", y.k, x.k))


def _differentiable(name: str, arguments: Iterable[Any]) -> list[int]:
    if name in (CONSTANT, INPUT, "less"):
        return []
    return list(arguments)[1:] if name == "select" else list(arguments)


# --- rules: g the graph, j the node, a its arguments, d the derivatives of the arguments ----------------------------------------

Rule = Callable[[Graph, int, Sequence[int], Sequence[int]], int]


def _quotient(g: Graph, j: int, a: Sequence[int], d: Sequence[int]) -> int:
    return g.apply("divide", g.apply("subtract", d[0], g.apply("multiply", j, d[1])), a[1])


def _angle(g: Graph, j: int, a: Sequence[int], d: Sequence[int]) -> int:
    square = g.apply("add", g.apply("multiply", a[0], a[0]), g.apply("multiply", a[1], a[1]))
    return g.apply("divide", g.apply("subtract", g.apply("multiply", a[1], d[0]), g.apply("multiply", a[0], d[1])), square)


_RULES: dict[str, Rule] = {
    "add": lambda g, j, a, d: g.apply("add", d[0], d[1]),
    "subtract": lambda g, j, a, d: g.apply("subtract", d[0], d[1]),
    "multiply": lambda g, j, a, d: g.apply("add", g.apply("multiply", d[0], a[1]), g.apply("multiply", a[0], d[1])),
    "divide": _quotient,
    "sin": lambda g, j, a, d: g.apply("multiply", g.apply("cos", a[0]), d[0]),
    "cos": lambda g, j, a, d: g.apply("subtract", g.constant(0.0), g.apply("multiply", g.apply("sin", a[0]), d[0])),
    "sqrt": lambda g, j, a, d: g.apply("divide", g.apply("multiply", g.constant(0.5), d[0]), j),
    "exp": lambda g, j, a, d: g.apply("multiply", j, d[0]),
    "log": lambda g, j, a, d: g.apply("divide", d[0], a[0]),
    "atan2": _angle,
    "select": lambda g, j, a, d: g.apply("select", a[0], d[0], d[1]),
}

_FOLDED: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def _simple_add(g: Graph, a: Sequence[int], v: Sequence[float | None]) -> int | None:
    return a[1] if v[0] == 0.0 else (a[0] if v[1] == 0.0 else None)


def _simple_subtract(g: Graph, a: Sequence[int], v: Sequence[float | None]) -> int | None:
    return a[0] if v[1] == 0.0 else (g.constant(0.0) if a[0] == a[1] else None)


def _simple_multiply(g: Graph, a: Sequence[int], v: Sequence[float | None]) -> int | None:
    if 0.0 in v:
        return g.constant(0.0)
    return a[1] if v[0] == 1.0 else (a[0] if v[1] == 1.0 else None)


def _simple_divide(g: Graph, a: Sequence[int], v: Sequence[float | None]) -> int | None:
    return g.constant(0.0) if v[0] == 0.0 else (a[0] if v[1] == 1.0 else None)


def _simple_select(g: Graph, a: Sequence[int], v: Sequence[float | None]) -> int | None:
    return a[1] if a[1] == a[2] else None


_SIMPLE: dict[str, Callable[..., int | None]] = {
    "add": _simple_add,
    "subtract": _simple_subtract,
    "multiply": _simple_multiply,
    "divide": _simple_divide,
    "select": _simple_select,
}


# --- source code --------------------------------------------------------------------------------------------------------------


def lines(graph: Graph, wanted: Iterable[int], known: set[int]) -> list[str]:
    """Assignments that compute the wanted nodes; those in `known` are there already, and the new ones are added to it."""
    needed: set[int] = set()
    todo = list(wanted)
    while todo:
        k = todo.pop()
        if k in needed or k in known:
            continue
        needed.add(k)
        name, *arguments = graph.nodes[k]
        todo += arguments if name not in (CONSTANT, INPUT) else []
    known |= needed
    found, turned = [], set[int]()
    for k in sorted(needed):
        name, *arguments = graph.nodes[k]
        if name in ("sin", "cos") and arguments[0] not in turned:
            turned.add(arguments[0])
            found.append(f"turn{arguments[0]} = sincos(x{arguments[0]})")
        found.append(f"x{k} = {_expression(graph, k)}")
    return found


def _expression(graph: Graph, k: int) -> str:
    name, *arguments = graph.nodes[k]
    if name == CONSTANT:
        return repr(arguments[0])
    if name == INPUT:
        return str(arguments[0])
    operands = [f"x{a}" for a in arguments]
    if name in _BINARY:
        return f" {_BINARY[name]} ".join(operands)
    if name in ("sin", "cos"):
        return f"turn{arguments[0]}[{int(name == 'cos')}]"
    return f"{_NAMES.get(name, name)}({', '.join(operands)})"
