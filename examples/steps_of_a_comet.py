"""Steps that follow the motion without destroying what the method keeps: a reversible controller.

An ordinary controller chooses small steps near the sun and loses the energy; an integrating controller chooses steps
of the same kind and does not, because it is reversible.
"""

from pathlib import Path

import numba
import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from integrators.controllers import IntegratingController
from mechanics.systems import kepler


@numba.njit
def size(t, y):
    """Steps Q = r^{3/2} by Kepler's third law, and −Q̇/Q."""
    r2 = y[0] ** 2 + y[1] ** 2
    return r2**0.75, -1.5 * (y[0] * y[2] + y[1] * y[3]) / r2


comet = kepler(eccentricity=0.8)
reversible = integrate(comet, "SPLIT_SOFSPA6", (0, 600), step=0.05, controller=IntegratingController(size))
ordinary = integrate(comet, "RKMK_DORMAND_PRINCE54", (0, 600), rtol=1e-6, atol=1e-9)

fig = Figure(figsize=(9.0, 3.2), layout="constrained")
left, right = fig.subplots(1, 2)
for run in (reversible, ordinary):
    print(f"{run.method}: {run.steps} steps, energy error {run.error('energy'):.1e}")
    right.semilogy(
        run.t[1:], np.maximum(np.abs(run["energy"][1:] / run["energy"][0] - 1), 1e-17), lw=0.5, label=run.method
    )
    first = run.t < 15
    left.semilogy(run.t[first][1:], np.diff(run.t[first]), ".-", ms=3, lw=0.5, label=run.method)
left.set(xlabel="t", title="size of the steps, two orbits")
right.set(xlabel="t", title="relative change of the energy")
right.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert reversible.error("energy") < ordinary.error("energy")
