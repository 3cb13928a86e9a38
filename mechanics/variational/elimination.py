"""The linear system of one Newton iteration, eliminated joint by joint from the leaves to the base.

With N*, P* of a link and W = Aᵀ N*, Y = N* A, D = W A (+ damping), u = p̂ − Aᵀ P*, its parent receives

    N* += C₀ᵀ (N* − Y D⁻¹ W) C₁,      P* += C₀ᵀ (P* + Y D⁻¹ u)

(0, 1: nodes k, k + 1; armature is in u and D, `mechanics.variational.armature`), and the sweep down finds δ = D⁻¹ (u −
W C₁ η_parent). What it needs of W, Y and D stays in the link, so that further iterations may use it again without
forming N (a chord step). This is the system of Ivanov and Shimanovsky, eq. (10), with a non-symmetric block N in the
place of the mass matrix of each body.

=================  ===================================================================================================
element            factors, from column `MATRIX` (one freedom, ball) or `DENSE` (plane, free)
=================  ===================================================================================================
one freedom        W (6), Y (6), 1/D
ball               D⁻¹ (9), upper half of Y (9), left half of W (9), D of the bodies alone (9)
plane, free        D = L U (n × n), D⁻¹ W (n × 6), Y (6 × n)
=================  ===================================================================================================
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st2
from liegroup.compile.scalars import absolute, maximum, select
from liegroup.formulas.vectors import add, scale
from mechanics.algebra.vectors import rotated
from mechanics.joints.element import BALL, SCREW, SLIDE, TURN
from mechanics.kernels.links import freedom, put, vector
from mechanics.model.layout import FIRST, GEARED, HEAVY, LEAF, damping_of, header_of, link_of, numbers_of
from mechanics.variational.armature import impedance, matrix_of_several
from mechanics.variational.body_maps import matrix_of
from mechanics.variational.dense import factorise_dense, relieved_dense
from mechanics.variational.gibbs import tangent_inverse_matrix, turned
from mechanics.variational.impulses import gathered, largest, put_defect, tensor
from mechanics.variational.matrices import add9, between, inverse, outer, product, shifted, subtract9
from mechanics.variational.turns import factorise_turn, turn_to_parent
from mechanics.variational.workspace import (
    COM,
    DEFECT,
    G0,
    G1,
    IMPULSE,
    MASS,
    MATRIX,
    RHO0,
    RHO1,
    SHIFT_BODY,
    SHIFT_JOINT,
    TARGET,
    TURN_BODY,
    TURN_JOINT,
    matrix,
    put_matrix,
    unknown,
    wrench_to_parent,
)

LOOPS = "short"


@kernel
def eliminate(body_map: Any, parameters: Any, structure: Any, work: Any, fresh: Any) -> Any:
    """Sweep up; N is formed anew if `fresh`.  Returns the largest |u|, relative to P* of its link."""
    tree = header_of(structure)
    worst = 0.0 * ld2(work, 0, TURN_JOINT)
    for i in range(tree.links - 1, -1, -1):
        link = link_of(structure, i)
        flags, kind, parent = link.flags, link.kind, link.parent
        f, n = gathered(body_map, flags, work, i)
        put_defect(parameters, structure, work, i, link, f, n)
        worst = maximum(worst, relative_defect(link, work, i, largest(f), largest(n)))
        if fresh:
            factorise(body_map, parameters, structure, work, i, link)
        if parent < tree.links:
            f, n = relieved(kind, work, i, f, n)
            wrench_to_parent(work, i, G0, parent, IMPULSE, flags & FIRST, f, n)
    return worst


@helper
def relative_defect(link: Any, work: Any, i: Any, force: Any, moment: Any) -> Any:
    """The largest |u| of a link over itself and the momentum of its kind: linear for shifts, angular for turns, and
    with armature p̂.
    """
    kind, worst = link.kind, 0.0 * force
    for j in range(freedom(kind)):
        u = absolute(ld2(work, i, DEFECT + j))
        size = u + (moment if unknown(kind, j) < SHIFT_JOINT else force)
        if link.flags & GEARED:
            size = size + absolute(ld2(work, i, TARGET + j))
        worst = maximum(worst, u / select(size == 0.0, 1.0 + size, size))
    return worst


@helper
def own_matrix(body_map: Any, work: Any, i: Any) -> Any:
    """N of the body of a link about the origin of the link."""
    a, com = vector(work, i, TURN_BODY), vector(work, i, COM)
    d = add(vector(work, i, SHIFT_BODY), turned(a, com))
    return matrix_of(body_map, a, d, ld2(work, i, MASS), tensor(work, i), com)


@helper
def factorise(body_map: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """W, Y, D of a link, and what remains of N* for its parent."""
    tree = header_of(structure)
    flags, kind, parent = link.flags, link.kind, link.parent
    damping = tree.damping + link.v
    A, B, C, I = gathered_matrix(body_map, flags, work, i)
    if kind == TURN and ld(parameters, damping) == 0.0 and not flags & GEARED:
        A, b, d, e = factorise_turn(work, i, A, B, C, I)
        if parent < tree.links:
            A, B, C, I = turn_to_parent(parameters, link, work, i, A, b, d, e)
            add_to_parent(work, parent, flags & FIRST, A, B, C, I)
    else:
        if kind <= SCREW:
            held = drag(parameters, structure, work, i, link)
            A, B, C, I = factorise_single(work, i, kind, numbers_of(parameters, link).pitch, held, A, B, C, I)
        elif kind == BALL:
            A, B, C, I = factorise_ball(parameters, structure, work, i, link, A, B, C, I)
        elif freedom(kind) > 0:
            A, B, C, I = factorise_dense(parameters, structure, work, i, link, A, B, C, I)
        if parent < tree.links:
            to_parent(work, i, parent, flags & FIRST, A, B, C, I)


@helper
def gathered_matrix(body_map: Any, flags: Any, work: Any, i: Any) -> Any:
    """N of the body of a link, and what the children have left in `MATRIX`."""
    zero = 0.0 * ld2(work, i, TURN_JOINT)
    empty = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    A, B, C, I = empty, empty, empty, empty
    if flags & HEAVY:
        A, B, C, I = own_matrix(body_map, work, i)
    if not flags & LEAF:
        A, B = add9(A, matrix(work, i, MATRIX)), add9(B, matrix(work, i, MATRIX + 9))
        C, I = add9(C, matrix(work, i, MATRIX + 18)), add9(I, matrix(work, i, MATRIX + 27))
    return A, B, C, I


@helper
def to_parent(work: Any, i: Any, parent: Any, first: Any, A: Any, B: Any, C: Any, I: Any) -> None:
    """C₀ᵀ (·) C₁ of what is left of N*, for the parent."""
    R, S = matrix(work, i, G0), matrix(work, i, G1)
    A, B, C, I = between(R, A, S), between(R, B, S), between(R, C, S), between(R, I, S)
    A, B, C, I = shifted(A, B, C, I, vector(work, i, RHO0), vector(work, i, RHO1))
    add_to_parent(work, parent, first, A, B, C, I)


@helper
def drag(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> Any:
    """(damping/2) dD/dδ of a link of one freedom, dt/dδ = 1 + t²/4 of a turn (t = 0 for slides), and its armature."""
    t = ld2(work, i, TURN_JOINT + 2)
    x = (0.5 * damping_of(parameters, structure, link.v)) * (1.0 + 0.25 * (t * t))
    if link.flags & GEARED:
        x = x + impedance(parameters, structure, work, link)
    return x


@helper
def add_to_parent(work: Any, parent: Any, first: Any, A: Any, B: Any, C: Any, I: Any) -> None:
    """Into `MATRIX` of the parent: written by the first link that comes, added by the others."""
    if not first:
        A, B = add9(A, matrix(work, parent, MATRIX)), add9(B, matrix(work, parent, MATRIX + 9))
        C, I = add9(C, matrix(work, parent, MATRIX + 18)), add9(I, matrix(work, parent, MATRIX + 27))
    put_matrix(work, parent, MATRIX, A)
    put_matrix(work, parent, MATRIX + 9, B)
    put_matrix(work, parent, MATRIX + 18, C)
    put_matrix(work, parent, MATRIX + 27, I)


# --- one freedom -----------------------------------------------------------------------------------------------------


@helper
def factorise_single(work: Any, i: Any, kind: Any, pitch: Any, damping: Any, A: Any, B: Any, C: Any, I: Any) -> Any:
    """Slide, screw and damped turn: rows and columns 3 and 6 of N*."""
    if kind == SLIDE:
        W, X, Y, Z = (A[6], A[7], A[8]), (B[6], B[7], B[8]), (A[2], A[5], A[8]), (C[2], C[5], C[8])
        D = A[8]
    else:
        W = (C[6] + pitch * A[6], C[7] + pitch * A[7], C[8] + pitch * A[8])
        X = (I[6] + pitch * B[6], I[7] + pitch * B[7], I[8] + pitch * B[8])
        Y = (B[2] + pitch * A[2], B[5] + pitch * A[5], B[8] + pitch * A[8])
        Z = (I[2] + pitch * C[2], I[5] + pitch * C[5], I[8] + pitch * C[8])
        D = X[2] + pitch * W[2]
    D = D + damping
    k = 1.0 / D
    put(work, i, MATRIX, W)
    put(work, i, MATRIX + 3, X)
    put(work, i, MATRIX + 6, Y)
    put(work, i, MATRIX + 9, Z)
    st2(work, i, MATRIX + 12, k)
    Y, Z = scale(k, Y), scale(k, Z)
    return subtract9(A, outer(Y, W)), subtract9(B, outer(Y, X)), subtract9(C, outer(Z, W)), subtract9(I, outer(Z, X))


# --- ball ------------------------------------------------------------------------------------------------------------


@helper
def factorise_ball(
    parameters: Any, structure: Any, work: Any, i: Any, link: Any, A: Any, B: Any, C: Any, I: Any
) -> Any:
    """A = (0; E): the lower three rows and the right three columns of N*."""
    damping = header_of(structure).damping + link.v
    x, y, z = 0.5 * ld(parameters, damping), 0.5 * ld(parameters, damping + 1), 0.5 * ld(parameters, damping + 2)
    T = tangent_inverse_matrix(vector(work, i, TURN_JOINT))
    D = add9(I, (x * T[0], x * T[1], x * T[2], y * T[3], y * T[4], y * T[5], z * T[6], z * T[7], z * T[8]))
    if link.flags & GEARED:
        D = add9(D, matrix_of_several(parameters, structure, work, i, link, vector(work, i, TURN_JOINT))[3])
    K = inverse(D)
    put_matrix(work, i, MATRIX, K)
    put_matrix(work, i, MATRIX + 9, B)
    put_matrix(work, i, MATRIX + 18, C)
    put_matrix(work, i, MATRIX + 27, I)
    KC, KI = product(K, C), product(K, I)
    return (
        subtract9(A, product(B, KC)),
        subtract9(B, product(B, KI)),
        subtract9(C, product(I, KC)),
        subtract9(I, product(I, KI)),
    )


# --- what an eliminated joint passes on ------------------------------------------------------------------------------


@helper
def relieved(kind: Any, work: Any, i: Any, f: Any, n: Any) -> Any:
    """P* + Y D⁻¹ u, with the factors in the link and u in `DEFECT`."""
    if kind <= SCREW:
        k = ld2(work, i, MATRIX + 12) * ld2(work, i, DEFECT)
        f, n = add(f, scale(k, vector(work, i, MATRIX + 6))), add(n, scale(k, vector(work, i, MATRIX + 9)))
    elif kind == BALL:
        x = rotated(matrix(work, i, MATRIX), vector(work, i, DEFECT))
        f, n = add(f, rotated(matrix(work, i, MATRIX + 9), x)), add(n, rotated(matrix(work, i, MATRIX + 27), x))
    elif freedom(kind) > 0:
        f, n = relieved_dense(kind, work, i, f, n)
    return f, n
