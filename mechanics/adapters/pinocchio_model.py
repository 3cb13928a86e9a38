"""Pinocchio models → trees: every kind of joint that has an equal here, and where its numbers are.

A body is a joint of the model with the inertia that hangs on it, in the model's order, so that configurations differ
only in how joints write them.  A composite joint is a chain of bodies without mass between its parts; a mimic joint is
a joint of its own that a coupling holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mechanics.adapters.reading import Report, inside, of_project, some
from mechanics.adapters.state_map import (
    CIRCLE,
    NUMBER,
    PLANE,
    Place,
    Side,
    StateMap,
    element_names,
    element_places,
)
from mechanics.constraints.couplings import MIMIC, polynomial
from mechanics.constraints.loops import Closure
from mechanics.errors import ModelError, ModelWarning
from mechanics.joints import (
    Compound,
    Continuous,
    Free,
    Gimbal,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Slide,
    Spherical,
    Universal,
)
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

if TYPE_CHECKING:
    from mechanics.mechanism import Mechanism

Array = NDArray[np.float64]
PROJECT = "Pinocchio"
UNLIMITED = 1e300
"""Limits beyond this are none."""

ROUNDING = 1e-13
"""Components of an axis below this are none."""


def _axis(column: Array) -> tuple[float, float, float]:
    x, y, z = (float(x) for x in column)
    return x, y, z


JOINTS: dict[str, Callable[[Array], Joint]] = {
    "Revolute": lambda S: Revolute(_axis(S[3:, 0])),
    "RevoluteUnbounded": lambda S: Continuous(_axis(S[3:, 0])),
    "Prismatic": lambda S: Prismatic(_axis(S[:3, 0])),
    "Helical": lambda S: Helical(_axis(S[3:, 0]), float(S[:3, 0] @ S[3:, 0])),
    "Universal": lambda S: Universal(_axis(S[3:, 0]), _axis(S[3:, 1])),
    "SphericalZYX": lambda S: Gimbal(),
    "Spherical": lambda S: Spherical(),
    "Translation": lambda S: Compound((Slide((1.0, 0.0, 0.0)), Slide((0.0, 1.0, 0.0)), Slide((0.0, 0.0, 1.0)))),
    "Planar": lambda S: Planar(),
    "FreeFlyer": lambda S: Free(),
}
"""By Pinocchio's kind of joint, from its motion subspace (6, nv) in the neutral configuration, linear part first."""
_SHORT = {"R": "Revolute", "RUB": "RevoluteUnbounded", "P": "Prismatic", "H": "Helical"}
"""Kinds whose names end with an axis, such as JointModelRX."""


@dataclass(frozen=True)
class Part:
    """One joint of the tree: a joint of the model, or a part of a composite one.

    Attributes
    ----------
    name : str
        Of the joint here.
    joint : Joint
        The same motion.
    places : dict
        Names of its elementary motions, and where they are in the arrays of the model.
    position, rotation : array (3,), (3, 3)
        Of the joint's frame in that of the part before it, of the first in that of the joint above.
    leader : int or None
        Of a mimic joint the number of the joint it follows.
    """

    name: str
    joint: Joint
    places: dict[str, Place]
    position: Array
    rotation: Array
    leader: int | None = None


def checked(model: Any) -> Any:
    """Pinocchio's module, if this is a model of it; else TypeError with what to give."""
    instead = dict.fromkeys(("Data", "GeometryModel", "GeometryData"), "give the model it belongs to")
    return of_project(model, "pinocchio", "Model", "load_urdf", instead)


def side_of(model: Any) -> Side:
    """What a map of states has to know of a model."""
    pin = checked(model)
    places = {
        name: place
        for i in range(1, model.njoints)
        for part in _parts(pin, model, i)
        for name, place in part.places.items()
    }
    if planes := [name for name, place in places.items() if place.kind == PLANE and model.existJointName(name)]:
        data = model.createData()
        pin.forwardKinematics(model, data, pin.neutral(model))
        for name in planes:
            axes = np.array(data.oMi[model.getJointId(name)].rotation)[:, :2]
            places[name] = replace(places[name], plane=axes)
    return Side(PROJECT, np.array(pin.neutral(model)), int(model.nv), scalar_first=False, world=False, places=places)


