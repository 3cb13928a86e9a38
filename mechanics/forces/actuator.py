"""Actuators without a state of their own: an affine law of command, length and rate, within ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroup.arrays import of_kind, real, reals
from liegroup.compile import helper
from liegroup.compile.scalars import maximum, minimum
from mechanics.errors import ModelError
from mechanics.forces.element import Element, OnJoint
from mechanics.forces.joint_stop import FAR
from mechanics.forces.tendon import Transmission, called
from mechanics.joints import Motion


@helper
def law(numbers: Any, x: Any, s: Any, command: Any, rate: Any) -> Any:
    """F = (g₀ + g₁ x + g₂ s) u + b₀ + b₁ x + b₂ s, u and F within their ranges; does work."""
    g0, g1, g2, b0, b1, b2, u_low, u_up, low, up = numbers
    u = minimum(maximum(command + 0.0 * x, u_low), u_up)
    force = (g0 + g1 * x + g2 * s) * u + (b0 + b1 * x + b2 * s)
    force = minimum(maximum(force, low), up)
    return force, 0.0 * x, force * s


class Commanded:
    """What follows a command within ranges.

    Attributes
    ----------
    command_range : (float, float)
        The least and the greatest command that has an effect.
    force_range : (float, float)
        The least and the greatest force.
    rests : bool
        Whether its command is always 0.

    Examples
    --------
    See `actuator`.
    """

    command_lower: float
    command_upper: float
    force_lower: float
    force_upper: float
    motion: Motion | None
    name: str

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.name})" if self.name else super().__str__()

    def input_unit(self, turns: bool) -> str:
        """None: a command has the unit that the gain says.

        Parameters
        ----------
        turns : bool
            It does not matter.

        Returns
        -------
        str
            Empty.
        """
        return ""

    @property
    def command_range(self) -> tuple[float, float]:
        return _ends(self.command_lower), _ends(self.command_upper)

    @property
    def force_range(self) -> tuple[float, float]:
        return _ends(self.force_lower), _ends(self.force_upper)

    @property
    def rests(self) -> bool:
        return self.motion is not None and self.motion.is_constant and self.motion.value(0.0) == 0.0


@dataclass(frozen=True)
class Actuator(Commanded, OnJoint):
    """Gains in N (N·m) per unit of the command, per m (rad) and per m/s (rad/s); biases in N (N·m), in the same way."""

    law = staticmethod(law)
    not_numbers = ("joint", "motion", "name")
    gain: float
    gain_by_length: float
    gain_by_rate: float
    bias: float
    bias_by_length: float
    bias_by_rate: float
    command_lower: float
    command_upper: float
    force_lower: float
    force_upper: float
    motion: Motion | None
    name: str = ""

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Whether the force is linear in x and s: without a range of the force."""
        return self.force_lower == -FAR and self.force_upper == FAR

    @property
    def input_name(self) -> str:
        return self.name or called(self.joint)

    @property
    def drives(self) -> bool:
        return not self.rests or any((self.bias, self.bias_by_length, self.bias_by_rate))

    @property
    def has_kinks(self) -> bool:
        return not self.linear and (self.counts_turns or self.reads_velocities)

    @property
    def counts_turns(self) -> bool:
        return self.gain_by_length != 0.0 or self.bias_by_length != 0.0

    @property
    def reads_velocities(self) -> bool:
        return self.gain_by_rate != 0.0 or self.bias_by_rate != 0.0


def _ends(x: float) -> float:
    return x if abs(x) < FAR else float(np.copysign(np.inf, x))


