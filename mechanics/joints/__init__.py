"""Joints: one file per joint, each composed of elementary motions."""

from liegroup.modules import listing
from mechanics.joints.compound import Compound
from mechanics.joints.continuous import Continuous
from mechanics.joints.cylindrical import Cylindrical
from mechanics.joints.element import Ball, Element, Float, Plane, Screw, Slide, Turn
from mechanics.joints.fixed import Fixed
from mechanics.joints.free import Free
from mechanics.joints.gimbal import Gimbal
from mechanics.joints.helical import Helical
from mechanics.joints.joint import Joint, JointState
from mechanics.joints.motion import Motion
from mechanics.joints.planar import Planar
from mechanics.joints.prismatic import Prismatic
from mechanics.joints.revolute import Revolute
from mechanics.joints.rheonomic import Rheonomic
from mechanics.joints.spherical import Spherical
from mechanics.joints.universal import Universal

JOINTS: tuple[type[Joint], ...] = (
    Fixed,
    Revolute,
    Continuous,
    Prismatic,
    Helical,
    Cylindrical,
    Universal,
    Planar,
    Spherical,
    Gimbal,
    Free,
    Compound,
    Rheonomic,
)
"""All joints, for tests and for reading trees from files."""

__all__ = [
    "JOINTS",
    "Ball",
    "Compound",
    "Continuous",
    "Cylindrical",
    "Element",
    "Fixed",
    "Float",
    "Free",
    "Gimbal",
    "Helical",
    "Joint",
    "JointState",
    "Motion",
    "Planar",
    "Plane",
    "Prismatic",
    "Revolute",
    "Rheonomic",
    "Screw",
    "Slide",
    "Spherical",
    "Turn",
    "Universal",
]
__dir__ = listing(__all__)
