"""The one entry point: integrate a problem with a method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.advance import GREATEST, LEAST, SUM, SUM_LOW
from integrators.drive import drive
from integrators.layout import EVALUATIONS, ITERATIONS, REJECTED
from integrators.method import Method, Reference
from integrators.methods import find
from integrators.problem import Problem
from integrators.run import FixedRun, Plan, Trajectory
from integrators.solution import Solution
from integrators.status import Status
from liegroup.compile import WIDTH

Array = NDArray[np.float64]
ROWS = 10_000
"""Saved states by default, at most."""


def integrate(
    problem: Problem,
    method: str | Method | Reference,
    t_span: Sequence[float],
    step: float | None = None,
    *,
    y0: ArrayLike | None = None,
    save_every: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Solution:
    """Integrate a problem over an interval of time.

    Parameters
    ----------
    problem : Problem
        With an initial state (n,), or with m of them (m, n): an ensemble, run in lanes of eight where the field is
        compiled (the same numbers as one by one, bit by bit, for a fraction of the time).
    method : str or Method
        From the catalogue `integrators.methods`, by name or as an object.
    t_span : (t0, t1)
        t1 < t0 integrates backwards.
    step : float
        Step size, positive.  If it does not divide the interval, the next smaller one that does is taken.
    y0 : array, optional
        Start from here instead of ``problem.y0``.
    save_every : int, optional
        Keep every so-manieth state (and the last); default as few as needed for at most 10 000.  The extremes and the
        mean of the invariants are taken over every step in any case.
    progress : bool, optional
        Progress bar; default: on terminals, for runs longer than a second.

    Returns
    -------
    Solution
        Also if the run failed or was interrupted (Ctrl-C): what was computed, with a status and a message.  A second Ctrl-C
        raises KeyboardInterrupt.

    Raises
    ------
    ValueError, TypeError
        For arguments that make no sense, with the remedy.
    """
    chosen = find(method)
    if y0 is not None:
        problem = problem.with_start(y0)
    t0, t1 = _interval(t_span)
    _check_field(problem, t0)
    if isinstance(chosen, Reference):
        solution: Solution = chosen.solve(problem, (t0, t1), step=step, save_every=save_every, **options)
        return solution
    if options:
        raise TypeError(f"integrate: unknown arguments {sorted(options)} for method {chosen.name}")
    plan = fixed_plan(t0, t1, step, save_every, chosen)
    runs = _runs(problem, chosen, plan)
    seconds = drive(runs, progress)
    return _solution(problem, chosen, plan, runs, seconds)


def fixed_plan(t0: float, t1: float, step: float | None, save_every: int | None, method: Method) -> Plan:
    """Equal steps from t0 to t1."""
    if step is None:
        raise ValueError(f"step: the method {method.name} takes fixed steps; give their size")
    if not (np.isfinite(step) and step > 0):
        raise ValueError(f"step: {step}, expected a positive number (t_span tells the direction)")
    ratio = abs(t1 - t0) / step
    if ratio > 2.0**62:
        raise ValueError(f"step: {step} needs {ratio:.3g} steps for the interval ({t0}, {t1})")
    steps = round(ratio)
    exact = abs(ratio - steps) <= 1e-9 * max(1.0, ratio)
    steps = steps if exact else int(np.ceil(ratio))
    h = step if exact else abs(t1 - t0) / steps
    if save_every is None:
        save_every = max(1, -(-steps // ROWS))
    if save_every != int(save_every) or save_every < 1:
        raise ValueError(f"save_every: {save_every}, expected a positive integer")
    return Plan(t0, h if t1 >= t0 else -h, steps, int(save_every))


def _interval(t_span: Sequence[float]) -> tuple[float, float]:
    span = np.asarray(t_span, dtype=np.float64)
    if span.shape != (2,) or not np.isfinite(span).all():
        raise ValueError(f"t_span: {t_span}, expected two finite numbers (t0, t1)")
    return float(span[0]), float(span[1])


def _check_field(problem: Problem, t0: float) -> None:
    """A field that is wrong or not finite at the start is an error of the caller."""
    y = np.atleast_2d(problem.y0)[0]
    for name, values in (("field", problem.velocity(t0, y)), ("invariants", problem.invariant_values(t0, y))):
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: not finite at the start t = {t0}, y = {y.tolist()}: {values.tolist()}")


def _runs(problem: Problem, method: Method, plan: Plan) -> list[FixedRun]:
    starts = np.atleast_2d(problem.y0)
    if len(starts) == 1 or not problem.is_compiled:
        return [FixedRun(problem, method, plan, start) for start in starts]
    padded = np.concatenate([starts, np.repeat(starts[-1:], -len(starts) % WIDTH, axis=0)])
    return [FixedRun(problem, method, plan, pack) for pack in padded.reshape(-1, WIDTH, problem.n)]


def _solution(problem: Problem, method: Method, plan: Plan, runs: Sequence[FixedRun], seconds: float) -> Solution:
    single = np.ndim(problem.y0) == 1
    found = [trajectory for run in runs for trajectory in run.trajectories()][: len(np.atleast_2d(problem.y0))]
    tables = _single(problem, plan, found[0]) if single else _ensemble(problem, plan, found)
    counters = np.sum([run.counters for run in runs], axis=0)
    return Solution(
        **tables,
        variables=tuple(problem.variables),
        invariant_names=tuple(problem.invariant_names),
        invariant_units=tuple(problem.invariant_units),
        model=problem.model,
        method=method.name,
        step=abs(plan.h),
        status=found[0].status if single else tuple(f.status for f in found),
        message=found[0].message if single else _messages(found),
        steps=max(f.steps for f in found),
        evaluations=int(counters[EVALUATIONS]),
        iterations=int(counters[ITERATIONS]),
        rejected=int(counters[REJECTED]),
        seconds=seconds,
    )


def _single(problem: Problem, plan: Plan, found: Trajectory) -> dict[str, Any]:
    """The rows one trajectory has saved, and the last good state if the run ended between two of them."""
    k = len(found.y)
    t, stretch, y, invariants = plan.times()[:k], plan.stretches()[:k], found.y, found.invariants
    done = int(stretch.sum()) - 1
    if found.steps > done:
        t, stretch = np.append(t, plan.t0 + plan.h * found.steps), np.append(stretch, found.steps - done)
        y, invariants = np.vstack([y, found.last]), np.vstack([invariants, problem.invariant_values(t[-1], found.last)])
    return {"t": t, "y": y, "invariants": invariants, "stretch": stretch, **_statistics(found.statistics[: len(t)], stretch)}


def _ensemble(problem: Problem, plan: Plan, found: Sequence[Trajectory]) -> dict[str, Any]:
    """Trajectories on the common times; NaN where one has not come."""

    def stacked(values: Sequence[Array]) -> Array:
        table = np.full((len(found), plan.rows, values[0].shape[-1]), np.nan)
        for row, rows, trajectory in zip(table, values, found, strict=True):
            k = len(trajectory.y)
            row[:k] = rows[:k]
        return table

    statistics = _statistics(stacked([f.statistics for f in found]), plan.stretches())
    y, invariants = stacked([f.y for f in found]), stacked([f.invariants for f in found])
    return {"t": plan.times(), "y": y, "invariants": invariants, "stretch": plan.stretches(), **statistics}


def _statistics(statistics: Array, stretch: NDArray[np.int64]) -> dict[str, Array]:
    m = statistics.shape[-1] // 4

    def part(k: int) -> Array:
        return statistics[..., k * m : (k + 1) * m]

    return {"least": part(LEAST), "greatest": part(GREATEST), "mean_since": (part(SUM) + part(SUM_LOW)) / stretch[:, None]}


def _messages(found: Sequence[Trajectory]) -> str:
    failed = [(k, f) for k, f in enumerate(found) if f.status is not Status.OK]
    if not failed:
        return found[0].message
    return f"{len(failed)} of {len(found)} trajectories did not reach the end; trajectory {failed[0][0]}: {failed[0][1].message}"
