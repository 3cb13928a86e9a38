"""Reading a URDF file safely: refuse what is dangerous or ambiguous, list what is not carried over, keep the rest.

`read` answers a document that contains only what the equations of motion need, every number of it checked, and what
was left out (`urdf_left_out`).  Nothing else of the file becomes part of a model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from mechanics.adapters.reading import LARGEST, LIMITS, Limits, content, number, xml
from mechanics.adapters.urdf_left_out import LeftOut, namespace
from mechanics.adapters.urdf_visuals import is_readable
from mechanics.errors import ModelError


class Child(NamedTuple):
    """An element of the format: its attributes (text, number, limit, vector or quaternion; ``!`` = required), its
    children (``!``, ``*`` = any number).
    """

    attributes: Mapping[str, str]
    children: Mapping[str, str] = MappingProxyType({})


_ORIGIN = Child({"xyz": "vector", "rpy": "vector", "quat_xyzw": "quaternion"})
FORMAT: dict[str, Child] = {
    "robot": Child({"name": "text"}, {"link": "*", "joint": "*"}),
    "robot/link": Child({"name": "text!"}, {"inertial": ""}),
    "robot/link/inertial": Child({}, {"origin": "", "mass": "!", "inertia": "!"}),
    "robot/link/inertial/origin": _ORIGIN,
    "robot/link/inertial/mass": Child({"value": "number!"}),
    "robot/link/inertial/inertia": Child(dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "number!")),
    "robot/joint": Child(
        {"name": "text!", "type": "text!"},
        {"parent": "!", "child": "!", "origin": "", "axis": "", "limit": "", "dynamics": "", "mimic": ""},
    ),
    "robot/joint/origin": _ORIGIN,
    "robot/joint/parent": Child({"link": "text!"}),
    "robot/joint/child": Child({"link": "text!"}),
    "robot/joint/axis": Child({"xyz": "vector!"}),
    "robot/joint/limit": Child(dict.fromkeys(("lower", "upper", "effort", "velocity"), "limit")),
    "robot/joint/dynamics": Child({"damping": "number", "friction": "number"}),
    "robot/joint/mimic": Child({"joint": "text!", "multiplier": "number", "offset": "number"}),
}
"""What is carried over from a URDF file."""
NUMBERS = {"number": (1, "one finite number"), "limit": (1, "one finite number")}
NUMBERS |= {
    "vector": (3, "three finite numbers separated by spaces"),
    "quaternion": (4, "four finite numbers, not all zero"),
}
"""How many numbers an attribute has."""
OF_XACRO = ("include", "macro")
"""Elements of macros in files of before they had a namespace."""


def read(path: str | Path, limits: Limits = LIMITS) -> tuple[Element, LeftOut, Element]:
    """The checked document, the elements and attributes that are not carried over, and the root of the file as it
    is, which only `mechanics.adapters.urdf_visuals` looks at.

    Raises
    ------
    ModelError
        no such file, too long, not XML, a DTD or an entity declaration, elements missing, repeated or nested too
        deeply, text where a finite number is expected, macros of xacro.
    """
    root = xml(content(path, limits, "a URDF"), str(path), limits)
    if root.tag != "robot":
        raise ModelError(
            str(path),
            f"the root element is <{root.tag}>, expected <robot>",
            "give a URDF file, with xacro macros expanded",
        )
    for element in root.iter():
        if namespace(element).endswith("xacro") or (element.tag in OF_XACRO and element in root):
            name = str(element.tag).rpartition("}")[2]
            raise ModelError(str(path), f"has macros of xacro, <{name}>", "expand it first: xacro FILE > robot.urdf")
    left_out = LeftOut()
    kept = Element("robot", {"name": root.get("name", Path(path).stem)})
    todo = [(root, kept, "robot", "<robot>", kept.get("name", ""))]
    while todo:
        source, copy, kind, where, owner = todo.pop()
        _copy_attributes(source, copy, kind, f"{path}: {where}", owner, left_out)
        for child in _children(source, kind, f"{path}: {where}", owner, left_out):
            name = f"<{child.tag} name={child.get('name')!r}>" if "name" in child.attrib else f"<{child.tag}>"
            place = name if kind == "robot" else f"{where} {name}"
            todo.append((child, SubElement(copy, child.tag), f"{kind}/{child.tag}", place, child.get("name") or owner))
    return kept, left_out, root


def _copy_attributes(source: Element, copy: Element, kind: str, where: str, owner: str, left_out: LeftOut) -> None:
    expected = FORMAT[kind].attributes
    for name, value in source.attrib.items():
        if name in expected:
            _check(value, expected[name].rstrip("!"), f"{where} {name}={value!r}")
            copy.set(name, value)
        else:
            left_out.attribute(name, source, owner, expected)
    if {"rpy", "quat_xyzw"} <= source.attrib.keys():
        raise ModelError(where, "has both rpy and quat_xyzw", "keep one of them")
    for name, value_kind in expected.items():
        if value_kind.endswith("!") and name not in source.attrib:
            raise ModelError(where, f"attribute {name!r} of <{source.tag}> is missing", f"add {name}=…")


def _check(value: str, kind: str, where: str) -> None:
    if kind == "text":
        if not value.strip():
            raise ModelError(where, "expected a name", "give one")
        return
    words, (count, expected) = value.split(), NUMBERS[kind]
    most = math.inf if kind == "limit" else LARGEST
    numbers = [x for word in words if (x := number(word)) is not None and abs(x) <= most]
    if not len(words) == len(numbers) == count or (kind == "quaternion" and not any(numbers)):
        remedy = "correct the value" if kind == "limit" else f"correct the value (in SI units, none beyond {LARGEST:g})"
        raise ModelError(where, f"expected {expected}", remedy)


def _children(source: Element, kind: str, where: str, owner: str, left_out: LeftOut) -> list[Element]:
    """The children of an element that are carried over; the others are collected."""
    expected = FORMAT[kind].children
    kept = []
    for child in source:
        if not isinstance(child.tag, str):  # a comment or a processing instruction
            continue
        if child.tag in expected:
            kept.append(child)
        elif not (child.tag == "visual" and is_readable(child)):
            left_out.element(child, source, owner)
    found = Counter(child.tag for child in kept)
    for tag, times in expected.items():
        if times == "!" and not found[tag]:
            raise ModelError(where, f"<{tag}> is missing", f"add <{tag} …/> to <{source.tag}>")
        if times != "*" and found[tag] > 1:
            raise ModelError(where, f"<{tag}> appears {found[tag]} times, expected once", "keep one of them")
    return kept
