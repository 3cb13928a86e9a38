"""MJCF files → trees, read by MuJoCo's own compiler: defaults, includes, frames and inertias from geometry are its
business.

A MuJoCo body carries any number of joints, each about an anchor; here the joints about one anchor are one joint, whose
body has its origin at the anchor, and further anchors are massless bodies in between.  ``tree.frames`` has the frames
of the file.  Bodies without joints stay bodies, on a `Fixed` joint.  Coordinates count from the model's reference
(``qpos0``), free joints give the position and orientation in the world.  What MuJoCo would do and the tree does not is
listed in ``tree.notes``.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
_GRAVITY_OFF = 1 << 6
"""mjDSBL_GRAVITY of versions up to 3.3; newer ones are asked by name."""


def load_mjcf(source: str | os.PathLike[str], gravity: ArrayLike | None = None, *, damping: bool = True) -> Tree:
    """See `mechanics.load_mjcf`."""
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error}; install the model readers: pip install 'liemech[robots]'", name=error.name
        ) from None
    text = str(source)
    where = "MJCF text" if text.lstrip().startswith("<") else text
    if where == text and not Path(text).is_file():
        raise ModelError(where, "there is no such file", "give the path of an .xml file, or its text")
    try:
        model = mujoco.MjModel.from_xml_string(text) if where != text else mujoco.MjModel.from_xml_path(text)
    except ValueError as error:
        raise ModelError(where, f"MuJoCo's compiler says: {error}", "correct the file") from None
    if gravity is None:
        off = int(getattr(mujoco.mjtDisableBit, "mjDSBL_GRAVITY", _GRAVITY_OFF)) & model.opt.disableflags
        gravity = (0.0, 0.0, 0.0) if off else model.opt.gravity
    bodies, frames = _bodies(model, where, damping)
    if not bodies:
        raise ModelError(where, "has no body besides the world", "add a <body>")
    notes, changes = _left_out(model, damping)
    name = model.names[: model.names.index(b"\0")].decode() or "mjcf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # the compiler has checked the inertias
        tree = Tree(bodies, name, gravity, strict=False, notes=(*changes, *notes), frames=frames)
    if changes:
        warnings.warn("\n  ".join([f"{where}: the tree differs from the file:", *changes]), ModelWarning, stacklevel=3)
    return tree


def _bodies(model: Any, where: str, damping: bool) -> tuple[list[Body], dict[str, Frame]]:
    bodies: list[Body] = []
    frames: dict[str, Frame] = {}
    names = [model.body(b).name or f"body_{b}" for b in range(model.nbody)]
    places: list[Frame] = [Frame(None)]
    for b in range(1, model.nbody):
        above = places[model.body_parentid[b]]
        R = np.asarray(above.rotation)
        position, rotation = above.position + R @ model.body_pos[b], R @ _matrix(model.body_quat[b])
        groups = _groups(model, b)
        parent, origin = above.body, np.zeros(3)
        for k, (anchor, joints) in enumerate(groups):
            is_last = k == len(groups) - 1
            name = names[b] if is_last else f"{names[b]}_anchor_{k + 1}"
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
    return "+".join(model.joint(j).name or f"joint_{j}" for j in joints)


def place_of(model: Any, j: int) -> tuple[str, int]:
    """Where the tree has a hinge or slide: its joint, and the number of the freedom in it."""
    joints = next(group for _, group in _groups(model, int(model.jnt_bodyid[j])) if j in group)
    before = [int(model.jnt_type[k]) for k in joints[: joints.index(j)]]
    return _name(model, joints), sum(SIZES[kind][1] for kind in before)


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


def _data(model: Any, joints: list[int], damping: bool) -> JointData:
    """Damping, friction and limits; limits of turns and slides, counted from the reference."""
    d: list[float] = []
    f: list[float] = []
    lower: list[float] = []
    upper: list[float] = []
    for j in joints:
        kind = int(model.jnt_type[j])
        n_q, n_v = SIZES[kind]
        dofs = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + n_v)
        d += list(model.dof_damping[dofs]) if damping else [0.0] * n_v
        f += list(model.dof_frictionloss[dofs])
        bounded = bool(model.jnt_limited[j]) and kind in (SLIDE, HINGE)
        reference = model.qpos0[model.jnt_qposadr[j]] if bounded else 0.0
        lower += [float(model.jnt_range[j][0] - reference)] if bounded else [-np.inf] * n_q
        upper += [float(model.jnt_range[j][1] - reference)] if bounded else [np.inf] * n_q
    return JointData(damping=np.array(d), friction=np.array(f), lower=np.array(lower), upper=np.array(upper))


def _left_out(model: Any, damping: bool) -> tuple[list[str], list[str]]:
    """What is only noted, and what makes the tree move differently than MuJoCo's model."""
    contacts = int(((model.geom_contype != 0) | (model.geom_conaffinity != 0)).sum())
    references = int(
        sum(model.qpos0[model.jnt_qposadr[j]] != 0 for j in range(model.njnt) if model.jnt_type[j] in (SLIDE, HINGE))
    )
    limits = int(np.sum(model.jnt_limited))
    changes = [
        (contacts, "geoms that can touch: contacts are not modelled"),
        (model.neq, "equality constraints (<equality>) are left out; load_mechanism keeps those of bodies and joints"),
        (model.ntendon, "tendons are left out"),
        (model.nu, "actuators are left out; pass joint forces instead"),
        (int(np.count_nonzero(model.dof_armature)), "degrees of freedom with armature: rotor inertia is left out"),
        (
            int(np.count_nonzero(model.jnt_stiffness)),
            "springs of joints (stiffness) are left out; see mechanics.forces",
        ),
        (
            int(np.count_nonzero(model.dof_frictionloss)),
            "degrees of freedom with dry friction (frictionloss): not modelled",
        ),
        (int(np.count_nonzero(model.body_gravcomp)), "bodies with gravity compensation: left out"),
        (int(bool(model.opt.density or model.opt.viscosity)), "surrounding fluid: its forces are left out"),
        (int(np.count_nonzero(model.body_mocapid >= 0)), "mocap bodies are fixed where the file has them"),
    ]
    notes = [
        (limits, "joint limits are carried as data, not enforced"),
        (references, "joints with a reference: q counts from it"),
        (int(not damping and bool(model.dof_damping.any())), "damping: left out, as asked for by damping=False"),
    ]
    return [f"{n} × {text}" for n, text in notes if n], [f"{n} × {text}" for n, text in changes if n]
