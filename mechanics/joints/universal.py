"""Cardan joint: two turns about crossing axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanics.joints.element import Axis, Element, Turn, axis_of
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Universal(Joint):
    """q = two angles in rad, about `first` fixed in the parent, then about `second` fixed in the child.

    Parameters
    ----------
    first, second : array (3,)
        Directions of the axes at q = 0, through the child origin, in the axes of the joint; any length, not parallel.

    Raises
    ------
    ValueError
        Parallel axes, or a direction that is none.

    Examples
    --------
    >>> from mechanics.joints import Universal
    >>> Universal().q_labels
    ('angle_1', 'angle_2')
    """

    first: Axis = (1.0, 0.0, 0.0)
    second: Axis = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", axis_of(self.first, "first"))
        object.__setattr__(self, "second", axis_of(self.second, "second"))
        a, b = np.array(self.first), np.array(self.second)
        if np.linalg.norm(np.cross(a, b)) < 1e-9 * np.linalg.norm(a) * np.linalg.norm(b):
            raise ValueError(
                f"second: {self.second} is parallel to first {self.first}; two turns about one axis are one degree "
                "of freedom"
            )

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Turn(self.first), Turn(self.second))
