"""Does the energy of heavy tops drift?  Thirty-two random starts, their statistics gathered along the way.

No trajectory is stored: of every one a slope with its uncertainty stays, and the mean in forty windows of time.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from integrators.ensemble import draws
from integrators.statistics import Moments, Slope
from mechanics.systems import SYSTEMS

top = SYSTEMS["heavy-top"].problem()


def start(random):
    """The start of the top, its momentum changed by up to a tenth."""
    y = np.array(top.y0)
    y[-3:] *= random.uniform(0.9, 1.1, 3)
    return y


bins = np.concatenate([-np.geomspace(1e4, 1.0, 25), np.geomspace(1.0, 1e2, 13)])
tops = top.with_start(draws(start, 32, seed=20))
fig = Figure(figsize=(7.5, 3.2), layout="constrained")
left, right = fig.subplots(1, 2)
for method in ("MIDPOINT", "RKMK4"):
    asked = [Slope("energy"), Moments("energy", name="windows", windows=40)]
    run = integrate(tops, method, (0.0, 100.0), step=0.001, statistics=asked)
    slope, windows = run.statistics["energy_slope"], run.statistics["windows"]
    change = windows["mean"] - run["energy"][:, :1]
    left.plot(windows["time"][0], np.abs(change).mean(axis=0), label=method)
    counts = np.sum(np.abs(slope["slope"]) > 3.0 * slope["sigma"])
    right.hist(slope["slope"] / slope["sigma"], bins=bins, histtype="step", label=method)
    print(f"{method}: mean slope {slope['slope'].mean():.1e} J/s, beyond 3 sigma in {counts} of 32")
left.set(yscale="log", xlabel="t [s]", title="mean change of the energy [J]")
right.set(xscale="symlog", xlabel="slope of the energy / its standard deviation", title="trajectories")
left.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
