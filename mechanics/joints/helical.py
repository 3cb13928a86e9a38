"""A screw: rotation about an axis with a proportional advance along it."""

from __future__ import annotations

from dataclasses import dataclass

from liegroup.arrays import real
from mechanics.joints.element import Axis, Element, Screw, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Helical(Joint):
    """q = angle in rad, displacement pitch·q, A = (pitch a; a).

    Parameters
    ----------
    axis : array (3,)
        Direction of the axis through the child origin, in the axes of the joint; any length.
    pitch : float
        Advance along the axis, m per rad.

    Examples
    --------
    >>> from mechanics.joints import Helical
    >>> Helical(pitch=0.1).state([2.0], [0.0]).rho.tolist()
    [0.0, 0.0, 0.2]
    """

    axis: Axis = (0.0, 0.0, 1.0)
    pitch: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_of(self.axis))
        object.__setattr__(self, "pitch", real(self.pitch, "pitch", "a finite number of metres per radian"))

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Screw(self.axis, self.pitch),)
