"""Eight trajectories for the price of two: an ensemble in lanes gives the bits of single runs.

The same compiled step runs on one number or on eight; an ensemble is y0 with several rows.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems import lagrange_top

top = lagrange_top()
starts = top.y0 + 1e-2 * np.eye(7)[4] * np.arange(8)[:, None]  # eight angular momenta
options = {"t_span": (0, 400), "step": 2e-3}
single = [integrate(top, "LGVI_CAYLEY", **options, y0=start) for start in starts]
lanes = integrate(top, "LGVI_CAYLEY", **options, y0=starts)
assert np.array_equal(lanes.y, np.array([run.y for run in single]))

apart, together = sum(run.seconds for run in single), lanes.seconds
print(f"one by one {apart:.2f} s, in lanes {together:.2f} s, and the same bits")

fig = Figure(figsize=(5.0, 3.0), layout="constrained")
ax = fig.subplots()
bars = ax.barh(["one by one", "in lanes"], [apart, together], color=["C0", "C1"])
ax.bar_label(bars, fmt="%.2f s", padding=3)
ax.set(title=f"eight tops, {single[0].steps} steps each: computing time", xlim=(0, 1.25 * apart))
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
