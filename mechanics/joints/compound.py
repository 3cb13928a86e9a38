"""Any chain of elementary motions as one joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liegroup.arrays import sequence, shown
from mechanics.joints.element import Element
from mechanics.joints.joint import Joint


def check_freedoms(joint: Joint) -> None:
    """ValueError if the elements of a chain move the body in fewer directions than they have freedoms, wherever it is
    and whenever.
    """
    generator = np.random.default_rng(0)
    known = [m for e in joint.elements if (m := getattr(e, "motion", None)) is not None and m.pieces]
    begin, end = max((m.pieces[0][0] for m in known), default=0.0), min((m.until for m in known), default=1.0)
    rank = 0
    for part in (0.2, 0.5, 0.9):
        q, t = joint.random(generator), begin + part * (end - begin)
        A = np.asarray(joint.state(q, np.zeros(joint.n_v), t).A, dtype=np.float64)
        if not np.isfinite(A).all():  # motions that are known at no common time
            return
        rank = max(rank, int(np.linalg.matrix_rank(A, 1e-9)) if A.size else 0)
    if rank < joint.n_v:
        moving = ", ".join(repr(part) for part in joint.elements if part.n_v)
        raise ValueError(
            f"parts: {moving} have {joint.n_v} degrees of freedom but move the body in {rank} directions at every "
            "configuration; leave out the elements that repeat others"
        )


@dataclass(frozen=True)
class Compound(Joint):
    """The elements one after another, from the parent to the child; A and Ȧ follow from the chain.

    Parameters
    ----------
    parts : tuple of Element
        For example ``(Slide((0, 1, 0)), Slide((0, 0, 1)), Turn((1, 0, 0)))``: a body in the plane y-z.

    Raises
    ------
    TypeError
        No elements, or something else.
    ValueError
        Elements that undo one another at every configuration, such as two turns about one axis: their momenta determine
        no velocities.

    Examples
    --------
    >>> from mechanics.joints import Compound, Slide, Turn
    >>> Compound((Slide((0, 1, 0)), Slide((0, 0, 1)), Turn((1, 0, 0)))).q_labels
    ('distance_1', 'distance_2', 'angle')
    """

    parts: tuple[Element, ...] = ()

    def __post_init__(self) -> None:
        wanted = "one or more elements such as Turn((0, 0, 1)) or Slide((1, 0, 0))"
        parts = sequence(self.parts, "parts", wanted)
        if not parts or not all(isinstance(part, Element) for part in parts):
            raise TypeError(f"parts: {shown(self.parts)}, expected {wanted}")
        object.__setattr__(self, "parts", parts)
        check_freedoms(self)

    @property
    def elements(self) -> tuple[Element, ...]:
        return self.parts
