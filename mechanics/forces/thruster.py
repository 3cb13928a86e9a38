"""A force and a moment in a fixed ratio at a frame of a body: propellers, jets, motors at sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from liegroup.arrays import of_kind, real
from liegroup.compile import helper
from liegroup.compile.scalars import maximum, minimum
from mechanics.errors import ModelError
from mechanics.forces.actuator import Commanded, as_command, ends_of
from mechanics.forces.element import Element, OnScrew, three
from mechanics.joints import Motion
from mechanics.model.frames import Frame


@helper
def law(numbers: Any, x: Any, s: Any, command: Any, rate: Any) -> Any:
    """F = g u + b, u and F within their ranges; does work."""
    gain, bias, u_low, u_up, low, up = numbers
    u = minimum(maximum(command + 0.0 * s, u_low), u_up)
    force = minimum(maximum(gain * u + bias, low), up)
    return force, 0.0 * s, force * s


@dataclass(frozen=True, eq=False)
class Thruster(Commanded, OnScrew):
    """Gain and bias in units of the screw, per unit of the command and without it."""

    law = staticmethod(law)
    gain: float
    bias: float
    command_lower: float
    command_upper: float
    force_lower: float
    force_upper: float
    motion: Motion | None
    name: str = ""

    @property
    def input_name(self) -> str:
        return self.name or str(self.frame.body)

    @property
    def drives(self) -> bool:
        return self.bias != 0.0 or not self.rests

    @property
    def reads_velocities(self) -> bool:
        return False


def thruster(
    frame: Frame,
    *,
    force: ArrayLike = (0.0, 0.0, 0.0),
    moment: ArrayLike = (0.0, 0.0, 0.0),
    gain: float = 1.0,
    bias: float = 0.0,
    command: float | Motion | None = None,
    command_range: Sequence[float] | None = None,
    force_range: Sequence[float] | None = None,
    name: str = "",
) -> list[Element]:
    """F times a force and a moment that turn with a body, F = g u + b at the command u, u and F within their ranges.

    A propeller that pushes along z and drags about z by κ metres has ``force=(0, 0, 1)`` and ``moment=(0, 0, -κ)``.

    Parameters
    ----------
    frame : Frame
        On the body: the point that the force acts at, and the axes of both.
    force : array (3,)
        At F = 1, along the axes of the frame (dimensionless, F is then in N; or in N, F is then a number).
    moment : array (3,)
        At F = 1, m (or N·m).
    gain : float
        g, per unit of the command.
    bias : float
        b, N (dimensionless where force and moment have their units).
    command : float or Motion, optional
        u: a number, or a `Motion` of time.  Default: an input of the mechanism's problem, 0 until
        `Problem.with_inputs` or a stepper gives it.
    command_range : two floats, optional
        Least and greatest u; what is beyond acts like them.
    force_range : two floats, optional
        Least and greatest F.
    name : str
        What `Problem.inputs`, `Mechanism.actuators` and `Mechanism.with_commands` call it; default the body.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ModelError
        A frame on the base, neither force nor moment, numbers that are not finite, ranges without an inside.
    TypeError
        What is no frame; a command that is neither a number nor a Motion.

    References
    ----------
    MuJoCo, computation, actuation model: transmissions at sites.

    Examples
    --------
    >>> rotor = thruster(Frame("drone", (0.14, 0.18, 0.05)), force=(0, 0, 1), moment=(0, 0, -0.02), name="front")[0]
    >>> rotor.screw.tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, -0.02, 0.14, 0.18, 0.05]
    """
    of_kind(frame, Frame, "frame", "a Frame")
    of_kind(name, str, "name", "a text")
    where = f"thruster {name!r}" if name else f"thruster on {frame.body!r}"
    if frame.body is None:
        raise ModelError(where, "its frame is on the base, which does not move", "name a body")
    f, m = three(force, f"{where}: force"), three(moment, f"{where}: moment")
    commands = ends_of(command_range, f"{where}: command_range")
    forces = ends_of(force_range, f"{where}: force_range")
    g, b = real(gain, f"{where}: gain"), real(bias, f"{where}: bias")
    return [Thruster(frame, f, m, False, g, b, *commands, *forces, as_command(command, "command"), name)]
