"""The equations of a wheel or a ball that rolls, or a blade that slides, on a plane of another body: directions,
contact points, rates.

A is the unit normal of the plane through P, B = r b̂ the axis of the wheel times its radius, Q its hub, D = Q − P;

    s = |u|,    u = A − (A·b̂) b̂,    e = u/s,    C = Q − r e        the lowest point of the rim

==========  ==============  =========================  ================================================
kind        φ               force on body j            acts at
==========  ==============  =========================  ================================================
HEIGHT      A·D − r s       A                          C: the load
ROLL        none            b̂ × A/s, the heading       the foot of C on the plane: drive and brake
SIDE        none            (b̂ − (A·b̂) A)/s            the same point: across the wheel
EDGE        none            the same                   Q: across a blade at Q, b its unit normal
SPHERE      none            A, a direction in the      Q − B: along A; B = r n with the normal n
                            plane
==========  ==============  =========================  ================================================

A wheel that turns positively about b̂ goes along its heading.  The equations hold the velocity of the material point in
contact. ROLL, SIDE, EDGE and SPHERE are rates of no φ; their φ is 0.  Both A and B of SPHERE belong to the plane: a
ball has no axis. A wheel that lies flat on the plane (s = 0) has no heading.  A rim of section radius ρ: the plane
raised by ρ for HEIGHT (the foot of the contact point stays where it is). Source: Routh 1905, article 244; Moiseev et
al. 2021.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper, kernel
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract

LOOPS = "short"

HEIGHT, ROLL, SIDE, EDGE, SPHERE = range(3, 8)
"""Kinds of equations, after those of `mechanics.constraints.body_equations`."""


class Rim(NamedTuple):
    """Axis b̂ and radius of a wheel, A·b̂, s, e, and the direction of the equation."""

    axis: Any
    radius: Any
    lean: Any
    s: Any
    up: Any
    force: Any


@helper
def rim(kind: Any, A: Any, B: Any) -> Any:
    """How the wheel stands on the plane."""
    radius = sqrt(dot(B, B))
    axis = scale(1.0 / radius, B)
    lean = dot(A, axis)
    u = subtract(A, scale(lean, axis))
    s = sqrt(dot(u, u))
    if kind == HEIGHT:
        force = A
    else:
        force = scale(1.0 / s, cross(axis, A) if kind == ROLL else subtract(axis, scale(lean, A)))
    return Rim(axis, radius, lean, s, scale(1.0 / s, u), force)


@helper
def low(kind: Any, A: Any, D: Any, w: Any) -> Any:
    """From Q to where the equation acts."""
    if kind == EDGE:
        return scale(0.0, A)
    offset = scale(-w.radius, w.up)
    return offset if kind == HEIGHT else subtract(offset, scale(dot(A, add(D, offset)), A))


@kernel
def wheel_equation(kind: Any, A: Any, B: Any, D: Any) -> Any:
    """φ, the force on body j, and from Q to where it acts."""
    if kind == SPHERE:
        return 0.0 * A[0], A, scale(-1.0, B)
    w = rim(kind, A, B)
    phi = dot(A, D) - w.radius * w.s if kind == HEIGHT else 0.0 * w.s
    return phi, w.force, low(kind, A, D, w)


@kernel
def wheel_rates(kind: Any, A: Any, A_dot: Any, B: Any, B_dot: Any, D: Any, D_dot: Any) -> Any:
    """Force and offset of an equation, and their rates seen from space."""
    if kind == SPHERE:
        return A, scale(-1.0, B), A_dot, scale(-1.0, B_dot)
    w = rim(kind, A, B)
    axis_dot = scale(1.0 / w.radius, B_dot)
    lean_dot = dot(A_dot, w.axis) + dot(A, axis_dot)
    u_dot = subtract(A_dot, add(scale(lean_dot, w.axis), scale(w.lean, axis_dot)))
    s_dot = dot(w.up, u_dot)
    if kind == HEIGHT:
        f_dot = A_dot
    else:
        if kind == ROLL:
            numerator = add(cross(axis_dot, A), cross(w.axis, A_dot))
        else:
            numerator = subtract(axis_dot, add(scale(lean_dot, A), scale(w.lean, A_dot)))
        f_dot = scale(1.0 / w.s, subtract(numerator, scale(s_dot, w.force)))
    if kind == EDGE:
        return w.force, low(kind, A, D, w), f_dot, scale(0.0, f_dot)
    offset, offset_dot = scale(-w.radius, w.up), scale(-w.radius / w.s, subtract(u_dot, scale(s_dot, w.up)))
    if kind == HEIGHT:
        return w.force, offset, f_dot, offset_dot
    height = dot(A, add(D, offset))
    height_dot = dot(A_dot, add(D, offset)) + dot(A, add(D_dot, offset_dot))
    return w.force, low(kind, A, D, w), f_dot, subtract(offset_dot, add(scale(height, A_dot), scale(height_dot, A)))
