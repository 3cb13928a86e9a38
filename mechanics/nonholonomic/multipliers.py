"""Lagrange–d'Alembert equations with multipliers: accelerations and constraint forces at one state.

    M v̇ + r − D = −G + F + Aᵀ λ,    A v̇ = −β,    r = Ṁ v − ad_vᵀ(M v)

With Y = M⁻¹Aᵀ and the free acceleration x = M⁻¹(−G + F + D − r),

    (A Y) λ = −β − A x,    v̇ = x + Y λ.

λ is the generalised constraint force: in newtons where the row is a velocity of a point, in newton metres where it is
an angular velocity.  A Y = A M⁻¹Aᵀ is singular where rows depend on each other; v̇ and λ are then not finite.
"""

from __future__ import annotations

from typing import Any

from integrators.problem.parts import constrained
from liegroup.compile import helper, kernel, ld, ld2, st, st2
from liegroup.compile.dense import ldl, ldl_solve


def work_rows(n: int, m: int) -> int:
    """Rows of the workspace of `lagrange_dalembert`, as wide as the layout of the parts."""
    return n + 2 * m + 3


@helper
def _respond(values: Any, at: Any, n: Any, m: Any, work: Any) -> None:
    """Of the parts: factors of M from row 1 of `work` on, then Y, then factors of A Y."""
    mass, response, delassus = 1, 1 + n, 1 + n + m
    for i in range(n):
        for j in range(i + 1):
            st2(work, mass + i, j, ld(values, at.MASS + i * n + j))
        for j in range(m):
            st2(work, response + j, i, ld(values, at.ROWS + j * n + i))
    ldl(work, mass, n, 0.0)
    for j in range(m):
        ldl_solve(work, mass, n, work, response + j)
    for j in range(m):
        for l in range(j + 1):
            st2(work, delassus + j, l, row_times(values, at.ROWS + j * n, work, response + l, n))
    ldl(work, delassus, m, 0.0)


@kernel
def lagrange_dalembert(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """Leaves v̇ in the returned row of `work` and λ in the row after it; the parts stay in row 0.

    Rows beyond `work_rows` are the scratch of `parts`.
    """
    n, m, k = structure[0], structure[1], structure[2]
    at = constrained(n, m, k)
    mass, response, delassus, x = 1, 1 + n, 1 + n + m, 1 + n + 2 * m
    values = work[0][: at.SIZE]
    parts(t, y, parameters, structure, work[x + 2 :], values)
    for i in range(n):
        force = ld(values, at.FORCE + i) - ld(values, at.GRADIENT + i)
        st2(work, x, i, force + ld(values, at.KINETIC + i) - ld(values, at.RATE + i))
    _respond(values, at, n, m, work)
    ldl_solve(work, mass, n, work, x)
    for j in range(m):
        st2(work, x + 1, j, -ld(values, at.BIAS + j) - row_times(values, at.ROWS + j * n, work, x, n))
    ldl_solve(work, delassus, m, work, x + 1)
    for i in range(n):
        s = ld2(work, x, i)
        for j in range(m):
            s = s + ld2(work, response + j, i) * ld2(work, x + 1, j)
        st2(work, x, i, s)
    return x


@helper
def row_times(values: Any, start: Any, work: Any, row: Any, n: Any) -> Any:
    """Σᵢ values[start + i] work[row, i]."""
    s = ld(values, start) * ld2(work, row, 0)
    for i in range(1, n):
        s = s + ld(values, start + i) * ld2(work, row, i)
    return s


@kernel
def constrained_field(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, v̇) of a state (q, v): the field of the equations with multipliers, for any solver of the engine.

    Keeps A v constant, so that round-off and truncation errors of a solver accumulate in A v.
    """
    n = structure[0]
    row = lagrange_dalembert(parts, t, y, parameters, structure, work)
    start = y.shape[0] - n
    for i in range(n):
        st(out, i, ld(y, start + i))
        st(out, n + i, ld2(work, row, i))


@kernel
def constrained_energy(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """½ vᵀM v + V of a state (q, v)."""
    n = structure[0]
    at = constrained(n, structure[1], structure[2])
    start = y.shape[0] - n
    values = work[0][: at.SIZE]
    parts(t, y, parameters, structure, work[1:], values)
    energy = ld(values, at.POTENTIAL)
    for i in range(n):
        for j in range(n):
            energy = energy + 0.5 * ld(values, at.MASS + i * n + j) * ld(y, start + i) * ld(y, start + j)
    return energy


@kernel
def admissible_state(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (q, v) of a state (q, u): v = u − Y (A Y)⁻¹ (A u − c), the admissible velocity nearest to u in the metric.

    Smooth wherever the rows are independent, as no choice of n − m independent velocities is.
    """
    n, m, k = structure[0], structure[1], structure[2]
    at = constrained(n, m, k)
    response, delassus, x = 1 + n, 1 + n + m, 1 + n + 2 * m
    start = y.shape[0] - n
    values = work[0][: at.SIZE]
    parts(t, y, parameters, structure, work[x + 2 :], values)
    _respond(values, at, n, m, work)
    for j in range(m):
        s = -ld(values, at.VALUE + j)
        for i in range(n):
            s = s + ld(values, at.ROWS + j * n + i) * ld(y, start + i)
        st2(work, x, j, s)
    ldl_solve(work, delassus, m, work, x)
    for i in range(start):
        st(out, i, ld(y, i))
    for i in range(n):
        v = ld(y, start + i)
        for j in range(m):
            v = v - ld2(work, response + j, i) * ld2(work, x, j)
        st(out, start + i, v)


@kernel
def admissible_field(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, v̇) of a state (q, u) with v as in `admissible_state`: at every stage of a method v satisfies the rows.

    Only what a method's errors add to u − v accumulates; a projection after each step takes it away.
    """
    state = work[0][: y.shape[0]]
    admissible_state(parts, t, y, parameters, structure, work[1:], state)
    constrained_field(parts, t, state, parameters, structure, work[1:], out)


@kernel
def admissible_energy(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """½ vᵀM v + V of a state (q, u) with v as in `admissible_state`."""
    state = work[0][: y.shape[0]]
    admissible_state(parts, t, y, parameters, structure, work[1:], state)
    return constrained_energy(parts, t, state, parameters, structure, work[1:])
