"""Linear systems without any symmetry, in the rows of a workspace: Gauss elimination with the largest pivots, each lane
with its own.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import absolute, helper, kernel, ld2, select, st2
from liegroup.compile.dense import full_last, last_in_column


def _solution(last: Any) -> Any:
    """Of a matrix whose columns, and whose rows, end before the place ``last(profile, at, n, k)``."""

    @kernel
    def solve(a: Any, first: Any, n: Any, m: Any, profile: Any, at: Any) -> None:
        for k in range(n):
            end = last(profile, at, n, k)
            reach = last(profile, at, n, end - 1)  # where a row from below may end
            for i in range(k + 1, end):
                exchange(a, first + k, first + i, k, reach, n, n + m)
            pivot = 1.0 / ld2(a, first + k, k)
            for i in range(k + 1, end):
                factor = pivot * ld2(a, first + i, k)
                for j in range(k + 1, reach):
                    st2(a, first + i, j, ld2(a, first + i, j) - factor * ld2(a, first + k, j))
                for j in range(n, n + m):
                    st2(a, first + i, j, ld2(a, first + i, j) - factor * ld2(a, first + k, j))
        for k in range(n - 1, -1, -1):
            pivot, reach = 1.0 / ld2(a, first + k, k), last(profile, at, n, last(profile, at, n, k) - 1)
            for j in range(n, n + m):
                x = ld2(a, first + k, j)
                for i in range(k + 1, reach):
                    x = x - ld2(a, first + k, i) * ld2(a, first + i, j)
                st2(a, first + k, j, pivot * x)

    return solve


_solve_full, _solve_within = _solution(full_last), _solution(last_in_column)


@kernel
def solve_rows(a: Any, first: Any, n: Any, m: Any) -> None:
    """Columns n … n + m − 1 of the n rows from `first` <- A⁻¹ times these columns, A the n columns before; A is lost.

    A singular matrix gives infinite or undefined numbers, which the caller's checks find.
    """
    _solve_full(a, first, n, m, n, 0)


@kernel
def solve_rows_within(a: Any, first: Any, n: Any, m: Any, profile: Any, at: Any) -> None:
    """The same of a matrix with the profile of a symmetric one (`liegroup.compile.dense.profile_of`, from place `at`
    on).

    A row ends at the latest where the last row that meets it ends, after an exchange; so far it has numbers, zeros
    behind its own end.
    """
    _solve_within(a, first, n, m, profile, at)


@helper
def exchange(a: Any, k: Any, i: Any, column: Any, reach: Any, n: Any, end: Any) -> None:
    """Exchange rows k and i, from `column` up to `reach` and from n up to `end`, where row i has the larger entry in
    that column.
    """
    larger = absolute(ld2(a, i, column)) > absolute(ld2(a, k, column))
    for j in range(column, reach):
        exchange_where(larger, a, k, i, j)
    for j in range(n, end):
        exchange_where(larger, a, k, i, j)


@helper
def exchange_where(larger: Any, a: Any, k: Any, i: Any, j: Any) -> None:
    """Exchange the entries of two rows in column j."""
    x, z = ld2(a, k, j), ld2(a, i, j)
    st2(a, k, j, select(larger, z, x))
    st2(a, i, j, select(larger, x, z))
