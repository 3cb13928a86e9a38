"""Force and moment on a body from outside, as inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from liegroup.arrays import of_kind
from liegroup.compile import helper
from mechanics.errors import ModelError
from mechanics.forces.element import Element, OnScrew
from mechanics.joints import Motion
from mechanics.model.frames import Frame

_NONE, _AXES = (0.0, 0.0, 0.0), {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@helper
def law(numbers: Any, x: Any, s: Any, force: Any, rate: Any) -> Any:
    """F = u; does work."""
    force = force + 0.0 * s
    return force, 0.0 * s, force * s


@dataclass(frozen=True, eq=False)
class Wrench(OnScrew):
    """u times the screw: N, or N·m where it is a moment."""

    law = staticmethod(law)
    motion: Motion | None
    name: str = ""

    @property
    def reads_velocities(self) -> bool:
        return False

    @property
    def input_name(self) -> str:
        return self.name or str(self.frame.body)

    def input_unit(self, turns: bool) -> str:
        return "N" if any(self.force) else "N m"


def wrench(frame: Frame, *, axes: Literal["body", "world"] = "body", name: str = "") -> list[Element]:
    """A force at a point of a body and a moment on it, six inputs of the mechanism's problem.

    Parameters
    ----------
    frame : Frame
        On the body; its origin is the point.
    axes : {"body", "world"}
        The force (fx, fy, fz), N, and the moment (mx, my, mz), N·m, are along the axes of the frame, or of the world.
    name : str
        Of the inputs, which are called ``name.fx`` and so on; default that of the body.

    Returns
    -------
    list of Element
        Six, for `Mechanism`.

    Raises
    ------
    ModelError
        A frame on the base.
    ValueError, TypeError
        Other axes; what is no frame.

    Examples
    --------
    >>> [element.input_name for element in wrench(Frame("hull"))]
    ['hull.fx', 'hull.fy', 'hull.fz', 'hull.mx', 'hull.my', 'hull.mz']
    """
    of_kind(frame, Frame, "frame", "a Frame")
    of_kind(name, str, "name", "a text")
    if axes not in ("body", "world"):
        raise ValueError(f"axes: {axes!r}, expected 'body' or 'world'")
    if frame.body is None:
        raise ModelError("wrench", "its frame is on the base, which does not move", "name a body")
    in_world, called = axes == "world", name or frame.body
    forces: list[Element] = [Wrench(frame, e, _NONE, in_world, None, f"{called}.f{x}") for x, e in _AXES.items()]
    return forces + [Wrench(frame, _NONE, e, in_world, None, f"{called}.m{x}") for x, e in _AXES.items()]
