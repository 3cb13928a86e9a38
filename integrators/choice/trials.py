"""Steps that are taken to see what they do."""

from __future__ import annotations

from collections.abc import Callable

from integrators.engine.adaptive_run import Steering
from integrators.engine.run import NEVER, Output, Plan, Run, Trajectory
from integrators.engine.start import start_runs
from integrators.engine.step_again import to_its_end
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Problem
from liegroup.compile import undisturbed


def known(name: str) -> Method:
    """A method of the catalogue that is our own."""
    method = find(name)
    assert isinstance(method, Method)
    return method


def tried(
    problem: Problem, method: Method, way: Plan | Steering, enough: Callable[[Run], bool] | None = None
) -> Trajectory:
    """Some steps, which may be too long for what the method presupposes; Ctrl-C ends the search, and is no answer."""
    with undisturbed():
        [run] = start_runs(problem, method, Output(save_every=NEVER), way)
    return to_its_end(run, enough)[0]


def substeps_of(run: Run) -> int:
    """Those of a method that divides its steps; the steps of others."""
    report = run.method.report(run.work)
    return run.steps_done if report is None else sum(report.levels)
