"""Force elements: what acts in a mechanism besides gravity and the joints' own damping.

==================  ==========================================================  ========================================
element             force                                                       energy account
==================  ==========================================================  ========================================
`joint_spring`      τ = −k (x − x₀) − c s on one coordinate                     stores k (x − x₀)²/2, loses c s²
`servo`             τ = −k (x − x_d(t)) − c (s − ẋ_d(t))                        does work
`motor`             τ = u(t)                                                    does work
`spring_damper`     −k (l − l₀) − c l̇ along the line between two points         stores k (l − l₀)²/2, loses c l̇²
`compliant`         −k φ − c φ̇ on every row of a closure instead of φ = 0       stores k φ²/2, loses c φ̇²
`bushing`           three shifts and three turns of a `compliant` weld          the same
`contact`           a point, sphere or arc on a plane: see `forces.laws`        stores U(depth), loses the rest
==================  ==========================================================  ========================================

The balance d(T + V + U)/dt = P holds exactly, with U the stored energies and P the power of the rest (`forces.kernel`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.constraints.loops import Closure, Row, weld
from mechanics.constraints.rows import DISTANCE
from mechanics.errors import ModelError
from mechanics.forces.laws import HERTZ, HUNT_CROSSLEY, KELVIN_VOIGT, NO_FRICTION, STRIBECK, TANH
from mechanics.joints import Motion
from mechanics.model.frames import Frame

Array = NDArray[np.float64]

JOINT_SPRING, SERVO, MOTOR, COMPLIANT, CONTACT = range(5)
"""Kinds of force elements in the kernels."""


class OnJoint(NamedTuple):
    """A force on the one coordinate of a joint."""

    kind: int
    joint: str
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    motion: Motion = Motion()


class OnRow(NamedTuple):
    """A spring and damper in the place of one row of a closure."""

    first: str | None
    second: str | None
    row: Row
    stiffness: float
    damping: float


@dataclass(frozen=True, eq=False)
class OnPlane:
    """A sphere about a point of one body (radius 0: the point) on the x-y plane of a frame of another."""

    center: Frame
    radius: float
    plane: Frame
    law: int
    stiffness: float
    damping: float
    friction: int
    static: float
    dynamic: float
    slip_speed: float


Element = OnJoint | OnRow | OnPlane


def joint_spring(joint: str, stiffness: float, rest: float = 0.0, damping: float = 0.0) -> list[Element]:
    """Spring and damper on a joint of one coordinate: N·m/rad, rad, N·m·s/rad (or N/m, m, N·s/m)."""
    return [
        OnJoint(
            JOINT_SPRING, joint, _not_negative(stiffness, "stiffness"), _not_negative(damping, "damping"), float(rest)
        )
    ]


def servo(joint: str, stiffness: float, damping: float, target: Motion) -> list[Element]:
    """A drive that follows x_d(t) with a spring and a damper."""
    return [
        OnJoint(SERVO, joint, _not_negative(stiffness, "stiffness"), _not_negative(damping, "damping"), 0.0, target)
    ]


def motor(joint: str, force: Motion) -> list[Element]:
    """A torque (or force) u(t) on a joint of one coordinate."""
    return [OnJoint(MOTOR, joint, motion=force)]


def spring_damper(
    first: Frame, second: Frame, stiffness: float, damping: float = 0.0, length: float = 0.0
) -> list[Element]:
    """Spring and damper between the origins of two frames; `length` is that of the relaxed spring, m."""
    row = Row(
        DISTANCE, np.zeros(3), first.position, np.zeros(3), second.position, _not_negative(length, "length"), "length"
    )
    return [
        OnRow(first.body, second.body, row, _not_negative(stiffness, "stiffness"), _not_negative(damping, "damping"))
    ]


def compliant(closure: Closure, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> list[Element]:
    """Springs and dampers in the place of the rows of a closure (in its order): one number, or one per row.

    Of a closure given as a function, `holonomic`, it is an elastic element of any law: forces −(k c + d ċ) ∂c, energy
    k c²/2, where c is a function of the pose of one frame in the other.
    """
    m = len(closure.rows)
    if closure.couples:
        raise ModelError(
            f"compliant {closure.name!r}", "it couples joints", "give a closing joint, or springs on joints"
        )
    k, c = (np.broadcast_to(np.asarray(x, dtype=np.float64), (m,)) for x in (stiffness, damping))
    pairs = [(_not_negative(x, "stiffness"), _not_negative(y, "damping")) for x, y in zip(k, c, strict=True)]
    return [
        OnRow(closure.first.body, closure.second.body, row, *pair)
        for row, pair in zip(closure.rows, pairs, strict=True)
    ]


def bushing(first: Frame, second: Frame, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> list[Element]:
    """An elastic joint: six stiffnesses (three shifts along the first frame's axes, N/m; turns about z, x, y,
    N·m/rad).
    """
    return compliant(weld(first, second, "bushing"), stiffness, damping)


def contact(
    center: Frame,
    plane: Frame,
    radius: float = 0.0,
    *,
    stiffness: float,
    damping: float,
    law: str = "kelvin_voigt",
    friction: float = 0.0,
    static_friction: float | None = None,
    slip_speed: float = 0.01,
) -> list[Element]:
    """A point, a sphere or (for planar motion) an arc on a plane.

    Parameters
    ----------
    center : Frame
        Its origin is the point, or the centre of the sphere or arc.
    plane : Frame
        The plane is its x-y plane, the outward normal its z axis; body None is the ground.
    radius : float
        m.  Friction acts at the lowest point of the undeformed sphere.
    stiffness : float
        N/m, for the law "hertz" N/m^{3/2}.
    damping : float
        c in N·s/m for "kelvin_voigt"; the factor a in s/m for "hunt_crossley" and "hertz"
        (`laws.hunt_crossley_factor`).
    law : {"kelvin_voigt", "hunt_crossley", "hertz"}
    friction : float
        Coefficient of (dynamic) friction; 0 for none.
    static_friction : float, optional
        The peak of the Stribeck curve; default none (tanh law).
    slip_speed : float
        v_s, where regularised friction reaches its value, m/s.
    """
    laws = {"kelvin_voigt": KELVIN_VOIGT, "hunt_crossley": HUNT_CROSSLEY, "hertz": HERTZ}
    if law not in laws:
        raise ValueError(f"law: {law!r}, expected one of {', '.join(laws)}")
    if not (np.isfinite(slip_speed) and slip_speed > 0.0):
        raise ValueError(f"slip_speed: {slip_speed}, expected a positive speed in m/s")
    if static_friction is not None and not static_friction >= friction > 0.0:
        raise ValueError(
            f"static_friction: {static_friction}, expected at least the dynamic coefficient {friction} > 0"
        )
    curve = STRIBECK if static_friction is not None else TANH if friction else NO_FRICTION
    return [
        OnPlane(
            center, _not_negative(radius, "radius"), plane, laws[law], _not_negative(stiffness, "stiffness"),
            _not_negative(damping, "damping"), curve, float(static_friction or 0.0),
            _not_negative(friction, "friction"), slip_speed,
        )
    ]  # fmt: skip


def _not_negative(x: float, name: str) -> float:
    if not (np.isfinite(x) and x >= 0.0):
        raise ModelError(f"force element: {name}", f"is {x}", "give a finite number that is not negative")
    return float(x)
