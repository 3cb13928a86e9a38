"""A torque or force of time on a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import of_kind
from liegroup.compile import helper
from mechanics.forces.element import Element, OnJoint, motion_or_input
from mechanics.forces.tendon import Transmission, called
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
    motion: Motion | None
    name: str = ""

    @property
    def input_name(self) -> str:
        return self.name or called(self.joint)

    @property
    def counts_turns(self) -> bool:
        return False

    @property
    def reads_velocities(self) -> bool:
        return False


def motor(joint: Transmission, force: Motion | None = None, *, name: str = "") -> list[Element]:
    """A torque (or force) u(t) on a joint of one coordinate.

    Without a force of its own it is an input of the mechanism's problem: `Problem.with_inputs` and
    `integrators.stepper` give it, as numbers or functions of any kind.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    force : Motion, optional
        u(t), N·m or N; default an input, 0 until it is given.
    name : str
        Of the input; default that of the joint.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    TypeError
        Not a Motion: functions are given to the problem.

    Examples
    --------
    >>> print(motor("hinge", Motion((0.0,), ((2.0, 6.28, 0.0),)))[0])
    Motor on joint 'hinge'
    >>> motor("hinge")[0].is_input
    True
    """
    of_kind(name, str, "name", "a text")
    return [Motor(joint, motion_or_input(force, "force", name or called(joint)), name)]
