"""Plain functions of numbers as straight-line code: run once on `Traced` scalars, which note what is done to them.

The notes are a graph of elementary operations, each kept once: constants are folded, what is added as zero or
multiplied by one is left out, signs move to where they cost nothing.  None of this changes a result, but for the sign
of zeros and where there are infinities or NaN.  The graph gives source code that runs on floats, lanes, complex and
mpmath numbers, compiled or not.  Functions may use + − * / **, the functions of
`liegroup.compile.scalars`, NumPy's functions of numbers (`UFUNCS`), ``np.where``, ``np.clip``, loops, lists and arrays
(``np.dot``, ``np.cross``, ``@``); but no `if` on a value (use ``np.where`` or `select`: both sides are evaluated), and
nothing that needs a number (`float`).  Functions of users may say ``math.sin`` and ``np.zeros(3)`` as well:
`liegroup.compile.traceable`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

from liegroup.compile import kernel, ld, st, taken
from liegroup.compile.scalars import (
    FORMULAS,
    acosh,
    arctan2,
    asinh,
    atanh,
    cosh,
    exp,
    expm1,
    floor,
    less,
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

CONSTANT, INPUT = "constant", "input"
_BINARY = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_NAMES = {"atan2": "arctan2"}
_WHOLE_POWERS = 2.0**16
"""Exponents up to which powers are products."""


@kernel
def called_sincos(x: Any) -> Any:
    """`sincos`, called instead of copied: long code that needs it often is shorter and compiles sooner."""
    return sincos(x)


NAMESPACE: dict[str, Any] = {
    "ld": ld,
    "st": st,
    "sincos": sincos,
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "sinh": sinh,
    "cosh": cosh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "expm1": expm1,
    "log1p": log1p,
    "floor": floor,
    "arctan2": arctan2,
    "select": select,
    "less": less,
    "taken": taken,
}
"""What the generated code calls."""
IMPORTS = """from liegroup.compile import entry, ld, st, straight_line, taken
from liegroup.compile.scalars import acosh, arctan2, asinh, atanh, cosh, exp, expm1, floor, less, log, log1p, select
from liegroup.compile.scalars import sincos, sinh, sqrt, tanh
"""
"""The same for a module of generated entries."""


class Graph:
    """Elementary operations in the order in which they were noted, each once."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self.table: tuple[float, ...] = ()
        """The numbers that `taken` looks up."""
        self.path: Path | None = None
        """What answers where code decides by a value; without it such code cannot be traced."""
        self.powers: dict[int, tuple[Traced, Traced | float]] = {}
        """Nodes that are powers: base and exponent, of which derivatives are smooth at zero that those of what computes
        them are not.
        """

    def node(self, *what: Any) -> int:
        """The number of an operation (name, arguments…), or of a constant or an input."""
        if what not in self._known:
            self._known[what] = len(self.nodes)
            self.nodes.append(what)
        return self._known[what]

    def constant(self, value: float) -> int:
        return self.node(CONSTANT, float(value) + 0.0)

    def value(self, k: int) -> float | None:
        """The value of a constant; None for anything else."""
        return self.nodes[k][1] if self.nodes[k][0] == CONSTANT else None

    def input(self, source: Any) -> Traced:
        """A scalar that the generated code reads by the expression `source`, or by what its printer makes of it."""
        return Traced(self, self.node(INPUT, source))

    def arguments(self, k: int) -> list[int]:
        """The nodes that a node is computed from."""
        name, *arguments = self.nodes[k]
        return [] if name in (CONSTANT, INPUT) else arguments

    def apply(self, name: str, *arguments: int) -> int:
        """The node of an operation, or of something simpler that gives the same number."""
        if name == "select":
            arguments = (self._condition(arguments[0]), *map(self.number, arguments[1:]))
        else:
            arguments = tuple(map(self.number, arguments))
        return _SIMPLIFIED[name](self, *arguments) if name in _SIMPLIFIED else self.node(name, *arguments)

    def number(self, k: int) -> int:
        """The node itself, of a condition 1 or 0: machines add conditions, vectors of them and numbers in ways of their
        own.
        """
        return self.apply("select", k, self.constant(1.0), self.constant(0.0)) if self.nodes[k][0] == "less" else k

    def _condition(self, k: int) -> int:
        """The node itself, of a number whether it is not zero."""
        if self.nodes[k][0] in ("less", CONSTANT):
            return k
        nought = self.constant(0.0)
        return self.apply(
            "less", nought, self.apply("select", self.apply("less", k, nought), self.apply("negate", k), k)
        )

    def needed(self, wanted: Iterable[int], known: Container[int] = ()) -> list[int]:
        """The nodes that lead to the wanted ones, in order, without the known ones and what only leads to those."""
        found: set[int] = set()
        todo = list(wanted)
        while todo:
            k = todo.pop()
            if k not in found and k not in known:
                found.add(k)
                todo += self.arguments(k)
        return sorted(found)


