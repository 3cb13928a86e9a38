"""Where the named frames of an SDF model are, and to which links they are attached.

The pose X = (R, p) of an element places it in the frame it is relative to: x_reference = R x + p.  That frame is named
by `relative_to` (before SDF 1.7: `frame`); by default it is the model for a link, the child for a joint, and what it is
attached to for a <frame>.  Names beside those of links, joints and frames: ``__model__``, and ``world`` for what joints
hang on.  Everything here is in the axes of the world: the model stands there at its own <pose>.

Source: sdformat.org, "Pose frame semantics" (1.4 to 1.12) and "Specifying pose".
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from mechanics.adapters.reading import LARGEST, Report, number, roll_pitch_yaw, some
from mechanics.algebra.spatial import rotation_from_quaternion

Array = NDArray[np.float64]
Pose = tuple[Array, Array]
WORLD, MODEL = "world", "__model__"


def of(element: Element) -> str:
    """The element in words."""
    name = element.get("name")
    return f"<{element.tag}>" if name is None else f"<{element.tag} name={name!r}>"


def numbers(text: str | None, counts: tuple[int, ...], where: str, report: Report) -> Array:
    """Numbers of ASCII digits, as many as one of `counts`."""
    found = [number(word) for word in (text or "").split()]
    values = [x for x in found if x is not None and abs(x) <= LARGEST]
    if len(values) != len(found) or len(values) not in counts:
        raise report.error(
            where, f"is {_short(text)}", f"give {counts[0]} finite numbers (in SI units, none beyond {LARGEST:g})"
        )
    return np.array(values)


def flag(text: str | None, where: str, report: Report) -> bool:
    """true, false, 1 or 0."""
    known = {"true": True, "1": True, "false": False, "0": False}
    word = (text or "").strip().lower()
    if word not in known:
        raise report.error(where, f"is {_short(text)}", "give true or false")
    return known[word]


def _short(text: str | None) -> str:
    return repr(text if text is None or len(text) < 60 else text[:57] + "…")


def pose(element: Element, report: Report) -> Pose:
    """Rotation and position by the <pose> of an element: x y z and roll pitch yaw (Rz Ry Rx), or a quaternion."""
    given = element.find("pose")
    if given is None or not (given.text or "").strip():
        return np.eye(3), np.zeros(3)
    where = f"{of(element)} <pose>"
    if (form := given.get("rotation_format", "euler_rpy")) == "quat_xyzw":
        x = numbers(given.text, (7,), where, report)
        if abs(np.linalg.norm(x[3:]) - 1.0) > 1e-6:
            raise report.error(where, f"has the quaternion {x[3:].tolist()}", "give one of length 1")
        w = np.roll(x[3:], 1)
        return np.asarray(rotation_from_quaternion(w / np.linalg.norm(w))), x[:3]
    if form != "euler_rpy":
        raise report.error(where, f"rotation_format is {form!r}", "use euler_rpy or quat_xyzw")
    values = numbers(given.text, (6,), where, report)
    degrees = flag(given.get("degrees", "false"), f"{where} degrees", report)
    return roll_pitch_yaw(np.radians(values[3:]) if degrees else values[3:]), values[:3]


def _after(outer: Pose, inner: Pose) -> Pose:
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]


class Frames:
    """The frames of one <model>, in the world."""

    def __init__(self, model: Element, report: Report) -> None:
        self.report = report
        self._named: dict[str, list[Element]] = {}
        for kind in ("link", "joint", "frame"):
            for element in model.findall(kind):
                self._add(element)
        self._count = sum(map(len, self._named.values()))
        self._canonical = model.get("canonical_link") or next((e.get("name", "") for e in model.iter("link")), WORLD)
        self._known: dict[Element, Pose] = {}
        self._model: Pose = (np.eye(3), np.zeros(3))
        self._model = self._placed(model)

    def _add(self, element: Element) -> None:
        same = self._named.setdefault(element.get("name", ""), [])
        if any(other.tag == element.tag for other in same):
            raise self.report.error(of(element), "appears twice", "give each its own name")
        same.append(element)

    def _placed(self, model: Element) -> Pose:
        """X_world,model: the <pose> of the model, or of the frame of it that `placement_frame` names."""
        given = self.own(model, WORLD)
        if not (held := model.get("placement_frame")):
            return given
        R, p = self.of(held, f"{of(model)} placement_frame")
        self._known.clear()
        return _after(given, (R.T, -R.T @ p))

    def _find(self, name: str, where: str) -> Element:
        """The element of a name; before SDF 1.7 a link and another may share one, and the link is meant."""
        found = self._named.get(name, [])
        if not found:
            problem = f"names {name!r}, which is no link, joint or frame of the model"
            raise self.report.error(where, problem, f"name {some(self._named)}")
        return next((element for element in found if element.tag == "link"), found[0])

    def _reference(self, element: Element) -> str:
        """The frame that the pose of an element names, or an empty string."""
        given = element.find("pose")
        return "" if given is None else given.get("relative_to") or given.get("frame") or ""

    def own(self, element: Element, *allowed: str) -> Pose:
        """The <pose> of an element whose frame is not a matter of choice."""
        if (name := self._reference(element)) and name not in allowed:
            where = f"{of(element)} <pose>"
            raise self.report.error(where, f"is relative to {name!r}", "leave out that attribute, it has no choice")
        return pose(element, self.report)

    def _default(self, element: Element) -> str:
        if element.tag == "joint":
            return (element.findtext("child") or "").strip()
        return element.get("attached_to") or MODEL if element.tag == "frame" else MODEL

    def place(self, element: Element) -> Pose:
        """Where a link, joint or frame is in the world."""
        chain: list[Element] = []
        current: Element | Pose = element
        while isinstance(current, Element):
            if current in self._known:
                current = self._known[current]
                break
            if len(chain) > self._count:
                raise self.report.error(f"{of(element)} <pose>", "is relative to itself", "break the cycle of frames")
            chain.append(current)
            current = self._outer(self._reference(current) or self._default(current), f"{of(current)} <pose>")
        for inner in reversed(chain):
            current = self._known[inner] = _after(current, pose(inner, self.report))
        return current

    def _outer(self, name: str, where: str) -> Element | Pose:
        if name == WORLD:
            return np.eye(3), np.zeros(3)
        return self._model if name == MODEL else self._find(name, where)

    def of(self, name: str, where: str) -> Pose:
        """Where a named frame is in the world."""
        found = self._outer(name, where)
        return self.place(found) if isinstance(found, Element) else found

    def link_of(self, name: str, where: str) -> str:
        """The link that a named frame moves with, or the world."""
        for _ in range(len(self._named) + 1):
            if name == MODEL:
                name = self._canonical
            if name == WORLD:
                return name
            element = self._find(name, where)
            if element.tag == "link":
                return name
            name, where = self._default(element), of(element)
        raise self.report.error(where, "is attached to itself, over other frames", "break the cycle")
