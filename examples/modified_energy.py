"""Drift or oscillation?  The modified energy of a symplectic run is constant where the energy oscillates.

A slope of the energy can hide below its oscillation for a long time.  The modified energy leaves no room for it.
"""

from pathlib import Path

import mechanics
from integrators import integrate
from integrators.analysis.figures import modified_energy_figure

tree = mechanics.load_model("double_pendulum", damping=False)
problem = mechanics.hamiltonian_problem(tree, [2.0, 1.0])
run = integrate(problem, "TREE_VARIATIONAL", (0, 5), step=0.002, save_every=1)
modified_energy_figure(problem, run, orders=(4, 8, 12)).savefig(Path(__file__).with_suffix(".png"), dpi=110)
