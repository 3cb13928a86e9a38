"""M = Lᵀ D L of a mass matrix in its place, without fill-in: row r of L reaches only the velocities before r on the way
to the base.

The matrix stands in the workspace, behind the lines of the links: row r in line `first` + r.  L and D replace the lower
triangle and the diagonal.  The upper triangle, and what does not share a way to the base, is neither read nor written.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st, st2
from mechanics.model.layout import above, header_of

AT_A_TIME = 16
"""Columns of a solution in lanes."""


@helper
def factorise(structure: Any, work: Any, first: Any) -> None:
    """M → (L, D), from the last row to the first:  L_rc = M_rc/D_r,  M_cb −= L_rc M_rb;  1/D on the diagonal."""
    for r in range(header_of(structure).n_v - 1, -1, -1):
        row = first + r
        pivot = 1.0 / ld2(work, row, r)
        st2(work, row, r, pivot)
        c = above(structure, r)
        while c >= 0:
            x = ld2(work, row, c) * pivot
            b = c
            while b >= 0:
                st2(work, first + c, b, ld2(work, first + c, b) - x * ld2(work, row, b))
                b = above(structure, b)
            st2(work, row, c, x)
            c = above(structure, c)


@helper
def solve(structure: Any, work: Any, first: Any, x: Any, at: Any, down: Any, count: Any) -> None:
    """X ← M⁻¹ X in place, from the factors; row r of X, `count` numbers, begins at x[at + r·down]."""
    if x.ndim == 2:  # lanes: as many columns at a time as stay in the nearest cache
        for k in range(0, count, AT_A_TIME):
            _solve(structure, work, first, x, at + k, down, min(AT_A_TIME, count - k))
    else:
        _solve(structure, work, first, x, at, down, count)


@kernel
def _solve(structure: Any, work: Any, first: Any, x: Any, at: Any, down: Any, count: Any) -> None:
    """`solve` for some columns."""
    n = header_of(structure).n_v
    for r in range(n - 1, -1, -1):
        c, row = above(structure, r), at + r * down
        while c >= 0:
            subtract_row(x, at + c * down, ld2(work, first + r, c), row, count)
            c = above(structure, c)
    for r in range(n):
        pivot, row = ld2(work, first + r, r), at + r * down
        for k in range(row, row + count):
            st(x, k, ld(x, k) * pivot)
        c = above(structure, r)
        while c >= 0:
            subtract_row(x, row, ld2(work, first + r, c), at + c * down, count)
            c = above(structure, c)


@helper
def subtract_row(x: Any, to: Any, factor: Any, row: Any, count: Any) -> None:
    """x[to …] −= factor · x[row …]."""
    for k in range(count):
        st(x, to + k, ld(x, to + k) - factor * ld(x, row + k))
