"""A coin that rolls without slipping: the path of its contact, and what its energy does over 100 000 steps.

Discrete Lagrange-d'Alembert keeps the constraint and a band of energy; the energy of RK4 falls by a little every turn.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems.rolling.rolling_disk import contact_point, rolling_disk

coin = rolling_disk(tilt=0.3, omega=(0.0, 2.0, 4.0))
runs = [
    integrate(coin.constrained_problem(), "DLA", (0, 2000), step=0.02),
    integrate(coin.problem(), "RKMK4", (0, 2000), step=0.02),
]
for run in runs:
    print(f"{run.method}: relative error of the energy {run.error('energy'):.1e}")

fig = Figure(figsize=(9.0, 3.6), layout="constrained")
left, right = fig.subplots(1, 2)
path = integrate(coin.problem(), "RKMK_DOP853", (0, 20), rtol=1e-9, t_eval=np.linspace(0, 20, 2001))
left.plot(*contact_point(path.y, radius=0.3).T, lw=0.8)
left.set(aspect="equal", title="contact point, 20 s", xlabel="x [m]", ylabel="y [m]")
for run in runs:
    right.plot(run.t, run["energy"] / run["energy"][0] - 1, lw=0.8, label=run.method)
right.set(title="relative change of the energy", xlabel="t [s]")
right.legend()
path.animate(Path(__file__).with_suffix(".html"))  # to turn, play and scrub in a browser
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert np.abs(runs[0]["energy"][-1] / runs[0]["energy"][0] - 1) < 1e-3
