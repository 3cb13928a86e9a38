"""A leg of Jansen's Strandbeest: a crank of 0.15 m drives eight rods, two of the triangles welded; three loops.

Jansen's numbers in centimetres: a 38, b 41.5, c 39.3, d 40.1, e 55.8, f 39.4, g 36.7, h 65.7, i 49, j 50, k 61.9, l
7.8, m 15. All links weigh 1 kg per metre; the pivot Z is at (−a, −l) from the centre of the crank.  Links: j from the
crank's pin P to Q, triangle ZQR, k from P to U, c from Z to U, f from R to S, triangle USF with the foot F.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, direction, pin, point, rod

Array = NDArray[np.float64]

a, b, c, d, e, f, g, h, i, j, k, l, m = (
    x / 100.0 for x in (38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0)
)
GUESS = np.radians([0.0, 135.0, 215.0, 80.0, -70.0, -110.0, -170.0])
"""Rough angles: crank, j, k, triangle ZQR, c, triangle USF, f; each against the body that carries it."""
SPEED = -6.0
"""Rate of the crank, rad/s."""
ENERGY = -7.79346178840
"""Of the start, J."""


def _apex(first: float, second: float, third: float, side: float) -> Array:
    """The third corner of a triangle: `second` from the origin and `third` from (first, 0), left (+1) or right (−1)."""
    x = (first**2 + second**2 - third**2) / (2.0 * first)
    return np.array([x, side * np.sqrt(second**2 - x**2)])


def _triangle(first: float, apex: Array) -> Inertia:
    """Three welded rods of 1 kg/m between the origin, (first, 0) and the apex."""
    corners = [np.zeros(2), np.array([first, 0.0]), apex]
    total = Inertia.zero()
    for p, q in ((0, 1), (1, 2), (2, 0)):
        edge = corners[q] - corners[p]
        length, angle = float(np.linalg.norm(edge)), np.arctan2(edge[1], edge[0])
        R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
        total = total + rod(length, length).moved(point(*corners[p]), R)
    return total


ZQR_APEX = _apex(b, d, e, 1.0)
"""R in axes with x from Z to Q."""
USF_APEX = _apex(g, i, h, 1.0)
"""F in axes with x from U to S."""


def tree() -> Tree:
    """Crank, j, k on the crank; triangle ZQR and c on the ground; triangle USF on c; f on triangle ZQR."""
    return Tree(
        [
            Body("crank", HINGE, inertia=rod(m, m)),
            Body("j", HINGE, "crank", point(m, 0), inertia=rod(j, j)),
            Body("k", HINGE, "crank", point(m, 0), inertia=rod(k, k)),
            Body("ZQR", HINGE, None, point(-a, -l), inertia=_triangle(b, ZQR_APEX)),
            Body("c", HINGE, None, point(-a, -l), inertia=rod(c, c)),
            Body("USF", HINGE, "c", point(c, 0), inertia=_triangle(g, USF_APEX)),
            Body("f", HINGE, "ZQR", point(*ZQR_APEX), inertia=rod(f, f)),
        ],
        name="Strandbeest leg",
        gravity=GRAVITY,
    )


def mechanism() -> Mechanism:
    """Assembled with the crank held at 0."""
    closures = [
        pin("j", (j, 0), "ZQR", (b, 0), "Q"),
        pin("k", (k, 0), "c", (c, 0), "U"),
        pin("f", (f, 0), "USF", (g, 0), "S"),
    ]
    return Mechanism.assembled(tree(), closures, GUESS, hold=["crank_joint"])


def started() -> Mechanism:
    """From the crank angle 0 at −6 rad/s: it keeps turning.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started().mobility.dof
    1
    """
    return mechanism().with_start(rates={"crank_joint": SPEED})


def problem(projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started().problem(projection=projection)


def foot(q: Array) -> Array:
    """The foot F in the plane, m; q (…, 7) → (…, 2)."""
    rod_c, triangle = q[..., 4], q[..., 4] + q[..., 5]
    x, y = USF_APEX
    return np.asarray(
        np.array([-a, -l]) + c * direction(rod_c) + x * direction(triangle) + y * direction(triangle + np.pi / 2)
    )
