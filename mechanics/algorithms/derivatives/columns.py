"""Columns of a line of the workspace of the derivatives, and how they are read.

Everything stands in the axes of the world at the origin of the link, so that nothing is turned on the way to the base
and distances are those between links: no digits are lost far from the origin of the world.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, st
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated_back
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import add_three, put, vector
from mechanics.kernels.sweeps import project

AXES, OFFSET, TWIST, ACCELERATION = 0, 9, 12, 18
"""Rotation link → world by rows (9); the origin seen from that of the parent (3); twist; acceleration (6 each)."""
CENTRE, LINEAR = 24, 27
"""Of the composite body: first moment, and linear momentum (3 each).  Then cos, sin (2) and the wrench of the link (6)
of `mechanics.model.layout`.
"""
TENSOR, PSEUDO, FORCE = 38, 44, 53
"""Of the composite body: inertia tensor (6), Y = −∫ r̃ (dr/dt)~ dm by rows (9), force and moment (6)."""
RATE, SECOND = 59, 65
"""Of a link with one degree of freedom: how a motion of its parent changes its column S, V×S and A×S + V×(V×S)."""
ANGULAR = 44
"""For Hamilton's equations in the place of Y: the angular momentum (3)."""
GAIN = 71
"""Of a link: acceleration that joint accelerations have added to it (6)."""
ARTICULATED = 77
"""Of the articulated body of a link (45), see `mechanics.algorithms.derivatives.articulated`."""
COLUMNS = 77


def work_shape(structure: Any) -> tuple[int, int]:
    """Of the workspace for a tree: lines of the links and of the base, then three matrices of the velocities."""
    links, _, n_v = structure[:3].tolist()
    return links + 1 + 3 * n_v, max(COLUMNS, n_v)


@helper
def twist_of(work: Any, i: Any, column: Any) -> Any:
    """Six numbers as a pair of vectors."""
    return vector(work, i, column), vector(work, i, column + 3)


@helper
def put_twist(work: Any, i: Any, column: Any, a: Any) -> None:
    """Write a pair of vectors."""
    put(work, i, column, a[0])
    put(work, i, column + 3, a[1])


@helper
def add_twist(work: Any, i: Any, column: Any, a: Any) -> None:
    """Add a pair of vectors."""
    add_three(work, i, column, a[0])
    add_three(work, i, column + 3, a[1])


@helper
def rows_of(work: Any, i: Any) -> Any:
    """The rotation link → world, nine numbers by rows."""
    a, b, c = vector(work, i, AXES), vector(work, i, AXES + 3), vector(work, i, AXES + 6)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@helper
def axis_of(R: Any, d: Any) -> Any:
    """Axis d of the link in the world."""
    if d == 0:
        a = R[0], R[3], R[6]
    elif d == 1:
        a = R[1], R[4], R[7]
    else:
        a = R[2], R[5], R[8]
    return a


@helper
def column(work: Any, i: Any, kind: Any, d: Any, pitch: Any) -> Any:
    """S: column d of the basis of a link, (linear, angular)."""
    R = rows_of(work, i)
    zero = R[0] - R[0]
    none = zero, zero, zero
    z = axis_of(R, 2)
    v, w = none, z
    if kind == SLIDE:
        v, w = z, none
    elif kind == SCREW:
        v = pitch * z[0], pitch * z[1], pitch * z[2]
    elif kind == BALL:
        w = axis_of(R, d)
    elif kind == PLANE:
        if d < 2:
            v, w = axis_of(R, d), none
    elif kind == FLOAT:
        if d < 3:
            v, w = axis_of(R, d), none
        else:
            w = axis_of(R, d - 3)
    return v, w


@helper
def carried(work: Any, k: Any, place: Any, r: Any) -> Any:
    """The twist in the columns `place` of line k, of the point at r from its origin."""
    v, w = twist_of(work, k, place)
    return add(v, cross(w, r)), w


@helper
def motion_cross(a: Any, b: Any) -> Any:
    """a × b of two twists, (ω×v' + v×ω'; ω×ω')."""
    return add(cross(a[1], b[0]), cross(a[0], b[1])), cross(a[1], b[1])


@helper
def column_moved(kind: Any, V: Any, S: Any) -> Any:
    """V × S of a column of a link; that of a turn is (0, a)."""
    if kind == TURN:
        moved = cross(V[0], S[1]), cross(V[1], S[1])
    else:
        moved = motion_cross(V, S)
    return moved


@helper
def column_turned(kind: Any, S: Any, f: Any) -> Any:
    """S ×* f of a column of a link."""
    if kind == TURN:
        turned = cross(S[1], f[0]), cross(S[1], f[1])
    else:
        turned = force_cross(S, f)
    return turned


@helper
def add_column(kind: Any, V: Any, x: Any, S: Any) -> Any:
    """V + S x of a column of a link."""
    v, w = V
    if kind != TURN:
        v = add(v, scale(x, S[0]))
    return v, add(w, scale(x, S[1]))


@helper
def along(kind: Any, S: Any, f: Any) -> Any:
    """Sᵀ f of a column of a link."""
    return dot(S[1], f[1]) if kind == TURN else pair(S, f)


@helper
def force_cross(a: Any, f: Any) -> Any:
    """a ×* f of a twist and a wrench, (ω×f; v×f + ω×m)."""
    return cross(a[1], f[0]), add(cross(a[0], f[0]), cross(a[1], f[1]))


@helper
def plus(a: Any, b: Any) -> Any:
    """a + b of pairs of vectors."""
    return add(a[0], b[0]), add(a[1], b[1])


@helper
def times(k: Any, a: Any) -> Any:
    """k a of a pair of vectors."""
    return (k * a[0][0], k * a[0][1], k * a[0][2]), (k * a[1][0], k * a[1][1], k * a[1][2])


@helper
def pair(a: Any, b: Any) -> Any:
    """aᵀ b of pairs of vectors."""
    return ((a[0][0] * b[0][0] + a[0][1] * b[0][1]) + a[0][2] * b[0][2]) + (
        (a[1][0] * b[1][0] + a[1][1] * b[1][1]) + a[1][2] * b[1][2]
    )


@helper
def wrench_to_parent(r: Any, f: Any) -> Any:
    """A wrench about the origin of the parent, from which its own is seen at r."""
    return f[0], add(f[1], cross(r, f[0]))


@helper
def minus(a: Any, b: Any) -> Any:
    """a − b of pairs of vectors."""
    return subtract(a[0], b[0]), subtract(a[1], b[1])


@helper
def project_world(parameters: Any, work: Any, i: Any, link: Any, f: Any, out: Any, at: Any, stride: Any) -> None:
    """Sᵀf of all columns of a link, to out[at], out[at + stride], …"""
    if link.kind == TURN:
        a = axis_of(rows_of(work, i), 2)
        st(out, at, dot(a, f[1]))
    else:
        R = rows_of(work, i)
        project(parameters, link, rotated_back(R, f[0]), rotated_back(R, f[1]), out, at, stride)
