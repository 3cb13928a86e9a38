"""Nested models of SDF files → one model, whose names have the scopes before them: ``gripper::finger``.

Within a nested model names are looked for in its own scope; the model itself is a frame of the scope around it, at its
<pose> and on its canonical link, and ``__model__`` of the inner scope.  Source: sdformat.org, "Model composition" and
"Pose frame semantics".
"""

from __future__ import annotations

from copy import deepcopy
from xml.etree.ElementTree import Element, SubElement

from mechanics.adapters.reading import Report, some
from mechanics.adapters.sdf_frames import MODEL, WORLD, flag, of

SCOPE = "::"


def flattened(model: Element, report: Report) -> Element:
    """The model with all links, joints and frames of the models in it, in one scope."""
    flat = Element("model", model.attrib)
    todo = [(model, "")]
    for outer, scope in todo:
        _check_canonical(outer, report)
        for child in outer:
            if child.tag in ("link", "joint", "frame", "model"):
                _check_name(child, report)
            if child.tag in ("link", "joint", "frame"):
                flat.append(_in_scope(child, scope, report))
            elif child.tag == "model":
                flat.append(_frame_of(child, scope, report))
                todo.append((child, f"{scope}{child.get('name')}{SCOPE}"))
            elif not scope:
                flat.append(child)
    return flat


def _check_name(element: Element, report: Report) -> None:
    name = element.get("name", "")
    if not name.strip() or name == WORLD or (name.startswith("__") and name.endswith("__")) or SCOPE in name:
        raise report.error(of(element), "has no name, or one that SDF reserves", "give it a name of its own")


def _check_canonical(model: Element, report: Report) -> None:
    """ModelError if `canonical_link` names none of the links of the model and of those in it."""
    if not (name := model.get("canonical_link")):
        return
    holder, (*scopes, link) = [model], name.split(SCOPE)
    for scope in scopes:
        holder = [inner for outer in holder for inner in outer.findall("model") if inner.get("name") == scope]
    names = [str(e.get("name")) for inner in holder for e in inner.findall("link")]
    if link not in names:
        remedy = f"name {some(names)}" if names else "name a link of the model"
        raise report.error(f"{of(model)} canonical_link", f"is {name!r}, which is no link of the model", remedy)


def _full(name: str, scope: str) -> str:
    """A name as it stands in a scope, in that of the whole model."""
    if name in ("", WORLD) or (name == MODEL and not scope):
        return name
    return (scope + name).removesuffix(SCOPE + MODEL)


def _in_scope(element: Element, scope: str, report: Report) -> Element:
    """A link, joint or frame with its name and those that it refers to in full; what it is relative to by default is
    its own model.
    """
    made = deepcopy(element)
    made.set("name", scope + element.get("name", ""))
    for tag in ("parent", "child"):
        for end in made.findall(tag):
            end.text = _full((end.text or "").strip(), scope)
    for axis in (*made.findall("axis"), *made.findall("axis2")):
        _axis_in_scope(axis, scope, f"{of(element)} <{axis.tag}>", report)
    if scope and made.tag == "frame" and not made.get("attached_to"):
        made.set("attached_to", MODEL)
    if "attached_to" in made.attrib:
        made.set("attached_to", _full(made.get("attached_to", ""), scope))
    _pose_in_scope(made, scope, MODEL if scope and made.tag == "link" else "")
    return made


def _pose_in_scope(element: Element, scope: str, default: str) -> None:
    """What the <pose> of an element is relative to, in full."""
    given = element.find("pose")
    if given is None:
        if not default:
            return
        given = SubElement(element, "pose")
    name = given.attrib.pop("frame", "")
    given.set("relative_to", _full(given.get("relative_to") or name or default, scope))


def _axis_in_scope(axis: Element, scope: str, where: str, report: Report) -> None:
    old, xyz, mimic = axis.find("use_parent_model_frame"), axis.find("xyz"), axis.find("mimic")
    if xyz is not None and "expressed_in" in xyz.attrib:
        xyz.set("expressed_in", _full(xyz.get("expressed_in", ""), scope))
    if mimic is not None and "joint" in mimic.attrib:
        mimic.set("joint", _full(mimic.get("joint", "").strip(), scope))
    if scope and old is not None:
        if flag(old.text, f"{where} <use_parent_model_frame>", report) and xyz is not None:
            xyz.set("expressed_in", _full(MODEL, scope))
        axis.remove(old)


def _frame_of(model: Element, scope: str, report: Report) -> Element:
    """A nested model as a frame of the scope around it, on its canonical link."""
    if model.get("placement_frame"):
        remedy = "give the <pose> of the model itself"
        raise report.error(f"{of(model)} placement_frame", "is not read of nested models", remedy)
    if flag(model.findtext("static", "false"), f"{of(model)} <static>", report):
        raise report.error(f"{of(model)} <static>", "is true: nothing of it moves", "set it to false")
    frame = Element("frame", {"name": f"{scope}{model.get('name')}"})
    frame.set("attached_to", f"{scope}{_canonical(model, report)}")
    if (given := model.find("pose")) is not None:
        frame.append(deepcopy(given))
    _pose_in_scope(frame, scope, MODEL)
    return frame


def _canonical(model: Element, report: Report) -> str:
    """The link that the frame of a nested model is attached to, as the scope around it calls it."""
    names, inner = [], model
    while True:
        names.append(inner.get("name", ""))
        given = inner.get("canonical_link") or next((e.get("name", "") for e in inner.findall("link")), "")
        if given:
            return SCOPE.join([*names, given])
        nested = inner.find("model")
        if nested is None:
            raise report.error(of(model), "has no <link>", "give a model with links")
        inner = nested
