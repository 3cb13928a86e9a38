"""What printers write down: functions of named numbers and vectors as graphs of elementary operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from liegroup.compile.scalars import FORMULAS, arctan2_machine, sincos_reduced
from liegroup.compile.tracing import CONSTANT, INPUT, Graph, Traced


class Function(NamedTuple):
    """A straight line from inputs to outputs.

    Parameters
    ----------
    name : str
        Of the function in the code.
    graph : Graph
        Its inputs are read as (name, number), (name, None) for a scalar.
    inputs : mapping of str to int
        Their lengths, in order; 0 for a scalar.
    outputs : mapping of str to sequence of int
        Nodes, in order.
    about : str
        A sentence for the reader of the code.
    advances : bool
        Whether it is a step: from (t, h, y) to (the state after it, 1 where the step is not valid); it may take
        numbers u besides, which many steps hold.
    due : tuple of int and Function, optional
        Of a step: every so many steps of a run, from the first on, another one in its place; if it takes the state
        alone, it changes that after the step.
    before : tuple of Function and sequence of int, optional
        Of a step: what changes the state before it where one of these components is beyond ±π.

    Examples
    --------
    >>> graph = Graph()
    >>> x = graph.input(("x", None))
    >>> Function("square", graph, {"x": 0}, {"y": [(x * x).k]}).operations
    1
    """

    name: str
    graph: Graph
    inputs: Mapping[str, int]
    outputs: Mapping[str, Sequence[int]]
    about: str = ""
    advances: bool = False
    due: tuple[int, Function] | None = None
    before: tuple[Function, Sequence[int]] | None = None

    @property
    def wanted(self) -> list[int]:
        """The nodes of all outputs."""
        return [k for nodes in self.outputs.values() for k in nodes]

    @property
    def operations(self) -> int:
        """Additions, multiplications, divisions, changes of sign, comparisons, choices and calls of functions."""
        return sum(bool(self.graph.arguments(k)) for k in self.graph.needed(self.wanted))

    @property
    def names(self) -> set[str]:
        """Its operations."""
        return {self.graph.nodes[k][0] for k in self.graph.needed(self.wanted)} - {CONSTANT, INPUT}


def table_of(functions: Sequence[Function]) -> tuple[float, ...]:
    """The numbers that functions look up, if they do; they all look into one table."""
    tables = {f.graph.table for f in functions if "taken" in f.names}
    if len(tables) > 1:
        raise ValueError("functions that look numbers up in different tables: print them one by one")
    return tables.pop() if tables else ()


def elementary(names: set[str]) -> list[Function]:
    """The functions among operations that are formulas of the project, each after those it needs: what prints them
    gives the numbers of the kernels.
    """
    found: dict[str, Function] = {}
    todo = sorted(names)
    while todo:
        name = todo.pop()
        if (made := _formula(name)) is not None:
            found.pop(made.name, None)
            found[made.name] = made
            todo += sorted(made.names)
    return list(found.values())[::-1]


def _formula(name: str) -> Function | None:
    graph = Graph()
    x = graph.input(("x", None))
    if name in ("sin", "cos"):
        s, c = sincos_reduced(x)
        return Function("sincos_reduced", graph, {"x": 0}, {"s": [s.k], "c": [c.k]})
    if name == "atan2":
        y = graph.input(("y", None))
        return Function("atan2", graph, {"y": 0, "x": 0}, {"angle": [arctan2_machine(y, x).k]})
    return _one(name, graph, FORMULAS[name](x)) if name in FORMULAS else None


def _one(name: str, graph: Graph, value: Traced | Any) -> Function:
    return Function(name, graph, {"x": 0}, {"value": [value.k]})
