"""A method as a map: one step of it, compiled or interpreted, to study methods rather than motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from integrators.layout import COUNTERS
from integrators.method.method import Method
from integrators.method.stages import stages_form, stages_workspaces, takes_stages
from integrators.problem import Problem
from integrators.problem.jitted import raise_raised
from integrators.signatures import FIELD_LANES
from integrators.status import OK, Status
from liegroup.arrays import of_kind
from liegroup.compile import Pointer
from liegroup.table import EXP, retract


class Taken(NamedTuple):
    """A step that was taken: the state y + low after it, the method's workspace, its counters."""

    y: Any
    low: Any
    work: Any
    counters: Any


class SingleStep:
    """One step of a method on a problem, ``(y, h, t) → Taken``, without memory of earlier steps.

    Raises
    ------
    ArithmeticError
        If the step fails; the message is the status.
    """

    def __init__(self, problem: Problem, method: Method, interpreted: bool = False) -> None:
        stepper, field = method.step(problem), method.function(problem)
        self.interpreted = interpreted or not field.is_compiled
        form = "python" if self.interpreted else "compiled"
        self._in_stages = not self.interpreted and method.stepper.stages_in_lanes and takes_stages(problem, field)
        if self._in_stages:  # the form that runs take: the other would have to be compiled, too
            self._call = stepper.compiled_lanes
            self._field = Pointer(stages_form(problem, field), FIELD_LANES)
        else:
            self._call, self._field = getattr(stepper, form), getattr(field, form)
        self._coefficients, self._options = method.kernel_numbers(problem)
        self._problem, self._method = problem, method

    def __call__(self, y: Any, h: Any, t: Any) -> Taken:
        p, end = self._problem, np.array(y)
        low, zero = end * 0, end[0] * 0
        work, field_work = self._workspaces(zero)
        counters = np.zeros(COUNTERS, dtype=np.int64)
        status = self._call(
            self._field, t, h, end, low, p.table, self._coefficients, self._options, p.own_parameters(), p.structure,
            field_work, work, counters
        )  # fmt: skip
        raise_raised()
        if status != OK:
            raise ArithmeticError(f"{p.model}: a step of {self._method.name}: {Status(status).name}")
        return Taken(end, low, work, counters)

    def _workspaces(self, zero: Any) -> tuple[Any, Any]:
        """The method's and the field's, of the kind of a number; with stages in lanes as in a run."""
        if self._in_stages:
            return stages_workspaces(self._problem, self._method)
        return np.full(self._method.work_shape(self._problem), zero), np.full(self._problem.work_shape, zero)


def step_map(problem: Problem, method: Method, t: float = 0.0, interpreted: bool = False) -> Callable[[Any, Any], Any]:
    """The map ``(y, h) → state after one step of size h from time t``, without memory of earlier steps.

    Parameters
    ----------
    problem : Problem
        What is to be integrated.
    method : Method
        A row of `integrators.methods.METHODS`.
    t : float
        Time at the start of the step.
    interpreted : bool
        Use the Python source, which also takes states of mpmath or complex numbers (object and complex arrays).

    Returns
    -------
    callable
        ``(y, h)`` → the state after the step, an array like y.

    Raises
    ------
    ValueError
        As from `Method.check`: the problem is not of the kind that the method needs.
    ArithmeticError
        If the step fails; the message is the status.

    Examples
    --------
    >>> from integrators import Problem
    >>> from integrators.method import step_map
    >>> from integrators.methods import METHODS
    >>> from liegroup import rn
    >>> decay = Problem(rn(1), [1.0], lambda t, y: -y)
    >>> step_map(decay, METHODS["RKMK4"], interpreted=True)([1.0], 0.1).round(6).tolist()
    [0.904838]
    """
    of_kind(problem, Problem, "problem", "a Problem")
    of_kind(method, Method, "method", "a Method of integrators.methods.METHODS")
    method.check(problem, t)
    single = SingleStep(problem, method, interpreted)

    def step(y: Any, h: Any) -> Any:
        end, low, _, _ = single(y, h, t)
        return end + low if single.interpreted else end

    return step


def moved(problem: Problem, y: Any, x: Any) -> Any:
    """The state y exp(x)."""
    out = np.array(y)
    retract(problem.table, EXP, out, np.asarray(x), out)
    return out
