"""SDF files with loops → mechanisms: a spanning tree of the links, and a closure for every joint that closes a loop.

Read as SDF 1.6 states it: the pose of a link is in the model, that of a joint in its child link, the axis in the
joint's frame, the inertia in the frame of the centre of mass; rpy = Rz Ry Rx.  Joints are taken in the order of the
file, and one whose links are already joined closes a loop.  Where a joint is met from its child it is turned round.
Springs, limits and geometry are not read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.constraints.loops import Closure, cylindrical, prismatic, revolute, spherical, universal, weld
from mechanics.errors import ModelError
from mechanics.joints import Fixed, Free, Joint, Prismatic, Revolute, Spherical
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

Array = NDArray[np.float64]
CLOSERS = {
    "revolute": revolute,
    "prismatic": prismatic,
    "ball": spherical,
    "fixed": weld,
    "universal": universal,
    "cylindrical": cylindrical,
}
"""Closures by SDF's types of joints."""


@dataclass(frozen=True, eq=False)
class _Link:
    name: str
    rotation: Array
    position: Array
    inertia: Inertia


@dataclass(frozen=True, eq=False)
class _Joint:
    """A joint at the model's own pose, in the axes of the model."""

    name: str
    kind: str
    parent: str
    child: str
    position: Array
    axis: Array
    damping: float


def load_sdf(
    path: str | os.PathLike[str],
    floating_base: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    damping: bool = True,
) -> Mechanism:
    """See `mechanics.load_mechanism`."""
    from defusedxml.ElementTree import parse

    if not Path(path).is_file():
        raise ModelError(str(path), "there is no such file", "give the path of an .sdf file")
    model = parse(str(path)).getroot().find("model")
    if model is None:
        raise ModelError(str(path), "has no <model>", "give an SDF file with one model")
    links = {link.name: link for link in (_link(e) for e in model.findall("link"))}
    joints = [_joint(e, links, str(path)) for e in model.findall("joint")]
    joined, loops = _spanning(links, joints)
    bodies, frames = _bodies(links, joined, floating_base, damping)
    closures = [_closure(j, links, frames) for j in loops]
    tree = Tree(bodies, model.get("name", "sdf"), np.asarray(gravity, dtype=float), strict=False, frames=frames)
    return Mechanism.assembled(tree, closures, name=tree.name)


def _numbers(element: Any, tag: str, count: int, default: Array) -> Array:
    text = element.findtext(tag)
    if text is None:
        return default
    numbers = np.array([float(x) for x in text.split()])
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ModelError(f"<{tag}> of {element.get('name')!r}", f"is {text!r}", f"give {count} finite numbers")
    return numbers


def _pose(element: Any) -> tuple[Array, Array]:
    """Rotation and position of a <pose>."""
    x, y, z, *rpy = _numbers(element, "pose", 6, np.zeros(6))
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    R = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return R, np.array([x, y, z])


