"""Rotation about an axis and translation along it, independent of one another."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Axis, Element, Slide, Turn, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Cylindrical(Joint):
    """q = (angle in rad, displacement in m), A = [(0; a), (a; 0)].

    Parameters
    ----------
    axis : array (3,)
        Direction of the axis through the child origin, in the axes of the joint; any length.

    Examples
    --------
    >>> from mechanics.joints import Cylindrical
    >>> Cylindrical().n_v
    2
    """

    axis: Axis = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_of(self.axis))

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Turn(self.axis), Slide(self.axis))
