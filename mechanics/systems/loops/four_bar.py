"""The planar four-bar linkage: crank, coupler and rocker; turning for ever or swinging, with its exact motion.

Crank AB = 0.35 m, 1 kg, at A(0, 0); coupler BC = 0.9 m, 2 kg; rocker DC = 0.7 m, 1.5 kg, at D(1, 0); slender rods.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.tree import Body, Tree
from mechanics.systems.checks import finite
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, Turning, pin, point, rod

Array = NDArray[np.float64]

CRANK, COUPLER, ROCKER, GROUND = 0.35, 0.9, 0.7, 1.0
MASSES = (1.0, 2.0, 1.5)
START = 1.0
"""Angle of the crank, rad."""
SPEED = 4.0
"""Rate of the crank, rad/s."""
ENERGY = 18.0054013242029
"""Of the turning start, J."""
PERIOD = 0.983652672756514
"""Of the turning motion, s."""


def angles(crank: Any) -> tuple[Any, Any]:
    """Absolute angles of coupler and rocker, the coupler above BD."""
    bx, by = CRANK * np.cos(crank), CRANK * np.sin(crank)
    dx, dy = GROUND - bx, -by
    d2 = dx * dx + dy * dy
    d = np.sqrt(d2)
    coupler = _angle(dy, dx) + np.arccos((COUPLER**2 + d2 - ROCKER**2) / (2.0 * COUPLER * d))
    rocker = _angle(by + COUPLER * np.sin(coupler), bx + COUPLER * np.cos(coupler) - GROUND)
    return coupler, rocker


def _angle(y: Any, x: Any) -> Any:
    """atan2, also of complex steps."""
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        r2 = np.real(x) ** 2 + np.real(y) ** 2
        return np.arctan2(np.real(y), np.real(x)) + 1j * (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / r2
    return np.arctan2(y, x)


def configuration(crank: float) -> Array:
    """q = (crank, coupler against crank, rocker)."""
    coupler, rocker = angles(crank)
    return np.array([crank, coupler - crank, rocker])


def tree() -> Tree:
    """Crank and coupler from A, rocker from D."""
    return Tree(
        [
            Body("crank", HINGE, inertia=rod(MASSES[0], CRANK)),
            Body("coupler", HINGE, "crank", point(CRANK, 0), inertia=rod(MASSES[1], COUPLER)),
            Body("rocker", HINGE, None, point(GROUND, 0), inertia=rod(MASSES[2], ROCKER)),
        ],
        name="four-bar",
        gravity=GRAVITY,
    )


def mechanism() -> Mechanism:
    """The linkage, closed at C."""
    return Mechanism(tree(), [pin("coupler", (COUPLER, 0), "rocker", (ROCKER, 0), "C")], configuration(START))


def started(speed: float = SPEED) -> Mechanism:
    """The four-bar linkage from the crank angle 1 rad; the default speed turns for ever, speed 0 swings.

    Parameters
    ----------
    speed : float
        Of the crank, rad/s.

    Returns
    -------
    Mechanism
        At its start.

    Raises
    ------
    ValueError, TypeError
        A speed that is not a finite number.

    Examples
    --------
    >>> started(0.0)
    <Mechanism 'four-bar': 3 bodies, 5 closure equations of rank 2, dof 1>
    """
    finite(speed=speed)
    return mechanism().with_start(rates={"crank_joint": speed})


def problem(speed: float = SPEED, projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started(speed).problem(projection=projection)


def effective_inertia(crank: Array) -> Array:
    """m_eff(θ): kinetic energy ½ m_eff θ̇²."""
    coupler, rocker = (np.imag(x) / 1e-30 for x in angles(crank + 1e-30j))
    th2, _ = angles(crank)
    vx = -CRANK * np.sin(crank) - 0.5 * COUPLER * np.sin(th2) * coupler
    vy = CRANK * np.cos(crank) + 0.5 * COUPLER * np.cos(th2) * coupler
    m1, m2, m3 = MASSES
    return np.asarray(
        m1 * CRANK**2 / 3.0 + m2 * (vx**2 + vy**2 + COUPLER**2 / 12.0 * coupler**2) + m3 * ROCKER**2 / 3.0 * rocker**2
    )


def potential(crank: Array) -> Array:
    """V(θ), J."""
    th2, th3 = angles(crank)
    m1, m2, m3 = MASSES
    height = (
        m1 * 0.5 * CRANK * np.sin(crank)
        + m2 * (CRANK * np.sin(crank) + 0.5 * COUPLER * np.sin(th2))
        + m3 * 0.5 * ROCKER * np.sin(th3)
    )
    return np.asarray(-GRAVITY[1] * height)


def exact() -> Turning:
    """The turning motion from the default start: the crank's angle at any time."""
    return Turning.of_one_freedom(effective_inertia, potential, START, SPEED)
