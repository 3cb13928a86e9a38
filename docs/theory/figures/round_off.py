"""Growth of rounding errors with plain and with compensated additions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from integrators.methods import METHODS
from mechanics.systems import kepler

orbits = np.array([kepler(eccentricity=e).y0 for e in np.linspace(0.05, 0.2, 16)])
problem, steps = kepler(eccentricity=0.1), 2 ** np.arange(8, 20)
fig = Figure(figsize=(6.0, 3.6), layout="constrained")
ax = fig.subplots()
for compensated in (False, True):
    method = replace(METHODS["SPLIT_SRKN6_11B"], compensated=compensated)
    run = integrate(problem, method, (0, 0.02 * steps[-1]), step=0.02, y0=orbits, t_eval=0.02 * np.array([0, *steps]))
    energy = np.asarray(run["energy"])
    error = np.sqrt(np.mean((energy[:, 1:] / energy[:, :1] - 1) ** 2, axis=0))
    ax.loglog(steps, error, "o-", ms=4, label="compensated" if compensated else "plain")
ax.loglog(steps, 3e-17 * np.sqrt(steps), "0.6", ls=":", label="√n")
ax.loglog(steps, 3e-18 * steps, "0.6", ls="--", label="n")
ax.set(xlabel="steps", title="rms of the relative energy error")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
