"""Small dense symmetric systems in the rows of a workspace, for kernels: LDLᵀ, and the pseudo-inverse of a known rank.

A matrix is the rows ``row … row + n`` of a workspace, a right-hand side one row of it.  Nothing branches on values, so
that eight trajectories in lanes take the same path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st2
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


@helper
def _full_first(profile: Any, at: Any, i: Any) -> Any:
    return 0


@helper
def full_last(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """`last_in_column` of a full matrix."""
    return n


@helper
def first_in_row(profile: Any, at: Any, i: Any) -> Any:
    """The first column in which row i of a profile has something."""
    return ld(profile, at + i)


@helper
def last_in_column(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """One more than the last row in which column i of a profile of n rows has something."""
    return ld(profile, at + n + i)


def profile_of(firsts: Sequence[int]) -> list[int]:
    """The profile of a symmetric matrix as kernels read it: for each row its first column, and for each column one more
    than its last row.
    """
    ends = list(range(1, len(firsts) + 1))
    for i, first in enumerate(firsts):
        ends[first:i] = [i + 1] * (i - first)
    return [*firsts, *ends]


def _elimination(first: Any) -> Any:
    """LDLᵀ of rows that begin in the column ``first(profile, at, i)``."""

    @helper
    def eliminate(a: Any, row: Any, n: Any, least_pivot: Any, profile: Any, at: Any) -> None:
        for i in range(n):
            start = first(profile, at, i)
            for j in range(start, i):
                s = ld2(a, row + i, j)
                for k in range(max(start, first(profile, at, j)), j):
                    s = s - ld2(a, row + i, k) * ld2(a, row + j, k)
                st2(a, row + i, j, s)  # L_ij D_j until the row is complete
            d = ld2(a, row + i, i)
            for j in range(start, i):
                w = ld2(a, row + i, j)
                factor = w * ld2(a, row + j, j)
                d = d - w * factor
                st2(a, row + i, j, factor)
            st2(a, row + i, i, 1.0 / maximum(d, least_pivot))

    return eliminate


def _substitution(first: Any, last: Any) -> Any:
    """x <- A⁻¹ x for the factors of `_elimination`; columns end before the row ``last(profile, at, n, i)``."""

    @helper
    def substitute(a: Any, row: Any, n: Any, x: Any, x_row: Any, profile: Any, at: Any) -> None:
        for i in range(n):
            s = ld2(x, x_row, i)
            for j in range(first(profile, at, i), i):
                s = s - ld2(a, row + i, j) * ld2(x, x_row, j)
            st2(x, x_row, i, s)
        for r in range(n):
            i = n - 1 - r
            s = ld2(x, x_row, i) * ld2(a, row + i, i)
            for j in range(i + 1, last(profile, at, n, i)):
                if first(profile, at, j) <= i:
                    s = s - ld2(a, row + j, i) * ld2(x, x_row, j)
            st2(x, x_row, i, s)

    return substitute


_eliminate_full, _substitute_full = _elimination(_full_first), _substitution(_full_first, full_last)
_eliminate_within, _substitute_within = _elimination(first_in_row), _substitution(first_in_row, last_in_column)


@kernel
def ldl(a: Any, row: Any, n: Any, least_pivot: Any) -> None:
    """A = L D Lᵀ in place (lower triangle in, L below and 1/D on the diagonal out); pivots are at least
    `least_pivot`.
    """
    _eliminate_full(a, row, n, least_pivot, n, 0)


@kernel
def ldl_solve(a: Any, row: Any, n: Any, x: Any, x_row: Any) -> None:
    """x <- A⁻¹ x for the factors of `ldl`; x is row `x_row` of workspace x."""
    _substitute_full(a, row, n, x, x_row, n, 0)


@kernel
def ldl_within(a: Any, row: Any, n: Any, least_pivot: Any, profile: Any, at: Any) -> None:
    """The same with a profile (`profile_of`, from place `at` on): nothing left of it is read or written."""
    _eliminate_within(a, row, n, least_pivot, profile, at)


@kernel
def ldl_solve_within(a: Any, row: Any, n: Any, x: Any, x_row: Any, profile: Any, at: Any) -> None:
    """x <- A⁻¹ x for the factors of `ldl_within`."""
    _substitute_within(a, row, n, x, x_row, profile, at)


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
def factor_of_rank(
    a: Any, row: Any, n: Any, rank: Any, v: Any, v_row: Any, scratch: Any, scratch_row: Any, profile: Any, at: Any
) -> None:
    """Prepare `solve_of_rank`: A becomes its factors, the n − rank rows of v its null directions (a start must be in
    them).  The profile is a full one where there are null directions.
    """
    count = n - rank
    if count > 0:
        null_directions(a, row, n, count, v, v_row, scratch, scratch_row)
        deflate(a, row, n, count, v, v_row)
    ldl_within(a, row, n, GUARD * mean_diagonal(a, row, n), profile, at)


@kernel
def solve_of_rank(
    a: Any, row: Any, n: Any, rank: Any, v: Any, v_row: Any, x: Any, x_row: Any, profile: Any, at: Any
) -> None:
    """x <- A⁺ x, the pseudo-inverse that keeps the `rank` largest eigenvalues of a semidefinite A, whatever their
    size.
    """
    count = n - rank
    project_out(v, v_row, count, n, x, x_row)
    ldl_solve_within(a, row, n, x, x_row, profile, at)
    project_out(v, v_row, count, n, x, x_row)
