"""The question: does every method of the catalogue have its order, on every group it works on?

Every method runs over one unit of time with halved steps; its error is the distance on the group to a reference.
General methods run on a nonlinear field that depends on the time and on every component of the state; methods for
linear equations on a field of time alone; splittings and variational methods, which want a mechanical problem, on a
heavy top on T*SO(3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.analysis import MeasuredOrder
from integrators.method import Method
from integrators.methods import METHODS, find
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from integrators.testing import GROUPS, end_state, group_distance, linear, order_problem, reference_state, wavy
from liegroup.display import bar
from mechanics.systems import heavy_top
from studies.study import Record, StudyConfig, known

Array = NDArray[np.float64]
QUESTION = "Does every method of the catalogue have its order, on every group it works on?"
TOP = "T*SO3"
FLOOR = 1e-12
"""Errors below it are rounding, of the method or of the reference."""
AGREES = 0.25
"""An order agrees with the claim unless it is lower by more: where the leading error term of a problem is small, slopes
are higher.
"""


@dataclass(frozen=True)
class ConvergenceConfig(StudyConfig):
    """Errors of every method on every group with halved steps."""

    methods: tuple[str, ...] = ()
    """Names from the catalogue integrators.METHODS (default: all that have an order and need no tree or constraint)."""
    groups: tuple[str, ...] = (*GROUPS, TOP)
    """R3, SO3, SE3, product (fields of any form) and T*SO3 (mechanical)."""
    halvings: int = 9
    """Numbers of steps 1, 2, 4, … 2^halvings."""

    def shortened(self) -> ConvergenceConfig:
        """The configuration that `--quick` runs."""
        return replace(self, methods=("LIE_EULER", "RKMK4", "CF4", "MIDPOINT", "SPLIT_SRKN4_6B"), halvings=6)


@dataclass(frozen=True)
class Line:
    """One method on one group."""

    method: str
    family: str
    group: str
    claimed: int
    steps: Array
    errors: Array

    @property
    def measured(self) -> float | None:
        """Order between the two finest steps whose errors are above the floor; None if only one is."""
        good = self.errors < 0.1
        if good.sum() < 2:
            return None
        try:
            return MeasuredOrder(self.steps[good], self.errors[good], FLOOR).order
        except ValueError:
            return None

    @property
    def agrees(self) -> bool:
        return self.measured is not None and self.measured > self.claimed - AGREES


@dataclass(frozen=True)
class Result:
    config: ConvergenceConfig
    lines: tuple[Line, ...]


@cache
def posed(group: str, linear_only: bool = False) -> tuple[Problem, Array]:
    """The problem of a group and its state after one unit of time, to about 1e-13."""
    if group == TOP:
        problem = heavy_top((1.0, 1.4, 0.6), 1.0, (0.1, 0.2, 0.97), 2.0, angular_velocity=(0.5, -0.8, 4.0))
    else:
        problem = order_problem(group, linear if linear_only else wavy)
    return problem, reference_state(problem)


def is_mechanical(method: Method) -> bool:
    """Whether a method wants a canonical problem of its own form."""
    return method.needs == "canonical"


def suits(method: Method, group: str) -> bool:
    return is_mechanical(method) == (group == TOP)


def all_methods() -> tuple[str, ...]:
    """Methods that run on any problem of their kind: not those that need a tree or constraints of their own."""
    rows = {name: row for name, row in METHODS.items() if isinstance(row, Method)}
    return tuple(n for n, row in rows.items() if row.needs in ("field", "time", "canonical") and _runs(row))


def _runs(method: Method) -> bool:
    """Whether the family can solve one of the problems at all."""
    try:
        method.kernel_options(posed(TOP)[0])
    except ValueError:
        return False
    return True


def run(config: ConvergenceConfig) -> Result:
    """Run every method on every group."""
    config = config.as_asked()
    known("groups", config.groups, (*GROUPS, TOP))
    chosen = [m for m in map(find, config.methods or all_methods()) if isinstance(m, Method)]
    pairs = [(m, g) for m in chosen for g in config.groups if suits(m, g)]
    lines = [measure(m, g, config.halvings) for m, g in bar(pairs, shown=config.progress)]
    return Result(config, tuple(lines))


def measure(method: Method, group: str, halvings: int) -> Line:
    """Errors of one method on one group; NaN where a step is too large for it."""
    problem, reference = posed(group, method.needs == "time")
    counts, errors = 2 ** np.arange(halvings + 1), []
    for n in counts:
        try:
            errors.append(group_distance(problem.table, reference, end_state(problem, method, int(n))))
        except RuntimeError:
            errors.append(np.nan)
        if errors[-1] < FLOOR / 10:
            break
    return Line(method.name, method.stepper.name, group, method.order, 1.0 / counts[: len(errors)], np.array(errors))


def records(result: Result) -> list[Record]:
    return [
        {
            "system": line.group,
            "method": line.method,
            "family": line.family,
            "claimed_order": line.claimed,
            "measured_order": line.measured,
            "agrees": line.agrees,
            "least_error": float(np.nanmin(line.errors)),
        }
        for line in result.lines
    ]


def remarks(result: Result) -> list[str]:
    measured = [line for line in result.lines if line.measured is not None]
    off = [
        f"{line.method} on {line.group} ({line.measured:.2f} for {line.claimed})"
        for line in measured
        if not line.agrees
    ]
    return [
        f"{sum(line.agrees for line in measured)} of {len(measured)} measured orders agree with the claim; the others: "
        + (", ".join(off) or "none")
        + f". {len(result.lines) - len(measured)} reach rounding before an order shows."
    ]


def data(result: Result) -> Dataset:
    width = max(len(line.errors) for line in result.lines)
    errors = np.full((len(result.lines), width), np.nan)
    for row, line in zip(errors, result.lines, strict=True):
        row[: len(line.errors)] = line.errors
    return Dataset(
        {
            "line": Variable(("line",), [f"{line.method} on {line.group}" for line in result.lines]),
            "step": Variable(("step",), 0.5 ** np.arange(width), "s"),
            "error": Variable(("line", "step"), errors, "", "distance on the group at t = 1"),
            "claimed_order": Variable(("line",), [line.claimed for line in result.lines]),
        },
        {"study": "convergence"},
    )


def positive(values: Any) -> Array:
    """Zeros as NaN, for logarithmic axes."""
    return np.where(np.asarray(values) > 0, values, np.nan)
