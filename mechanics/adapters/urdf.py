"""URDF files → trees.

The file is read defensively (`urdf_xml`), its elements become objects (`urdf_robot`), and this
module turns them into bodies and joints: it checks topology and inertias, joins links that are fixed to one another
into one body, and says what it did not carry over.  Everything not modelled is listed in ``tree.notes``; what changes
the motion is also a `ModelWarning`.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.adapters.elements import ALL, Wanted, joint_elements
from mechanics.adapters.reading import LARGEST, LIMITS, Limits, Report, inside, some
from mechanics.adapters.urdf_left_out import LeftOut
from mechanics.adapters.urdf_robot import Robot, robot_of
from mechanics.adapters.urdf_transmissions import actuators, rotors
from mechanics.adapters.urdf_visuals import visuals
from mechanics.adapters.urdf_xml import read
from mechanics.constraints.couplings import MIMIC, polynomial
from mechanics.constraints.loops import Closure
from mechanics.dynamics import mass_matrix
from mechanics.errors import ModelError, ModelWarning
from mechanics.forces import Element as ForceElement
from mechanics.joints import Continuous, Free, Joint, Planar, Prismatic, Revolute
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

Array = NDArray[np.float64]


def _planar(axis: Array) -> Joint:
    """Motion across an axis; along x and y if the axis is z, and so on in turn."""
    n = axis / np.linalg.norm(axis)
    nearest = np.eye(3)[(np.argmax(np.abs(n)) + 1) % 3]
    x = nearest - (nearest @ n) * n
    return Planar(tuple(x), tuple(np.cross(n, x)))


JOINTS: dict[str, Any] = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "floating": lambda axis: Free(),
    "planar": _planar,
}
"""Joint types of the format that move, and the joints they become."""
DENSE = 400
"""Greatest size of a mass matrix whose eigenvalues are computed."""
_INSTALL = "install the model readers: pip install 'liemech[robots]'"


def load_urdf(
    path: str | os.PathLike[str],
    floating_base: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    strict: bool = False,
    *,
    damping: bool = True,
    allow_massless: bool = False,
    limits: Limits = LIMITS,
) -> Tree:
    """See `mechanics.load_urdf`."""
    report = Report(str(Path(path)), strict)
    with inside(report.path):
        tree, _, _ = _tree(report, floating_base, gravity, damping, allow_massless, limits, None)
    report.warn()
    return tree


def load_urdf_with_elements(
    path: str | os.PathLike[str],
    floating_base: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    *,
    wanted: Wanted = ALL,
    allow_massless: bool = False,
    counted: Iterable[str] = (),
    limits: Limits = LIMITS,
) -> tuple[Tree, list[Closure], list[list[ForceElement]]]:
    """The tree of `load_urdf`, the mimic joints of the file as couplings, and its force elements; turns count of the
    coupled joints, and of those of `counted`.
    """
    report = Report(str(Path(path)), strict=False)
    with inside(report.path):
        tree, mimics, drives = _tree(
            report, floating_base, gravity, wanted.damping, allow_massless, limits, wanted, counted
        )
        elements = [*joint_elements(tree, wanted), *drives]
    report.warn(5)
    return tree, mimics, elements


def _tree(
    report: Report,
    floating_base: bool,
    gravity: ArrayLike,
    damping: bool,
    allow_massless: bool,
    limits: Limits,
    wanted: Wanted | None,
    counted: Iterable[str] = (),
) -> tuple[Tree, list[Closure], list[list[ForceElement]]]:
    """The tree, and what of the file is `wanted` besides: couplings and actuators; nothing if it is None."""
    follow = wanted is not None
    robot, left_out, document = _parse(report.path, limits)
    drives = wanted is not None and wanted.actuators
    report.notes += [note for note in left_out.notes() if not (drives and note.startswith("<transmission>"))]
    for change in left_out.told():
        report.change(change)
    root, joints = _root_and_order(robot, report)
    mimics = [joint for joint in joints if joint.mimic and joint.type != "fixed"] if follow else []
    turning = {*counted, *(name for joint in mimics for name in (joint.name, joint.mimic.joint))}
    inertias = {link.name: _inertia(link, report) for link in robot.links}
    parts = _Parts(report, damping, inertias, turning, rotors(document, report))
    parts.add_root(root, floating_base)
    for joint in joints:
        parts.add(joint)
    _report_joints(joints, report, wanted)
    if not damping:
        report.notes.append("<dynamics damping=…>: left out, as asked for by damping=False")
    bodies = parts.bodies(allow_massless)
    looks, not_drawn = visuals(document, Path(report.path), parts.frames)
    report.notes += not_drawn
    moving = {joint.name for joint in joints if joint.type in ("revolute", "continuous", "prismatic")}
    efforts = {joint.name: joint.limit.effort for joint in joints if joint.limit}
    motors = actuators(document, {joint.name for joint in joints}, moving, efforts, report) if drives else []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # each link was looked at, and is named in the report
            tree = Tree(
                bodies, robot.name, gravity, strict=False, notes=tuple(report.notes), frames=parts.frames, visuals=looks
            )
    except ModelError as error:
        raise report.error(error.where, error.problem, error.remedy) from None
    _check_mass_matrix(tree, report)
    return tree, [_mimic(joint, tree, report) for joint in mimics], motors


def _mimic(joint: Any, tree: Tree, report: Report) -> Closure:
    """q = multiplier · (q of the other joint) + offset."""
    where, law = f"{_of(joint)} <mimic>", joint.mimic
    for name in (joint.name, law.joint):
        if name not in tree.joint_names:
            raise report.error(
                where, f"follows the joint {name!r}, which the tree does not have", "name a joint that moves"
            )
        if tree.joint(name).n_v != 1:
            raise report.error(
                where, f"couples the joint {name!r}, which is {tree.joint(name).kind}", "couple turns or slides"
            )
    try:
        return polynomial(
            joint.name, law.joint, (law.offset or 0.0, 1.0 if law.multiplier is None else law.multiplier), kind=MIMIC
        )
    except ModelError as error:
        raise report.error(where, error.problem, error.remedy) from None


def _parse(path: str, limits: Limits) -> tuple[Robot, LeftOut, Element]:
    """The robot of a URDF file, what was left out, and the root of the file."""
    try:
        document, left_out, root = read(path, limits)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; {_INSTALL}", name=error.name) from None
    return robot_of(document), left_out, root


# --- topology ---------------------------------------------------------------------------------------------------------


def _root_and_order(robot: Any, report: Report) -> tuple[str, list[Any]]:
    """The root link and the joints in depth-first order; ModelError if links and joints are not one tree."""
    if not robot.links:
        raise report.error(
            "<robot>", "has no <link>", "give a URDF file with links (a xacro file must be expanded first)"
        )
    links = _unique([link.name for link in robot.links], "link", report)
    _unique([joint.name for joint in robot.joints], "joint", report)
    carrier: dict[str, str] = {}
    for joint in robot.joints:
        for role in ("parent", "child"):
            if (name := getattr(joint, role)) not in links:
                raise report.error(
                    _of(joint), f"its {role} {name!r} is not a link of the file", "correct the name or add the <link>"
                )
        if joint.child in carrier:
            both = f"{carrier[joint.child]!r} and {joint.name!r}"
            raise report.error(
                f"<link name={joint.child!r}>",
                f"is the child of two joints, {both}",
                "a URDF is a tree: remove one of them",
            )
        carrier[joint.child] = joint.name
    roots = [name for name in links if name not in carrier]
    if len(roots) > 1:
        raise report.error(
            "<robot>",
            f"has {len(roots)} root links: {some(roots)}",
            "connect them by joints, fixed ones if nothing moves",
        )
    order = _depth_first(roots[0], robot.joints) if roots else []
    if len(order) < len(robot.joints):
        reached = {joint.name for joint in order}
        left = [joint.name for joint in robot.joints if joint.name not in reached]
        raise report.error(
            "<robot>", f"the joints {some(left)} form a cycle of parents", "a URDF is a tree: cut the cycle"
        )
    return roots[0], order


def _unique(names: list[str], kind: str, report: Report) -> dict[str, None]:
    for name, count in Counter(names).items():
        if count > 1:
            raise report.error(f"<{kind} name={name!r}>", f"appears {count} times", "give each its own name")
    return dict.fromkeys(names)


def _depth_first(root: str, joints: list[Any]) -> list[Any]:
    children: dict[str, list[Any]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    order, todo = [], children.get(root, [])[::-1]
    while todo:
        joint = todo.pop()
        order.append(joint)
        todo += children.get(joint.child, [])[::-1]
    return order


def _of(joint: Any) -> str:
    return f"<joint name={joint.name!r}>"


# --- bodies -----------------------------------------------------------------------------------------------------------


class _Parts:
    """Bodies under construction: links that are fixed to one another are one body, whose frame is that of its first
    link.

    The turns of `counted` joints count, also if they are continuous.
    """

    def __init__(
        self,
        report: Report,
        damping: bool,
        inertias: dict[str, Inertia],
        counted: set[str],
        armature: Mapping[str, float],
    ) -> None:
        self.report, self.damping, self.inertias, self.counted = report, damping, inertias, counted
        self.armature = armature
        self.frames: dict[str, Frame] = {}
        self._arguments: dict[str, dict[str, Any]] = {}

    def add_root(self, root: str, floating: bool) -> None:
        if floating:
            self._arguments[root] = {"joint": Free(), "joint_name": "root_joint", "inertia": self.inertias[root]}
        self.frames[root] = Frame(root if floating else None)

    def add(self, joint: Any) -> None:
        parent = self.frames[joint.parent]
        origin = np.eye(4) if joint.origin is None else joint.origin
        R = np.asarray(parent.rotation)
        position, rotation = parent.position + R @ origin[:3, 3], R @ origin[:3, :3]
        inertia = self.inertias[joint.child]
        if joint.type == "fixed":
            self.frames[joint.child] = Frame(parent.body, position, rotation)
            if parent.body is not None:
                self._arguments[parent.body]["inertia"] += inertia.moved(position, rotation)
            return
        self.frames[joint.child] = Frame(joint.child)
        self._arguments[joint.child] = {
            "joint": _joint(joint, self.report, joint.name in self.counted),
            "parent": parent.body,
            "position": position,
            "rotation": rotation,
            "joint_name": joint.name,
            "inertia": inertia,
            "data": self._data(joint),
        }

    def _data(self, joint: Any) -> JointData:
        limit, dynamics = joint.limit, joint.dynamics
        for name in ("effort", "velocity"):
            if limit and (most := getattr(limit, name)) is not None and not most >= 0.0:
                remedy = "give one that is not negative, inf where there is none"
                raise self.report.error(f"{_of(joint)} <limit {name}=…>", f"is {most:g}", remedy)
        lower, upper = (limit.lower, limit.upper) if limit else (None, None)
        if (lower is None) is not (upper is None):  # the one that is not given is 0, says the format
            lower, upper = lower or 0.0, upper or 0.0
        if lower is not None and upper is not None and lower > upper:
            problem, remedy = f"has lower = {lower:g} above upper = {upper:g}", "exchange them, or correct one"
            raise self.report.error(f"{_of(joint)} <limit>", problem, f"{remedy} (0 where it is not given)")
        bounded = joint.type in ("revolute", "prismatic")
        return JointData(
            damping=float(dynamics.damping or 0.0) if dynamics and self.damping else 0.0,
            friction=float(dynamics.friction or 0.0) if dynamics else 0.0,
            lower=lower if bounded else None,
            upper=upper if bounded else None,
            effort=limit.effort if limit else None,
            velocity=limit.velocity if limit else None,
            armature=self.armature.get(joint.name, 0.0),
        )

    def bodies(self, allow_massless: bool) -> list[Body]:
        if not self._arguments:
            raise self.report.error("<robot>", "has no joint that moves", "pass floating_base=True for one free body")
        carries = {a["parent"] for name, a in self._arguments.items() if a.get("parent")}
        for name, a in self._arguments.items():
            if a["inertia"].mass == 0.0 and not (allow_massless and name in carries):
                remedy = ", or pass allow_massless=True if it only connects two joints" if name in carries else ""
                problem = f"moves on the joint {a['joint_name']!r} but has no mass, nor has any link fixed to it"
                raise self.report.error(f"<link name={name!r}>", problem, f"add its <inertial>{remedy}")
            if problem := a["inertia"].unphysical():
                self.report.change(f"<link name={name!r}> and what is fixed to it: {problem}; used as it is")
        try:
            return [Body(name, **a) for name, a in self._arguments.items()]
        except ModelError as error:
            raise self.report.error(error.where, error.problem, error.remedy) from None


def _joint(joint: Any, report: Report, counted: bool) -> Joint:
    if joint.type not in JOINTS:
        known = ", ".join(["fixed", *JOINTS])
        raise report.error(
            f"{_of(joint)} type={joint.type!r}", f"is not supported, expected one of {known}", "replace the joint"
        )
    if joint.type != "floating" and not np.abs(joint.axis).max() > 1.0 / LARGEST:
        given = " ".join(f"{x:g}" for x in joint.axis)
        raise report.error(
            f"{_of(joint)} <axis xyz='{given}'>", "expected a direction", "give an axis that is not zero"
        )
    made: Joint = JOINTS["revolute" if counted and joint.type == "continuous" else joint.type](joint.axis)
    return made


def _inertia(link: Any, report: Report) -> Inertia:
    """Inertia of a link about its own origin, in its own axes; zero if the file gives none."""
    if link.inertial is None:
        return Inertia.zero()
    where = f"<link name={link.name!r}> <inertial>"
    mass, origin = link.inertial.mass, np.eye(4) if link.inertial.origin is None else link.inertial.origin
    if mass < 0.0:
        raise report.error(
            f"{where} <mass value={mass!r}>",
            "expected a positive number of kilograms",
            "correct it, or give 0 to a mere frame",
        )
    inertia = Inertia.about_com(mass, np.zeros(3), link.inertial.inertia).moved(origin[:3, 3], origin[:3, :3])
    if problem := inertia.impossible() or inertia.unphysical():
        if report.strict:
            raise report.error(
                f"{where} <inertia>", problem, "correct the tensor, or pass strict=False to use it as it is"
            )
        report.notes.append(f"{where}: {problem}; used as it is")
    return inertia


def _check_mass_matrix(tree: Tree, report: Report) -> None:
    """ModelError if a joint can move without moving mass; looked for if there are bodies that are points, thin rods or
    massless, of trees whose dense mass matrix costs little (`Tree` looks at each joint of the others).
    """
    if tree.nv > DENSE:
        return
    moments = [np.linalg.eigvalsh(body.inertia.tensor_about_com) for body in tree.bodies]
    if all(m[0] > 1e-9 * m[2] for m in moments):
        return
    M = mass_matrix(tree, tree.random_configuration(np.random.default_rng(0)))
    scale = np.sqrt(np.maximum(np.diag(M), np.finfo(np.float64).tiny))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    if values[0] < 1e-12:
        column = int(np.argmax(np.abs(vectors[:, 0])))
        name = next(
            joint for joint in tree.joint_names if tree.v_slice(joint).start <= column < tree.v_slice(joint).stop
        )
        problem = "moves no mass, or only as other joints do: the mass matrix is singular"
        raise report.error(
            f"<joint name={name!r}>", problem, "give the links behind it a mass with extent, or make it fixed"
        )


def _report_joints(joints: list[Any], report: Report, wanted: Wanted | None) -> None:
    """List what the file says about the joints and the tree (`wanted` None) or the mechanism does not do."""
    names = {joint.name for joint in joints}
    moving = [joint for joint in joints if joint.type != "fixed"]
    mimic = [f"{joint.name} = {_law(joint.mimic, names)}" for joint in moving if joint.mimic and wanted is None]
    friction = [joint.name for joint in moving if joint.dynamics and float(joint.dynamics.friction or 0.0) != 0.0]
    limited = [joint.name for joint in moving if joint.limit]
    apart = [joint for joint in moving if joint.type not in ("revolute", "continuous", "prismatic")]
    without = [joint.name for joint in apart if joint.name in friction]
    ranges = [j.name for j in apart if j.limit and not j.limit.lower is j.limit.upper is None]
    still = [joint.name for joint in joints if joint.type == "fixed" and (joint.limit or joint.dynamics or joint.mimic)]
    if mimic:
        report.change(
            "<mimic>: joints that should follow another one move independently (load_mechanism couples them): "
            f"{some(mimic)}",
            [joint.name for joint in moving if joint.mimic],
        )
    if friction and wanted is None:
        text = "<dynamics friction=…>: dry friction is left out of the tree (load_mechanism has it)"
        report.change(f"{text}: {some(friction)}", friction)
    if without and wanted is not None and wanted.friction:
        report.change(f"<dynamics friction=…> of planar and floating joints: left out: {some(without)}", without)
    if ranges and wanted is not None and wanted.stops:
        report.change(f"<limit> of planar and floating joints: not known of which freedom: {some(ranges)}", ranges)
    if wanted is not None and not wanted.friction:
        report.notes.append("<dynamics friction=…>: left out, as asked for by friction=False")
    turning = [j for j in moving if j.type in ("revolute", "prismatic") and j.limit]
    if endless := [j.name for j in turning if j.limit.lower is j.limit.upper is None]:
        text = "<limit> without lower and upper: no limit, where the format would hold the joint at 0"
        report.notes.append(f"{text}: {some(endless)}")
    if limited and not (wanted and wanted.stops):
        remedy = "load_mechanism(…, stops=True) makes stops of it"
        report.notes.append(f"<limit>: carried as data; {remedy}: {some(limited)}")
    if still:
        report.notes.append(f"limits, dynamics and mimic of fixed joints have no effect: {some(still)}")


def _law(mimic: Any, names: set[str]) -> str:
    return f"{mimic.multiplier:g} {mimic.joint} + {mimic.offset:g}" + (
        "" if mimic.joint in names else " (no such joint)"
    )
