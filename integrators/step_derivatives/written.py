"""A field in plain Python, noted once and written down as compiled straight-line code: for what evaluates it a million
times on numbers that carry derivatives, which cannot be called back.

A note is what the function did once: not with what is not a formula (an `if` on a value), which is refused, and not
with what changes from call to call.  So what is written is compared with the function, to rounding, at the start and
beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.field_source import field_source, stores
from integrators.problem.fields import Field, as_field
from liegroup.compile.generated import module_of
from liegroup.compile.traceable import scalars, traceable
from liegroup.compile.tracing import IMPORTS, Graph, Traced

SAME = 1e-12
"""Of the largest component: what two ways of writing a formula make of it."""
COMPARED = 3
"""States beside the start."""
LIMIT = 4000
"""Operations."""
_HEADER = f'''"""The field of one problem: written by integrators.step_derivatives.written."""

from integrators.signatures import FIELD_SIGNATURES
{IMPORTS}
'''


def written(problem: Problem) -> Problem | None:
    """The problem with its field in plain Python written down, and what it watches, by which GAUSS8 divides its steps;
    None where the field cannot be, or is not the same.  What is watched and cannot be is left out: no other step reads
    it, and plain Python has no place beside a compiled field.
    """
    if problem.field.is_compiled or problem.inputs.signal is not None:
        return None
    field = _written(problem, problem.field, problem.dimension)
    if field is None:
        return None
    watched = problem.invariants and _written(problem, problem.invariants, problem.invariant_count)
    if not watched:
        problem = replace(problem, invariants=None, invariant_names=(), invariant_units=(), guards=())
    try:
        return replace(problem, field=field, invariants=watched, guards=())
    except TypeError:  # a projection or a Jacobian in plain Python
        return None


def _written(problem: Problem, function: Field, size: int) -> Field | None:
    """A function of the problem with `size` values written down; None where that cannot be, or is not the same."""
    try:
        found = _noted(problem, function, size)
        return found if found is not None and _agree(problem, function, found, size) else None
    except Exception:  # whatever a user's function says to what is no number: it is called back as before
        return None


def _noted(problem: Problem, function: Field, size: int) -> Field | None:
    graph, out = Graph(), np.empty(size, dtype=object)
    y = scalars([graph.input(f"ld(y, {i})") for i in range(problem.n)])
    parameters = scalars([graph.input(f"parameters[{i}]") for i in range(np.size(problem.parameters))])
    traceable(function.python)(graph.input("t"), y, parameters, problem.structure, None, out)
    nodes = [x.k if isinstance(x, Traced) else graph.constant(float(x)) for x in out]
    lines = stores(graph, nodes)
    if len(lines) > LIMIT:
        return None
    return as_field(module_of(_HEADER + field_source("field", lines)).field)


def _agree(problem: Problem, function: Field, other: Field, size: int) -> bool:
    """Whether two forms of a function give the same, at several times and states."""
    generator, y = np.random.default_rng(0), np.asarray(problem.y0, dtype=np.float64)
    parameters, structure = np.asarray(problem.parameters, dtype=np.float64), problem.structure
    for k in range(1 + COMPARED):
        t, state = 0.37 * k, moved(problem, y, 0.1 * k * generator.normal(size=problem.dimension)) if k else y
        found: list[Any] = []
        for python in (function.python, other.python):
            out = np.zeros(size)
            python(t, state, parameters, structure, np.zeros(problem.work_shape), out)
            found.append(out)
        allowed = SAME * float(np.abs(found[0]).max(initial=0.0))
        if not np.allclose(found[0], found[1], rtol=0.0, atol=allowed, equal_nan=True):
            return False
    return True
