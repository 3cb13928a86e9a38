"""Whether a problem has, along its motion, the form that a method has found at its start and goes by.

Splittings and Lie group variational integrators go by H = ½ pᵀK p + V(t, q): masses that change with the place, and
forces of the momentum, are in no step of theirs.  Before a run that is asked near its start; dampers that come in
later, layers and atmospheres are asked for at the saved states.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, single_run
from integrators.engine.run import Output, Run, Trajectory
from integrators.engine.step_again import to_its_end, with_start
from integrators.layout import STEPS
from integrators.problem import Doubt
from liegroup.arrays import spread

Array = NDArray[np.float64]

MOST_TRAJECTORIES, MOST_ROWS, WIDE = 8, 400, 200
"""Of an ensemble; saved states that are asked, and of how many components a velocity has a tenth of these."""
FEW, MOST_STEPS = 100, 20_000
"""Saved states that are enough, and steps that are taken once more where there are less, at most."""
CHANGED, LOST = 1e-4, 0.01
"""Part of the velocity that may be another one, in the mean of the run; and part of the largest kinetic energy that
forces of the momentum may take or bring.
"""


def _states(run: Run, found: Trajectory, number: int, most: int) -> tuple[Array, Array]:
    """The saved states or, where few were saved, those of the first `MOST_STEPS` of the steps, taken once more."""
    t, y = with_start(run, found, number)
    steps = min(int(found.counters[STEPS]), MOST_STEPS)
    if len(t) >= min(FEW, steps) or not isinstance(run, FixedRun):
        return t, y
    output = Output(save_every=-(-steps // most))
    again = single_run(run.problem, run.method, output, replace(run.plan, steps=steps), y[0])
    [one] = to_its_end(again)
    return with_start(again, one, 0)


def departed(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The doubts of a trajectory of a method that says what of its form a problem departs from (`Stepper.form`)."""
    form = run.method.stepper.form
    if form is None or number >= MOST_TRAJECTORIES or not len(found.t):
        return []
    most = MOST_ROWS if run.problem.dimension <= WIDE else MOST_ROWS // 10
    t, y = _states(run, found, number, most)
    rows = spread(len(t), most)
    t, y, doubts = t[rows], y[rows], list[Doubt]()
    if len(t) < 2:
        return []
    with np.errstate(all="ignore"):  # of what grows without end
        of_velocity, power, energy = np.array(form(run.problem, t, y)).T
        changed = float(of_velocity.sum() / max(2.0 * energy.sum(), 1e-300))
        lost = float(abs(t[-1] - t[0]) * power.mean() / max(energy.max(), 1e-300))
    if changed > CHANGED:
        says = "the velocity is not K p with the K of the start: the inertia depends on the place"
        remedy = "take a method that asks the field for it, such as MIDPOINT, RKMK4 or GAUSS8"
        doubts.append(Doubt("inertia", float(t[np.argmax(of_velocity)]), changed, CHANGED, says, remedy, number))
    if lost > LOST:
        says = "forces depend on the momentum, which no step of this method feels: they would take or bring this part "
        says += "of the kinetic energy"
        remedy = "take a method that asks the field at the momentum, such as MIDPOINT, RKMK4 or GAUSS8"
        doubts.append(Doubt("damping", float(t[np.argmax(power)]), lost, LOST, says, remedy, number))
    return doubts
