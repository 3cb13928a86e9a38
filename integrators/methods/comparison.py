"""SciPy's solvers on our problems, in ambient coordinates, for comparison: nothing keeps the state on the group."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.interrupts import interruptible
from integrators.problem import Problem
from integrators.problem.ambient import ambient_velocity
from integrators.problem.drawing import scene_of
from integrators.problem.jitted import raise_raised
from integrators.results.solution import Solution, explain
from integrators.status import Status
from liegroup.compile import seconds_waited

Array = NDArray[np.float64]
ROWS = 2001
"""Saved states by default."""


def solve_with_scipy(name: str) -> Callable[..., Solution]:
    """A function ``solve(problem, (t0, t1), rtol=…, atol=…, step=…)`` that runs a solver of `scipy.integrate`."""
    return partial(_solve, name)


def _solve(
    name: str,
    problem: Problem,
    t_span: tuple[float, float],
    step: float | None = None,
    save_every: int | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Solution:
    """`step` only decides where states are saved (at every `save_every`-th multiple); the solver chooses its own
    steps.
    """
    import scipy.integrate

    if np.ndim(problem.y0) != 1:
        raise ValueError(f"y0: shape {np.shape(problem.y0)}; SciPy integrates one trajectory at a time")
    times = _times(t_span, step, save_every)
    began = time.perf_counter() - seconds_waited()
    solver = getattr(scipy.integrate, name)(
        _ambient_field(problem), t_span[0], problem.y0, t_span[1], rtol=rtol, atol=atol
    )
    rows, steps, status = _march(problem, solver, times)
    y = np.array([row.y for row in rows])
    return Solution(
        t=np.array([row.t for row in rows]),
        y=y,
        invariants=np.array([row.values for row in rows]),
        least=np.array([row.least for row in rows]),
        greatest=np.array([row.greatest for row in rows]),
        mean_since=np.array([row.total / row.stretch for row in rows]),
        stretch=np.array([row.stretch for row in rows]),
        variables=tuple(problem.variables),
        invariant_names=tuple(problem.invariant_names),
        invariant_units=tuple(problem.invariant_units),
        model=problem.model,
        method=f"SCIPY_{name}",
        step=0.0,
        status=status,
        message=explain(status, float(solver.t), steps),
        steps=steps,
        evaluations=solver.nfev,
        seconds=time.perf_counter() - seconds_waited() - began,
        attributes={"rtol": rtol, "atol": atol},
        scene=scene_of(problem),
    )


@dataclass
class _Row:
    """A saved state with the statistics of the invariants since the one before."""

    t: float
    y: Array
    values: Array
    least: Array
    greatest: Array
    total: Array
    stretch: int


def _march(problem: Problem, solver: Any, times: Array) -> tuple[list[_Row], int, Status]:
    """Step to the end, saving at the given times by the solver's dense output."""
    values = problem.invariant_values(solver.t, solver.y)
    rows = [_Row(solver.t, solver.y, values, values, values, values, 1)]
    watched: list[Array] = []
    steps, next_time = 0, 1
    status = Status.OK
    with interruptible() as interrupted:
        while solver.status == "running" and not interrupted():
            solver.step()
            steps += 1
            watched.append(problem.invariant_values(solver.t, solver.y))
            while next_time < len(times) and solver.direction * (times[next_time] - solver.t) <= 0:
                t = float(times[next_time])
                y = solver.y if t == solver.t else solver.dense_output()(t)
                table = np.array(watched or [problem.invariant_values(t, y)])
                values = problem.invariant_values(t, y)
                rows.append(_Row(t, y, values, table.min(0), table.max(0), table.sum(0), len(table)))
                watched, next_time = [], next_time + 1
        if solver.status == "running":
            status = Status.INTERRUPTED
    return rows, steps, Status.STEP_UNDERFLOW if solver.status == "failed" else status


def _ambient_field(problem: Problem) -> Callable[[float, Array], Array]:
    field = problem.field.compiled if problem.field.is_compiled else problem.field.python
    v, work = np.zeros(problem.dimension), np.zeros(problem.work_shape)

    def rate(t: float, y: Array) -> Array:
        field(t, np.ascontiguousarray(y), problem.own_parameters(), problem.structure, work, v)
        raise_raised()
        return ambient_velocity(problem.table, y, v)

    return rate


def _times(t_span: tuple[float, float], step: float | None, save_every: int | None) -> Array:
    t0, t1 = t_span
    if step is None:
        return np.linspace(t0, t1, ROWS)
    count = max(1, round(abs(t1 - t0) / (step * (save_every or 1))))
    return np.linspace(t0, t1, min(count, 10_000) + 1)
