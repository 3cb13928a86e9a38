"""Two arms of four links side by side, joined by bushings, or held by them on the base."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import mechanics
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.forces import bushing
from mechanics.forces.element import Element
from mechanics.joints import Revolute

Array = NDArray[np.float64]
LINKS, LENGTH, MASS, APART = 4, 0.3, 1.0, 0.25
HOME = np.array([0.4, 0.5, -0.3, 0.6, -0.2, 0.5, 0.3, -0.4])
AXES = ((0.0, 1.0, 0.0), (0.0, 0.6, 0.8), (1.0, 0.0, 0.0), (0.0, 0.8, -0.6))
TURNS, LOSS = 0.01, 1e-4
"""Stiffness against turns over that against shifts, m²; damping over stiffness, s."""


def arms() -> Tree:
    """Links of 1 kg that hang from the base, joints in all directions."""
    rod = np.diag([MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 400])
    inertia = Inertia.about_com(MASS, (0.0, 0.0, -LENGTH / 2), rod)
    bodies = []
    for arm, side in (("a", 0.0), ("b", APART)):
        for k in range(LINKS):
            place = (side, 0.0, 0.0) if k == 0 else (0.0, 0.0, -LENGTH)
            parent = None if k == 0 else f"{arm}{k - 1}"
            bodies.append(Body(f"{arm}{k}", Revolute(AXES[k]), parent, place, inertia=inertia))
    return Tree(bodies, "two arms")


def joined(stiffness: float, on_base: bool) -> Mechanism:
    """The arms with a bushing per link, relaxed at `HOME`: between the arms, or each link of one arm on the base."""
    tree = arms()
    x, R = mechanics.body_poses(tree, HOME)
    k = stiffness * np.array([1.0, 1.0, 1.0, TURNS, TURNS, TURNS])
    elements: list[list[Element]] = []
    for i in range(LINKS):
        j = LINKS + i
        first = Frame(f"a{i}", (0.0, 0.0, -0.8 * LENGTH))
        point = x[i] + R[i] @ first.position
        if on_base:
            second = Frame(None, point, R[i])
        else:
            second = Frame(f"b{i}", R[j].T @ (point - x[j]), R[j].T @ R[i])
        elements.append(bushing(first, second, k, damping=LOSS * k))
    return Mechanism(tree, home=HOME, elements=elements)
