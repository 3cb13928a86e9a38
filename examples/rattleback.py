"""A rattleback: spun the wrong way, it rattles, stops, and turns round.  A ready-made system in three lines."""

from pathlib import Path

from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems import SYSTEMS

run = integrate(SYSTEMS["rattleback"].problem(), "RKMK4", (0, 20), step=2e-3)
print(run.message, f"energy error {run.error('energy'):.1e}")

fig = Figure(figsize=(6.0, 3.0), layout="constrained")
ax = fig.subplots()
ax.plot(run.t, run["u"], lw=0.8) if "u" in run else ax.plot(run.t, run.y[:, 7:], lw=0.8)
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
