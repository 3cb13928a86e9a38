"""A car on four wheels with suspended beam axles: 15 velocities of a tree, 12 rows, 5 degrees of freedom.

Chassis on a free joint; the rear axle heaves and rolls on springs and dampers, the front axle steers about its middle,
heaves and rolls; four wheels turn on the axles and roll on the plane z = 0.  Both wheels of an axle resist sideways:
two of the twelve rows are redundant.  Axes x forward, y left, z up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanics.constraints.wheels import wheel
from mechanics.forces import joint_spring
from mechanics.joints import Prismatic, Revolute
from mechanics.joints.free import Free
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.checks import check_fields, finite, positive

Array = NDArray[np.float64]
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class WheeledCar:
    """Masses (kg), lengths (m), springs per axle: heave (N/m, N·s/m), roll (N·m/rad, N·m·s/rad); a spring that holds
    the steering.
    """

    chassis_mass: float = 1200.0
    axle_mass: float = 60.0
    wheel_mass: float = 20.0
    wheelbase: float = 2.6
    half_track: float = 0.75
    radius: float = 0.3
    height: float = 0.5
    """Of the chassis' centre of mass, loaded."""
    heave_stiffness: float = 5e4
    heave_damping: float = 4e3
    roll_stiffness: float = 3e4
    roll_damping: float = 2e3
    steering_stiffness: float = 0.0
    steering_damping: float = 0.0
    gravity: float = 9.81

    def __post_init__(self) -> None:
        check_fields(self)
        positive(
            chassis_mass=self.chassis_mass, axle_mass=self.axle_mass, wheel_mass=self.wheel_mass,
            wheelbase=self.wheelbase,
            half_track=self.half_track, radius=self.radius, height=self.height,
        )  # fmt: skip


def mechanism(p: WheeledCar = WheeledCar()) -> Mechanism:
    """The car at rest on its springs, in the origin, heading along x."""
    box = p.chassis_mass / 12.0 * np.diag([1.6**2 + 1.2**2, 4.0**2 + 1.2**2, 4.0**2 + 1.6**2])
    beam = Inertia.about_com(
        p.axle_mass, (0.0, 0.0, 0.0), p.axle_mass / 3.0 * p.half_track**2 * np.diag([1.0, 0.05, 1.0])
    )
    axial = 0.5 * p.wheel_mass * p.radius**2
    rolling = Inertia.about_com(p.wheel_mass, (0.0, 0.0, 0.0), np.diag([0.6 * axial, axial, 0.6 * axial]))
    bodies = [Body("chassis", Free(), inertia=Inertia.about_com(p.chassis_mass, (0.0, 0.0, 0.0), box))]
    elements, wheels = [], []
    for axle, x in (("rear", -0.5), ("front", 0.5)):
        load = 0.5 * p.chassis_mass
        parent, place = "chassis", (x * p.wheelbase, 0.0, p.radius - p.height)
        if axle == "front":
            bodies.append(Body("steering", Revolute(Z), parent, place, inertia=_small(p)))
            parent, place = "steering", (0.0, 0.0, 0.0)
            load += bodies[-1].inertia.mass
            elements.append(joint_spring("steering_joint", p.steering_stiffness, rest=0.0, damping=p.steering_damping))
        bodies.append(Body(f"{axle} strut", Prismatic(Z), parent, place, inertia=_small(p)))
        bodies.append(Body(f"{axle} axle", Revolute(X), f"{axle} strut", inertia=beam))
        elements.append(
            joint_spring(
                f"{axle} strut_joint",
                p.heave_stiffness,
                rest=-load * p.gravity / p.heave_stiffness,
                damping=p.heave_damping,
            )
        )
        elements.append(joint_spring(f"{axle} axle_joint", p.roll_stiffness, rest=0.0, damping=p.roll_damping))
        for side, y in (("left", 1.0), ("right", -1.0)):
            name = f"{axle} {side}"
            bodies.append(Body(name, Revolute(Y), f"{axle} axle", (0.0, y * p.half_track, 0.0), inertia=rolling))
            wheels.append(wheel(Frame.with_axis(name, axis=Y), p.radius, name=name))
    tree = Tree(bodies, name="wheeled car", gravity=(0.0, 0.0, -p.gravity))
    home = tree.neutral()
    home[2] = p.height
    return Mechanism(tree, wheels, home, elements)


def _small(p: WheeledCar) -> Inertia:
    """Of a strut."""
    return Inertia.about_com(0.1 * p.axle_mass, (0.0, 0.0, 0.0), 0.01 * p.axle_mass * np.eye(3))


def start(
    made: Mechanism, speed: float = 8.0, steering: float = 0.15, steering_rate: float = 0.0
) -> tuple[Array, Array]:
    """(q, v) of the car with its front axle turned by `steering` (rad), at a forward speed, its springs at rest."""
    q = made.home.copy()
    q[made.tree.q_slice("steering_joint")] = steering
    still = dict.fromkeys(("rear strut_joint", "rear axle_joint", "front strut_joint"), 0.0)
    rates = {"rear left_joint": 0.0, "steering_joint": steering_rate, **still}
    turning = made.velocities(q, {**rates, "rear left_joint": 1.0}).v
    forward = float(turning[made.tree.v_slice("chassis_joint")][0])
    return q, made.velocities(q, {**rates, "rear left_joint": speed / forward}).v


def started(p: WheeledCar = WheeledCar(), speed: float = 8.0, steering: float = 0.15) -> Mechanism:
    """The car in a curve.

    Parameters
    ----------
    p : WheeledCar
        Its numbers, SI units.
    speed : float
        m/s.
    steering : float
        Turn of the front axle, rad.

    Returns
    -------
    Mechanism
        At its start.

    Raises
    ------
    ValueError, TypeError
        Numbers that are not finite.

    Examples
    --------
    >>> started().mobility.dof
    5
    """
    finite(speed=speed, steering=steering)
    made = mechanism(p)
    return made.with_start(*start(made, speed, steering))