def from_pinocchio(model: Any, damping: bool = True) -> tuple[Tree | Mechanism, StateMap]:
    """See `mechanics.from_pinocchio`."""
    pin = checked(model)
    report = Report(f"pinocchio model {model.name!r}", kind="model")
    with inside(report.path):
        parts = {i: _parts(pin, model, i) for i in range(1, model.njoints)}
        if not parts:
            raise ModelError(report.path, "has no joints", "give a model with a joint; a body alone is a free joint")
        names = _body_names(pin, model, parts)
        bodies = list(_bodies(model, parts, names, damping))
        _left_out(model, report, damping)
        if turning := [body.joint_name for body in bodies if turns(body)]:
            report.change(f"armature that differs by direction turns with the body here: {some(turning)}", turning)
        for body in bodies:
            if problem := body.inertia.unphysical():
                report.change(f"body {body.name!r}: {problem}; used as it is")
        if np.any(model.gravity.angular):
            report.change("gravity has an angular part: left out")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # said above
            tree = Tree(
                bodies,
                model.name or "pinocchio",
                np.array(model.gravity.linear),
                strict=False,
                notes=report.notes,
                frames=_frames(pin, model, names),
            )
        closures = list(_couplings(model, parts))
        made: Tree | Mechanism = tree
        if closures:
            from mechanics.mechanism import Mechanism

            made = Mechanism.assembled(tree, closures, name=tree.name)
        states = StateMap(tree, side_of(model))
    report.warn(3)
    return made, states


# --- joints -----------------------------------------------------------------------------------------------------------


def _parts(pin: Any, model: Any, i: int) -> list[Part]:
    """A joint of the model as joints of a tree."""
    placement, joint = model.jointPlacements[i], model.joints[i]
    name, q, v = model.names[i], int(model.idx_qs[i]), int(model.idx_vs[i])
    if joint.shortname() == "JointModelMimic":
        return [_mimic(pin, model, i)]
    return list(_split(pin, name, joint, placement, q, v))


def _split(pin: Any, name: str, joint: Any, placement: Any, q: int, v: int) -> Iterator[Part]:
    kind = _kind(joint)
    if kind == "Composite":
        made = joint.extract() if hasattr(joint, "extract") else joint
        inner = list(zip(made.joints, made.jointPlacements, strict=True))
        for part, (one, above) in zip(element_names(name, inner), inner, strict=True):
            yield from _split(pin, part, one, placement * above, q, v)
            placement, q, v = pin.SE3.Identity(), q + one.nq, v + one.nv
        return
    if kind not in JOINTS:
        raise ModelError(
            f"joint {name!r}",
            f"is a {joint.shortname()}, which has no equal here",
            f"expected one of {', '.join(JOINTS)}, Composite, Mimic",
        )
    equal = JOINTS[kind](_subspace(pin, joint))
    places = element_places(
        name, equal, q, v, {NUMBER: CIRCLE} if kind == "RevoluteUnbounded" else {}, {CIRCLE: 2, PLANE: 4}
    )
    yield Part(name, equal, places, np.array(placement.translation), np.array(placement.rotation))


def _kind(joint: Any) -> str:
    short = str(joint.shortname()).removeprefix("JointModel")
    return _SHORT.get(short[:-1], short.removesuffix("Unaligned"))


def _subspace(pin: Any, joint: Any) -> Array:
    """S of a joint alone, in its neutral configuration and the axes of the child; columns of length one."""
    alone = pin.Model()
    alone.addJoint(0, joint, pin.SE3.Identity(), "joint")
    data = alone.createData()
    return np.array(pin.computeJointJacobian(alone, data, pin.neutral(alone), 1)).reshape(6, joint.nv)


