"""What a stepper of constrained motion evaluates instead of the field: the parts of the equations of motion.

A problem with constraints carries a second function of the field's signature, ``parts(t, y, parameters, structure,
work, out)``. Three layouts of ``out`` are in use; for the first two ``structure`` begins with (n, m, k): n velocities,
m rows, the last k of them integrable.

`Constrained`: state y = (q, v), v the full body velocity, with m linear rows A v = c and the kinetic energy ½ vᵀM v,

    M v̇ + [Ṁ v − ad_vᵀ(M v)] − D = −G + F + Aᵀ λ,      A v̇ = −β,      β = Ȧ v − ċ

===========  =========  ====================================================================================
block        size       meaning
===========  =========  ====================================================================================
MASS         n·n        M(q), by rows
ROWS         m·n        A(q, t), by rows; the last k rows are the rates of the positions φ (integrable rows)
GRADIENT     n          G, left-trivialised gradient of the potential
FORCE        n          F(t, q, v), all other forces
KINETIC      n          D, left-trivialised gradient of ½ vᵀM(q) v at fixed v
RATE         n          Ṁ v − ad_vᵀ(M v), where Ṁ is the rate of M along v
VALUE        m          c(q, t)
BIAS         m          β = Ȧ v − ċ
POSITION     k          φ(q), zero where the integrable constraints hold
POTENTIAL    1          V(q)
===========  =========  ====================================================================================

`QuasiVelocity`: state y = (q, u) with v = S(q) u, A S = 0 and a constant diagonal metric SᵀM S = diag(μ),

    q̇ = q·(S u)^,      μⱼ u̇ⱼ = gⱼ(q, u) − (SᵀG)ⱼ + fⱼ,      u·g = 0,      H = ½ Σ μⱼ uⱼ² + V

===========  =========  ====================================================================================
block        size       meaning, with r = n − m
===========  =========  ====================================================================================
BASIS        n·r        S, by rows
METRIC       r          μ
GYRO         r          g(q, u), quadratic in u
FORCE        r          f(t, q, u), all other forces, on the basis
GRADIENT     n          G
POTENTIAL    1          V
===========  =========  ====================================================================================

`Lagrangian`: state y = (q, v), L(t, q, v) and forces F that are not in it, on any group, derivatives by q
left-trivialised,

    d/dt π = ad_vᵀ π + φ,      π = ∂L/∂v,      φ = ∂L/∂q + F

===========  =========  ====================================================================================
block        size       meaning; the second derivatives only if ``out`` has room for them
===========  =========  ====================================================================================
PUSH         n          φ
MOMENTUM     n          π
VALUE        1          L
PUSH_Q       n·n        ∂φ/∂q, by rows
PUSH_V       n·n        ∂φ/∂v
MOMENTUM_Q   n·n        ∂π/∂q
MOMENTUM_V   n·n        ∂π/∂v
===========  =========  ====================================================================================

Only the entries that differ from zero need to be written after `clear`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper, st


class Constrained(NamedTuple):
    """Where the blocks of the layout `Constrained` begin; `SIZE` numbers in all."""

    MASS: int
    ROWS: int
    GRADIENT: int
    FORCE: int
    KINETIC: int
    RATE: int
    VALUE: int
    BIAS: int
    POSITION: int
    POTENTIAL: int
    SIZE: int


class QuasiVelocity(NamedTuple):
    """Where the blocks of the layout `QuasiVelocity` begin; `SIZE` numbers in all."""

    BASIS: int
    METRIC: int
    GYRO: int
    FORCE: int
    GRADIENT: int
    POTENTIAL: int
    SIZE: int


class Lagrangian(NamedTuple):
    """Where the blocks of the layout `Lagrangian` begin; `SIZE` numbers in all."""

    PUSH: int
    MOMENTUM: int
    VALUE: int
    PUSH_Q: int
    PUSH_V: int
    MOMENTUM_Q: int
    MOMENTUM_V: int
    SIZE: int


@helper
def constrained(n: Any, m: Any, k: Any) -> Constrained:
    """The layout for n velocities, m rows, the last k of them integrable."""
    g = n * n + m * n
    return Constrained(0, n * n, g, g + n, g + 2 * n, g + 3 * n, g + 4 * n, g + 4 * n + m, g + 4 * n + 2 * m,
                       g + 4 * n + 2 * m + k,
                       g + 4 * n + 2 * m + k + 1)  # fmt: skip


@helper
def quasi_velocity(n: Any, r: Any) -> QuasiVelocity:
    """The layout for n velocities and r = n − m quasi-velocities."""
    g = n * r
    return QuasiVelocity(0, g, g + r, g + 2 * r, g + 3 * r, g + 3 * r + n, g + 3 * r + n + 1)


@helper
def lagrangian(n: Any) -> Lagrangian:
    """The layout for n velocities."""
    g = 2 * n + 1
    return Lagrangian(0, n, 2 * n, g, g + n * n, g + 2 * n * n, g + 3 * n * n, g + 4 * n * n)


@helper
def clear(out: Any) -> None:
    """out <- 0."""
    for i in range(out.shape[0]):
        st(out, i, 0.0)
