"""The linear system of constrained motion, by elimination of the accelerations, in the rows of a workspace.

    [[M, −Aᵀ], [A, E]] (x; l) = (r; s)      by   Y = M⁻¹Aᵀ,   (A Y + E) l = s − A M⁻¹ r,   x = M⁻¹ r + Y l

M (n, n) and A (m, n) are given by rows, one after another in an array.  From row `first` on, a workspace of width
max(n, m) keeps n rows of factors of M, m of Y, m of factors of A Y + E.  A Y = A M⁻¹Aᵀ is singular where rows of A
depend on each other: with E = 0 the solution is then not finite.  E = diag(ε dⱼ) is as soft in any unit: dⱼ are the
diagonal of A Y, or ε times its greatest number where that is more (rows that vanish).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, st2
from liegroup.compile.dense import ldl, ldl_solve
from liegroup.compile.scalars import maximum


@helper
def factor_saddle_point(values: Any, mass: Any, rows: Any, work: Any, first: Any, n: Any, m: Any) -> None:
    """Factors of M (from `mass` on in `values`) and A (from `rows` on), with E = 0, from row `first` on."""
    _eliminate(values, mass, rows, work, first, n, m)
    ldl(work, first + n + m, m, 0.0)


@helper
def factor_soft_saddle_point(
    values: Any, mass: Any, rows: Any, softness: Any, work: Any, first: Any, n: Any, m: Any
) -> None:  # fmt: skip
    """The same with ε, the softness."""
    delassus = first + n + m
    _eliminate(values, mass, rows, work, first, n, m)
    greatest = 0.0 * ld(values, mass)
    for j in range(m):
        greatest = maximum(greatest, ld2(work, delassus + j, j))
    for j in range(m):
        d = ld2(work, delassus + j, j)
        st2(work, delassus + j, j, d + softness * maximum(d, softness * greatest))
    ldl(work, delassus, m, 0.0)


@helper
def _eliminate(values: Any, mass: Any, rows: Any, work: Any, first: Any, n: Any, m: Any) -> None:
    """Factors of M, Y and A Y."""
    response, delassus = first + n, first + n + m
    for i in range(n):
        for j in range(i + 1):
            st2(work, first + i, j, ld(values, mass + i * n + j))
        for j in range(m):
            st2(work, response + j, i, ld(values, rows + j * n + i))
    ldl(work, first, n, 0.0)
    for j in range(m):
        ldl_solve(work, first, n, work, response + j)
    for j in range(m):
        for l in range(j + 1):
            st2(work, delassus + j, l, times_row(values, rows + j * n, work, response + l, n))


@helper
def solve_saddle_point(values: Any, rows: Any, work: Any, first: Any, n: Any, m: Any, r: Any, s: Any) -> None:
    """Rows (r, s) of the workspace <- (x, l)."""
    response, delassus = first + n, first + n + m
    ldl_solve(work, first, n, work, r)
    for j in range(m):
        st2(work, s, j, ld2(work, s, j) - times_row(values, rows + j * n, work, r, n))
    ldl_solve(work, delassus, m, work, s)
    for i in range(n):
        x = ld2(work, r, i)
        for j in range(m):
            x = x + ld2(work, response + j, i) * ld2(work, s, j)
        st2(work, r, i, x)


@helper
def times_row(values: Any, start: Any, work: Any, row: Any, n: Any) -> Any:
    """Σᵢ values[start + i] work[row, i]."""
    s = ld(values, start) * ld2(work, row, 0)
    for i in range(1, n):
        s = s + ld(values, start + i) * ld2(work, row, i)
    return s
