"""Your Pinocchio code, another integrator: UR5 swings freely for 20 s, Pinocchio says where its tool is.

One tree is both: states and Jacobians go between the two by name.
"""

from pathlib import Path

import numpy as np
import pinocchio
from matplotlib.figure import Figure

import mechanics
from integrators import integrate
from mechanics import to_pinocchio

tree = mechanics.load_model("ur5", damping=False)
other = to_pinocchio(tree)
data = other.model.createData()

rng = np.random.default_rng(3)
q, v, tau = tree.random_configuration(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
theirs = pinocchio.aba(other.model, data, other.configuration(q), other.velocity(v), other.velocity(tau))
print(
    "accelerations differ by "
    f"{np.abs(other.tree_velocity(theirs) - mechanics.forward_dynamics(tree, q, v, tau)).max():.1e}"
)

run = integrate(mechanics.hamiltonian_problem(tree, q, v), "TREE_VARIATIONAL", (0, 20), step=1e-3, save_every=10)
tool = other.model.getFrameId(tree.bodies[-1].name)
path = []
for state in run["q"]:
    pinocchio.framesForwardKinematics(other.model, data, other.configuration(state))
    path.append(data.oMf[tool].translation.copy())
path = np.array(path)

fig = Figure(figsize=(4.2, 4.0), layout="constrained")
ax = fig.subplots()
ax.plot(path[:, 0], path[:, 2], lw=0.4)
ax.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title=f"tool of {tree.name}, {run.t[-1]:g} s")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
print(f"relative error of the energy {run.error('energy'):.1e}")
