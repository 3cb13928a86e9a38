"""A mobile manipulator: an arm of three joints on a cart with two driven wheels and a smooth caster; 8 velocities, 3
rows.

The cart moves in the plane (its height is guaranteed by the joint), the wheels roll without slipping, one of them holds
sideways, the caster is left out.  Shoulder about z, two elbows about y.  Axes x forward, y left, z up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanics.constraints.wheels import GROUND, wheel
from mechanics.joints import Revolute
from mechanics.joints.planar import Planar
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.checks import check_fields, positive

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class MobileManipulator:
    """Masses in kg, lengths in m."""

    cart_mass: float = 30.0
    wheel_mass: float = 2.0
    link_mass: float = 3.0
    half_track: float = 0.25
    radius: float = 0.1
    link: float = 0.4
    ahead: float = 0.15
    """Of the cart's centre of mass before the axle."""
    gravity: float = 9.81

    def __post_init__(self) -> None:
        check_fields(self)
        positive(
            cart_mass=self.cart_mass, wheel_mass=self.wheel_mass, link_mass=self.link_mass, half_track=self.half_track,
            radius=self.radius, link=self.link,
        )  # fmt: skip


def mechanism(p: MobileManipulator = MobileManipulator()) -> Mechanism:
    """The cart in the origin, the arm stretched forward; the cart's origin is the middle of its axle."""
    cart = Inertia.about_com(p.cart_mass, (p.ahead, 0.0, 0.1), p.cart_mass * np.diag([0.03, 0.04, 0.06]))
    axial = 0.5 * p.wheel_mass * p.radius**2
    rolling = Inertia.about_com(p.wheel_mass, (0.0, 0.0, 0.0), np.diag([0.5 * axial, axial, 0.5 * axial]))
    half = np.array([0.5 * p.link, 0.0, 0.0])
    rod = Inertia.about_com(p.link_mass, half, p.link_mass * p.link**2 / 12.0 * np.diag([0.02, 1.0, 1.0]))
    turret = Inertia.about_com(p.link_mass, (0.0, 0.0, 0.1), p.link_mass * 0.01 * np.eye(3))
    bodies = [
        Body("cart", Planar(), position=(0.0, 0.0, p.radius), inertia=cart),
        Body("left", Revolute(Y), "cart", (0.0, p.half_track, 0.0), inertia=rolling),
        Body("right", Revolute(Y), "cart", (0.0, -p.half_track, 0.0), inertia=rolling),
        Body("turret", Revolute(Z), "cart", (0.2, 0.0, 0.2), inertia=turret),
        Body("upper arm", Revolute(Y), "turret", (0.0, 0.0, 0.2), inertia=rod),
        Body("forearm", Revolute(Y), "upper arm", (p.link, 0.0, 0.0), inertia=rod),
    ]
    wheels = [
        wheel(Frame.with_axis("left", axis=Y), p.radius, GROUND, rows=("roll", "side"), name="left"),
        wheel(Frame.with_axis("right", axis=Y), p.radius, GROUND, rows=("roll",), name="right"),
    ]
    return Mechanism(Tree(bodies, name="mobile manipulator", gravity=(0.0, 0.0, -p.gravity)), wheels)


def started(p: MobileManipulator = MobileManipulator()) -> Mechanism:
    """The manipulator in a left curve at 0.9 m/s, turret and forearm turning.

    Parameters
    ----------
    p : MobileManipulator
        Its numbers, SI units.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started().mobility.dof
    5
    """
    made = mechanism(p)
    return made.with_start(rates={"left_joint": 8.0, "right_joint": 10.0, "turret_joint": 1.0, "forearm_joint": -1.0})
