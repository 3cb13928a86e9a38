"""What the sweeps over the links share: velocities of the links, momenta of bodies, projections on the joints."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, st, st2
from liegroup.formulas.vectors import add, cross
from mechanics.algebra.vectors import rotated
from mechanics.joints.element import BALL, FLOAT, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import add_three, prescribed, put, set_angle, twist_down, vector
from mechanics.model.layout import F, header_of, link_of, numbers_of, place_of

TWIST = 0
"""Column of the twist of a link (6)."""


@helper
def own_twist(t: Any, s: Any, o: Any, parameters: Any, link: Any, zero: Any) -> Any:
    """A s + Vᴶ of a link, its velocity from s[o] on; `zero` lends the scalar type."""
    kind, o = link.kind, o + link.v
    v = w = zero, zero, zero
    if kind == TURN:
        w = zero, zero, ld(s, o)
    elif kind == SLIDE:
        v = zero, zero, ld(s, o)
    elif kind == SCREW:
        v, w = (zero, zero, numbers_of(parameters, link).pitch * ld(s, o)), (zero, zero, ld(s, o))
    elif kind == PLANE:
        v, w = (ld(s, o), ld(s, o + 1), zero), (zero, zero, ld(s, o + 2))
    elif kind == BALL:
        w = ld(s, o), ld(s, o + 1), ld(s, o + 2)
    elif kind == FLOAT:
        v, w = (ld(s, o), ld(s, o + 1), ld(s, o + 2)), (ld(s, o + 3), ld(s, o + 4), ld(s, o + 5))
    elif kind == MOVED_TURN:
        w = zero, zero, zero + prescribed(t, parameters, link)[1]
    else:
        v = zero, zero, zero + prescribed(t, parameters, link)[1]
    return v, w


@helper
def velocities(t: Any, y: Any, offset: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Angles and twists of all links, the velocities of the joints from y[offset] on."""
    n = header_of(structure).links
    for column in range(6):
        st2(work, n, TWIST + column, 0.0)
    for i in range(n):
        link = link_of(structure, i)
        k = link.parent
        set_angle(t, y, parameters, work, i, link)
        v, w = twist_down(t, y, parameters, work, i, link, vector(work, k, TWIST), vector(work, k, TWIST + 3))
        zero = ld2(work, n, TWIST)
        v_own, w_own = own_twist(t, y, offset, parameters, link, zero)
        put(work, i, TWIST, add(v, v_own))
        put(work, i, TWIST + 3, add(w, w_own))


@helper
def own_momentum(parameters: Any, link: Any, v: Any, w: Any) -> Any:
    """M (v, w) of the body of a link."""
    own = numbers_of(parameters, link)
    m, moment, J = own.mass, own.moment, own.tensor
    turned, pushed = cross(w, moment), cross(moment, v)
    return (
        (m * v[0] + turned[0], m * v[1] + turned[1], m * v[2] + turned[2]),
        (
            pushed[0] + ((J[0] * w[0] + J[1] * w[1]) + J[2] * w[2]),
            pushed[1] + ((J[1] * w[0] + J[3] * w[1]) + J[4] * w[2]),
            pushed[2] + ((J[2] * w[0] + J[4] * w[1]) + J[5] * w[2]),
        ),
    )


@helper
def project(parameters: Any, link: Any, l: Any, k: Any, out: Any, offset: Any, stride: Any) -> None:
    """Write A^T (l, k) of a link: to out[offset], out[offset + stride], …"""
    kind = link.kind
    if kind == TURN:
        st(out, offset, k[2])
    elif kind == SLIDE:
        st(out, offset, l[2])
    elif kind == SCREW:
        st(out, offset, k[2] + numbers_of(parameters, link).pitch * l[2])
    elif kind == PLANE:
        st(out, offset, l[0])
        st(out, offset + stride, l[1])
        st(out, offset + 2 * stride, k[2])
    elif kind == BALL:
        st(out, offset, k[0])
        st(out, offset + stride, k[1])
        st(out, offset + 2 * stride, k[2])
    elif kind == FLOAT:
        st(out, offset, l[0])
        st(out, offset + stride, l[1])
        st(out, offset + 2 * stride, l[2])
        st(out, offset + 3 * stride, k[0])
        st(out, offset + 4 * stride, k[1])
        st(out, offset + 5 * stride, k[2])


@helper
def add_to(work: Any, i: Any, column: Any, l: Any, k: Any) -> None:
    """Add a six-vector to a line of the workspace."""
    add_three(work, i, column, l)
    add_three(work, i, column + 3, k)


@helper
def clear(structure: Any, work: Any, column: Any, count: Any) -> None:
    """Zero some columns of all lines."""
    for i in range(header_of(structure).links + 1):
        for c in range(column, column + count):
            st2(work, i, c, 0.0)


# --- bodies on their links --------------------------------------------------------------------------------------------


@helper
def apply_wrench(y: Any, o: Any, parameters: Any, structure: Any, work: Any, b: Any) -> None:
    """Add the wrench y[o : o + 6] of a body (body axes, at the body origin) to the columns F of the line of its
    link.
    """
    i, R, x = place_of(parameters, structure, b)
    f = rotated(R, (ld(y, o), ld(y, o + 1), ld(y, o + 2)))
    m = rotated(R, (ld(y, o + 3), ld(y, o + 4), ld(y, o + 5)))
    add_to(work, i, F, f, add(m, cross(x, f)))


@helper
def apply_wrenches(y: Any, o: Any, parameters: Any, structure: Any, work: Any) -> None:
    """The wrenches y[o], … of all bodies into the columns F, emptied before."""
    clear(structure, work, F, 6)
    for b in range(header_of(structure).bodies):
        apply_wrench(y, o + 6 * b, parameters, structure, work, b)
