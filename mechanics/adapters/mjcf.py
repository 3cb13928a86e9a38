"""MJCF files → trees, read by MuJoCo's own compiler: defaults, includes, frames and inertias from geometry are its
business.

A MuJoCo body carries any number of joints, each about an anchor; here the joints about one anchor are one joint, whose
body has its origin at the anchor, and further anchors are massless bodies in between.  ``tree.frames`` has the frames
of the bodies and the sites of the file.
Bodies without joints stay bodies, on a `Fixed` joint.  Coordinates count from the model's reference
(``qpos0``), free joints give the position and orientation in the world.  What MuJoCo would do and the tree does not is
listed in ``tree.notes``.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.adapters.mjcf_contacts import touching
from mechanics.adapters.mjcf_model import (
    active_equalities,
    compiled,
    disabled,
    given,
    named,
    number_of_actuators,
    stiff_joints,
)
from mechanics.adapters.mjcf_sites import sites
from mechanics.adapters.mjcf_visuals import visuals
from mechanics.adapters.reading import LIMITS, Limits, Report, inside, some
from mechanics.adapters.state_map import element_names
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.errors import ModelError, ModelWarning
from mechanics.joints import (
    Ball,
    Compound,
    Element,
    Fixed,
    Float,
    Free,
    Joint,
    Prismatic,
    Revolute,
    Slide,
    Spherical,
    Turn,
)
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

Array = NDArray[np.float64]
FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's types of joints (mjtJoint)."""
SIZES = {FREE: (7, 6), BALL: (4, 3), SLIDE: (1, 1), HINGE: (1, 1)}
"""Numbers of coordinates and of velocities."""
ON_JOINT, IN_PARENT, ON_TENDON, AT_SITE = 0, 1, 3, 4
"""MuJoCo's transmissions (mjtTrn) that are sums over joints, and that at a site."""


def load_mjcf(
    source: str | os.PathLike[str],
    gravity: ArrayLike | None = None,
    *,
    damping: bool = True,
    trusted: bool = False,
    limits: Limits = LIMITS,
) -> Tree:
    """See `mechanics.load_mjcf`."""
    model, report = compiled(source, trusted, limits)
    _only_of_mechanisms(model, report)
    tree = tree_of(model, report, gravity, damping)
    report.warn()
    return tree


def tree_of(model: Any, report: Report, gravity: ArrayLike | None, damping: bool, contacts: bool = False) -> Tree:
    """The tree of a model, with what else is left out in the report: contacts, too, unless they are elsewhere."""
    if gravity is None:
        gravity = (0.0, 0.0, 0.0) if disabled(model, "mjDSBL_GRAVITY") else model.gravity
    undamped = damping and disabled(model, "mjDSBL_DAMPER")
    with inside(report.path):
        bodies, frames = bodies_of(model, damping and not undamped)
        if not bodies:
            raise ModelError(report.path, "has no body besides the world", "add a <body>")
        _left_out(model, report, damping, undamped, contacts)
        name = model.names[: model.names.index(b"\0")].decode() or "mjcf"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the compiler has checked the inertias
            looks = visuals(model, frames)
            frames |= sites(model, frames)
            return Tree(bodies, name, gravity, strict=False, notes=report.notes, frames=frames, visuals=looks)


def _only_of_mechanisms(model: Any, report: Report) -> None:
    """What a tree cannot have, and the mechanism of the same file has."""
    if held := [named(model, "body", int(b)) for b in carried(model)]:
        report.change(_counted(held, "bodies with gravity compensation: left out of a tree; load_mechanism has it"))
    joint_of = [named(model, "joint", int(j)) for j in model.dof_jntid]
    powers = getattr(model, "dof_dampingpoly", np.zeros((model.nv, 1)))
    thick = list(dict.fromkeys(joint_of[i] for i in range(model.nv) if np.any(powers[i])))
    rubbing = list(dict.fromkeys(joint_of[i] for i in np.flatnonzero(model.dof_frictionloss)))
    for names, text in (
        ([named(model, "equality", e) for e in active_equalities(model)], "equality constraints (<equality>)"),
        ([named(model, "joint", j) for j in stiff_joints(model)], "springs of joints (stiffness)"),
        ([named(model, "tendon", i) for i in range(model.ntendon)], "tendons"),
        ([named(model, "actuator", i) for i in range(number_of_actuators(model))], "actuators"),
        (rubbing, "joints with dry friction (frictionloss)"),
        (thick, "joints with damping that is not linear"),
    ):
        if names:
            report.change(_counted(names, f"{text}: left out of the tree; load_mechanism has them"))
    if free := [named(model, "joint", int(j)) for j in np.flatnonzero(model.jnt_type == FREE)]:
        report.notes.append(
            _counted(
                free, "free joints: neutral() is the origin of the world; load_mechanism's home the pose of the file"
            )
        )
    if limited := [named(model, "joint", int(j)) for j in np.flatnonzero(model.jnt_limited)]:
        report.notes.append(_counted(limited, "joint limits are carried as data; load_mechanism has stops"))


