"""Elimination of the joints with several freedoms of both kinds (plane, free): a small dense system in the
workspace.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld2, rare, st2
from liegroup.formulas.vectors import dot
from mechanics.joints.element import FLOAT, PLANE
from mechanics.kernels.links import freedom, put, vector
from mechanics.model.layout import GEARED, has_links, header_of
from mechanics.variational.armature import matrix_of_several
from mechanics.variational.gibbs import cayley_matrix, tangent_inverse_matrix
from mechanics.variational.workspace import (
    DEFECT,
    DENSE,
    MATRIX,
    TURN_JOINT,
    component,
    matrix,
    put_matrix,
)

LOOPS = "short"

FACTORS, LEFT, RIGHT, SCRATCH, SOLVED = DENSE, DENSE + 36, DENSE + 72, DENSE + 108, DENSE + 126
"""D = L U, D⁻¹ W, Y (each 6 × 6 by rows, of which the first n rows or columns are used), dD/dδ, D⁻¹ u."""


@helper
def at(j: Any, k: Any) -> Any:
    """Column of entry (j, k) of the 6 × 6 matrix whose blocks of 3 × 3 begin at `MATRIX`."""
    return MATRIX + 18 * (j // 3) + 9 * (k // 3) + 3 * (j % 3) + k % 3


@rare(has_links(PLANE, FLOAT), lambda parameters, structure, work, i, link, A, B, C, I: (A, B, C, I))
def factorise_dense(
    parameters: Any, structure: Any, work: Any, i: Any, link: Any, A: Any, B: Any, C: Any, I: Any
) -> Any:
    """D = L U, D⁻¹ W, Y; returns N* − Y D⁻¹ W."""
    kind = link.kind
    put_matrix(work, i, MATRIX, A)
    put_matrix(work, i, MATRIX + 9, B)
    put_matrix(work, i, MATRIX + 18, C)
    put_matrix(work, i, MATRIX + 27, I)
    n = freedom(kind)
    for j in range(n):
        for k in range(n):
            st2(work, i, FACTORS + 6 * j + k, ld2(work, i, at(component(kind, j), component(kind, k))))
        for k in range(6):
            st2(work, i, LEFT + 6 * j + k, ld2(work, i, at(component(kind, j), k)))
            st2(work, i, RIGHT + 6 * k + j, ld2(work, i, at(k, component(kind, j))))
    add_damping(parameters, header_of(structure).damping + link.v, kind, work, i)
    if link.flags & GEARED:
        add_armature(parameters, structure, work, i, link)
    decompose(n, work, i)
    for k in range(6):
        solve(n, work, i, LEFT + k, 6)
    for j in range(6):
        for k in range(6):
            x = ld2(work, i, at(j, k))
            for l in range(n):
                x = x - ld2(work, i, RIGHT + 6 * j + l) * ld2(work, i, LEFT + 6 * l + k)
            st2(work, i, at(j, k), x)
    return (
        matrix(work, i, MATRIX),
        matrix(work, i, MATRIX + 9),
        matrix(work, i, MATRIX + 18),
        matrix(work, i, MATRIX + 27),
    )


@helper
def add_damping(parameters: Any, damping: Any, kind: Any, work: Any, i: Any) -> None:
    """D += (damping/2) dD/dδ: cay(a) for the shift, the tangent of ⊕ for the turn."""
    a = vector(work, i, TURN_JOINT)
    R, T = cayley_matrix(a), tangent_inverse_matrix(a)
    put_matrix(work, i, SCRATCH, R)
    put_matrix(work, i, SCRATCH + 9, T)
    n = freedom(kind)
    for j in range(n):
        s, x = component(kind, j), 0.5 * parameters[damping + j]
        for k in range(n):
            e = component(kind, k)
            if s // 3 == e // 3:
                column = SCRATCH + 9 * (s // 3) + 3 * (s % 3) + e % 3
                st2(work, i, FACTORS + 6 * j + k, ld2(work, i, FACTORS + 6 * j + k) + x * ld2(work, i, column))


@helper
def add_armature(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """D += the matrix of the armature."""
    A, B, C, I = matrix_of_several(parameters, structure, work, i, link, vector(work, i, TURN_JOINT))
    n = freedom(link.kind)
    for half in range(2):
        put_matrix(work, i, SCRATCH, A if half == 0 else C)
        put_matrix(work, i, SCRATCH + 9, B if half == 0 else I)
        for j in range(n):
            s = component(link.kind, j)
            if s // 3 == half:
                for k in range(n):
                    e = component(link.kind, k)
                    column = SCRATCH + 9 * (e // 3) + 3 * (s % 3) + e % 3
                    st2(work, i, FACTORS + 6 * j + k, ld2(work, i, FACTORS + 6 * j + k) + ld2(work, i, column))


@helper
def decompose(n: Any, work: Any, i: Any) -> None:
    """D <- L U in place, 1/Uⱼⱼ on the diagonal; D is close to a mass matrix over h, so no pivots are needed."""
    for j in range(n):
        st2(work, i, FACTORS + 7 * j, 1.0 / ld2(work, i, FACTORS + 7 * j))
        for k in range(j + 1, n):
            x = ld2(work, i, FACTORS + 6 * k + j) * ld2(work, i, FACTORS + 7 * j)
            st2(work, i, FACTORS + 6 * k + j, x)
            for l in range(j + 1, n):
                st2(
                    work,
                    i,
                    FACTORS + 6 * k + l,
                    ld2(work, i, FACTORS + 6 * k + l) - x * ld2(work, i, FACTORS + 6 * j + l),
                )


@helper
def solve(n: Any, work: Any, i: Any, start: Any, stride: Any) -> None:
    """x <- D⁻¹ x, x in the columns start, start + stride, …"""
    for j in range(1, n):
        x = ld2(work, i, start + stride * j)
        for k in range(j):
            x = x - ld2(work, i, FACTORS + 6 * j + k) * ld2(work, i, start + stride * k)
        st2(work, i, start + stride * j, x)
    for m in range(n):
        j = n - 1 - m
        x = ld2(work, i, start + stride * j)
        for k in range(j + 1, n):
            x = x - ld2(work, i, FACTORS + 6 * j + k) * ld2(work, i, start + stride * k)
        st2(work, i, start + stride * j, x * ld2(work, i, FACTORS + 7 * j))


@rare(has_links(PLANE, FLOAT))
def solve_defect(kind: Any, work: Any, i: Any, v: Any, n: Any) -> None:
    """D⁻¹ (u − W (v, n)) into `SOLVED`."""
    m = freedom(kind)
    for j in range(m):
        st2(work, i, SOLVED + j, ld2(work, i, DEFECT + j))
    solve(m, work, i, SOLVED, 1)
    for j in range(m):
        left = LEFT + 6 * j
        x = dot(vector(work, i, left), v) + dot(vector(work, i, left + 3), n)
        st2(work, i, SOLVED + j, ld2(work, i, SOLVED + j) - x)


@rare(has_links(PLANE, FLOAT), lambda kind, work, i, f, n: (f, n))
def relieved_dense(kind: Any, work: Any, i: Any, f: Any, n: Any) -> Any:
    """P* + Y D⁻¹ u."""
    zero = 0.0 * f[0]
    solve_defect(kind, work, i, (zero, zero, zero), (zero, zero, zero))
    put(work, i, MATRIX, f)
    put(work, i, MATRIX + 3, n)
    for j in range(6):
        x = ld2(work, i, MATRIX + j)
        for l in range(freedom(kind)):
            x = x + ld2(work, i, RIGHT + 6 * j + l) * ld2(work, i, SOLVED + l)
        st2(work, i, MATRIX + j, x)
    return vector(work, i, MATRIX), vector(work, i, MATRIX + 3)
