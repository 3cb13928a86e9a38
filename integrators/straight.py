"""Steps as straight-line code: a stepper and the field of a problem, run once together on scalars that note what is
done to them.

A stepper reads its tableau, the table of the group and the addresses of formulas at every stage; on one body that takes
longer than the arithmetic.  What is written here for one method on one problem has none of it, and the same bits (zeros
up to their sign): the notes are those of the stepper's own source.  Numbers of the problem that are zero are constants,
the others are read where they stand.

The code goes the way through the method that the start of the problem goes.  A state that would go another way, into
another chart, is left as it is, with the status `ANOTHER_WAY`: the run loop takes that step by the stepper itself.

Written are steps of kernels without iteration and without memory, but for the field that a step passes on to the next;
they leave no stages behind for states within a step, and no estimates of errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from integrators.arithmetic.compensated import renormalise
from integrators.layout import COUNTERS, EVALUATIONS, FIRST, FIRST_KNOWN, LAST, LAST_KNOWN, STAGE, STEPS
from integrators.method import Method
from integrators.problem import Problem
from integrators.status import OK
from integrators.steppers.common import RENORMALISE_EVERY
from liegroup.compile import Entry
from liegroup.compile.generated import module_of
from liegroup.compile.traceable import scalars, traceable
from liegroup.compile.tracing import IMPORTS, Graph, Path, Traced, lines, operand, straight

LIMIT = 4000
"""Operations.  The code of more outgrows the instruction cache."""
_MODULE = '''"""A step of {method} on {model}: written by integrators.straight."""

from integrators.arithmetic.compensated import renormalise
from integrators.layout import EVALUATIONS, FIRST, FIRST_KNOWN, LAST, LAST_KNOWN, STEPS
from integrators.signatures import STEP_SIGNATURES
from integrators.status import ANOTHER_WAY, OK
from integrators.steppers.common import RENORMALISE_EVERY
from liegroup.compile import any_, kernel, ld2, st2
{imports}{lines}
@entry(*STEP_SIGNATURES)
def step(
    field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
):
    if counters[FIRST_KNOWN] < {passes_on}:
        return ANOTHER_WAY
{body}    counters[EVALUATIONS] += {evaluations}
    counters[FIRST_KNOWN] = 1
    counters[LAST_KNOWN] = {passes_on}
    return OK
'''
_RENORMALISED = "    if counters[STEPS] % RENORMALISE_EVERY == 0:\n        renormalise(table, y, low)\n"
_KERNEL = """
@kernel
def {name}(t, h, y, low, parameters, work):
{body}    return OK

"""
_ARGUMENTS = "t, h, y, low, parameters, work"
_BODY = """    left, found = {name}_line({arguments})
    if any_(less(0.5, left)):
        return ANOTHER_WAY
    put_{name}(y, low, work, found)
"""
_BODY_OF_ONE_WAY = """    {name}_line({arguments})
"""
_EITHER = """    if counters[STEPS] % RENORMALISE_EVERY == 0:
        status = renormalising(t, h, y, low, parameters, work)
    else:
        status = ordinary(t, h, y, low, parameters, work)
    if status != OK:
        return status
