"""Families of periodic motions of the double pendulum, followed from its two modes to large amplitudes.

Released from rest at q, the pendulum comes to rest again after half a period: two equations for two angles and the
half period, one too few.  The exact derivatives of the variational step give the direction in which the solutions go
on, and Newton's method does the rest (continuation by arc length).  Floquet multipliers say which of them are stable.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators.analysis import floquet_multipliers
from integrators.step_derivatives.linearised import linearised_step
from mechanics import Body, Inertia, Tree
from mechanics.joints import Revolute

Y, STEPS, METHOD = (0.0, 1.0, 0.0), 40, "TREE_VARIATIONAL_SUZUKI4"
bob = Inertia.about_com(1.0, (0, 0, -1.0), np.zeros((3, 3)))
tree = Tree([Body("a", Revolute(Y), inertia=bob), Body("b", Revolute(Y), "a", (0, 0, -1.0), inertia=bob)])
problem = tree.problem([0.0, 0.0])


def at_half_period(x):
    """The momenta after the half period x[2] from rest at x[:2], and their derivative by x."""
    y, S, by_step = np.array([x[0], x[1], 0.0, 0.0]), np.eye(4)[:, :2], np.zeros(4)
    for _ in range(STEPS):
        step = linearised_step(problem, METHOD, y, x[2] / STEPS)
        y, S, by_step = step.y, step.A @ S, step.A @ by_step + step.by_step
    return y[2:], np.column_stack([S, by_step / STEPS])[2:]


def corrected(x, ahead):
    """The solution in the plane through x across the direction `ahead`."""
    for _ in range(8):
        p, J = at_half_period(x)
        x = x - np.linalg.solve(np.vstack([J, ahead]), [*p, 0.0])
        if np.abs(p).max() < 1e-11:
            break
    return x


modes = mechanics.modes(tree, np.zeros(2))
fig = Figure(figsize=(5.0, 4.0), layout="constrained")
ax = fig.subplots()
rest = float(mechanics.potential_energy(tree, np.zeros(2)))
for mode, colour in enumerate(("C0", "C1")):
    shape = modes.shapes[:, mode].real
    x = np.array([*(0.05 * shape), np.pi / modes.frequencies[mode]])
    ahead = np.array([*shape, 0.0]) / np.linalg.norm(shape)
    energies, frequencies, stable = [], [], []
    for _ in range(20):
        x = corrected(x, ahead)
        energies.append(float(mechanics.potential_energy(tree, x[:2])) - rest)
        frequencies.append(np.pi / x[2])
        found = floquet_multipliers(problem, METHOD, 2 * x[2], 2 * STEPS, [x[0], x[1], 0.0, 0.0])
        # the motion along itself and to neighbours of the family are twice 1, to the square root of rounding
        stable.append(bool(np.abs(found.multipliers).max() < 1.0 + 1e-3))
        tangent = np.linalg.svd(at_half_period(x)[1])[2][-1]
        ahead = tangent * np.sign(tangent @ ahead)
        x = x + 0.08 * ahead
    print(f"mode {mode + 1}: {frequencies[0]:.4f} rad/s, at {energies[-1]:.2f} J {frequencies[-1]:.4f} rad/s")
    assert abs(frequencies[0] / modes.frequencies[mode] - 1) < 0.01
    energies, frequencies, stable = map(np.array, (energies, frequencies, stable))
    ax.plot(energies, frequencies, "-", color=colour, lw=0.8)
    ax.plot(energies[stable], frequencies[stable], "o", color=colour, ms=4, label=f"mode {mode + 1}, stable")
    if not stable.all():
        ax.plot(energies[~stable], frequencies[~stable], "x", color=colour, ms=5, label=f"mode {mode + 1}, unstable")

ax.set(xlabel="energy above rest [J]", ylabel="frequency [rad/s]", title="periodic motions of the double pendulum")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
