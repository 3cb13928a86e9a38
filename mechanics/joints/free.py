"""No constraint at all: six degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Element, Float
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Free(Joint):
    """q = (x, y, z, qw, qx, qy, qz): child origin in the axes of the joint, and a unit quaternion; A = E₆.

    The velocity is the relative twist (v, ω) in child axes (quasi-velocities: p is then the Poisson momentum).

    Examples
    --------
    >>> from mechanics.joints import Free
    >>> Free().n_q, Free().n_v
    (7, 6)
    """

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Float(),)
