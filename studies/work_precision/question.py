"""The question: what does an accurate answer cost?

Every solver runs over the same interval with a sweep of steps or tolerances; the error is the distance on the group to
a reference, the cost the process time of the whole call, the best of several.  SciPy gets its right-hand side as one
compiled call, sees the state in ambient numbers, and is charged nothing for leaving the group.  Our runs are plain
calls of `integrate`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.integrate import integrate
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from integrators.testing import group_distance
from liegroup.display import bar
from studies.study import Record, StudyConfig, known
from studies.work_precision.problems import PROBLEMS, ambient_right_hand_side

Array = NDArray[np.float64]
QUESTION = "What does an accurate answer cost?"
SCIPY = "SCIPY_"
REPEATS = 3
STIFF = ("Radau", "LSODA", "BDF")


@dataclass(frozen=True)
class WorkPrecisionConfig(StudyConfig):
    """Error against computing time, our methods and SciPy's."""

    systems: tuple[str, ...] = tuple(PROBLEMS)
    """top, spring (T*SE(3)), chain (six links on ball joints)."""
    fixed: tuple[str, ...] = (
        "RKMK4", "CF4", "SPLIT_SRKN4_6B", "SPLIT_SRKN6_11B", "MIDPOINT", "VARIATIONAL_GAUSS3", "GAUSS8"
    )  # fmt: skip
    """Methods of fixed steps; where a family cannot solve a system it is left out."""
    adaptive: tuple[str, ...] = ("RKMK_TSITOURAS54", "RKMK_DOP853")
    """Methods that choose their steps."""
    scipy: tuple[str, ...] = ("DOP853", "RK45", "LSODA", "Radau")
    """Solvers of scipy.integrate."""
    largest_step: float = 0.1
    """Largest fixed step, s; it is halved again and again."""
    halvings: int = 7
    tolerances: tuple[float, ...] = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    """rtol; atol is a hundredth of it, for all."""

    def shortened(self) -> WorkPrecisionConfig:
        """The configuration that `--quick` runs."""
        few = {
            "systems": self.systems[:1],
            "fixed": ("RKMK4", "SPLIT_SRKN4_6B"),
            "adaptive": ("RKMK_DOP853",),
            "scipy": ("DOP853",),
        }
        return replace(self, **few, halvings=3, tolerances=(1e-4, 1e-8))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Point:
    """One run."""

    system: str
    solver: str
    step: float | None
    tolerance: float | None
    error: float
    seconds: float
    evaluations: int


@dataclass(frozen=True)
class Result:
    config: WorkPrecisionConfig
    points: tuple[Point, ...]
    gaps: dict[str, float]
    """Per system, the distance between two independent references: errors below it mean nothing."""


def run(config: WorkPrecisionConfig) -> Result:
    """All systems, all solvers."""
    config = config.as_asked()
    known("systems", config.systems, PROBLEMS)
    points: list[Point] = []
    gaps: dict[str, float] = {}
    for system in config.systems:
        build, horizon = PROBLEMS[system]
        problem = build()
        reference, gaps[system] = references(problem, horizon)
        jobs = list(_jobs(config, problem, horizon))
        for solver, step, tolerance, solve in bar(jobs, desc=system, shown=config.progress):
            end, seconds, evaluations = _best(solve)
            if end is not None:
                error = group_distance(problem.table, reference, _unit(problem, end))
                points.append(Point(system, solver, step, tolerance, error, seconds, evaluations))
    return Result(config, tuple(points), gaps)


def references(problem: Problem, horizon: float) -> tuple[Array, float]:
    """The state at the end by Feagin's method of order 10 in small steps, and its distance to SciPy's DOP853 at rtol
    3e-14.
    """
    ours = integrate(problem, "RKMK_FEAGIN10", (0.0, horizon), step=1 / 256, progress=False).y[-1]
    theirs = _solve_with_scipy(ambient_right_hand_side(problem), problem, horizon, "DOP853", 3e-14)
    assert theirs is not None
    return ours, group_distance(problem.table, ours, _unit(problem, theirs[0]))


def _jobs(config: WorkPrecisionConfig, problem: Problem, horizon: float) -> Any:
    for name in config.fixed:
        method = find(name)
        if isinstance(method, Method) and _can(method, problem):
            for k in range(config.halvings + 1):
                step = config.largest_step / 2**k
                yield name, step, None, lambda m=method, h=step: _solve(problem, horizon, m, step=h)
    for name in config.adaptive:
        for tolerance in config.tolerances:
            yield name, None, tolerance, lambda m=name, r=tolerance: _solve(problem, horizon, m, rtol=r, atol=0.01 * r)
    fun = ambient_right_hand_side(problem)
    for name in config.scipy:
        for tolerance in config.tolerances:
            if tolerance >= 1e-10 or name not in STIFF:
                yield (
                    SCIPY + name,
                    None,
                    tolerance,
                    lambda m=name, r=tolerance: _solve_with_scipy(fun, problem, horizon, m, r),
                )


