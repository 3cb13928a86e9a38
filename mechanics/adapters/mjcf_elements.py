"""What acts on joints and fixed tendons of MuJoCo's models → force elements: springs, dampers, dry friction, stops,
actuators.

==============================  ========================================================================================
of the model                    becomes
==============================  ========================================================================================
stiffness, springref            `joint_spring`; with higher powers, or slack (springlength), `polynomial_spring`; of
                                balls `torsion_spring`, of free bodies the same with the shift
damping of tendons and          dampers along the `Tendon`, or through the gear; that of joints acts in the tree, its
actuators, higher powers        higher powers in a `polynomial_spring`
frictionloss                    `dry_friction`, F tanh(ẋ/v_s)
range, margin                   `joint_stop` of Kelvin–Voigt
actuators                       `actuator` with their names, ranges and gears; at sites `thruster`
contacts, if wanted             `contact` (`mechanics.adapters.mjcf_contacts`)
gravcomp                        `wrench` that carries this part of the weight, at the centre of mass
==============================  ========================================================================================

MuJoCo's constraints of limits and friction are soft: by `solref` = (τ, ζ) they pull a mass m with m (2/τ) ẋ and
m/(τ ζ)² x, where m = 1/invweight0 is what the joint or tendon moves in the reference pose; negative numbers say
stiffness and damping per mass.  These are the spring and damper of the stop.  Friction that holds a load creeps with
(1 − d) F τ/(2 m), where d is the first number of `solimp`: that is v_s.

Everything here takes a model with MuJoCo's names for its arrays, and q that counts from `qpos0`.
Source: MuJoCo, "Computation": actuation model, passive forces, solver parameters (solref, solimp).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanics.adapters.elements import Wanted, soft
from mechanics.adapters.mjcf import (
    AT_SITE,
    FREE,
    HINGE,
    IN_PARENT,
    ON_JOINT,
    ON_TENDON,
    SLIDE,
    bodies_of,
    carried,
    place_of,
    rotors,
)
from mechanics.adapters.mjcf_contacts import contacts_of
from mechanics.adapters.mjcf_model import (
    LENGTHENED,
    disabled,
    is_lengthened,
    named,
    number_of_actuators,
    stiff_joints,
)
from mechanics.adapters.mjcf_sites import rotation, site
from mechanics.adapters.reading import Report, some
from mechanics.constraints.loops import JointFreedom, holonomic
from mechanics.errors import ModelError
from mechanics.forces import (
    Element,
    Tendon,
    actuator,
    compliant,
    dry_friction,
    joint_spring,
    joint_stop,
    polynomial_spring,
    thruster,
    torsion_spring,
)
from mechanics.forces.compliant import rotation_vector
from mechanics.forces.wrench import Wrench
from mechanics.joints import Free, Motion, Spherical
from mechanics.model.frames import Frame
from mechanics.model.tree import Body, Tree

Array = NDArray[np.float64]
OVER_JOINTS = 1
"""What a fixed tendon runs over (mjtWrap)."""
FIXED, AFFINE = 0, 1
"""Of mjtGain; of mjtBias: none, affine."""
BEYOND = 1e50
"""Of the numbers of a force element."""
ELSEWHERE = "between sites, on slider-cranks, on bodies"
"""Transmissions that are left out."""
LEAST_SPEED = 1e-6
"""v_s at least, rad/s or m/s."""


USUAL_IMPEDANCE = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's own `solimp`."""


class Line(NamedTuple):
    """A joint of one coordinate or a tendon: its freedoms with coefficients, and its length where those are zero."""

    name: str
    weights: dict[JointFreedom, float]
    offset: float

    def through(self, gear: float) -> str | tuple[str, int] | Tendon:
        """What a force element acts on."""
        (first, weight), *others = self.weights.items()
        if not others and weight * gear == 1.0:
            return first
        return Tendon({joint: a * gear for joint, a in self.weights.items()}, self.name)


