"""A free rigid body by RK4 on the numbers of a quaternion and by methods on the group."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import Problem, integrate
from liegroup import product, rn, so3

J = np.array([1.0, 2.0, 3.0])


def rate(t, y):
    """Body velocity and rate of the body momentum."""
    w = y[4:] / J
    return np.concatenate([w, np.cross(y[4:], w)])


def rate_of_numbers(t, y):
    s, x, y_, z, *m = y
    a, b, c = np.asarray(m) / J
    turning = 0.5 * np.array(
        [-x * a - y_ * b - z * c, s * a + y_ * c - z * b, s * b + z * a - x * c, s * c + x * b - y_ * a]
    )
    return np.concatenate([turning, np.cross(m, [a, b, c])])


start = np.array([1.0, 0, 0, 0, 0.1, 4.0, 0.9])
on_group = Problem(product(so3, rn(3)), start, rate, canonical=True)
runs = {"RK4 on numbers": integrate(Problem(rn(7), start, rate_of_numbers), "RKMK4", (0, 50), step=0.1)}
runs |= {method: integrate(on_group, method, (0, 50), step=0.1) for method in ("RKMK4", "CF4", "MIDPOINT")}
fig = Figure(figsize=(9.0, 3.4), layout="constrained")
left, right = fig.subplots(1, 2)
for name, run in runs.items():
    energy = 0.5 * (run.y[:, 4:] ** 2 / J).sum(axis=1)
    left.semilogy(run.t, np.maximum(np.abs(np.linalg.norm(run.y[:, :4], axis=1) - 1), 1e-17), lw=0.8, label=name)
    right.semilogy(run.t[1:], np.maximum(np.abs(energy[1:] / energy[0] - 1), 1e-17), lw=0.8, label=name)
left.set(xlabel="t [s]", title="| |quaternion| − 1 |")
right.set(xlabel="t [s]", title="relative change of the energy")
right.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
