"""A drive that follows a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import of_kind
from liegroup.compile import helper
from mechanics.forces.element import Element, OnJoint, motion_or_input, not_negative
from mechanics.forces.tendon import Transmission, called
from mechanics.joints import Motion


@helper
def law(numbers: Any, x: Any, s: Any, target: Any, rate: Any) -> Any:
    """τ = −k (x − x_d(t)) − c (s − ẋ_d(t)); does work."""
    k, c = numbers
    force = -(k * (x - target)) - c * (s - rate)
    return force, 0.0 * x, force * s


@dataclass(frozen=True)
class Servo(OnJoint):
    """k in N·m/rad (or N/m), c in N·m·s/rad (N·s/m), x_d(t) in rad (m)."""

    law = staticmethod(law)
    linear = True
    stiffness: float
    damping: float
    motion: Motion | None
    name: str = ""

    @property
    def input_name(self) -> str:
        return self.name or f"{called(self.joint)}.target"

    def input_unit(self, turns: bool) -> str:
        return "rad" if turns else "m"

    @property
    def counts_turns(self) -> bool:
        return self.stiffness != 0.0

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0


def servo(
    joint: Transmission, *, stiffness: float, damping: float, target: Motion | None = None, name: str = ""
) -> list[Element]:
    """A drive that follows x_d(t) with a spring and a damper: τ = −k (x − x_d) − c (ẋ − ẋ_d).

    Without a target of its own x_d is an input of the mechanism's problem, held: ẋ_d = 0.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    stiffness : float
        k, N·m/rad or N/m.
    damping : float
        c, N·m·s/rad or N·s/m.
    target : Motion, optional
        x_d(t), rad or m; default an input, 0 until it is given.
    name : str
        Of the input; default that of the joint with ``.target``.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    TypeError
        Not a Motion: functions are given to the problem; ModelError for negative numbers.

    Examples
    --------
    >>> print(servo("hinge", stiffness=100.0, damping=1.0, target=Motion((0.0, 1.0)))[0])
    Servo on joint 'hinge'
    """
    of_kind(name, str, "name", "a text")
    of = f"servo of {joint!r}"
    pair = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    return [Servo(joint, *pair, motion_or_input(target, "target", name or f"{called(joint)}.target"), name)]