class Traced:
    """A scalar that notes what is done to it."""

    def __init__(self, graph: Graph, k: int) -> None:
        self.graph, self.k = graph, k

    def _with(self, name: str, other: Any, swapped: bool = False) -> Any:
        if isinstance(other, Traced):
            k = other.k
        elif isinstance(other, np.ndarray) and other.ndim:
            return NotImplemented  # element by element, by the array
        elif isinstance(other, (int, float)) or hasattr(other, "__float__"):
            k = self.graph.constant(float(other))
        else:
            return NotImplemented
        return Traced(self.graph, self.graph.apply(name, *((k, self.k) if swapped else (self.k, k))))

    def __add__(self, other: Any) -> Any:
        if self.is_condition and isinstance(other, Traced) and other.is_condition:
            raise TypeError(
                "the sum of two conditions cannot be traced: NumPy's is one of them, Python's counts; write a | b, or "
                "np.where(a, 1.0, 0.0) + np.where(b, 1.0, 0.0)"
            )
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
        return self._function("negate")

    def __pos__(self) -> Traced:
        return self

    def __lt__(self, other: Any) -> Any:
        return self._with("less", other)

    def __gt__(self, other: Any) -> Any:
        return self._with("less", other, swapped=True)

    def __le__(self, other: Any) -> Any:
        return ~(self > other)

    def __ge__(self, other: Any) -> Any:
        return ~(self < other)

    def __eq__(self, other: Any) -> Any:
        return (self <= other) & (self >= other)

    def __ne__(self, other: Any) -> Any:
        return ~(self == other)

    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Any:
        return self.select(_number(other), 0.0) > 0.5

    def __or__(self, other: Any) -> Any:
        return self.select(1.0, _number(other)) > 0.5

    def __invert__(self) -> Any:
        """Not, of a condition; a negated one is the condition itself."""
        return self.select(0.0, 1.0) > 0.5

    __rand__, __ror__ = __and__, __or__

    def __mod__(self, other: Any) -> Any:
        return self - other * (self / other).floor()

    def __rmod__(self, other: Any) -> Any:
        return other - self * (other / self).floor()

    def __floordiv__(self, other: Any) -> Any:
        return (self / other).floor()

    def __rfloordiv__(self, other: Any) -> Any:
        return (other / self).floor()

    def __rpow__(self, base: Any) -> Any:
        if base > 0.0:
            return (math.log(base) * self).exp()
        return Traced(self.graph, self.graph.constant(base)) ** self

    def __abs__(self) -> Traced:
        return (self < 0.0).select(-self, self)  # type: ignore[no-any-return]

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, np.ndarray) and exponent.ndim:
            return NotImplemented  # element by element, by the array
        if isinstance(exponent, Traced):
            known = self.graph.value(exponent.k)
            return self._noted(self._any_power(exponent), exponent) if known is None else self**known
        e = float(exponent)
        if e == int(e) and abs(e) <= _WHOLE_POWERS:
            power = self._whole_power(int(abs(e)))
            return power if e >= 0 else 1.0 / power
        if e == int(e):
            return self._noted(self._any_power(Traced(self.graph, self.graph.constant(e))), e)
        if 2 * e == int(2 * e) and abs(e) <= 64:
            return self._noted(self.sqrt() ** int(2 * e), e)
        return self._noted((e * self.log()).exp(), e)

    def _any_power(self, e: Traced) -> Any:
        """By the exponent as a number of the code: whole ones go with bases of either sign."""
        size = abs(self)
        power = (e == 0.0).select(1.0, (e * size.log()).exp())
        signed = (e % 2.0 == 0.0).select(power, (e == e.floor()).select(-power, math.nan))
        return (self < 0.0).select(signed, power)

    def _noted(self, power: Any, exponent: Traced | float) -> Any:
        self.graph.powers[power.k] = self, exponent
        return power

    def _whole_power(self, n: int) -> Traced:
        if n == 0:
            return Traced(self.graph, self.graph.constant(1.0))
        half = self._whole_power(n // 2)
        square = half * half
        return square * self if n % 2 else square  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        if self.graph.path is not None:
            return self.graph.path.goes(self.k)
        raise TypeError(
            "an `if` on a value cannot be traced; use np.where or liegroup.compile.scalars.select(condition, a, b), "
            "both sides safe"
        )

    def __float__(self) -> float:
        raise TypeError(
            "a traced scalar has no value, and fits into no array of machine numbers; use np.where for what depends on "
            "it, functions of NumPy instead of those of np.linalg, and lists or np.array of all entries"
        )

    # --- what liegroup.compile.scalars and NumPy ask for --------------------------------------------------------------

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

    def tanh(self) -> Traced:
        return self._function("tanh")

    def sinh(self) -> Traced:
        return self._function("sinh")

    def cosh(self) -> Traced:
        return self._function("cosh")

    def arcsinh(self) -> Traced:
        return self._function("asinh")

    def arccosh(self) -> Traced:
        return self._function("acosh")

    def arctanh(self) -> Traced:
        return self._function("atanh")

    def expm1(self) -> Traced:
        return self._function("expm1")

    def log1p(self) -> Traced:
        return self._function("log1p")

    def floor(self) -> Traced:
        return self._function("floor")

    def arctan2(self, x: Any) -> Any:
        return arctan2(self, x)

    def arcsin(self) -> Any:
        return arctan2(self, ((1.0 - self) * (1.0 + self)).sqrt())

    def arccos(self) -> Any:
        return arctan2(((1.0 - self) * (1.0 + self)).sqrt(), self)

    def arctan(self) -> Any:
        return arctan2(self, 1.0)

    def sign(self) -> Any:
        return (self < 0.0).select(-1.0, (self > 0.0).select(1.0, 0.0))

    def conjugate(self) -> Traced:
        return self

    @property
    def is_condition(self) -> bool:
        """Whether it is what a comparison gives."""
        return bool(self.graph.nodes[self.k][0] == "less")

    @property
    def counted(self) -> Traced:
        """Of a condition 1 or 0, else itself."""
        return Traced(self.graph, self.graph.number(self.k))

    @property
    def follows_a_path(self) -> bool:
        """Whether decisions by values are answered (`Path`)."""
        return self.graph.path is not None

    @property
    def real(self) -> Traced:
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions of numbers, element by element."""
        if method != "__call__" or options or ufunc.__name__ not in UFUNCS:
            asked = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise TypeError(f"np.{asked} cannot be traced; expected one of {', '.join(sorted(UFUNCS))}")
        return applied(UFUNCS[ufunc.__name__], *inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """NumPy's other functions: of arrays of objects, but for those that decide."""
        if function.__name__ in FUNCTIONS:
            return FUNCTIONS[function.__name__](*arguments, **options)
        try:
            found = function(*map(_as_objects, arguments), **options)
        except TypeError as error:
            raise TypeError(
                f"np.{function.__name__} cannot be traced ({error}); write it with + - * / **, loops, np.where and "
                f"{', '.join(sorted(UFUNCS))}"
            ) from error
        return found.item() if isinstance(found, np.ndarray) and found.ndim == 0 else found

    def select(self, a: Any, b: Any) -> Traced:
        """a where this condition holds, else b."""
        a, b = (x if isinstance(x, Traced) else Traced(self.graph, self.graph.constant(float(x))) for x in (a, b))
        return Traced(self.graph, self.graph.apply("select", self.k, a.k, b.k))

    def taken(self) -> Traced:
        """The parameter at this place."""
        return self._function("taken")

    class library:
        """The functions under the names of the libraries that `liegroup.compile.scalars` knows."""

        @staticmethod
        def sin(x: Any) -> Any:
            return x.sin()

        @staticmethod
        def cos(x: Any) -> Any:
            return x.cos()

        @staticmethod
        def exp(x: Any) -> Any:
            return x.exp()

        @staticmethod
        def log(x: Any) -> Any:
            return x.log()

        @staticmethod
        def tanh(x: Any) -> Any:
            return x.tanh()

        @staticmethod
        def atan2(y: Any, x: Any) -> Any:
            known = y if isinstance(y, Traced) else x
            y, x = (a if isinstance(a, Traced) else Traced(known.graph, known.graph.constant(float(a))) for a in (y, x))
            return Traced(known.graph, known.graph.apply("atan2", y.k, x.k))


for _name in FORMULAS:
    setattr(Traced.library, _name, staticmethod(lambda x, name=_name: x._function(name)))


def _number(x: Any) -> Any:
    """A condition as 1 or 0."""
    return x.select(1.0, 0.0) if isinstance(x, Traced) else float(x)


def _plain(x: Any) -> Any:
    """A number of NumPy's as Python's, whose operators ask for those of the other side."""
    return x.item() if isinstance(x, np.generic) else x


def _as_objects(x: Any) -> Any:
    """An argument with traced scalars as arrays."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(_as_objects, x))
    return np.asarray(x, dtype=object) if isinstance(x, Traced) else x


def applied(rule: Callable[..., Any], *inputs: Any) -> Any:
    """A function of numbers, element by element."""
    each = np.frompyfunc(lambda *x: rule(*map(_plain, x)), len(inputs), 1)
    return each(*(np.asarray(x, dtype=object) for x in inputs))


def _named(name: str) -> Callable[[Any], Any]:
    """NumPy's function of one number, also of numbers among traced scalars."""
    numpy = getattr(np, name)
    return lambda x: getattr(x, name)() if isinstance(x, Traced) else numpy(x)


def _truncated(x: Any) -> Any:
    return select(x < 0.0, -_floor(-x), _floor(x))


def _floor(x: Any) -> Any:
    return x.floor() if isinstance(x, Traced) else np.floor(x)


def _cube_root(x: Any) -> Any:
    """Of the size, with the sign; safe at zero."""
    size = abs(x)
    nought = size == 0.0
    root = _named("exp")(_named("log")(select(nought, 1.0, size)) / 3.0)
    return select(nought, 0.0, select(x < 0.0, -root, root))


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


_ONE = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp expm1 log log1p sqrt floor sign "
    "conjugate"
)
UFUNCS: dict[str, Callable[..., Any]] = {
    **{name: _named(name) for name in _ONE.split()},
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "negative": operator.neg, "positive": operator.pos, "absolute": abs,
    "square": lambda x: x * x,
    "remainder": operator.mod, "floor_divide": operator.floordiv, "arctan2": arctan2, "reciprocal": lambda x: 1.0 / x,
    "fmod": lambda x, y: x - y * _truncated(x / y), "trunc": _truncated, "ceil": lambda x: -_floor(-x),
    "copysign": lambda x, y: select(y < 0.0, -abs(x), abs(x)), "cbrt": _cube_root, "fabs": abs,
    "float_power": operator.pow, "exp2": lambda x: 2.0**x,
    "log2": lambda x: _named("log")(x) / math.log(2.0), "log10": lambda x: _named("log")(x) / math.log(10.0),
    "hypot": lambda x, y: sqrt(x * x + y * y),
    "maximum": maximum, "minimum": minimum, "fmax": maximum, "fmin": minimum, "clip": _clip,
    "less": operator.lt, "greater": operator.gt, "less_equal": operator.le, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne, "logical_and": operator.and_, "logical_or": operator.or_,
    "logical_not": lambda x: ~x if isinstance(x, Traced) else not x,
    "heaviside": lambda x, at_zero: select(x < 0.0, 0.0, select(x > 0.0, 1.0, at_zero)),
    "radians": lambda x: x * (math.pi / 180.0), "deg2rad": lambda x: x * (math.pi / 180.0),
    "degrees": lambda x: x * (180.0 / math.pi), "rad2deg": lambda x: x * (180.0 / math.pi),
}  # fmt: skip
"""NumPy's functions of numbers that can be traced, by name."""


