"""Energy error over the step, and how GAUSS8 divides steps."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate

tree = mechanics.load_model("double_pendulum", damping=False)
problem = mechanics.hamiltonian_problem(tree, [2.0, 1.0])
steps = np.array([0.005, 0.01, 0.02, 0.04, 0.08])
fig = Figure(figsize=(9.0, 3.4), layout="constrained")
left, right = fig.subplots(1, 2)
for method in ("GAUSS8", "RKMK4", "MIDPOINT", "TREE_VARIATIONAL"):
    runs = [integrate(problem, method, (0, 5), step=h) for h in steps]
    left.loglog(
        steps, [max(np.ptp(run["energy"]), 1e-16) if run.t[-1] >= 5 else np.nan for run in runs], "o-", label=method
    )
    if method == "GAUSS8":
        for h, run in zip(steps, runs, strict=True):
            right.semilogx(h / 2.0 ** np.arange(len(run.levels)), run.levels, "o-", ms=4, label=f"h = {h:g} s")
left.set(xlabel="step [s]", title="range of the energy in 5 s [J]")
left.legend()
right.set(xlabel="size of the substep [s]", title="substeps of GAUSS8")
right.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
