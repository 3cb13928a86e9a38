"""Linear systems without any symmetry, in the rows of a workspace: Gauss elimination with the largest pivots, each lane
with its own.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import absolute, helper, kernel, ld2, select, st2


@kernel
def solve_rows(a: Any, first: Any, n: Any, m: Any) -> None:
    """Columns n … n + m − 1 of the n rows from `first` <- A⁻¹ times these columns, A the n columns before; A is lost.

    A singular matrix gives infinite or undefined numbers, which the caller's checks find.
    """
    for k in range(n):
        for i in range(k + 1, n):
            exchange(a, first + k, first + i, k, n + m)
        pivot = 1.0 / ld2(a, first + k, k)
        for i in range(k + 1, n):
            factor = pivot * ld2(a, first + i, k)
            for j in range(k + 1, n + m):
                st2(a, first + i, j, ld2(a, first + i, j) - factor * ld2(a, first + k, j))
    for k in range(n - 1, -1, -1):
        pivot = 1.0 / ld2(a, first + k, k)
        for j in range(n, n + m):
            x = ld2(a, first + k, j)
            for i in range(k + 1, n):
                x = x - ld2(a, first + k, i) * ld2(a, first + i, j)
            st2(a, first + k, j, pivot * x)


@helper
def exchange(a: Any, k: Any, i: Any, column: Any, end: Any) -> None:
    """Exchange rows k and i from `column` on, where row i has the larger entry in it."""
    larger = absolute(ld2(a, i, column)) > absolute(ld2(a, k, column))
    for j in range(column, end):
        x, z = ld2(a, k, j), ld2(a, i, j)
        st2(a, k, j, select(larger, z, x))
        st2(a, i, j, select(larger, x, z))
