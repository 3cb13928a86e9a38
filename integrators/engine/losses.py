"""Whether a method loses energy that the motion keeps: what is lost is held against what the field takes.

Where dampers make an energy E only fall, that it falls says nothing.  How fast it should, Ė = ∇E·ẏ, follows from the
field and the energy themselves at every saved state, as a central difference along ẏ, which is exact for energies of
second degree; its sum over the steps (the trapezoidal rule) is what the motion loses, and the rest is the method's:
damped oscillations that its steps do not resolve, linearisations that do not hold over a step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun
from integrators.engine.run import Trajectory
from integrators.problem import Doubt, Problem
from integrators.problem.ambient import ambient_velocity

Array = NDArray[np.float64]
MOST_ROWS, MOST_TRAJECTORIES = 4000, 8
"""Saved states that are looked at, from the start, and trajectories of an ensemble."""
UNSURE = 0.25
"""Part of what the field takes by which the sum over the steps may be wrong, where h ω is about one."""
ASIDE = 1e-4
"""Parts of a step by which states are moved for the difference."""


def losses(run: FixedRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory that loses more than its field takes, by more than its guard lets it rise."""
    if run.method.symplectic:  # its energy error swings, widely near the limit of stability, and is no friction
        return []
    problem, h, doubts = run.problem, abs(run.plan.h), []
    rows = min(len(found.t), MOST_ROWS + 1)
    t, y = found.t[:rows], found.y[:rows]
    if number >= MOST_TRAJECTORIES or rows < 3 or np.abs(np.diff(t)).max() > 1.001 * h:
        return []
    for guard in problem.guards:
        if not guard.accounts:
            continue
        column = problem.invariant_names.index(guard.name)
        energy = found.invariants[:rows, column]
        limit = guard.rise + guard.relative * abs(float(energy[0]))
        if run.forward > 0.0 and not energy[0] - energy.min() > limit:
            continue  # it has not lost as much; back in time what is lost is less of a rise
        power = np.array([rate_of(problem, column, float(s), x, ASIDE * h) for s, x in zip(t, y, strict=True)])
        taken = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t))])
        lost, bound = taken - (energy - energy[0]), limit + UNSURE * np.abs(taken)
        since = int(np.max(np.flatnonzero(lost <= 0.5 * bound), initial=-1)) + 1  # what comes back is a band, no loss
        beyond = since + np.flatnonzero(lost[since:] > bound[since:])
        if beyond.size:
            worst = int(beyond[np.argmax(lost[beyond])])
            says = "of this much energy nothing says where it goes: the method takes it, as if it were friction"
            remedy = "use a smaller step, or a method that keeps what its steps do not resolve"
            found_now = float(t[beyond[0]]), float(lost[worst]), float(bound[worst])
            doubts.append(Doubt(f"{guard.name}_lost", *found_now, says, remedy, number))
    return doubts


def rate_of(problem: Problem, column: int, t: float, y: Array, aside: float) -> float:
    """d/dt of an invariant along the motion."""
    velocity = problem.velocity(t, y)
    move = aside * ambient_velocity(problem.table, y, velocity)
    ahead, behind = (problem.invariant_values(t, x)[column] for x in (y + move, y - move))
    return float(ahead - behind) / (2.0 * aside)
