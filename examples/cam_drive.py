"""A motor turns a cam through a gear pair, the cam lifts a follower: couplings of joints.

The couplings are equations of a mechanism; the variational step keeps them to rounding.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.constraints.couplings import coupling, gear
from mechanics.joints import Prismatic, Revolute


def wheel(mass, moment):
    return Inertia.about_com(mass, (0, 0, 0), moment * np.eye(3))


tree = Tree(
    [
        Body("motor", Revolute((1, 0, 0)), inertia=wheel(0.5, 1e-3)),
        Body("cam", Revolute((1, 0, 0)), position=(0, 0, 0.1), inertia=wheel(1.0, 0.02)),
        Body("follower", Prismatic((0, 0, 1)), position=(0.1, 0, 0.1), inertia=wheel(0.3, 1e-3)),
    ],
    gravity=(0, 0, -9.81),
)
drive = Mechanism(
    tree,
    [
        gear("cam_joint", "motor_joint", -0.25),
        coupling(["cam_joint", "follower_joint"], lambda turn, lift: lift - 0.02 * (1 - np.cos(turn)), "lift"),
    ],
)
run = integrate(drive.problem(rates={"motor_joint": 40.0}, projection="momenta"), "TREE_VARIATIONAL", (0, 2), step=1e-3)
print(f"couplings off by at most {run.maximum('gap'):.1e}, energy error {run.error('energy'):.1e}")

fig = Figure(figsize=(6.0, 3.6), layout="constrained")
above, below = fig.subplots(2, 1, sharex=True)
above.plot(run.t, 1e3 * run["q"][:, 2])
above.set(title="lift of the follower [mm]")
below.plot(run.t, np.gradient(run["q"][:, 0], run.t))
below.set(xlabel="t [s]", title="rate of the motor [rad/s]")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert run.maximum("gap") < 1e-12
