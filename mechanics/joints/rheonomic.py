"""A joint with prescribed motions, alone or among free ones."""

from __future__ import annotations

from dataclasses import dataclass

from mechanics.joints.compound import check_freedoms
from mechanics.joints.element import Element
from mechanics.joints.joint import Joint


@dataclass(frozen=True)
class Rheonomic(Joint):
    """One elementary motion after another, some of them functions of time: no coordinate, but a drift twist Vᴶ(q, t).

    The motions after a coordinate make its basis A explicitly depend on time; the equations of motion account for it (Ȧ
    is total). The energy of a tree with such joints is not conserved: the drives do work.

    Parameters
    ----------
    parts : sequence of Element
        Elementary motions from the parent to the child; at least one `Turn` or `Slide` with a `Motion`.

    Raises
    ------
    TypeError
        Something that is no element.
    ValueError
        No element with a prescribed motion that changes, or elements that repeat others at every time.

    Examples
    --------
    >>> from mechanics.joints import Motion, Rheonomic, Turn
    >>> crank = Rheonomic((Turn((0, 0, 1), Motion((0.0, 2.0))), Turn((1, 0, 0))))
    >>> crank.n_q
    1
    """

    parts: tuple[Element, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for k, e in enumerate(self.parts):
            if not isinstance(e, Element):
                raise TypeError(
                    f"parts[{k}]: {e!r}, expected an elementary motion such as Turn((0, 0, 1), Motion((0, 1)))"
                )
        if not self.is_rheonomic:
            raise ValueError("parts: no element has a prescribed motion that changes; use Compound for free joints")
        check_freedoms(self)

    @property
    def elements(self) -> tuple[Element, ...]:
        return self.parts