def _anywhere(x: Any) -> Any:
    """`liegroup.compile.any_`: what holds in some lane may be done in all."""
    if isinstance(x, Traced) and x.graph.path is not None:
        return x.graph.path.goes(x.k, in_some_lane=True)
    return np.any(np.asarray(x, dtype=object))


FUNCTIONS: dict[str, Callable[..., Any]] = {"where": select, "clip": _clip, "any": _anywhere}
"""NumPy's functions that decide."""


class Path:
    """The way that code takes which decides by values, as states given as samples take it.

    Code for lanes does what one lane asks for in all of them, and each is right by itself: where `any_` of a condition
    holds for one sample, it is taken to hold, for any state.  Every other answer is a presupposition; `left` is where
    one fails.

    Parameters
    ----------
    graph : Graph
    samples : mapping of node to array (m,)
        Values of the inputs.
    """

    def __init__(self, graph: Graph, samples: dict[int, Any]) -> None:
        self._graph, self._values = graph, dict(samples)
        self._presupposed: dict[int, bool] = {}

    def goes(self, k: int, in_some_lane: bool = False) -> bool:
        """The answer to a condition."""
        graph = self._graph
        answer = bool(np.any(evaluated(graph, k, self._values)))
        if (
            graph.value(k) is None
            and not (answer and in_some_lane)
            and self._presupposed.setdefault(k, answer) != answer
        ):
            raise AssertionError(f"node {k}: two answers")
        return answer

    @property
    def left(self) -> Traced:
        """1 where a state would have gone another way, else 0."""
        left = Traced(self._graph, self._graph.constant(0.0))
        for k, answer in self._presupposed.items():
            condition = Traced(self._graph, k)
            left = condition.select(left, 1.0) if answer else condition.select(1.0, left)
        number = self._number_if_all_are()
        return left if number is None else (number < 1.0).select(left, (number > 0.0).select(left, 1.0))

    def _number_if_all_are(self) -> Traced | None:
        """A sum of what the presuppositions compare, no number where one of them is none: a comparison says no to that,
        from which `not` and `==` make a yes.  What is none for a sample may be so (`uncertain`) and is left out.
        """
        graph, total = self._graph, None
        for x in self._compared():
            if np.isfinite(self.value(x)).all():
                total = x if total is None else graph.node("add", total, x)
        return None if total is None else Traced(graph, total)

    def _compared(self) -> list[int]:
        """What the presuppositions compare."""
        graph = self._graph
        found = {x for k in graph.needed(self._presupposed) if graph.nodes[k][0] == "less" for x in graph.arguments(k)}
        return [x for x in sorted(found) if graph.value(x) is None]

    def value(self, k: int) -> Any:
        """What a node is for the samples, (m,), or a number that is the same for all."""
        return evaluated(self._graph, k, self._values)

    @property
    def uncertain(self) -> Any:
        """For which samples something is compared that is no number, or infinite: because it is not chosen, or because
        an iteration runs away, which then counts as one that has ended.
        """
        return ~np.isfinite(np.broadcast_arrays(np.zeros(1), *map(self.value, self._compared()))).all(axis=0)


