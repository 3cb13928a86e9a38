"""A Lagrangian written in SymPy, integrated by a variational method: a bead on a turning hoop.

The expression is compiled, with exact derivatives.  Above ω² = g/r the lowest point of the hoop is no longer stable:
the phase portrait has two wells.
"""

from pathlib import Path

import numpy as np
import sympy
from matplotlib.figure import Figure

from integrators import integrate
from integrators.adapters.sympy import function_of
from integrators.problem.lagrangian import lagrangian_problem

q, v, g, omega = sympy.symbols("q v g omega")  # hoop of 1 m, bead of 1 kg, q from the lowest point
L = v**2 / 2 + omega**2 * sympy.sin(q) ** 2 / 2 + g * sympy.cos(q)
problem = lagrangian_problem(function_of(L, [q], [v], [g, omega]), [0.0], parameters=[9.81, 5.0])

starts = np.array([[0.05, 0.0], [0.4, 0.0], [0.8, 0.0], [-0.4, 0.0], [-0.8, 0.0], [1.9, 0.0], [2.4, 0.0]])
runs = integrate(problem, "DEL_GAUSS2", (0.0, 20.0), step=0.02, y0=starts)
print(f"largest energy error {np.max(runs.error('energy')):.1e}")

fig = Figure(figsize=(5.0, 4.0), layout="constrained")
ax = fig.subplots()
for angle, momentum in runs.y.transpose(1, 2, 0) if runs.y.shape[1] == len(starts) else runs.y.transpose(0, 2, 1):
    ax.plot(angle, momentum, lw=0.8)
ax.set(xlabel="angle [rad]", ylabel="momentum", title="bead on a hoop, ω² r = 2.5 g")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert np.max(runs.error("energy")) < 1e-5
