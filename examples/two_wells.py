"""A system of your own from a plain function: Duffing's oscillator, pushed, seen once per period of the push.

A jitted function f(t, y) is a problem.  Sixteen starts are followed; their states at multiples of the
period are a strange attractor.
"""

from pathlib import Path

import numba
import numpy as np
from matplotlib.figure import Figure

from integrators import Problem, integrate
from liegroup import rn


@numba.njit
def duffing(t, y):
    """q'' = q − q³ − 0.25 q' + 0.3 cos t."""
    return y[1], y[0] - y[0] ** 3 - 0.25 * y[1] + 0.3 * np.cos(t)


problem = Problem(rn(2), [0.1, 0.0], duffing)
period, rng = 2 * np.pi, np.random.default_rng(0)
points = []
for start in rng.uniform(-1, 1, (16, 2)):
    run = integrate(problem, "RKMK4", (0, 300 * period), step=period / 100, y0=start, save_every=100)
    points.append(run.y[20:])
points = np.concatenate(points)
print(f"{len(points)} points, within q = {points[:, 0].min():.2f} … {points[:, 0].max():.2f}")

fig = Figure(figsize=(5.0, 3.8), layout="constrained")
ax = fig.subplots()
ax.plot(*points.T, ".", ms=0.8)
ax.set(xlabel="q", ylabel="q'", title="pushed Duffing oscillator, once per period")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