def evaluated(graph: Graph, k: int, values: dict[int, Any]) -> Any:
    """The value of a node for known `values` of inputs, numbers or arrays; they grow by what leads to the node."""
    with np.errstate(all="ignore"):
        for j in graph.needed([k], values):
            name, *arguments = graph.nodes[j]
            if name == CONSTANT:
                values[j] = arguments[0]
            elif name == "taken":
                values[j] = np.asarray(graph.table)[np.asarray(values[arguments[0]]).astype(np.int64)]
            else:
                values[j] = _VALUES[name](*(values[a] for a in arguments))
    return values[k]


# --- the same number with less ----------------------------------------------------------------------------------------


def _signed(g: Graph, k: int) -> tuple[int, int]:
    """Sign ±1 and node of which a node is the product."""
    name, *arguments = g.nodes[k]
    if name == "negate":
        return -1, arguments[0]
    return (-1, g.constant(-arguments[0])) if name == CONSTANT and arguments[0] < 0.0 else (1, k)


def _negative(g: Graph, a: int) -> int:
    name, *arguments = g.nodes[a]
    return (
        g.constant(-arguments[0]) if name == CONSTANT else (arguments[0] if name == "negate" else g.node("negate", a))
    )


def _sum(g: Graph, a: int, b: int) -> int:
    x, y = g.value(a), g.value(b)
    if x is not None and y is not None:
        return g.constant(x + y)
    if x == 0.0 or y == 0.0:
        return b if x == 0.0 else a
    (i, a), (j, b) = _signed(g, a), _signed(g, b)
    if i == j:
        return _with_sign(g, i, g.node("add", *sorted((a, b))))
    if a == b:
        return g.constant(0.0)
    return g.node("subtract", a, b) if i > 0 else g.node("subtract", b, a)


