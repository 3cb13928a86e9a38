"""Any chain of elementary motions as one joint."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.element import Element
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Compound(Joint):
    """The elements one after another, from the parent to the child; A and Ȧ follow from the chain.

    Parameters
    ----------
    parts : tuple of Element
        For example ``(Slide((0, 1, 0)), Slide((0, 0, 1)), Turn((1, 0, 0)))``: a body in the plane y-z.
    """

    parts: tuple[Element, ...] = ()

    def __post_init__(self) -> None:
        parts = tuple(self.parts)
        if not parts or not all(isinstance(part, Element) for part in parts):
            raise TypeError(f"parts: {self.parts!r}, expected one or more elements such as Turn((0, 0, 1)) or Slide((1, 0, 0))")
        object.__setattr__(self, "parts", parts)

    @property
    def elements(self) -> tuple[Element, ...]:
        return self.parts