def _can(method: Method, problem: Problem) -> bool:
    try:
        method.kernel_options(problem)
    except ValueError:
        return False
    return True


def _solve(problem: Problem, horizon: float, method: Any, **how: float) -> tuple[Array, int] | None:
    solution = integrate(
        problem, method, (0.0, horizon), save_every=2**40 if "step" in how else None, progress=False, **how
    )  # type: ignore[arg-type]
    return (solution.y[-1], solution.evaluations) if solution.finished else None


def _solve_with_scipy(fun: Any, problem: Problem, horizon: float, solver: str, rtol: float) -> tuple[Array, int] | None:
    from scipy.integrate import solve_ivp

    found = solve_ivp(fun, (0.0, horizon), problem.y0, method=solver, rtol=rtol, atol=0.01 * rtol)
    return (found.y[:, -1], int(found.nfev)) if found.success else None


def _unit(problem: Problem, y: Array) -> Array:
    """The state with its quaternions brought to unit norm: SciPy's leave it."""
    from liegroup.table import quaternions

    y = y.copy()
    for k in quaternions(problem.table):
        y[k : k + 4] /= np.linalg.norm(y[k : k + 4])
    return y


def _best(solve: Callable[[], tuple[Array, int] | None]) -> tuple[Array | None, float, int]:
    """(end, least process time, evaluations); runs of over a second are repeated once, for the first may compile."""
    best, found = np.inf, None
    for k in range(REPEATS):
        began = time.process_time()
        found = solve()
        best = min(best, time.process_time() - began)
        if found is None or (k > 0 and best > 1.0):
            break
    return (None, best, 0) if found is None else (found[0], best, found[1])


def cost_at(points: Sequence[Point], error: float) -> float | None:
    """Seconds at which a solver reaches an error, by straight lines between its runs in logarithms; None if it does
    not.
    """
    front = sorted(points, key=lambda p: p.seconds)
    for a, b in pairwise(front):
        if a.error >= error >= b.error > 0:
            part = np.log(a.error / error) / np.log(a.error / b.error) if a.error > b.error else 0.0
            return float(a.seconds * (b.seconds / a.seconds) ** part)
    return front[0].seconds if front and front[0].error <= error else None


def records(result: Result) -> list[Record]:
    return [
        {
            "system": p.system,
            "method": p.solver,
            "step": p.step,
            "tolerance": p.tolerance,
            "horizon": PROBLEMS[p.system][1],
            "error": p.error,
            "reference_gap": result.gaps[p.system],
            "milliseconds": 1e3 * p.seconds,
            "evaluations": p.evaluations,
        }
        for p in result.points
    ]


LEVELS = (1e-4, 1e-7, 1e-10)


def remarks(result: Result) -> list[str]:
    """Per system and accuracy: the cheapest of ours, the cheapest of SciPy's, their ratio."""
    said = [f"{s}: the two references differ by {gap:.1g}" for s, gap in result.gaps.items()]
    for system in result.gaps:
        for level in LEVELS:
            costs: dict[str, float] = {}
            for solver in dict.fromkeys(p.solver for p in result.points if p.system == system):
                cost = cost_at([p for p in result.points if p.system == system and p.solver == solver], level)
                if cost is not None:
                    costs[solver] = cost
            ours = {k: v for k, v in costs.items() if not k.startswith(SCIPY)}
            theirs = {k: v for k, v in costs.items() if k.startswith(SCIPY)}
            if ours and theirs:
                a, b = min(ours, key=ours.__getitem__), min(theirs, key=theirs.__getitem__)
                said.append(
                    f"{system}, error {level:g}: {a} {1e3 * ours[a]:.3g} ms, {b} {1e3 * theirs[b]:.3g} ms: "
                    f"{theirs[b] / ours[a]:.3g} times"
                )
    return said


def data(result: Result) -> Dataset:
    p = result.points
    return Dataset(
        {
            "run": Variable(("run",), [f"{x.system}, {x.solver}, {x.step or x.tolerance:g}" for x in p]),
            "error": Variable(("run",), [x.error for x in p], "", "distance on the group at the end"),
            "seconds": Variable(("run",), [x.seconds for x in p], "s", "process time"),
            "evaluations": Variable(("run",), [x.evaluations for x in p]),
        },
        {"study": "work-precision"},
    )
