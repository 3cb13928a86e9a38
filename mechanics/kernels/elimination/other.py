"""Elimination and motion of the links that slide, screw, move in a plane or are moved by a prescribed motion."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2
from mechanics.algebra.screws import shift_inertia, slide_inertia, turn_block, turn_inertia_z
from mechanics.joints.element import MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE
from mechanics.kernels.elimination.blocks import eliminate_az, eliminate_lx, eliminate_ly, eliminate_lz
from mechanics.kernels.elimination.carry import (
    GRAVITY,
    full,
    gathered,
    gravity_wrench,
    keep,
    leave,
    momentum_xy,
    rate_about_z,
    send,
    send_full,
    send_symmetric,
    symmetric,
    turned_z,
    write,
)
from mechanics.kernels.links import (
    direction_down,
    moment_up,
    plane_position,
    prescribed,
    set_angle,
    twist_down,
    vector,
    wrench_up,
)
from mechanics.model.layout import COS, FIRST, SHIFT, SIN, A, C, H, J, K, L, header_of, numbers_of


@helper
def sheared(a: Any, h: Any, j: Any, l: Any, k: Any, pitch: Any) -> Any:
    """Inertia and momentum in the velocities (v − pitch ω_z e_z, ω), in which a screw is a turn."""
    hz = h[8] + pitch * a[5]
    return (
        (h[0], h[1], h[2] + pitch * a[2], h[3], h[4], h[5] + pitch * a[4], h[6], h[7], hz),
        (j[0], j[1], j[2] + pitch * h[6], j[3], j[4] + pitch * h[7], j[5] + pitch * (h[8] + hz)),
        (k[0], k[1], k[2] + pitch * l[2]),
    )


@helper
def _eliminated(y: Any, p: Any, parameters: Any, link: Any, a: Any, h: Any, j: Any, l: Any, k: Any) -> Any:
    """Eliminate the degrees of freedom of a link, the last first; packed as in
    `mechanics.kernels.elimination.blocks`.
    """
    kind = link.kind
    if kind == SLIDE:
        a, h, j, l, k = eliminate_lz(a, h, j, l, k, ld(y, p))
    elif kind == SCREW:
        h, j, k = sheared(a, h, j, l, k, numbers_of(parameters, link).pitch)
        a, h, j, l, k = eliminate_az(a, h, j, l, k, ld(y, p))
    elif kind == PLANE:
        a, h, j, l, k = eliminate_az(a, h, j, l, k, ld(y, p + 2))
        a, h, j, l, k = eliminate_ly(a, h, j, l, k, ld(y, p + 1))
        a, h, j, l, k = eliminate_lx(a, h, j, l, k, ld(y, p))
    return a, h, j, l, k


@helper
def _left(y: Any, p: Any, parameters: Any, link: Any, l: Any, k: Any) -> Any:
    """The momentum that is left after the elimination: p in its own directions."""
    kind = link.kind
    if kind == SLIDE:
        l = l[0], l[1], ld(y, p)
    elif kind == SCREW:
        k = k[0], k[1], ld(y, p) - numbers_of(parameters, link).pitch * l[2]
    elif kind == PLANE:
        l, k = (ld(y, p), ld(y, p + 1), l[2]), (k[0], k[1], ld(y, p + 2))
    return l, k


@helper
def _inertia_up(t: Any, y: Any, parameters: Any, link: Any, c: Any, s: Any, a: Any, h: Any, j: Any) -> Any:
    """The inertia left after the elimination, moved and turned to where only Rz(γ) Rx(α) is missing of Cᵀ M^a C."""
    own = numbers_of(parameters, link)
    kind, q, zero = link.kind, link.q, c - c
    if kind == SLIDE:
        a, h = (a[0], a[1], zero, a[3], zero, zero), (h[0], h[1], h[2], h[3], h[4], h[5], zero, zero, zero)
        a, h, j = slide_inertia(a, h, j, ld(y, q))
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    elif kind == SCREW:
        pitch = own.pitch
        j = j[0], j[1], -pitch * h[6], j[3], -pitch * h[7], pitch * (pitch * a[5])
        h = h[0], h[1], -pitch * a[2], h[3], h[4], -pitch * a[4], h[6], h[7], -pitch * a[5]
        a, h, j = slide_inertia(a, h, j, pitch * ld(y, q))
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    elif kind == PLANE:
        x, m = (
            plane_position(y, parameters, link),
            a[5],
        )  # left: A_zz, the row H_z and the plane block of J
        hx, hy = c * h[6] - s * h[7], s * h[6] + c * h[7]
        xx, xy, _, yy = turn_block(j[0], j[1], j[1], j[3], c * s, s * s)
        gx, gy = hx + m * x[1], hy - m * x[0]
        a, h = (zero, zero, zero, zero, zero, m), (zero, zero, zero, zero, zero, zero, gx, gy, zero)
        j = xx + x[1] * (hx + gx), xy + (x[1] * gy - x[0] * hx), zero, yy - x[0] * (hy + gy), zero, zero
    else:
        if kind == MOVED_SLIDE:
            a, h, j = slide_inertia(a, h, j, prescribed(t, parameters, link)[0])
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    if kind != PLANE and link.flags & SHIFT:
        a, h, j = shift_inertia(a, h, j, own.rho[0], own.rho[1], own.rho[2])
    return a, h, j


@helper
def other_up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any, pace: Any) -> None:
    """Eliminate a link of any kind and add what is left to its parent."""
    tree, kind, parent, first = header_of(structure), link.kind, link.parent, link.flags & FIRST
    p = tree.n_q + link.v
    set_angle(t, y, parameters, work, i, link)
    zero = ld2(work, i, COS) - ld2(work, i, COS)
    a, h, j, l, k, moment = gathered(parameters, link, work, i, zero)
    if kind == MOVED_TURN:
        rate = pace * prescribed(t, parameters, link)[1]
        l = l[0] + rate * h[2], l[1] + rate * h[5], l[2] + rate * h[8]
        k = k[0] + rate * j[2], k[1] + rate * j[4], k[2] + rate * j[5]
    elif kind == MOVED_SLIDE:
        rate = pace * prescribed(t, parameters, link)[1]
        l = l[0] + rate * a[2], l[1] + rate * a[4], l[2] + rate * a[5]
        k = k[0] + rate * h[6], k[1] + rate * h[7], k[2] + rate * h[8]
    a, h, j, l, k = _eliminated(y, p, parameters, link, a, h, j, l, k)
    keep(work, i, a, h, j, l, k, moment)
    if parent < tree.links:
        l, k = _left(y, p, parameters, link, l, k)
        a, h, j = _inertia_up(t, y, parameters, link, ld2(work, i, COS), ld2(work, i, SIN), a, h, j)
        send_symmetric(parameters, link, work, A, a)
        send_full(parameters, link, work, H, h)
        send_symmetric(parameters, link, work, J, j)
        l, k = wrench_up(t, y, parameters, work, i, link, l, k)
        moment = moment_up(t, y, parameters, work, i, link, moment, numbers_of(parameters, link).tree_mass)
        send(work, parent, L, first, l)
        send(work, parent, K, first, k)
        send(work, parent, C, first, moment)


@helper
def _move(
    t: Any,
    y: Any,
    parameters: Any,
    structure: Any,
    work: Any,
    i: Any,
    link: Any,
    out: Any,
    v: Any,
    w: Any,
    f: Any,
    m: Any,
    pace: Any,
) -> Any:
    """Velocity and rate of momentum of a link; v, w its twist without its own motion, (f, m) = F*.  Returns its
    twist.
    """
    kind, o, p = link.kind, link.v, header_of(structure).n_q + link.v
    a, h, j = symmetric(work, i, A), full(work, i, H), symmetric(work, i, J)
    l, k = vector(work, i, L), vector(work, i, K)
    if kind == SLIDE:
        vz = a[5] * (l[2] - ((a[2] * v[0] + a[4] * v[1]) + ((h[6] * w[0] + h[7] * w[1]) + h[8] * w[2])))
        lx = (a[0] * v[0] + a[1] * v[1]) + ((h[0] * w[0] + h[1] * w[1]) + h[2] * w[2]) + l[0]
        ly = (a[1] * v[0] + a[3] * v[1]) + ((h[3] * w[0] + h[4] * w[1]) + h[5] * w[2]) + l[1]
        write(parameters, structure, out, o, vz - v[2], (w[1] * lx - w[0] * ly) + f[2])
        v = v[0], v[1], vz
    elif kind == SCREW:
        pitch = numbers_of(parameters, link).pitch
        u = v[0], v[1], v[2] - pitch * w[2]
        wz = turned_z(h, j, u, w, k[2])
        lx, ly, kx, ky = momentum_xy(a, h, j, l, k, u, w)
        rate = rate_about_z(v, w, lx, ly, kx, ky) + pitch * (w[1] * lx - w[0] * ly)
        write(parameters, structure, out, o, wz - w[2], rate + (m[2] + pitch * f[2]))
        v, w = (v[0], v[1], v[2] + pitch * (wz - w[2])), (w[0], w[1], wz)
    elif kind == PLANE:
        vx = a[0] * (l[0] - (a[2] * v[2] + (h[0] * w[0] + h[1] * w[1])))
        vy = a[3] * (l[1] - ((a[1] * vx + a[4] * v[2]) + (h[3] * w[0] + h[4] * w[1])))
        u = vx, vy, v[2]
        wz = turned_z(h, j, u, w, k[2])
        lx, ly = ld(y, p), ld(y, p + 1)
        lz = (a[5] * v[2] + (h[6] * w[0] + h[7] * w[1])) + l[2]
        kx = h[6] * v[2] + (j[0] * w[0] + j[1] * w[1]) + k[0]
        ky = h[7] * v[2] + (j[1] * w[0] + j[3] * w[1]) + k[1]
        write(parameters, structure, out, o, vx - v[0], (wz * ly - w[1] * lz) + f[0])
        write(parameters, structure, out, o + 1, vy - v[1], (w[0] * lz - wz * lx) + f[1])
        write(parameters, structure, out, o + 2, wz - w[2], rate_about_z(u, w, lx, ly, kx, ky) + m[2])
        v, w = u, (w[0], w[1], wz)
    elif kind == MOVED_TURN:
        w = w[0], w[1], w[2] + pace * prescribed(t, parameters, link)[1]
    else:
        v = v[0], v[1], v[2] + pace * prescribed(t, parameters, link)[1]
    return v, w


@helper
def other_down(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any, out: Any, loaded: Any, pace: Any
) -> None:
    """Velocity and rate of momentum of a link of any kind."""
    parent = link.parent
    v, w = twist_down(t, y, parameters, work, i, link, vector(work, parent, 0), vector(work, parent, 3))
    g = direction_down(y, parameters, work, i, link, vector(work, parent, GRAVITY))
    f, m = gravity_wrench(parameters, link, work, i, g, loaded)
    v, w = _move(t, y, parameters, structure, work, i, link, out, v, w, f, m, pace)
    leave(work, i, v, w, g)