def elements_of(model: Any, report: Report, wanted: Wanted) -> list[list[Element]]:
    """The force elements of a model; the names of what is left out in the report."""
    left_out: dict[str, list[str]] = {}
    bodies, frames = bodies_of(model, damping=False)
    found = [
        *(_springs(model, bodies, left_out) if wanted.springs and not disabled(model, "mjDSBL_SPRING") else []),
        *(_dampers(model, left_out) if wanted.damping and not disabled(model, "mjDSBL_DAMPER") else []),
        *(_friction(model, left_out) if wanted.friction and acts(model, "mjDSBL_FRICTIONLOSS") else []),
        *(_stops(model, left_out) if wanted.stops is not False and acts(model, "mjDSBL_LIMIT") else []),
        *(_actuators(model, frames, left_out, report) if wanted.actuators else []),
    ]
    if wanted.stops is not False and acts(model, "mjDSBL_LIMIT"):
        _note_impedances(model, report)
    _check_sizes(found)
    if wanted.contacts and acts(model, "mjDSBL_CONTACT"):
        found += contacts_of(model, bodies, frames, wanted.friction, left_out)
    _reservations(model, left_out, wanted.actuators)
    _reversed_ranges(model, report)
    for text, names in left_out.items():
        report.change(f"{len(names)} × {text}: {some(names)}")
    for what in ("springs", "friction", "actuators"):
        if not getattr(wanted, what):
            report.notes.append(f"{what}: left out, as asked for by {what}=False")
    return found


def gravity_compensation(model: Any, tree: Tree) -> list[list[Element]]:
    """−gravcomp m g at the centre of mass of every body that has it."""
    if disabled(model, "mjDSBL_GRAVITY") or (disabled(model, "mjDSBL_SPRING") and disabled(model, "mjDSBL_DAMPER")):
        return []
    found: list[list[Element]] = []
    for b in carried(model).tolist():
        frame, part = tree.frames[named(model, "body", b)], float(model.body_gravcomp[b])
        if not np.isfinite(part):
            raise ModelError(f"<body> {named(model, 'body', b)!r}", f"gravcomp is {part}", "give a finite number")
        if frame.body is None:
            continue
        centre = Frame(frame.body, frame.position + frame.rotation @ model.body_ipos[b])
        force = -part * float(model.body_mass[b]) * np.asarray(tree.gravity)
        if np.abs(force).max() > BEYOND:
            raise ModelError(
                f"<body> {named(model, 'body', b)!r}", f"gravcomp is {part:g}", "give a part of its weight"
            )
        if force.any():
            found.append([Wrench(centre, tuple(force.tolist()), (0.0, 0.0, 0.0), True, Motion((1.0,)))])
    return found


def acts(model: Any, flag: str) -> bool:
    """Whether neither this nor all constraints are switched off."""
    return not (disabled(model, flag) or disabled(model, "mjDSBL_CONSTRAINT"))


# --- joints and tendons -----------------------------------------------------------------------------------------------


def line_of_joint(model: Any, j: int) -> Line | None:
    """A hinge or slide; None for others."""
    if model.jnt_type[j] not in (SLIDE, HINGE):
        return None
    joint, number = place_of(model, j)
    name = named(model, "joint", j)
    return Line(name, {joint if joint == name else (joint, number): 1.0}, float(model.qpos0[model.jnt_qposadr[j]]))


def line_of_tendon(model: Any, t: int) -> Line | None:
    """A fixed tendon; None for spatial ones."""
    start = int(model.tendon_adr[t])
    wraps = range(start, start + int(model.tendon_num[t]))
    weights: dict[JointFreedom, float] = {}
    offset = 0.0
    for w in wraps:
        line = line_of_joint(model, int(model.wrap_objid[w])) if model.wrap_type[w] == OVER_JOINTS else None
        if line is None:
            return None
        ((place, _),) = line.weights.items()
        weights[place] = weights.get(place, 0.0) + float(model.wrap_prm[w])
        offset += float(model.wrap_prm[w]) * line.offset
    return Line(named(model, "tendon", t), weights, offset) if any(weights.values()) else None


