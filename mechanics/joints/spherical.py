"""Ball joint: rotation about a fixed point."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Ball, Element
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Spherical(Joint):
    """q = unit quaternion (w, x, y, z) on SO(3), A = [0; E].

    The velocity is the relative angular velocity in child axes (quasi-velocities: p is the Poisson momentum).

    Examples
    --------
    >>> from mechanics.joints import Spherical
    >>> Spherical().n_q, Spherical().n_v
    (4, 3)
    """

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Ball(),)
