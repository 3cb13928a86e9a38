"""A point, a sphere or (for planar motion) an arc on a plane: pushed off by a law of its depth, held by friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroup.arrays import of_kind, positive, real
from liegroup.compile import helper
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated
from mechanics.forces.element import Array, Element, OnBodies, not_negative
from mechanics.forces.laws import (
    NO_FRICTION,
    STRIBECK,
    TANH,
    friction_ratio,
    normal_force,
    normal_law,
)
from mechanics.model.frames import Frame

TINY = 1e-150
"""Added to the square of a slip speed: friction at rest is zero whatever its direction."""


@helper
def _velocity(body: Any, arm: Any) -> Any:
    """Velocity of a point of a body, world axes."""
    return add(rotated(body.R, body.v), cross(rotated(body.R, body.w), arm))


@helper
def law(numbers: Any, first: Any, second: Any) -> Any:
    """Force on the sphere at its lowest point; stores U(depth), loses the rest: see `mechanics.forces.laws`."""
    radius, kind, stiffness, damping, friction, static, dynamic, slip_speed = numbers[9:]
    normal = rotated(second.R, numbers[3:6])
    arm_i = subtract(rotated(first.R, numbers[:3]), scale(radius, normal))
    arm_j = subtract(add(first.x, arm_i), second.x)
    d = -dot(normal, subtract(arm_j, rotated(second.R, numbers[6:9])))
    slip = subtract(_velocity(first, arm_i), _velocity(second, arm_j))
    d_dot = -dot(normal, slip)
    N, stored, spring = normal_force(kind, stiffness, damping, d, d_dot)
    slip = add(slip, scale(d_dot, normal))
    force = scale(N, normal)
    if friction != NO_FRICTION:
        speed = sqrt(dot(slip, slip) + TINY)
        ratio = friction_ratio(friction, static, dynamic, slip_speed, speed)
        force = subtract(force, scale(N * ratio / speed, slip))
    return force, arm_i, arm_j, stored, dot(force, slip) + (spring - N) * d_dot


@dataclass(frozen=True, eq=False)
class Contact(OnBodies):
    """A sphere about the origin of the first frame (radius 0: the point) on the x-y plane of the second."""

    law = staticmethod(law)
    SIZE = 17
    radius: float
    normal_law: int
    stiffness: float
    damping: float
    friction: int
    static: float
    dynamic: float
    slip_speed: float

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0 or self.friction != NO_FRICTION

    def numbers_of(self, first: Frame, second: Frame) -> Array:
        """The centre on the first body; normal and a point of the plane on the second; then as they are."""
        own = (
            self.radius, self.normal_law, self.stiffness, self.damping,
            self.friction, self.static, self.dynamic, self.slip_speed,
        )  # fmt: skip
        return np.hstack([first.position, second.rotation[:, 2], second.position, own])


def contact(
    center: Frame,
    plane: Frame,
    radius: float = 0.0,
    *,
    stiffness: float,
    damping: float,
    law: str = "kelvin_voigt",
    friction: float = 0.0,
    static_friction: float | None = None,
    slip_speed: float = 0.01,
) -> list[Element]:
    """A point, a sphere or (for planar motion) an arc on a plane.

    Parameters
    ----------
    center : Frame
        Its origin is the point, or the centre of the sphere or arc.
    plane : Frame
        The plane is its x-y plane, the outward normal its z axis; body None is the ground.
    radius : float
        m.  Friction acts at the lowest point of the undeformed sphere.
    stiffness : float
        N/m, for the law "hertz" N/m^{3/2}.
    damping : float
        c in N·s/m for "kelvin_voigt"; the factor a in s/m for "hunt_crossley" and "hertz"
        (`laws.hunt_crossley_factor`).
    law : {"kelvin_voigt", "hunt_crossley", "hertz"}
        N = k d + c ḋ, N = k d (1 + a ḋ), N = k d^{3/2} (1 + a ḋ), for a depth d > 0; never below 0.
    friction : float
        Coefficient of (dynamic) friction (dimensionless); 0 for none.
    static_friction : float, optional
        The peak of the Stribeck curve (dimensionless); default none (tanh law).
    slip_speed : float
        v_s, where regularised friction reaches its value, m/s.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ValueError
        An unknown law, a slip speed that is not positive, static friction below the dynamic one.
    ModelError
        Negative numbers.

    References
    ----------
    Hunt and Crossley 1975; Brown and McPhee 2016 for the Stribeck curve.

    Examples
    --------
    >>> print(contact(Frame("foot"), Frame(None), 0.02, stiffness=1e5, damping=100.0, friction=0.8)[0])
    Contact of 'foot' on the base
    """
    of_kind(center, Frame, "center", "a Frame")
    of_kind(plane, Frame, "plane", "a Frame")
    slip_speed, friction = positive(slip_speed, "slip_speed"), not_negative(friction, "friction")
    static_friction = None if static_friction is None else real(static_friction, "static_friction")
    if static_friction is not None and not static_friction >= friction > 0.0:
        raise ValueError(f"static_friction: {static_friction}, expected at least friction = {friction} > 0")
    curve = STRIBECK if static_friction is not None else TANH if friction else NO_FRICTION
    return [
        Contact(
            center, plane, not_negative(radius, "radius"), normal_law(law), not_negative(stiffness, "stiffness"),
            not_negative(damping, "damping"), curve, float(static_friction or 0.0),
            friction, slip_speed,
        )
    ]  # fmt: skip
