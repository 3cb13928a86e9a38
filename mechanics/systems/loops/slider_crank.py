"""The rigid slider-crank: crank 0.3 m, 1 kg; rod 0.8 m, 1.6 kg; block of 2 kg on the line y = 0.05 m."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.joints import Prismatic
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, Turning, flat, pin, point, rod

Array = NDArray[np.float64]

CRANK, ROD, OFFSET = 0.3, 0.8, 0.05
MASSES = (1.0, 1.6, 2.0)
START, SPEED = 0.8, 6.0
ENERGY = 9.12415305245
"""Of the start, to the digits known, J."""


def rod_angle(crank: Any) -> Array:
    """Absolute angle of the rod."""
    return np.asarray(np.arcsin((OFFSET - CRANK * np.sin(crank)) / ROD))


def configuration(crank: float) -> Array:
    """q = (crank, rod against crank, position of the block)."""
    rod_ = float(rod_angle(np.asarray(crank)))
    return np.array([crank, rod_ - crank, CRANK * np.cos(crank) + ROD * np.cos(rod_)])


def mechanism() -> Mechanism:
    """The mechanism, closed at the pin of the block."""
    tree = Tree(
        [
            Body("crank", HINGE, inertia=rod(MASSES[0], CRANK)),
            Body("rod", HINGE, "crank", point(CRANK, 0), inertia=rod(MASSES[1], ROD)),
            Body("block", Prismatic((1.0, 0.0, 0.0)), None, point(0, OFFSET), inertia=flat(MASSES[2], (0, 0), 0.01)),
        ],
        name="slider-crank",
        gravity=GRAVITY,
    )
    return Mechanism(tree, [pin("rod", (ROD, 0), "block", (0, 0), "pin")], configuration(START))


def started() -> Mechanism:
    """The slider-crank from the crank angle 0.8 rad at 6 rad/s: it turns for ever.

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


def effective_inertia(crank: Array) -> Array:
    """m_eff(θ): kinetic energy ½ m_eff θ̇²."""
    phi, turn = rod_angle(crank), np.imag(rod_angle(crank + 1e-30j)) / 1e-30
    vx = -CRANK * np.sin(crank) - 0.5 * ROD * np.sin(phi) * turn
    vy = CRANK * np.cos(crank) + 0.5 * ROD * np.cos(phi) * turn
    block = -CRANK * np.sin(crank) - ROD * np.sin(phi) * turn
    m1, m2, m3 = MASSES
    return np.asarray(m1 * CRANK**2 / 3.0 + m2 * (vx**2 + vy**2 + ROD**2 / 12.0 * turn**2) + m3 * block**2)


def potential(crank: Array) -> Array:
    """V(θ), J."""
    m1, m2, m3 = MASSES
    rod_height = CRANK * np.sin(crank) + 0.5 * ROD * np.sin(rod_angle(crank))
    return np.asarray(-GRAVITY[1] * (m1 * 0.5 * CRANK * np.sin(crank) + m2 * rod_height + m3 * OFFSET))


def exact() -> Turning:
    """The crank's angle at any time."""
    return Turning.of_one_freedom(effective_inertia, potential, START, SPEED)
