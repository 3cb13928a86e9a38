"""Trees as Pinocchio models, with the map of their states.

Pinocchio numbers joints depth first (its `crba` and derivatives are silently wrong otherwise), writes quaternions as
(x, y, z, w) and the angles of planar and of unbounded joints as (cos, sin).  Velocities and momenta are the same
numbers in another order.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals
from mechanics.adapters.pinocchio_model import PROJECT, side_of, turns
from mechanics.adapters.reading import some
from mechanics.adapters.state_map import CIRCLE, NUMBER, Place, StateMap, element_names, places_of
from mechanics.algebra.spatial import unit
from mechanics.errors import ModelError, ModelWarning
from mechanics.joints import Ball, Element, Float, Plane, Screw, Slide, Turn
from mechanics.model.frames import Frame
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
NO_LIMIT = float(np.finfo(np.float64).max)
"""What Pinocchio writes where there is no limit."""


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
    states : StateMap
        ``states.theirs(q, v)`` → states of the model, ``states.ours(q, v)`` → of the tree.  The methods below are its
        parts.

    Raises
    ------
    ValueError
        From the maps: arrays of other sizes; TypeError for what are no real numbers.

    Examples
    --------
    >>> import mechanics
    >>> import pinocchio
    >>> made = mechanics.to_pinocchio(mechanics.load_model("go2"))
    >>> bool((made.configuration(made.tree.neutral()) == pinocchio.neutral(made.model)).all())
    True
    """

    tree: Tree
    model: Any
    places: list[_Place]
    states: StateMap

    def __post_init__(self) -> None:
        of_kind(self.tree, Tree, "tree", "a Tree")
        of_kind(self.states, StateMap, "states", "a StateMap")

    def configuration(self, q: ArrayLike) -> Array:
        """q of the tree (…, nq) in Pinocchio's order.

        Parameters
        ----------
        q : array (…, nq)
            Of the tree, rad and m; quaternions (w, x, y, z).

        Returns
        -------
        array (…, model.nq)
            Quaternions (x, y, z, w), planar joints (x, y, cos θ, sin θ), unbounded ones (cos θ, sin θ).
        """
        return self.states.theirs(q)[0]

    def tree_configuration(self, q: ArrayLike) -> Array:
        """The inverse of `configuration`; angles of planar and of unbounded joints within (−π, π].

        Parameters
        ----------
        q : array (…, model.nq)
            Of Pinocchio, rad and m.

        Returns
        -------
        array (…, nq)
            Of the tree.
        """
        return self.states.ours(q)[0]

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
        return self.states.theirs(self.tree.neutral(), v)[1]

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
        return self.states.ours(self.configuration(self.tree.neutral()), v)[1]

    def tree_matrix(self, M: ArrayLike) -> Array:
        """A matrix (nv, nv) of Pinocchio, all of it filled, in the tree's order.

        Parameters
        ----------
        M : array (nv, nv)
            Of Pinocchio, SI units.

        Returns
        -------
        array (nv, nv)
            In the tree's order.
        """
        return self.states.our_matrix(self.configuration(self.tree.neutral()), M)

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
        loads = reals(wrenches, "wrenches")
        if loads.shape != (len(self.places), 6):
            raise ValueError(f"wrenches: shape {loads.shape}, expected ({len(self.places)}, 6), one row per body")
        for place, w in zip(self.places, loads, strict=True):
            total[place.joint] += pin.SE3(place.rotation, place.position).act(pin.Force(w[:3].copy(), w[3:].copy()))
        forces = pin.StdVec_Force()
        for f in total:
            forces.append(f)
        return forces


