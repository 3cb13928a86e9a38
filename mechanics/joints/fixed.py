"""No relative motion."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Element
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Fixed(Joint):
    """The child is rigidly attached; n = 0.

    Examples
    --------
    >>> from mechanics.joints import Fixed
    >>> Fixed().n_v
    0
    """

    @property
    def elements(self) -> tuple[Element, ...]:
        return ()
