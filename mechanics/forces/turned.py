"""How far elastic joints are turned: moments of `bushing` and of other `compliant` closures are those of small turns.

Their equations are products of axes, φ = A·B.  About one axis φ = sin θ, and the moment k sin θ cos θ has its most at
45°, is none at 90° and turns away from the relaxed position beyond.  A bushing that is free about one axis holds the
two others by products that belong to one of them each only while it is turned little about that axis, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt
from mechanics.constraints.body_equations import PARALLEL
from mechanics.forces.compliant import Compliant
from mechanics.forces.element import Element, between

Array = NDArray[np.float64]
STRONGEST = 0.25 * np.pi
"""The turn, rad, of the greatest moment."""
_WELD, _HINGE = ("turn x·y", "turn y·z", "turn z·x"), ("turn x·z", "turn y·z")
"""Labels of equations that hold all axes of two frames together, or one of each."""
_TOGETHER = _WELD, _HINGE, *combinations(_WELD, 2)
"""Those of the springs of one joint: of a bushing one may be without stiffness."""


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
            if len(springs) == 2 and tuple(e.equation.label for e in springs) != _HINGE:
                says += ", and turned about the axis without stiffness the two others become one"
            at = float(t[np.argmax(angles > STRONGEST)])
            remedy = "use torsion_spring for large turns, compliant(revolute(…)) for what is free about an axis"
            found.append(Doubt("turn", at, float(angles.max()), STRONGEST, says, remedy))
    return found


def turns(springs: Sequence[Compliant], names: Sequence[str], rotations: Array) -> Array:
    """The angles (k,), rad, by which an elastic joint is turned: of the whole turn where it holds three axes, or two of
    them by axes that turn about the third (a bushing that is free about one: when turned by 90° about that, both of its
    products are those of a turn about the same axis), of the one axis that it holds, or that of one product of axes, up
    to 90°.
    """
    A, B = (
        np.stack([_turned(body, axis, names, rotations) for body, axis in ends], axis=1)
        for ends in (
            [(e.first, e.equation.a) for e in springs],
            [(e.second, e.equation.b) for e in springs],
        )
    )
    labels = tuple(e.equation.label for e in springs)
    if len(springs) > 1 and labels != _HINGE:
        first, second = (_frame("".join(label[at] for label in labels), of) for at, of in ((-3, A), (-1, B)))
        cosine = 0.5 * (np.sum(first * second, axis=(1, 2)) - 1.0)
    elif len(springs) > 1:  # x, y of the first; z of the second
        cosine = np.sum(np.cross(A[:, 0], A[:, 1]) * B[:, 0], axis=1)
    else:
        return np.asarray(np.arcsin(np.minimum(1.0, np.abs(np.sum(A[:, 0] * B[:, 0], axis=1)))))
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _frame(names: str, axes: Array) -> Array:
    """The axes x, y, z (k, 3, 3) of a frame, of which at least two (k, m, 3) are known by these names."""
    known = {name: axes[:, j] for j, name in enumerate(names)}
    for name, one, other in (("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y")):
        if name not in known:
            known[name] = np.cross(known[one], known[other])
    return np.stack([known[name] for name in "xyz"], axis=1)


def _turned(body: str | None, axis: Array, names: Sequence[str], rotations: Array) -> Array:
    """A direction of a body, or of the base, in world axes: (k, 3)."""
    if body is None:
        return np.broadcast_to(axis, (len(rotations), 3))
    return np.asarray(rotations[:, list(names).index(body)] @ axis)