def carried(model: Any) -> NDArray[np.int64]:
    """Bodies with gravity compensation, which MuJoCo looks at only if some are there, greater than zero, when a model
    is compiled.
    """
    found: NDArray[np.int64] = np.flatnonzero(model.body_gravcomp)
    return found if getattr(model, "ngravcomp", 1) else found[:0]


def _turning(model: Any) -> tuple[list[str], list[str]]:
    """Free joints and balls whose armature, and free joints whose damping, differs by direction: no file says so."""
    armature: list[str] = []
    damping: list[str] = []
    for j in np.flatnonzero(np.isin(model.jnt_type, (FREE, BALL))):
        k, name = int(model.jnt_dofadr[j]), named(model, "joint", int(j))
        triples = [slice(k, k + 3), slice(k + 3, k + 6)][: 2 if model.jnt_type[j] == FREE else 1]
        if any(np.ptp(model.dof_armature[one]) for one in triples):
            armature.append(name)
        if model.jnt_type[j] == FREE and np.ptp(model.dof_damping[triples[0]]):
            damping.append(name)
    return armature, damping


def _counted(names: list[str], text: str) -> str:
    return f"{len(names)} × {text}: {some(names)}"


def bodies_of(model: Any, damping: bool) -> tuple[list[Body], dict[str, Frame]]:
    """The bodies of the tree, and the frames of the model's bodies in them."""
    bodies: list[Body] = []
    frames: dict[str, Frame] = {}
    names = [named(model, "body", b) for b in range(model.nbody)]
    places: list[Frame] = [Frame(None)]
    for b in range(1, model.nbody):
        above = places[model.body_parentid[b]]
        R = np.asarray(above.rotation)
        position, rotation = above.position + R @ model.body_pos[b], R @ _matrix(model.body_quat[b])
        groups = _groups(model, b)
        parent, origin = above.body, np.zeros(3)
        for k, (anchor, joints) in enumerate(groups):
            is_last = k == len(groups) - 1
            name = names[b] if is_last else given(model, f"{names[b]}_anchor_{k + 1}")
            free = joints and model.jnt_type[joints[0]] == FREE
            inertia = _inertia(model, b).moved(-anchor, np.eye(3)) if is_last else Inertia.zero()
            bodies.append(
                Body(
                    name,
                    _joint(model, joints),
                    parent,
                    np.zeros(3) if free else position + rotation @ (anchor - origin),
                    np.eye(3) if free else rotation,
                    inertia,
                    _name(model, joints),
                    _data(model, joints, damping),
                )
            )
            parent, position, rotation, origin = name, np.zeros(3), np.eye(3), anchor
        places.append(Frame(names[b], -origin))
        frames[names[b]] = places[b]
    return bodies, frames


def _name(model: Any, joints: list[int]) -> str:
    """The name of the joint that the joints about one anchor become."""
    name = "+".join(named(model, "joint", j) for j in joints)
    return name if len(joints) < 2 else given(model, name)


def place_of(model: Any, j: int) -> tuple[str, int]:
    """Where the tree has a hinge or slide: its joint, and the number of the freedom in it."""
    joints = next(group for _, group in _groups(model, int(model.jnt_bodyid[j])) if j in group)
    before = [int(model.jnt_type[k]) for k in joints[: joints.index(j)]]
    return _name(model, joints), sum(SIZES[kind][1] for kind in before)


def joint_of(model: Any, j: int) -> str:
    """The name of the elementary motion that a joint becomes (`mechanics.adapters.state_map.element_names`)."""
    joints = next(group for _, group in _groups(model, int(model.jnt_bodyid[j])) if j in group)
    return element_names(_name(model, joints), joints)[joints.index(j)]


def _matrix(quaternion_wxyz: Any) -> Array:
    return np.asarray(rotation_from_quaternion(np.asarray(quaternion_wxyz, dtype=np.float64)))


def _groups(model: Any, b: int) -> list[tuple[Array, list[int]]]:
    """The joints of a body in order, together where they share their anchor; slides have none of their own."""
    start = int(model.body_jntadr[b])
    groups: list[tuple[Array, list[int]]] = []
    for j in range(start, start + int(model.body_jntnum[b])):
        kind = model.jnt_type[j]
        anchor = np.zeros(3) if kind == FREE else np.array(model.jnt_pos[j])
        if groups and (kind == SLIDE or np.array_equal(groups[-1][0], anchor)):
            groups[-1][1].append(j)
        elif groups and all(model.jnt_type[k] == SLIDE for k in groups[-1][1]):
            groups[-1] = (anchor, [*groups[-1][1], j])
        else:
            groups.append((anchor, [j]))
    return groups or [(np.zeros(3), [])]


