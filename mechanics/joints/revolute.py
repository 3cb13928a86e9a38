"""One turn about a fixed axis, on the line."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Axis, Element, Turn, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Revolute(Joint):
    """q = angle in rad (a real number: turns are counted), A = (0; a).

    Parameters
    ----------
    axis : array (3,)
        Direction of the axis through the child origin, in the axes of the joint; any length.

    Examples
    --------
    >>> from mechanics.joints import Revolute
    >>> Revolute((0.0, 0.0, 2.0)).state([0.5], [1.0]).A[:, 0].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """

    axis: Axis = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_of(self.axis))

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Turn(self.axis),)
