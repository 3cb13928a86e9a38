"""Sweep down: corrections of the joints, the motion of the links over the step, and node k + 1.

With c = C₁ η_parent, the increment of a joint is corrected by δ = D⁻¹ (u − W c) and η = c + A δ goes on to the
children.  The motion (a, d) of a link over the step follows from that of its parent (index p) and of the joint (index
J), relative to the link, without any subtraction:

    b = G₀ a_p,   a = b ⊕ a_J,   d = G₀ (d_p + (cay(a_p) − E) ρ₀) + d_J + (cay(b) − E) d_J
    G₁ = cay(a_J)ᵀ G₀,   ρ₁ = ρ₀ + G₀ᵀ d_J
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper, kernel, ld2, st2
from liegroup.compile.scalars import maximum, select, sincos
from liegroup.formulas.so2 import cayley_angle
from liegroup.formulas.vectors import add, cross, dot, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.joints.element import BALL, FLOAT, MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import freedom, prescribed, put, vector
from mechanics.model.layout import header_of, link_of, numbers_of
from mechanics.variational.dense import SOLVED, solve_defect
from mechanics.variational.gibbs import cayley_matrix, compose, compose_about_z, turned
from mechanics.variational.impulses import largest
from mechanics.variational.matrices import product, transpose, turn_about_z
from mechanics.variational.workspace import (
    COS0,
    COS1,
    DEFECT,
    ETA,
    G0,
    G1,
    MATRIX,
    PAST,
    RHO0,
    RHO1,
    SHIFT_BODY,
    SHIFT_JOINT,
    SIN0,
    SIN1,
    TURN_BODY,
    TURN_JOINT,
    matrix,
    put_matrix,
    unknown,
)

LOOPS = "short"


class Sizes(NamedTuple):
    """Largest components over all links: of the corrections and of the motions of the links over the step, and of the
    joints' turns.
    """

    turn_correction: Any
    shift_correction: Any
    turn: Any
    shift: Any
    joint_turn: Any


@kernel
def correct(parameters: Any, structure: Any, work: Any, frozen: Any) -> Any:
    """Correct every joint (lanes that are `frozen` excepted) and move on to the new node k + 1."""
    zero = 0.0 * ld2(work, 0, TURN_JOINT)
    turn, shift, joint_turn, turn_correction, shift_correction = zero, zero, zero, zero, zero
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        kind, parent, pitch = link.kind, link.parent, numbers_of(parameters, link).pitch
        S, v, n = matrix(work, i, G1), vector(work, parent, ETA), vector(work, parent, ETA + 3)
        v, n = rotated(S, subtract(v, cross(vector(work, i, RHO1), n))), rotated(S, n)
        dv, dn = correction(kind, pitch, work, i, v, n, frozen)
        put(work, i, ETA, add(v, dv))
        put(work, i, ETA + 3, add(n, dn))
        move_joint(kind, pitch, work, i, dv, dn)
        move_row(kind, work, i, parent)
        shift_correction, turn_correction = (
            maximum(shift_correction, largest(dv)),
            maximum(turn_correction, largest(dn)),
        )
        shift, turn = (
            maximum(shift, largest(vector(work, i, SHIFT_BODY))),
            maximum(turn, largest(vector(work, i, TURN_BODY))),
        )
        joint_turn = maximum(joint_turn, largest(vector(work, i, TURN_JOINT)))
    return Sizes(turn_correction, shift_correction, turn, shift, joint_turn)


@helper
def correction(kind: Any, pitch: Any, work: Any, i: Any, v: Any, n: Any, frozen: Any) -> Any:
    """A δ, δ = D⁻¹ (u − W (v, n)): shift and turn."""
    u = vector(work, i, DEFECT)
    zero = 0.0 * u[0]
    dv, dn = (zero, zero, zero), (zero, zero, zero)
    if kind <= SCREW:
        x = (u[0] - (dot(vector(work, i, MATRIX), v) + dot(vector(work, i, MATRIX + 3), n))) * ld2(work, i, MATRIX + 12)
        x = select(frozen, zero, x)
        if kind == TURN:
            dn = (zero, zero, x)
        elif kind == SLIDE:
            dv = (zero, zero, x)
        else:
            dv, dn = (zero, zero, pitch * x), (zero, zero, x)
    elif kind == BALL:
        u = subtract(u, add(rotated(matrix(work, i, MATRIX + 18), v), rotated(matrix(work, i, MATRIX + 27), n)))
        dn = unless(frozen, rotated(matrix(work, i, MATRIX), u))
    elif kind in (PLANE, FLOAT):
        solve_defect(kind, work, i, v, n)
        if kind == PLANE:
            x = unless(frozen, vector(work, i, SOLVED))
            dv, dn = (x[0], x[1], zero), (zero, zero, x[2])
        else:
            dv, dn = unless(frozen, vector(work, i, SOLVED)), unless(frozen, vector(work, i, SOLVED + 3))
    return dv, dn


@helper
def unless(frozen: Any, x: Any) -> Any:
    """x, or nothing where frozen."""
    zero = 0.0 * x[0]
    return select(frozen, zero, x[0]), select(frozen, zero, x[1]), select(frozen, zero, x[2])


@helper
def move_joint(kind: Any, pitch: Any, work: Any, i: Any, dv: Any, dn: Any) -> None:
    """The increment of a joint, moved on by the correction (dv, dn) in new axes: a ⊕ δω, d + cay(a) δv."""
    if kind == SLIDE:
        st2(work, i, SHIFT_JOINT + 2, ld2(work, i, SHIFT_JOINT + 2) + dv[2])
    elif kind in (TURN, SCREW):
        t = ld2(work, i, TURN_JOINT + 2)
        t = (t + dn[2]) / (1.0 - 0.25 * (t * dn[2]))
        st2(work, i, TURN_JOINT + 2, t)
        if kind == SCREW:
            st2(work, i, SHIFT_JOINT + 2, pitch * cayley_angle(t))
    elif kind <= FLOAT:
        a = vector(work, i, TURN_JOINT)
        if kind != BALL:
            put(work, i, SHIFT_JOINT, add(vector(work, i, SHIFT_JOINT), add(dv, turned(a, dv))))
        put(work, i, TURN_JOINT, compose(a, dn))


@helper
def move_row(kind: Any, work: Any, i: Any, parent: Any) -> None:
    """Motion of a link and its node k + 1, from its joint and the motion of its parent."""
    G, rho = matrix(work, i, G0), vector(work, i, RHO0)
    a, d = vector(work, parent, TURN_BODY), vector(work, parent, SHIFT_BODY)
    b, d = rotated(G, a), rotated(G, add(d, turned(a, rho)))
    if kind == TURN:
        t, c, s = ld2(work, i, TURN_JOINT + 2), ld2(work, i, COS0), ld2(work, i, SIN0)
        k = 1.0 / (4.0 + t * t)
        sine, cosine = 4.0 * t * k, (4.0 - t * t) * k
        put(work, i, TURN_BODY, compose_about_z(b, t))
        put_matrix(work, i, G1, turn_about_z(sine, cosine, G))
        st2(work, i, COS1, cosine * c - sine * s)
        st2(work, i, SIN1, sine * c + cosine * s)
    else:
        x = vector(work, i, SHIFT_JOINT)
        d = add(d, add(x, turned(b, x)))
        put(work, i, TURN_BODY, compose(b, vector(work, i, TURN_JOINT)))
        put_matrix(work, i, G1, product(transpose(cayley_matrix(vector(work, i, TURN_JOINT))), G))
        put(work, i, RHO1, add(rho, rotated_back(G, x)))
    put(work, i, SHIFT_BODY, d)


@kernel
def rest(t: Any, h: Any, parameters: Any, structure: Any, work: Any, i: Any, moved: Any) -> Any:
    """Start of the iteration in a link: its joint does not move, but for prescribed motions; returns whether any link
    has `moved`.
    """
    link = link_of(structure, i)
    kind = link.kind
    st2(work, i, COS1, ld2(work, i, COS0))
    st2(work, i, SIN1, ld2(work, i, SIN0))
    for k in range(12):
        st2(work, i, TURN_BODY + k, 0.0)
        st2(work, i, G1 + k, ld2(work, i, G0 + k))
    if kind in (MOVED_TURN, MOVED_SLIDE):
        moved = True
        prescribe(t, h, kind, parameters, link, work, i)
    if moved:
        move_row(kind, work, i, link.parent)
    return moved


@helper
def prescribe(t: Any, h: Any, kind: Any, parameters: Any, link: Any, work: Any, i: Any) -> None:
    """The increment of a prescribed motion from t to t + h."""
    x = prescribed(t + h, parameters, link)[0] - prescribed(t, parameters, link)[0]
    if kind == MOVED_TURN:
        s, c = sincos(0.5 * x)
        st2(work, i, TURN_JOINT + 2, 2.0 * s / c)
    else:
        st2(work, i, SHIFT_JOINT + 2, x)


@helper
def still_base(structure: Any, work: Any) -> None:
    """The base does not move."""
    n = header_of(structure).links
    put(work, n, TURN_BODY, (0.0, 0.0, 0.0))
    put(work, n, SHIFT_BODY, (0.0, 0.0, 0.0))
    put(work, n, ETA, (0.0, 0.0, 0.0))
    put(work, n, ETA + 3, (0.0, 0.0, 0.0))


@helper
def extrapolate(t: Any, h: Any, parameters: Any, structure: Any, work: Any, i: Any, known: Any) -> None:
    """Start of the iteration in a link: the unknowns extrapolated from `known` past steps, by their backward
    differences.
    """
    link = link_of(structure, i)
    kind = link.kind
    for j in range(freedom(kind)):
        x = ld2(work, i, PAST + j)
        for k in range(1, known):
            x = x + ld2(work, i, PAST + 6 * k + j)
        st2(work, i, unknown(kind, j), x)
    if kind == SCREW:
        st2(
            work,
            i,
            SHIFT_JOINT + 2,
            numbers_of(parameters, link).pitch * cayley_angle(ld2(work, i, TURN_JOINT + 2)),
        )
    if kind in (MOVED_TURN, MOVED_SLIDE):
        prescribe(t, h, kind, parameters, link, work, i)
    move_row(kind, work, i, link.parent)


@kernel
def remember(structure: Any, work: Any, known: Any) -> None:
    """Add the unknowns of this step to the past of `known` − 1 steps: their backward differences."""
    for i in range(header_of(structure).links):
        kind = link_of(structure, i).kind
        for j in range(freedom(kind)):
            x = ld2(work, i, unknown(kind, j))
            for k in range(known):
                old = ld2(work, i, PAST + 6 * k + j)
                st2(work, i, PAST + 6 * k + j, x)
                x = x - old
