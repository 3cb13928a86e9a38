"""An arm of six joints leads its tool along a circle, upright, by computed torques in the space of the tool.

Every millisecond the controller asks for the pose, the twist, the Jacobian and the drift of one frame, and for the
joint forces of the accelerations it wants: five calls of some microseconds.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics

arm = mechanics.load_model("ur5")
TOOL, H, STEPS = "tool0", 1e-3, 4000
CENTRE, RADIUS, RATE = np.array([0.45, 0.15, 0.45]), 0.15, 2 * np.pi / 2.0
STIFFNESS, DAMPING = 100.0, 20.0  # 1/s², 1/s: critically damped
work, still = arm.workspace(), np.zeros(arm.nv)


def wanted(t):
    """Position, velocity and acceleration of the tool: a circle in a vertical plane."""
    c, s = RADIUS * np.cos(RATE * t), RADIUS * np.sin(RATE * t)
    return CENTRE + np.array([0, c, s]), RATE * np.array([0, -s, c]), RATE**2 * np.array([0, -c, -s])


def torque(t, q, v):
    """τ = M a + b with a = J⁻¹(what the tool should do − J̇ v)."""
    x, R = mechanics.frame_pose(work, q, TOOL)
    twist = mechanics.frame_twist(work, q, v, TOOL, axes="world")
    J = mechanics.frame_jacobian(work, q, TOOL, axes="world")
    drift = mechanics.frame_acceleration(work, q, v, still, TOOL, axes="world")
    goal, velocity, acceleration = wanted(t)
    turned = 0.5 * np.cross(R.T, UPRIGHT.T).sum(axis=0)  # where the tool still has to turn
    linear = acceleration + DAMPING * (velocity - twist[:3]) + STIFFNESS * (goal - x)
    angular = STIFFNESS * turned - DAMPING * twist[3:]
    a = np.linalg.solve(J, np.concatenate([linear, angular]) - drift)
    return mechanics.inverse_dynamics(work, q, v, a)


q, v = np.array([0.0, -1.3, 1.6, -0.3, 1.6, 0.0]), np.zeros(arm.nv)
UPRIGHT = mechanics.frame_pose(arm, q, TOOL)[1]
path, errors, torques = [], [], []
for k in range(STEPS):
    t = k * H
    path.append(mechanics.frame_pose(work, q, TOOL)[0])
    errors.append(np.linalg.norm(path[-1] - wanted(t)[0]))
    torques.append(torque(t, q, v))
    v = v + H * mechanics.forward_dynamics(work, q, v, torques[-1])  # the torque is held over the step
    q = q + H * v
print(f"error of the tool after 1 s: {1e3 * max(errors[1000:]):.2f} mm; largest torque {np.abs(torques).max():.0f} N m")
assert max(errors[2000:]) < 1e-3

time = H * np.arange(STEPS)
fig = Figure(figsize=(9.0, 4.2), layout="constrained")
grid = fig.add_gridspec(2, 2, width_ratios=[1.1, 1.0])
arm.draw(q, fig.add_subplot(grid[:, 0]), frames=[TOOL], paths=[np.array(path)])
ax = fig.add_subplot(grid[0, 1])
ax.semilogy(time, 1e3 * np.array(errors))
ax.set(ylabel="error [mm]", title="the tool finds its circle and keeps it")
ax = fig.add_subplot(grid[1, 1], sharex=ax)
ax.plot(time, torques)
ax.set(xlabel="t [s]", ylabel="torques [N m]")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
