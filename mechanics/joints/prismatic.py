"""One translation along a fixed axis."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Axis, Element, Slide, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Prismatic(Joint):
    """q = displacement in m, A = (a; 0).

    Parameters
    ----------
    axis : array (3,)
        Direction of motion, in the axes of the joint; any length.

    Examples
    --------
    >>> from mechanics.joints import Prismatic
    >>> Prismatic((1.0, 0.0, 0.0)).state([0.5], [1.0]).rho.tolist()
    [0.5, 0.0, 0.0]
    """

    axis: Axis = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_of(self.axis))

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Slide(self.axis),)
