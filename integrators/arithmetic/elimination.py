"""Linear systems without any symmetry, in the rows of a workspace: Gauss elimination with the largest pivots, each lane
with its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.arithmetic.bands import exchange
from liegroup.compile import absolute, helper, joined, kernel, ld, primitive, st
from liegroup.compile.dense import full_last, last_in_column, right_of_system, row_of_system


@helper
def _row(a: Any, first: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return (first + i) * a.shape[1]


@helper
def _right(a: Any, first: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return (first + i) * a.shape[1] + n


@helper
def _row_within(a: Any, first: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return first * a.shape[1] + row_of_system(profile, at, n, i)


@helper
def _right_within(a: Any, first: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return first * a.shape[1] + right_of_system(profile, at, n, i)


def _solution(last: Any, row: Any, right: Any) -> Any:
    """Of a matrix whose columns, and whose rows, end before the place ``last(profile, at, n, k)``; column 0 of row i is
    at ``row(a, first, n, profile, at, i)``, its right sides at ``right(…)``.
    """

    @kernel
    def solve(a: Any, first: Any, n: Any, m: Any, profile: Any, at: Any) -> None:
        f = joined(a)
        for k in range(n):
            end = last(profile, at, n, k)
            reach = last(profile, at, n, end - 1)  # where a row from below may end
            upper, upper_right = row(a, first, n, profile, at, k), right(a, first, n, profile, at, k)
            for i in range(k + 1, end):
                lower, lower_right = row(a, first, n, profile, at, i), right(a, first, n, profile, at, i)
                larger = absolute(ld(f, lower + k)) > absolute(ld(f, upper + k))
                for j in range(k, reach):
                    exchange(larger, f, upper + j, lower + j)
                for j in range(m):
                    exchange(larger, f, upper_right + j, lower_right + j)
            pivot = 1.0 / ld(f, upper + k)
            for i in range(k + 1, end):
                lower, lower_right = row(a, first, n, profile, at, i), right(a, first, n, profile, at, i)
                factor = pivot * ld(f, lower + k)
                for j in range(k + 1, reach):
                    st(f, lower + j, ld(f, lower + j) - factor * ld(f, upper + j))
                for j in range(m):
                    st(f, lower_right + j, ld(f, lower_right + j) - factor * ld(f, upper_right + j))
        for k in range(n - 1, -1, -1):
            upper, upper_right = row(a, first, n, profile, at, k), right(a, first, n, profile, at, k)
            pivot, reach = 1.0 / ld(f, upper + k), last(profile, at, n, last(profile, at, n, k) - 1)
            for j in range(m):
                x = ld(f, upper_right + j)
                for i in range(k + 1, reach):
                    x = x - ld(f, upper + i) * ld(f, right(a, first, n, profile, at, i) + j)
                st(f, upper_right + j, pivot * x)

    return solve


@helper
def _row_together(a: Any, first: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return first * a.shape[1] + i * (n + 1)


@helper
def _right_together(a: Any, first: Any, n: Any, profile: Any, at: Any, i: Any) -> Any:
    return first * a.shape[1] + i * (n + 1) + n


_solve_full = _solution(full_last, _row, _right)
_solve_together = _solution(full_last, _row_together, _right_together)
_solve_within = _solution(last_in_column, _row_within, _right_within)


@kernel
def _solve_by_scalars(a: Any, first: Any, n: Any, m: Any) -> None:
    _solve_full(a, first, n, m, n, 0)


def _solve_compiled(a: Any, first: Any, n: Any, m: Any) -> None:
    _solve_by_scalars(a, first, n, m)


def _solve_by_rows(a: Any, n: int, m: int) -> None:
    """`_solve_by_scalars` to the last bit, row by row: interpreted, hundreds of unknowns would take minutes."""
    for k in range(n):
        largest, sizes = abs(a[k, k]), np.abs(a[k + 1 :, k]).tolist()
        for i, size in enumerate(sizes, k + 1):
            if size > largest:
                largest = size
                a[[k, i], k:] = a[[i, k], k:]
        factors = 1.0 / a[k, k] * a[k + 1 :, k]
        a[k + 1 :, k + 1 :] -= np.outer(factors, a[k, k + 1 :])
    for j in range(n, n + m):
        found: list[float] = []  # from below; sums keep the order of their terms
        for k in range(n - 1, -1, -1):
            x = float(a[k, j])
            for u, y in zip(a[k, k + 1 : n].tolist(), reversed(found), strict=True):
                x -= u * y
            found.append(float(1.0 / a[k, k] * x))
        a[:, j] = found[::-1]


@primitive(_solve_compiled)
def solve_rows(a: Any, first: Any, n: Any, m: Any) -> None:
    """Columns n … n + m − 1 of the n rows from `first` <- A⁻¹ times these columns, A the n columns before; A is lost.

    A singular matrix gives infinite or undefined numbers, which the caller's checks find.
    """
    if isinstance(a, np.ndarray) and a.ndim == 2 and a.dtype == np.float64:
        _solve_by_rows(a[first : first + n, : n + m], n, m)
    else:
        _solve_by_scalars(a, first, n, m)


@kernel
def solve_rows_together(a: Any, first: Any, n: Any) -> None:
    """The same with one right side, the rows of n + 1 numbers one behind the other from the line `first` on."""
    _solve_together(a, first, n, 1, n, 0)


@kernel
def solve_rows_within(a: Any, first: Any, n: Any, profile: Any, at: Any) -> None:
    """The same with one right side, of a matrix with the profile of a symmetric one
    (`liegroup.compile.dense.profile_of`, from place `at` on), stored from the line `first` on as it says.

    A row ends at the latest where the last row that meets it ends, after an exchange; so far it has numbers, zeros
    behind its own end.
    """
    _solve_within(a, first, n, 1, profile, at)
