"""Peaucellier's inversor: seven rods, three loops; one point moves on an exact straight line, which makes it a drift
meter.

O(0, 0): arms OA, OB of 1 m; rhombus of 0.4 m; crank PC of 0.5 m at P(0.5, 0); 1 kg per metre; gravity along +x.
D moves on x = (L² − r²)/(2 p) = 0.84.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops.planar_rods import HINGE, angle, direction, pin, point, rod

Array = NDArray[np.float64]

ARM, SIDE, CRANK = 1.0, 0.4, 0.5
LINE = (ARM**2 - SIDE**2) / (2.0 * CRANK)
"""x of the point D, m."""
START, SPEED = 0.5, 1.0
ENERGY = -25.9263611376
"""Of the start, J."""


def configuration(crank: float) -> Array:
    """q = (OA, OB, PC, AC, AD, BD, BC): absolute angles of the first three, the others against the arms."""
    C = np.array([CRANK + CRANK * np.cos(crank), CRANK * np.sin(crank)])
    r, ahead = np.linalg.norm(C), angle(C)
    half = np.arccos((r**2 + ARM**2 - SIDE**2) / (2.0 * r * ARM))
    D = C / r * (ARM**2 - SIDE**2) / r
    up, down = ahead + half, ahead - half
    A, B = ARM * direction(up), ARM * direction(down)
    return np.array([up, down, crank, angle(C - A) - up, angle(D - A) - up, angle(D - B) - down, angle(C - B) - down])


def mechanism() -> Mechanism:
    """Arms and crank on the ground, the rhombus on the arms, closed at C (twice) and D."""
    tree = Tree(
        [
            Body("OA", HINGE, inertia=rod(ARM, ARM)),
            Body("OB", HINGE, inertia=rod(ARM, ARM)),
            Body("PC", HINGE, None, point(CRANK, 0), inertia=rod(CRANK, CRANK)),
            *(
                Body(n, HINGE, on, point(ARM, 0), inertia=rod(SIDE, SIDE))
                for n, on in (("AC", "OA"), ("AD", "OA"), ("BD", "OB"), ("BC", "OB"))
            ),
        ],
        name="Peaucellier",
        gravity=(9.81, 0.0, 0.0),
    )
    closures = [
        pin("AC", (SIDE, 0), "PC", (CRANK, 0), "C of AC"),
        pin("BC", (SIDE, 0), "PC", (CRANK, 0), "C of BC"),
        pin("AD", (SIDE, 0), "BD", (SIDE, 0), "D"),
    ]
    return Mechanism(tree, closures, configuration(START))


def started() -> Mechanism:
    """From the crank angle 0.5 rad at 1 rad/s: it swings within ±0.5738 rad.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started().mobility.dof
    1
    """
    return mechanism().with_start(rates={"PC_joint": SPEED})


def problem(projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started().problem(projection=projection)


def line_deviation(q: Array) -> Array:
    """How far D, at the end of AD, is off its line, m; q (…, 7)."""
    return np.asarray(ARM * np.cos(q[..., 0]) + SIDE * np.cos(q[..., 0] + q[..., 4]) - LINE)
