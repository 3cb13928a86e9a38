"""Cables between two points of bodies: their stiffness pulls and never pushes."""

from __future__ import annotations

from typing import Any

from liegroup.arrays import of_kind, positive
from liegroup.compile.scalars import maximum, sqrt
from mechanics.constraints.loops import holonomic
from mechanics.forces.compliant import compliant
from mechanics.forces.element import Element, between, not_negative
from mechanics.model.frames import Frame


def cable(first: Frame, second: Frame, stiffness: float, *, length: float, damping: float = 0.0) -> list[Element]:
    """A cable between the origins of two frames: force −k max(d − l, 0) − c ḋ along it where it is taut, else none.

    Without damping it never pushes.  A damper in a taut cable does, where this shortens faster than k (d − l)/c: take
    a small one, or none where that happens.

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    stiffness : float
        k, N/m: EA/l.
    length : float
        l, at which it becomes taut, m.
    damping : float
        c where it is taut, N·s/m.

    Returns
    -------
    list of Element
        One, for `Mechanism`; it stores k max(d − l, 0)²/2.

    Raises
    ------
    ModelError, ValueError
        Negative numbers, a length that is not positive; TypeError for what is no frame.

    Notes
    -----
    The force has a kink at d = l: methods of order above 2 are of order 2 where it becomes taut or slack.

    Examples
    --------
    >>> print(cable(Frame("hook"), Frame("load"), 1e4, length=2.0)[0])
    Compliant 'number 0' between 'hook' and 'load'
    """
    of_kind(first, Frame, "first", "a Frame")
    of_kind(second, Frame, "second", "a Frame")
    l = positive(length, "length")

    def stretch(x: Any, R: Any) -> list[Any]:
        return [sqrt(maximum(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], l * l)) - l]

    of = f"cable {between(first.body, second.body)}"
    k, c = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    return compliant(holonomic(first, second, stretch, "cable"), k, damping=c)
