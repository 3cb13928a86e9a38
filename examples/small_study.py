"""A question with a number for an answer: does the energy of a pendulum drift?  The tool of all studies.

`energy_drift` fits a straight line to the energy and says how far its slope is from zero, in units of its error.
"""

from pathlib import Path

from matplotlib.figure import Figure

from integrators import integrate
from integrators.statistics.drift import energy_drift
from mechanics.systems import SYSTEMS

fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
for method in ("MIDPOINT", "RKMK4"):
    run = integrate(SYSTEMS["pendulum"], method, (0, 2000), step=0.1)
    drift = energy_drift(run.t, run["energy"])
    print(f"{method}: slope ({drift.slope:.1e} ± {drift.sigma:.0e}) J/s")
    ax.plot(run.t, run["energy"] - run["energy"][0], lw=0.6, label=method)
ax.set(xlabel="t [s]", title="change of the energy of a pendulum [J]")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