def _mimic(pin: Any, model: Any, i: int) -> Part:
    """A joint that follows another: q = scaling·q_leader + offset."""
    name, joint = model.names[i], model.joints[i].extract()
    leader = int(next(k for k, j in zip(model.mimicked_joints, model.mimicking_joints, strict=True) if j == i))
    where = f"joint {name!r}"
    lead = _kind(model.joints[leader])
    if lead not in ("Revolute", "Prismatic", "Helical"):
        raise ModelError(
            where,
            f"mimics {model.names[leader]!r}, a {lead} joint",
            "let it follow a joint of one coordinate that counts its turns",
        )
    ratio, offset = float(joint.scaling), float(joint.offset)
    if ratio == 0.0 or not np.isfinite([ratio, offset]).all():
        raise ModelError(
            where, f"mimics with scaling {ratio:g} and offset {offset:g}", "give finite numbers, no zero scaling"
        )
    data, q = model.createData(), pin.neutral(model)
    q[model.idx_qs[leader]] = (1.0 - offset) / ratio  # the joint at one: log of its pose is its axis
    pin.forwardKinematics(model, data, q)
    S = np.array(pin.log6(model.jointPlacements[i].inverse() * data.liMi[i]).vector).reshape(6, 1)
    S = np.where(np.abs(S) < ROUNDING, 0.0, S)
    kind = "Prismatic" if not S[3:].any() else "Helical" if S[:3].any() else "Revolute"
    place = Place(NUMBER, int(model.idx_qs[leader]), int(model.idx_vs[leader]), ratio, offset, follows=True)
    placement = model.jointPlacements[i]
    return Part(
        name, JOINTS[kind](S), {name: place}, np.array(placement.translation), np.array(placement.rotation), leader
    )


def _couplings(model: Any, parts: dict[int, list[Part]]) -> Iterator[Closure]:
    for part in (part for several in parts.values() for part in several if part.leader is not None):
        place = part.places[part.name]
        yield polynomial(part.name, model.names[part.leader], (place.offset, place.ratio), kind=MIMIC)


# --- bodies -----------------------------------------------------------------------------------------------------------


def _body_names(pin: Any, model: Any, parts: dict[int, list[Part]]) -> dict[int, str]:
    """The first body that the model fixes to a joint where the joint is, else the name of the joint."""
    found: dict[int, str] = {}
    for frame in model.frames:
        i = int(frame.parentJoint)
        if frame.type == pin.FrameType.BODY and i in parts and i not in found and frame.placement.isIdentity(0.0):
            found[i] = str(frame.name)
    taken = set(found.values())
    return {i: found.get(i) or _free_name(str(model.names[i]), taken) for i in parts}


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_body"
    taken.add(name)
    return name


def _bodies(model: Any, parts: dict[int, list[Part]], names: dict[int, str], damping: bool) -> Iterator[Body]:
    for i, several in parts.items():
        parent = names.get(int(model.parents[i]))
        for part in several:
            is_last = part is several[-1]
            name = names[i] if is_last else f"{part.name}_link"
            yield Body(
                name,
                part.joint,
                parent,
                part.position,
                part.rotation,
                _inertia(model.inertias[i]) if is_last else Inertia.zero(),
                part.name,
                _data(model, part, damping),
            )
            parent = name


def _inertia(inertia: Any) -> Inertia:
    if inertia.mass == 0.0 and not np.any(inertia.inertia):
        return Inertia.zero()
    return Inertia.about_com(float(inertia.mass), np.array(inertia.lever), np.array(inertia.inertia))


def _data(model: Any, part: Part, damping: bool) -> JointData:
    """Damping, armature, friction and limits of a joint; those of a mimic joint are its leader's."""
    if part.leader is not None:
        return JointData()
    v = slice(min(p.v for p in part.places.values()), min(p.v for p in part.places.values()) + part.joint.n_v)
    lower, upper = np.full(part.joint.n_q, -np.inf), np.full(part.joint.n_q, np.inf)
    if all(place.kind == NUMBER for place in part.places.values()):
        q = [place.q for place in part.places.values()]
        lower, upper = _limits(model.lowerPositionLimit[q]), _limits(model.upperPositionLimit[q])
    return JointData(
        damping=np.array(model.damping[v]) if damping else 0.0,
        armature=np.array(model.armature[v]),
        friction=_dry_friction(model)[v],
        lower=lower,
        upper=upper,
        effort=_limits(model.upperEffortLimit[v]),
        velocity=_limits(model.upperVelocityLimit[v]),
    )


