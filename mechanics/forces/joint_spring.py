"""Spring and damper on a joint of one coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import real
from liegroup.compile import helper
from mechanics.forces.element import Element, OnJoint, not_negative
from mechanics.forces.tendon import Transmission


@helper
def law(numbers: Any, x: Any, s: Any) -> Any:
    """τ = −k (x − x₀) − c s; stores k (x − x₀)²/2, loses c s²."""
    k, c, rest = numbers
    d = x - rest
    return -(k * d) - c * s, 0.5 * k * d * d, -(c * s * s)


@dataclass(frozen=True)
class JointSpring(OnJoint):
    """k in N·m/rad (or N/m), c in N·m·s/rad (N·s/m), x₀ in rad (m)."""

    law = staticmethod(law)
    linear = True
    stiffness: float
    damping: float
    rest: float

    @property
    def counts_turns(self) -> bool:
        return self.stiffness != 0.0

    @property
    def smooth(self) -> bool:
        return True

    @property
    def dissipates(self) -> bool:
        return self.damping > 0.0

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0


def joint_spring(joint: Transmission, stiffness: float, *, rest: float = 0.0, damping: float = 0.0) -> list[Element]:
    """Spring and damper on a joint of one coordinate: τ = −k (x − x₀) − c ẋ, energy k (x − x₀)²/2.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    stiffness : float
        k, N·m/rad or N/m.
    rest : float
        x₀, rad or m.
    damping : float
        c, N·m·s/rad or N·s/m.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ModelError
        Negative or infinite numbers; TypeError for what is none.

    Examples
    --------
    >>> print(joint_spring("hinge", stiffness=10.0, rest=0.5, damping=0.1)[0])
    JointSpring on joint 'hinge'
    """
    of = f"joint_spring of {joint!r}"
    pair = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    return [JointSpring(joint, *pair, real(rest, "rest"))]
