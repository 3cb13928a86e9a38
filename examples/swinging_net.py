"""A net with a stiff rope along its hem falls and swings from two corners; every spring has a step of its own.

The rope asks for steps eight times shorter than the net does, and alone takes them.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics.elastic import Network, Springs

n = 13
grid = np.arange(n * n).reshape(n, n)  # rows go down
across, down = np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, n))
points = np.stack([across, down, 0.0 * across], axis=-1).reshape(-1, 3)  # it starts flat, held at one edge's corners


def pairs(first, second):
    return np.stack([first.ravel(), second.ravel()], axis=1)


threads = np.concatenate([pairs(grid[:-1, :-1], grid[:-1, 1:]), pairs(grid[:-1], grid[1:])])
hem = pairs(grid[-1, :-1], grid[-1, 1:])
net = Network(points, 0.002, [Springs(threads, 60.0), Springs(hem, 15000.0)], fixed=[0, n - 1], name="net")
print(net.steps())

run = integrate(net.problem(), "AVI", (0.0, 6.0), net.step(), save_every=10)
energy = run["energy"]
print(f"energy: within {np.ptp(energy):.1e} J of {energy[0]:.3g} J")

fig = Figure(figsize=(9.0, 3.6), layout="constrained")
left, right = fig.add_subplot(1, 2, 1, projection="3d"), fig.add_subplot(1, 2, 2)
for shade, t in ((0.25, 0.0), (0.5, 0.3), (1.0, 0.7)):
    places = run.y[np.argmin(np.abs(run.t - t))][: 3 * n * n].reshape(-1, 3)
    for joined, color in ((threads, "tab:blue"), (hem, "tab:orange")):
        for a, b in joined:
            left.plot(*places[[a, b]].T, color=color, lw=0.7, alpha=shade)
left.set(title="at 0, 0.3 and 0.7 s (orange: the rope)", xlabel="x [m]", ylabel="y [m]", zticks=[0.0, -0.5, -1.0])
left.set_box_aspect((1, 1, 1))
right.plot(run.t, energy - energy[0], lw=0.6)
right.set(title="energy", xlabel="t [s]", ylabel="E − E(0) [J]")
right.grid(alpha=0.3)
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