def _dry_friction(model: Any) -> Array:
    """The greater one of both limits."""
    lower = np.asarray(getattr(model, "lowerDryFrictionLimit", 0.0))
    return np.asarray(np.maximum(model.upperDryFrictionLimit, -lower))


def turns(body: Body) -> bool:
    """Whether a rotor inertia in quasi-velocities is more than a v̇: a v̇ − ad_vᵀ(a v), where Pinocchio has a v̇."""
    armature = np.asarray(body.data.armature)
    if isinstance(body.joint, Spherical):
        return bool(np.ptp(armature))
    return isinstance(body.joint, (Free, Planar)) and bool(armature.any())


def _limits(values: Any) -> Array:
    x = np.array(values, dtype=np.float64)
    return np.where(np.abs(x) < UNLIMITED, x, np.copysign(np.inf, x))


def _frames(pin: Any, model: Any, names: dict[int, str]) -> dict[str, Frame]:
    """All frames of the model by name; where several have one, bodies come first and joints last."""
    order = {pin.FrameType.BODY: 0, pin.FrameType.JOINT: 2, pin.FrameType.FIXED_JOINT: 2}
    found: dict[str, Frame] = {}
    for frame in sorted(model.frames, key=lambda f: order.get(f.type, 1)):
        i = int(frame.parentJoint)
        if str(frame.name) not in found and str(frame.name) != "universe":
            placement = frame.placement
            found[str(frame.name)] = Frame(names.get(i), np.array(placement.translation), np.array(placement.rotation))
    return found


def _uneven(model: Any, i: int) -> Array:
    """What of the armature of a joint turns with it here: that of free and planar joints, and of balls without three
    equal numbers; rates of coordinates, as those of other joints, do not turn.
    """
    armature = np.array(model.armature[model.idx_vs[i] : model.idx_vs[i] + model.nvs[i]], dtype=float)
    turns: list[Array] = []
    todo = [model.joints[i]]
    while todo:
        joint = todo.pop(0)
        kind = _kind(joint)
        if kind == "Composite":
            todo = [*(joint.extract() if hasattr(joint, "extract") else joint).joints, *todo]
            continue
        own, armature = armature[: joint.nv], armature[joint.nv :]
        even = kind not in ("FreeFlyer", "Planar", "Spherical") or (kind == "Spherical" and (own == own[0]).all())
        turns.append(0.0 * own if even else own)
    return np.concatenate(turns)


def _left_out(model: Any, report: Report, damping: bool) -> None:
    """What makes the tree move differently than the model says, and what is only noted."""

    def joints(values: Any) -> list[str]:
        return [
            str(model.names[i])
            for i in range(1, model.njoints)
            if np.any(np.asarray(values)[model.idx_vs[i] : model.idx_vs[i] + model.nvs[i]])
        ]

    uneven = np.concatenate([np.zeros(0), *map(partial(_uneven, model), range(1, model.njoints))])
    if names := joints(uneven):
        text = "armature of a free, planar or uneven ball joint turns with the joint here, in Pinocchio it does not"
        report.change(f"{len(names)} × {text}: {some(names)}", names)
    if names := joints(_dry_friction(model)):
        report.change(f"{len(names)} × dry friction: carried as data, not modelled: {some(names)}", names)
    if names := joints(model.damping):
        how = "acts here, while Pinocchio's aba leaves it out" if damping else "left out, as asked for by damping=False"
        report.notes.append(f"{len(names)} × damping: {how}: {some(names)}")
    limited = np.abs(model.lowerPositionLimit) < UNLIMITED
    if limited.any():
        report.notes.append("limits of positions, velocities and efforts: carried as data, not enforced")
