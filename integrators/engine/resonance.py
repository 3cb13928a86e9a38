"""Whether the steps of a splitting resonate with the motion: a hundred of them against as many a little shorter.

The parts of a splitting move exactly, so that long steps look possible; where a step is near half a period of the free
motion, or a multiple of it, its kicks come in time with the motion.  No linear motion at the start tells these periods
(those of a nutation are in the motion, not in its field), but the energy does: between resonances its error is ∝ hᵖ,
and a step a tenth or a fifth shorter is off the resonance.  (These may meet a dip of the error: what a quarter of the
step explains by the order is no resonance.)  Source: Hairer, Lubich and Wanner 2006, XIII.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun
from integrators.engine.run import Output, Plan, Trajectory
from integrators.problem import Doubt

STEPS = 100
"""Steps of each size; runs of less than `LEAST` are not looked at."""
LEAST = 1000
PARTS = 0.9, 0.8, 0.25
"""Of the step: what it is compared with, over the same time."""
RESONANT = 1.75
"""An error so many times what the order makes of that of the shorter steps."""
_ROUNDING = 1e-13
"""Of the energy: errors below have no order."""


def resonant(run: FixedRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a run by a splitting whose energy error is that of a resonance; of an ensemble the first trajectory
    is looked at.
    """
    names = run.problem.invariant_names
    if run.method.stepper.name != "splitting" or "energy" not in names or run.plan.steps < LEAST or number > 0:
        return []
    own, *others, far = (_error_of_energy(run, found.y[0], part, names.index("energy")) for part in (1.0, *PARTS))
    usual = max(max(others) / PARTS[0] ** run.method.order, far / PARTS[-1] ** run.method.order)
    if not (np.isfinite(usual) and own > RESONANT * usual > 0.0):
        return []
    says = (
        f"over {STEPS} steps the error of the energy is {own / usual:.2g} times what its order makes of that of steps "
        "a tenth shorter: the kicks are in resonance with the free motion, or the step is too long"
    )
    remedy = "take several steps in the shortest period of the free motion"
    return [Doubt("resonance", run.plan.t0, own / usual, RESONANT, says, remedy, number)]


def _error_of_energy(run: FixedRun, y: NDArray[np.float64], part: float, k: int) -> float:
    """The width of the band of invariant k over some steps of a part of the size; not below rounding."""
    steps = round(STEPS / part)
    trial = FixedRun(run.problem, run.method, Output(save_every=steps), Plan(run.plan.t0, part * run.plan.h, steps), y)
    trial.go(steps)
    if not trial.done or trial.steps_done < steps:
        return float("inf")
    seen = trial.since(0)
    least, greatest = float(seen.least[..., k].min()), float(seen.greatest[..., k].max())
    return max(greatest - least, _ROUNDING * max(abs(least), abs(greatest)))
