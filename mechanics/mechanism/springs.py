"""How fast a mechanism swings on its force elements, and which of them a variational step of some size cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.mobility import mass_matrix
from mechanics.forces import OnBodies
from mechanics.forces.joint_stop import JointStop

if TYPE_CHECKING:
    from mechanics.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]
LARGEST_TURN = 2.0
"""h ω of the fastest spring from which on an explicit step grows: the bound of the Störmer–Verlet method."""
DEEP = 0.01
"""rad or m beyond a stop that is more than what rests on one."""
_NUDGE = 1e-6


class FastestSpring(NamedTuple):
    """How fast a mechanism swings on its force elements, and on which.

    Attributes
    ----------
    rate : float
        The greatest angular frequency, rad/s; 0 if nothing pulls back.
    joint : str
        The joint that moves most, in energy.
    element : str
        The force element that pulls most.

    Examples
    --------
    >>> from mechanics import Body, Inertia, Mechanism, Tree, forces, joints
    >>> arm = Body("arm", joints.Revolute((0, 1, 0)), inertia=Inertia.point(2.0, (0, 0, -0.5)), joint_name="elbow")
    >>> sprung = Mechanism(Tree([arm]), elements=[forces.joint_spring("elbow", 50.0)])
    >>> round(sprung.fastest_spring([0.0]).rate, 6)
    10.0
    """

    rate: float
    joint: str
    element: str


def fastest_spring(mechanism: Mechanism, q: Array) -> FastestSpring:
    """See `Mechanism.fastest_spring`."""
    rate, shape = _fastest_swing(mechanism, q)
    if not rate:
        return FastestSpring(0.0, "", "")
    energies = np.abs(shape * (mass_matrix(mechanism.tree, q) @ shape))
    joint = mechanism.labels[1][int(np.argmax(energies))].rsplit(".", 1)[0]
    return FastestSpring(rate, joint, _pulling_most(mechanism, q, shape))


def begins_beyond(mechanism: Mechanism, q: Array) -> str:
    """Which stop a configuration is furthest beyond, and by how much, if by more than `DEEP`; else nothing."""
    tree, deepest, said = mechanism.tree, DEEP, ""
    starts = dict(zip(tree.joint_names, tree.q_offsets.tolist(), strict=False))
    for stop in mechanism.elements:
        if not isinstance(stop, JointStop):
            continue
        named = (stop.joint, 0) if isinstance(stop.joint, str) else stop.joint
        if not isinstance(named, tuple):  # a tendon
            continue
        name, part = named
        x = float(q[starts[name] + part])
        depth, which, limit = max((x - stop.upper, "upper", stop.upper), (stop.lower - x, "lower", stop.lower))
        if depth > deepest:
            deepest = depth
            said = (
                f"joint {name!r} begins {depth:.3g} beyond its {which} stop at {limit:.3g}, which will throw it back; "
                "begin within its limits, or leave the stops out"
            )
    return said


def step_doubts(mechanism: Mechanism, y: Array, h: float, springs: str = "trapezoidal") -> list[Doubt]:
    """Springs that a variational step of size h cannot hold: it takes their forces at its ends; with springs by the
    midpoint rule, contacts alone.
    """
    kept = [e for e in mechanism.elements if springs == "trapezoidal" or isinstance(e, OnBodies)]
    if not kept:
        return []
    held, q = mechanism._with(kept), y[: mechanism.tree.nq]
    omega, _ = _fastest_swing(held, q)
    if h * omega < LARGEST_TURN:
        return []
    spring = fastest_spring(held, q)
    says = f"{spring.element} swings with {omega:.4g} rad/s, most in joint {spring.joint!r}, too fast for steps of"
    remedy = f"use steps below {LARGEST_TURN / omega:.3g} s"
    if springs == "trapezoidal" and not spring.element.startswith("Contact"):
        remedy += ", or TREE_VARIATIONAL_IMEX, which has no such limit"
    return [Doubt("turn_per_step", 0.0, h * omega, LARGEST_TURN, f"{says} {h:.3g} s", remedy)]


def _fastest_swing(mechanism: Mechanism, q: Array) -> tuple[float, Array]:
    """The greatest angular frequency on force elements about q, and the velocity of that swing."""
    n, equations = mechanism.tree.nv, mechanism.equations
    pull = _pull(mechanism, q, _NUDGE * np.vstack([np.eye(n), -np.eye(n)]))
    stiffness = (pull[n:] - pull[:n]) / (2.0 * _NUDGE)
    free = np.linalg.svd(equations.matrix(q))[2][mechanism.mobility.rank :].T if len(equations) else np.eye(n)
    if not free.shape[1]:
        return 0.0, np.zeros(n)
    M = mass_matrix(mechanism.tree, q)
    free = free @ np.linalg.inv(np.linalg.cholesky(free.T @ M @ free)).T
    values, vectors = np.linalg.eigh(0.5 * free.T @ (stiffness + stiffness.T) @ free)
    return float(np.sqrt(max(values[-1], 0.0))), free @ vectors[:, -1]


def _pull(mechanism: Mechanism, q: Array, nudges: Array) -> Array:
    """Forces of the elements along the velocities, at rest in configurations q exp(nudge)."""
    tree, bare = mechanism.tree, mechanism._with(())
    near, still = np.array([moved_by(tree, q, x) for x in nudges]), np.zeros((len(nudges), tree.nv))
    return np.asarray(mechanism.rhs(near, still)[1] - bare.rhs(near, still)[1])


def _pulling_most(mechanism: Mechanism, q: Array, shape: Array) -> str:
    """The element that stores most where the mechanism is moved along a velocity."""
    nudges, most, name = _NUDGE / np.abs(shape).max() * np.array([shape, -shape]), 0.0, ""
    for element in mechanism.elements:
        pull = _pull(mechanism._with((element,)), q, nudges)
        x = float((pull[1] - pull[0]) @ shape)
        if x > most:
            most, name = x, str(element)
    return name
