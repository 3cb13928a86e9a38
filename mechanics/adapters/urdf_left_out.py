"""What of a URDF file is left out: what is known to say nothing of the motion is noted, everything else is told of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from xml.etree.ElementTree import Element

from mechanics.adapters.reading import number, some

DRAKE = "{http://drake.mit.edu}"
HARMLESS: dict[str, Collection[str]] = {
    "robot": ("material", "ros2_control", "sensor", "transmission", f"{DRAKE}collision_filter_group", "@version"),
    "link": ("visual", "collision", "collision_checking", "self_filter", "surface", "sensor", "@type"),
    "joint": ("calibration", "safety_controller", "sensor", "@dont_collapse"),
    "limit": (
        *("@acceleration", "@deceleration", "@jerk", f"@{DRAKE}acceleration"),
        *("@command_effort", "@current", "@gear_velocity"),
    ),
    "dynamics": ("@K", "@D", "@mu_coulomb", "@mu_viscous"),  # for a controller of Panda's; readers of URDF have none
    "gazebo": (
        # what is seen and felt, and how things touch
        *("material", "visual", "collision", "mu1", "mu2", "kp", "kd", "maxVel", "minDepth", "maxContacts", "fdir1"),
        *("selfCollide", "self_collide", "laserRetro", "genTexCoord", "sensor", "light"),
        # how Gazebo solves and measures, where a joint starts, programs of one's own
        *("implicitSpringDamper", "cfmDamping", "fudgeFactor", "stopCfm", "stopErp", "stopKp", "stopKd", "plugin"),
        *("provideFeedback", "preserveFixedJoint", "disableFixedJointLumping", "canonicalBody", "allow_auto_disable"),
        *("initial_joint_position", "springReference", "frame"),
    ),
    "contact": (
        *("lateral_friction", "rolling_friction", "spinning_friction", "restitution", "stiffness", "damping"),
        *("contact_cfm", "contact_erp", "friction_anchor"),
    ),
    "mujoco": ("size", "visual", "asset"),
    "compiler": (
        *("@angle", "@meshdir", "@texturedir", "@assetdir", "@strippath", "@autolimits", "@usethread"),
        *("@discardvisual", "@fusestatic", "@balanceinertia"),
    ),
}
"""Elements, and attributes (``@``), that say nothing of the motion of the bodies alone, by what has them."""
LOOKED_INTO = {"gazebo", "contact", "mujoco", "compiler"}
"""Of the elements that are left out, those of which everything is looked at."""
FIRST_GAZEBO = ("#controller", "#sensor", "#interface")
"""How namespaces end of what in files for the first Gazebo is a <plugin> or a <sensor>."""


def _is_no(text: str) -> bool:
    return text.lower() in ("", "0", "false", "no")


def _is_yes(text: str) -> bool:
    return text.lower() in ("1", "true", "yes")


def _is_zero(text: str) -> bool:
    return all(number(word) == 0.0 for word in text.split())


USUAL: dict[str, Callable[[str], bool]] = {
    "gravity": _is_yes,
    **dict.fromkeys(("turnGravityOff", "static", "kinematic", "enable_wind"), _is_no),
    **dict.fromkeys(("springStiffness", "dampingFactor", "origin", "pose"), _is_zero),
    "inertia_scaling": lambda text: number(text) == 1.0,
}
"""Elements that say nothing where their text, or their attributes, are as usual."""


class LeftOut:
    """Collects what a reader does not carry over.

    Attributes
    ----------
    noted : Counter
        What is harmless, and how often it is there.
    changes : dict of str to list of str
        What may change the motion, and the links and joints that it belongs to.
    """

    def __init__(self) -> None:
        self.noted: Counter[str] = Counter()
        self.changes: defaultdict[str, list[str]] = defaultdict(list)

    def attribute(self, name: str, of: Element, owner: str, known: Iterable[str] = ()) -> None:
        """An attribute of an element that belongs to the link, joint or robot `owner`, beside those that are known."""
        what, listed = f"<{of.tag} {name}=…>", ", ".join(known)
        if f"@{name}" in HARMLESS.get(of.tag, ()):
            self.noted[what] += 1
        else:
            self.changes[f"{what} (known: {listed})" if listed else what].append(owner)

    def element(self, child: Element, parent: Element, owner: str) -> None:
        """An element, and in those that are looked into all there is."""
        what, said = f"<{child.tag}> in <{parent.tag}>", " ".join([*child.attrib.values(), child.text or ""]).strip()
        is_usual = child.tag in USUAL and USUAL[child.tag](said)
        if child.tag in LOOKED_INTO:
            self.noted[what] += 1
            owner = child.get("reference") or owner
            for name in child.attrib.keys() - {"reference"}:
                self.attribute(name, child, owner)
            for inner in child:
                if isinstance(inner.tag, str):
                    self.element(inner, child, owner)
        elif is_usual or child.tag in HARMLESS.get(parent.tag, ()) or namespace(child).endswith(FIRST_GAZEBO):
            self.noted[what] += 1
        else:
            self.changes[what].append(child.get("name") or owner)

    def notes(self) -> list[str]:
        """On what is harmless."""
        return [f"{what} ({n}): not carried over" for what, n in sorted(self.noted.items())]

    def told(self) -> list[str]:
        """Of what may change the motion."""
        return [f"{what}: left out: {some(dict.fromkeys(names))}" for what, names in sorted(self.changes.items())]


def namespace(element: Element) -> str:
    """Of the name of an element; "" if there is none."""
    return element.tag[1:].rpartition("}")[0] if isinstance(element.tag, str) else ""
