"""Contacts: two shapes that touch are pushed apart by a law of their depth, and held by friction.

Geometry gives the unit normal n (out of the second body), the depth d and the one point at which the force acts on
both bodies; the laws (`mechanics.forces.laws`) know nothing of shapes.  With u the velocity of the first body against
the second at that point,

    ḋ = −n·u,     F = N(d, ḋ) n − N μ(|u_t|) u_t/|u_t|,     u_t = u + ḋ n,

exactly for rigid shapes, so that the energy U(d) and the power account for all work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroup.arrays import positive, real
from liegroup.compile import any_, helper
from liegroup.compile.scalars import maximum, minimum, sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.errors import ModelError
from mechanics.forces.element import Array, Element, OnBodies, not_negative, on_which
from mechanics.forces.laws import (
    NO_FRICTION,
    NORMAL_LAWS,
    STRIBECK,
    TANH,
    friction_ratio,
    normal_force,
    normal_law,
    width_of,
)
from mechanics.forces.shapes import Plane, Shape, as_shape
from mechanics.model.frames import Frame

ON_PLANE, BETWEEN_ROUNDS = 0.0, 1.0
TINY = 1e-150
"""Added to squares under roots and divisors (the semi-axes of a ball, a segment of no length), and the least of a slip
at rest.
"""
PARALLEL = 1e-12
"""sin² of the angle below which two segments touch in their middles, as far as they lie side by side."""


@helper
def clipped(x: Any) -> Any:
    """x within −1 … 1."""
    return maximum(minimum(x, 1.0), -1.0)


@helper
def _velocity(body: Any, arm: Any) -> Any:
    """Velocity of a point of a body, world axes."""
    return add(rotated(body.R, body.v), cross(rotated(body.R, body.w), arm))


# --- geometry: numbers and two bodies → n, d, the point seen from either body's origin; world axes --------------------


@helper
def on_plane(numbers: Any, first: Any, second: Any) -> Any:
    """A swept ellipsoid (`mechanics.forces.shapes`) on a plane."""
    a, r = numbers[3:9], numbers[9]
    normal = rotated(second.R, numbers[10:13])
    n = rotated_back(first.R, normal)
    An = (
        a[0] * n[0] + a[1] * n[1] + a[2] * n[2],
        a[1] * n[0] + a[3] * n[1] + a[4] * n[2],
        a[2] * n[0] + a[4] * n[1] + a[5] * n[2],
    )
    lowest = subtract(numbers[:3], scale(1.0 / sqrt(dot(n, An) + TINY), An))
    arm_i = subtract(rotated(first.R, lowest), scale(r, normal))
    arm_j = subtract(add(first.x, arm_i), second.x)
    d = -dot(normal, subtract(arm_j, rotated(second.R, numbers[13:16])))
    return normal, d, arm_i, arm_j


@helper
def between_rounds(numbers: Any, first: Any, second: Any) -> Any:
    """Two segments swept by balls (a sphere is a segment of no length); the force acts in the middle of the overlap.

    Of the points x + s a and t b, |s|, |t| ≤ 1, those are nearest where t is nearest to the best s of the whole lines,
    and s then to that t.
    """
    r, a, b = numbers[9], rotated(first.R, numbers[3:6]), rotated(second.R, numbers[10:13])
    centre = rotated(first.R, numbers[:3])
    x = subtract(subtract(add(first.x, centre), second.x), rotated(second.R, numbers[13:16]))
    aa, ab, bb, ax, bx = dot(a, a), dot(a, b), dot(b, b), dot(a, x), dot(b, x)
    s = clipped((ab * bx - ax * bb) / ((1.0 + PARALLEL) * aa * bb - ab * ab + TINY))
    t = clipped((bx + s * ab) / (bb + TINY))
    s = clipped((t * ab - ax) / (aa + TINY))
    middle = add(centre, scale(s, a))
    across = subtract(add(x, scale(s, a)), scale(t, b))
    length = sqrt(dot(across, across) + TINY)
    normal = scale(1.0 / length, across)
    d = (r + numbers[16]) - length
    arm_i = subtract(middle, scale(r - 0.5 * d, normal))
    return normal, d, arm_i, subtract(add(first.x, arm_i), second.x)


@helper
def nearest(numbers: Any, first: Any, second: Any) -> Any:
    """n, d and the arms of two shapes, of what `geometry` says."""
    if any_(numbers[0] == ON_PLANE):
        normal, d, arm_i, arm_j = on_plane(numbers[1:], first, second)
    else:
        normal, d, arm_i, arm_j = between_rounds(numbers[1:], first, second)
    return normal, d, arm_i, arm_j


def geometry(pair: tuple[Shape, Shape], first: Frame, second: Frame) -> Array:
    """Two shapes of one contact point whose frames are these: on a plane, or between rounds; centre, A (or half of the
    segment), radius of the first; normal and a point of the plane, or half of the segment, its middle and the radius of
    the second.
    """
    axis, (one, other) = second.rotation[:, 2], pair
    if other.round is None:
        assert one.on_plane is not None
        axes, radius = one.on_plane
        A = (first.rotation * np.square(axes)) @ first.rotation.T
        shape = [*first.position, *A[np.triu_indices(3)], radius]
        return np.array([ON_PLANE, *shape, *axis, *second.position, 0.0])
    assert one.round is not None
    half = one.round[0] * first.rotation[:, 2]
    shape = [*first.position, *half, *np.zeros(3), one.round[1]]
    return np.array([BETWEEN_ROUNDS, *shape, *(other.round[0] * axis), *second.position, other.round[1]])


# --- the law ----------------------------------------------------------------------------------------------------------


@helper
def response(numbers: Any, first: Any, second: Any, normal: Any, d: Any, arm_i: Any, arm_j: Any) -> Any:
    """Force on the first body, its arms, stored energy, power of the rest."""
    kind, stiffness, damping, width, friction, static, dynamic, slip_speed = numbers
    slip = subtract(_velocity(first, arm_i), _velocity(second, arm_j))
    d_dot = -dot(normal, slip)
    N, stored, spring = normal_force(kind, stiffness, damping, width, d, d_dot)
    slip = add(slip, scale(d_dot, normal))
    force = scale(N, normal)
    if any_(friction != NO_FRICTION):
        speed = sqrt(maximum(dot(slip, slip), TINY))  # a complex step from rest has a square below zero
        ratio = friction_ratio(friction, static, dynamic, slip_speed, speed)
        force = subtract(force, scale(N * ratio / speed, slip))
    return force, arm_i, arm_j, stored, dot(force, slip) + (spring - N) * d_dot


@helper
def law(numbers: Any, first: Any, second: Any) -> Any:
    """Force on the first body at the contact point; stores U(depth), loses the rest: see `mechanics.forces.laws`."""
    normal, d, arm_i, arm_j = nearest(numbers[8:], first, second)
    return response(numbers[:8], first, second, normal, d, arm_i, arm_j)


@dataclass(frozen=True, eq=False)
class Contact(OnBodies):
    """One point of contact of two shapes: the first one swept from an ellipsoid, the second a plane, or both swept from
    segments.
    """

    law = staticmethod(law)
    SIZE = 26
    shapes: tuple[Shape, Shape]
    normal_law: int
    stiffness: float
    damping: float
    width: float
    friction: int
    static: float
    dynamic: float
    slip_speed: float

    def __post_init__(self) -> None:
        if self.normal_law not in NORMAL_LAWS.values() or self.friction not in (NO_FRICTION, TANH, STRIBECK):
            raise ValueError(f"Contact: laws {self.normal_law!r} and {self.friction!r}, expected those of forces.laws")
        if len(pairs_of(*self.shapes)) != 1:
            raise ValueError("Contact: shapes that touch at several points, expected one; forces.contact divides them")

    @property
    def strikes(self) -> bool:
        return True

    @property
    def choices(self) -> list[int]:
        return [*super().choices, int(self.shapes[1].round is None)]

    @property
    def dissipates(self) -> bool:
        return self.reads_velocities

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0 or self.friction != NO_FRICTION

    def numbers_of(self, first: Frame, second: Frame) -> Array:
        """The law, and the `geometry`."""
        own = (
            self.normal_law, self.stiffness, self.damping, self.width,
            self.friction, self.static, self.dynamic, self.slip_speed,
        )  # fmt: skip
        return np.array([*own, *geometry(self.shapes, first, second)])


def pairs_of(first: Shape, second: Shape) -> list[tuple[Shape, Shape]]:
    """The pairs of one contact point each; ModelError for shapes that have no formula."""
    if isinstance(first, Plane):
        first, second = second, first
    parts = first.parts()
    if isinstance(second, Plane) and all(part.on_plane for part in parts):
        return [(part, second) for part in parts]
    names = f"{type(first).__name__} and {type(second).__name__}"
    if not (first.round and second.round):
        remedy = "any shape on a Plane, spheres and capsules on one another; build others of these"
        raise ModelError("shapes", f"there is no formula for {names}", remedy)
    if first.round[1] + second.round[1] == 0.0:
        raise ModelError("shapes", "two points never touch", "give one of them a radius: Sphere(frame, radius)")
    return [(first, second)]


def contact(
    first: Shape | Frame,
    second: Shape | Frame,
    *,
    stiffness: float,
    damping: float = 0.0,
    law: str = "hunt_crossley",
    width: float | None = None,
    friction: float = 0.0,
    static_friction: float | None = None,
    slip_speed: float = 0.01,
) -> list[Element]:
    """Two shapes that touch: pushed apart by N(d, ḋ), held by friction.

    Parameters
    ----------
    first : Sphere, Capsule, Ellipsoid, Wheel or Frame
        On one body.  A Frame is a point, its origin.
    second : Plane, Sphere, Capsule or Frame
        On another body or on the base.  A Frame is a plane: its x-y plane, the outward normal its z axis.
    stiffness : float
        k, N/m; for the law "hertz" N/m^{3/2}.
    damping : float
        The factor a in s/m for "hunt_crossley" and "hertz" (`hunt_crossley_factor`), c in N·s/m for "kelvin_voigt" and
        "soft".
    law : {"hunt_crossley", "hertz", "kelvin_voigt", "soft"}
        N = k d (1 + a ḋ), N = k d^{3/2} (1 + a ḋ), N = k d + c ḋ, N = σ(d/w) (k d + c ḋ), for a depth d > 0; never
        below 0.
    width : float, optional
        w of the law "soft", m: the depth at which it has become N = k d + c ḋ.
    friction : float
        Coefficient of (dynamic) friction (dimensionless); 0 for none.
    static_friction : float, optional
        The peak of the Stribeck curve (dimensionless); default none (tanh law).
    slip_speed : float
        v_s, m/s: below it friction is viscous with μ N/v_s, far above it is μ N.

    Returns
    -------
    list of Element
        For `Mechanism`: one, of a capsule on a plane two, one for either end.

    Raises
    ------
    ValueError
        An unknown law, a slip speed that is not positive, static friction below the dynamic one, a width with another
        law than "soft".
    ModelError
        Negative numbers, shapes without a formula (ellipsoids touch planes only), two shapes on one body.

    Notes
    -----
    Exact for rigid shapes: n, d and the contact point are those of the undeformed ones, for small depths against
    curvatures.  A shape on a plane is touched at its lowest point, two round ones in the middle of their overlap.
    Two capsules touch at one point, also side by side, where it is not determined: they are held apart there, and turn
    on it; where they come to lie parallel it jumps from end to end, and variable steps become as small as the tolerance
    asks: give balls at the ends of one of them instead, or take fixed steps.  Friction acts at the contact point and
    makes no moment about the normal.

    An evaluation costs a constant time per contact; the variational step takes contacts with the base into its sweep
    (linear time) and solves for those between two moving bodies together.

    References
    ----------
    Hunt and Crossley 1975; Brown and McPhee 2016 for the Stribeck curve; Todorov 2014 for the idea of the soft law.

    Examples
    --------
    >>> from mechanics.forces import Sphere
    >>> foot = Sphere(Frame("foot"), 0.02)
    >>> print(contact(foot, Frame(None), stiffness=1e5, damping=0.5, friction=0.8)[0])
    Contact of 'foot' on the base
    """
    first, second = as_shape(first, "first"), as_shape(second, "second", flat=not isinstance(first, Plane))
    if first.frame.body == second.frame.body:
        raise ModelError("contact", f"both shapes are on {first.frame.body!r}", "give shapes of two bodies")
    number = normal_law(law)
    of = f"contact {on_which(first.frame.body, second.frame.body)}"
    slip_speed, friction = positive(slip_speed, "slip_speed"), not_negative(friction, "friction", of)
    static_friction = None if static_friction is None else real(static_friction, "static_friction")
    if static_friction is not None and not static_friction >= friction > 0.0:
        raise ValueError(f"static_friction: {static_friction}, expected at least friction = {friction} > 0")
    curve = STRIBECK if static_friction is not None else TANH if friction else NO_FRICTION
    stiffness, damping = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    numbers = (number, stiffness, damping, width_of(law, width), curve, static_friction or 0.0, friction, slip_speed)
    return [Contact(a.frame, b.frame, (a, b), *numbers) for a, b in pairs_of(first, second)]