def _lines(
    model: Any, kind: str, chosen: Iterable[int], what: str, left_out: dict[str, list[str]]
) -> list[tuple[int, Line]]:
    """The chosen joints or tendons that are lines; the names of the others in `left_out`."""
    found = []
    for i in chosen:
        line = (line_of_joint if kind == "joint" else line_of_tendon)(model, i)
        if line is None:
            whose = "balls and free bodies" if kind == "joint" else "spatial tendons"
            left_out.setdefault(f"{what} of {whose}: left out", []).append(named(model, kind, i))
        else:
            found.append((i, line))
    return found


def _powers(model: Any, name: str, i: int) -> list[float]:
    """Coefficients of higher powers, which older versions of MuJoCo do not have."""
    return [float(x) for x in np.atleast_1d(getattr(model, name)[i])] if hasattr(model, name) else []


def _nonzero(values: Any) -> list[int]:
    """Numbers of the rows that have something."""
    rows = np.asarray(values)
    return [i for i in range(len(rows)) if np.any(rows[i])]


def _with_powers(model: Any, name: str, poly: str) -> list[int]:
    return sorted({*_nonzero(getattr(model, name, ())), *_nonzero(getattr(model, poly, ()))})


# --- springs and dampers ----------------------------------------------------------------------------------------------


def _springs(model: Any, bodies: Sequence[Body], left_out: dict[str, list[str]]) -> list[list[Element]]:
    """τ = −k (q − q_spring), with higher powers and slack where the file has them."""
    found, turning = [], dict(_turning_springs(model, bodies))
    simple = [j for j in stiff_joints(model) if j not in turning]
    found += list(turning.values())
    for j, line in _lines(model, "joint", simple, "springs", left_out):
        rest = float(model.qpos_spring[model.jnt_qposadr[j]]) - line.offset
        if not np.isfinite(rest):
            raise ModelError(f"<joint> {line.name!r}", f"springref is {rest}", "give a finite number")
        powers = _powers(model, "jnt_stiffnesspoly", j)
        found.append(_spring(line, float(model.jnt_stiffness[j]), powers, (rest, rest)))
    for t, line in _lines(model, "tendon", _with_powers(model, "tendon_stiffness", "tendon_stiffnesspoly"), "springs",
                          left_out):  # fmt: skip
        low, high = (float(x) - line.offset for x in model.tendon_lengthspring[t])
        powers = _powers(model, "tendon_stiffnesspoly", t)
        found.append(_spring(line, float(model.tendon_stiffness[t]), powers, (low, high)))
    return found


def _turning_springs(model: Any, bodies: Sequence[Body]) -> Iterator[tuple[int, list[Element]]]:
    """(joint, springs) of balls and free bodies: −k times the rotation vector from the reference, and the shift; not of
    those with higher powers, nor of balls that share their anchor with other joints.
    """
    alone = {body.joint_name: body for body in bodies if isinstance(body.joint, Spherical | Free)}
    for j in stiff_joints(model):
        body, stiffness = alone.get(named(model, "joint", j)), float(model.jnt_stiffness[j])
        if body is None or stiffness < 0.0 or any(_powers(model, "jnt_stiffnesspoly", j)):
            continue
        at, is_free = int(model.jnt_qposadr[j]), model.jnt_type[j] == FREE
        x = model.qpos_spring[at : at + 3] if is_free else np.zeros(3)
        R = rotation(model.qpos_spring[at + 3 * is_free : at + 3 * is_free + 4])
        rest = Frame(body.parent, np.asarray(body.position) + x, np.asarray(body.rotation) @ R)
        if is_free:
            yield j, compliant(holonomic(rest, Frame(body.name), _shift_and_turn, "spring"), stiffness)
        else:
            yield j, torsion_spring(rest, Frame(body.name), stiffness)


def _shift_and_turn(x: Any, R: Any) -> list[Any]:
    return [*x, *rotation_vector(x, R)]


def _spring(line: Line, stiffness: float, powers: Sequence[float], rest: tuple[float, float]) -> list[Element]:
    if any(powers) or rest[0] != rest[1] or stiffness < 0.0:
        return polynomial_spring(line.through(1.0), (stiffness, *powers[:2]), rest=rest)
    return joint_spring(line.through(1.0), stiffness, rest=rest[0])


