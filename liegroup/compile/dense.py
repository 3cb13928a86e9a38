"""Small dense symmetric systems in the rows of a workspace, for kernels: LDLᵀ, and the pseudo-inverse of a known rank.

A matrix is the rows ``row … row + n`` of a workspace, a right-hand side one row of it.  Nothing branches on values, so
that eight trajectories in lanes take the same path.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import kernel, ld2, st2
from liegroup.compile.scalars import maximum, sqrt

SHIFT = 1e-10
"""Relative to the mean diagonal: how far `null_directions` shifts the matrix before inverting it."""
SWEEPS = 3
"""Inverse iterations of `null_directions`; each shrinks what is not null by SHIFT/(smallest kept eigenvalue)."""
GUARD = 1e-14
"""Relative to the mean diagonal: no pivot of `ldl` is smaller."""


@kernel
def mean_diagonal(a: Any, row: Any, n: Any) -> Any:
    """trace/n of a symmetric matrix."""
    s = ld2(a, row, 0)
    for i in range(1, n):
        s = s + ld2(a, row + i, i)
    return s * (1.0 / n)


@kernel
def ldl(a: Any, row: Any, n: Any, least_pivot: Any) -> None:
    """A = L D Lᵀ in place (lower triangle in, L below and 1/D on the diagonal out); pivots are at least
    `least_pivot`.
    """
    for i in range(n):
        for j in range(i):
            s = ld2(a, row + i, j)
            for k in range(j):
                s = s - ld2(a, row + i, k) * ld2(a, row + j, k)
            st2(a, row + i, j, s)  # L_ij D_j until the row is complete
        d = ld2(a, row + i, i)
        for j in range(i):
            w = ld2(a, row + i, j)
            factor = w * ld2(a, row + j, j)
            d = d - w * factor
            st2(a, row + i, j, factor)
        st2(a, row + i, i, 1.0 / maximum(d, least_pivot))


@kernel
def ldl_solve(a: Any, row: Any, n: Any, x: Any, x_row: Any) -> None:
    """x <- A⁻¹ x for the factors of `ldl`; x is row `x_row` of workspace x."""
    for i in range(n):
        s = ld2(x, x_row, i)
        for j in range(i):
            s = s - ld2(a, row + i, j) * ld2(x, x_row, j)
        st2(x, x_row, i, s)
    for r in range(n):
        i = n - 1 - r
        s = ld2(x, x_row, i) * ld2(a, row + i, i)
        for j in range(i + 1, n):
            s = s - ld2(a, row + j, i) * ld2(x, x_row, j)
        st2(x, x_row, i, s)


@kernel
def project_out(v: Any, v_row: Any, count: Any, n: Any, x: Any, x_row: Any) -> None:
    """x <- x − V Vᵀ x for `count` orthonormal rows of v."""
    for c in range(count):
        s = ld2(v, v_row + c, 0) * ld2(x, x_row, 0)
        for i in range(1, n):
            s = s + ld2(v, v_row + c, i) * ld2(x, x_row, i)
        for i in range(n):
            st2(x, x_row, i, ld2(x, x_row, i) - s * ld2(v, v_row + c, i))


@kernel
def orthonormalise(v: Any, row: Any, count: Any, n: Any) -> None:
    """Gram–Schmidt, twice for each vector, on `count` rows of v."""
    for c in range(count):
        project_out(v, row, c, n, v, row + c)
        project_out(v, row, c, n, v, row + c)
        s = ld2(v, row + c, 0) * ld2(v, row + c, 0)
        for i in range(1, n):
            s = s + ld2(v, row + c, i) * ld2(v, row + c, i)
        scale = 1.0 / sqrt(s)
        for i in range(n):
            st2(v, row + c, i, scale * ld2(v, row + c, i))


@kernel
def null_directions(a: Any, row: Any, n: Any, count: Any, v: Any, v_row: Any, scratch: Any, scratch_row: Any) -> None:
    """Orthonormal basis of the `count` smallest eigenvectors of a semidefinite A, by inverse iteration from the rows of
    v.

    A is only read; `scratch` takes n rows.  Holds when the count smallest eigenvalues are far below the others.
    """
    shift = SHIFT * mean_diagonal(a, row, n)
    for i in range(n):
        for j in range(i + 1):
            st2(scratch, scratch_row + i, j, ld2(a, row + i, j))
        st2(scratch, scratch_row + i, i, ld2(a, row + i, i) + shift)
    ldl(scratch, scratch_row, n, 1e-3 * shift)
    for _ in range(SWEEPS):
        for c in range(count):
            ldl_solve(scratch, scratch_row, n, v, v_row + c)
        orthonormalise(v, v_row, count, n)


@kernel
def deflate(a: Any, row: Any, n: Any, count: Any, v: Any, v_row: Any) -> None:
    """A <- A + s V Vᵀ with s the mean diagonal: invertible where A was not, the same elsewhere."""
    s = mean_diagonal(a, row, n)
    for c in range(count):
        for i in range(n):
            x = s * ld2(v, v_row + c, i)
            for j in range(i + 1):
                st2(a, row + i, j, ld2(a, row + i, j) + x * ld2(v, v_row + c, j))


@kernel
def factor_of_rank(a: Any, row: Any, n: Any, rank: Any, v: Any, v_row: Any, scratch: Any, scratch_row: Any) -> None:
    """Prepare `solve_of_rank`: A becomes its factors, the n − rank rows of v its null directions (a start must be in
    them).
    """
    count = n - rank
    if count > 0:
        null_directions(a, row, n, count, v, v_row, scratch, scratch_row)
        deflate(a, row, n, count, v, v_row)
    ldl(a, row, n, GUARD * mean_diagonal(a, row, n))


@kernel
def solve_of_rank(a: Any, row: Any, n: Any, rank: Any, v: Any, v_row: Any, x: Any, x_row: Any) -> None:
    """x <- A⁺ x, the pseudo-inverse that keeps the `rank` largest eigenvalues of a semidefinite A, whatever their
    size.
    """
    count = n - rank
    project_out(v, v_row, count, n, x, x_row)
    ldl_solve(a, row, n, x, x_row)
    project_out(v, v_row, count, n, x, x_row)
