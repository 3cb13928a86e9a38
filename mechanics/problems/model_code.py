"""The source code of one model: its kernels, run once on scalars that note what is done to them, written down as
straight lines.

A tree has `era`; a mechanism has `closed`, and the projection that closes it after every step (`closed_projection`):
the loop of that one remains, what it does in its rounds becomes straight-line code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from integrators.problem.field_source import field_source, stores
from liegroup.compile.tracing import Graph, Traced, straight
from mechanics.algorithms.derivatives.canonical import chain_derivatives_on_demand, has_way
from mechanics.algorithms.derivatives.hamiltonian import derivatives_on_demand
from mechanics.algorithms.era import era, up
from mechanics.closed_trees.field import closed, closed_on_demand, equations_of_motion, solve
from mechanics.closed_trees.layout import looked_at
from mechanics.closed_trees.packing import PackedLoops
from mechanics.closed_trees.projection import SWEEPS, correction, place, position_defect, tell
from mechanics.mechanism import Mechanism
from mechanics.model.layout import header_of
from mechanics.model.tree import Tree

Function = Callable[[Any, Any, Any, Any, Any, Any], None]
"""With the arguments of a field: t, y, parameters, structure, work, out."""

_HEADER = '''"""Hamilton's equations of one model, (q, p) -> (v, rate of p): written by mechanics.compile_model."""

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import any_, entry, joined, kernel, ld, st, straight_line, taken
from liegroup.compile.scalars import arctan2, less, select, sqrt
from liegroup.compile.tracing import called_sincos as sincos
from liegroup.compile.scalars import acosh, asinh, atanh, cosh, exp, expm1, floor, log, log1p, sinh, tanh
from {module} import {general}

