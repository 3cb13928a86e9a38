"""Your `solve_ivp` code, another method: the attitude of a tumbling body stays a rotation.

The right-hand side and the call are SciPy's; only ``method=`` changes.  SciPy's own solver leaves the unit quaternions,
and with them the rotations; ours cannot.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

from integrators.adapters.scipy import LieRK45

inertia = np.array([1.0, 2.0, 3.0])


def tumble(t, y):
    """A free rigid body: unit quaternion (w, x, y, z), angular velocity in body axes."""
    (s, *u), w = y[:4], y[4:]
    turning = 0.5 * np.array([-np.dot(u, w), *(s * w + np.cross(u, w))])
    return np.concatenate([turning, np.cross(inertia * w, w) / inertia])


fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
for name, method in (("RK45 of SciPy", "RK45"), ("LieRK45", LieRK45(groups=["SO3", 3]))):
    found = solve_ivp(tumble, (0, 50), [1, 0, 0, 0, 0.1, 2.0, 0.3], method=method, rtol=1e-6, atol=1e-6)
    off = np.abs(np.linalg.norm(found.y[:4], axis=0) - 1)
    print(f"{name}: {len(found.t)} steps, norm of the quaternion off by {off.max():.1e}")
    ax.semilogy(found.t, np.maximum(off, 1e-17), label=name)
ax.set(xlabel="t [s]", title="| |quaternion| − 1 |")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert off.max() < 1e-14