def _with_sign(g: Graph, sign: int, k: int) -> int:
    return k if sign > 0 else _negative(g, k)


def _product(g: Graph, a: int, b: int) -> int:
    (i, a), (j, b) = _signed(g, a), _signed(g, b)
    x, y = g.value(a), g.value(b)
    if x == 0.0 or y == 0.0:
        return g.constant(0.0)
    if x is not None and y is not None:
        return g.constant(i * j * (x * y))
    if x == 1.0 or y == 1.0:
        return _with_sign(g, i * j, b if x == 1.0 else a)
    return _with_sign(g, i * j, g.node("multiply", *sorted((a, b))))


def _quotient(g: Graph, a: int, b: int) -> int:
    (i, a), (j, b) = _signed(g, a), _signed(g, b)
    x, y = g.value(a), g.value(b)
    if x is not None and y:
        return g.constant(i * j * (x / y))
    if x == 0.0:
        return a
    return _with_sign(g, i * j, a if y == 1.0 else g.node("divide", a, b))


_SIMPLIFIED: dict[str, Callable[..., int]] = {
    "negate": _negative,
    "add": _sum,
    "subtract": lambda g, a, b: _sum(g, a, _negative(g, b)),
    "multiply": _product,
    "divide": _quotient,
    "less": lambda g, a, b: _comparison(g, a, b),
    "select": lambda g, condition, a, b: _choice(g, condition, a, b),
}


