"""A torque or force of time on a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import of_kind
from liegroup.compile import helper
from mechanics.forces.element import Element, OnJoint
from mechanics.forces.tendon import Transmission
from mechanics.joints import Motion


@helper
def law(numbers: Any, x: Any, s: Any, torque: Any, rate: Any) -> Any:
    """τ = u(t); does work."""
    force = torque + 0.0 * x
    return force, 0.0 * x, force * s


@dataclass(frozen=True)
class Motor(OnJoint):
    """u(t) in N·m (or N)."""

    law = staticmethod(law)
    linear = True
    motion: Motion

    @property
    def counts_turns(self) -> bool:
        return False

    @property
    def reads_velocities(self) -> bool:
        return False


def motor(joint: Transmission, force: Motion) -> list[Element]:
    """A torque (or force) u(t) on a joint of one coordinate.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    force : Motion
        u(t), N·m or N.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    TypeError
        Not a Motion.

    Examples
    --------
    >>> print(motor("hinge", Motion((0.0,), ((2.0, 6.28, 0.0),)))[0])
    Motor on joint 'hinge'
    """
    of_kind(force, Motion, "force", "a Motion")
    return [Motor(joint, force)]
