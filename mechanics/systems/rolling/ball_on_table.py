"""A ball on a table that turns freely: 7 velocities, 3 rows; the plane of the contact is a body of the tree.

The table turns about a vertical axis, its centre of mass need not be on it; the ball's three moments differ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechanics.constraints.wheels import ball
from mechanics.joints import Free, Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.checks import positive

Array = NDArray[np.float64]
HEIGHT = 0.05
"""Of the plane above the joint of the table, m."""


def mechanism(
    mass: float = 1.0,
    radius: float = 0.5,
    moments: tuple[float, float, float] = (0.06, 0.09, 0.13),
    table: float = 2.0,
    gravity: float = 9.81,
) -> Mechanism:
    """The ball (principal moments in kg m²) at rest beside the axis of the table (moment about the axis in kg m²)."""
    positive(mass=mass, radius=radius, table=table)
    plate = Inertia.about_com(1.0, (0.0, 0.0, 0.0), table * np.eye(3))
    bodies = [
        Body("table", Revolute((0.0, 0.0, 1.0)), position=(0.2, 0.0, 0.1), inertia=plate),
        Body("ball", Free(), inertia=Inertia.about_com(mass, (0.0, 0.0, 0.0), np.diag(moments))),
    ]
    tree = Tree(bodies, name="ball on a table", gravity=(0.0, 0.0, -gravity))
    home = tree.neutral()
    home[tree.q_slice("ball_joint")] = [0.7, 0.1, 0.1 + HEIGHT + radius, 0.8, 0.48, 0.36, 0.0]
    return Mechanism(tree, [ball(Frame("ball"), radius, Frame("table", np.array([0.0, 0.0, HEIGHT])))], home)


def start(
    made: Mechanism, turn: float = 1.5, omega: tuple[float, float, float] = (1.0, 2.5, -0.8)
) -> tuple[Array, Array]:
    """(q, v) at home, nearest to the table turning at `turn` and the ball at ω (its axes), rad/s."""
    return made.home, made.projected_velocity(made.home, np.array([turn, 0.2, -0.3, 0.1, *omega]))[0]


def started() -> Mechanism:
    """The ball on its table, from `start`.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started().mobility.dof
    4
    """
    made = mechanism()
    return made.with_start(*start(made))
