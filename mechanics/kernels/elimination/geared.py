"""Elimination and motion of the links whose joints have armature (`mechanics.kernels.armature`).

The factors are kept as those of other links, with the armature a on the diagonal.  The parent feels more, because with
armature the link does not come free along its own motions: with U what the elimination keeps and B = (AᵀM̃A)⁻¹,

    across and along     U B a,          along     a − a B a,          momentum along     p − a B ξ.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, rare
from liegroup.formulas.vectors import add, cross, scale, subtract
from mechanics.algebra.screws import congruence, shift_inertia, slide_inertia, turn_inertia_z
from mechanics.algebra.vectors import rotated
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.armature import add_in_places, armature_in_places, in_places, times, turned_momentum
from mechanics.kernels.elimination.ball import place_of_float, turned_quaternion
from mechanics.kernels.elimination.blocks import (
    eliminate_ax,
    eliminate_ay,
    eliminate_az,
    eliminate_linear,
    eliminate_lx,
    eliminate_ly,
    eliminate_lz,
)
from mechanics.kernels.elimination.carry import (
    gathered,
    keep,
    send,
    send_full,
    send_inertia,
    send_symmetric,
)
from mechanics.kernels.elimination.other import sheared
from mechanics.kernels.impulses import solved, through, through_turn
from mechanics.kernels.links import (
    constant_turn_down,
    moment_up,
    plane_position,
    put,
    set_angle,
    twist_down,
    vector,
    wrench_up,
)
from mechanics.model.layout import (
    COS,
    FIRST,
    GEARED,
    HEADER,
    LINK,
    SHIFT,
    SIN,
    A,
    C,
    H,
    J,
    K,
    L,
    Link,
    armature_of,
    header_of,
    numbers_of,
)


def _several(structure: Any, tau: int) -> bool:
    """Whether a joint of several freedoms in one link has armature."""
    if len(structure) < HEADER:
        return False
    links = structure[HEADER : HEADER + LINK * int(structure[0])].reshape(-1, LINK)
    kinds, flags = links[:, Link._fields.index("kind")], links[:, Link._fields.index("flags")]
    return bool(((kinds >= PLANE) & (kinds <= FLOAT) & (flags & GEARED != 0)).any())


# --- up ---------------------------------------------------------------------------------------------------------------


@helper
def _send_all(
    t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any, a: Any, h: Any, j: Any, l: Any, k: Any, moment: Any
) -> None:
    """Inertia, momentum and first moment of a link about its place on the parent's axis, to the parent."""
    parent, first = link.parent, link.flags & FIRST
    send_symmetric(parameters, link, work, A, a)
    send_full(parameters, link, work, H, h)
    send_symmetric(parameters, link, work, J, j)
    l, k = wrench_up(t, y, parameters, work, i, link, l, k)
    moment = moment_up(t, y, parameters, work, i, link, moment, numbers_of(parameters, link).tree_mass)
    send(work, parent, L, first, l)
    send(work, parent, K, first, k)
    send(work, parent, C, first, moment)


@helper
def single_up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """A link of one freedom."""
    own, tree, kind = numbers_of(parameters, link), header_of(structure), link.kind
    p, armature = ld(y, tree.n_q + link.v), armature_of(parameters, structure, link.v)
    set_angle(t, y, parameters, work, i, link)
    c, s = ld2(work, i, COS), ld2(work, i, SIN)
    a, h, j, l, k, moment = gathered(parameters, link, work, i, c - c)
    if kind == SLIDE:
        d, before = a[5], l[2]
        a, h, j, l, k = eliminate_lz((a[0], a[1], a[2], a[3], a[4], d + armature), h, j, l, k, p)
        keep(work, i, a, h, j, l, k, moment)
        g, e = armature * a[5], d * a[5]
        a = a[0], a[1], g * a[2], a[3], g * a[4], g * d
        h = h[0], h[1], h[2], h[3], h[4], h[5], g * h[6], g * h[7], g * h[8]
        l = l[0], l[1], g * before + e * p
    else:
        if kind == SCREW:
            h, j, k = sheared(a, h, j, l, k, own.pitch)
        d, before = j[5], k[2]
        a, h, j, l, k = eliminate_az(a, h, (j[0], j[1], j[2], j[3], j[4], d + armature), l, k, p)
        keep(work, i, a, h, j, l, k, moment)
        g, e = armature * j[5], d * j[5]
        h = h[0], h[1], g * h[2], h[3], h[4], g * h[5], h[6], h[7], g * h[8]
        j = j[0], j[1], g * j[2], j[3], g * j[4], g * d
        k = k[0], k[1], g * before + e * p
        if kind == SCREW:
            h, j, k = sheared(a, h, j, l, k, -own.pitch)
    if link.parent < tree.links:
        if kind == SLIDE:
            a, h, j = slide_inertia(a, h, j, ld(y, link.q))
        elif kind == SCREW:
            a, h, j = slide_inertia(a, h, j, own.pitch * ld(y, link.q))
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
        if link.flags & SHIFT:
            a, h, j = shift_inertia(a, h, j, own.rho[0], own.rho[1], own.rho[2])
        _send_all(t, y, parameters, work, i, link, a, h, j, l, k, moment)


