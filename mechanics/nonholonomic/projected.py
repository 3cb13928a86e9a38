"""Equations of motion in any smooth quasi-velocities, v = S(q) u with A S = 0, by projection (Kane's equations).

    (SᵀM S) u̇ = Sᵀ (−G + F + D − r − M Ṡ u),    q̇ = q·(S u)^

from the parts in the layout `Constrained` and a frame that writes S (n·r numbers, by rows) and Ṡ u (n numbers).
"""

from __future__ import annotations

from typing import Any

from integrators.problem.parts import constrained
from liegroup.compile import kernel, ld, ld2, st, st2
from liegroup.compile.dense import ldl, ldl_solve

FRAME_ROWS = 4
"""Rows of workspace besides the r rows of SᵀM S."""


@kernel
def lift(parts: Any, frame: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Row 0: the parts at (q, S u); row 1: the frame; row 2: (q, S u)."""
    n, r = structure[0], structure[0] - structure[1]
    n_q = y.shape[0] - r
    basis, state = work[1], work[2][: n_q + n]
    frame(t, y, parameters, structure, work[FRAME_ROWS + r :], basis)
    for i in range(n_q):
        st(state, i, ld(y, i))
    for i in range(n):
        s = ld(basis, i * r) * ld(y, n_q)
        for j in range(1, r):
            s = s + ld(basis, i * r + j) * ld(y, n_q + j)
        st(state, n_q + i, s)
    at = constrained(n, structure[1], structure[2])
    parts(t, state, parameters, structure, work[FRAME_ROWS + r :], work[0][: at.SIZE])


@kernel
def projected_field(
    parts: Any, frame: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any
) -> None:
    """(S u, u̇) of a state (q, u)."""
    n, r = structure[0], structure[0] - structure[1]
    n_q = y.shape[0] - r
    at = constrained(n, structure[1], structure[2])
    lift(parts, frame, t, y, parameters, structure, work)
    values, basis, state, right, gram = work[0], work[1], work[2], 3, FRAME_ROWS
    for j in range(r):
        st2(work, right, j, 0.0)
        for l in range(j + 1):
            st2(work, gram + j, l, 0.0)
    for i in range(n):
        force = (
            ld(values, at.FORCE + i)
            - ld(values, at.GRADIENT + i)
            + ld(values, at.KINETIC + i)
            - ld(values, at.RATE + i)
        )
        for k in range(n):
            mass = ld(values, at.MASS + i * n + k)
            force = force - mass * ld(basis, n * r + k)
            for j in range(r):
                for l in range(j + 1):
                    st2(work, gram + j, l, ld2(work, gram + j, l) + ld(basis, i * r + j) * mass * ld(basis, k * r + l))
        for j in range(r):
            st2(work, right, j, ld2(work, right, j) + ld(basis, i * r + j) * force)
    ldl(work, gram, r, 0.0)
    ldl_solve(work, gram, r, work, right)
    for i in range(n):
        st(out, i, ld(state, n_q + i))
    for j in range(r):
        st(out, n + j, ld2(work, right, j))


@kernel
def projected_energy(parts: Any, frame: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """½ uᵀSᵀM S u + V."""
    n, r = structure[0], structure[0] - structure[1]
    n_q = y.shape[0] - r
    at = constrained(n, structure[1], structure[2])
    lift(parts, frame, t, y, parameters, structure, work)
    energy = ld2(work, 0, at.POTENTIAL)
    for i in range(n):
        for k in range(n):
            energy = energy + 0.5 * ld2(work, 0, at.MASS + i * n + k) * ld2(work, 2, n_q + i) * ld2(work, 2, n_q + k)
    return energy
