"""Small dense symmetric systems in the rows of a workspace, for kernels: LDLᵀ, and the pseudo-inverse of a known rank.

A matrix is the rows ``row … row + n`` of a workspace, a right-hand side one row of it.  One with a profile
(`profile_of`) is stored without what is left of it, row behind row, from the beginning of the line ``row`` on through
as many lines as it takes (`ld_on`); so are vectors that belong to it.  Nothing branches on values, so that eight
trajectories in lanes take the same path.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from liegroup.compile import helper, joined, kernel, ld, st
from liegroup.compile.scalars import maximum, sqrt

LOOPS = "short"

SHIFT = 1e-10
"""Relative to the mean diagonal: how far `null_directions` shifts the matrix before inverting it."""
SWEEPS = 3
"""Inverse iterations of `null_directions`; each shrinks what is not null by SHIFT/(smallest kept eigenvalue)."""
GUARD = 1e-14
"""Relative to the mean diagonal: no pivot of `ldl` is smaller."""


@helper
def ld_on(a: Any, line: Any, k: Any) -> Any:
    """Entry k of what begins with a line of a workspace and goes on in the lines behind."""
    return ld(joined(a), line * a.shape[1] + k)


@helper
def st_on(a: Any, line: Any, k: Any, x: Any) -> None:
    """Write that entry."""
    st(joined(a), line * a.shape[1] + k, x)


@helper
def _full_first(profile: Any, at: Any, i: Any) -> Any:
    return 0


@helper
def full_last(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """`last_in_column` of a full matrix."""
    return n


@helper
def _full_row(a: Any, row: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return (row + i) * a.shape[1]


@helper
def first_in_row(profile: Any, at: Any, i: Any) -> Any:
    """The first column in which row i of a profile has something."""
    return ld(profile, at + i)


@helper
def last_in_column(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """One more than the last row in which column i of a profile of n rows has something."""
    return ld(profile, at + n + i)


@helper
def row_within(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """Where column 0 of row i would be: its entries are there as far as the profile and the diagonal go."""
    return ld(profile, at + 2 * n + i)


@helper
def row_of_system(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """The same of a matrix without symmetry, whose rows have room for what an exchange of rows brings."""
    return ld(profile, at + 3 * n + i)


@helper
def right_of_system(profile: Any, at: Any, n: Any, i: Any) -> Any:
    """Where the right side of its row i is."""
    return ld(profile, at + 4 * n + i)


@helper
def _row_within(a: Any, row: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return row * a.shape[1] + row_within(profile, at, n, i)


def profile_of(firsts: Sequence[int]) -> list[int]:
    """The profile of a symmetric matrix as kernels read it: for each row its first column, for each column one more
    than its last row; where each row is stored (`row_within`), and, of a matrix without symmetry, each row
    (`row_of_system`) and its right side.
    """
    n = len(firsts)
    ends = list(range(1, n + 1))
    for i, first in enumerate(firsts):
        ends[first:i] = [i + 1] * (i - first)
    rows, systems, rights, at, end = [], [], [], 0, 0
    from_below = list(accumulate(firsts[::-1], min))[::-1]
    for i, (first, lowest) in enumerate(zip(firsts, from_below, strict=True)):
        rows.append(at - first)
        at += i + 1 - first
        systems.append(end - lowest)
        end += ends[ends[i] - 1] - lowest + 1
        rights.append(end - 1)
    return [*firsts, *ends, *rows, *systems, *rights]


PROFILE = 5
"""Integers of a profile for each row."""


def room_within(profile: Sequence[int]) -> int:
    """Entries of a symmetric matrix with a profile."""
    n = len(profile) // PROFILE
    return profile[3 * n - 1] + n if n else 0


def room_of_system(profile: Sequence[int]) -> int:
    """Entries of a matrix without symmetry, with a right side."""
    return profile[-1] + 1 if profile else 0


@kernel
def mean_diagonal(a: Any, row: Any, n: Any, profile: Any, at: Any) -> Any:
    """trace/n of a symmetric matrix with a profile."""
    s = ld_on(a, row, row_within(profile, at, n, 0))
    for i in range(1, n):
        s = s + ld_on(a, row, row_within(profile, at, n, i) + i)
    return s * (1.0 / n)


def _elimination(first: Any, row_of: Any) -> Any:
    """LDLᵀ of rows that begin in the column ``first(profile, at, i)``, column 0 at ``row_of(a, row, n, profile, at,
    i)``.
    """

    @helper
    def eliminate(a: Any, row: Any, n: Any, least_pivot: Any, profile: Any, at: Any) -> None:
        f = joined(a)
        for i in range(n):
            start, here = first(profile, at, i), row_of(a, row, n, profile, at, i)
            for j in range(start, i):
                s, above = ld(f, here + j), row_of(a, row, n, profile, at, j)
                for k in range(max(start, first(profile, at, j)), j):
                    s = s - ld(f, here + k) * ld(f, above + k)
                st(f, here + j, s)  # L_ij D_j until the row is complete
            d = ld(f, here + i)
            for j in range(start, i):
                w = ld(f, here + j)
                factor = w * ld(f, row_of(a, row, n, profile, at, j) + j)
                d = d - w * factor
                st(f, here + j, factor)
            st(f, here + i, 1.0 / maximum(d, least_pivot))

    return eliminate


def _substitution(first: Any, last: Any, row_of: Any) -> Any:
    """x <- A⁻¹ x for the factors of `_elimination`, x from place `o` of the vector z on; columns end before the row
    ``last(profile, at, n, i)``.
    """

    @helper
    def substitute(a: Any, row: Any, n: Any, z: Any, o: Any, profile: Any, at: Any) -> None:
        f = joined(a)
        for i in range(n):
            s, here = ld(z, o + i), row_of(a, row, n, profile, at, i)
            for j in range(first(profile, at, i), i):
                s = s - ld(f, here + j) * ld(z, o + j)
            st(z, o + i, s)
        for r in range(n):
            i = n - 1 - r
            s = ld(z, o + i) * ld(f, row_of(a, row, n, profile, at, i) + i)
            for j in range(i + 1, last(profile, at, n, i)):
                if first(profile, at, j) <= i:
                    s = s - ld(f, row_of(a, row, n, profile, at, j) + i) * ld(z, o + j)
            st(z, o + i, s)

    return substitute


_eliminate_full = _elimination(_full_first, _full_row)
_substitute_full = _substitution(_full_first, full_last, _full_row)
_eliminate_within = _elimination(first_in_row, _row_within)
_substitute_within = _substitution(first_in_row, last_in_column, _row_within)


@kernel
def ldl(a: Any, row: Any, n: Any, least_pivot: Any) -> None:
    """A = L D Lᵀ in place (lower triangle in, L below and 1/D on the diagonal out); pivots are at least
    `least_pivot`.
    """
    _eliminate_full(a, row, n, least_pivot, n, 0)


@kernel
def ldl_solve(a: Any, row: Any, n: Any, x: Any, x_row: Any) -> None:
    """x <- A⁻¹ x for the factors of `ldl`; x is row `x_row` of workspace x."""
    _substitute_full(a, row, n, joined(x), x_row * x.shape[1], n, 0)


@kernel
def ldl_within(a: Any, row: Any, n: Any, least_pivot: Any, profile: Any, at: Any) -> None:
    """The same with a profile (`profile_of`, from place `at` on)."""
    _eliminate_within(a, row, n, least_pivot, profile, at)


@kernel
def ldl_solve_within(a: Any, row: Any, n: Any, x: Any, x_row: Any, profile: Any, at: Any) -> None:
    """x <- A⁻¹ x for the factors of `ldl_within`; x from row `x_row` of workspace x on."""
    _substitute_within(a, row, n, joined(x), x_row * x.shape[1], profile, at)


@kernel
def project_out(v: Any, v_row: Any, count: Any, n: Any, x: Any, o: Any) -> None:
    """x <- x − V Vᵀ x for `count` orthonormal vectors of v, one behind the other; x from place `o` of a vector on."""
    for c in range(count):
        s = ld_on(v, v_row, c * n) * ld(x, o)
        for i in range(1, n):
            s = s + ld_on(v, v_row, c * n + i) * ld(x, o + i)
        for i in range(n):
            st(x, o + i, ld(x, o + i) - s * ld_on(v, v_row, c * n + i))


@kernel
def orthonormalise(v: Any, row: Any, count: Any, n: Any) -> None:
    """Gram–Schmidt, twice for each vector, on `count` vectors of v."""
    z, begin = joined(v), row * v.shape[1]
    for c in range(count):
        o = begin + c * n
        project_out(v, row, c, n, z, o)
        project_out(v, row, c, n, z, o)
        s = ld(z, o) * ld(z, o)
        for i in range(1, n):
            s = s + ld(z, o + i) * ld(z, o + i)
        scale = 1.0 / sqrt(s)
        for i in range(n):
            st(z, o + i, scale * ld(z, o + i))


@kernel
def null_directions(
    a: Any, row: Any, n: Any, count: Any, v: Any, v_row: Any, scratch: Any, scratch_row: Any, profile: Any, at: Any
) -> None:
    """Orthonormal basis of the `count` smallest eigenvectors of a semidefinite A, by inverse iteration from the vectors
    of v.

    A is only read; `scratch` takes as much.  Holds when the count smallest eigenvalues are far below the others.
    """
    shift = SHIFT * mean_diagonal(a, row, n, profile, at)
    for i in range(n):
        here = row_within(profile, at, n, i)
        for j in range(first_in_row(profile, at, i), i):
            st_on(scratch, scratch_row, here + j, ld_on(a, row, here + j))
        st_on(scratch, scratch_row, here + i, ld_on(a, row, here + i) + shift)
    ldl_within(scratch, scratch_row, n, 1e-3 * shift, profile, at)
    z, begin = joined(v), v_row * v.shape[1]
    for _ in range(SWEEPS):
        for c in range(count):
            _substitute_within(scratch, scratch_row, n, z, begin + c * n, profile, at)
        orthonormalise(v, v_row, count, n)


@kernel
def deflate(a: Any, row: Any, n: Any, count: Any, v: Any, v_row: Any, profile: Any, at: Any) -> None:
    """A <- A + s V Vᵀ with s the mean diagonal: invertible where A was not, the same elsewhere."""
    s = mean_diagonal(a, row, n, profile, at)
    for c in range(count):
        for i in range(n):
            x, here = s * ld_on(v, v_row, c * n + i), row_within(profile, at, n, i)
            for j in range(i + 1):
                st_on(a, row, here + j, ld_on(a, row, here + j) + x * ld_on(v, v_row, c * n + j))


@kernel
def factor_of_rank(
    a: Any, row: Any, n: Any, rank: Any, v: Any, v_row: Any, scratch: Any, scratch_row: Any, profile: Any, at: Any
) -> None:
    """Prepare `solve_of_rank`: A becomes its factors, the n − rank vectors of v its null directions (a start must be in
    them).  The profile is a full one where there are null directions.
    """
    count = n - rank
    if count > 0:
        null_directions(a, row, n, count, v, v_row, scratch, scratch_row, profile, at)
        deflate(a, row, n, count, v, v_row, profile, at)
    ldl_within(a, row, n, GUARD * mean_diagonal(a, row, n, profile, at), profile, at)


@kernel
def solve_of_rank(
    a: Any, row: Any, n: Any, rank: Any, v: Any, v_row: Any, x: Any, x_row: Any, profile: Any, at: Any
) -> None:
    """x <- A⁺ x, the pseudo-inverse that keeps the `rank` largest eigenvalues of a semidefinite A, whatever their
    size.
    """
    count, z, o = n - rank, joined(x), x_row * x.shape[1]
    project_out(v, v_row, count, n, z, o)
    _substitute_within(a, row, n, z, o, profile, at)
    project_out(v, v_row, count, n, z, o)