def _comparison(g: Graph, a: int, b: int) -> int:
    x, y = g.value(a), g.value(b)
    return g.node("less", a, b) if x is None or y is None else g.constant(float(x < y))


def _choice(g: Graph, condition: int, a: int, b: int) -> int:
    known = g.value(condition)
    if known is not None:
        return a if known else b
    return a if a == b else g.node("select", condition, a, b)


# --- source code ------------------------------------------------------------------------------------------------------


class Printer:
    """How assignments are written: here in the Python that kernels are compiled from."""

    def number(self, value: float) -> str:
        if math.isfinite(value):
            return repr(value)
        return "(1e999 - 1e999)" if math.isnan(value) else repr(value).replace("inf", "1e999")

    def read(self, source: Any) -> str:
        """An input."""
        return str(source)

    def assignment(self, k: int, expression: str) -> str:
        return f"x{k} = {expression}"

    def turn(self, k: int, x: str) -> str:
        """Sine and cosine of the number x = node k."""
        return f"turn{k} = sincos({x})"

    def turned(self, name: str, k: int) -> str:
        """One of the two."""
        return f"turn{k}[{int(name == 'cos')}]"

    def operation(self, name: str, *x: str) -> str:
        """Any other operation."""
        if name == "taken":
            x = ("parameters", *x)
        if name in _BINARY:
            return f" {_BINARY[name]} ".join(x)
        return f"-{x[0]}" if name == "negate" else f"{_NAMES.get(name, name)}({', '.join(x)})"

    def operand(self, graph: Graph, k: int) -> str:
        """How the code names a node: its variable, or the number."""
        value = graph.value(k)
        return f"x{k}" if value is None else self.number(value)

    def expression(self, graph: Graph, k: int) -> str:
        name, *arguments = graph.nodes[k]
        if name == INPUT:
            return self.read(arguments[0])
        if name in ("sin", "cos"):
            return self.turned(name, arguments[0])
        return self.operation(name, *(self.operand(graph, a) for a in arguments))


