"""An arm of six joints draws a figure of eight on servos: spring and damper at every joint, whose targets are samples.

The path of the tool becomes joint angles by Newton's iteration with the Jacobian of its frame.  A servo on held targets
sags under the weight of the arm and lags by the time damping/stiffness.  No stiffness limits the step.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import Sampled, integrate
from mechanics import Mechanism
from mechanics.forces import servo

arm = mechanics.load_model("ur5")
TOOL, PERIOD, H = "tool0", 4.0, 2e-3
times = np.linspace(0.0, PERIOD, 401)
phase = 2 * np.pi * times / PERIOD
start = np.array([0.0, -1.3, 1.6, -0.3, 1.6, 0.0])
centre, upright = mechanics.frame_pose(arm, start, TOOL)
eight = centre + np.stack([0 * phase, 0.2 * np.sin(phase), 0.1 * np.sin(2 * phase)], axis=1)


def angles(goal, q):
    """Joint angles that bring the tool there, upright: Newton's iteration from angles nearby."""
    for _ in range(20):
        x, R = mechanics.frame_pose(arm, q, TOOL)
        turned = 0.5 * np.cross(R.T, upright.T).sum(axis=0)
        q = q + np.linalg.solve(mechanics.frame_jacobian(arm, q, TOOL, axes="world"), [*(goal - x), *turned])
    return q


wanted = [start]
for goal in eight[1:]:
    wanted.append(angles(goal, wanted[-1]))
wanted = np.array(wanted)
found = mechanics.frame_pose(arm, wanted, TOOL)[0]
print(f"the angles lead the tool along the path to {np.abs(eight - found).max():.0e} m")

fig = Figure(figsize=(9.0, 4.0), layout="constrained")
left, right = fig.subplots(1, 2)
left.plot(*(1e3 * eight[:, 1:].T), "k--", lw=0.8, label="wanted")
worst = []
for k, c in ((2.5e3, 50.0), (1e4, 100.0)):
    servos = [servo(name, stiffness=k, damping=c) for name in arm.joint_names]
    driven = (
        Mechanism(arm, elements=servos)
        .problem(start)
        .with_inputs({f"{name}.target": Sampled(times, wanted[:, j]) for j, name in enumerate(arm.joint_names)})
    )
    run = integrate(driven, "TREE_VARIATIONAL", (0.0, PERIOD), step=H, save_every=5)
    assert run.success
    tool = mechanics.frame_pose(arm, run["q"], TOOL)[0]
    error = np.linalg.norm(tool - [[np.interp(t, times, x) for x in eight.T] for t in run.t], axis=1)
    worst.append(error[50:].max())
    print(f"{k:.0f} N·m/rad, {c:.0f} N·m·s/rad: the tool is off by at most {1e3 * worst[-1]:.1f} mm after 0.5 s")
    left.plot(1e3 * tool[:, 1], 1e3 * tool[:, 2], lw=0.9, label=f"{k:.0f} N·m/rad")
    right.semilogy(run.t[1:], 1e3 * error[1:], lw=0.9, label=f"{k:.0f} N·m/rad")
left.set(xlabel="y [mm]", ylabel="z [mm]", aspect="equal", title="the tool draws an eight")
right.set(xlabel="t [s]", ylabel="error [mm]", title=f"TREE_VARIATIONAL, steps of {1e3 * H:g} ms")
left.legend(fontsize=8)
right.legend(fontsize=8)
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert worst[1] < 0.6 * worst[0]
