"""Energy–momentum method for one body on SO(3), H = ½ pᵀK p + V(q): conserves energy and momentum instead of the
symplectic form.

    𝕀 c + ½ c × 𝕀 c = h (p + (h/2) f̄),    q₁ = q₀ cay(c),    p₁ = cay(c)ᵀ p + h (E + c̃/2)⁻¹ f̄,    f̄ = (f₀ + f₁)/2

with f₀, f₁ the moments at both ends, each in the axes of its end.  The energy is exact if V is linear in the rotation
matrix (a heavy top, a body without forces): then V₁ − V₀ = −f̄·c.  The momentum about an axis of symmetry of V, and all
of the spatial momentum of a free body, are exact.  Symmetric, of order 2; compositions keep the energy, too.  Not
symplectic: for where the energy itself is the constraint.  With other potentials it is a symmetric method of order 2
and no more.

Newton's method on c with the moment f₁ of the iteration before.
Sources: Simo and Wong 1991; Austin, Krishnaprasad and Wang 1993.

coefficients
    𝕀 (3, 3), K (3, 3) by rows.
own rows
    those of `integrators.steppers.lgvi_factors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import increase, increase3, renormalise
from integrators.layout import COMPENSATION, ERROR, FIRST, FIRST_KNOWN, ITERATIONS, LAST, LAST_KNOWN, STEPS
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURES
from integrators.status import NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import RENORMALISE_EVERY, copy
from integrators.steppers.iteration import goes_on, relative
from integrators.steppers.kinetic import departures, inertia_of, inverse_inertia
from integrators.steppers.lgvi import force
from integrators.steppers.lgvi_factors import ROWS, SCRATCH, apply, biggest, block, inverted, kept, rational
from integrators.steppers.splitting import vector
from liegroup.compile import any_, entry, helper, kernel, ld, st
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from liegroup.table import FACTORS, KIND

LIMIT = 100


@helper
def carried(c: Any, f: Any) -> Any:
    """(E + c̃/2)⁻¹ f = (4 f − 2 c × f + c (c·f))/(4 + |c|²)."""
    k = 1.0 / (4.0 + dot(c, c))
    return scale(k, add(subtract(scale(4.0, f), scale(2.0, cross(c, f))), scale(dot(c, f), c)))


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, coefficients: Any, parameters: Any, structure: Any, field_work: Any, work: Any,
    counters: Any
) -> Any:  # fmt: skip
    """The turn c, the moment f̄, and a status; leaves f₁ in `LAST`."""
    J, p, f0, f1, moved = (
        block(coefficients, 0, 3, 0),
        vector(y, 4),
        vector(work[FIRST], 0),
        work[LAST][:3],
        work[SCRATCH][: y.shape[0]],
    )
    q = (ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3))
    zero = 0.0 * p[0]
    going, best, mean = zero + 1.0, zero + 1.0, f0
    c = scale(h, apply(block(coefficients, 9, 3, 0), add(p, scale(0.5 * h, f0))))
    copy(y, moved)
    for _ in range(LIMIT):
        mu = apply(J, c)
        r = subtract(add(mu, scale(0.5, cross(c, mu))), scale(h, add(p, scale(0.5 * h, mean))))
        d = apply(inverted(rational(c, mu, J)), r)
        c = kept(going, subtract(c, d), c)
        new = so3.advance(q, so3.cay_difference(c))
        for i in range(4):
            st(moved, i, new[i])
        force(field, t + h, moved, 4, 3, parameters, structure, field_work, work, f1, counters)
        mean = kept(going, scale(0.5, add(f0, vector(f1, 0))), mean)
        counters[ITERATIONS] += 1
        size = biggest(c)
        left = relative(biggest(d), size)
        if any_(left != left):
            return c, mean, NON_FINITE
        going, best = goes_on(going, left, best), left
        if not any_(going > 0.0):
            return c, mean, OK
    st(work[ERROR], 0, best)
    return c, mean, NOT_CONVERGED


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One energy–momentum step."""
    if not counters[FIRST_KNOWN]:
        force(field, t, y, 4, 3, parameters, structure, field_work, work, work[FIRST][:3], counters)
    c, mean, status = solve(field, t, h, y, coefficients, parameters, structure, field_work, work, counters)
    if status != OK:
        return status
    d, p, compensated = so3.cay_difference(c), vector(y, 4), options[COMPENSATION]
    e, u = so3.displace((ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3)), d), cross(p, (d[1], d[2], d[3]))
    turned = add(scale(2.0 + 2.0 * d[0], u), scale(2.0, cross(u, (d[1], d[2], d[3]))))
    for i in range(4):
        increase(y, low, i, e[i], compensated)
    increase3(y, low, 4, add(turned, scale(h, carried(c, mean))), compensated)
    if compensated and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise(table, y, low)
    counters[LAST_KNOWN] = 1
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return ROWS


def _prepare(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if not problem.canonical or [FACTORS[k].RIGID_BODY for k in problem.table[:-1, KIND]] != [(0, 3)]:
        raise ValueError(
            f"{problem.model}: the energy–momentum method is for one body on SO(3), state (q, p); use a variational "
            "method"
        )
    K = inverse_inertia(problem, t)
    return np.concatenate([inertia_of(problem, K).ravel(), K.ravel()]), np.zeros(0, dtype=np.int64)


ENERGY_MOMENTUM = Stepper(
    "energy_momentum",
    step,
    _rows,
    maps=("cayley",),
    groups=("SO(3)",),
    prepare=_prepare,
    prepares_at=True,
    needs="canonical",
    form=departures,
)


def energy_momentum(name: str = "ENERGY_MOMENTUM", **changes: Any) -> Method:
    """The energy–momentum method on SO(3)."""
    return Method(
        name=name,
        stepper=ENERGY_MOMENTUM,
        order=2,
        symmetric=True,
        source="Simo and Wong 1991; Austin, Krishnaprasad and Wang 1993",
        map="cayley",
        **changes,
    )