@kernel
def _along(parameters: Any, structure: Any, work: Any, i: Any, link: Any, c: Any, zero: Any) -> Any:
    """What the parent feels of a motion of it along component c (0 … 5) of a link, if that has armature: the column of
    a − a B a and U B a.
    """
    x, r = armature_in_places(parameters, structure, link)
    l = zero + (x[0] if c == 0 else 0.0), zero + (x[1] if c == 1 else 0.0), zero + (x[2] if c == 2 else 0.0)
    k = zero + (r[0] if c == 3 else 0.0), zero + (r[1] if c == 4 else 0.0), zero + (r[2] if c == 5 else 0.0)
    f, m = through(parameters, work, i, link, scale(-1.0, l), scale(-1.0, k))
    v, w = solved(work, i, link.kind, f, m)
    v, w = subtract(l, times(x, v)), subtract(k, times(r, w))
    if link.kind == PLANE:
        v, w = (v[0], v[1], f[2]), (m[0], m[1], w[2])
    elif link.kind == BALL:
        v = f
    return v, w


@rare(_several)
def several_up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """A link in a plane, about a point, or free."""
    tree, kind, parent = header_of(structure), link.kind, link.parent
    o = tree.n_q + link.v
    set_angle(t, y, parameters, work, i, link)
    zero = ld(y, o) - ld(y, o)
    p, q = in_places(kind, y, o, zero)
    x, r = armature_in_places(parameters, structure, link)
    a, h, j, l, k, moment = gathered(parameters, link, work, i, zero)
    a = a[0] + x[0], a[1], a[2], a[3] + x[1], a[4], a[5] + x[2]
    j = j[0] + r[0], j[1], j[2], j[3] + r[1], j[4], j[5] + r[2]
    a, h, j, l, k = eliminate_az(a, h, j, l, k, q[2])
    if kind == PLANE:
        a, h, j, l, k = eliminate_ly(a, h, j, l, k, p[1])
        a, h, j, l, k = eliminate_lx(a, h, j, l, k, p[0])
    else:
        a, h, j, l, k = eliminate_ay(a, h, j, l, k, q[1])
        a, h, j, l, k = eliminate_ax(a, h, j, l, k, q[0])
        if kind == FLOAT:
            a, l = eliminate_linear(a, l, p)
    keep(work, i, a, h, j, l, k, moment)
    if parent < tree.links:
        v, w = solved(work, i, kind, l, k)
        f, m = subtract(p, times(x, v)), subtract(q, times(r, w))
        fz, uz = _along(parameters, structure, work, i, link, 5, zero)
        if kind == PLANE:
            lx, kx = _along(parameters, structure, work, i, link, 0, zero)
            ly, ky = _along(parameters, structure, work, i, link, 1, zero)
            a = lx[0], lx[1], lx[2], ly[1], ly[2], a[5]
            h = kx[0], kx[1], kx[2], ky[0], ky[1], ky[2], h[6], h[7], fz[2]
            j = j[0], j[1], uz[0], j[3], uz[1], uz[2]
            l, k = (f[0], f[1], l[2]), (k[0], k[1], m[2])
        else:
            fx, ux = _along(parameters, structure, work, i, link, 3, zero)
            fy, uy = _along(parameters, structure, work, i, link, 4, zero)
            h = fx[0], fy[0], fz[0], fx[1], fy[1], fz[1], fx[2], fy[2], fz[2]
            j = ux[0], uy[0], uz[0], uy[1], uz[1], uz[2]
            k = m
            if kind == FLOAT:
                lx, _ = _along(parameters, structure, work, i, link, 0, zero)
                ly, _ = _along(parameters, structure, work, i, link, 1, zero)
                lz, _ = _along(parameters, structure, work, i, link, 2, zero)
                a = lx[0], ly[0], lz[0], ly[1], lz[1], lz[2]
                l = f
        _carried(t, y, parameters, work, i, link, a, h, j, l, k, moment)