def _dampers(model: Any, left_out: dict[str, list[str]]) -> list[list[Element]]:
    """−(c₀ + c₁ |ẋ| + c₂ ẋ²) ẋ of tendons and actuators, and the higher powers of joints."""
    found = []
    dofs = [int(i) for i in _nonzero(getattr(model, "dof_dampingpoly", ()))]
    joints = list(dict.fromkeys(int(model.dof_jntid[i]) for i in dofs))
    for j, line in _lines(model, "joint", joints, "damping that is not linear", left_out):
        powers = _powers(model, "dof_dampingpoly", int(model.jnt_dofadr[j]))
        found.append(polynomial_spring(line.through(1.0), 0.0, damping=(0.0, *powers[:2])))
    damped = _with_powers(model, "tendon_damping", "tendon_dampingpoly")
    for t, line in _lines(model, "tendon", damped, "damping", left_out):
        powers = _powers(model, "tendon_dampingpoly", t)
        found.append(_damper(line.through(1.0), float(model.tendon_damping[t]), powers))
    for i in _with_powers(model, "actuator_damping", "actuator_dampingpoly"):
        through = _transmission(model, i)
        if isinstance(through, str):
            left_out.setdefault(f"damping of actuators ({through}): left out", []).append(named(model, "actuator", i))
        else:
            line, gear = through
            coefficients = [gear * gear * x for x in _powers(model, "actuator_dampingpoly", i)]
            found.append(_damper(line.through(1.0), gear * gear * float(model.actuator_damping[i]), coefficients))
    return found


def _damper(place: Any, damping: float, powers: Sequence[float]) -> list[Element]:
    if any(powers) or damping < 0.0:
        return polynomial_spring(place, 0.0, damping=(damping, *powers[:2]))
    return joint_spring(place, 0.0, damping=damping)


# --- friction and stops -----------------------------------------------------------------------------------------------


def _friction(model: Any, left_out: dict[str, list[str]]) -> list[list[Element]]:
    found = []
    joints = list(dict.fromkeys(int(model.dof_jntid[i]) for i in _nonzero(model.dof_frictionloss)))
    for j, line in _lines(model, "joint", joints, "dry friction (frictionloss)", left_out):
        i = int(model.jnt_dofadr[j])
        force, weight = float(model.dof_frictionloss[i]), float(model.dof_invweight0[i])
        found.append(_rubbing(line, force, weight, model.dof_solref[i], model.dof_solimp[i]))
    tendons = _nonzero(model.tendon_frictionloss)
    for t, line in _lines(model, "tendon", tendons, "dry friction (frictionloss)", left_out):
        force, weight = float(model.tendon_frictionloss[t]), float(model.tendon_invweight0[t])
        found.append(_rubbing(line, force, weight, model.tendon_solref_fri[t], model.tendon_solimp_fri[t]))
    return found


def _rubbing(line: Line, force: float, weight: float, solref: Any, solimp: Any) -> list[Element]:
    """F tanh(ẋ/v_s) with v_s = (1 − d) F/c."""
    _, damping = soft(solref, 1.0 / max(weight, 1e-12))
    d = min(max(float(solimp[0]), 0.0), 1.0)
    speed = (1.0 - d) * force / damping if damping > 0.0 else 0.0
    return dry_friction(line.through(1.0), force=force, slip_speed=max(speed, LEAST_SPEED))


def _stops(model: Any, left_out: dict[str, list[str]]) -> list[list[Element]]:
    found = []
    for j, line in _lines(model, "joint", _nonzero(model.jnt_limited), "limits", left_out):
        weight = float(model.dof_invweight0[int(model.jnt_dofadr[j])])
        if is_lengthened(model, model.jnt_solref[j]):
            left_out.setdefault(f"limits {LENGTHENED}", []).append(named(model, "joint", j))
        found.append(_stop(line, model.jnt_range[j], float(model.jnt_margin[j]), weight, model.jnt_solref[j]))
    for t, line in _lines(model, "tendon", _nonzero(model.tendon_limited), "limits", left_out):
        weight, solref = float(model.tendon_invweight0[t]), model.tendon_solref_lim[t]
        if is_lengthened(model, solref):
            left_out.setdefault(f"limits {LENGTHENED}", []).append(named(model, "tendon", t))
        found.append(_stop(line, model.tendon_range[t], float(model.tendon_margin[t]), weight, solref))
    return found


