"""How far elastic joints are turned: moments of `bushing` and of other `compliant` closures are those of small turns.

Their equations are products of axes, φ = A·B.  About one axis φ = sin θ, and the moment k sin θ cos θ has its most at
45°, is none at 90° and turns away from the relaxed position beyond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt
from mechanics.constraints.body_equations import PARALLEL
from mechanics.forces.compliant import Compliant
from mechanics.forces.element import Element, between

Array = NDArray[np.float64]
STRONGEST = 0.25 * np.pi
"""The turn, rad, of the greatest moment."""
_TOGETHER = ("turn x·y", "turn y·z", "turn z·x"), ("turn x·z", "turn y·z")
"""Labels of equations that hold all axes of two frames together, or one of each."""


def turning(elements: Iterable[Element]) -> list[list[Compliant]]:
    """The springs against turns, those of one elastic joint together."""
    springs = [e for e in elements if isinstance(e, Compliant) and e.equation.kind == PARALLEL and e.stiffness > 0.0]
    found = []
    while springs:
        ends = springs[0].first, springs[0].second
        labels = [e.equation.label for e in springs if (e.first, e.second) == ends]
        count = next((len(of) for of in _TOGETHER if tuple(labels[: len(of)]) == of), 1)
        found.append([e for e in springs if (e.first, e.second) == ends][:count])
        springs = [e for e in springs if not any(e is one for one in found[-1])]
    return found


def doubts(joints: Sequence[Sequence[Compliant]], names: Sequence[str], t: Array, rotations: Array) -> list[Doubt]:
    """The elastic joints that are turned beyond `STRONGEST` at some of the times t (k,), from the rotations (k, N, 3,
    3) of the bodies of these names, body → world.
    """
    found = []
    for springs in joints:
        angles = turns(springs, names, rotations)
        if (angles > STRONGEST).any():
            first = springs[0]
            says = (
                f"the {type(first).__name__.lower()} joint {between(first.first, first.second)} is turned by "
                f"{np.degrees(angles.max()):.3g}°: its moment k sin θ cos θ has its most at 45° and is "
                "reversed beyond 90°"
            )
            at = float(t[np.argmax(angles > STRONGEST)])
            found.append(Doubt("turn", at, float(angles.max()), STRONGEST, says, "use torsion_spring for large turns"))
    return found


def turns(springs: Sequence[Compliant], names: Sequence[str], rotations: Array) -> Array:
    """The angles (k,), rad, by which an elastic joint is turned: of the whole turn where it holds three axes, of the
    one axis that it holds, or that of one product of axes, up to 90°.
    """
    A, B = (
        np.stack([_turned(body, axis, names, rotations) for body, axis in ends], axis=1)
        for ends in (
            [(e.first, e.equation.a) for e in springs],
            [(e.second, e.equation.b) for e in springs],
        )
    )
    if len(springs) == 3:  # x, y, z of the first; y, z, x of the second
        cosine = 0.5 * (np.sum(A * np.roll(B, 1, axis=1), axis=(1, 2)) - 1.0)
    elif len(springs) == 2:  # x, y of the first; z of the second
        cosine = np.sum(np.cross(A[:, 0], A[:, 1]) * B[:, 0], axis=1)
    else:
        return np.asarray(np.arcsin(np.minimum(1.0, np.abs(np.sum(A[:, 0] * B[:, 0], axis=1)))))
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _turned(body: str | None, axis: Array, names: Sequence[str], rotations: Array) -> Array:
    """A direction of a body, or of the base, in world axes: (k, 3)."""
    if body is None:
        return np.broadcast_to(axis, (len(rotations), 3))
    return np.asarray(rotations[:, list(names).index(body)] @ axis)