'''
_PROJECTION = """
from mechanics.closed_trees.layout import closures_of
from mechanics.closed_trees.projection import MANY, correct, once_more

{look}{correction}{chord}
@kernel
def look(t, y, parameters, out):
    look_line(t, y, parameters, out)


@kernel
def correction(t, y, parameters, out):
    correction_line(t, y, parameters, out)


@kernel
def chord(t, y, x, parameters, out):
    chord_line(t, y, x, parameters, out)


@entry(*FIELD_SIGNATURES)
def projection(t, y, parameters, structure, work, out):
    for i in range({n_q} + {n_v}):
        st(out, i, ld(y, i))
    closures = closures_of(structure)
    found, step = joined(work[closures.state : closures.target]), joined(work[closures.rates : closures.moved])
    for sweep in range({sweeps} + 1):
        look(t, out, parameters, found)
        worst = ld(found, {n_v})
        if sweep == {sweeps} or closures.closes_positions == 0 or not any_(less(1.0, worst)):
            break
        correction(t, out, parameters, step)
        correct(out, structure, work, worst, step)
        if sweep == 0 and any_(less(MANY, worst)):
            chord(t, y, out, parameters, step)
            again = once_more(worst, ld(step, {n_v}))
            correct(out, structure, work, again, step)
    for i in range({n_v}):
        st(out, {n_q} + i, ld(found, i))
    for i in range(out.shape[0] - {n_q} - {n_v}):
        st(out, {n_q} + {n_v} + i, ld(found, {n_v} + 1 + i))
"""
_OF_ROUNDS, _OF_TWO = "t, y, parameters, out", "t, y, x, parameters, out"


@dataclass(frozen=True)
class ModelCode:
    """A module's source, and how many operations its field has."""

    source: str
    operations: int


def tree_code(tree: Tree) -> ModelCode:
    """`field`."""
    body, operations = _straight(era.python, tree, tree, 2 * tree.nv)
    derivatives = chain_derivatives_on_demand if has_way(tree.structure) else derivatives_on_demand
    return ModelCode(_field(body, tree, derivatives, f"[{2 * tree.nv}:]"), operations)


def mechanism_code(mechanism: Mechanism) -> ModelCode:
    """`field` and, where there are loops, `projection`."""
    tree, packed = mechanism.tree, mechanism.packed()
    body, operations = _straight(closed.python, tree, packed, 2 * tree.nv)
    field = _field(body, tree, closed_on_demand, "")
    if not len(mechanism.equations):
        return ModelCode(field, operations)
    projection = _PROJECTION.format(
        look=straight("look_line", _OF_ROUNDS, _straight(_look, tree, packed, looked_at(tree.nv))[0]),
        correction=straight("correction_line", _OF_ROUNDS, _straight(_correction, tree, packed, tree.nv)[0]),
        chord=straight("chord_line", _OF_TWO, _straight(_chord, tree, packed, tree.nv + 1, tree.nq)[0]),
        n_q=tree.nq,
        n_v=tree.nv,
        sweeps=SWEEPS,
    )
    return ModelCode(field + projection, operations)


def _field(body: Sequence[str], tree: Tree, general: Function, part: str) -> str:
    """The module of a field; what writes its derivatives, where there is room for them, is the kernel of all models,
    into a part of `out`.
    """
    d, name = 2 * tree.nv, general.__name__
    derived = f"if out.shape[0] == {d + d * d}:", f"    {name}(t, y, parameters, structure, work, out{part})"
    return _HEADER.format(module=general.__module__, general=name) + field_source("field", body, derived)


def _look(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (re-based momenta, greatest |φ| over its tolerance, what is watched, the field)."""
    n_q, n_v = header_of(structure).n_q, header_of(structure).n_v
    up(t, y, parameters, structure, work, False, 1.0)
    equations_of_motion(t, y, parameters, structure, work)
    out[n_v], gap = position_defect(parameters, structure, work, work)
    out[:n_v] = y[n_q:]
    solve(structure, work)
    tell(t, y, parameters, structure, work, gap, np.empty(2 * n_v, dtype=object), out, 0, out[n_v + 1 :])


def _correction(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = step that closes the positions."""
    rates = np.empty(2 * len(out), dtype=object)
    up(t, y, parameters, structure, work, False, 1.0)
    equations_of_motion(t, y, parameters, structure, work)
    position_defect(parameters, structure, work, work)
    correction(t, y, parameters, structure, work, rates)
    out[:] = rates[: len(out)]


def _chord(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = step that closes the positions behind the state y, with the factors there; how open they are."""
    n, rates = header_of(structure).n_q + len(out) - 1, np.empty(2 * len(out), dtype=object)
    y, x = y[:n], y[n:]
    up(t, y, parameters, structure, work, False, 1.0)
    equations_of_motion(t, y, parameters, structure, work)
    out[-1] = place(t, x, parameters, structure, work, np.full(work.shape, 0.0, dtype=object))
    correction(t, y, parameters, structure, work, rates)
    out[:-1] = rates[: len(out) - 1]


def _straight(
    function: Function, tree: Tree, arrays: Tree | PackedLoops, size: int, more: int = 0
) -> tuple[list[str], int]:
    """Lines of the `size` values of a function, and how many operations they have; of a state y and so many (`more`)
    numbers x behind it.
    """
    graph = Graph()
    n, out = tree.nq + tree.nv, np.empty(size, dtype=object)
    y = np.empty(n + more, dtype=object)
    y[:] = [graph.input(f"ld(y, {i})" if i < n else f"ld(x, {i - n})") for i in range(len(y))]
    work = np.full(arrays.work_shape, 0.0, dtype=object)  # as a run finds it
    parameters = arrays.parameters.tolist()
    for k in arrays.inputs.places if isinstance(arrays, PackedLoops) else ():
        parameters[k] = graph.input(f"ld(parameters, {k})")
    function(graph.input("t"), y, parameters, arrays.structure, work, out)
    values = [x.k if isinstance(x, Traced) else graph.constant(x) for x in out]
    return stores(graph, values), sum(bool(graph.arguments(k)) for k in graph.needed(values))
