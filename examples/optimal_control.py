"""A crane and an arm find their own motions: iLQR on exact derivatives of the step.

`stepper.linearised(y, u)` gives the next state with its derivatives by state and inputs.  From the end backwards a
quadratic model of the cost that is left gives a correction and a feedback; forwards the motion is taken anew.  The
crane carries its load 4 m without a swing, the arm swings up from hanging to standing with weak motors.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import stepper
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.forces import motor
from mechanics.joints import Prismatic, Revolute


def ilqr(step, start, goal, steps, state_weight, end_weight, input_weight, u=None, iterations=60):
    """States (steps + 1, n) and inputs (steps, m) that make ½ Σ (|x|²_Q + |u|²_R) h + ½ |x_end|²_S least.

    x = y − goal.
    """
    n, m, h = len(start), len(step.names), step.step
    Q, S, R = h * np.diag(state_weight), np.diag(end_weight), h * np.diag(input_weight)
    u = np.zeros((steps, m)) if u is None else u
    k, K, y = np.zeros((steps, m)), np.zeros((steps, m, n)), None

    def motion(part):
        states, inputs = [start], []
        for i in range(steps):
            feedback = K[i] @ (states[i] - y[i]) if y is not None else 0.0
            inputs.append(u[i] + part * k[i] + feedback)
            states.append(step(states[i], inputs[i]))
        x, v = np.array(states) - goal, np.array(inputs)
        return 0.5 * (np.sum(x[:-1] @ Q * x[:-1]) + np.sum(v @ R * v) + x[-1] @ S @ x[-1]), np.array(states), v

    cost, y, u = motion(0.0)
    for _ in range(iterations):
        V, slope = S, S @ (y[-1] - goal)
        for i in reversed(range(steps)):
            at = step.linearised(y[i], u[i])
            by_u = R @ u[i] + at.B.T @ slope
            H, G = R + at.B.T @ V @ at.B, at.B.T @ V @ at.A
            k[i], K[i] = -np.linalg.solve(H, by_u), -np.linalg.solve(H, G)
            slope = Q @ (y[i] - goal) + at.A.T @ slope + G.T @ k[i]
            V = Q + at.A.T @ V @ at.A + G.T @ K[i]
        for part in 0.5 ** np.arange(12):
            found = motion(part)
            if found[0] < cost:
                break
        else:
            break
        gain, (cost, y, u) = cost - found[0], found
        if gain < 1e-8 * cost:
            break
    return y, u


crane = Tree(
    [
        Body("trolley", Prismatic((1, 0, 0)), inertia=Inertia.about_com(1.0, (0, 0, 0), 0.01 * np.eye(3))),
        Body("load", Revolute((0, 1, 0)), "trolley", inertia=Inertia.about_com(2.0, (0, 0, -1.5), 0.01 * np.eye(3))),
    ],
)
bar = Inertia.about_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
arm = Tree(
    [
        Body("upper", Revolute((0, 1, 0)), inertia=bar),
        Body("lower", Revolute((0, 1, 0)), "upper", (0, 0, -1.0), inertia=bar),
    ],
)

carries = Mechanism(crane, elements=[motor("trolley_joint", name="force")]).problem()
step = stepper(carries, "TREE_VARIATIONAL", 0.025)
path, force = ilqr(step, carries.y0, np.array([4.0, 0, 0, 0]), 120, [1, 10, 0, 0], [1e4] * 4, [0.1])
print(f"crane: misses by {np.abs(path[-1] - [4, 0, 0, 0]).max():.1e}, largest force {np.abs(force).max():.1f} N")
assert np.abs(path[-1] - [4, 0, 0, 0]).max() < 0.02

swings = Mechanism(arm, elements=[motor("upper_joint"), motor("lower_joint")]).problem()
up = np.array([np.pi, 0.0, 0.0, 0.0])
step = stepper(swings, "TREE_VARIATIONAL", 0.02)
push = np.column_stack([np.sin(3.5 * 0.02 * np.arange(200)), np.zeros(200)])
swing, torque = ilqr(step, swings.y0, up, 200, [0.1, 0.1, 0.01, 0.01], [1e3] * 4, [0.05, 0.05], push, 200)
print(f"arm: misses by {np.abs(swing[-1] - up).max():.1e}, largest torque {np.abs(torque).max():.1f} N m")
assert np.abs(swing[-1] - up).max() < 0.05
assert np.abs(torque).max() < 0.4 * 2.0 * 9.81  # what would hold the arm level

fig = Figure(figsize=(9.0, 3.2), layout="constrained")
left, right = fig.subplots(1, 2)
t = 0.025 * np.arange(121)
left.plot(t, path[:, 0], label="trolley [m]")
left.plot(t, path[:, 1], label="rope [rad]")
left.step(t[:-1], force[:, 0] / 10, where="post", label="force [10 N]")
left.set(xlabel="t [s]", title="crane: 4 m, without a swing")
t = 0.02 * np.arange(201)
right.plot(t, swing[:, 0], label="upper [rad]")
right.plot(t, swing[:, 1], label="lower [rad]")
right.step(t[:-1], torque / 10, where="post", label=["torques [10 N m]", None])
right.set(xlabel="t [s]", title="arm: from hanging to standing")
for ax in (left, right):
    ax.legend(fontsize="small")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
