"""The links and joints of a URDF file as objects, from its checked document (`urdf_xml`): numbers for text, defaults of
the format for what is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from liegroup.rotations import matrix_from_quaternion_wxyz, quaternion_wxyz_from_xyzw
from mechanics.adapters.reading import roll_pitch_yaw

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Inertial:
    """Mass and tensor of a link about its centre of mass, in the axes of the pose `origin` (4, 4)."""

    origin: Array | None
    mass: float
    inertia: Array


@dataclass(frozen=True)
class Link:
    """A link by name."""

    name: str
    inertial: Inertial | None


@dataclass(frozen=True)
class Limit:
    """What the file says of the range, force and speed of a joint."""

    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None


@dataclass(frozen=True)
class Dynamics:
    """What the file says of the friction in a joint."""

    damping: float | None
    friction: float | None


@dataclass(frozen=True)
class Mimic:
    """q = multiplier · (q of `joint`) + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Joint:
    """A joint from the link `parent` to the link `child`, which lies at the pose `origin` (4, 4) in it."""

    name: str
    type: str
    parent: str
    child: str
    origin: Array | None
    axis: Array
    limit: Limit | None
    dynamics: Dynamics | None
    mimic: Mimic | None


@dataclass(frozen=True)
class Robot:
    """A robot by name, with its links and joints in the order of the file."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]


def robot_of(document: Element) -> Robot:
    """The robot of a checked document."""
    links = tuple(Link(link.attrib["name"], _inertial(link.find("inertial"))) for link in document.findall("link"))
    return Robot(document.attrib["name"], links, tuple(map(_joint, document.findall("joint"))))


def _inertial(element: Element | None) -> Inertial | None:
    if element is None:
        return None
    xx, xy, xz, yy, yz, zz = (
        float(element.find("inertia").attrib[f"i{axes}"])  # type: ignore[union-attr]
        for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
    )
    mass = float(element.find("mass").attrib["value"])  # type: ignore[union-attr]
    return Inertial(_pose(element.find("origin")), mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _joint(element: Element) -> Joint:
    limit, dynamics, mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
    axis = element.find("axis")
    return Joint(
        name=element.attrib["name"],
        type=element.attrib["type"],
        parent=element.find("parent").attrib["link"],  # type: ignore[union-attr]
        child=element.find("child").attrib["link"],  # type: ignore[union-attr]
        origin=_pose(element.find("origin")),
        axis=np.array([1.0, 0.0, 0.0]) if axis is None else _numbers(axis.attrib["xyz"]),
        limit=None if limit is None else Limit(*(_number(limit, x) for x in ("lower", "upper", "effort", "velocity"))),
        dynamics=None if dynamics is None else Dynamics(_number(dynamics, "damping"), _number(dynamics, "friction")),
        mimic=None
        if mimic is None
        else Mimic(mimic.attrib["joint"], float(mimic.get("multiplier", 1.0)), float(mimic.get("offset", 0.0))),
    )


def turned(quaternion_xyzw: Array) -> Array:
    """The rotation (3, 3) of a quaternion of any norm but zero."""
    q = quaternion_xyzw / np.abs(quaternion_xyzw).max()
    return np.asarray(matrix_from_quaternion_wxyz(quaternion_wxyz_from_xyzw(q / np.linalg.norm(q))))


def _number(element: Element, name: str) -> float | None:
    text = element.get(name)
    return None if text is None else float(text)


def _numbers(text: str) -> Array:
    return np.array([float(word) for word in text.split()])


def _pose(element: Element | None) -> Array | None:
    if element is None:
        return None
    pose = np.eye(4)
    if (turn := element.get("quat_xyzw")) is not None:
        pose[:3, :3] = turned(_numbers(turn))
    else:
        pose[:3, :3] = roll_pitch_yaw(_numbers(element.get("rpy", "0 0 0")))
    pose[:3, 3] = _numbers(element.get("xyz", "0 0 0"))
    return pose
