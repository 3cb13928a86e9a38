"""Joints: one file per joint, each composed of elementary motions."""

from mechanics.joints.compound import Compound
from mechanics.joints.continuous import Continuous
from mechanics.joints.element import Ball, Element, Float, Plane, Screw, Slide, Turn
from mechanics.joints.fixed import Fixed
from mechanics.joints.free import Free
from mechanics.joints.joint import Joint, JointState
from mechanics.joints.motion import Motion
from mechanics.joints.prismatic import Prismatic
from mechanics.joints.revolute import Revolute

JOINTS: tuple[type[Joint], ...] = (Fixed, Revolute, Continuous, Prismatic, Free)
"""All joints, for tests and for reading trees from files."""

__all__ = [
    "JOINTS",
    "Ball",
    "Compound",
    "Continuous",
    "Element",
    "Fixed",
    "Float",
    "Free",
    "Joint",
    "JointState",
    "Motion",
    "Plane",
    "Prismatic",
    "Revolute",
    "Screw",
    "Slide",
    "Turn",
]
