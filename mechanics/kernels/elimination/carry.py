"""What a link of the elimination gathers from its children, keeps for the way down and passes to its parent, for the
kernels.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, st
from liegroup.formulas.vectors import add, cross
from mechanics.algebra.screws import (
    backward_full,
    backward_symmetric,
    forward_full,
    forward_symmetric,
    turn_full,
    turn_symmetric,
)
from mechanics.kernels.links import add_three, constant_turn_up, put, vector
from mechanics.model.layout import FIRST, HEAVY, LEAF, SIDE, A, C, F, H, J, K, L, damping_of, header_of, numbers_of

GRAVITY = 6
"""Column where the downward pass keeps gravity in link axes; the twist is in 0 … 5."""

# --- up ---------------------------------------------------------------------------------------------------------------


@helper
def symmetric(work: Any, i: Any, column: Any) -> Any:
    return (*vector(work, i, column), *vector(work, i, column + 3))


@helper
def full(work: Any, i: Any, column: Any) -> Any:
    return (*vector(work, i, column), *vector(work, i, column + 3), *vector(work, i, column + 6))


@helper
def put_inertia(work: Any, i: Any, a: Any, h: Any, j: Any) -> None:
    put(work, i, A, (a[0], a[1], a[2]))
    put(work, i, A + 3, (a[3], a[4], a[5]))
    put(work, i, H, (h[0], h[1], h[2]))
    put(work, i, H + 3, (h[3], h[4], h[5]))
    put(work, i, H + 6, (h[6], h[7], h[8]))
    put(work, i, J, (j[0], j[1], j[2]))
    put(work, i, J + 3, (j[3], j[4], j[5]))


@helper
def with_own(parameters: Any, link: Any, a: Any, h: Any, j: Any) -> Any:
    """The inertia of the children and that of the link's own body."""
    own = numbers_of(parameters, link)
    m, (x, y, z), t = own.mass, own.moment, own.tensor
    return (
        (a[0] + m, a[1], a[2], a[3] + m, a[4], a[5] + m),
        (h[0], h[1] + z, h[2] - y, h[3] - z, h[4], h[5] + x, h[6] + y, h[7] - x, h[8]),
        (
            j[0] + t[0],
            j[1] + t[1],
            j[2] + t[2],
            j[3] + t[3],
            j[4] + t[4],
            j[5] + t[5],
        ),
    )


@helper
def gathered(parameters: Any, link: Any, work: Any, i: Any, zero: Any) -> Any:
    """Inertia, momentum and first moment of the subtree: those of the children and of the link's own body; `zero` lends
    the scalar type.
    """
    if link.flags & LEAF:
        l = k = moment = zero, zero, zero
        a = j = zero, zero, zero, zero, zero, zero
        h = zero, zero, zero, zero, zero, zero, zero, zero, zero
    else:
        a, h, j = symmetric(work, i, A), full(work, i, H), symmetric(work, i, J)
        l, k, moment = vector(work, i, L), vector(work, i, K), vector(work, i, C)
    if link.flags & HEAVY:
        a, h, j = with_own(parameters, link, a, h, j)
        moment = add(moment, numbers_of(parameters, link).moment)
    return a, h, j, l, k, moment


@helper
def keep(work: Any, i: Any, a: Any, h: Any, j: Any, l: Any, k: Any, moment: Any) -> None:
    put_inertia(work, i, a, h, j)
    put(work, i, L, l)
    put(work, i, K, k)
    put(work, i, C, moment)


@helper
def send(work: Any, parent: Any, column: Any, first: Any, a: Any) -> None:
    """Into the line of the parent: the first child writes, the others add."""
    if first:
        put(work, parent, column, a)
    else:
        add_three(work, parent, column, a)


@helper
def send_inertia(work: Any, parent: Any, first: Any, a: Any, h: Any, j: Any) -> None:
    """All blocks of an inertia that needs no further turn."""
    send(work, parent, A, first, (a[0], a[1], a[2]))
    send(work, parent, A + 3, first, (a[3], a[4], a[5]))
    send(work, parent, H, first, (h[0], h[1], h[2]))
    send(work, parent, H + 3, first, (h[3], h[4], h[5]))
    send(work, parent, H + 6, first, (h[6], h[7], h[8]))
    send(work, parent, J, first, (j[0], j[1], j[2]))
    send(work, parent, J + 3, first, (j[3], j[4], j[5]))


