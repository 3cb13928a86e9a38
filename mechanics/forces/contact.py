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
from liegroup.compile import helper
from liegroup.compile.scalars import maximum, minimum, sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.errors import ModelError
from mechanics.forces.element import Array, Element, OnBodies, not_negative
from mechanics.forces.laws import NO_FRICTION, STRIBECK, TANH, friction_ratio, normal_force, normal_law, width_of
from mechanics.forces.shapes import Plane, Shape, as_shape
from mechanics.model.frames import Frame

ON_PLANE, BETWEEN_ROUNDS = 0.0, 1.0
TINY = 1e-150
"""Added to squares under roots: a slip at rest, the semi-axes of a ball."""


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
    """A sphere on a segment swept by a ball; the force acts in the middle of the overlap."""
    r, half = numbers[9], rotated(second.R, numbers[10:13])
    centre = rotated(first.R, numbers[:3])
    across = subtract(subtract(add(first.x, centre), second.x), rotated(second.R, numbers[13:16]))
    along = maximum(minimum(dot(across, half) / (dot(half, half) + TINY), 1.0), -1.0)
    across = subtract(across, scale(along, half))
    length = sqrt(dot(across, across) + TINY)
    normal = scale(1.0 / length, across)
    d = (r + numbers[16]) - length
    arm_i = subtract(centre, scale(r - 0.5 * d, normal))
    return normal, d, arm_i, subtract(add(first.x, arm_i), second.x)


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
    if friction != NO_FRICTION:
        speed = sqrt(dot(slip, slip) + TINY)
        ratio = friction_ratio(friction, static, dynamic, slip_speed, speed)
        force = subtract(force, scale(N * ratio / speed, slip))
    return force, arm_i, arm_j, stored, dot(force, slip) + (spring - N) * d_dot


@helper
def law(numbers: Any, first: Any, second: Any) -> Any:
    """Force on the first body at the contact point; stores U(depth), loses the rest: see `mechanics.forces.laws`."""
    if numbers[8] == ON_PLANE:
        normal, d, arm_i, arm_j = on_plane(numbers[9:], first, second)
    else:
        normal, d, arm_i, arm_j = between_rounds(numbers[9:], first, second)
    return response(numbers[:8], first, second, normal, d, arm_i, arm_j)


@dataclass(frozen=True, eq=False)
class Contact(OnBodies):
    """One point of contact of two shapes: the first one swept from an ellipsoid or a sphere, the second a plane or
    swept from a segment.
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

    @property
    def dissipates(self) -> bool:
        return self.reads_velocities

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0 or self.friction != NO_FRICTION

    def numbers_of(self, first: Frame, second: Frame) -> Array:
        """The law; which geometry; centre, A, radius of the first; normal and a point of the plane, or half of the
        segment, its middle and the radius.
        """
        own = (
            self.normal_law, self.stiffness, self.damping, self.width,
            self.friction, self.static, self.dynamic, self.slip_speed,
        )  # fmt: skip
        swept, axis = self.shapes[0].on_plane, second.rotation[:, 2]
        assert swept is not None
        axes, radius = swept
        A = (first.rotation * np.square(axes)) @ first.rotation.T
        shape = [*first.position, *A[np.triu_indices(3)], radius]
        rounded = self.shapes[1].round
        if rounded is None:
            return np.array([*own, ON_PLANE, *shape, *axis, *second.position, 0.0])
        return np.array([*own, BETWEEN_ROUNDS, *shape, *(rounded[0] * axis), *second.position, rounded[1]])


def _pairs(first: Shape, second: Shape) -> list[tuple[Shape, Shape]]:
    """The pairs of one contact point each; ModelError for shapes that have no formula."""
    if isinstance(first, Plane) or (first.round and second.round and first.round[0] > 0.0 == second.round[0]):
        first, second = second, first
    parts = first.parts()
    if isinstance(second, Plane) and all(part.on_plane for part in parts):
        return [(part, second) for part in parts]
    names = f"{type(first).__name__} and {type(second).__name__}"
    if not (first.round and second.round and first.round[0] == 0.0):
        remedy = "any shape on a Plane, a Sphere on a Sphere or Capsule; build others of these"
        raise ModelError("contact", f"there is no formula for {names}", remedy)
    if first.round[1] + second.round[1] == 0.0:
        raise ModelError("contact", "two points never touch", "give one of them a radius: Sphere(frame, radius)")
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
    Friction acts at the contact point and makes no moment about the normal.  An evaluation costs a constant time per
    contact; the variational step takes contacts with the base into its sweep (linear time) and solves for those between
    two moving bodies together.

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
    slip_speed, friction = positive(slip_speed, "slip_speed"), not_negative(friction, "friction")
    static_friction = None if static_friction is None else real(static_friction, "static_friction")
    if static_friction is not None and not static_friction >= friction > 0.0:
        raise ValueError(f"static_friction: {static_friction}, expected at least friction = {friction} > 0")
    curve = STRIBECK if static_friction is not None else TANH if friction else NO_FRICTION
    stiffness, damping = not_negative(stiffness, "stiffness"), not_negative(damping, "damping")
    numbers = (number, stiffness, damping, width_of(law, width), curve, static_friction or 0.0, friction, slip_speed)
    return [Contact(a.frame, b.frame, (a, b), *numbers) for a, b in _pairs(first, second)]