def _link(element: Any) -> _Link:
    R, x = _pose(element)
    inertial = element.find("inertial")
    if inertial is None:
        return _Link(element.get("name"), R, x, Inertia.zero())
    R_c, c = _pose(inertial)
    t = {k: float(inertial.findtext(f"inertia/{k}", "0")) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    J = np.array([[t["ixx"], t["ixy"], t["ixz"]], [t["ixy"], t["iyy"], t["iyz"]], [t["ixz"], t["iyz"], t["izz"]]])
    return _Link(
        element.get("name"), R, x, Inertia.about_com(float(inertial.findtext("mass", "1")), c, R_c @ J @ R_c.T)
    )


def _joint(element: Any, links: dict[str, _Link], path: str) -> _Joint:
    name, kind = element.get("name"), element.get("type")
    ends = [element.findtext("parent"), element.findtext("child")]
    for end in ends:
        if end not in links:
            raise ModelError(
                f"{path}, joint {name!r}",
                f"joins an unknown link {end!r}",
                f"name one of {', '.join(list(links)[:12])}",
            )
    if kind not in CLOSERS:
        raise ModelError(f"{path}, joint {name!r}", f"has the type {kind!r}", f"use one of {', '.join(CLOSERS)}")
    child = links[ends[1]]
    R, x = _pose(element)
    axis_element = element.find("axis")
    axis = (
        np.array([0.0, 0.0, 1.0])
        if axis_element is None
        else _numbers(axis_element, "xyz", 3, np.array([0.0, 0.0, 1.0]))
    )
    damping = 0.0 if axis_element is None or kind == "ball" else float(axis_element.findtext("dynamics/damping", "0"))
    return _Joint(
        name,
        kind,
        ends[0],
        ends[1],
        child.position + child.rotation @ x,
        child.rotation @ R @ axis / np.linalg.norm(axis),
        damping,
    )


def _spanning(links: dict[str, _Link], joints: list[_Joint]) -> tuple[list[tuple[_Joint, str, str]], list[_Joint]]:
    """(joint, inner link, outer link) from the first link outwards, and the joints that close loops."""
    group = {name: name for name in links}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    edges: list[_Joint] = []
    loops: list[_Joint] = []
    for joint in joints:
        a, b = root(joint.parent), root(joint.child)
        (loops if a == b else edges).append(joint)
        group[b] = a
    found: list[tuple[_Joint, str, str]] = []
    reached = [next(iter(links))]
    for link in reached:
        for joint in edges:
            for inner, outer in ((joint.parent, joint.child), (joint.child, joint.parent)):
                if inner == link and outer not in reached:
                    found.append((joint, inner, outer))
                    reached.append(outer)
    lost = [name for name in links if name not in reached]
    if lost:
        raise ModelError(
            f"link {lost[0]!r}", f"is not joined to {reached[0]!r}", "join all links, or give one model per file"
        )
    return found, loops


def _bodies(
    links: dict[str, _Link], joined: list[tuple[_Joint, str, str]], floating_base: bool, damping: bool
) -> tuple[list[Body], dict[str, Frame]]:
    """Bodies with their origins at their joints and the axes of their links; and the frames of the links in them."""
    base = next(iter(links.values()))
    bodies: list[Body] = []
    origins = {base.name: base.position}
    frames = {base.name: Frame(None, base.position, base.rotation)}
    if floating_base:
        bodies.append(Body(base.name, Free(), inertia=base.inertia, joint_name="root_joint"))
        frames[base.name] = Frame(base.name)
    makers: dict[str, Any] = {
        "revolute": Revolute,
        "prismatic": Prismatic,
        "ball": lambda a: Spherical(),
        "fixed": lambda a: Fixed(),
    }
    for joint, inner, outer in joined:
        if joint.kind not in makers:
            raise ModelError(
                f"joint {joint.name!r}", f"has the type {joint.kind!r}", f"in the tree use one of {', '.join(makers)}"
            )
        link, held = links[outer], links[inner]
        x, y, z = (float(a) for a in link.rotation.T @ joint.axis)
        made: Joint = makers[joint.kind]((x, y, z))
        offset = link.rotation.T @ (link.position - joint.position)
        on_base = inner == base.name and not floating_base
        R, origin = (np.eye(3), np.zeros(3)) if on_base else (held.rotation, origins[inner])
        data = JointData(damping=np.full(made.n_v, joint.damping if damping else 0.0))
        bodies.append(
            Body(
                outer,
                made,
                None if on_base else inner,
                R.T @ (joint.position - origin),
                R.T @ link.rotation,
                link.inertia.moved(offset, np.eye(3)),
                joint.name,
                data,
            )
        )
        origins[outer], frames[outer] = joint.position, Frame(outer, offset)
    return bodies, frames


def _closure(joint: _Joint, links: dict[str, _Link], frames: dict[str, Frame]) -> Closure:
    """The closure that stands for a joint, at the model's own pose."""
    axes = Frame.with_axis(None, (0.0, 0.0, 0.0), joint.axis).rotation

    def seen(name: str) -> Frame:
        link, place = links[name], frames[name]
        inside = link.rotation.T @ (joint.position - link.position)
        R = np.asarray(place.rotation)
        return Frame(place.body, place.position + R @ inside, R @ link.rotation.T @ axes)

    made: Closure = CLOSERS[joint.kind](seen(joint.parent), seen(joint.child), joint.name)
    return made
