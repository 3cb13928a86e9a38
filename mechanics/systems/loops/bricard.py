"""Bricard's mechanism (IFToMM benchmark A04): five rods and six hinges in space, overconstrained by one equation.

Rods of 1 m and 1 kg between (0,0,0), (1,0,0), (1,−1,0), (1,−1,1), (0,−1,1), (0,0,1); hinges at these points about y, z,
x, y, z, x, the first and the last on the ground.  Grübler's count gives no freedom, the special geometry gives one: of
the five equations of the closing hinge one is redundant in every position, but not the same combination.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.constraints.loops import revolute
from mechanics.joints import Continuous
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree

Array = NDArray[np.float64]

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]
SECTION = 0.1
"""Side of the square section of the rods, m."""
ENERGY = -29.43
"""Of the start at rest, J."""


def bar(mass: float, vector: Array, section: float) -> Inertia:
    """A bar of square section from the body origin along `vector`."""
    length = float(np.linalg.norm(vector))
    u = np.asarray(vector) / length
    axial, across = mass * section**2 / 6.0, mass * (length**2 + section**2) / 12.0
    return Inertia.about_com(mass, 0.5 * np.asarray(vector), across * np.eye(3) + (axial - across) * np.outer(u, u))


def mechanism(section: float = SECTION) -> Mechanism:
    """The chain of five rods, closed by the sixth hinge."""
    edges = np.diff(CORNERS, axis=0)
    bodies = []
    for i, edge in enumerate(edges):
        parent, at = (None, CORNERS[0]) if i == 0 else (f"rod{i}", edges[i - 1])
        x, y, z = (float(a) for a in AXES[i])
        bodies.append(Body(f"rod{i + 1}", Continuous((x, y, z)), parent, at, inertia=bar(1.0, edge, section)))
    tree = Tree(bodies, name="Bricard", gravity=(0.0, -9.81, 0.0))
    closing = revolute(
        Frame.with_axis("rod5", edges[4], AXES[5]), Frame.with_axis(None, CORNERS[5], AXES[5]), "sixth hinge"
    )
    return Mechanism(tree, [closing], np.zeros(5))


def started() -> Mechanism:
    """Bricard's mechanism released from rest; it moves through and back with a period near 5.0 s.

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
