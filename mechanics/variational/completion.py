"""Completion of the step: momenta and configuration at node k + 1."""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import add_to, increase
from liegroup.compile import helper, ld, ld2, st, st2
from liegroup.compile.scalars import sincos
from liegroup.formulas import so3
from liegroup.formulas.so2 import cayley_angle
from liegroup.formulas.vectors import add, cross
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import freedom, put, vector
from mechanics.model.layout import GEARED, damping_of, header_of, link_of, numbers_of
from mechanics.variational.armature import give_turning
from mechanics.variational.gibbs import turned
from mechanics.variational.workspace import (
    DEFECT,
    FORCE,
    IMPULSE,
    SHIFT_BODY,
    SHIFT_JOINT,
    TARGET,
    TURN_BODY,
    TURN_JOINT,
    put_along,
    unknown,
)


@helper
def finish(parameters: Any, structure: Any, half: Any, compensated: Any, y: Any, low: Any, work: Any, i: Any) -> None:
    """(q, p) of a link at node k + 1, by increments: P*⁺ = Ad_fᵀ P*,

        p += A₁ᵀ P*⁺ − A₀ᵀ P* + (h/2) (Q₀ + Q₁) − (damping/2) (D₀ + D₁)     (and what armature turns)

    The momentum of every subtree is carried rigidly by the motion f = (a, d) of its root; A₀ᵀ P* is exactly on target.
    Q₁ is taken from `DEFECT` and left in `FORCE`.
    """
    tree = header_of(structure)
    link = link_of(structure, i)
    kind, v = link.kind, tree.n_q + link.v
    carried(kind, numbers_of(parameters, link).pitch, work, i)
    for j in range(freedom(kind)):
        x = ld2(work, i, TARGET + j) + half * (ld2(work, i, FORCE + j) + ld2(work, i, DEFECT + j))
        st2(work, i, FORCE + j, ld2(work, i, DEFECT + j))
        st2(
            work,
            i,
            TARGET + j,
            x - (0.5 * damping_of(parameters, structure, link.v + j)) * ld2(work, i, unknown(kind, j)),
        )
    if link.flags & GEARED:
        give_turning(parameters, structure, work, i, link)
    if kind in (PLANE, FLOAT):
        in_new_axes(work, i)
    for j in range(freedom(kind)):
        x = ld2(work, i, TARGET + j) - (0.5 * damping_of(parameters, structure, link.v + j)) * ld2(
            work, i, unknown(kind, j)
        )
        increase(y, low, v + j, x, compensated)
    advance_joint(kind, link.q, compensated, y, low, work, i)


@helper
def carried(kind: Any, pitch: Any, work: Any, i: Any) -> None:
    """Aᵀ (Ad_fᵀ P* − P*) into `TARGET`, without any cancellation."""
    a, f = vector(work, i, TURN_BODY), vector(work, i, IMPULSE)
    back, arm = (-a[0], -a[1], -a[2]), cross(f, vector(work, i, SHIFT_BODY))
    n = add(vector(work, i, IMPULSE + 3), arm)
    if kind == TURN:  # no more than what is asked for
        st2(work, i, TARGET, arm[2] + turned(back, n)[2])
    else:
        put_along(work, i, TARGET, kind, pitch, turned(back, f), add(arm, turned(back, n)))


@helper
def in_new_axes(work: Any, i: Any) -> None:
    """The shift of a joint in new axes: d <- cay(a)ᵀ d."""
    a, d = vector(work, i, TURN_JOINT), vector(work, i, SHIFT_JOINT)
    put(work, i, SHIFT_JOINT, add(d, turned((-a[0], -a[1], -a[2]), d)))


@helper
def advance_joint(kind: Any, q: Any, compensated: Any, y: Any, low: Any, work: Any, i: Any) -> None:
    """q at node k + 1 from the increment of the joint, the shift in new axes."""
    a, d = vector(work, i, TURN_JOINT), vector(work, i, SHIFT_JOINT)
    if kind in (TURN, SCREW):
        increase(y, low, q, cayley_angle(a[2]), compensated)
    elif kind == SLIDE:
        increase(y, low, q, d[2], compensated)
    elif kind == PLANE:
        increase(y, low, q + 2, cayley_angle(a[2]), compensated)
        s, c = sincos(ld(y, q + 2))
        increase(y, low, q, c * d[0] - s * d[1], compensated)
        increase(y, low, q + 1, s * d[0] + c * d[1], compensated)
    elif kind == BALL:
        turn_quaternion(q, a, compensated, y, low)
    elif kind == FLOAT:
        turn_quaternion(q + 3, a, compensated, y, low)
        x = so3.act((ld(y, q + 3), ld(y, q + 4), ld(y, q + 5), ld(y, q + 6)), d)
        for j in range(3):
            increase(y, low, q + j, x[j], compensated)


@helper
def turn_quaternion(q: Any, a: Any, compensated: Any, y: Any, low: Any) -> None:
    """The attitude in components q … q + 3, turned by cay(a)."""
    g, d = (ld(y, q), ld(y, q + 1), ld(y, q + 2), ld(y, q + 3)), so3.cay_difference(a)
    if compensated:
        e = so3.displace(g, d)
        for j in range(4):
            add_to(y, low, q + j, e[j])
    else:
        g = so3.advance(g, d)
        for j in range(4):
            st(y, q + j, g[j])
