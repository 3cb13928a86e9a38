"""Free flight of a Lie group variational integrator, straight through, where every factor can be solved by itself.

On SO(3), with c = h ω the turn of the step and p the momentum,

    Cayley, Hamilton–Pontryagin      𝕀 c + ½ c × 𝕀 c + ¼ (c·𝕀 c) c = h p
    Moser–Veselov                    𝕀 c + ½ c × 𝕀 c = (1 + |c|²/4) h p        (Cayley)
    exp                              dexp_right(c)⁻ᵀ 𝕀 c = h p

by Newton's method with the exact derivative, kept once corrections are small, from turns extrapolated over past steps;
on SO(2) and Rⁿ c = h K p.
Sources: Bou-Rabee and Marsden 2009; Lee, Leok and McClamroch 2007; Moser and Veselov 1991.
"""

from __future__ import annotations

import math
from typing import Any

from integrators.arithmetic.compensated import increase, increase3, renormalise
from integrators.layout import COMPENSATION, HISTORY, ITERATIONS, OWN_OPTIONS, OWN_ROWS, STEPS, TAU
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from integrators.steppers.common import RENORMALISE_EVERY
from integrators.steppers.splitting import vector
from liegroup.compile import any_, helper, kernel, ld, magnitude, select, st
from liegroup.compile.scalars import maximum
from liegroup.formulas import so3
from liegroup.formulas.facts import ANGULAR
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from liegroup.table import EXP, KIND, N_V, Q_OFFSET, V_OFFSET

FORM = OWN_OPTIONS
HP, MOSER_VESELOV, TRUNCATED1, TRUNCATED2 = range(4)
REST, FIELD, TURN, MOMENTUM, CHANGE, DEFECT, COLUMN, SCRATCH, NEXT, PASTS = range(OWN_ROWS, OWN_ROWS + 10)
REMEMBERED = 8
"""Past steps from which the turns are extrapolated."""
FEW = 3
"""Past steps from which they are where they are not resolved."""
RESOLVED = 0.01
"""Largest last difference of turns, relative to them, that are resolved."""
ROWS = PASTS + REMEMBERED - OWN_ROWS
LIMIT = 30
SMALL = 1e-17
"""Error of a turn, relative to it, that is below rounding also where the moments of inertia differ much."""
REUSED = 1e-5
"""Largest correction of a turn, relative to it, after which the derivative is kept: as a rule for one more."""
_PI_SQUARED = math.pi * math.pi


@helper
def block(coefficients: Any, at: Any, m: Any, j: Any) -> Any:
    """The 3 × 3 block of an (m, m) matrix at (j, j), by rows."""
    i = at + j * m + j
    return (
        coefficients[i], coefficients[i + 1], coefficients[i + 2],
        coefficients[i + m], coefficients[i + m + 1], coefficients[i + m + 2],
        coefficients[i + 2 * m], coefficients[i + 2 * m + 1], coefficients[i + 2 * m + 2],
    )  # fmt: skip


@helper
def apply(A: Any, x: Any) -> Any:
    """A x."""
    return (
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[3] * x[0] + A[4] * x[1] + A[5] * x[2],
        A[6] * x[0] + A[7] * x[1] + A[8] * x[2],
    )


@helper
def inverted(A: Any) -> Any:
    """A⁻¹, by rows: cross products of the columns of A over its determinant."""
    x, y, z = (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])
    u, v, w = cross(y, z), cross(z, x), cross(x, y)
    k = 1.0 / dot(x, u)
    return scale(k, u) + scale(k, v) + scale(k, w)