def to_pinocchio(tree: Tree, like: Any = None) -> PinocchioTree:
    """See `mechanics.to_pinocchio`."""
    import pinocchio as pin

    of_kind(tree, Tree, "tree", "a Tree; a Mechanism has an attribute tree")
    there: Mapping[str, Place] = {}
    if like is not None:
        side = side_of(like)
        StateMap(tree, side)  # names joints of one side only
        there = side.places
    model = pin.Model()
    model.name = tree.name
    model.gravity.linear = np.array(tree.gravity)
    order = _order(tree, there)
    places = [_Place(0, np.zeros(3), np.eye(3)) for _ in tree.bodies]
    todo = sorted(tree.roots, key=order.__getitem__, reverse=True)
    while todo:
        i = todo.pop()
        todo += sorted(tree.children[i], key=order.__getitem__, reverse=True)
        body, k = tree.bodies[i], int(tree.parents[i])
        on = places[k] if k >= 0 else _Place(0, np.zeros(3), np.eye(3))
        place = on.moved(body.position, body.rotation)
        elements = body.joint.elements
        for name, e in zip(element_names(body.joint_name, elements), elements, strict=True):
            place = _add_joint(pin, model, e, place, name, name in there and there[name].kind == CIRCLE)
        places[i] = place
        se3 = pin.SE3(place.rotation, place.position)
        if not body.inertia.is_zero:
            inertia = pin.Inertia.Zero()  # filled, since its maker refuses the unphysical tensors of some robots
            inertia.mass, inertia.lever = body.inertia.mass, np.array(body.inertia.com)
            inertia.inertia = body.inertia.tensor_about_com
            model.appendBodyToJoint(place.joint, inertia, se3)
        model.addFrame(pin.Frame(body.name, place.joint, se3, pin.FrameType.BODY), False)
    side = side_of(model)
    own = [name for name, place in there.items() if not place.follows]
    if own != [name for name in sorted(side.places, key=lambda n: side.places[n].q) if name in own]:
        raise ModelError(f"like: joints of {like.name!r}", "are not in depth-first order", "build it branch by branch")
    if turning := [body.joint_name for body in tree.bodies if turns(body)]:
        text = f"armature of free, planar or uneven ball joints turns with the joint here, not there: {some(turning)}"
        warnings.warn(ModelWarning(f"{tree.name!r} in {PROJECT}: {text}", [(text, tuple(turning))]), stacklevel=3)
    found = PinocchioTree(tree, model, places, StateMap(tree, side))
    _fill(found, side.places)
    return found


def _order(tree: Tree, there: Mapping[str, Place]) -> list[tuple[float, int]]:
    """For every body what siblings are sorted by: the first number of its joints, and those behind it, in `there`."""
    first = [np.inf] * len(tree)
    for i in reversed(range(len(tree))):
        body, k = tree.bodies[i], int(tree.parents[i])
        own = [there[name].q for name in element_names(body.joint_name, body.joint.elements) if name in there]
        first[i] = min([first[i], *own])
        if k >= 0:
            first[k] = min(first[k], first[i])
    return [(q, i) for i, q in enumerate(first)]


def _add_joint(pin: Any, model: Any, e: Element, place: _Place, name: str, circle: bool) -> _Place:
    """Add an element to the model; returns the place of its child frame."""
    if e.motion is not None:
        raise ValueError(f"joint {name!r} has a prescribed motion: {PROJECT} has no such joint")
    turned = np.eye(3)  # Pinocchio's plane is its own xy; its unbounded turns about any axis cannot be made from Python
    if isinstance(e, Plane):
        turned = np.asarray(e.axes(0.0), dtype=float)
    elif isinstance(e, Turn) and circle:
        turned = np.asarray(Frame.with_axis(None, axis=e.axis).rotation)
    joint = pin.JointModelRUBZ() if circle else _joint(pin, e)
    number = model.addJoint(place.joint, joint, pin.SE3(place.rotation @ turned, place.position), name)
    return _Place(number, np.zeros(3), turned.T)


def _fill(found: PinocchioTree, there: Mapping[str, Place]) -> None:
    """Armature, damping, dry friction and limits of the joints, as far as both sides write their coordinates alike."""
    model, here = found.model, places_of(found.tree)
    model.armature = found.velocity(found.tree.armature)
    model.damping = found.velocity(_joined(found.tree, "damping", 0.0))
    for name, limit in (("friction", "DryFrictionLimit"), ("effort", "EffortLimit"), ("velocity", "VelocityLimit")):
        values = found.velocity(_joined(found.tree, name, 0.0 if name == "friction" else np.inf))
        setattr(model, f"upper{limit}", values)
        setattr(model, f"lower{limit}", -values)
    for bound, default in (("lower", -np.inf), ("upper", np.inf)):
        values, limits = _joined(found.tree, bound, default), getattr(model, f"{bound}PositionLimit")
        for name, place in there.items():
            if place.kind == NUMBER:
                limits[place.q] = values[here[name].q]


def _joined(tree: Tree, name: str, default: float) -> Array:
    """What the data of the joints say, one number per degree of freedom, or per coordinate."""
    known = ((b, getattr(b.data, name)) for b in tree.bodies)
    size = "n_q" if name in ("lower", "upper") else "n_v"
    parts = [np.full(getattr(b.joint, size), default) if x is None else np.asarray(x) for b, x in known]
    return np.asarray(np.clip(np.concatenate([np.zeros(0), *parts]), -NO_LIMIT, NO_LIMIT))


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
