"""Elimination and motion of a link that turns about its z axis: most links of most trees, hence straight through."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, st2
from liegroup.compile.scalars import sincos
from mechanics.algebra.screws import shift_null, turn_null, turn_z, unturn_z
from mechanics.kernels.elimination.blocks import eliminate_az
from mechanics.kernels.elimination.carry import (
    GRAVITY,
    full,
    gathered,
    keep,
    leave,
    momentum_xy,
    rate_about_z,
    send_full,
    send_symmetric,
    send_vector,
    symmetric,
    turned_z,
    write,
)
from mechanics.kernels.links import constant_turn_down, vector
from mechanics.model.layout import COS, SIN, A, C, F, H, J, K, L, header_of, numbers_of


@helper
def turn_up(y: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """A link of kind TURN: what `other_up` does for the others, straight through."""
    own = numbers_of(parameters, link)
    tree = header_of(structure)
    p = ld(y, tree.n_q + link.v)
    s, c = sincos(ld(y, link.q) + own.theta)
    st2(work, i, COS, c)
    st2(work, i, SIN, s)
    a, h, j, l, k, moment = gathered(parameters, link, work, i, c - c)
    a, h, j, l, k = eliminate_az(a, h, j, l, k, p)
    keep(work, i, a, h, j, l, k, moment)
    if link.parent < tree.links:
        x, y_, mass = own.rho[0], own.rho[1], own.tree_mass
        l, k, moment = turn_z(l, c, s), turn_z((k[0], k[1], p), c, s), turn_z(moment, c, s)
        send_vector(parameters, link, work, L, l)
        send_vector(parameters, link, work, K, (k[0] + y_ * l[2], k[1] - x * l[2], k[2] + (x * l[1] - y_ * l[0])))
        send_vector(parameters, link, work, C, (moment[0] + mass * x, moment[1] + mass * y_, moment[2]))
        a, h, j = turn_null(a, (h[0], h[1], h[3], h[4], h[6], h[7]), (j[0], j[1], j[3]), c, s)
        send_symmetric(parameters, link, work, A, a)
        a, h, j = shift_null(a, h, j, x, y_)
        send_full(parameters, link, work, H, h)
        send_symmetric(parameters, link, work, J, j)


@helper
def turn_down(parameters: Any, structure: Any, work: Any, i: Any, link: Any, out: Any, loaded: Any) -> None:
    """Velocity and rate of momentum of a link of kind TURN."""
    own = numbers_of(parameters, link)
    parent = link.parent
    c, s, moment = ld2(work, i, COS), ld2(work, i, SIN), vector(work, i, C)
    x, y = own.rho[0], own.rho[1]
    v = constant_turn_down(parameters, link, vector(work, parent, 0))
    w = constant_turn_down(parameters, link, vector(work, parent, 3))
    v = v[0] - y * w[2], v[1] + x * w[2], v[2] - (x * w[1] - y * w[0])
    v, w = unturn_z(v, c, s), unturn_z(w, c, s)
    g = unturn_z(constant_turn_down(parameters, link, vector(work, parent, GRAVITY)), c, s)
    torque = moment[0] * g[1] - moment[1] * g[0]
    if loaded:
        torque = torque + ld2(work, i, F + 5)
    a, h, j, k = symmetric(work, i, A), full(work, i, H), symmetric(work, i, J), vector(work, i, K)
    wz = turned_z(h, j, v, w, k[2])
    lx, ly, kx, ky = momentum_xy(a, h, j, vector(work, i, L), k, v, w)
    write(parameters, structure, out, link.v, wz - w[2], rate_about_z(v, w, lx, ly, kx, ky) + torque)
    leave(work, i, v, (w[0], w[1], wz), g)
