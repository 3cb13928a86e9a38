"""Energy of a chain by variational methods of order 2, 4 and 6."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate
from mechanics import Body, Inertia, Tree
from mechanics.joints import Revolute

link = Inertia.about_com(1.0, (0, 0, -0.15), np.diag([0.01, 0.01, 0.001]))
names = [None, *(f"link {k}" for k in range(5))]
bodies = [Body(names[k + 1], Revolute((0, 1, 0)), names[k], (0, 0, -0.3 if k else 0), inertia=link) for k in range(5)]
chain = Tree(bodies, "chain", gravity=(0, 0, -9.81))
problem = mechanics.hamiltonian_problem(chain, [1.0, 0.2, -0.1, 0.1, 0.0])
fig = Figure(figsize=(6.0, 3.4), layout="constrained")
ax = fig.subplots()
for method in ("TREE_VARIATIONAL", "TREE_VARIATIONAL_SUZUKI4", "TREE_VARIATIONAL_SOFSPA6"):
    run = integrate(problem, method, (0, 20), step=5e-3)
    ax.semilogy(run.t[1:], np.maximum(np.abs(run["energy"][1:] - run["energy"][0]), 1e-16), lw=0.5, label=method)
ax.set(xlabel="t [s]", title="change of the energy [J], h = 5 ms")
ax.legend(loc="lower right")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
