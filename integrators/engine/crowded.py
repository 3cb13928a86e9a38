"""Events that come more often within a step than it is looked at: some of them are missing."""

from __future__ import annotations

import numpy as np

from integrators.engine.fixed_run import FixedRun
from integrators.engine.run import Run, Trajectory
from integrators.events import EACH, MOST_PLACES
from integrators.layout import STEPS
from integrators.problem import Doubt

MOST = MOST_PLACES // (2 * EACH)
"""Occurrences within a step: half as many as the finest look tells apart."""


def crowded(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of events of which a step has more than `MOST`, the first of each; of variable steps, one of the mean
    size.
    """
    steps = max(int(found.counters[STEPS]), 1)
    h = abs(run.plan.h) if isinstance(run, FixedRun) else abs(found.last_t - run.t0) / steps
    doubts = []
    for k, name in enumerate(run.output.own_events):
        times = np.array([time for time, event, _ in found.events if event == k])
        if len(times) < MOST:
            continue
        close = np.abs(times[MOST - 1 :] - times[: 1 - MOST]) <= h
        if close.any():
            first = float(times[np.argmax(close)])
            often = int(np.sum(np.abs(times - first) <= h))
            says = f"event {name!r} comes more often in a step than it is looked at: some may be missing"
            doubts.append(Doubt("events", first, often, MOST, says, "use smaller steps", number))
    return doubts
