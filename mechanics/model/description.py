"""Trees in words: as a drawing for people, and as plain dictionaries (JSON) for files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import mechanics.joints as joints
from mechanics.errors import ModelError
from mechanics.model import words
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.words import Words, plain

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

FORMAT = 1
"""Version of the dictionaries."""
_PARTS: dict[str, Any] = {
    name: getattr(joints, name) for name in joints.__all__ if isinstance(getattr(joints, name), type)
}
_REMEDY = "compare with a dictionary made by Tree.to_dict"
_named = partial(words.named, remedy=_REMEDY)
JOINTS = Words("joint", lambda: _PARTS, "describe it as a Compound of elementary motions")
"""Joints, their elementary motions, and motions of time."""
_SHOWN = 200
"""Bodies of a drawing; of larger trees the rest is counted."""


# --- for people -------------------------------------------------------------------------------------------------------


def drawing(tree: Tree) -> str:
    """The bodies below one another as they hang, with joint, place in q and mass."""
    g = ", ".join(f"{x:g}" for x in tree.gravity)
    lines = [
        f"{tree.name}: {len(tree)} bodies, nq = {tree.nq}, nv = {tree.nv}, {tree.mass:.4g} kg, gravity ({g})",
        "base",
    ]
    todo = [(i, "", k == len(tree.roots) - 1) for k, i in enumerate(tree.roots)][::-1]
    while todo and len(lines) < _SHOWN + 2:
        i, before, last = todo.pop()
        lines.append(f"{before}{'└─' if last else '├─'} {_line(tree, i)}")
        below = tree.children[i]
        deeper = before + ("   " if last else "│  ")
        todo += [(j, deeper, k == len(below) - 1) for k, j in enumerate(below)][::-1]
    if len(tree) > _SHOWN:
        lines.append(f"… and {len(tree) - _SHOWN} more")
    return "\n".join(lines)


def _line(tree: Tree, i: int) -> str:
    body, where = tree.bodies[i], tree.q_slice(i)
    if where.stop - where.start > 1:
        place = f", q[{where.start}:{where.stop}]"
    else:
        place = f", q[{where.start}]" if where.stop > where.start else ""
    mass = f"{body.inertia.mass:.4g} kg" if not body.inertia.is_zero else "massless"
    return f"{body.name}  ({body.joint.kind} {body.joint_name!r}{place})  {mass}"


# --- for files --------------------------------------------------------------------------------------------------------


def to_dictionary(tree: Tree) -> dict[str, Any]:
    """Everything of a tree but its looks in lists, strings and numbers; `from_dictionary` gives the same tree to the
    last bit.
    """
    return {
        "format": FORMAT,
        "name": tree.name,
        "gravity": plain(tree.gravity),
        "bodies": [_body(body) for body in tree.bodies],
        "frames": {
            name: {"body": f.body, "position": plain(f.position), "rotation": plain(f.rotation)}
            for name, f in tree.frames.items()
        },
        "notes": list(tree.notes),
    }


def from_dictionary(data: Mapping[str, Any]) -> Tree:
    """The tree of a dictionary.

    Raises
    ------
    ModelError
        What is missing, unknown or wrong, and where.
    """
    from mechanics.model.tree import Tree

    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise ModelError(
            "dictionary of a tree", f"format is {found!r}", f"give a dictionary made by Tree.to_dict (format {FORMAT})"
        )
    items, frames = data.get("bodies"), data.get("frames", {})
    if not isinstance(items, list) or not isinstance(frames, Mapping):
        raise ModelError("dictionary of a tree", "its bodies are no list, or its frames no mapping", _REMEDY)
    bodies = [_read_body(k, item) for k, item in enumerate(items)]
    with _named("frames"):
        made = {name: Frame(**frame) for name, frame in frames.items()}
    with _named("dictionary of a tree"):
        notes = tuple(map(str, data.get("notes", ())))
        return Tree(bodies, data.get("name", "tree"), data["gravity"], strict=False, notes=notes, frames=made)


def _read_body(k: int, item: Any) -> Any:
    from mechanics.model.tree import Body, JointData

    if not isinstance(item, Mapping):
        raise ModelError(f"body {k}", f"is {type(item).__name__}", _REMEDY)
    where = f"body {item.get('name', k)!r}"
    known = {f.name for f in dataclasses.fields(Body)}
    if unknown := set(item) - known:
        raise ModelError(where, f"unknown entries {sorted(map(str, unknown))}", f"expected some of {sorted(known)}")
    with _named(where):
        values = dict(item)
        values["joint"] = JOINTS.read(item["joint"])
        values["inertia"] = Inertia.about_origin(**item["inertia"])
        values["data"] = JointData(**{name: _numbers(x) for name, x in item.get("data", {}).items()})
        return Body(**values)


def _body(body: Any) -> dict[str, Any]:
    inertia = body.inertia
    return {
        "name": body.name,
        "joint": JOINTS.of(body.joint),
        "parent": body.parent,
        "position": plain(body.position),
        "rotation": plain(body.rotation),
        "inertia": {"mass": inertia.mass, "com": plain(inertia.com), "tensor": plain(inertia.tensor)},
        "joint_name": body.joint_name,
        "data": {
            f.name: plain(x) for f in dataclasses.fields(body.data) if (x := getattr(body.data, f.name)) is not None
        },
    }


def _numbers(x: Any) -> Any:
    return [float(y) for y in x] if isinstance(x, (list, tuple)) else float(x)
