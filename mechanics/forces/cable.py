"""Cables between two points of bodies: they pull and never push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import of_kind, positive
from liegroup.compile import helper
from liegroup.compile.scalars import maximum, minimum, sqrt
from mechanics.constraints.loops import holonomic
from mechanics.forces.compliant import Compliant
from mechanics.forces.element import Element, between, not_negative
from mechanics.model.frames import Frame


@helper
def law(numbers: Any, phi: Any, rate: Any) -> Any:
    """min(−k φ − c φ̇, 0); stores k φ²/2, loses the rest: c φ̇², and where it would push, what it gives back."""
    stiffness, damping = numbers
    spring = stiffness * phi
    force = minimum(-spring - damping * rate, 0.0)
    return force, 0.5 * spring * phi, (force + spring) * rate


@dataclass(frozen=True, eq=False)
class Cable(Compliant):
    """k in N/m, c in N·s/m, along the stretch."""

    law = staticmethod(law)

    @property
    def strikes(self) -> bool:
        return True


def cable(first: Frame, second: Frame, stiffness: float, *, length: float, damping: float = 0.0) -> list[Element]:
    """A cable between the origins of two frames: force −max(k (d − l) + c ḋ, 0) along it where it is taut, else none.

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
        One, for `Mechanism`; it stores k max(d − l, 0)²/2, loses the rest.

    Raises
    ------
    ModelError, ValueError
        Negative numbers, a length that is not positive, two frames of one body; TypeError for what is no frame.

    Notes
    -----
    Where a damped cable shortens so fast that the damper would push, it pulls no more: what it has stored is lost then.
    The force has a kink at d = l: methods of order above 2 are of order 2 where it becomes taut or slack.  That of a
    damped cable jumps where it becomes taut, and methods are of order 1 there.

    Examples
    --------
    >>> print(cable(Frame("hook"), Frame("load"), 1e4, length=2.0)[0])
    Cable 'number 0' between 'hook' and 'load'
    """
    of_kind(first, Frame, "first", "a Frame")
    of_kind(second, Frame, "second", "a Frame")
    l = positive(length, "length")

    def stretch(x: Any, R: Any) -> list[Any]:
        return [sqrt(maximum(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], l * l)) - l]

    of = f"cable {between(first.body, second.body)}"
    k, c = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    (equation,) = holonomic(first, second, stretch, "cable").equations
    return [Cable(first.body, second.body, equation, k, c)]