def _note_impedances(model: Any, report: Report) -> None:
    """Limits whose impedance is another than usual: stops are as stiff everywhere."""
    for kind, limited, field in (
        ("joint", "jnt_limited", "jnt_solimp"),
        ("tendon", "tendon_limited", "tendon_solimp_lim"),
    ):
        given = np.reshape(getattr(model, field, ()), (-1, len(USUAL_IMPEDANCE)))
        others = np.flatnonzero((given != USUAL_IMPEDANCE).any(axis=1)).tolist()
        if names := [named(model, kind, i) for i in _nonzero(getattr(model, limited)) if i in others]:
            report.notes.append(
                f"solimplimit of {kind}s: not carried over, stops are as stiff everywhere: {some(names)}"
            )


def _stop(line: Line, ends: Any, margin: float, weight: float, solref: Any) -> list[Element]:
    low, up = float(ends[0]) - line.offset + margin, float(ends[1]) - line.offset - margin
    k, c = soft(solref, 1.0 / max(weight, 1e-12))
    return joint_stop(line.through(1.0), lower=low, upper=up, stiffness=k, damping=c, law="kelvin_voigt")


# --- actuators --------------------------------------------------------------------------------------------------------


def _transmission(model: Any, i: int) -> tuple[Line, float] | str:
    """What an actuator acts on and through which gear, or why it has no place here."""
    kind, target = int(model.actuator_trntype[i]), int(model.actuator_trnid[i][0])
    gear = np.asarray(model.actuator_gear[i])
    if kind in (ON_JOINT, IN_PARENT):
        line = line_of_joint(model, target)
        whose = "on balls and free bodies"
    elif kind == ON_TENDON:
        line, whose = line_of_tendon(model, target), "on spatial tendons"
    else:
        return ELSEWHERE
    if line is None:
        return whose
    return (line, float(gear[0])) if gear[0] else "with the gear 0"


def _law(model: Any, i: int) -> tuple[list[float], list[float]] | str:
    """Gains and biases (constant, by length, by rate), or why there are none."""
    if int(model.actuator_dyntype[i]) or (hasattr(model, "actuator_plugin") and int(model.actuator_plugin[i]) >= 0):
        return "with a state of their own (activation)"
    if any(int(getattr(model, f"actuator_{what}num", np.ones(i + 1))[i]) != 1 for what in ("ctrl", "out")):
        return "with several commands or forces"
    if float(getattr(model, "actuator_delay", np.zeros(i + 1))[i]):
        return "with a delay"
    gain, bias = int(model.actuator_gaintype[i]), int(model.actuator_biastype[i])
    if gain not in (FIXED, AFFINE) or bias not in (FIXED, AFFINE):
        return "with a law that is not affine (muscles and others)"
    g, b = (np.array(x[i][:3], dtype=float) for x in (model.actuator_gainprm, model.actuator_biasprm))
    return [g[0], *(g[1:] if gain == AFFINE else (0.0, 0.0))], (b.tolist() if bias == AFFINE else [0.0, 0.0, 0.0])


def _on_line(model: Any, i: int, name: str) -> list[Element] | str:
    """An actuator on a joint or a fixed tendon, or why it has no place here."""
    through, law = _transmission(model, i), _law(model, i)
    if isinstance(through, str) or isinstance(law, str):
        return through if isinstance(through, str) else str(law)
    (line, gear), (gain, bias) = through, law
    length = gear * line.offset
    gain[0], bias[0] = gain[0] + gain[1] * length, bias[0] + bias[1] * length
    ranges = {"command_range": _command_range(model, i), "force_range": _force_range(model, i, gear)}
    return actuator(line.through(gear), gain=gain, bias=bias, **ranges, name=name)


