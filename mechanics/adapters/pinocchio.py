"""Trees as Pinocchio models, and states between the two orders.

Pinocchio numbers joints depth first (its `crba` and derivatives are silently wrong otherwise), writes quaternions as
(x, y, z, w) and the angle of a planar joint as (cos, sin).  Velocities and momenta are the same numbers in another
order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import reals
from mechanics.algebra.spatial import unit
from mechanics.joints import Ball, Element, Float, Plane, Screw, Slide, Turn
from mechanics.model.tree import Tree

Array = NDArray[np.float64]


@dataclass
class _Place:
    """Where a frame is: on which joint of Pinocchio, and how in its axes."""

    joint: int
    position: Array
    rotation: Array

    def moved(self, position: Any, rotation: Any) -> _Place:
        return _Place(self.joint, self.position + self.rotation @ position, self.rotation @ rotation)


@dataclass
class PinocchioTree:
    """A Pinocchio model of a tree, and the maps between their states.

    Attributes
    ----------
    tree : Tree
        What the model was made of.
    model : pinocchio.Model
        Named joints (elements of a composed joint as ``"<joint>.<number>"``) and a frame for every body.
    places : list
        For every body of the tree: the number of its joint in the model, and its position and rotation there.
    q_from, v_from : list
        Which numbers of q and v go where.

    Raises
    ------
    ValueError
        From the maps: arrays of other sizes; TypeError for what are no real numbers.

    Examples
    --------
    See `to_pinocchio`.
    """

    tree: Tree
    model: Any
    places: list[_Place]
    q_from: list[tuple[str, int, int]] = field(default_factory=list)
    v_from: list[tuple[int, int, int]] = field(default_factory=list)

    def configuration(self, q: ArrayLike) -> Array:
        """q of the tree (…, nq) in Pinocchio's order.

        Parameters
        ----------
        q : array (…, nq)
            Of the tree, rad and m; quaternions (w, x, y, z).

        Returns
        -------
        array (…, model.nq)
            Quaternions (x, y, z, w), planar joints (x, y, cos θ, sin θ).
        """
        q = _sized(q, self.tree.nq, "q")
        out = np.empty((*q.shape[:-1], self.model.nq))
        for kind, here, there in self.q_from:
            if kind == "angle and position":
                out[..., there : there + 2] = q[..., here : here + 2]
                out[..., there + 2], out[..., there + 3] = np.cos(q[..., here + 2]), np.sin(q[..., here + 2])
                continue
            if kind == "position and quaternion":
                out[..., there : there + 3] = q[..., here : here + 3]
                here, there = here + 3, there + 3
            if kind == "number":
                out[..., there] = q[..., here]
            else:
                out[..., there : there + 4] = np.roll(q[..., here : here + 4], -1, axis=-1)
        return out

    def tree_configuration(self, q: ArrayLike) -> Array:
        """The inverse of `configuration`; angles of planar joints within (−π, π].

        Parameters
        ----------
        q : array (…, model.nq)
            Of Pinocchio, rad and m.

        Returns
        -------
        array (…, nq)
            Of the tree.
        """
        q = _sized(q, self.model.nq, "q")
        out = np.empty((*q.shape[:-1], self.tree.nq))
        for kind, here, there in self.q_from:
            if kind == "angle and position":
                out[..., here : here + 2] = q[..., there : there + 2]
                out[..., here + 2] = np.arctan2(q[..., there + 3], q[..., there + 2])
                continue
            if kind == "position and quaternion":
                out[..., here : here + 3] = q[..., there : there + 3]
                here, there = here + 3, there + 3
            if kind == "number":
                out[..., here] = q[..., there]
            else:
                out[..., here : here + 4] = np.roll(q[..., there : there + 4], 1, axis=-1)
        return out

    def velocity(self, v: ArrayLike) -> Array:
        """v, p or joint forces of the tree (…, nv) in Pinocchio's order.

        Parameters
        ----------
        v : array (…, nv)
            Of the tree, SI units.

        Returns
        -------
        array (…, nv)
            In Pinocchio's order.
        """
        v = _sized(v, self.tree.nv, "v")
        out = np.empty_like(v)
        for here, there, n in self.v_from:
            out[..., there : there + n] = v[..., here : here + n]
        return out

    def tree_velocity(self, v: ArrayLike) -> Array:
        """The inverse of `velocity`.

        Parameters
        ----------
        v : array (…, nv)
            Of Pinocchio, SI units.

        Returns
        -------
        array (…, nv)
            In the tree's order.
        """
        v = _sized(v, self.tree.nv, "v")
        out = np.empty_like(v)
        for here, there, n in self.v_from:
            out[..., here : here + n] = v[..., there : there + n]
        return out

    def tree_matrix(self, M: ArrayLike) -> Array:
        """A matrix (nv, nv) of Pinocchio, in the tree's order; only the upper triangle of a symmetric one need be
        filled.

        Parameters
        ----------
        M : array (nv, nv)
            Of Pinocchio, SI units.

        Returns
        -------
        array (nv, nv)
            In the tree's order.
        """
        rows = self.tree_velocity(_sized(M, self.tree.nv, "M").T).T
        return self.tree_velocity(rows)

    def forces(self, wrenches: ArrayLike) -> Any:
        """Wrenches on the bodies (N, 6), body axes, as Pinocchio's list of forces on joints.

        Parameters
        ----------
        wrenches : array (N, 6)
            (force, moment), body axes, at the body origins, N and N·m.

        Returns
        -------
        pinocchio.StdVec_Force
            One per joint of the model.
        """
        import pinocchio as pin

        total = [pin.Force.Zero() for _ in range(self.model.njoints)]
        loads = _sized(wrenches, 6, "wrenches")
        if loads.shape != (len(self.places), 6):
            raise ValueError(f"wrenches: shape {loads.shape}, expected ({len(self.places)}, 6), one row per body")
        for place, w in zip(self.places, loads, strict=True):
            total[place.joint] += pin.SE3(place.rotation, place.position).act(pin.Force(w[:3].copy(), w[3:].copy()))
        forces = pin.StdVec_Force()
        for f in total:
            forces.append(f)
        return forces


def _sized(values: ArrayLike, n: int, name: str) -> Array:
    """An array (…, n)."""
    x = reals(values, name)
    if x.shape[-1:] != (n,):
        raise ValueError(f"{name}: shape {x.shape}, expected (…, {n})")
    return x


def to_pinocchio(tree: Tree) -> PinocchioTree:
    """Build a Pinocchio model of a tree (gravity, inertias, joints, armature; not limits and damping).

    Parameters
    ----------
    tree : Tree
        Without prescribed motions.

    Returns
    -------
    PinocchioTree
        The model, and the maps between the states.

    Raises
    ------
    ModuleNotFoundError
        Pinocchio (package ``pin``) is not installed.
    ValueError
        A joint with prescribed motion, which Pinocchio does not have.

    Notes
    -----
    Pinocchio's armature adds a v̇ to the joint forces and no more; that of a tree turns with the joint, a v̇ − ad_vᵀ(a
    v). The two differ for planar and free joints with armature along their translations, and for balls with three
    different numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import mechanics
    >>> import pinocchio
    >>> tree = mechanics.load_model("double_pendulum")
    >>> found = to_pinocchio(tree)
    >>> M = pinocchio.crba(found.model, found.model.createData(), found.configuration(tree.neutral()))
    >>> bool(np.allclose(found.tree_matrix(M), mechanics.mass_matrix(tree, tree.neutral())))
    True
    """
    import pinocchio as pin

    model = pin.Model()
    model.name = tree.name
    model.gravity.linear = np.array(tree.gravity)
    found = PinocchioTree(tree, model, [_Place(0, np.zeros(3), np.eye(3)) for _ in tree.bodies])
    todo = list(reversed(tree.roots))
    while todo:
        i = todo.pop()
        todo += reversed(tree.children[i])
        body, k = tree.bodies[i], int(tree.parents[i])
        on = found.places[k] if k >= 0 else _Place(0, np.zeros(3), np.eye(3))
        place = on.moved(body.position, body.rotation)
        q, v = int(tree.q_offsets[i]), int(tree.v_offsets[i])
        elements = body.joint.elements
        for number, e in enumerate(elements):
            name = body.joint_name if len(elements) == 1 else f"{body.joint_name}.{number}"
            place = _add_joint(pin, found, e, place, name, q, v)
            q, v = q + e.n_q, v + e.n_v
        found.places[i] = place
        se3 = pin.SE3(place.rotation, place.position)
        if not body.inertia.is_zero:
            inertia = pin.Inertia(body.inertia.mass, np.array(body.inertia.com), body.inertia.tensor_about_com)
            model.appendBodyToJoint(place.joint, inertia, se3)
        model.addFrame(pin.Frame(body.name, place.joint, se3, pin.FrameType.BODY), False)
    model.armature = found.velocity(tree.armature)
    return found


def _add_joint(pin: Any, found: PinocchioTree, e: Element, place: _Place, name: str, q: int, v: int) -> _Place:
    """Add an element to the model; returns the place of its child frame."""
    if e.motion is not None:
        raise ValueError(f"joint {name!r} has a prescribed motion: Pinocchio has no such joint")
    turned = (
        np.asarray(e.axes(0.0), dtype=float) if isinstance(e, Plane) else np.eye(3)
    )  # Pinocchio's plane is its own xy
    model = found.model
    number = model.addJoint(place.joint, _joint(pin, e), pin.SE3(place.rotation @ turned, place.position), name)
    kind = {Plane: "angle and position", Float: "position and quaternion", Ball: "quaternion"}.get(type(e), "number")
    found.q_from.append((kind, q, model.idx_qs[number]))
    found.v_from.append((v, model.idx_vs[number], e.n_v))
    return _Place(number, np.zeros(3), turned.T)


def _joint(pin: Any, e: Element) -> Any:
    if isinstance(e, Turn | Slide):
        kind, axis = (
            ("R", "Revolute") if isinstance(e, Turn) else ("P", "Prismatic"),
            np.asarray(unit(e.axis), dtype=float),
        )
        for letter, direction in zip("XYZ", np.eye(3), strict=True):
            if np.array_equal(axis, direction):
                return getattr(pin, f"JointModel{kind[0]}{letter}")()
        return getattr(pin, f"JointModel{kind[1]}Unaligned")(axis)
    if isinstance(e, Screw):
        return pin.JointModelHelicalUnaligned(np.asarray(unit(e.axis), dtype=float), e.pitch)
    return {Plane: pin.JointModelPlanar, Ball: pin.JointModelSpherical, Float: pin.JointModelFreeFlyer}[type(e)]()
