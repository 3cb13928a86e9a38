"""A skate on an inclined plane never runs down: it drifts sideways in loops.  Constraints as plain functions.

Kinetic energy, potential and the row of the constraint are written once; equations in quasi-velocities and exact
derivatives come from them.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from liegroup import rn
from mechanics.nonholonomic import nonholonomic_system


def kinetic(q, v):
    return 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.5 * v[2] ** 2


def blade(q):
    """No velocity across the blade."""
    return [[np.sin(q[2]), -np.cos(q[2]), 0.0]]


fig = Figure(figsize=(7.0, 2.4), layout="constrained")
ax = fig.subplots()
for rate in (0.7, 1.0, 1.5):
    skate = nonholonomic_system(
        rn(3), kinetic, blade, q0=[0.0, 0.0, 0.0], v0=[0.3, 0.0, rate], potential=lambda q: -0.5 * q[0]
    )
    run = integrate(skate.problem(), "RKMK4", (0, 20), step=0.02)
    print(f"{rate} rad/s: energy error {run.error('energy'):.1e}")
    ax.plot(run.y[:, 1], -run.y[:, 0], lw=0.8, label=f"{rate} rad/s")
ax.set(xlabel="across the slope [m]", ylabel="uphill [m]", title="skate on an incline", aspect="equal")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