@helper
def _turned(R: Any, a: Any, h: Any, j: Any) -> Any:
    """An inertia in the axes before the turn R."""
    x, y, z = rotated(R, h[:3]), rotated(R, h[3:6]), rotated(R, h[6:])  # the rows of H Rᵀ
    u, v, w = rotated(R, (x[0], y[0], z[0])), rotated(R, (x[1], y[1], z[1])), rotated(R, (x[2], y[2], z[2]))
    h = u[0], v[0], w[0], u[1], v[1], w[1], u[2], v[2], w[2]
    return congruence(R, a), h, congruence(R, j)


@kernel
def _carried(
    t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any, a: Any, h: Any, j: Any, l: Any, k: Any, moment: Any
) -> None:
    """What is left of a link of several freedoms, to the parent."""
    own, kind, parent, first = numbers_of(parameters, link), link.kind, link.parent, link.flags & FIRST
    if kind == PLANE:
        c, s, x = ld2(work, i, COS), ld2(work, i, SIN), plane_position(y, parameters, link)
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
        a, h, j = shift_inertia(a, h, j, x[0], x[1], x[2])
        _send_all(t, y, parameters, work, i, link, a, h, j, l, k, moment)
    else:
        R, x = turned_quaternion(y, parameters, link), add(own.place, scale(0.0, l))
        if kind == FLOAT:
            x = place_of_float(y, parameters, link)
        a, h, j = _turned(R, a, h, j)
        a, h, j = shift_inertia(a, h, j, x[0], x[1], x[2])
        send_inertia(work, parent, first, a, h, j)
        l, k, moment = rotated(R, l), rotated(R, k), rotated(R, moment)
        send(work, parent, L, first, l)
        send(work, parent, K, first, add(k, cross(x, l)))
        send(work, parent, C, first, add(moment, scale(own.tree_mass, x)))


@helper
def geared_up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """A link whose joint has armature."""
    if link.kind <= SCREW:
        single_up(t, y, parameters, structure, work, i, link)
    else:
        several_up(t, y, parameters, structure, work, i, link)


# --- down -------------------------------------------------------------------------------------------------------------


@helper
def follow_parent(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """p → p + a Aᵀw in the momenta of a link that has armature, before it moves."""
    kind, parent = link.kind, link.parent
    l, k = vector(work, i, L), vector(work, i, K)
    zero = l[0] - l[0]
    if kind == TURN:
        w = constant_turn_down(parameters, link, vector(work, parent, 3))
        push = -armature_of(parameters, structure, link.v) * w[2]
        f, m = through_turn(work, i, (zero, zero, zero), (zero, zero, push))
    else:
        v, w = twist_down(t, y, parameters, work, i, link, vector(work, parent, 0), vector(work, parent, 3))
        x, r = armature_in_places(parameters, structure, link)
        f, m = through(parameters, work, i, link, scale(-1.0, times(x, v)), scale(-1.0, times(r, w)))
    put(work, i, L, add(l, f))
    put(work, i, K, add(k, m))


@helper
def turn_armature(parameters: Any, structure: Any, work: Any, i: Any, link: Any, out: Any) -> None:
    """ṗ −= ad_wᵀ(a s) of a link of several freedoms that has moved: its armature does not turn with its parent."""
    kind, o = link.kind, link.v
    x, r = armature_in_places(parameters, structure, link)
    v, w = in_places(kind, out, o, 0.0 * ld(out, o))
    l, k = times(x, v), times(r, w)
    f, m = turned_momentum(l, k, subtract(vector(work, i, 0), v), subtract(vector(work, i, 3), w))
    add_in_places(kind, out, header_of(structure).n_v + o, 1, f, m, -1.0)
