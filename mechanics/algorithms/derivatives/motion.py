"""Axes, twists and accelerations of all links in the axes of the world.

    V_i = V_k + S_i s_i + Vᴶ_i,     W_i = W_k + S_i a_i + V_i × (S_i s_i + Vᴶ_i) + x″,     W_base = −g,

k the parent: as 6-vectors of one frame nothing but sums.  With one degree of freedom V_i × S_i is
V_k × S_i.  How a motion of the parent moves a column,

    Ψ̇ = V_k × S,     Ψ̈ = W_k × S + V_k × Ψ̇,

is kept for links with one degree of freedom.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, st2
from liegroup.formulas.vectors import add, dot, scale
from mechanics.algebra.vectors import rotated
from mechanics.algorithms.derivatives.columns import (
    ACCELERATION,
    AXES,
    OFFSET,
    RATE,
    SECOND,
    TWIST,
    add_column,
    axis_of,
    carried,
    column,
    column_moved,
    motion_cross,
    plus,
    put_twist,
    rows_of,
    times,
    twist_of,
)
from mechanics.joints.element import BALL, MOVED_SLIDE, MOVED_TURN, SCREW, TURN
from mechanics.kernels.links import (
    constant_turn_up,
    direction_down,
    moment_up,
    prescribed_acceleration,
    put,
    set_angle,
    vector,
)
from mechanics.kernels.sweeps import own_twist
from mechanics.model.layout import gravity_of, header_of, link_of, numbers_of


@helper
def in_world(work: Any, i: Any, kind: Any, own: Any) -> Any:
    """A twist or acceleration of a joint, given in link axes, in those of the world."""
    v, w = own
    R = rows_of(work, i)
    if kind <= SCREW or kind >= MOVED_TURN:
        return (R[2] * v[2], R[5] * v[2], R[8] * v[2]), (R[2] * w[2], R[5] * w[2], R[8] * w[2])
    return rotated(R, v), rotated(R, w)


@helper
def plus_zero(a: Any, zero: Any) -> Any:
    """Numbers of the model on the scalar type of the state."""
    return a[0] + zero, a[1] + zero, a[2] + zero


@helper
def base(parameters: Any, structure: Any, work: Any) -> None:
    """The line of the base: axes of the world, at rest, accelerated against gravity."""
    n = header_of(structure).links
    for c in range(AXES, ACCELERATION + 6):
        st2(work, n, c, 1.0 if c in (0, 4, 8) else 0.0)
    g = gravity_of(parameters)
    put(work, n, ACCELERATION, (-g[0], -g[1], -g[2]))


@helper
def twists(t: Any, y: Any, parameters: Any, structure: Any, work: Any, s: Any, o: Any) -> None:
    """Axes, offsets and twists of all links, the velocities from s[o] on."""
    tree = header_of(structure)
    base(parameters, structure, work)
    for i in range(tree.links):
        link = link_of(structure, i)
        k = link.parent
        set_angle(t, y, parameters, work, i, link)
        zero = ld2(work, tree.links, TWIST)
        if link.kind == TURN or link.kind == BALL:
            x = constant_turn_up(parameters, link, plus_zero(numbers_of(parameters, link).rho, zero))
        else:
            x = moment_up(t, y, parameters, work, i, link, (zero, zero, zero), 1.0)
        for r in range(3):
            axis = vector(work, k, AXES + 3 * r)
            st2(work, i, OFFSET + r, dot(axis, x))
            put(work, i, AXES + 3 * r, direction_down(y, parameters, work, i, link, axis))
    retwist(t, parameters, structure, work, s, o)


@helper
def retwist(t: Any, parameters: Any, structure: Any, work: Any, s: Any, o: Any) -> None:
    """Twists of all links at other velocities, from s[o] on; axes and offsets are there."""
    tree = header_of(structure)
    for i in range(tree.links):
        link = link_of(structure, i)
        V, zero = carried(work, link.parent, TWIST, vector(work, i, OFFSET)), ld2(work, tree.links, TWIST)
        if link.kind == TURN:
            V = V[0], add(V[1], scale(ld(s, o + link.v), axis_of(rows_of(work, i), 2)))
        else:
            V = plus(V, in_world(work, i, link.kind, own_twist(t, s, o, parameters, link, zero)))
        put_twist(work, i, TWIST, V)


@helper
def accelerate(
    t: Any, parameters: Any, work: Any, i: Any, link: Any, s: Any, o: Any, a: Any, p: Any, zero: Any
) -> None:
    """Acceleration of a link, of its joint from a[p] on; Ψ̇ and Ψ̈; velocities of the joints from s[o] on; `zero` lends
    the scalar type.
    """
    kind, k, r = link.kind, link.parent, vector(work, i, OFFSET)
    W = carried(work, k, ACCELERATION, r)
    if kind <= SCREW:
        before = vector(work, i, TWIST), vector(work, k, TWIST + 3)
        if kind != TURN:
            before = carried(work, k, TWIST, r)
        S = column(work, i, kind, 0, numbers_of(parameters, link).pitch)
        rate = column_moved(kind, before, S)
        put_twist(work, i, RATE, rate)
        put_twist(work, i, SECOND, plus(column_moved(kind, W, S), motion_cross(before, rate)))
        W = add_column(kind, plus(W, times(ld(s, o + link.v), rate)), ld(a, p + link.v), S)
    else:
        V = twist_of(work, i, TWIST)
        W = plus(W, motion_cross(V, in_world(work, i, kind, own_twist(t, s, o, parameters, link, zero))))
        none = zero, zero, zero
        if kind == MOVED_TURN:
            own = none, (zero, zero, zero + prescribed_acceleration(t, parameters, link))
        elif kind == MOVED_SLIDE:
            own = (zero, zero, zero + prescribed_acceleration(t, parameters, link)), none
        else:
            own = own_twist(t, a, p, parameters, link, zero)
        W = plus(W, in_world(work, i, kind, own))
    put_twist(work, i, ACCELERATION, W)
