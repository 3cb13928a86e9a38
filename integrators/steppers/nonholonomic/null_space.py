r"""The matrix of a node without multipliers, on a basis of the distribution: dependent velocities by the rows.

    T A = E + Z  (Gauss–Jordan elimination),  e_k the unit vector of the pivot of row k,  Z_k free of pivots
    N = F − Σ_k e_k Z_k,  F = 1 without the pivots:    A N = 0

    x = x_p + N w,    (NᵀM N) w = Nᵀ (r − M x_p),    x_p = Σ_k e_k (T s)_k

is the x of [[M, −Aᵀ], [A, 0]] (x; l) = (r; s): Nᵀ takes the multipliers out, so that n − m unknowns are left, and A x =
s holds for every w.  M itself is never inverted.  It may be singular, or hold parts that are light against others, as
long as every admissible motion has energy; A M⁻¹Aᵀ loses as many digits as such masses are apart.  Elimination scales
with its columns: metres beside turns cost no digits, whatever the unit (those of an orthonormal basis did).  The
solution, hence the trajectory, is that of the equations with multipliers; a step of DLA takes 10–60 % longer this way.
The pivot of a row is its largest entry, each lane's its own: it is marked, not moved, so that nothing branches; pivots
remain among the n unknowns with w = 0.  Sources: Wehage and Haug 1982 (dependent and independent coordinates); Betsch
2005 (null space in discrete equations).

rows of the workspace, from `node.MATRIX` on
    m rows of Z; m rows (e_k, T_k); F; a column of N, later x_p; M times it, later w; n rows of the factor of NᵀM N with
    1 for each pivot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.matrices import subtract_row
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import MATRIX, R, S
from liegroup.compile import absolute, helper, joined, kernel, ld, ld2, select, st2
from liegroup.compile.dense import ldl, ldl_solve

LOOPS = "short"


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    rows, columns = node.work_shape(problem, options)
    return rows + 3, columns  # e_k and T_k fit beside each other: the parts are longer than n + m


@helper
def _product(work: Any, a: Any, b: Any, n: Any) -> Any:
    """The scalar product of the first n numbers of two rows."""
    s = ld2(work, a, 0) * ld2(work, b, 0)
    for i in range(1, n):
        s = s + ld2(work, a, i) * ld2(work, b, i)
    return s


@helper
def _subtract(work: Any, row: Any, share: Any, other: Any, first: Any, last: Any) -> None:
    """row <- row − share other, from number `first` up to `last`."""
    columns = work.shape[1]
    subtract_row(joined(work), row * columns + first, share, other * columns + first, last - first)


@kernel
def _eliminate(values: Any, rows_at: Any, n: Any, m: Any, work: Any) -> None:
    """Z, (e, T) and F of the rows A."""
    free = MATRIX + 2 * m
    zero = 0.0 * ld(values, rows_at)
    for i in range(n):
        st2(work, free, i, zero + 1.0)
    for j in range(m):
        for i in range(n):
            st2(work, MATRIX + j, i, ld(values, rows_at + j * n + i))
        for l in range(m):
            st2(work, MATRIX + m + j, n + l, zero)
        st2(work, MATRIX + m + j, n + j, zero + 1.0)
    for j in range(m):
        row, pivot = MATRIX + j, MATRIX + m + j
        largest, place, entry = zero, zero, zero
        for i in range(n):
            x = ld2(work, row, i)
            size = absolute(x) * ld2(work, free, i)
            larger = size > largest
            place, entry = select(larger, zero + i, place), select(larger, x, entry)
            largest = select(larger, size, largest)
        for i in range(n):
            here = select(place == zero + i, zero + 1.0, zero)
            st2(work, pivot, i, here)
            st2(work, free, i, ld2(work, free, i) - here)
            st2(work, row, i, ld2(work, row, i) / entry)
        for l in range(m):
            st2(work, pivot, n + l, ld2(work, pivot, n + l) / entry)
        for l in range(m):
            if l != j:
                share = _product(work, MATRIX + l, pivot, n)
                _subtract(work, MATRIX + l, share, row, 0, n)
                _subtract(work, MATRIX + m + l, share, pivot, n, n + m)
    for j in range(m):
        for i in range(n):
            st2(work, MATRIX + j, i, ld2(work, MATRIX + j, i) * ld2(work, free, i))


@kernel
def factor(values: Any, structure: Any, work: Any) -> None:
    """Z, (e, T), F and the factor of NᵀM N at the node whose parts are `values`."""
    n, m = structure[0], structure[1]
    _eliminate(values, constrained(n, m, structure[2]).ROWS, n, m, work)
    free, column, moved = MATRIX + 2 * m, MATRIX + 2 * m + 1, MATRIX + 2 * m + 2
    gram = MATRIX + 2 * m + 3
    for c in range(n):
        for i in range(n):
            st2(work, column, i, 0.0)
        st2(work, column, c, ld2(work, free, c))
        for k in range(m):
            _subtract(work, column, ld2(work, MATRIX + k, c), MATRIX + m + k, 0, n)
        node.mass_times(values, structure, work[column][:n], work[moved][:n])
        _onto_basis(work, moved, n, m)
        for d in range(c + 1):
            st2(work, gram + c, d, ld2(work, moved, d))
        st2(work, gram + c, c, ld2(work, moved, c) + (1.0 - ld2(work, free, c)))
    ldl(work, gram, n, 0.0)


@helper
def _onto_basis(work: Any, row: Any, n: Any, m: Any) -> None:
    """x <- Nᵀ x."""
    for k in range(m):
        _subtract(work, row, _product(work, MATRIX + m + k, row, n), MATRIX + k, 0, n)
    for i in range(n):
        st2(work, row, i, ld2(work, row, i) * ld2(work, MATRIX + 2 * m, i))


@kernel
def solve_node(values: Any, structure: Any, work: Any) -> None:
    """R <- x with A x = S and Nᵀ(M x − R) = 0; S <- 0, there are no multipliers."""
    n, m = structure[0], structure[1]
    particular, reduced, gram = MATRIX + 2 * m + 1, MATRIX + 2 * m + 2, MATRIX + 2 * m + 3
    for i in range(n):
        st2(work, particular, i, 0.0)
    for k in range(m):
        s = ld2(work, MATRIX + m + k, n) * ld2(work, S, 0)
        for l in range(1, m):
            s = s + ld2(work, MATRIX + m + k, n + l) * ld2(work, S, l)
        _subtract(work, particular, -s, MATRIX + m + k, 0, n)
    for j in range(m):
        st2(work, S, j, 0.0)
    node.mass_times(values, structure, work[particular][:n], work[reduced][:n])
    for i in range(n):
        st2(work, reduced, i, ld2(work, R, i) - ld2(work, reduced, i))
    _onto_basis(work, reduced, n, m)
    ldl_solve(work, gram, n, work, reduced)
    for i in range(n):
        st2(work, R, i, ld2(work, particular, i) + ld2(work, reduced, i))
    for k in range(m):
        _subtract(work, R, _product(work, MATRIX + k, reduced, n), MATRIX + m + k, 0, n)