@helper
def send_vector(parameters: Any, link: Any, work: Any, column: Any, a: Any) -> None:
    """Rz(γ) Rx(α) a into the line of the parent; the first child writes, the others add."""
    a = constant_turn_up(parameters, link, a)
    send(work, link.parent, column, link.flags & FIRST, a)


@helper
def constant_turn_up_symmetric(parameters: Any, link: Any, a: Any) -> Any:
    """Rz(γ) Rx(α) on a symmetric block."""
    own = numbers_of(parameters, link)
    c, s = own.alpha
    a = backward_symmetric(turn_symmetric(forward_symmetric(a), c, s, c * s, s * s))
    if link.flags & SIDE:
        c, s = own.gamma
        a = turn_symmetric(a, c, s, c * s, s * s)
    return a


@helper
def send_symmetric(parameters: Any, link: Any, work: Any, column: Any, a: Any) -> None:
    """The same for a symmetric block."""
    a = constant_turn_up_symmetric(parameters, link, a)
    send(work, link.parent, column, link.flags & FIRST, (a[0], a[1], a[2]))
    send(work, link.parent, column + 3, link.flags & FIRST, (a[3], a[4], a[5]))


@helper
def send_full(parameters: Any, link: Any, work: Any, column: Any, a: Any) -> None:
    """The same for a full block."""
    own = numbers_of(parameters, link)
    c, s = own.alpha
    a = backward_full(turn_full(forward_full(a), c, s, c * s, s * s))
    if link.flags & SIDE:
        c, s = own.gamma
        a = turn_full(a, c, s, c * s, s * s)
    send(work, link.parent, column, link.flags & FIRST, (a[0], a[1], a[2]))
    send(work, link.parent, column + 3, link.flags & FIRST, (a[3], a[4], a[5]))
    send(work, link.parent, column + 6, link.flags & FIRST, (a[6], a[7], a[8]))


# --- down -------------------------------------------------------------------------------------------------------------


@helper
def turned_z(h: Any, j: Any, v: Any, w: Any, xi: Any) -> Any:
    """ω_z of a joint whose turn about z was eliminated first."""
    return j[5] * (xi - (((h[2] * v[0] + h[5] * v[1]) + h[8] * v[2]) + (j[2] * w[0] + j[4] * w[1])))


@helper
def rate_about_z(v: Any, w: Any, lx: Any, ly: Any, kx: Any, ky: Any) -> Any:
    """−(v × l + w × k)_z."""
    return (v[1] * lx - v[0] * ly) + (w[1] * kx - w[0] * ky)


@helper
def momentum_xy(a: Any, h: Any, j: Any, l: Any, k: Any, v: Any, w: Any) -> Any:
    """x and y components of P* = M^a w + π^a without anything about z."""
    return (
        ((a[0] * v[0] + a[1] * v[1]) + a[2] * v[2]) + (h[0] * w[0] + h[1] * w[1]) + l[0],
        ((a[1] * v[0] + a[3] * v[1]) + a[4] * v[2]) + (h[3] * w[0] + h[4] * w[1]) + l[1],
        ((h[0] * v[0] + h[3] * v[1]) + h[6] * v[2]) + (j[0] * w[0] + j[1] * w[1]) + k[0],
        ((h[1] * v[0] + h[4] * v[1]) + h[7] * v[2]) + (j[1] * w[0] + j[3] * w[1]) + k[1],
    )


@helper
def write(parameters: Any, structure: Any, out: Any, o: Any, s: Any, rate: Any) -> None:
    """s, and ṗ with damping."""
    st(out, o, s)
    st(out, header_of(structure).n_v + o, rate - damping_of(parameters, structure, o) * s)


@helper
def gravity_wrench(parameters: Any, link: Any, work: Any, i: Any, g: Any, loaded: Any) -> Any:
    """F* of a link: (m g, c × g) of the subtree, and the wrenches applied to it."""
    mass = numbers_of(parameters, link).tree_mass
    f, m = (mass * g[0], mass * g[1], mass * g[2]), cross(vector(work, i, C), g)
    if loaded:
        f, m = add(f, vector(work, i, F)), add(m, vector(work, i, F + 3))
    return f, m


@helper
def leave(work: Any, i: Any, v: Any, w: Any, g: Any) -> None:
    """The twist of a link, and gravity in its axes, for its children."""
    put(work, i, 0, v)
    put(work, i, 3, w)
    put(work, i, GRAVITY, g)
