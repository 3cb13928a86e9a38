"""SDF files → mechanisms: a spanning tree of the links, and a closure for every joint that closes a loop.

Poses, axes and their frames as SDF 1.4 to 1.12 state them (`sdf_frames`), nested models too (`sdf_nested`); the inertia
is in the frame of the centre of mass, and what the file leaves out has the format's defaults.  Joints are taken in the
order of the file, and one whose links are already joined closes a loop.  Where a joint is met from its child it is
turned round, with its limits.  Damping acts, and springs of joints do as force elements; limits are carried as data.
What changes the motion and is left out is a `ModelWarning` with the names of the elements; everything else is listed in
``tree.notes``.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.rotations import quaternion_wxyz_from_matrix
from mechanics.adapters.elements import ALL, Wanted, joint_elements
from mechanics.adapters.reading import LARGEST, LIMITS, Limits, Report, content, inside, number, some, xml
from mechanics.adapters.sdf_frames import MODEL, WORLD, Frames, flag, numbers, of
from mechanics.adapters.sdf_nested import flattened
from mechanics.adapters.sdf_visuals import visuals
from mechanics.constraints.couplings import MIMIC, polynomial
from mechanics.constraints.loops import (
    Closure,
    JointFreedom,
    cylindrical,
    prismatic,
    revolute,
    spherical,
    universal,
    weld,
)
from mechanics.errors import ModelError, ModelWarning
from mechanics.forces import Element as ForceElement
from mechanics.forces import joint_spring
from mechanics.joints import (
    Compound,
    Continuous,
    Fixed,
    Free,
    Helical,
    Joint,
    Prismatic,
    Revolute,
    Spherical,
    Turn,
)
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

Array = NDArray[np.float64]
CLOSERS: dict[str, Callable[[Frame, Frame, str], Closure]] = {
    "revolute": revolute,
    "continuous": revolute,
    "prismatic": prismatic,
    "ball": spherical,
    "fixed": weld,
    "universal": universal,
    "cylindrical": cylindrical,
}
"""Closures by SDF's types of joints."""
MOVERS: dict[str, Callable[[list[Any], float], Joint]] = {
    "revolute": lambda axes, pitch: Revolute(*axes),
    "continuous": lambda axes, pitch: Continuous(*axes),
    "prismatic": lambda axes, pitch: Prismatic(*axes),
    "screw": lambda axes, pitch: Helical(axes[0], pitch),
    "ball": lambda axes, pitch: Spherical(),
    "fixed": lambda axes, pitch: Fixed(),
    "universal": lambda axes, pitch: Compound(tuple(map(Turn, axes))),
    "revolute2": lambda axes, pitch: Compound(tuple(map(Turn, axes))),
}
"""Joints of the tree by SDF's types."""
AXES = {"ball": 0, "fixed": 0, "universal": 2, "revolute2": 2}
"""Numbers of axes that are not one."""
ROOT = "root_joint"
"""The joint of a floating base."""
ENDLESS = 1e16
"""From which on a number says that there is no limit, in the format before 1.8."""
_ONE = ("pose", "inertial", "mass", "inertia", "axis", "axis2", "xyz", "dynamics", "limit", "parent", "child")
READ: dict[str, set[str]] = {
    "sdf": {"model"},
    "model": {"pose", "link", "joint", "frame", "static", "model", "include"},
    "link": {"pose", "inertial", "gravity", "kinematic", "visual"},
    "inertial": {"pose", "mass", "inertia"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "joint": {"pose", "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch"},
    "axis": {"xyz", "dynamics", "limit", "use_parent_model_frame", "mimic"},
    "dynamics": {"damping", "friction", "spring_reference", "spring_stiffness"},
    "limit": {"lower", "upper", "effort", "velocity", "stiffness", "dissipation"},
    "mimic": {"multiplier", "offset", "reference"},
    "frame": {"pose"},
}
"""Elements that are read, in others."""
MANY = {"link", "joint", "frame", "model", "include", "visual"}
"""Of these, those of which there may be several."""
ATTRIBUTES: dict[str, set[str]] = {
    "sdf": {"version"},
    "model": {"name", "canonical_link", "placement_frame"},
    "link": {"name"},
    "joint": {"name", "type"},
    "frame": {"name", "attached_to"},
    "pose": {"relative_to", "frame", "rotation_format", "degrees"},
    "inertial": {"auto"},
    "xyz": {"expressed_in"},
    "mimic": {"joint", "axis"},
}
"""Attributes that are read, of elements; others have none."""
XMLS_OWN = "{http://www.w3.org/"
"""How attributes begin that are not the format's, such as the place of its schema."""
HARMLESS = {
    *("collision", "sensor", "light", "projector", "audio_source", "audio_sink", "battery", "gripper"),
    *("particle_emitter", "plugin", "self_collide", "allow_auto_disable", "must_be_base_link", "description", "author"),
    *("physics", "initial_position", "provide_feedback"),
}
"""Elements that say nothing of the motion of the bodies alone; they are noted."""


@dataclass(frozen=True, eq=False)
class _Link:
    name: str
    rotation: Array
    position: Array
    inertia: Inertia


@dataclass(frozen=True, eq=False)
class _Axis:
    """A direction at the model's own pose, in the axes of the world, and what acts along it."""

    direction: Array
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity: float = np.inf
    stop: tuple[float, float] | None = None
    mimic: tuple[str, str, float, float] | None = None
    """The leading joint, its axis, multiplier and offset."""


@dataclass(frozen=True, eq=False)
class _Joint:
    """A joint at the model's own pose, in the world; balls and welds have no axes, their direction says nothing."""

    name: str
    kind: str
    parent: str
    child: str
    position: Array
    direction: Array
    axes: tuple[_Axis, ...]
    pitch: float


def load_sdf(
    path: str | os.PathLike[str],
    floating_base: bool | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    wanted: Wanted = ALL,
    limits: Limits = LIMITS,
    rank: int | None = None,
) -> Mechanism:
    """See `mechanics.load_mechanism`."""
    report = Report(str(path))
    root = xml(content(path, limits, "an .sdf"), report.path, limits)
    with inside(report.path):
        reader = _Reader(root, _model(root, report), _version(root, report), report)
        made = reader.mechanism(floating_base, gravity, wanted, rank)
    report.warn(3)
    return made


def _version(root: Element, report: Report) -> str:
    """The version of the format, by which axes are in another frame (before 1.5: in that of the model)."""
    version = root.get("version", "")
    if not re.fullmatch(r"1\.\d+", version):
        problem = f"is version {version!r}" if version else "has no version, on which the frame of axes depends"
        raise report.error("<sdf>", problem, 'write <sdf version="1.9">, or another 1.x')
    return version


def _model(root: Element, report: Report) -> Element:
    """The one <model> of the file."""
    models = root.findall("model")
    if root.tag != "sdf" or len(models) != 1:
        problem = f"has {len(models)} <model> in its root element <{root.tag}>"
        worlds = " (worlds are not read)" if root.find("world") is not None else ""
        raise ModelError(report.path, problem, f"give an SDF file with one <model> in <sdf>{worlds}")
    model = models[0]
    for inner in model.iter("include"):
        raise report.error(of(inner), "included models are not read", "write their links and joints into the file")
    if flag(model.findtext("static", "false"), f"{of(model)} <static>", report):
        raise report.error(f"{of(model)} <static>", "is true: nothing of it moves", "set it to false")
    return model


class _Reader:
    """Reads the links and joints of one model and collects what is not carried over."""

    def __init__(self, root: Element, model: Element, version: str, report: Report) -> None:
        self.model, self.report = model, report
        self.old_axes = version in ("1.0", "1.2", "1.3", "1.4")
        self.left_out: defaultdict[str, list[str]] = defaultdict(list)
        self.of_links: defaultdict[str, list[str]] = defaultdict(list)
        self.noted: defaultdict[str, int] = defaultdict(int)
        self._sort(root)
        model = self.flat = flattened(model, report)
        self.frames = Frames(model, report)
        self.links = {link.name: link for link in map(self.link, model.findall("link"))}
        if not self.links:
            raise report.error(of(model), "has no <link>", "give a model with links")
        self.joints = [self.joint(element) for element in model.findall("joint")]
        if any(WORLD in (joint.parent, joint.child) for joint in self.joints):
            self.links = {WORLD: _Link(WORLD, np.eye(3), np.zeros(3), Inertia.zero()), **self.links}

    def mechanism(self, floating: bool | None, gravity: ArrayLike, wanted: Wanted, rank: int | None) -> Mechanism:
        base, floating_base = next(iter(self.links)), bool(floating)
        if floating is None and base != WORLD and self.joints:
            self.report.change(
                f"no joint leads to the world, and SDF lets the model move freely: link {base!r} is held there, as "
                "with floating_base=False; True lets it move"
            )
        if floating_base and base == WORLD:
            raise self.report.error(of(self.model), "is joined to the world", "leave out floating_base=True")
        joined, loops = _spanning(self.links, self.joints)
        bodies, frames = _bodies(self.links, joined, floating_base, wanted.damping, _counted(joined, wanted))
        if not bodies:
            raise self.report.error(of(self.model), "has no joint", "pass floating_base=True for one free body")
        closures = [_closure(j, self.links, frames) for j in loops] + self.mimics(joined)
        elements = self.springs(joined) if wanted.springs else []
        for what, names in self.of_links.items():
            self.left_out[what] += [name for name in names if floating_base or name != base]  # a fixed base is no body
        looks, not_drawn = visuals(self.flat.findall("link"), self.report, frames)
        self.report.notes += not_drawn
        self.tell(joined, loops, wanted)
        name, notes = self.model.get("name", "sdf"), tuple(self.report.notes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # each link is named in the report
            tree = Tree(bodies, name, gravity, strict=False, notes=notes, frames=frames, visuals=looks)
        stops = {place: axis.stop for _, place, axis, _ in _axes(joined) if axis.stop}
        elements += joint_elements(tree, wanted, stops)
        pose = tree.neutral()
        if floating_base:
            turn = quaternion_wxyz_from_matrix(self.links[base].rotation)
            pose[tree.q_slice(ROOT)] = np.concatenate([self.links[base].position, turn])
        return Mechanism.assembled(tree, closures, pose, elements=elements, rank=rank, name=tree.name)

    # --- what is left out ---------------------------------------------------------------------------------------------

    def _sort(self, root: Element) -> None:
        """Every element and attribute of the file: read, noted, or a departure from it.  What is seen is looked into
        where it is drawn.
        """
        todo = [(root, str(self.model.get("name")))]
        for element, above in todo:
            owner = element.get("name") or above
            read = READ.get("axis" if element.tag == "axis2" else element.tag, set())
            self._sort_words(element, owner, read)
            for tag, count in Counter(child.tag for child in element).items():
                if tag in _ONE and tag in read and count > 1:
                    raise self.report.error(of(element), f"has two <{tag}>", "keep one of them")
                if tag in read - MANY and count > 1:
                    self.left_out[f"<{tag}> in <{element.tag}> after the first: left out"].append(owner)
            for child in element:
                if child.tag in read:
                    todo += [(child, owner)] if child.tag != "visual" else []
                elif child.tag in HARMLESS:
                    self.noted[f"<{child.tag}> in <{element.tag}>"] += 1
                else:
                    name = owner if element is not root else child.get("name") or owner
                    self.left_out[f"<{child.tag}> in <{element.tag}>: left out"].append(name)

    def _sort_words(self, element: Element, owner: str, read: set[str]) -> None:
        """Attributes of an element, and text of one that has elements in the place of text."""
        known = ATTRIBUTES.get(element.tag, set())
        others = [name for name in element.attrib if name not in known and not name.startswith(XMLS_OWN)]
        if misplaced := [name for name in others if name in read]:
            what = f"<{element.tag} {' '.join(f'{name}=…' for name in misplaced)}>"
            self.left_out[f"{what} (write elements, <{misplaced[0]}>…</{misplaced[0]}>): left out"].append(owner)
        listed = f" (known: {', '.join(sorted(known))})" if known else ""
        for name in others:
            if name not in read:
                self.left_out[f"<{element.tag} {name}=…>{listed}: left out"].append(owner)
        if read and "".join([element.text or "", *(child.tail or "" for child in element)]).strip():
            self.left_out[f"text in <{element.tag}>, outside of its elements: left out"].append(owner)

    def tell(self, joined: Sequence[tuple[_Joint, str, str]], loops: Sequence[_Joint], wanted: Wanted) -> None:
        """What the report says in the end."""
        turned = list(dict.fromkeys(joint.name for joint, _, _, sign in _axes(joined) if sign < 0.0))
        if turned:
            said = "met from their child: turned round, coordinates and limits have the opposite sign of the file's"
            self.report.notes.append(f"joints {said}: {some(turned)}")
        for joint in loops:
            for axis in joint.axes:
                if wanted.damping and axis.damping:
                    self.left_out["<damping> of joints that close loops: left out"].append(joint.name)
                if wanted.springs and axis.stiffness:
                    self.left_out["<spring_stiffness> of joints that close loops: left out"].append(joint.name)
                if wanted.friction and axis.friction:
                    self.left_out["<friction> of joints that close loops: left out"].append(joint.name)
                if axis.mimic:
                    self.left_out["<mimic> of joints that close loops: left out"].append(joint.name)
                if wanted.stops and np.isfinite([axis.lower, axis.upper]).any():
                    self.left_out["<limit> of joints that close loops: left out"].append(joint.name)
        bounded = [j.name for j in self.joints if any(np.isfinite([a.lower, a.upper]).any() for a in j.axes)]
        if bounded and not wanted.stops:
            self.report.notes.append(f"<limit>: carried as data; stops=True makes stops of it: {some(bounded)}")
        for what in ("damping", "springs", "friction"):
            if not getattr(wanted, what):
                self.report.notes.append(f"{what} of joints: left out, as asked for by {what}=False")
        self.report.notes += [f"{what} ({n}): not carried over" for what, n in sorted(self.noted.items())]
        for what, names in self.left_out.items():
            if names:
                self.report.change(f"{what}: {some(names)}")

    # --- links --------------------------------------------------------------------------------------------------------

    def link(self, element: Element) -> _Link:
        R, x = self.frames.place(element)
        name = str(element.get("name"))
        for tag, usual in (("gravity", True), ("kinematic", False)):
            given = element.findtext(tag)
            if given is not None and flag(given, f"{of(element)} <{tag}>", self.report) != usual:
                self.of_links[f"<{tag}> {given.strip()}: left out"].append(name)
        inertial = element.find("inertial")
        if inertial is None:
            self.of_links["links without <inertial>: 1 kg with moments 1 kg·m², as SDF says"].append(name)
            inertial = Element("inertial")
        return _Link(name, R, x, self.inertia(inertial, name))

    def inertia(self, element: Element, link: str) -> Inertia:
        where = f"<link name={link!r}> <inertial>"
        if flag(element.get("auto", "false"), f"{where} auto", self.report):
            raise self.report.error(f"{where} auto", "asks for an inertia from geometry", "write mass and tensor")
        R, c = self.frames.own(element)
        tensor = element.find("inertia")
        tensor = Element("inertia") if tensor is None else tensor
        t = {k: self.number(tensor, k, float(k[1] == k[2]), where) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
        J = np.array([[t["ixx"], t["ixy"], t["ixz"]], [t["ixy"], t["iyy"], t["iyz"]], [t["ixz"], t["iyz"], t["izz"]]])
        if len(element):
            if element.find("mass") is None:
                self.of_links["<inertial> without <mass>: 1 kg, as SDF says"].append(link)
            if missing := [f"<{k}>" for k in ("ixx", "iyy", "izz") if tensor.find(k) is None]:
                self.of_links[f"<inertia> without {', '.join(missing)}: 1 kg·m², as SDF says"].append(link)
        made = Inertia.about_com(self.number(element, "mass", 1.0, where), c, R @ J @ R.T)
        if problem := made.unphysical():
            self.report.change(f"{where}: {problem}; used as it is")
        return made

    def number(self, element: Element | None, tag: str, default: float, where: str) -> float:
        given = None if element is None else element.find(tag)
        if given is None:
            return default
        return float(numbers(given.text, (1,), f"{where} <{tag}>", self.report)[0])

    # --- joints -------------------------------------------------------------------------------------------------------

    def joint(self, element: Element) -> _Joint:
        where, kind = of(element), element.get("type", "")
        if kind not in MOVERS and kind not in CLOSERS:
            raise self.report.error(where, f"has the type {kind!r}", f"use one of {', '.join(MOVERS)}")
        parent, child = (self.end(element, role) for role in ("parent", "child"))
        if parent == child:
            raise self.report.error(where, f"joins {parent!r} to itself", "name two links")
        R, x = self.frames.place(element)
        axes = tuple(self.axis(element, tag, R) for tag in ("axis", "axis2")[: max(AXES.get(kind, 1), 1)])
        self.unused(element, kind)
        pitch = self.pitch(element) if kind == "screw" else 0.0
        name = str(element.get("name"))
        return _Joint(name, kind, parent, child, x, axes[0].direction, axes[: AXES.get(kind, 1)], pitch)

    def unused(self, element: Element, kind: str) -> None:
        """Axes beyond those of the type: a ball has none in SDF, whatever its <axis> says of damping."""
        for tag in ("axis", "axis2")[AXES.get(kind, 1) :]:
            if element.find(tag) is not None:
                self.noted[f"<{tag}> of a joint of type {kind!r}"] += 1

    def end(self, element: Element, role: str) -> str:
        name = (element.findtext(role) or "").strip()
        where = f"{of(element)} <{role}>"
        if not name:
            raise self.report.error(where, "is missing", f"add <{role}> with the name of a link")
        return self.frames.link_of(name, where)

    def pitch(self, element: Element) -> float:
        """m per rad; `thread_pitch` is in rad per m, for threads to the left."""
        where = of(element)
        if element.find("screw_thread_pitch") is None and element.find("thread_pitch") is not None:
            turns = self.number(element, "thread_pitch", 1.0, where)
            if abs(turns) <= 1.0 / LARGEST:
                raise self.report.error(f"{where} <thread_pitch>", f"is {turns:g}", "give a number that is not zero")
            return -1.0 / turns
        return self.number(element, "screw_thread_pitch", 1.0, where) / (2.0 * pi)

    def axis(self, joint: Element, tag: str, R: Array) -> _Axis:
        where = f"{of(joint)} <{tag}>"
        element = joint.find(tag)
        if element is None:
            if tag == "axis2":
                raise self.report.error(where, "is missing", "add the second axis")
            return _Axis(R @ np.array([0.0, 0.0, 1.0]))
        dynamics, limit = element.find("dynamics"), element.find("limit")
        lower, upper = self.limit(limit, "lower", -np.inf, where), self.limit(limit, "upper", np.inf, where)
        if lower > upper:
            problem = f"has <lower> = {lower:g} above <upper> = {upper:g}"
            raise self.report.error(f"{where} <limit>", problem, "exchange them, or correct one")
        effort, velocity = (self.limit(limit, name, np.inf, where) for name in ("effort", "velocity"))
        return _Axis(
            self.direction(element, where, R),
            damping=self.number(dynamics, "damping", 0.0, where),
            friction=self.number(dynamics, "friction", 0.0, where),
            stiffness=self.number(dynamics, "spring_stiffness", 0.0, where),
            rest=self.number(dynamics, "spring_reference", 0.0, where),
            lower=lower,
            upper=upper,
            effort=effort if effort >= 0.0 else np.inf,
            velocity=velocity if velocity >= 0.0 else np.inf,
            stop=self.stop(limit, where),
            mimic=self.mimic(element.find("mimic"), where),
        )

    def stop(self, limit: Element | None, where: str) -> tuple[float, float] | None:
        """Stiffness and damping of the stops, where the file gives one of them; the other is that of SDF."""
        if limit is None or (limit.find("stiffness") is None and limit.find("dissipation") is None):
            return None
        return self.number(limit, "stiffness", 1e8, where), self.number(limit, "dissipation", 1.0, where)

    def mimic(self, element: Element | None, where: str) -> tuple[str, str, float, float] | None:
        """q = multiplier (q_leader − reference) + offset."""
        if element is None:
            return None
        factor, offset, reference = (
            self.number(element, tag, usual, f"{where} <mimic>")
            for tag, usual in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        leader, axis = (element.get("joint") or "").strip(), element.get("axis", "axis")
        if not leader or axis not in ("axis", "axis2"):
            raise self.report.error(f"{where} <mimic>", "names no joint, or no axis of it", "give joint and axis")
        return leader, axis, factor, offset - factor * reference

    def direction(self, element: Element, where: str, R: Array) -> Array:
        """The unit vector of an axis in the world; it is given in the joint's frame unless another is named."""
        given = element.find("xyz")
        axis = np.array([0.0, 0.0, 1.0])
        if given is not None:
            axis = numbers(given.text, (3,), f"{where} <xyz>", self.report)
            if frame := given.get("expressed_in"):
                R = self.frames.of(frame, f"{where} <xyz> expressed_in")[0]
        old = element.findtext("use_parent_model_frame", "true" if self.old_axes else "false")
        if flag(old, f"{where} <use_parent_model_frame>", self.report):
            R = self.frames.of(MODEL, where)[0]
        if not np.abs(axis).max() > 1.0 / LARGEST:
            raise self.report.error(f"{where} <xyz>", f"is {axis.tolist()}", "give an axis that is not zero")
        return np.asarray(R @ axis / np.linalg.norm(axis))

    def limit(self, element: Element | None, tag: str, default: float, where: str) -> float:
        """A number that may be infinite."""
        text = None if element is None else element.findtext(tag)
        if text is None:
            return default
        endless = {"inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
        word = text.strip().lower()
        value = endless[word] if word in endless else number(word)
        if value is None:
            raise self.report.error(f"{where} <{tag}>", f"is {text!r}", "give a number")
        return float(value) if abs(value) < ENDLESS else float(np.copysign(np.inf, value))

    # --- what acts on axes of the tree --------------------------------------------------------------------------------

    def springs(self, joined: Sequence[tuple[_Joint, str, str]]) -> list[list[ForceElement]]:
        """The springs of the axes."""
        found = []
        for joint, place, axis, sign in _axes(joined):
            if axis.stiffness < 0.0:
                where = f"<joint name={joint.name!r}> <spring_stiffness>"
                raise self.report.error(where, f"is {axis.stiffness:g}", "give one that is not negative")
            if axis.stiffness:
                found.append(joint_spring(place, axis.stiffness, rest=sign * axis.rest))
        return found

    def mimics(self, joined: Sequence[tuple[_Joint, str, str]]) -> list[Closure]:
        """The axes that follow others, as couplings."""
        signs = {place: sign for _, place, _, sign in _axes(joined)}
        names = {
            (joint.name, "axis" if axis is joint.axes[0] else "axis2"): place for joint, place, axis, _ in _axes(joined)
        }
        found = []
        for joint, place, axis, sign in _axes(joined):
            if axis.mimic is None:
                continue
            leader, which, factor, offset = axis.mimic
            where = f"<joint name={joint.name!r}> <mimic>"
            if (leader, which) not in names:
                raise self.report.error(where, f"follows {leader!r}", "name a joint of the tree with that axis")
            other = names[leader, which]
            try:
                law = (sign * offset, sign * factor * signs[other])
                found.append(polynomial(place, other, law, kind=MIMIC))
            except ModelError as error:
                raise self.report.error(where, error.problem, error.remedy) from None
        return found


def _axes(joined: Sequence[tuple[_Joint, str, str]]) -> Iterator[tuple[_Joint, JointFreedom, _Axis, float]]:
    """(joint, its freedom in the tree, axis, sign): a joint that is turned round has its axes backwards, negative."""
    for joint, inner, _ in joined:
        forward = inner == joint.parent
        for k, axis in enumerate(joint.axes if forward else joint.axes[::-1]):
            place = joint.name if len(joint.axes) == 1 else (joint.name, k)
            yield joint, place, axis, 1.0 if forward else -1.0


# --- the tree and its closures ----------------------------------------------------------------------------------------


def _spanning(links: dict[str, _Link], joints: list[_Joint]) -> tuple[list[tuple[_Joint, str, str]], list[_Joint]]:
    """(joint, inner link, outer link) from the first link outwards, and the joints that close loops."""
    group = {name: name for name in links}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    near: dict[str, list[tuple[_Joint, str]]] = {name: [] for name in links}
    loops: list[_Joint] = []
    for joint in joints:
        a, b = root(joint.parent), root(joint.child)
        if a == b:
            loops.append(joint)
        else:
            near[joint.parent].append((joint, joint.child))
            near[joint.child].append((joint, joint.parent))
        group[b] = a
    found: list[tuple[_Joint, str, str]] = []
    order = [next(iter(links))]
    reached = set(order)
    for inner in order:
        for joint, outer in near[inner]:
            if outer not in reached:
                found.append((joint, inner, outer))
                order.append(outer)
                reached.add(outer)
    for name in links:
        if name not in reached:
            raise ModelError(
                f"<link name={name!r}>", f"is not joined to {order[0]!r}", "join all links, or give one model per file"
            )
    return found, loops


def _counted(joined: Sequence[tuple[_Joint, str, str]], wanted: Wanted) -> set[str]:
    """Joints whose turns count, also if they are continuous: those that follow others or lead them, and springs."""
    axes = [(joint.name, axis) for joint, _, _ in joined for axis in joint.axes]
    follow = {place for name, axis in axes if axis.mimic for place in (name, axis.mimic[0])}
    return follow | {name for name, axis in axes if wanted.springs and axis.stiffness}


def _bodies(
    links: dict[str, _Link],
    joined: list[tuple[_Joint, str, str]],
    floating_base: bool,
    damping: bool,
    counted: Collection[str],
) -> tuple[list[Body], dict[str, Frame]]:
    """Bodies with their origins at their joints and the axes of their links; and the frames of the links in them."""
    base = next(iter(links.values()))
    bodies: list[Body] = []
    origins = {base.name: base.position}
    frames = {base.name: Frame(None, base.position, base.rotation)}
    if floating_base:
        bodies.append(Body(base.name, Free(), inertia=base.inertia, joint_name=ROOT))
        frames[base.name] = Frame(base.name)
    for joint, inner, outer in joined:
        link, held = links[outer], links[inner]
        offset = link.rotation.T @ (link.position - joint.position)
        on_base = inner == base.name and not floating_base
        R, origin = (np.eye(3), np.zeros(3)) if on_base else (held.rotation, origins[inner])
        axes = joint.axes if inner == joint.parent else joint.axes[::-1]
        bodies.append(
            Body(
                outer,
                _made(joint, axes, link, joint.name in counted),
                None if on_base else inner,
                R.T @ (joint.position - origin),
                R.T @ link.rotation,
                link.inertia.moved(offset, np.eye(3)),
                joint.name,
                _data(axes, inner != joint.parent, damping),
            )
        )
        origins[outer], frames[outer] = joint.position, Frame(outer, offset)
    return bodies, frames


def _made(joint: _Joint, axes: Sequence[_Axis], link: _Link, counted: bool) -> Joint:
    where = f"<joint name={joint.name!r}>"
    if joint.kind not in MOVERS:
        raise ModelError(where, f"has the type {joint.kind!r}", f"in the tree use one of {', '.join(MOVERS)}")
    kind = "revolute" if counted and joint.kind == "continuous" else joint.kind
    try:
        return MOVERS[kind]([tuple((link.rotation.T @ a.direction).tolist()) for a in axes], joint.pitch)
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(where, str(error), "give axes that differ") from None


def _data(axes: Sequence[_Axis], turned: bool, damping: bool) -> JointData:
    """What the file says along the axes; of a joint that is turned round, its coordinate has the opposite sign."""
    if not axes:
        return JointData()
    low, high = np.array([a.lower for a in axes]), np.array([a.upper for a in axes])
    return JointData(
        damping=np.array([a.damping if damping else 0.0 for a in axes]),
        friction=np.array([a.friction for a in axes]),
        lower=-high if turned else low,
        upper=-low if turned else high,
        effort=np.array([a.effort for a in axes]),
        velocity=np.array([a.velocity for a in axes]),
    )


def _closure(joint: _Joint, links: dict[str, _Link], frames: dict[str, Frame]) -> Closure:
    """The closure that stands for a joint, at the model's own pose; a universal joint has z of its first frame along
    its first axis and x of its second along the other.
    """
    if joint.kind not in CLOSERS:
        where = f"<joint name={joint.name!r}>"
        raise ModelError(where, f"of type {joint.kind!r} closes a loop", "list another joint of the loop after it")
    first = np.asarray(Frame.with_axis(None, axis=joint.direction).rotation)
    second = first
    if len(joint.axes) > 1:
        second = np.asarray(Frame.with_axis(None, axis=joint.axes[1].direction).rotation)[:, [2, 0, 1]]

    def seen(name: str, axes: Array) -> Frame:
        link, place = links[name], frames[name]
        inside = link.rotation.T @ (joint.position - link.position)
        R = np.asarray(place.rotation)
        return Frame(place.body, place.position + R @ inside, R @ link.rotation.T @ axes)

    return CLOSERS[joint.kind](seen(joint.parent, first), seen(joint.child, second), joint.name)