@helper
def rational(c: Any, mu: Any, J: Any) -> Any:
    """Derivative of 𝕀 c + ½ c × 𝕀 c: 𝕀 + ½ (c̃ 𝕀 − μ̃)."""
    x, y, z = 0.5 * c[0], 0.5 * c[1], 0.5 * c[2]
    u, v, w = 0.5 * mu[0], 0.5 * mu[1], 0.5 * mu[2]
    return (
        J[0] + (y * J[6] - z * J[3]), J[1] + (y * J[7] - z * J[4]) + w, J[2] + (y * J[8] - z * J[5]) - v,
        J[3] + (z * J[0] - x * J[6]) - w, J[4] + (z * J[1] - x * J[7]), J[5] + (z * J[2] - x * J[8]) + u,
        J[6] + (x * J[3] - y * J[0]) + v, J[7] + (x * J[4] - y * J[1]) - u, J[8] + (x * J[5] - y * J[2]),
    )  # fmt: skip


@helper
def with_outer(A: Any, k: Any, a: Any, b: Any) -> Any:
    """A + k E + a bᵀ."""
    return (
        A[0] + k + a[0] * b[0], A[1] + a[0] * b[1], A[2] + a[0] * b[2],
        A[3] + a[1] * b[0], A[4] + k + a[1] * b[1], A[5] + a[1] * b[2],
        A[6] + a[2] * b[0], A[7] + a[2] * b[1], A[8] + k + a[2] * b[2],
    )  # fmt: skip


@helper
def along(c: Any, mu: Any, J: Any, unit: Any, column: Any) -> Any:
    """Derivative of dexp_right(c)⁻ᵀ 𝕀 c along a unit vector."""
    return subtract(so3.dexpinv_right_transpose(c, column), so3.dexpinv_left_derivative(scale(-1.0, c), mu, unit))


@helper
def residual(form: Any, tau: Any, c: Any, mu: Any, p: Any) -> Any:
    """The equation's left side less its right; μ = 𝕀 c, p = h p̂."""
    if tau == EXP:
        return subtract(so3.dexpinv_right_transpose(c, mu), p)
    r = add(mu, scale(0.5, cross(c, mu)))
    if form == MOSER_VESELOV:
        return subtract(r, scale(1.0 + 0.25 * dot(c, c), p))
    return subtract(add(r, scale(0.25 * dot(c, mu), c)), p)


@helper
def derivative(form: Any, tau: Any, c: Any, mu: Any, J: Any, p: Any) -> Any:
    """The derivative of the residual."""
    if tau == EXP:
        x = along(c, mu, J, (1.0, 0.0, 0.0), (J[0], J[3], J[6]))
        y = along(c, mu, J, (0.0, 1.0, 0.0), (J[1], J[4], J[7]))
        z = along(c, mu, J, (0.0, 0.0, 1.0), (J[2], J[5], J[8]))
        return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]
    A = rational(c, mu, J)
    if form == MOSER_VESELOV:
        return with_outer(A, 0.0, scale(-0.5, p), c)
    return with_outer(A, 0.25 * dot(c, mu), scale(0.5, c), mu)


@helper
def biggest(x: Any) -> Any:
    """max |xₖ|."""
    return maximum(magnitude(x[0]), maximum(magnitude(x[1]), magnitude(x[2])))


@helper
def kept(going: Any, new: Any, old: Any) -> Any:
    """The new vector in the lanes that still iterate."""
    return select(going > 0.0, new[0], old[0]), select(going > 0.0, new[1], old[1]), select(going > 0.0, new[2], old[2])


@helper
def turn(form: Any, tau: Any, J: Any, p: Any, c: Any, counters: Any) -> Any:
    """The turn of one SO(3) factor, from the guess c; 0 in the lanes that have converged.

    After a small correction the derivative is used once more.  What an iteration leaves is about its correction times
    the way gone since the derivative was formed: it ends where that is below rounding.
    """
    zero = 0.0 * p[0]
    going, fresh, way = zero + 1.0, zero + 1.0, zero
    x, y, z = (zero, zero, zero), (zero, zero, zero), (zero, zero, zero)
    for _ in range(LIMIT):
        mu = apply(J, c)
        if any_(fresh > 0.0):
            B = inverted(derivative(form, tau, c, mu, J, p))
            x, y, z = kept(fresh, B[:3], x), kept(fresh, B[3:6], y), kept(fresh, B[6:], z)
            way = select(fresh > 0.0, zero, way)
        r = residual(form, tau, c, mu, p)
        d = (dot(x, r), dot(y, r), dot(z, r))
        c = kept(going, subtract(c, d), c)
        counters[ITERATIONS] += 1
        change, size = biggest(d), biggest(c)
        way = way + change
        going = select(change * way <= SMALL * size, zero, going)
        fresh = select(change > REUSED * size, going, zero)
        if not any_(going > 0.0):
            break
    return c, going


