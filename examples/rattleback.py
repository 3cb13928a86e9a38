"""A rattleback: spun the wrong way it begins to rattle, stops, and turns round.  A ready-made system in three lines."""

from pathlib import Path

from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems import SYSTEMS

run = integrate(SYSTEMS["rattleback"], "RKMK_DOP853", (0, 20), rtol=1e-8)
print(run.message, f"energy error {run.error('energy'):.1e}")

fig = Figure(figsize=(6.0, 3.0), layout="constrained")
ax = fig.subplots()
for k, axis in enumerate("xyz"):
    ax.plot(run.t, run["omega"][:, k], lw=1.5 if axis == "z" else 0.5, label=f"ω_{axis}")
ax.set(xlabel="t [s]", title="angular velocity of a rattleback [rad/s]")
ax.legend(loc="upper right")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
