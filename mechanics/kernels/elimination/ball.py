"""Elimination and motion of the links that turn about a point (BALL) and that nothing holds (FLOAT)."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, st2
from liegroup.formulas.vectors import add, cross, subtract
from mechanics.algebra.screws import congruence, quaternion_matrix
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.joints.element import FLOAT
from mechanics.kernels.elimination.blocks import eliminate_ax, eliminate_ay, eliminate_az, eliminate_linear
from mechanics.kernels.elimination.carry import (
    GRAVITY,
    full,
    gathered,
    gravity_wrench,
    keep,
    leave,
    put_inertia,
    send,
    send_inertia,
    symmetric,
    write,
)
from mechanics.kernels.links import vector
from mechanics.model.layout import COS, FIRST, SIN, A, C, H, J, K, L, header_of, numbers_of

# --- up ---------------------------------------------------------------------------------------------------------------


@helper
def turned_quaternion(y: Any, parameters: Any, link: Any) -> Any:
    """The rotation of a BALL or FLOAT from its axes to those of the parent link, constant turns included."""
    q = link.q
    if link.kind == FLOAT:
        q = q + 3
    a, b, c, d = numbers_of(parameters, link).quaternion
    w, x, y_, z = ld(y, q), ld(y, q + 1), ld(y, q + 2), ld(y, q + 3)
    return quaternion_matrix(
        (a * w - b * x) - (c * y_ + d * z),
        (a * x + b * w) + (c * z - d * y_),
        (a * y_ + c * w) + (d * x - b * z),
        (a * z + d * w) + (b * y_ - c * x),
    )


@helper
def _shifted_mass(a: Any, x: Any, y: Any, z: Any) -> Any:
    """H and J of an inertia (A, 0, 0) about the point from which its origin is seen at (x, y, z): −A ρ̃ and −ρ̃ A ρ̃."""
    xx, xy, xz, yy, yz, zz = a
    gxx, gxy, gxz = xz * y - xy * z, xx * z - xz * x, xy * x - xx * y
    gyx, gyy, gyz = yz * y - yy * z, xy * z - yz * x, yy * x - xy * y
    gzx, gzy, gzz = zz * y - yz * z, xz * z - zz * x, yz * x - xz * y
    return (
        (gxx, gxy, gxz, gyx, gyy, gyz, gzx, gzy, gzz),
        (
            y * gzx - z * gyx,
            y * gzy - z * gyy,
            y * gzz - z * gyz,
            z * gxy - x * gzy,
            z * gxz - x * gzz,
            x * gyz - y * gxz,
        ),
    )


@helper
def ball_up(y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """A link of kind BALL: its three turns leave nothing but A; moments about its centre are p."""
    own = numbers_of(parameters, link)
    tree, parent = header_of(structure), link.parent
    o = tree.n_q + link.v
    p = ld(y, o), ld(y, o + 1), ld(y, o + 2)
    zero = p[0] - p[0]
    st2(work, i, COS, own.turn[0])
    st2(work, i, SIN, own.turn[1])
    a, h, j, l, k, moment = gathered(parameters, link, work, i, zero)
    a, h, j, l, k = eliminate_az(a, h, j, l, k, p[2])
    a, h, j, l, k = eliminate_ay(a, h, j, l, k, p[1])
    a, h, j, l, k = eliminate_ax(a, h, j, l, k, p[0])
    keep(work, i, a, h, j, l, k, moment)
    if parent < tree.links:
        first, x, mass = link.flags & FIRST, own.place, own.tree_mass
        R = turned_quaternion(y, parameters, link)
        l, k, moment = rotated(R, l), rotated(R, p), rotated(R, moment)
        send(work, parent, L, first, l)
        send(work, parent, K, first, add(k, cross(x, l)))
        send(work, parent, C, first, (moment[0] + mass * x[0], moment[1] + mass * x[1], moment[2] + mass * x[2]))
        a = congruence(R, a)
        h, j = _shifted_mass(a, x[0], x[1], x[2])
        send_inertia(work, parent, first, a, h, j)


@helper
def place_of_float(y: Any, parameters: Any, link: Any) -> Any:
    """The origin of a FLOAT in the frame of the parent link."""
    q, own = link.q, numbers_of(parameters, link)
    w, x, y_, z = own.quaternion
    E = quaternion_matrix(w, x, y_, z)
    return add(own.place, rotated(E, (ld(y, q), ld(y, q + 1), ld(y, q + 2))))


@helper
def float_up(y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """A link of kind FLOAT: nothing of its inertia is left, and its momentum is p."""
    own = numbers_of(parameters, link)
    tree, parent = header_of(structure), link.parent
    o = tree.n_q + link.v
    lin, ang = (ld(y, o), ld(y, o + 1), ld(y, o + 2)), (ld(y, o + 3), ld(y, o + 4), ld(y, o + 5))
    zero = lin[0] - lin[0]
    st2(work, i, COS, own.turn[0])
    st2(work, i, SIN, own.turn[1])
    a, h, j, l, k, moment = gathered(parameters, link, work, i, zero)
    a, h, j, l, k = eliminate_az(a, h, j, l, k, ang[2])
    a, h, j, l, k = eliminate_ay(a, h, j, l, k, ang[1])
    a, h, j, l, k = eliminate_ax(a, h, j, l, k, ang[0])
    a, l = eliminate_linear(a, l, lin)
    keep(work, i, a, h, j, l, k, moment)
    if parent < tree.links:
        first, mass = link.flags & FIRST, own.tree_mass
        R, x = turned_quaternion(y, parameters, link), place_of_float(y, parameters, link)
        l, k, moment = rotated(R, lin), rotated(R, ang), rotated(R, moment)
        send(work, parent, L, first, l)
        send(work, parent, K, first, add(k, cross(x, l)))
        send(work, parent, C, first, (moment[0] + mass * x[0], moment[1] + mass * x[1], moment[2] + mass * x[2]))
        if first:
            nothing = zero, zero, zero, zero, zero, zero
            put_inertia(work, parent, nothing, (zero, zero, zero, *nothing), nothing)


# --- down -------------------------------------------------------------------------------------------------------------


@helper
def solved_turns(h: Any, j: Any, v: Any, xi: Any) -> Any:
    """ω from the eliminations of the three turns."""
    wx = j[0] * (xi[0] - ((h[0] * v[0] + h[3] * v[1]) + h[6] * v[2]))
    wy = j[3] * (xi[1] - (((h[1] * v[0] + h[4] * v[1]) + h[7] * v[2]) + j[1] * wx))
    wz = j[5] * (xi[2] - (((h[2] * v[0] + h[5] * v[1]) + h[8] * v[2]) + (j[2] * wx + j[4] * wy)))
    return wx, wy, wz


@helper
def solved_slides(a: Any, xi: Any) -> Any:
    """v from the eliminations of the three translations."""
    x = a[0] * xi[0]
    y = a[3] * (xi[1] - a[1] * x)
    return x, y, a[5] * (xi[2] - (a[2] * x + a[4] * y))


@helper
def ball_down(y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any, out: Any, loaded: Any) -> None:
    """Velocity and rate of momentum of a link of kind BALL: ṗ = l × v + p × ω + m."""
    tree, parent, o = header_of(structure), link.parent, link.v
    p = tree.n_q + o
    R = turned_quaternion(y, parameters, link)
    v, w = vector(work, parent, 0), vector(work, parent, 3)
    v = subtract(v, cross(numbers_of(parameters, link).place, w))
    v, w, g = rotated_back(R, v), rotated_back(R, w), rotated_back(R, vector(work, parent, GRAVITY))
    _, m = gravity_wrench(parameters, link, work, i, g, loaded)
    a, l = symmetric(work, i, A), vector(work, i, L)
    u = solved_turns(full(work, i, H), symmetric(work, i, J), v, vector(work, i, K))
    lx = ((a[0] * v[0] + a[1] * v[1]) + a[2] * v[2]) + l[0]
    ly = ((a[1] * v[0] + a[3] * v[1]) + a[4] * v[2]) + l[1]
    lz = ((a[2] * v[0] + a[4] * v[1]) + a[5] * v[2]) + l[2]
    rate = add(cross((lx, ly, lz), v), cross((ld(y, p), ld(y, p + 1), ld(y, p + 2)), u))
    write(parameters, structure, out, o, u[0] - w[0], rate[0] + m[0])
    write(parameters, structure, out, o + 1, u[1] - w[1], rate[1] + m[1])
    write(parameters, structure, out, o + 2, u[2] - w[2], rate[2] + m[2])
    leave(work, i, v, u, g)


@helper
def float_down(y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any, out: Any, loaded: Any) -> None:
    """Velocity and rate of momentum of a link of kind FLOAT: ṗ = ad_Vᵀ p + F*."""
    tree, parent, o = header_of(structure), link.parent, link.v
    p = tree.n_q + o
    R = turned_quaternion(y, parameters, link)
    v, w = vector(work, parent, 0), vector(work, parent, 3)
    if parent < tree.links:
        v = subtract(v, cross(place_of_float(y, parameters, link), w))
        v, w = rotated_back(R, v), rotated_back(R, w)
    g = rotated_back(R, vector(work, parent, GRAVITY))
    f, m = gravity_wrench(parameters, link, work, i, g, loaded)
    x = solved_slides(symmetric(work, i, A), vector(work, i, L))
    u = solved_turns(full(work, i, H), symmetric(work, i, J), x, vector(work, i, K))
    lin, ang = (ld(y, p), ld(y, p + 1), ld(y, p + 2)), (ld(y, p + 3), ld(y, p + 4), ld(y, p + 5))
    rate = cross(lin, u)
    write(parameters, structure, out, o, x[0] - v[0], rate[0] + f[0])
    write(parameters, structure, out, o + 1, x[1] - v[1], rate[1] + f[1])
    write(parameters, structure, out, o + 2, x[2] - v[2], rate[2] + f[2])
    rate = add(cross(lin, x), cross(ang, u))
    write(parameters, structure, out, o + 3, u[0] - w[0], rate[0] + m[0])
    write(parameters, structure, out, o + 4, u[1] - w[1], rate[1] + m[1])
    write(parameters, structure, out, o + 5, u[2] - w[2], rate[2] + m[2])
    leave(work, i, x, u, g)
