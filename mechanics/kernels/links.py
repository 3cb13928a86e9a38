"""Vectors between the axes of a link and those of its parent, for the kernels.

A link (`mechanics.model.layout.link_of`) has the line ``i`` of the workspace.  In order from the child to the parent:
the motion of the joint, the turn Rz (angle and θ₀), the shift ρ, Rx(α), Rz(γ) (see `mechanics.model.packing`).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, rare, st2
from liegroup.compile.scalars import sincos
from liegroup.formulas.vectors import add, cross, subtract
from mechanics.algebra.screws import quaternion_matrix, turn_x, turn_z, unturn_x, unturn_z
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.joints.element import BALL, FLOAT, MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.motions import in_pieces, series
from mechanics.model.layout import COS, HEADER, LINK, SHIFT, SIDE, SIN, Link, numbers_of


@helper
def vector(work: Any, i: Any, column: Any) -> Any:
    """Three numbers of a line of the workspace."""
    return ld2(work, i, column), ld2(work, i, column + 1), ld2(work, i, column + 2)


@helper
def put(work: Any, i: Any, column: Any, a: Any) -> None:
    """Write three numbers."""
    st2(work, i, column, a[0])
    st2(work, i, column + 1, a[1])
    st2(work, i, column + 2, a[2])


@helper
def add_three(work: Any, i: Any, column: Any, a: Any) -> None:
    """Add three numbers to a line of the workspace."""
    put(work, i, column, add(vector(work, i, column), a))


@helper
def freedom(kind: Any) -> Any:
    """Degrees of freedom of a link."""
    return 1 if kind <= SCREW else (3 if kind <= BALL else (6 if kind == FLOAT else 0))


def _has_pieces(structure: Any, tau: int) -> bool:
    """Whether `structure` begins with a tree in which some motion has pieces."""
    if len(structure) < HEADER:
        return False
    powers = structure[HEADER + Link._fields.index("powers") : HEADER + LINK * int(structure[0]) : LINK]
    return bool((powers < 0).any())


@rare(_has_pieces, lambda t, parameters, at, powers, pieces: (t, t, t))
def of_pieces(t: Any, parameters: Any, at: Any, powers: Any, pieces: Any) -> Any:
    """Value, rate and acceleration at time t of a motion in pieces."""
    return in_pieces(t, parameters, at, powers, pieces)


@helper
def prescribed(t: Any, parameters: Any, link: Any) -> Any:
    """Value and rate at time t of the prescribed motion of a link."""
    at, powers = link.motion, link.powers
    if powers < 0:
        x, v, _ = of_pieces(t, parameters, at, -powers, link.harmonics)
        return x, v
    return series(t, parameters, at, powers, link.harmonics)


@helper
def prescribed_acceleration(t: Any, parameters: Any, link: Any) -> Any:
    """Second derivative at time t of the prescribed motion of a link."""
    at, powers = link.motion, link.powers
    if powers < 0:
        return of_pieces(t, parameters, at, -powers, link.harmonics)[2]
    a = 0.0 * t
    for k in range(powers - 1, 1, -1):
        a = a * t + k * (k - 1) * ld(parameters, at + k)
    at = at + powers
    for _ in range(link.harmonics):
        w = ld(parameters, at + 1)
        a = a - ld(parameters, at) * w * w * sincos(w * t + ld(parameters, at + 2))[0]
        at = at + 3
    return a


@helper
def set_angle(t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any) -> None:
    """Write cos and sin of the angle about z."""
    own = numbers_of(parameters, link)
    kind, q = link.kind, link.q
    if kind in (TURN, SCREW):
        s, c = sincos(ld(y, q) + own.theta)
        st2(work, i, COS, c)
        st2(work, i, SIN, s)
    elif kind == PLANE:
        s, c = sincos(ld(y, q + 2) + own.theta)
        st2(work, i, COS, c)
        st2(work, i, SIN, s)
    elif kind == MOVED_TURN:
        s, c = sincos(prescribed(t, parameters, link)[0] + own.theta)
        st2(work, i, COS, c)
        st2(work, i, SIN, s)
    else:
        st2(work, i, COS, own.turn[0])
        st2(work, i, SIN, own.turn[1])


@helper
def orientation(y: Any, link: Any) -> Any:
    """The rotation matrix of a BALL or FLOAT."""
    q = link.q
    if link.kind == FLOAT:
        q = q + 3
    return quaternion_matrix(ld(y, q), ld(y, q + 1), ld(y, q + 2), ld(y, q + 3))


@helper
def position(y: Any, link: Any) -> Any:
    """The position of a FLOAT."""
    q = link.q
    return ld(y, q), ld(y, q + 1), ld(y, q + 2)


@helper
def plane_position(y: Any, parameters: Any, link: Any) -> Any:
    """ρ and the position of a PLANE, turned by θ₀."""
    own = numbers_of(parameters, link)
    q, (c, s) = link.q, own.turn
    x, y_ = ld(y, q), ld(y, q + 1)
    a, b = c * x - s * y_, s * x + c * y_
    return a + own.rho[0], b + own.rho[1], (a - a) + own.rho[2]


# --- from the child to the parent -------------------------------------------------------------------------------------


@helper
def _slid(l: Any, k: Any, z: Any) -> Any:
    """The moment of (l, k) about the point from which its origin is seen at (0, 0, z)."""
    return k[0] - z * l[1], k[1] + z * l[0], k[2]


@helper
def constant_turn_up(parameters: Any, link: Any, a: Any) -> Any:
    """Rz(γ) Rx(α) a."""
    own = numbers_of(parameters, link)
    a = turn_x(a, own.alpha[0], own.alpha[1])
    if link.flags & SIDE:
        a = turn_z(a, own.gamma[0], own.gamma[1])
    return a


@helper
def wrench_up(t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any, l: Any, k: Any) -> Any:
    """A wrench or momentum (l, k) about the origin and in the axes of a link, about the origin and in the axes of its
    parent: Cᵀ.
    """
    own = numbers_of(parameters, link)
    kind, q = link.kind, link.q
    if kind == SLIDE:
        k = _slid(l, k, ld(y, q))
    elif kind == SCREW:
        k = _slid(l, k, own.pitch * ld(y, q))
    elif kind == MOVED_SLIDE:
        k = _slid(l, k, prescribed(t, parameters, link)[0])
    elif kind == BALL:
        R = orientation(y, link)
        l, k = rotated(R, l), rotated(R, k)
    elif kind == FLOAT:
        R = orientation(y, link)
        l, k = rotated(R, l), rotated(R, k)
        k = add(k, cross(position(y, link), l))
    c, s = ld2(work, i, COS), ld2(work, i, SIN)
    l, k = turn_z(l, c, s), turn_z(k, c, s)
    if kind == PLANE:
        k = add(k, cross(plane_position(y, parameters, link), l))
    elif link.flags & SHIFT:
        k = add(k, cross(own.rho, l))
    return constant_turn_up(parameters, link, l), constant_turn_up(parameters, link, k)


@helper
def moment_up(t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any, a: Any, mass: Any) -> Any:
    """A first moment a = m r of a mass m: from the origin and axes of a link to those of its parent."""
    own = numbers_of(parameters, link)
    kind, q = link.kind, link.q
    if kind == SLIDE:
        a = a[0], a[1], a[2] + mass * ld(y, q)
    elif kind == SCREW:
        a = a[0], a[1], a[2] + mass * (own.pitch * ld(y, q))
    elif kind == MOVED_SLIDE:
        a = a[0], a[1], a[2] + mass * prescribed(t, parameters, link)[0]
    elif kind == BALL:
        a = rotated(orientation(y, link), a)
    elif kind == FLOAT:
        a, x = rotated(orientation(y, link), a), position(y, link)
        a = a[0] + mass * x[0], a[1] + mass * x[1], a[2] + mass * x[2]
    a = turn_z(a, ld2(work, i, COS), ld2(work, i, SIN))
    if kind == PLANE:
        x = plane_position(y, parameters, link)
        a = a[0] + mass * x[0], a[1] + mass * x[1], a[2] + mass * x[2]
    elif link.flags & SHIFT:
        a = a[0] + mass * own.rho[0], a[1] + mass * own.rho[1], a[2] + mass * own.rho[2]
    return constant_turn_up(parameters, link, a)


# --- from the parent to the child -------------------------------------------------------------------------------------


@helper
def constant_turn_down(parameters: Any, link: Any, a: Any) -> Any:
    """(Rz(γ) Rx(α))ᵀ a."""
    own = numbers_of(parameters, link)
    if link.flags & SIDE:
        a = unturn_z(a, own.gamma[0], own.gamma[1])
    return unturn_x(a, own.alpha[0], own.alpha[1])


@helper
def direction_down(y: Any, parameters: Any, work: Any, i: Any, link: Any, a: Any) -> Any:
    """A free vector (gravity) in the axes of a link, from those of its parent."""
    kind = link.kind
    a = constant_turn_down(parameters, link, a)
    a = unturn_z(a, ld2(work, i, COS), ld2(work, i, SIN))
    if kind in (BALL, FLOAT):
        a = rotated_back(orientation(y, link), a)
    return a


@helper
def twist_down(t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any, v: Any, w: Any) -> Any:
    """C V of the parent's twist V = (v, w): of the point of the parent at the origin of a link, in the axes of the
    link.
    """
    own = numbers_of(parameters, link)
    kind, q = link.kind, link.q
    v, w = constant_turn_down(parameters, link, v), constant_turn_down(parameters, link, w)
    if kind == PLANE:
        v = subtract(v, cross(plane_position(y, parameters, link), w))
    elif link.flags & SHIFT:
        v = subtract(v, cross(own.rho, w))
    c, s = ld2(work, i, COS), ld2(work, i, SIN)
    v, w = unturn_z(v, c, s), unturn_z(w, c, s)
    if kind == SLIDE:
        v = _carried(v, w, ld(y, q))
    elif kind == SCREW:
        v = _carried(v, w, own.pitch * ld(y, q))
    elif kind == MOVED_SLIDE:
        v = _carried(v, w, prescribed(t, parameters, link)[0])
    elif kind == BALL:
        R = orientation(y, link)
        v, w = rotated_back(R, v), rotated_back(R, w)
    elif kind == FLOAT:
        R = orientation(y, link)
        v = subtract(v, cross(position(y, link), w))
        v, w = rotated_back(R, v), rotated_back(R, w)
    return v, w


@helper
def _carried(v: Any, w: Any, z: Any) -> Any:
    """v + w × (0, 0, z)."""
    return v[0] + z * w[1], v[1] - z * w[0], v[2]
