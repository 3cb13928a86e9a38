"""The spatial four-bar RSSR: crank about z, coupler on two balls, rocker about y.

Two degrees of freedom: one is the spin of the coupler about its own axis, which nothing drives; for a coupler of square
section it is conserved exactly.  The coupler's moments differ by a factor of 2500; its z is along its axis, so that the
small one is an entry of the mass matrix of its own: in oblique axes it would be a difference of large ones, and
velocities from momenta would lose three more digits of the spin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.constraints.equations import geometry
from mechanics.constraints.loops import spherical
from mechanics.joints import Continuous, Revolute, Spherical
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.frames import Frame
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops.bricard import bar

Array = NDArray[np.float64]

CRANK_END, COUPLER_END, ROCKER_AT = np.array([0.3, 0.0, 0.0]), np.array([1.0, 0.4, 0.6]), np.array([1.0, 0.4, 0.0])
SECTION = 0.02
SPEED = 8.0
"""Rate of the crank, rad/s."""
LENGTH = float(np.linalg.norm(COUPLER_END - CRANK_END))
ALONG = np.array([0.0, 0.0, LENGTH])
"""From one end of the coupler to the other, in its axes."""
ENERGY = 13.302125369
"""Of the start, J."""


def tree() -> Tree:
    """Crank and coupler from the origin, the rocker from (1, 0.4, 0)."""
    hung = Frame.with_axis("crank", CRANK_END, COUPLER_END - CRANK_END)
    return Tree(
        [
            Body("crank", Continuous((0.0, 0.0, 1.0)), inertia=bar(1.0, CRANK_END, SECTION)),
            Body("coupler", Spherical(), hung.body, hung.position, hung.rotation, inertia=bar(2.0, ALONG, SECTION)),
            Body(
                "rocker", Revolute((0.0, 1.0, 0.0)), None, ROCKER_AT, inertia=bar(1.2, COUPLER_END - ROCKER_AT, SECTION)
            ),
        ],
        name="RSSR",
    )


def mechanism() -> Mechanism:
    """The tree, closed by the second ball."""
    ball = spherical(Frame("coupler", ALONG), Frame("rocker", COUPLER_END - ROCKER_AT), "second ball")
    return Mechanism(tree(), [ball], np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]))


def start() -> tuple[Array, Array]:
    """(q, v): the crank at 8 rad/s, the coupler without spin about its axis."""
    made = mechanism()
    v = made.velocities(made.home, {"crank_joint": SPEED}).v
    v[3] -= geometry(made.tree, made.home, v).V[1][5]
    return made.home, v


def started() -> Mechanism:
    """From `start`: the crank turns over, 12.88 turns in 10 s.

    Returns
    -------
    Mechanism
        At its start.

    Examples
    --------
    >>> started().mobility.dof
    2
    """
    return mechanism().with_start(*start())


def problem(projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started().problem(projection=projection)


def spin(q: Array, v: Array) -> float:
    """Angular velocity of the coupler about its axis, rad/s: zero for ever.

    Computed from momenta it carries their rounding, multiplied by the ratio of the coupler's moments (2500).
    """
    return float(geometry(tree(), q, v).V[1][5])
