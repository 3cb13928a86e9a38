"""A leg of Jansen's Strandbeest: three closed loops, one crank, and the path of its foot.

The mechanism is a tree and the pins that close it.  Its foot is nearly straight while it carries.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate
from mechanics.systems.loops import strandbeest_leg

leg = strandbeest_leg.mechanism()
print(leg.mobility.report())
run = integrate(leg.problem(rates={leg.tree.joint_names[0]: 3.0}), "TREE_VARIATIONAL", (0, 4), step=2e-3)
positions, _ = mechanics.body_poses(leg.tree, run["q"])
print(f"loops open by at most {run.maximum('gap'):.1e} m")

fig = Figure(figsize=(5.0, 4.2), layout="constrained")
ax = fig.subplots()
for k, body in enumerate(leg.tree.bodies):
    path = positions[:, k]
    if np.ptp(path, axis=0).max() > 1e-6:
        ax.plot(path[:, 0], path[:, 1], lw=0.8, label=body.name)
ax.plot(*strandbeest_leg.foot(run["q"]).T, "k", lw=2.0, label="foot")
ax.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="paths of the joints of a leg, and of its foot")
ax.legend(fontsize=6)
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert run.maximum("gap") < 1e-12
