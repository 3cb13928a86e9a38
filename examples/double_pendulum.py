"""The double pendulum from its Lagrangian: a Poincaré section of 32 starts with the same energy.

A plain function of numbers is enough: it is differentiated exactly and compiled.  Each dot is a passage of the first
arm through the vertical, located within its step: closed curves where the motion is regular, clouds where it is
chaotic.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numba import njit

from integrators import integrate
from integrators.events import Event
from integrators.problem.lagrangian import lagrangian_problem


def lagrangian(t, q, v, parameters):
    """Two equal arms of length 1 m with 1 kg at their ends, gravity 1 m/s²; q are the angles from the vertical."""
    kinetic = v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * np.cos(q[0] - q[1])
    return kinetic + 2 * np.cos(q[0]) + np.cos(q[1])


@njit
def vertical(t, y):
    return np.sin(y[0])


ENERGY = -1.5  # J; hanging still is −3
rng = np.random.default_rng(1)
starts = []
while len(starts) < 32:  # the first arm vertical, the rest of the energy in its speed
    angle, speed = rng.uniform(-1.5, 1.5), rng.uniform(-1.5, 1.5)
    a, b, c = 1.0, speed * np.cos(angle), speed**2 / 2 - 2 - np.cos(angle) - ENERGY  # a v₀² + b v₀ + c = 0
    if b * b > 4 * a * c:
        v0 = (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a)
        starts.append([0.0, angle, 2 * v0 + b, speed + v0 * np.cos(angle)])  # (q, p) with p = ∂L/∂v

problem = lagrangian_problem(lagrangian, [0.0, 0.0])
runs = integrate(
    problem, "DEL_GAUSS2", (0.0, 1000.0), step=0.05, y0=np.array(starts), events=Event(vertical, "passage", direction=1)
)
print(f"32 starts, {runs.steps} steps each: largest energy error {np.max(runs.error('energy')):.1e}")

fig = Figure(figsize=(5.0, 4.0), layout="constrained")
ax = fig.subplots()
for events in runs.events:
    y = events["passage"][1]
    ax.plot(np.angle(np.exp(1j * y[:, 1])), y[:, 3], ".", ms=1.5)
ax.set(xlabel="angle of the second arm [rad]", ylabel="its momentum", title=f"first arm vertical, E = {ENERGY} J")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert np.max(runs.error("energy")) < 1e-5
