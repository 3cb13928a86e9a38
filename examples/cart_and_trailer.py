"""A cart on two wheels pulls a trailer: rolling without slipping, and why one does not drive backwards.

Two wheels and a skate are constraints of one mechanism.  Rolled forwards the trailer follows; rolled backwards the
smallest angle at the hitch grows until the trailer has turned round.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.constraints.wheels import skate, wheel
from mechanics.joints import Planar, Revolute

Y, RADIUS = (0.0, 1.0, 0.0), 0.1
disk = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.0025, 0.005, 0.0025]))
cart = Inertia.about_com(12.0, (0.1, 0, 0), 0.3 * np.eye(3))
trailer = Inertia.about_com(8.0, (-0.5, 0, 0), 0.2 * np.eye(3))
tree = Tree(
    [
        Body("cart", Planar(), position=(0, 0, RADIUS), inertia=cart),
        Body("left", Revolute(Y), "cart", (0, 0.2, 0), inertia=disk),
        Body("right", Revolute(Y), "cart", (0, -0.2, 0), inertia=disk),
        Body("trailer", Revolute((0, 0, 1)), "cart", (-0.3, 0, 0), inertia=trailer),
    ]
)
contacts = [
    wheel(Frame.with_axis("left", axis=Y), RADIUS, rows=("roll", "side"), name="left"),
    wheel(Frame.with_axis("right", axis=Y), RADIUS, rows=("roll",), name="right"),
    skate(Frame.with_axis("trailer", (-0.6, 0, 0), Y), name="trailer"),
]
train = Mechanism(tree, contacts)

fig = Figure(figsize=(9.0, 3.2), layout="constrained")
axes = fig.subplots(1, 2)
for sign, way in ((1, "forwards"), (-1, "backwards")):
    q = tree.neutral()
    q[tree.q_slice("trailer_joint")] = 0.05
    start = {"left_joint": sign * 10.0, "right_joint": sign * 10.0}
    run = integrate(train.problem(q, rates=start, projection="momenta"), "TREE_VARIATIONAL", (0, 6), step=5e-3)
    print(f"{way}: slip {run.maximum('gap'):.1e}, energy error {run.error('energy'):.1e}")
    axes[0].plot(*run["q"][:, :2].T, label=way)
    axes[1].plot(run.t, run["q"][:, tree.q_slice("trailer_joint")], label=way)
axes[0].set(xlabel="x [m]", ylabel="y [m]", title="path of the axle", aspect="equal")
axes[1].set(xlabel="t [s]", title="angle at the hitch [rad]")
axes[1].legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
