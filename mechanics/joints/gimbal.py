"""Ball joint in three angles, with its singularity."""

from __future__ import annotations

from dataclasses import dataclass

from liegroup.arrays import sequence
from mechanics.joints.element import Axis, Element, Turn, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Gimbal(Joint):
    """q = three angles in rad, one turn after another; the axes are at q = 0 in the axes of the joint.

    Where the first and the third axis meet (gimbal lock) the three turns are two degrees of freedom and the equations
    of motion are singular; `Spherical` has no such configuration.

    Parameters
    ----------
    axes : three arrays (3,)
        Directions through the child origin, any length; default yaw, pitch, roll.

    Raises
    ------
    ValueError
        Another number of axes than three, or a direction that is none.

    Examples
    --------
    >>> from mechanics.joints import Gimbal
    >>> Gimbal().n_v
    3
    """

    axes: tuple[Axis, Axis, Axis] = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        axes = sequence(self.axes, "axes", "three directions")
        if len(axes) != 3:
            raise ValueError(f"axes: {len(axes)} directions, expected three")
        object.__setattr__(self, "axes", tuple(axis_of(a, f"axes[{k}]") for k, a in enumerate(axes)))

    @property
    def elements(self) -> tuple[Element, ...]:
        return tuple(Turn(a) for a in self.axes)
