"""A space manipulator with the build of the station's seven-joint arm: roll, yaw, pitch, pitch, pitch, yaw, roll."""

from __future__ import annotations

import numpy as np

from integrators.problem import Problem
from mechanics.joints import Free, Joint, Revolute
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.problems.tree import hamiltonian_problem
from mechanics.systems.checks import finite

_LINKS = (
    # joint, axis, joint frame in the link before (m), mass (kg), centre of mass (m), moments about it (kg m²)
    ("shoulder_roll", (1, 0, 0), (0.0, 0.0, 0.5), 42.5, (0.0, 0.25, 0.0), (0.8854, 0.0531, 0.8854)),
    ("shoulder_yaw", (0, 0, 1), (0.0, 0.5, 0.0), 42.5, (0.0, 0.25, 0.0), (0.8854, 0.0531, 0.8854)),
    ("shoulder_pitch", (0, 1, 0), (0.0, 0.5, 0.0), 70.0, (2.5, 0.0, 0.0), (0.0875, 145.8333, 145.8333)),
    ("elbow_pitch", (0, 1, 0), (5.0, 0.0, 0.0), 70.0, (2.5, 0.0, 0.0), (0.0875, 145.8333, 145.8333)),
    ("wrist_pitch", (0, 1, 0), (5.0, 0.0, 0.0), 42.5, (0.0, 0.0, 0.25), (0.8854, 0.8854, 0.0531)),
    ("wrist_yaw", (0, 0, 1), (0.0, 0.0, 0.5), 42.5, (0.0, 0.0, 0.25), (0.8854, 0.8854, 0.0531)),
    ("wrist_roll", (1, 0, 0), (0.0, 0.0, 0.5), 42.5, (0.0, 0.0, 0.55), (1.275, 1.275, 0.0531)),
)
_BASE = Inertia.about_com(106.0, (0.0, 0.0, 0.0), np.diag([106.0, 106.0, 106.0]))


def space_manipulator_tree(free_base: bool = False) -> Tree:
    """The arm without gravity, on a fixed base or on a satellite of 106 kg that floats.

    Masses, moments and centres of mass are those published for an arm "of SSRMS type" with booms of 5 m (Jia and others
    2019, Table 2); the joints sit at the ends of the links, which follow from the centres of mass.
    """
    bodies = [Body("satellite", Free(), inertia=_BASE, joint_name="satellite")] if free_base else []
    parent = "satellite" if free_base else None
    for k, (name, axis, place, mass, com, moments) in enumerate(_LINKS, 1):
        joint: Joint = Revolute(axis)
        body = f"link_{k}"
        bodies.append(
            Body(body, joint, parent, place, inertia=Inertia.about_com(mass, com, np.diag(moments)), joint_name=name)
        )
        parent = body
    return Tree(bodies, "space manipulator", gravity=(0.0, 0.0, 0.0))


def space_manipulator(free_base: bool = True, speed: float = 0.05) -> Problem:
    """The arm bent at the elbow with all joints turning: momenta and energy are kept.

    Parameters
    ----------
    free_base : bool
        Whether the satellite floats.
    speed : float
        Rate of every joint, rad/s.

    Returns
    -------
    Problem
        State (q, p); watches energy and, floating, the momenta.

    Raises
    ------
    ValueError
        A speed that is not finite.

    Examples
    --------
    >>> space_manipulator().dimension
    26
    """
    finite(speed=speed)
    tree = space_manipulator_tree(free_base)
    q, v = tree.neutral(), np.zeros(tree.nv)
    q[-7:] = 0.3, -0.4, 0.6, -1.2, 0.5, 0.2, 0.1
    v[-7:] = speed
    return hamiltonian_problem(tree, q, v)
