"""Energy of a rolling disk by a symmetric method and by RK4."""

from pathlib import Path

from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems.rolling.rolling_disk import rolling_disk

disk = rolling_disk(tilt=0.3, omega=(0.0, 2.0, 4.0))
runs = [
    integrate(disk.constrained_problem(), "DLA", (0, 400), step=0.02),
    integrate(disk.problem(), "RKMK4", (0, 400), step=0.02),
]
fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
for run in runs:
    ax.plot(run.t, run["energy"] / run["energy"][0] - 1, lw=0.8, label=run.method)
ax.set(xlabel="t [s]", title="relative change of the energy, h = 20 ms")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
