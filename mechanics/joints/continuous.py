"""One turn about a fixed axis, on the circle."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Axis, Element, Turn, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Continuous(Joint):
    """q = angle in rad on SO(2) (equal modulo 2π), A = (0; a): for what turns for ever.

    Results count its turns.  Within a run it stays near zero and is never rounded coarsely
    (`integrators.engine.winding`); springs cannot act on it.

    Parameters
    ----------
    axis : array (3,)
        Direction of the axis through the child origin, in the axes of the joint; any length.

    Examples
    --------
    >>> from mechanics.joints import Continuous
    >>> Continuous().factors[0].NAME
    'SO(2)'
    """

    axis: Axis = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_of(self.axis))

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Turn(self.axis, cyclic=True),)