@helper
def guess(h: Any, K: Any, p: Any, known: Any, work: Any, j: Any) -> Any:
    """The turn as `remember` has extrapolated it from `known` past steps, or h K p."""
    return scale(h, apply(K, p)) if known == 0 else vector(work[NEXT], j)


@helper
def remember(known: Any, work: Any, j: Any, c: Any) -> None:
    """Add a turn to the past: ∇ᵏc <- c − Σ ∇ⁱc of the step before over i < k.

    The next turn is the sum of them all, or, where the last is not small, of the first few: what steps do not resolve
    would grow by extrapolation.
    """
    before = scale(0.0, c)
    total, few, last = before, before, c
    for k in range(known):
        old, last = vector(work[PASTS + k], j), subtract(c, before)
        put(work[PASTS + k], j, last)
        if k < FEW:
            few = add(few, last)
        total, before = add(total, before), add(before, old)
    resolved = biggest(last) <= RESOLVED * biggest(c)
    many = subtract(scale(1.0 * known, c), total)
    going = select(resolved, 1.0 + 0.0 * c[0], 0.0 * c[0])
    put(work[NEXT], j, kept(going, many, few))


@helper
def put(a: Any, i: Any, x: Any) -> None:
    """Write three numbers."""
    for k in range(3):
        st(a, i + k, x[k])


@kernel
def fly_factors(
    h: Any, y: Any, low: Any, group: Any, coefficients: Any, options: Any, m: Any, work: Any, counters: Any
) -> int:
    """Free motion over the time h from the momentum in `MOMENTUM`; its increment is added to `CHANGE`."""
    form, tau, p, change = options[FORM], options[TAU], work[MOMENTUM], work[CHANGE]
    known, compensated = min(counters[HISTORY], REMEMBERED), options[COMPENSATION]
    recent = min(known + 1, REMEMBERED)
    for row in range(group.shape[0]):
        q, j = group[row, Q_OFFSET], group[row, V_OFFSET]
        if ANGULAR[group[row, KIND]] == 3:
            m0 = vector(p, j)
            c = guess(h, block(coefficients, m * m, m, j), m0, known, work, j)
            c, going = turn(form, tau, block(coefficients, 0, m, j), scale(h, m0), c, counters)
            if any_(going > 0.0):
                return NOT_CONVERGED
            if tau == EXP and any_(dot(c, c) >= _PI_SQUARED):
                return CHART_LEFT
            remember(recent, work, j, c)
            d = so3.exp_difference(c) if tau == EXP else so3.cay_difference(c)
            v = (d[1], d[2], d[3])
            u = cross(m0, v)
            increase3(change, change, j, add(scale(2.0 + 2.0 * d[0], u), scale(2.0, cross(u, v))), 0)
            e = so3.displace((ld(y, q), ld(y, q + 1), ld(y, q + 2), ld(y, q + 3)), d)
            for i in range(4):
                increase(y, low, q + i, e[i], compensated)
        else:
            for i in range(group[row, N_V]):
                x = 0.0 * ld(p, 0)
                for k in range(m):
                    a = coefficients[m * m + (j + i) * m + k]
                    if a != 0.0:
                        x = x + a * ld(p, k)
                increase(y, low, q + i, h * x, compensated)
    counters[HISTORY] = recent
    if compensated and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise(group, y, low)
    return OK