def actuator(
    joint: Transmission,
    *,
    gain: float | Sequence[float] = 1.0,
    bias: float | Sequence[float] = 0.0,
    command: float | Motion | None = None,
    command_range: Sequence[float] | None = None,
    force_range: Sequence[float] | None = None,
    name: str = "",
) -> list[Element]:
    """An actuator with the force F = (g₀ + g₁ x + g₂ ẋ) u + b₀ + b₁ x + b₂ ẋ at the command u, u and F within their
    ranges.

    A motor has the gain g₀ = 1 and no bias; a position servo g₀ = k, b₁ = −k, b₂ = −c; a velocity servo g₀ = c,
    b₂ = −c; a damper g₂ = −1.  Through a gear or along a tendon x is the length of that `Tendon`, and F the force along
    it: of a gear of ratio a the joint feels a F.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    gain : float or three floats
        g₀, or g₀, g₁, g₂: N (or N·m) per unit of the command; per m (or rad); per m/s (or rad/s).
    bias : float or three floats
        b₀, or b₀, b₁, b₂, N (or N·m), in the same way.
    command : float or Motion, optional
        u, in the unit of the gain: a number, or a `Motion` of time.  Default: an input of the mechanism's problem, 0
        until `Problem.with_inputs` or a stepper gives it.
    command_range : two floats, optional
        Least and greatest u; what is beyond acts like them.
    force_range : two floats, optional
        Least and greatest F, N or N·m.
    name : str
        What `Problem.inputs`, `Mechanism.actuators` and `Mechanism.with_commands` call it; default the joint.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ModelError
        Other numbers of gains, of biases or of ends of a range, numbers that are not finite, ranges without an inside.
    TypeError
        A command that is neither a number nor a Motion.

    References
    ----------
    MuJoCo, computation, actuation model: gains and biases of type affine, without activation.

    Examples
    --------
    >>> drive = actuator("elbow", gain=100.0, bias=(0.0, -100.0, -5.0), force_range=(-30.0, 30.0))[0]
    >>> drive.law(drive.numbers, 0.2, 1.0, 0.4, 0.0), drive.law(drive.numbers, 0.2, 1.0, 0.9, 0.0)[0]
    ((15.0, 0.0, 15.0), 30.0)
    """
    of_kind(name, str, "name", "a text")
    where = f"actuator {name!r}" if name else f"actuator of {joint!r}"
    g, b = (_three(x, f"{where}: {what}") for x, what in ((gain, "gain"), (bias, "bias")))
    u, f = ends_of(command_range, f"{where}: command_range"), ends_of(force_range, f"{where}: force_range")
    return [Actuator(joint, *g, *b, *u, *f, as_command(command, "command"), name)]


def as_command(command: float | Motion | None, name: str) -> Motion | None:
    """A command as a motion of time, or None for an input.

    Parameters
    ----------
    command : float, Motion or None
        A number is kept.
    name : str
        What messages call it.

    Returns
    -------
    Motion or None
        The command.

    Raises
    ------
    TypeError
        Neither.

    Examples
    --------
    >>> as_command(2.0, "command")
    Motion(polynomial=(2.0,), harmonics=(), until=0.0)
    """
    if command is None or isinstance(command, Motion):
        return command
    if callable(command):
        where = "give functions to the problem, problem.with_inputs({name: f})"
        raise TypeError(f"{name}: a function, expected a number or a Motion of time; {where}")
    return Motion((real(command, name, hint=", or a Motion of time"),))


def _three(values: Any, where: str) -> tuple[float, float, float]:
    x = np.atleast_1d(reals(values, where))
    if x.shape not in ((1,), (3,)) or not np.isfinite(x).all():
        raise ModelError(where, f"is {x.tolist()}", "give one finite number, or three: constant, by length, by rate")
    constant, by_length, by_rate = [*x.tolist(), 0.0, 0.0][:3]
    return constant, by_length, by_rate


def ends_of(values: Any, where: str) -> tuple[float, float]:
    """The ends of a range, `FAR` where there is none; ModelError for what is no range."""
    if values is None:
        return -FAR, FAR
    x = reals(values, where)
    if x.shape != (2,) or not x[0] <= x[1]:
        raise ModelError(where, f"is {x.tolist()}", "give the least and the greatest value")
    low, up = np.clip(x, -FAR, FAR).tolist()
    return low, up
