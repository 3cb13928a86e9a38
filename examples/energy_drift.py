"""How far does the energy of a freely swinging arm go?  Three methods, one robot, 20 s.

The short form of the study `energy-drift`: symplectic methods keep a band, Runge-Kutta methods lose energy steadily,
GAUSS8 keeps it to rounding with a step twenty times as long.
"""

from pathlib import Path

import numpy as np

import mechanics
from integrators import integrate
from integrators.analysis.figures import invariant_figure

arm = mechanics.load_model("ur5", damping=False)
problem = mechanics.hamiltonian_problem(arm, [0.0, -1.0, 1.0, 0.5, 0.3, 0.0])
runs = [
    integrate(problem, method, (0, 20), step=step)
    for method, step in (("RKMK4", 4e-3), ("TREE_VARIATIONAL", 4e-3), ("GAUSS8", 2e-2))
]
for run in runs:
    change = np.ptp(run["energy"])
    print(f"{run.method}: {1e6 * run.seconds / 20:.0f} µs per second of motion, energy changes by {change:.1e} J")
invariant_figure(runs, "energy").savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert change < 1e-10
