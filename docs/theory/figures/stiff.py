"""Energy after 200 steps over h ω."""

from pathlib import Path

import numba
import numpy as np
from matplotlib.figure import Figure

from integrators import Problem, integrate
from liegroup import rn


@numba.njit
def spring(t, y):
    return y[1], -y[0]


problem = Problem(rn(2), [1.0, 0.0], spring, canonical=True)
sizes = np.geomspace(0.05, 40, 25)
fig = Figure(figsize=(6.0, 3.6), layout="constrained")
ax = fig.subplots()
for method in ("RKMK4", "MIDPOINT", "RKMK_GAUSS3", "RKMK_RADAU_IIA3"):
    errors = []
    for h in sizes:
        y = integrate(problem, method, (0, 200 * h), step=h, progress=False).y
        errors.append(np.abs((np.clip(y, -1e9, 1e9) ** 2).sum(axis=1) - 1).max())
    ax.loglog(sizes, np.clip(errors, 1e-16, 1e3), "o-", ms=3, label=method)
ax.set(xlabel="h ω", title="largest relative error of the energy in 200 steps")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
