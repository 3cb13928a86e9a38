"""A joint of your own: a wrist whose two axes are not perpendicular, and the part of the sphere that it reaches.

A joint says of which elementary motions it consists.  Kinematics, dynamics and integrators follow.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate
from mechanics import Body, Inertia, Tree
from mechanics.joints import Joint, Turn


@dataclass(frozen=True)
class SkewWrist(Joint):
    """q = two angles in rad: about z, then about an axis in the x-z plane, tilted from z by `tilt`, 0 < tilt < π."""

    tilt: float = math.pi / 4

    @property
    def elements(self):
        return Turn((0.0, 0.0, 1.0)), Turn((math.sin(self.tilt), 0.0, math.cos(self.tilt)))


hand = Inertia.about_com(1.0, (0.3, 0, 0.1), 0.01 * np.eye(3))
wrist = Tree([Body("hand", SkewWrist(1.0), inertia=hand)], gravity=(0, 0, -9.81))
angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (4000, 2))
_, turned = mechanics.body_poses(wrist, angles)
tips = turned[:, 0] @ [0.0, 0.0, 1.0]
run = integrate(mechanics.hamiltonian_problem(wrist, [0.3, 1.0], [1.0, 2.0]), "RKMK4", (0, 10), step=2e-3)
print(f"highest point {tips[:, 2].max():.2f}, lowest {tips[:, 2].min():.2f}; energy error {run.error('energy'):.1e}")

fig = Figure(figsize=(8.0, 3.4), layout="constrained")
left, right = fig.subplots(1, 2)
left.plot(tips[:, 0], tips[:, 2], ".", ms=1)
left.set(aspect="equal", xlabel="x", ylabel="z", title="where the hand's axis can point")
right.plot(run["q"][:, 0], run["q"][:, 1], lw=0.6)
right.set(xlabel="first angle [rad]", ylabel="second angle [rad]", title="swinging freely, 10 s")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
