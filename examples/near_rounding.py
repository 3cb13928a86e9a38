"""GAUSS8 on a comet: energy to rounding at any step, because steps divide themselves at the sun.

The step is only the grid of output.  The splitting of order 6 with fixed steps is shown beside it.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems import kepler

comet = kepler(eccentricity=0.9)
runs = [integrate(comet, method, (0, 200), step=step) for method, step in (("GAUSS8", 0.5), ("SPLIT_SRKN6_11B", 0.02))]
print(runs[0].message)
print("substeps of size h, h/2, h/4 …:", runs[0].levels)

fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
for run in runs:
    error = np.abs(run["energy"] / run["energy"][0] - 1)
    ax.semilogy(run.t, np.maximum(error, 1e-17), lw=0.8, label=f"{run.method}, h = {run.step:g}")
ax.set(xlabel="t", title="relative change of the energy, eccentricity 0.9")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert runs[0].error("energy") < 1e-13
