"""Exact derivatives of what `liegroup.compile.tracing` noted: more of the same graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liegroup.compile.tracing import CONSTANT, INPUT, Graph, Traced


class Differentiable(Graph):
    """A graph whose nodes can be differentiated by one another; the derivatives are nodes, too."""

    def __init__(self) -> None:
        super().__init__()
        self._derivatives: dict[tuple[int, int], int] = {}
        self._inputs: dict[int, int] = {}
        self._read: list[int] = []

    def reads(self, k: int, variable: int) -> bool:
        """Whether node k is computed from the input `variable`: most of a large system's are not."""
        for j in range(len(self._read), k + 1):
            name, bits = self.nodes[j][0], 0
            if name in (INPUT, "taken"):
                bits = 1 << self._inputs.setdefault(j, len(self._inputs))
            for a in [] if name == "taken" else self.arguments(j):
                bits |= self._read[a]
            self._read.append(bits)
        return variable in self._inputs and bool(self._read[k] >> self._inputs[variable] & 1)

    def derivative(self, k: int, variable: int) -> int:
        """The node of ∂(node k)/∂(node variable), of an input."""
        todo = [k]
        while todo:
            j = todo[-1]
            if (j, variable) in self._derivatives:
                todo.pop()
                continue
            if not self.reads(j, variable):
                self._derivatives[j, variable] = self.constant(0.0)
                todo.pop()
                continue
            missing = [a for a in self._inner(j) if (a, variable) not in self._derivatives]
            if missing:
                todo += missing
                continue
            self._derivatives[j, variable] = self._chain(j, variable)
            todo.pop()
        return self._derivatives[k, variable]

    def _chain(self, j: int, variable: int) -> int:
        name, *arguments = self.nodes[j]
        if name in (CONSTANT, INPUT, "less", "taken"):
            return self.constant(1.0 if j == variable else 0.0)
        if j in self.powers:
            return self._of_power(j, variable)
        return _RULES[name](self, j, arguments, [self._derivatives[a, variable] for a in self._inner(j)])

    def _of_power(self, j: int, variable: int) -> int:
        """d xᵉ = e xᵉ⁻¹ dx + xᵉ log|x| de; a number at zero where e > 1, unlike that of exp(e log x)."""
        x, e = self.powers[j]
        dx = Traced(self, self._derivatives[x.k, variable])
        total = e * x ** (e - 1.0) * dx if self.value(dx.k) != 0.0 else dx
        if isinstance(e, Traced) and self.value(de := self._derivatives[e.k, variable]) != 0.0:
            size = abs(x)
            total = total + Traced(self, de) * Traced(self, j) * (size > 0.0).select(size, 1.0).log()
        return int(total.k)

    def _inner(self, j: int) -> list[int]:
        """The arguments by which a node is differentiated."""
        if j in self.powers:
            return [x.k for x in self.powers[j] if isinstance(x, Traced)]
        name = self.nodes[j][0]
        return [] if name == "less" else self.arguments(j)[name == "select" :]


# --- rules: g the graph, j the node, a its arguments, d the derivatives of the arguments ------------------------------

Rule = Callable[[Graph, int, Sequence[int], Sequence[int]], int]


def _quotient(g: Graph, j: int, a: Sequence[int], d: Sequence[int]) -> int:
    return g.apply("divide", g.apply("subtract", d[0], g.apply("multiply", j, d[1])), a[1])


def _tanh(g: Graph, j: int, a: Sequence[int], d: Sequence[int]) -> int:
    return g.apply("multiply", g.apply("subtract", g.constant(1.0), g.apply("multiply", j, j)), d[0])


def _angle(g: Graph, j: int, a: Sequence[int], d: Sequence[int]) -> int:
    square = g.apply("add", g.apply("multiply", a[0], a[0]), g.apply("multiply", a[1], a[1]))
    return g.apply(
        "divide", g.apply("subtract", g.apply("multiply", a[1], d[0]), g.apply("multiply", a[0], d[1])), square
    )


def _one_and_square(g: Graph, a: int, square: float, one: float) -> int:
    """± a² ± 1."""
    return g.apply("add", g.apply("multiply", g.constant(square), g.apply("multiply", a, a)), g.constant(one))


def _over_root(g: Graph, a: int, d: int, square: float, one: float) -> int:
    return g.apply("divide", d, g.apply("sqrt", _one_and_square(g, a, square, one)))


_RULES: dict[str, Rule] = {
    "negate": lambda g, j, a, d: g.apply("negate", d[0]),
    "add": lambda g, j, a, d: g.apply("add", d[0], d[1]),
    "subtract": lambda g, j, a, d: g.apply("subtract", d[0], d[1]),
    "multiply": lambda g, j, a, d: g.apply("add", g.apply("multiply", d[0], a[1]), g.apply("multiply", a[0], d[1])),
    "divide": _quotient,
    "sin": lambda g, j, a, d: g.apply("multiply", g.apply("cos", a[0]), d[0]),
    "cos": lambda g, j, a, d: g.apply("negate", g.apply("multiply", g.apply("sin", a[0]), d[0])),
    "sqrt": lambda g, j, a, d: g.apply("divide", g.apply("multiply", g.constant(0.5), d[0]), j),
    "exp": lambda g, j, a, d: g.apply("multiply", j, d[0]),
    "log": lambda g, j, a, d: g.apply("divide", d[0], a[0]),
    "tanh": _tanh,
    "sinh": lambda g, j, a, d: g.apply("multiply", g.apply("cosh", a[0]), d[0]),
    "cosh": lambda g, j, a, d: g.apply("multiply", g.apply("sinh", a[0]), d[0]),
    "asinh": lambda g, j, a, d: _over_root(g, a[0], d[0], +1.0, +1.0),
    "acosh": lambda g, j, a, d: _over_root(g, a[0], d[0], +1.0, -1.0),
    "atanh": lambda g, j, a, d: g.apply("divide", d[0], _one_and_square(g, a[0], -1.0, 1.0)),
    "expm1": lambda g, j, a, d: g.apply("multiply", g.apply("exp", a[0]), d[0]),
    "log1p": lambda g, j, a, d: g.apply("divide", d[0], g.apply("add", g.constant(1.0), a[0])),
    "floor": lambda g, j, a, d: g.constant(0.0),
    "atan2": _angle,
    "select": lambda g, j, a, d: g.apply("select", a[0], d[0], d[1]),
}
