"""Equations of motion in quasi-velocities of a constant diagonal metric: v = S(q) u with A S = 0 and SᵀM S = diag(μ).

    q̇ = q·(S u)^,    μⱼ u̇ⱼ = gⱼ(q, u) − (SᵀG)ⱼ + fⱼ,    u·g = 0,    H = ½ Σ μⱼ uⱼ² + V

The constraints hold identically and the kinetic energy is a sum of squares (Hamel's equations in an orthogonal frame).
"""

from __future__ import annotations

from typing import Any

from integrators.problem.parts import quasi_velocity
from liegroup.compile import kernel, ld, st


@kernel
def quasi_velocity_field(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(S u, u̇) of a state (q, u)."""
    n, r = structure[0], structure[0] - structure[1]
    at = quasi_velocity(n, r)
    start = y.shape[0] - r
    values = work[0][: at.SIZE]
    parts(t, y, parameters, structure, work[1:], values)
    for i in range(n):
        s = ld(values, at.BASIS + i * r) * ld(y, start)
        for j in range(1, r):
            s = s + ld(values, at.BASIS + i * r + j) * ld(y, start + j)
        st(out, i, s)
    for j in range(r):
        s = ld(values, at.GYRO + j) + ld(values, at.FORCE + j)
        for i in range(n):
            s = s - ld(values, at.BASIS + i * r + j) * ld(values, at.GRADIENT + i)
        st(out, n + j, s / ld(values, at.METRIC + j))


@kernel
def quasi_velocity_energy(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """½ Σ μⱼ uⱼ² + V."""
    n, r = structure[0], structure[0] - structure[1]
    at = quasi_velocity(n, r)
    values = work[0][: at.SIZE]
    parts(t, y, parameters, structure, work[1:], values)
    s = ld(values, at.POTENTIAL)
    for j in range(r):
        u = ld(y, y.shape[0] - r + j)
        s = s + 0.5 * ld(values, at.METRIC + j) * u * u
    return s
