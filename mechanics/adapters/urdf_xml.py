"""Reading a URDF file safely: refuse what is dangerous or ambiguous, list what is not carried over, keep the rest.

`read` answers a document that contains only what the equations of motion need, every number of it checked, and notes
about everything that was left out.  Nothing else of the file becomes part of a model.
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
from mechanics.adapters.urdf_visuals import is_readable
from mechanics.errors import ModelError


class Child(NamedTuple):
    """An element of the format: its attributes (text, number, limit or vector; ``!`` = required), its children (``!``,
    ``*`` = any number).
    """

    attributes: Mapping[str, str]
    children: Mapping[str, str] = MappingProxyType({})


_ORIGIN = Child({"xyz": "vector", "rpy": "vector"})
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
"""What is carried over from a URDF file; everything else is listed in the notes."""


def read(path: str | Path, limits: Limits = LIMITS) -> tuple[Element, tuple[str, ...], Element]:
    """The checked document, notes on the elements and attributes that are not carried over, and the root of the
    file as it is, which only `mechanics.adapters.urdf_visuals` looks at.

    Raises
    ------
    ModelError
        no such file, too long, not XML, a DTD or an entity declaration, elements missing, repeated or nested too
        deeply, text where a finite number is expected.
    """
    root = xml(content(path, limits, "a URDF"), str(path), limits)
    if root.tag != "robot":
        raise ModelError(
            str(path),
            f"the root element is <{root.tag}>, expected <robot>",
            "give a URDF file, with xacro macros expanded",
        )
    left_out: Counter[str] = Counter()
    kept = Element("robot", {"name": root.get("name", Path(path).stem)})
    todo = [(root, kept, "robot", "<robot>")]
    while todo:
        source, copy, kind, where = todo.pop()
        _copy_attributes(source, copy, kind, f"{path}: {where}", left_out)
        for child in _children(source, kind, f"{path}: {where}", left_out):
            name = f"<{child.tag} name={child.get('name')!r}>" if "name" in child.attrib else f"<{child.tag}>"
            todo.append(
                (
                    child,
                    SubElement(copy, child.tag),
                    f"{kind}/{child.tag}",
                    name if kind == "robot" else f"{where} {name}",
                )
            )
    return kept, tuple(f"{what} ({n}): not carried over" for what, n in sorted(left_out.items())), root


def _copy_attributes(source: Element, copy: Element, kind: str, where: str, left_out: Counter[str]) -> None:
    expected = FORMAT[kind].attributes
    for name, value in source.attrib.items():
        if name in expected:
            _check(value, expected[name].rstrip("!"), f"{where} {name}={value!r}")
            copy.set(name, value)
        else:
            left_out[f"<{source.tag} {name}=…>"] += 1
    for name, value_kind in expected.items():
        if value_kind.endswith("!") and name not in source.attrib:
            raise ModelError(where, f"attribute {name!r} of <{source.tag}> is missing", f"add {name}=…")


def _check(value: str, kind: str, where: str) -> None:
    if kind == "text":
        if not value.strip():
            raise ModelError(where, "expected a name", "give one")
        return
    words, count = value.split(), 3 if kind == "vector" else 1
    most = math.inf if kind == "limit" else LARGEST
    if len(words) != count or not all((x := number(word)) is not None and abs(x) <= most for word in words):
        expected = "three finite numbers separated by spaces" if kind == "vector" else "one finite number"
        remedy = "correct the value" if kind == "limit" else f"correct the value (in SI units, none beyond {LARGEST:g})"
        raise ModelError(where, f"expected {expected}", remedy)


def _children(source: Element, kind: str, where: str, left_out: Counter[str]) -> list[Element]:
    """The children of an element that are carried over; the others are counted."""
    expected = FORMAT[kind].children
    kept = []
    for child in source:
        if not isinstance(child.tag, str):  # a comment or a processing instruction
            continue
        if child.tag in expected:
            kept.append(child)
        elif not (child.tag == "visual" and is_readable(child)):
            left_out[f"<{child.tag}> in <{source.tag}>"] += 1
    found = Counter(child.tag for child in kept)
    for tag, times in expected.items():
        if times == "!" and not found[tag]:
            raise ModelError(where, f"<{tag}> is missing", f"add <{tag} …/> to <{source.tag}>")
        if times != "*" and found[tag] > 1:
            raise ModelError(where, f"<{tag}> appears {found[tag]} times, expected once", "keep one of them")
    return kept
