"""Momenta of impulses through the eliminations of a tree, for the kernels.

(l, k) is a momentum of a link beyond that of p.  `through` continues it as the eliminations did with the momenta of the
tree: ξ goes to the emptied places; `left_over` is what goes on to the parent.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld2, rare
from liegroup.formulas.vectors import add, scale
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.armature import armature_in_places, times
from mechanics.kernels.elimination.ball import solved_slides, solved_turns
from mechanics.kernels.elimination.carry import full, symmetric
from mechanics.model.layout import (
    GEARED,
    WITH_ARMATURE,
    A,
    H,
    J,
    has_kinds,
    numbers_of,
)


@helper
def through_turn(work: Any, i: Any, l: Any, k: Any) -> Any:
    """(l, k) with ξ of a turn about z in its place, k_z."""
    xi = -k[2]
    u = xi * ld2(work, i, J + 5)
    l = l[0] + ld2(work, i, H + 2) * u, l[1] + ld2(work, i, H + 5) * u, l[2] + ld2(work, i, H + 8) * u
    return l, (k[0] + ld2(work, i, J + 2) * u, k[1] + ld2(work, i, J + 4) * u, xi)


@helper
def _through_ay(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -k[1]
    u = xi * ld2(work, i, J + 3)
    l = l[0] + ld2(work, i, H + 1) * u, l[1] + ld2(work, i, H + 4) * u, l[2] + ld2(work, i, H + 7) * u
    return l, (k[0] + ld2(work, i, J + 1) * u, xi, k[2])


@helper
def _through_ax(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -k[0]
    u = xi * ld2(work, i, J)
    return (l[0] + ld2(work, i, H) * u, l[1] + ld2(work, i, H + 3) * u, l[2] + ld2(work, i, H + 6) * u), (
        xi,
        k[1],
        k[2],
    )


@helper
def _through_lz(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -l[2]
    u = xi * ld2(work, i, A + 5)
    k = k[0] + ld2(work, i, H + 6) * u, k[1] + ld2(work, i, H + 7) * u, k[2] + ld2(work, i, H + 8) * u
    return (l[0] + ld2(work, i, A + 2) * u, l[1] + ld2(work, i, A + 4) * u, xi), k


@helper
def _through_ly(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -l[1]
    u = xi * ld2(work, i, A + 3)
    k = k[0] + ld2(work, i, H + 3) * u, k[1] + ld2(work, i, H + 4) * u, k[2]
    return (l[0] + ld2(work, i, A + 1) * u, xi, l[2] + ld2(work, i, A + 4) * u), k


@helper
def _through_lx(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -l[0]
    u = xi * ld2(work, i, A)
    return (xi, l[1], l[2] + ld2(work, i, A + 2) * u), (
        k[0] + ld2(work, i, H) * u,
        k[1] + ld2(work, i, H + 1) * u,
        k[2],
    )


@helper
def _through_linear(work: Any, i: Any, l: Any) -> Any:
    xi_z = -l[2]
    u = xi_z * ld2(work, i, A + 5)
    lx, xi_y = l[0] + ld2(work, i, A + 2) * u, -(l[1] + ld2(work, i, A + 4) * u)
    return -(lx + ld2(work, i, A + 1) * (xi_y * ld2(work, i, A + 3))), xi_y, xi_z


@kernel
def through(parameters: Any, work: Any, i: Any, link: Any, l: Any, k: Any) -> Any:
    """(l, k) with ξ in the emptied places."""
    kind = link.kind
    if kind == TURN:
        l, k = through_turn(work, i, l, k)
    elif kind == SLIDE:
        l, k = _through_lz(work, i, l, k)
    elif kind == SCREW:
        l, k = through_turn(work, i, l, (k[0], k[1], k[2] + numbers_of(parameters, link).pitch * l[2]))
    elif kind == PLANE:
        l, k = through_turn(work, i, l, k)
        l, k = _through_ly(work, i, l, k)
        l, k = _through_lx(work, i, l, k)
    elif kind in (BALL, FLOAT):
        l, k = through_turn(work, i, l, k)
        l, k = _through_ay(work, i, l, k)
        l, k = _through_ax(work, i, l, k)
        if kind == FLOAT:
            l = _through_linear(work, i, l)
    return l, k


@helper
def solved(work: Any, i: Any, kind: Any, l: Any, k: Any) -> Any:
    """The velocity that (l, k), with ξ in the emptied places, gives a link along its motions: (linear, angular)."""
    a, j = symmetric(work, i, A), symmetric(work, i, J)
    zero = l[0] - l[0]
    v = w = zero, zero, zero
    if kind == SLIDE:
        v = zero, zero, a[5] * l[2]
    elif kind == PLANE:
        h, x = full(work, i, H), a[0] * l[0]
        y = a[3] * (l[1] - a[1] * x)
        v, w = (x, y, zero), (zero, zero, j[5] * (k[2] - (h[2] * x + h[5] * y)))
    elif kind in (BALL, FLOAT):
        if kind == FLOAT:
            v = solved_slides(a, l)
        w = solved_turns(full(work, i, H), j, v, k)
    else:
        w = zero, zero, j[5] * k[2]
    return v, w


@rare(has_kinds(WITH_ARMATURE), lambda parameters, structure, work, i, link, l, k: (l, k))
def _held_by_armature(parameters: Any, structure: Any, work: Any, i: Any, link: Any, l: Any, k: Any) -> Any:
    """−a B ξ along the motions of a link with armature."""
    x, r = armature_in_places(parameters, structure, link)
    v, w = solved(work, i, link.kind, l, k)
    return scale(-1.0, times(x, v)), scale(-1.0, times(r, w))


@helper
def left_over(parameters: Any, structure: Any, work: Any, i: Any, link: Any, l: Any, k: Any) -> Any:
    """What goes on to the parent: along the link's own motions nothing, or what armature holds."""
    kind = link.kind
    zero = l[0] - l[0]
    f = m = zero, zero, zero
    if link.flags & GEARED:
        f, m = _held_by_armature(parameters, structure, work, i, link, l, k)
    if kind == TURN:
        k = k[0], k[1], zero
    elif kind == SLIDE:
        l = l[0], l[1], zero
    elif kind == SCREW:
        k = k[0], k[1], zero - numbers_of(parameters, link).pitch * l[2]
    elif kind == PLANE:
        l, k = (zero, zero, l[2]), (k[0], k[1], zero)
    elif kind == BALL:
        k = zero, zero, zero
    elif kind == FLOAT:
        l, k = (zero, zero, zero), (zero, zero, zero)
    if link.flags & GEARED:
        l, k = add(l, f), add(k, m)
    return l, k


