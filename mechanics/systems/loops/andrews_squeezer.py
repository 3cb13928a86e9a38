"""Andrews' squeezing mechanism: seven bodies, three loops, a spring and a motor, within 0.03 s (Schiehlen 1990; Hairer
and Wanner).

Planar, no gravity; starts at rest.  The bodies turn about the hinges named; angles Θ, Φ, Ω are relative to the carrying
body.

    tree      K1 (β at O) ─ K2 (Θ at F);   K3 (γ at B);   K5 (δ at A) ─ K4 (Φ at G);   K7 (ε at A) ─ K6 (Ω at H)
    closures  the points E of K2, K4, K6 are that of K3
"""

from __future__ import annotations

import numpy as np

from integrators.problem import Problem
from mechanics.forces import motor, spring_damper
from mechanics.joints import Motion
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops.planar_rods import HINGE, flat, pin, point

A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
SPRING, LENGTH, TORQUE = 4530.0, 0.07785, 0.033
BETA, GAMMA, PHI = -0.0617138900142764496, 0.455279819163070380, 0.222668390165885885
DELTA, OMEGA, EPSILON = 0.487364979543842550, -0.222668390165885885, 1.23054744454982119
START = np.array([BETA, 0.0, GAMMA, DELTA, PHI, EPSILON, OMEGA])
"""q: β, Θ, γ, δ, Φ, ε, Ω."""
ENERGY = 1.43783295753
"""T + V of the spring − 0.033 β, constant, J."""
END = 0.03


def tree() -> Tree:
    """The bodies in the order K1, K2, K3, K5, K4, K7, K6."""

    def body(
        name: str, parent: str | None, at: tuple[float, float], mass: float, center: tuple[float, float], moment: float
    ) -> Body:
        inertia: Inertia = flat(mass, center, moment)
        return Body(name, HINGE, parent, point(*at), inertia=inertia)

    return Tree(
        [
            body("K1", None, (0.0, 0.0), 0.04325, (0.00092, 0.0), 2.194e-6),
            body("K2", "K1", (0.007, 0.0), 0.00365, (-0.0115, 0.0), 4.410e-7),
            body("K3", None, B, 0.02373, (0.01043, -0.01874), 5.255e-6),
            body("K5", None, A, 0.07050, (0.02308, 0.00916), 1.169e-5),
            body("K4", "K5", (0.04, 0.0), 0.00706, (0.0, -0.00579), 5.667e-7),
            body("K7", None, A, 0.05498, (-0.00449, -0.01228), 1.912e-5),
            body("K6", "K7", (0.0, -0.04), 0.00706, (0.00579, 0.0), 5.667e-7),
        ],
        name="squeezer",
        gravity=(0.0, 0.0, 0.0),
    )


def mechanism() -> Mechanism:
    """Tree, three closures at E, the spring from C to D of K3 and the motor of K1."""
    ends = {"K2": (-0.028, 0.0), "K4": (0.0, -0.02), "K6": (0.02, 0.0)}
    closures = [pin(name, end, "K3", (0.0, -0.035), f"E of {name}") for name, end in ends.items()]
    elements = [
        spring_damper(Frame(None, point(*C)), Frame("K3", point(0.02, -0.018)), SPRING, length=LENGTH),
        motor("K1_joint", Motion((TORQUE,))),
    ]
    return Mechanism(tree(), closures, START, elements)


def started() -> Mechanism:
    """The squeezing mechanism from rest.  The motor does work: watch energy − 0.033 β.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started().mobility.dof
    1
    """
    return mechanism().with_start()


def problem(projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started().problem(projection=projection)
