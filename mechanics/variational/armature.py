"""Armature in the variational step: its part of the discrete Lagrangian, and the momenta and the matrix that follow.

    one freedom         L = a x²/(2h)          x the increment of the coordinate
    plane, ball, free   L = Xᵀ a X/(2h)        X the motion of the joint over the step in coordinates of the Cayley map

The momentum that leaves the start is P = (1/h) dτ_right(X)⁻ᵀ a X (a x/h), that at the end Ad_fᵀ P (the same), and
δP = N ζ with the increment ζ of the joint, as of a body (`mechanics.variational.body_maps`).  1/h is in the line of the
base, in the column of masses.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld2, rare, st2
from liegroup.formulas.so2 import cayley_angle
from liegroup.formulas.vectors import add, cross, scale
from liegroup.tau import CAYLEY
from mechanics.algebra.vectors import rotated
from mechanics.joints.element import SCREW, SLIDE
from mechanics.kernels.armature import armature_in_places
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import WITH_ARMATURE, armature_of, has_kinds, header_of
from mechanics.variational.body_maps import motion_matrix, motion_momentum
from mechanics.variational.gibbs import turned
from mechanics.variational.workspace import DEFECT, ETA, MASS, SHIFT_JOINT, TARGET, TURN_JOINT, put_along

LOOPS = "short"


@helper
def impedance(parameters: Any, structure: Any, work: Any, link: Any) -> Any:
    """a/h of a link of one freedom."""
    return ld2(work, header_of(structure).links, MASS) * armature_of(parameters, structure, link.v)


@helper
def _scaled(parameters: Any, structure: Any, work: Any, link: Any) -> Any:
    """a/h of a link of several freedoms: along its shifts, and as the tensor of its turns."""
    x, r = armature_in_places(parameters, structure, link)
    k = ld2(work, header_of(structure).links, MASS)
    return scale(k, x), (k * r[0], 0.0 * k, 0.0 * k, k * r[1], 0.0 * k, k * r[2])


@helper
def momentum(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> Any:
    """P of the armature of a link, (linear, angular) along its motions."""
    kind, a = link.kind, vector(work, i, TURN_JOINT)
    zero = 0.0 * a[0]
    f = n = zero, zero, zero
    if kind == SLIDE:
        f = zero, zero, impedance(parameters, structure, work, link) * ld2(work, i, SHIFT_JOINT + 2)
    elif kind <= SCREW:
        n = zero, zero, impedance(parameters, structure, work, link) * cayley_angle(a[2])
    else:
        f, n = _momentum_of_several(parameters, structure, work, i, link, a)
    return f, n


@rare(has_kinds(WITH_ARMATURE), lambda parameters, structure, work, i, link, a: (a, a))
def _momentum_of_several(parameters: Any, structure: Any, work: Any, i: Any, link: Any, a: Any) -> Any:
    m, J = _scaled(parameters, structure, work, link)
    P = motion_momentum(CAYLEY, a, vector(work, i, SHIFT_JOINT), m, J)
    return (P[0], P[1], P[2]), (P[3], P[4], P[5])


@rare(has_kinds(WITH_ARMATURE), lambda parameters, structure, work, i, link, a: ((a[0],) * 9,) * 4)
def matrix_of_several(parameters: Any, structure: Any, work: Any, i: Any, link: Any, a: Any) -> Any:
    """N of the armature of a plane, ball or free joint: four blocks of nine."""
    m, J = _scaled(parameters, structure, work, link)
    return motion_matrix(CAYLEY, a, vector(work, i, SHIFT_JOINT), m, J)


@helper
def change(parameters: Any, structure: Any, work: Any, i: Any, link: Any, v: Any, w: Any) -> Any:
    """δP = N ζ for ζ = (v, w) along the joint."""
    kind = link.kind
    zero = 0.0 * v[0]
    f = n = zero, zero, zero
    if kind == SLIDE:
        f = zero, zero, impedance(parameters, structure, work, link) * v[2]
    elif kind <= SCREW:
        n = zero, zero, impedance(parameters, structure, work, link) * w[2]
    else:
        A, B, C, I = matrix_of_several(parameters, structure, work, i, link, vector(work, i, TURN_JOINT))
        f, n = add(rotated(A, v), rotated(B, w)), add(rotated(C, v), rotated(I, w))
    return f, n


@helper
def onward(work: Any, i: Any, f: Any, n: Any) -> Any:
    """Ad_fᵀ (f, n) − (f, n) of the motion of a joint."""
    a = vector(work, i, TURN_JOINT)
    back, arm = (-a[0], -a[1], -a[2]), cross(f, vector(work, i, SHIFT_JOINT))
    return turned(back, f), add(arm, turned(back, add(n, arm)))


@helper
def _add_along(work: Any, i: Any, link: Any, column: Any, f: Any, n: Any, sign: Any) -> None:
    """Column += sign·(f, n) along the motions of a link; `ETA` is lost."""
    put_along(work, i, ETA, link.kind, 0.0, f, n)
    for j in range(freedom(link.kind)):
        st2(work, i, column + j, ld2(work, i, column + j) + sign * ld2(work, i, ETA + j))


@helper
def take_momentum(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """u −= P; `ETA` is lost."""
    f, n = momentum(parameters, structure, work, i, link)
    _add_along(work, i, link, DEFECT, f, n, -1.0)


@helper
def give_turning(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """`TARGET` += Ad_fᵀ P − P of a plane, ball or free joint; `ETA` is lost."""
    if link.kind > SCREW:
        f, n = momentum(parameters, structure, work, i, link)
        f, n = onward(work, i, f, n)
        _add_along(work, i, link, TARGET, f, n, 1.0)