_PYTHON = Printer()


def lines(graph: Graph, wanted: Iterable[int], known: set[int], printer: Printer = _PYTHON) -> list[str]:
    """Assignments that compute the wanted nodes; those in `known` are there already, and the new ones are added to
    it.
    """
    found: list[str] = []
    turned: set[int] = set()

    def assign(k: int) -> None:
        name, *arguments = graph.nodes[k]
        if name in ("sin", "cos") and arguments[0] not in turned:
            turned.add(arguments[0])
            found.append(printer.turn(arguments[0], printer.operand(graph, arguments[0])))
        found.append(printer.assignment(k, printer.expression(graph, k)))
        known.add(k)

    def is_read(k: int) -> bool:
        return graph.nodes[k][0] == INPUT and k not in known

    wanted = list(wanted)
    for k in graph.needed(wanted, known):
        for a in filter(is_read, graph.arguments(k)):  # inputs where they are first needed
            assign(a)
        if graph.nodes[k][0] not in (CONSTANT, INPUT):
            assign(k)
    for k in filter(is_read, wanted):
        assign(k)
    return found


def straight(name: str, arguments: str, body: Iterable[str]) -> str:
    """The function of such lines, as a formula that the compiler does not read line by line."""
    text = "".join(f"    {line}\n" for line in body) or "    return\n"
    return f"\n@straight_line\ndef {name}({arguments}):\n{text}\n"


def operand(graph: Graph, k: int) -> str:
    """How the code names a node: its variable, or the number."""
    return _PYTHON.operand(graph, k)


_VALUES: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, sign) for name, sign in
       {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "negate": "neg"}.items()},
    "sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1], "sqrt": np.sqrt, "atan2": np.arctan2,
    "less": np.less, "select": np.where,
    **{name: NAMESPACE[name] for name in ("exp", "log", "tanh", *FORMULAS)},
}  # fmt: skip
"""Operations on numbers and arrays."""
