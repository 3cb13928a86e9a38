"""A rod flies and bends: Simo and Vu-Quoc's flying spaghetti, twenty elements between poses in SE(3).

An explicit splitting moves it with the exact motion of free rigid sections between kicks of the elements: once the load
has ended, the momenta stay to rounding and the energy in a band.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics.elastic.rods import step_limit
from mechanics.systems.elastic.flying_spaghetti import flying_rod

rod = flying_rod(20)
limit = step_limit(rod)
print(f"explicit steps below {limit.step:.4f} s, set by the {limit.cause} of element {limit.element}")

solution = integrate(rod.problem(), "SPLIT_STRANG", (0.0, 30.0), 0.002, save_every=25)
free = solution.t > 5.001
energy = solution["energy"]
momentum = np.stack([solution[f"momentum_{a}"] for a in "xyz"], axis=1)
turning = np.stack([solution[f"angular_momentum_{a}"] for a in "xyz"], axis=1)
print(f"linear momentum after the load: {momentum[-1].round(10) + 0.0}")
print(f"angular momentum: {turning[-1].round(4) + 0.0}, changes by {np.ptp(turning[free], axis=0).max():.1e}")
print(f"energy: {energy[-1]:.3f} J, band {np.ptp(energy[free]):.1e} J")
assert np.abs(momentum[free] - [50.0, 0.0, 0.0]).max() < 1e-11
assert np.ptp(turning[free], axis=0).max() < 1e-10
assert np.ptp(energy[free]) < 2e-3

fig = Figure(figsize=(8.0, 3.0), layout="constrained")
left, right = fig.subplots(1, 2, width_ratios=(2.2, 1.0))
poses = rod.node_poses(solution.t, solution.y)
for k in range(0, 181, 8):
    left.plot(poses[k, :, 0], poses[k, :, 1], color=f"C{0 if free[k] else 1}", lw=1.4, alpha=0.3 + 0.7 * k / 180)
left.set(xlabel="x [m]", ylabel="y [m]", title="every 0.4 s until 9 s (orange: under load)", aspect="equal")
right.plot(solution.t[free], energy[free] - energy[-1], lw=0.8)
right.set(xlabel="t [s]", ylabel="E − E(30 s) [J]", title="energy after the load")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
