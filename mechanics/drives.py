"""What the drives of prescribed motions do: their forces, and their power.

A tree whose prescribed motions are let go has them among its coordinates; the forces that keep them on their way are
those of inverse dynamics there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real, reals
from liegroup.modules import listing
from mechanics import dynamics
from mechanics.joints import Compound, Slide, Turn
from mechanics.joints.element import Element
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

__all__ = ["drive_forces"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]


def drive_forces(
    tree: Tree, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: float, wrenches: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Force f and power f ẋ of every prescribed motion x(t) of a tree, at one instant.

    f is what inverse dynamics gives where the motion is a coordinate.  The balance of energy is

        d(energy)/dt = power + Σ f ẋ,

    with `mechanics.energy` and, of joint forces, damping and wrenches, `mechanics.power`.

    Parameters
    ----------
    tree : Tree
        The model.
    q : array (nq,)
        Configuration, rad and m.
    v : array (nv,)
        Velocities, rad/s and m/s.
    a : array (nv,)
        Their rates, rad/s² and m/s²: `mechanics.forward_dynamics`.
    t : float
        Time, s.
    wrenches : array (N, 6), optional
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m.  Of mechanisms,
        with closures and force elements: `mechanics.formulations.driving_forces`.

    Returns
    -------
    forces, powers : arrays (m,)
        N·m or N, and W: one per prescribed motion, in the order of the joints and of their elements.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a time at which a motion is not known.

    Examples
    --------
    >>> from mechanics import Body, Inertia, Tree, drive_forces
    >>> from mechanics.joints import Motion, Rheonomic, Slide
    >>> lift = Rheonomic((Slide((0.0, 0.0, 1.0), Motion((0.0, 0.5))),))
    >>> tree = Tree([Body("load", lift, inertia=Inertia.point(2.0))])
    >>> forces, powers = drive_forces(tree, [], [], [], 0.0)
    >>> round(float(forces[0]), 9), round(float(powers[0]), 9)
    (19.62, 9.81)
    """
    hint = "a Tree; of a Mechanism: mechanics.formulations.driving_forces"
    of_kind(tree, Tree, "tree", hint)
    given = [reals(x, name) for x, name in ((q, "q"), (v, "v"), (a, "a"))]
    for x, name, size in zip(given, ("q", "v", "a"), (tree.nq, tree.nv, tree.nv), strict=True):
        if x.shape != (size,):
            raise ValueError(f"{name}: shape {x.shape}, expected ({size},)")
    at = released(tree, given[0], given[1], given[2], real(t, "t"))
    loads = None
    if wrenches is not None:
        on = reals(wrenches, "wrenches")
        if on.shape != (len(tree), 6):
            raise ValueError(f"wrenches: shape {on.shape}, expected ({len(tree)}, 6)")
        loads = np.zeros((len(at.tree), 6))
        loads[at.last] = on
    forces = dynamics.inverse_dynamics(at.tree, at.q, at.v, at.a, loads)[at.driven]
    return forces, forces * at.v[at.driven]


class Released(NamedTuple):
    """A tree whose prescribed motions are let go, with the state that they give it.

    Attributes
    ----------
    tree : Tree
        The motions are among its coordinates.
    last : list of int
        The body in it of every body.
    q, v, a : arrays
        Its state: configuration, velocities and their rates.
    driven : list of int
        The velocities that are prescribed.
    names : list of str
        Of the joints that they belong to.
    """

    tree: Tree
    last: list[int]
    q: Array
    v: Array
    a: Array
    driven: list[int]
    names: list[str]


def released(tree: Tree, q: Array, v: Array, a: Array, now: float) -> Released:
    """The tree with its prescribed motions let go, at their values at time `now`."""
    states: tuple[list[float], ...] = ([], [], [])
    driven: list[int] = []
    names: list[str] = []
    taken = [0, 0]
    for body, k, element in ((b, k, e) for b in tree.bodies for k, e in enumerate(b.joint.elements)):
        motion = getattr(element, "motion", None)
        if motion is not None:
            driven.append(len(states[1]))
            names.append(body.joint_name if len(body.joint.elements) == 1 else f"{body.joint_name}.{k}")
            for state, x in zip(states, (motion.value(now), motion.rate(now), motion.acceleration(now)), strict=True):
                state.append(real(x, f"t: {now}: a prescribed motion is"))
            continue
        for state, x, n, at in zip(states, (q, v, a), (element.n_q, element.n_v, element.n_v), (0, 1, 1), strict=True):
            state += x[taken[at] : taken[at] + n].tolist()
        taken[0], taken[1] = taken[0] + element.n_q, taken[1] + element.n_v
    positions, speeds, accelerations = (np.array(x) for x in states)
    return Released(*_released(tree), positions, speeds, accelerations, driven, names)


def _released(tree: Tree) -> tuple[Tree, list[int]]:
    """The tree with a body for every element of joints that are moved, and the number of every body's last one."""
    bodies: list[Body] = []
    last: list[int] = []
    for body in tree.bodies:
        if all(getattr(e, "motion", None) is None for e in body.joint.elements):
            bodies.append(replace(body, data=JointData()))
        else:
            parts = [_free(e) for e in body.joint.elements]
            for k, part in enumerate(parts):
                end = k == len(parts) - 1
                name = body.name if end else f"{body.name} {k}"
                link = Body(
                    name,
                    Compound((part,)),
                    body.parent if k == 0 else bodies[-1].name,
                    body.position if k == 0 else np.zeros(3),
                    body.rotation if k == 0 else np.eye(3),
                    body.inertia if end else Inertia.zero(),
                )
                bodies.append(link)
        last.append(len(bodies) - 1)
    return Tree(bodies, tree.name, tree.gravity, strict=False), last


def _free(element: Element) -> Element:
    return replace(element, motion=None) if isinstance(element, Turn | Slide) else element
