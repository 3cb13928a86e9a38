"""Your Pinocchio code, another integrator: UR5 swings freely for 20 s, Pinocchio says where its tool is.

The tree is made of the model in memory; states go between the two by the names of the joints.
"""

from pathlib import Path

import numpy as np
import pinocchio
from matplotlib.figure import Figure

import mechanics
from integrators import integrate

model = pinocchio.buildModelFromUrdf(str(mechanics.model_path("ur5")))
tree, states = mechanics.from_pinocchio(model, damping=False)
data = model.createData()

rng = np.random.default_rng(3)
q, v, tau = tree.random_configuration(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
their_q, their_v = states.theirs(q, v)
theirs = pinocchio.aba(model, data, their_q, their_v, states.theirs(q, p=tau)[1])
ours = mechanics.forward_dynamics(tree, q, v, tau)
print(f"accelerations differ by {np.abs(states.our_acceleration(their_q, their_v, theirs) - ours).max():.1e}")

run = integrate(mechanics.hamiltonian_problem(tree, q, v), "TREE_VARIATIONAL", (0, 20), step=1e-3, save_every=10)
tool = model.getFrameId(tree.bodies[-1].name)
path = []
for state in run.as_pinocchio(model)[0]:
    pinocchio.framesForwardKinematics(model, data, state)
    path.append(data.oMf[tool].translation.copy())
path = np.array(path)

fig = Figure(figsize=(4.2, 4.0), layout="constrained")
ax = fig.subplots()
ax.plot(path[:, 0], path[:, 2], lw=0.4)
ax.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title=f"tool of {tree.name}, {run.t[-1]:g} s")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
print(f"relative error of the energy {run.error('energy'):.1e}")
