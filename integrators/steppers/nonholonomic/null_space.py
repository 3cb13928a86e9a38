r"""The matrix of a node without multipliers: velocities of the distribution and their complement, by reflections of the
rows.

    Aᵀ = Q (U; 0),  Q = H₁ … H_m (Householder),  N the last n − m columns of Q:    A N = 0,  NᵀN = 1

    x = A⁺ s + N w,    (NᵀM N) w = Nᵀ (r − M A⁺ s),    A⁺ s = Q (U⁻ᵀ s; 0)

is the x of [[M, −Aᵀ], [A, 0]] (x; l) = (r; s): Nᵀ takes the multipliers out, so that n − m unknowns are left, and A x =
s holds for every w.  M itself is never inverted.  It may be singular, or hold parts that are light against others, as
long as every admissible motion has energy; A M⁻¹Aᵀ loses as many digits as such masses are apart.  The solution, hence
the trajectory, is that of the equations with multipliers; a step of DLA takes 10–50 % longer this way. Sources: Golub
and Van Loan 2013, section 5.2; Betsch 2005 (null space in discrete equations).

rows of the workspace, from `node.MATRIX` on
    m reflectors of length √2; m rows of Uᵀ; n − m rows of N; n − m rows of the factor of NᵀM N; A⁺ s; w.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import MATRIX, R, S
from liegroup.compile import absolute, kernel, ld, ld2, select, st2
from liegroup.compile.dense import ldl, ldl_solve
from liegroup.compile.scalars import sqrt


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    rows, columns = node.work_shape(problem, options)
    return max(rows, MATRIX + 2 * problem.sizes[0] + 2), columns


@kernel
def _reflect(work: Any, reflector: Any, first: Any, row: Any, n: Any) -> None:
    """x <- x − v (v·x) with v zero before `first`."""
    s = ld2(work, reflector, first) * ld2(work, row, first)
    for i in range(first + 1, n):
        s = s + ld2(work, reflector, i) * ld2(work, row, i)
    for i in range(first, n):
        st2(work, row, i, ld2(work, row, i) - s * ld2(work, reflector, i))


@kernel
def _rotate(work: Any, m: Any, row: Any, n: Any) -> None:
    """x <- Q x."""
    for k in range(m):
        _reflect(work, MATRIX + m - 1 - k, m - 1 - k, row, n)


@kernel
def factor(values: Any, structure: Any, work: Any) -> None:
    """Reflectors, Uᵀ, N and the factor of NᵀM N at the node whose parts are `values`."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    triangle, basis, gram, moved = MATRIX + m, MATRIX + 2 * m, MATRIX + n + m, MATRIX + 2 * n
    for j in range(m):
        for i in range(n):
            st2(work, triangle + j, i, ld(values, at.ROWS + j * n + i))
        for l in range(j):
            _reflect(work, MATRIX + l, l, triangle + j, n)
        a = ld2(work, triangle + j, j)
        square = a * a
        for i in range(j + 1, n):
            x = ld2(work, triangle + j, i)
            square = square + x * x
        length = sqrt(square)
        signed = select(a < 0.0, -length, length)
        k = 1.0 / sqrt(length * (length + absolute(a)))
        st2(work, MATRIX + j, j, k * (a + signed))
        for i in range(j + 1, n):
            st2(work, MATRIX + j, i, k * ld2(work, triangle + j, i))
        st2(work, triangle + j, j, -signed)
    for c in range(n - m):
        for i in range(n):
            st2(work, basis + c, i, 0.0)
        st2(work, basis + c, m + c, 1.0)
        _rotate(work, m, basis + c, n)
        node.mass_times(values, structure, work[basis + c][:n], work[moved][:n])
        for d in range(c + 1):
            st2(work, gram + c, d, _product(work, basis + d, moved, n))
    ldl(work, gram, n - m, 0.0)


@kernel
def _product(work: Any, a: Any, b: Any, n: Any) -> Any:
    """The scalar product of two rows."""
    s = ld2(work, a, 0) * ld2(work, b, 0)
    for i in range(1, n):
        s = s + ld2(work, a, i) * ld2(work, b, i)
    return s


@kernel
def solve_node(values: Any, structure: Any, work: Any) -> None:
    """R <- x with A x = S and Nᵀ(M x − R) = 0; S <- 0, there are no multipliers."""
    n, m = structure[0], structure[1]
    triangle, basis, gram, particular, reduced = (
        MATRIX + m,
        MATRIX + 2 * m,
        MATRIX + n + m,
        MATRIX + 2 * n,
        MATRIX + 2 * n + 1,
    )
    for j in range(m):
        s = ld2(work, S, j)
        for l in range(j):
            s = s - ld2(work, triangle + j, l) * ld2(work, particular, l)
        st2(work, particular, j, s / ld2(work, triangle + j, j))
        st2(work, S, j, 0.0)
    for i in range(m, n):
        st2(work, particular, i, 0.0)
    _rotate(work, m, particular, n)
    node.mass_times(values, structure, work[particular][:n], work[reduced][:n])
    for i in range(n):
        st2(work, R, i, ld2(work, R, i) - ld2(work, reduced, i))
    for c in range(n - m):
        st2(work, reduced, c, _product(work, basis + c, R, n))
    ldl_solve(work, gram, n - m, work, reduced)
    for i in range(n):
        s = ld2(work, particular, i)
        for c in range(n - m):
            s = s + ld2(work, basis + c, i) * ld2(work, reduced, c)
        st2(work, R, i, s)
