"""A ball without spin bounces on rough ground: force elements of a mechanism, here a contact with friction.

An element says what it stores and what it loses, so that the energy account closes.  Friction turns the ball until it
rolls in the moment of contact.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.forces import Sphere, contact
from mechanics.joints import Planar

RADIUS = 0.1
ball = Body("ball", Planar((1, 0, 0), (0, 0, 1)), inertia=Inertia.about_com(0.5, (0, 0, 0), 2e-3 * np.eye(3)))
ground = contact(
    Sphere(Frame("ball"), RADIUS), Frame(None), stiffness=4e3, damping=2.0, law="kelvin_voigt", friction=0.3
)
court = Mechanism(Tree([ball], gravity=(0, 0, -9.81)), elements=[ground])
run = integrate(court.problem([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]), "TREE_VARIATIONAL", (0, 3), step=5e-4, save_every=4)
print(run.message, f"energy from {run['energy'][0]:.2f} J to {run['energy'][-1]:.2f} J")

fig = Figure(figsize=(9.0, 3.2), layout="constrained")
left, right = fig.subplots(1, 2)
left.plot(run["q"][:, 0], run["q"][:, 1])
left.axhline(RADIUS, color="0.6", lw=0.8, ls=":")
left.set(xlabel="x [m]", ylabel="height [m]", title="path of the centre")
right.plot(run.t, run["energy"], label="energy [J]")
right.plot(run.t, np.gradient(run["q"][:, 2], run.t), label="spin [rad/s]")
right.set(xlabel="t [s]", title="energy and spin")
right.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
