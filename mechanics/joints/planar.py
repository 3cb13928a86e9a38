"""Motion in a plane."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Axis, Element, Plane
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Planar(Joint):
    """q = (x, y, angle): child origin along two directions of the joint, angle about their normal; on SE(2).

    The velocity is (vx, vy, ω) along the same directions turned with the child (quasi-velocities).

    Parameters
    ----------
    x_axis, y_axis : array (3,)
        Perpendicular directions that span the plane, in the axes of the joint; any length.

    Examples
    --------
    >>> from mechanics.joints import Planar
    >>> Planar().v_labels
    ('vx', 'vy', 'omega')
    """

    x_axis: Axis = (1.0, 0.0, 0.0)
    y_axis: Axis = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        plane = Plane(self.x_axis, self.y_axis)
        object.__setattr__(self, "x_axis", plane.x_axis)
        object.__setattr__(self, "y_axis", plane.y_axis)

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Plane(self.x_axis, self.y_axis),)
