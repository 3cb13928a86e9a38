"""What keeps a four-bar linkage closed, and its energy."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems import SYSTEMS

bar = SYSTEMS["four-bar"]
runs = {
    "TREE_VARIATIONAL": integrate(bar.problem(projection="momenta"), "TREE_VARIATIONAL", (0, 20), step=5e-3),
    "RKMK4, projected": integrate(bar.problem(), "RKMK4", (0, 20), step=5e-3),
    "RKMK4, multipliers alone": integrate(bar.problem("index_one"), "RKMK4", (0, 20), step=5e-3),
}
fig = Figure(figsize=(9.0, 3.4), layout="constrained")
left, right = fig.subplots(1, 2)
for name, run in runs.items():
    gap = run.invariant_names.index("gap")
    left.semilogy(run.t[1:], np.maximum(run.greatest[1:, gap], 1e-17), lw=0.7, label=name)
    right.semilogy(run.t[1:], np.maximum(np.abs(run["energy"][1:] / run["energy"][0] - 1), 1e-17), lw=0.7)
left.set(xlabel="t [s]", title="largest gap [m]")
left.legend()
right.set(xlabel="t [s]", title="relative change of the energy")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