@helper
def components(kind: Any, pitch: Any, l: Any, k: Any) -> Any:
    """Aᵀ (l, k), one number per degree of freedom of a link (the rest of the six means nothing); pitch 0 picks the
    emptied places.
    """
    if kind == SLIDE:
        return l[2], l[2], l[2], l[2], l[2], l[2]
    if kind == PLANE:
        return l[0], l[1], k[2], k[2], k[2], k[2]
    if kind == BALL:
        return k[0], k[1], k[2], k[2], k[2], k[2]
    if kind == FLOAT:
        return l[0], l[1], l[2], k[0], k[1], k[2]
    s = k[2] + pitch * l[2]
    return s, s, s, s, s, s


@helper
def inverse_pivots(work: Any, i: Any, kind: Any) -> Any:
    """1/d, one number per degree of freedom of a link."""
    a = ld2(work, i, A), ld2(work, i, A + 3), ld2(work, i, A + 5)
    j = ld2(work, i, J), ld2(work, i, J + 3), ld2(work, i, J + 5)
    if kind == SLIDE:
        return a[2], a[2], a[2], a[2], a[2], a[2]
    if kind == PLANE:
        return a[0], a[1], j[2], j[2], j[2], j[2]
    if kind == BALL:
        return j[0], j[1], j[2], j[2], j[2], j[2]
    if kind == FLOAT:
        return a[0], a[1], a[2], j[0], j[1], j[2]
    return j[2], j[2], j[2], j[2], j[2], j[2]
