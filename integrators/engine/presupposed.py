"""Whether a problem has, along its motion, the form that a method has found at its start and goes by.

Splittings and Lie group variational integrators go by H = ½ pᵀK p + V(t, q): masses that change with the place, and
forces of the momentum, are in no step of theirs.  Before a run that is asked near its start; dampers that come in
later, layers and atmospheres are asked for at the saved states.
"""

from __future__ import annotations

import numpy as np

from integrators.engine.run import Run, Trajectory
from integrators.engine.ways import spread
from integrators.problem import Doubt

MOST_TRAJECTORIES, MOST_ROWS, WIDE = 8, 400, 200
"""Of an ensemble; saved states that are asked, and of how many components a velocity has a tenth of these."""
CHANGED, LOST = 1e-4, 0.01
"""Part of the velocity that may be another one, in the mean of the run; and part of the largest kinetic energy that
forces of the momentum may take or bring.
"""


def departed(run: Run, found: Trajectory, number: int) -> list[Doubt]:
    """The doubts of a trajectory of a method that says what of its form a problem departs from (`Stepper.form`)."""
    form = run.method.stepper.form
    if form is None or number >= MOST_TRAJECTORIES or len(found.t) < 2:
        return []
    most = MOST_ROWS if run.problem.dimension <= WIDE else MOST_ROWS // 10
    rows = spread(len(found.t), most)
    t, doubts = found.t[rows], []
    with np.errstate(all="ignore"):  # of what grows without end
        of_velocity, power, energy = np.array(form(run.problem, t, found.y[rows])).T
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
