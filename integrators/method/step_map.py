"""A method as a map: one step of it, compiled or interpreted, to study methods rather than motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from integrators.layout import COUNTERS
from integrators.method.method import Method
from integrators.problem import Problem
from integrators.problem.jitted import raise_raised
from integrators.status import OK, Status
from liegroup.arrays import of_kind
from liegroup.table import EXP, retract


def step_map(problem: Problem, method: Method, t: float = 0.0, interpreted: bool = False) -> Callable[[Any, Any], Any]:
    """The map ``(y, h) → state after one step of size h from time t``, without memory of earlier steps.

    Parameters
    ----------
    interpreted : bool
        Use the Python source, which also takes states of mpmath or complex numbers (object and complex arrays).

    Raises
    ------
    ArithmeticError
        If the step fails; the message is the status.
    """
    of_kind(problem, Problem, "problem", "a Problem")
    of_kind(method, Method, "method", "a Method of integrators.methods.METHODS")
    stepper, field = method.step(problem), method.function(problem)
    interpreted = interpreted or not field.is_compiled
    call, f = (stepper.python, field.python) if interpreted else (stepper.compiled, field.compiled)
    coefficients, options = method.kernel_coefficients(problem), method.kernel_options(problem)

    def step(y: Any, h: Any) -> Any:
        start = np.array(y)
        zero = start[0] * 0
        new, low = start.copy(), start * 0
        work = np.full(method.work_shape(problem), zero)
        field_work = np.full(problem.work_shape, zero)
        counters = np.zeros(COUNTERS, dtype=np.int64)
        status = call(
            f, t, h, new, low, problem.table, coefficients, options, problem.parameters, problem.structure, field_work,
            work, counters
        )  # fmt: skip
        raise_raised()
        if status != OK:
            raise ArithmeticError(f"{method.name}: {Status(status).name}")
        return new + low if interpreted else new

    return step


def moved(problem: Problem, y: Any, x: Any) -> Any:
    """The state y exp(x)."""
    out = np.array(y)
    retract(problem.table, EXP, out, np.asarray(x), out)
    return out