"""


@dataclass(frozen=True)
class StraightStep:
    """A step of one method on one problem as straight-line code.

    Attributes
    ----------
    step : Entry
        With the signature of a step, for one trajectory and for lanes.  Of its arguments it reads t, h, y, low and the
        parameters.
    operations : int
        Additions, multiplications, divisions, changes of sign, choices and calls of functions.
    """

    step: Entry
    operations: int


def advanced(
    problem: Problem, method: Method, t: Any, h: Any, y: Any, low: Any, parameters: Any, work: Any, counters: Any
) -> int:
    """y and low <- those after a step, by the Python source of the stepper on traced scalars; returns the status."""
    return int(
        method.step(problem).python(
            traceable(method.function(problem).python), t, h, y, low, problem.table,
            method.kernel_coefficients(problem), method.kernel_options(problem), parameters, problem.structure,
            room(problem.work_shape), work, counters,
        )
    )  # fmt: skip


def room(shape: tuple[int, ...], content: Any = 0.0) -> Any:
    """Room for traced scalars."""
    made = np.empty(shape, dtype=object)
    made.fill(content)
    return made


def can_be_straight(problem: Problem, method: Method) -> bool:
    """Whether steps are kernels without memory: what other sources do, the compiler may round elsewhere; what solves
    linear equations chooses pivots by values.
    """
    stepper = method.stepper
    return (
        stepper.step is not None
        and stepper.evaluates == "field"
        and not (stepper.multistep or stepper.stages_in_lanes or stepper.report or stepper.step_of_time)
        and problem.field.is_kernel
        and problem.inputs.signal is None
    )


def straight_step(problem: Problem, method: Method, h: float, t: float = 0.0) -> StraightStep | None:
    """The step of a method on a problem as straight-line code; not compiled yet.

    Parameters
    ----------
    problem : Problem
        Of an ensemble the way of the first trajectory is taken.
    method : Method
        What takes the step.
    h, t : float
        The size of the steps, the time of the first.

    Returns
    -------
    StraightStep or None
        None where a step iterates, remembers, is longer than `LIMIT`, or cannot be traced.
    """
    if not can_be_straight(problem, method):
        return None
    if _last and _last[0][0] is problem and _last[0][1] is method and _last[0][2:4] == (h, t):
        return _last[0][4]  # type: ignore[no-any-return]
    try:
        made = _written(problem, method, h, t)
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError):  # a value is asked for, a step fails
        made = None
    _last[:] = [(problem, method, h, t, made)]
    return made


_last: list[tuple[Any, ...]] = []
"""What was asked for last: packs of an ensemble ask for the same."""


def _written(problem: Problem, method: Method, h: float, t: float) -> StraightStep | None:
    notes = _Notes(problem, method, h, t)
    passes_on = notes.after(1, False).passes_on
    if passes_on and problem.projection is not None:  # after which nothing is known of the field
        return None
    ordinary, due = (notes.after(number, passes_on) for number in (1, RENORMALISE_EVERY))
    if not (ordinary.is_straight and due.is_straight):
        return None
    written, body = ordinary.lines("ordinary"), ordinary.body("ordinary")
    if due.wanted != ordinary.wanted and due.wanted == notes.renormalised(ordinary):
        body += _RENORMALISED
    elif due.wanted != ordinary.wanted:
        written += due.lines("renormalising")
        both = {"ordinary": ordinary, "renormalising": due}
        written += "".join(_KERNEL.format(name=name, body=x.body(name)) for name, x in both.items())
        body = _EITHER
    source = _MODULE.format(
        method=method.name, model=problem.model, imports=IMPORTS, lines=written, body=body,
        evaluations=ordinary.evaluations, passes_on=int(passes_on),
    )  # fmt: skip
    return StraightStep(module_of(source).step, ordinary.operations)


@dataclass(frozen=True)
class _After:
    """What a step leaves behind: the nodes of the state, of its low words and of the field that it passes on."""

    y: Any
    low: Any
    wanted: list[int]
    evaluations: int
    passes_on: bool
    operations: int
    is_straight: bool
    values: list[str]
    """Lines that compute the wanted nodes."""
    left: str
    """1 where another way would be gone; nothing where there is none."""
    stores: list[tuple[str, str]]
    """Where the wanted nodes go, and their names."""

    def lines(self, name: str) -> str:
        """The formulas of the body."""
        if not self.left:
            return straight(f"{name}_line", _ARGUMENTS, [*self.values, *(f"{a}, {x})" for a, x in self.stores)])
        result = f"return {self.left}, ({', '.join(x for _, x in self.stores)},)"
        put = [f"{a}, found[{i}])" for i, (a, _) in enumerate(self.stores)]
        return straight(f"{name}_line", _ARGUMENTS, [*self.values, result]) + straight(
            f"put_{name}", "y, low, work, found", put
        )

    def body(self, name: str) -> str:
        """What computes the wanted nodes, and stores them unless another way would be gone."""
        return (_BODY if self.left else _BODY_OF_ONE_WAY).format(name=name, arguments=_ARGUMENTS)


class _TooLongError(ArithmeticError):
    """More is noted than would be compiled."""


class _Bounded(Graph):
    """What notes no more than a few times `LIMIT`."""

    def node(self, *what: Any) -> int:
        if len(self.nodes) > 4 * LIMIT:
            raise _TooLongError
        return super().node(*what)


class _Notes:
    """Steps of a method on a problem, noted in one graph, so that equal numbers are the same node."""

    def __init__(self, problem: Problem, method: Method, h: float, t: float) -> None:
        self.problem, self.method, self.graph = problem, method, _Bounded()
        start, numbers = np.atleast_2d(problem.y0)[0], np.asarray(problem.own_parameters(), dtype=np.float64)
        self.graph.table = tuple(numbers.tolist())
        self.known: dict[int, Any] = {}
        self.t, self.h, self.unknown = (self._input(*x) for x in (("t", t), ("h", h), ("unknown", np.nan)))
        self.y = [self._input(f"ld(y, {k})", x) for k, x in enumerate(start)]
        self.low = [self._input(f"ld(low, {k})", 0.0) for k in range(problem.n)]
        rates = problem.velocity(t, start)
        self.first = [self._input(f"ld2(work, FIRST, {k})", x) for k, x in enumerate(rates)]
        self.parameters = room((len(numbers),))
        for k in np.flatnonzero(numbers):
            self.parameters[k] = self._input(f"ld(parameters, {k})", numbers[k])

    def _input(self, source: str, value: float) -> Traced:
        made = self.graph.input(source)
        self.known[made.k] = value
        return made

    def after(self, number: int, passes_on: bool) -> _After:
        """Step `number` of a run, which may know the field at its start."""
        graph, problem, d = self.graph, self.problem, self.problem.dimension
        graph.path = path = Path(graph, self.known)
        y, low = scalars(self.y), scalars(self.low)
        work, counters = room(self.method.work_shape(problem), self.unknown), np.zeros(COUNTERS, dtype=np.int64)
        counters[STEPS], counters[FIRST_KNOWN] = number, passes_on
        work[FIRST, :d] = self.first
        status = advanced(problem, self.method, self.t, self.h, y, low, self.parameters, work, counters)
        passes_on, evaluations = bool(counters[LAST_KNOWN]), int(counters[EVALUATIONS])
        counters[[STEPS, EVALUATIONS, FIRST_KNOWN, LAST_KNOWN, STAGE]] = 0
        wanted = self._nodes([*y, *low, *(work[LAST, :d] if passes_on else ())])
        needed = graph.needed([*wanted, path.left.k])
        operations = sum(bool(graph.arguments(k)) for k in needed)
        is_straight = status == OK and not counters.any() and self.unknown.k not in needed and operations <= LIMIT
        values, left = list[str](), ""
        if is_straight:
            values = lines(graph, [*wanted, path.left.k], set())
            left = operand(graph, path.left.k) if graph.value(path.left.k) != 0.0 else ""
        places = [f"st({name}, {k}" for name in ("y", "low") for k in range(problem.n)]
        places += [f"st2(work, LAST, {k}" for k in range(len(wanted) - 2 * problem.n)]
        stores = [(place, operand(graph, k)) for place, k in zip(places, wanted, strict=True)]
        return _After(y, low, wanted, evaluations, passes_on, operations, is_straight, values, left, stores)

    def renormalised(self, after: _After) -> list[int]:
        """The nodes of a state whose quaternions are brought back to unit norm."""
        y, low = after.y.copy(), after.low.copy()
        renormalise(self.problem.table, y, low)
        return self._nodes([*y, *low])

    def _nodes(self, values: Sequence[Any]) -> list[int]:
        return [x.k if isinstance(x, Traced) else self.graph.constant(x) for x in values]