def _at_site(model: Any, i: int, frames: Mapping[str, Frame], name: str) -> list[Element] | str:
    """An actuator at a site, whose length is zero, or why it has no place here."""
    (s, reference), law = (int(x) for x in model.actuator_trnid[i]), _law(model, i)
    if reference >= 0:
        return ELSEWHERE
    if isinstance(law, str):
        return law
    frame, gear, (gain, bias) = site(model, s, frames), np.array(model.actuator_gear[i], dtype=float), law
    if frame.body is None or not gear.any():
        return "at sites of the world" if frame.body is None else "with the gear 0"
    if gain[2] or bias[2]:
        return "at sites with a law of the velocity"
    ranges = {"command_range": _command_range(model, i), "force_range": _own_range(model, i)}
    return thruster(frame, force=gear[:3], moment=gear[3:], gain=gain[0], bias=bias[0], **ranges, name=name)


def _actuators(
    model: Any, frames: Mapping[str, Frame], left_out: dict[str, list[str]], report: Report
) -> list[list[Element]]:
    """Named elements with the command 0, which `Mechanism.with_commands` sets."""
    count = number_of_actuators(model)
    if disabled(model, "mjDSBL_ACTUATION"):
        if count:
            report.notes.append(f"actuators: switched off by a <flag> of the file: {count}")
        return []
    found = []
    for i in range(count):
        name = named(model, "actuator", i)
        if int(getattr(model, "disableactuator", 0)) >> int(model.actuator_group[i]) & 1:
            report.notes.append(f"actuator {name!r}: switched off by the file (actuatorgroupdisable)")
            continue
        is_at_site = int(model.actuator_trntype[i]) == AT_SITE
        made = _at_site(model, i, frames, name) if is_at_site else _on_line(model, i, name)
        if isinstance(made, str):
            left_out.setdefault(f"actuators {made}: left out; pass joint forces instead", []).append(name)
        else:
            found.append(made)
    return found


def _command_range(model: Any, i: int) -> Any:
    """ctrlrange."""
    clamps = bool(model.actuator_ctrllimited[i]) and not disabled(model, "mjDSBL_CLAMPCTRL")
    return model.actuator_ctrlrange[i] if clamps else None


def _check_sizes(found: list[list[Element]]) -> None:
    """No number beyond those of tree and files of other kinds."""
    for element in (e for several in found for e in several):
        for name, x in zip(element.names(), element.numbers, strict=True):
            if abs(x) > BEYOND and not name.endswith(("_lower", "_upper")):  # of ranges that are none
                raise ModelError(str(element), f"{name} is {x:g}", f"give a number in SI units, none beyond {BEYOND:g}")


def _reversed_ranges(model: Any, report: Report) -> None:
    """Ranges from high to low, which MuJoCo takes for none unless the file says `limited`."""
    for kind, attribute, what in (
        ("joint", "jnt_range", "range"),
        ("tendon", "tendon_range", "range"),
        ("actuator", "actuator_ctrlrange", "ctrlrange"),
        ("actuator", "actuator_forcerange", "forcerange"),
    ):
        ranges = np.reshape(np.asarray(getattr(model, attribute, ())), (-1, 2))
        if names := [named(model, kind, int(i)) for i in np.flatnonzero(ranges[:, 0] > ranges[:, 1])]:
            report.change(
                f"{len(names)} × {what} of {kind}s from high to low, which limits nothing: {some(names)}", names
            )


def _target(model: Any, i: int) -> tuple[bool, int]:
    """Whether an actuator acts on a tendon, and on which joint or tendon; joint −1 where it acts on neither."""
    kind = int(model.actuator_trntype[i])
    return kind == ON_TENDON, int(model.actuator_trnid[i][0]) if kind in (ON_JOINT, IN_PARENT, ON_TENDON) else -1


