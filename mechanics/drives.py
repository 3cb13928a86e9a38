"""What the drives of prescribed motions do: their forces, and their power.

A tree whose prescribed motions are let go has them among its coordinates; the forces that keep them on their way are
those of inverse dynamics there.
"""

from __future__ import annotations

from dataclasses import replace

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
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m; what force
        elements and closures do is given here, too.

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
    of_kind(tree, Tree, "tree", "a Tree; what elements and closures of a mechanism do is given as wrenches")
    now = real(t, "t")
    given = [reals(x, name) for x, name in ((q, "q"), (v, "v"), (a, "a"))]
    for x, name, size in zip(given, ("q", "v", "a"), (tree.nq, tree.nv, tree.nv), strict=True):
        if x.shape != (size,):
            raise ValueError(f"{name}: shape {x.shape}, expected ({size},)")
    released, last = _released(tree)
    states: tuple[list[float], ...] = ([], [], [])
    driven: list[int] = []
    rates: list[float] = []
    taken = [0, 0]
    for element in (e for b in tree.bodies for e in b.joint.elements):
        motion = getattr(element, "motion", None)
        if motion is not None:
            driven.append(len(states[1]))
            rates.append(motion.rate(now))
            for state, x in zip(states, (motion.value(now), rates[-1], motion.acceleration(now)), strict=True):
                state.append(real(x, f"t: {now}: a prescribed motion is"))
            continue
        for state, x, n, at in zip(states, given, (element.n_q, element.n_v, element.n_v), (0, 1, 1), strict=True):
            state += x[taken[at] : taken[at] + n].tolist()
        taken[0], taken[1] = taken[0] + element.n_q, taken[1] + element.n_v
    loads = None
    if wrenches is not None:
        on = reals(wrenches, "wrenches")
        if on.shape != (len(tree), 6):
            raise ValueError(f"wrenches: shape {on.shape}, expected ({len(tree)}, 6)")
        loads = np.zeros((len(released), 6))
        loads[last] = on
    positions, speeds, accelerations = states
    forces = dynamics.inverse_dynamics(released, positions, speeds, accelerations, loads)[driven]
    return forces, forces * rates


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
