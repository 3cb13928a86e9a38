"""A crane carries its load 4 m in 3 s and stops without a swing, with the least force: optimal control by exact
derivatives.

`linearised_step` gives one variational step and its derivatives by state and control.  Chained, they are the
derivatives of the last state by all controls, exact for the discrete motion: Newton's method for the controls of least
norm takes a few iterations.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators.step_derivatives.linearised import linearised_step
from mechanics import Body, Inertia, Tree
from mechanics.joints import Prismatic, Revolute

tree = Tree(
    [
        Body("trolley", Prismatic((1, 0, 0)), inertia=Inertia.about_com(1.0, (0, 0, 0), 0.01 * np.eye(3))),
        Body("load", Revolute((0, 1, 0)), "trolley", inertia=Inertia.about_com(2.0, (0, 0, -1.5), 0.01 * np.eye(3))),
    ],
    gravity=(0, 0, -9.81),
)
problem = mechanics.hamiltonian_problem(tree, [0.0, 0.0])  # q = (trolley, rope), hanging at rest
STEPS, H, TARGET = 120, 0.025, np.array([4.0, 0.0, 0.0, 0.0])  # (q, p): 4 m further, hanging at rest


def motion(u):
    """The states (STEPS + 1, 4), and ∂(last state)/∂u (4, STEPS)."""
    states, steps = [problem.y0], []
    for force in u:
        steps.append(linearised_step(problem, "TREE_VARIATIONAL", states[-1], H, [force], controls=[0]))
        states.append(steps[-1].y)
    by_u, onward = np.empty((4, STEPS)), np.eye(4)
    for k in reversed(range(STEPS)):
        by_u[:, k] = onward @ steps[k].B[:, 0]
        onward = onward @ steps[k].A
    return np.array(states), by_u


u = np.zeros(STEPS)
for iteration in range(20):
    path, by_u = motion(u)
    miss = path[-1] - TARGET
    print(f"iteration {iteration}: misses by {np.abs(miss).max():.1e}")
    if np.abs(miss).max() < 1e-10:
        break
    u = np.linalg.lstsq(by_u, by_u @ u - miss)[0]  # the least u with miss + ∂miss/∂u (u − u₀) = 0
assert np.abs(miss).max() < 1e-10

t = H * np.arange(STEPS + 1)
fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
ax.plot(t, path[:, 0], label="trolley [m]")
ax.plot(t, path[:, 1], label="rope [rad]")
ax.step(t[:-1], u / 10, where="post", label="force [10 N]")
ax.set(xlabel="t [s]", title="from rest to rest in 3 s")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