def _acting(model: Any) -> dict[tuple[bool, int], list[int]]:
    """Actuators by the joints and tendons they act on, also over a tendon or from a site beyond the joint."""
    found: dict[tuple[bool, int], list[int]] = {}
    for i in range(number_of_actuators(model)):
        if int(model.actuator_trntype[i]) == AT_SITE:
            for j in _carrying(model, int(model.site_bodyid[int(model.actuator_trnid[i][0])])):
                found.setdefault((False, j), []).append(i)
        if int(model.actuator_trntype[i]) in (ON_JOINT, IN_PARENT, ON_TENDON):
            of_tendon, k = _target(model, i)
            start = int(model.tendon_adr[k]) if of_tendon else 0
            over = range(start, start + int(model.tendon_num[k])) if of_tendon else ()
            for target in [(of_tendon, k), *((False, int(model.wrap_objid[w])) for w in over)]:
                found.setdefault(target, []).append(i)
    return found


def _carrying(model: Any, b: int) -> Iterator[int]:
    """The joints that move a body."""
    while b > 0:
        start = int(model.body_jntadr[b])
        yield from range(start, start + int(model.body_jntnum[b]))
        b = int(model.body_parentid[b])


def _limited_forces(model: Any) -> dict[tuple[bool, int], Array]:
    """Ranges of the force of all actuators together, by joints and tendons."""
    found = {}
    for of_tendon, kind in ((False, "jnt"), (True, "tendon")):
        limited = getattr(model, f"{kind}_actfrclimited", ())
        for k in _nonzero(limited):
            found[of_tendon, k] = np.asarray(getattr(model, f"{kind}_actfrcrange")[k], dtype=float)
    return found


def _force_range(model: Any, i: int, gear: float) -> tuple[float, float] | None:
    """forcerange, within the actuatorfrcrange of a tendon (without the gear) or joint that it has for itself."""
    low, up = _own_range(model, i) or (-np.inf, np.inf)
    target = _target(model, i)
    limits = _limited_forces(model).get(target)
    if limits is not None and _acting(model)[target] == [i]:
        ends = sorted(limits if target[0] else limits / gear)
        low, up = float(np.clip(low, *ends)), float(np.clip(up, *ends))
    return None if (low, up) == (-np.inf, np.inf) else (low, up)


def _own_range(model: Any, i: int) -> tuple[float, float] | None:
    """forcerange."""
    if not model.actuator_forcelimited[i]:
        return None
    low, up = (float(x) for x in model.actuator_forcerange[i])
    return low, up


def _reservations(model: Any, left_out: dict[str, list[str]], with_actuators: bool) -> None:
    """What has no counterpart in force elements."""
    turned = [int(j) for j in range(model.njnt) if rotors(model, int(j))]
    inert = [
        named(model, "actuator", int(i))
        for i in np.flatnonzero(getattr(model, "actuator_armature", ()))
        if _target(model, int(i)) not in [(False, j) for j in turned]
    ]
    if inert:
        left_out.setdefault("actuators with armature that do not act on one joint: it is left out", []).extend(inert)
    acting = _acting(model)
    for target in _limited_forces(model) if with_actuators else ():
        several = acting.get(target, [])
        if len(several) > 1 or any(_target(model, i) != target for i in several):
            kind = "tendon" if target[0] else "joint"
            text = (
                f"{kind}s whose range (actuatorfrcrange) bounds several actuators, or one of a tendon or site: left out"
            )
            left_out.setdefault(text, []).append(named(model, kind, target[1]))
    for kind, attribute, text in (
        ("tendon", "tendon_armature", "tendons with armature: left out"),
        ("joint", "jnt_actgravcomp", "joints with gravity compensation by actuators: it acts beside their ranges here"),
        ("joint", "jnt_springyield", "springs of joints that yield (springyield): they are elastic here"),
        ("tendon", "tendon_springyield", "springs of tendons that yield (springyield): they are elastic here"),
    ):
        names = [named(model, kind, i) for i in _nonzero(getattr(model, attribute, ()))]
        if names and (with_actuators or attribute != "jnt_actgravcomp"):
            left_out.setdefault(text, []).extend(names)
