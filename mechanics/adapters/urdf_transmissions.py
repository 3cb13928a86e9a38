"""<transmission> of URDF files → actuators: a motor through a gear on one joint.

Of a simple transmission with the reduction n the motor turns n times as fast as the joint, and its torque u is n u at
the joint.  The command is u; the force that <limit effort=…> allows the joint bounds it.  Source: ROS,
URDF/Transmissions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Mapping
from xml.etree.ElementTree import Element

import numpy as np

from mechanics.adapters.reading import LARGEST, Report, number, some
from mechanics.forces import Element as ForceElement
from mechanics.forces import Tendon, actuator

SIMPLE = "SimpleTransmission"
"""How the types end that are one gear between one motor and one joint."""
READ = ("type", "joint", "actuator", "mechanicalReduction", "rotor_inertia", "gear_ratio")
HARMLESS = ("hardwareInterface", "offset", "role", "capability", "motorTorqueConstant")
"""Elements of such a transmission that are read, and those that say nothing of the force on the joint."""


def actuators(
    root: Element,
    joints: Collection[str],
    moving: Container[str],
    efforts: Mapping[str, float | None],
    report: Report,
) -> list[list[ForceElement]]:
    """The motors of simple transmissions to joints of one coordinate; the names of the others in the report.

    `moving` are those of the `joints` that have one coordinate, `efforts` the forces that the file allows joints.
    """
    found: dict[str, list[ForceElement]] = {}
    left_out: dict[str, list[str]] = {}
    counts = Counter(motor.get("name", "") for motor in root.iterfind("transmission/actuator"))
    for element in root.iterfind("transmission"):
        name = element.get("name", "")
        ends, motors = element.findall("joint"), element.findall("actuator")
        kind = element.get("type") or (element.findtext("type") or "").strip()
        target = ends[0].get("name", "") if ends else ""
        where = f"<transmission name={name!r}>"
        if lost := [end.get("name", "") for end in ends if end.get("name", "") not in joints]:
            what = f"<transmission> to the joint {lost[0]!r}, which the file does not have"
            left_out.setdefault(what, []).append(name)
        elif not kind.endswith(SIMPLE) or len(ends) != 1 or len(motors) != 1:
            left_out.setdefault(f"<transmission> of type {kind!r}", []).append(name)
        elif target not in moving:
            left_out.setdefault("<transmission> to joints that do not move in one coordinate", []).append(name)
        else:
            for inner in element.iter():
                tag = str(inner.tag).rpartition("}")[2]
                if inner is not element and isinstance(inner.tag, str) and tag not in (*READ, *HARMLESS):
                    left_out.setdefault(f"<{tag}> in <transmission>", []).append(name)
            reduction = _reduction(element, where, report)
            motor = motors[0].get("name", "")
            called = motor if motor and counts[motor] == 1 else name or target
            if called in found:
                raise report.error(where, f"drives by an actuator of a name that another has, {called!r}", "rename it")
            effort = efforts.get(target)
            place: str | Tendon = target if reduction == 1.0 else Tendon({target: reduction}, called)
            most = effort / abs(reduction) if effort and effort > 0.0 else np.inf  # many files write 0 for unknown
            forces = (-most, most) if most < np.inf else None
            found[called] = actuator(place, force_range=forces, name=called)
    for what, names in left_out.items():
        report.change(f"{what}: not carried over: {some(names)}")
    return list(found.values())


def rotors(root: Element, report: Report) -> dict[str, float]:
    """Armature J n² by joints, of transmissions whose actuator has Drake's `rotor_inertia` and `gear_ratio`."""
    found: dict[str, float] = {}
    for element in root.iterfind("transmission"):
        joints = element.findall("joint")
        given = {child.tag.rsplit("}")[-1]: child.get("value") for child in element.iterfind("actuator/*")}
        if len(joints) == 1 and "rotor_inertia" in given:
            values = [number(given.get(key, "1.0") or "") for key in ("rotor_inertia", "gear_ratio")]
            if any(x is None or abs(x) > LARGEST for x in values) or values[0] < 0.0:  # type: ignore[operator]
                where = f"<transmission name={element.get('name', '')!r}>"
                remedy = "give finite numbers, the inertia not negative"
                raise report.error(where, f"rotor_inertia and gear_ratio are {given}", remedy)
            name, (inertia, ratio) = joints[0].get("name", ""), values
            found[name] = found.get(name, 0.0) + inertia * ratio**2  # type: ignore[operator]
    return found


def _reduction(element: Element, where: str, report: Report) -> float:
    """The <mechanicalReduction> of the actuator, of the joint or of the transmission itself; 1 if there is none."""
    given = [
        child.text for child in element.iter("mechanicalReduction") if child.text is not None and child.text.strip()
    ]
    if not given:
        return 1.0
    values = [number(text.strip()) for text in given]
    value = values[0]
    if len(given) > 1 or value is None or not 1.0 / LARGEST < abs(value) < LARGEST:
        what = f"{where} <mechanicalReduction>"
        raise report.error(what, f"is {', '.join(given)!r}", "give one finite number that is not zero")
    return value