def _joint(model: Any, joints: list[int]) -> Joint:
    kinds = [int(model.jnt_type[j]) for j in joints]
    axes = [tuple(float(x) for x in model.jnt_axis[j]) for j in joints]
    if len(joints) == 1:
        alone: dict[int, Any] = {FREE: lambda a: Free(), BALL: lambda a: Spherical(), SLIDE: Prismatic, HINGE: Revolute}
        made: Joint = alone[kinds[0]](axes[0])
        return made
    part: dict[int, Any] = {FREE: lambda a: Float(), BALL: lambda a: Ball(), SLIDE: Slide, HINGE: Turn}
    parts: tuple[Element, ...] = tuple(part[kind](axis) for kind, axis in zip(kinds, axes, strict=True))
    return Compound(parts) if parts else Fixed()


def _inertia(model: Any, b: int) -> Inertia:
    R = _matrix(model.body_iquat[b])
    return Inertia.about_com(model.body_mass[b], model.body_ipos[b], R @ np.diag(model.body_inertia[b]) @ R.T)


def rotors(model: Any, j: int) -> float:
    """J n² of the actuators of a hinge or slide that have an armature, which older versions of MuJoCo do not know."""
    found = 0.0
    for i in np.flatnonzero(getattr(model, "actuator_armature", ())):
        if model.actuator_trntype[i] in (ON_JOINT, IN_PARENT) and model.actuator_trnid[i][0] == j:
            found += float(model.actuator_armature[i]) * float(model.actuator_gear[i][0]) ** 2
    return found if model.jnt_type[j] in (SLIDE, HINGE) else 0.0


def _data(model: Any, joints: list[int], damping: bool) -> JointData:
    """Damping, friction, armature and limits; limits of turns and slides, counted from the reference."""
    d: list[float] = []
    a: list[float] = []
    f: list[float] = []
    lower: list[float] = []
    upper: list[float] = []
    for j in joints:
        kind = int(model.jnt_type[j])
        n_q, n_v = SIZES[kind]
        dofs = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + n_v)
        d += list(model.dof_damping[dofs]) if damping else [0.0] * n_v
        f += list(model.dof_frictionloss[dofs])
        a += [float(x) + rotors(model, j) for x in model.dof_armature[dofs]]
        bounded = bool(model.jnt_limited[j]) and kind in (SLIDE, HINGE)
        reference = model.qpos0[model.jnt_qposadr[j]] if bounded else 0.0
        lower += [float(model.jnt_range[j][0] - reference)] if bounded else [-np.inf] * n_q
        upper += [float(model.jnt_range[j][1] - reference)] if bounded else [np.inf] * n_q
    limits = {"lower": np.array(lower), "upper": np.array(upper)}
    return JointData(damping=np.array(d), friction=np.array(f), armature=np.array(a), **limits)


def _left_out(model: Any, report: Report, damping: bool, undamped: bool, contacts: bool) -> None:
    """What is only noted, and what makes the tree move differently than MuJoCo's model."""
    joint_of = [named(model, "joint", int(j)) for j in model.dof_jntid]

    def joints(values: Any) -> list[str]:
        """Names of the joints whose degrees of freedom have some, each once."""
        found: Any = np.flatnonzero(np.any(np.reshape(values, (model.nv, -1)), axis=1)) if model.nv else ()
        return list(dict.fromkeys(joint_of[i] for i in found))

    def those(kind: str, chosen: Any) -> list[str]:
        return [named(model, kind, int(i)) for i in np.flatnonzero(chosen)]

    uneven, dragged = _turning(model)
    simple = np.isin(model.jnt_type, (SLIDE, HINGE))
    shifted = [named(model, "joint", int(j)) for j in np.flatnonzero(simple) if model.qpos0[model.jnt_qposadr[j]]]
    for names, text in (
        ([] if contacts else touching(model), "geoms that can touch: contacts are not modelled"),
        (["<option>"] * bool(model.density or model.viscosity), "surrounding fluid: its forces are left out"),
        ([f"flex_{i}" for i in range(getattr(model, "nflex", 0))], "deformable bodies: left out"),
        (uneven, "armature that differs by direction turns with the joint here, in MuJoCo it does not"),
        (dragged if damping else [], "damping that differs by direction is along the body here, in MuJoCo the world"),
        (those("body", model.body_mocapid >= 0), "mocap bodies are fixed where the file has them"),
    ):
        if names:
            report.change(_counted(names, text))
    for names, text in (
        (shifted, "joints with a reference: q counts from it"),
        ([named(model, "keyframe", k) for k in range(model.nkey)], "keyframes: left out; q = 0 is the reference pose"),
        (joints(model.dof_damping) if not damping else [], "damping: left out, as asked for by damping=False"),
        (joints(model.dof_damping) if undamped else [], "damping: switched off by a <flag> of the file"),
    ):
        if names:
            report.notes.append(_counted(names, text))
