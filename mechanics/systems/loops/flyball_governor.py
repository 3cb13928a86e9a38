"""The flyball governor (IFToMM benchmark A05): shaft, slider and two rods with balls; stiff springs, or rigid struts.

The shaft turns about z; the slider (3 kg) slides on it; rods of 1 m are hinged at (±0.05, 0, 1) about y, a ball of 5 kg
at the tip of each.  Spring-dampers (8e5 N/m, 4e4 N·s/m, 0.5 m) join the slider at (±0.05, 0, 0) with the middles of the
rods; the rigid variant has distances in their place (two loops, energy conserved).  The angular momentum about z is
conserved in both.
"""

from __future__ import annotations

import numpy as np

from integrators.problem import Problem
from mechanics.constraints.loops import distance
from mechanics.forces import spring_damper
from mechanics.joints import Continuous, Prismatic, Revolute
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops.bricard import bar

STIFFNESS, DAMPING, LENGTH = 8e5, 4e4, 0.5
SPEED = 2.0 * np.pi
"""Of the shaft, rad/s."""
HEIGHT = 0.5
"""Of the slider at the start, m."""
MOMENTUM_Z = 53.8689986584
"""Angular momentum about z, kg·m²/s: the momentum of the shaft's angle."""
RIGID_ENERGY = 238.885450442
"""Of the rigid variant, J."""
_SECTION = 0.01


def tree() -> Tree:
    """Shaft, slider, and the two rods, 30° below the horizontal at q = (0, 0.5, 0, 0)."""
    cube = Inertia.about_com(3.0, (0.0, 0.0, 0.0), 3.0 * 0.1**2 / 6.0 * np.eye(3))
    bodies = [
        Body("shaft", Continuous((0.0, 0.0, 1.0)), inertia=bar(0.3, np.array([0.0, 0.0, 1.0]), _SECTION)),
        Body("slider", Prismatic((0.0, 0.0, 1.0)), "shaft", inertia=cube),
    ]
    for name, side in (("rod1", 1.0), ("rod2", -1.0)):
        along = np.array([side * np.cos(np.pi / 6), 0.0, -np.sin(np.pi / 6)])
        inertia = bar(0.3, along, _SECTION) + Inertia.point(5.0, along)
        bodies.append(Body(name, Revolute((0.0, 1.0, 0.0)), "shaft", (side * 0.05, 0.0, 1.0), inertia=inertia))
    return Tree(bodies, name="flyball governor")


def _struts() -> list[tuple[Frame, Frame, str]]:
    ends = []
    for name, side in (("rod1", 1.0), ("rod2", -1.0)):
        middle = 0.5 * np.array([side * np.cos(np.pi / 6), 0.0, -np.sin(np.pi / 6)])
        ends.append((Frame("slider", (side * 0.05, 0.0, 0.0)), Frame(name, middle), f"strut of {name}"))
    return ends


def mechanism(rigid: bool = False) -> Mechanism:
    """With springs (a tree of four degrees of freedom) or with rigid struts (two loops, two degrees of freedom)."""
    home = np.array([0.0, HEIGHT, 0.0, 0.0])
    if rigid:
        return Mechanism(tree(), [distance(a, b, LENGTH, name) for a, b, name in _struts()], home)
    return Mechanism(
        tree(), [], home, [spring_damper(a, b, STIFFNESS, damping=DAMPING, length=LENGTH) for a, b, _ in _struts()]
    )


def started(rigid: bool = False) -> Mechanism:
    """The governor with one revolution per second; the balls rise.

    Parameters
    ----------
    rigid : bool
        Struts in the place of the springs.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started(rigid=True).mobility.dof
    2
    """
    return mechanism(rigid).with_start(v=np.array([SPEED, 0.0, 0.0, 0.0]))


def problem(rigid: bool = False, projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started(rigid).problem(projection=projection)
