"""Your MuJoCo model, another integrator: a chain of balls swings for 200 s by MuJoCo's RK4 and by the variational step.

The tree is made of the model in memory.  States go back to MuJoCo by the names of joints, for its viewer and sensors.
"""

from pathlib import Path

import mujoco
import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate

XML = """
<mujoco>
  <option integrator="RK4" timestep="0.005"/>
  <default><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.2" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0 0 1"><joint type="ball"/><geom/>
      <body pos="0 0 -0.3"><joint type="ball"/><geom/>
        <body pos="0 0 -0.3"><joint type="ball"/><geom/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

model = mujoco.MjModel.from_xml_string(XML)
tree, states = mechanics.from_mujoco(model)
q, v = tree.neutral(), np.zeros(tree.nv)
v[:3], v[4] = (3.0, 2.0, 5.0), 4.0
run = integrate(mechanics.hamiltonian_problem(tree, q, v), "TREE_VARIATIONAL", (0, 200), step=0.005)

data = mujoco.MjData(model)
data.qpos[:], data.qvel[:] = states.theirs(q, v)
energies = []
model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
for _ in range(run.steps):
    mujoco.mj_step(model, data)
    energies.append(data.energy.sum())

data.qpos[:] = run.as_mujoco(model)[0][-1]  # our last configuration, in MuJoCo
mujoco.mj_forward(model, data)
print(
    f"the tip ends at {data.body(model.nbody - 1).xpos.round(3)}; relative error of our energy "
    f"{run.error('energy'):.1e}"
)

fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
ax.plot(0.005 * np.arange(1, run.steps + 1), np.array(energies) - energies[0], lw=0.8, label="MuJoCo, RK4")
ax.plot(run.t, run["energy"] - run["energy"][0], lw=0.8, label="liemech, TREE_VARIATIONAL")
ax.set(xlabel="t [s]", title="change of the energy [J], h = 5 ms")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
