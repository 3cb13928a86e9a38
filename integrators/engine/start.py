"""The runs of the trajectories of a problem."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from integrators.engine.adaptive_run import AdaptiveRun, Steering
from integrators.engine.fixed_run import FixedRun, LaneRun, single_run
from integrators.engine.room import check_room
from integrators.engine.run import Output, Plan, Run
from integrators.method import Method
from integrators.problem import Problem
from liegroup.compile import WIDTH


def start_runs(problem: Problem, method: Method, output: Output, way: Plan | Steering) -> list[Run]:
    """The runs of all trajectories of a problem: packs of eight in lanes where that is possible, else one each."""
    check_room(problem, output, way, len(np.atleast_2d(problem.y0)))
    return [make() for make in makers(problem, method, output, way)]


def makers(problem: Problem, method: Method, output: Output, way: Plan | Steering) -> list[Callable[[], Run]]:
    """What makes the runs of all trajectories of a problem, one by one, in any process."""
    starts = np.atleast_2d(problem.y0)
    if isinstance(way, Steering):
        method = method.tuned(np.inf) if method.stepper.report else method  # the controller divides
        shared: dict[str, Any] = {}
        return [partial(AdaptiveRun, problem, method, output, way, start, shared) for start in starts]
    if method.stepper.stages_in_lanes:
        return [partial(single_run, problem.with_start(start), method, output, way, start) for start in starts]
    signal = problem.inputs.signal
    in_lanes = problem.is_compiled and (signal is None or signal.in_lanes) and method.step(problem).takes_lanes
    if len(starts) == 1 or not in_lanes or output.events is not None:
        return [partial(FixedRun, problem, method, output, way, start) for start in starts]
    padded = np.concatenate([starts, np.repeat(starts[-1:], -len(starts) % WIDTH, axis=0)])
    packs = padded.reshape(-1, WIDTH, problem.n)
    return [partial(LaneRun, problem, method, output, way, pack) for pack in packs]
