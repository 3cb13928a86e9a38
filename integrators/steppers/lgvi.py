"""Lie group variational integrators of order 2: discrete Euler–Poincaré equations for H = ½ pᵀK p + V(t, q) on any
product.

The velocity is constant over the step, c = h ξ, and the potential is taken at its ends:

    p̂ = p + (h/2) f(q₀),    solve  dτ_right(c)⁻ᵀ 𝕀 c = h p̂,
    q₁ = q₀ τ(c),    p₁ = Ad_{τ(c)}ᵀ p̂ + (h/2) f(q₁),    𝕀 = K⁻¹

Symplectic; symmetric for exp and Cayley; momenta change by group actions only, so that momentum maps are exact.  K is
found by asking the field, the force is ṗ at p = 0.  Forms:

==================  ================================================================================================
``hp``              the equations above (Hamilton–Pontryagin), map exp, Cayley or of the second kind
``moser_veselov``   on SO(3): 𝕀 c + ½ c × 𝕀 c = (1 + |c|²/4) h p̂, q₁ = q₀ cay(c): chordal energy of Lee, Leok and
                    McClamroch.  The energy of a free body is exact, errors are half those of ``hp`` with Cayley
``truncated1``      dexp⁻ᵀ cut after 1 − ½ ad: order 2, momenta exact, **not symplectic**: the energy drifts
``truncated2``      cut after 1/12 ad²: as above, with less drift
==================  ================================================================================================

Coordinates of the second kind are not symmetric: the step is then composed of half a step and half a step of the
adjoint method (dτ_left(−c) in the place of dτ_right(c), q₁ = q₀ τ(−c)⁻¹), unless ``plain`` asks for the bare method of
order 1.

On SO(3) (and SO(2), Rⁿ) factors with inertias of their own: Newton's method, factor by factor (`lgvi_factors`); else
the iteration c <- c − K (… − h p̂), which contracts by about |c|/2.  Both go to rounding. Sources: Bou-Rabee and
Marsden 2009; Lee, Leok and McClamroch 2007; Moser and Veselov 1991.

coefficients
    𝕀 (m, m), K (m, m) by rows.
options
    form; 1 to compose the step with its adjoint; then, found from the problem, 1 if every factor can be solved by
    itself.
own rows
    state at rest; its field; c; momentum; increment of p; defect; 𝕀 c; scratch; the next turn; past turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import increase
from integrators.layout import (
    COMPENSATION,
    EVALUATIONS,
    FIRST,
    FIRST_KNOWN,
    ITERATIONS,
    LAST,
    LAST_KNOWN,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.iteration import goes_on, relative
from integrators.steppers.kinetic import departures, inertia_of, inverse_inertia, speeds
from integrators.steppers.lgvi_factors import (
    CHANGE,
    COLUMN,
    DEFECT,
    FIELD,
    FORM,
    HP,
    MOMENTUM,
    MOSER_VESELOV,
    REST,
    ROWS,
    SCRATCH,
    TRUNCATED1,
    TRUNCATED2,
    TURN,
    fly_factors,
)
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, select, st
from liegroup.compile.scalars import maximum
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import (
    CCSK,
    EXP,
    FACTORS,
    N_V,
    Q_OFFSET,
    bracket_transpose,
    coadjoint_difference,
    dtau_inverse_left_transpose,
    dtau_inverse_right_transpose,
    increment,
    retract,
)

ADJOINT, FACTORED = range(FORM + 1, FORM + 3)
FORMS = {"hp": HP, "moser_veselov": MOSER_VESELOV, "truncated1": TRUNCATED1, "truncated2": TRUNCATED2}
ITERATIONS_LIMIT = 200


# --- any group: the inertia as the matrix of the iteration ------------------------------------------------------------


@kernel
def pulled(group: Any, form: Any, tau: Any, adjoint: Any, c: Any, mu: Any, out: Any, scratch: Any) -> None:
    """out = dτ_right(c)⁻ᵀ μ, cut off or of the adjoint method where the form says so; c is kept, μ too."""
    m = out.shape[0]
    if form >= TRUNCATED1:
        bracket_transpose(group, c, mu, scratch)
        for k in range(m):
            st(out, k, ld(mu, k) - 0.5 * ld(scratch, k))
        if form == TRUNCATED2:
            bracket_transpose(group, c, scratch, scratch)
            for k in range(m):
                st(out, k, ld(out, k) + (1.0 / 12.0) * ld(scratch, k))
    elif adjoint:
        for k in range(m):
            st(scratch, k, -ld(c, k))
        dtau_inverse_left_transpose(group, tau, scratch, mu, out)
    else:
        dtau_inverse_right_transpose(group, tau, c, mu, out)


@helper
def times(coefficients: Any, at: Any, m: Any, x: Any, out: Any) -> None:
    """out = A x for the (m, m) matrix at `at`; zeros cost nothing."""
    for i in range(m):
        total = 0.0 * ld(x, 0)
        for j in range(m):
            a = coefficients[at + i * m + j]
            if a != 0.0:
                total = total + a * ld(x, j)
        st(out, i, total)


@kernel
def iterate(
    h: Any, group: Any, form: Any, tau: Any, adjoint: Any, coefficients: Any, m: Any, work: Any, counters: Any
) -> Any:
    """Solve for c on the whole group by c <- c − K (… 𝕀 c − h p̂); 0 in the lanes that have converged."""
    c, p, r, mu, scratch = work[TURN][:m], work[MOMENTUM][:m], work[DEFECT][:m], work[COLUMN][:m], work[SCRATCH][:m]
    zero = 0.0 * ld(p, 0)
    going, best = zero + 1.0, zero + 1.0
    times(coefficients, m * m, m, p, c)
    for k in range(m):
        st(c, k, h * ld(c, k))
    for _ in range(ITERATIONS_LIMIT):
        times(coefficients, 0, m, c, mu)
        pulled(group, form, tau, adjoint, c, mu, r, scratch)
        for k in range(m):
            st(r, k, ld(r, k) - h * ld(p, k))
        times(coefficients, m * m, m, r, mu)
        size, change = zero, zero
        for k in range(m):
            d = select(going > 0.0, ld(mu, k), zero)
            size, change = maximum(size, absolute(ld(c, k))), maximum(change, absolute(d))
            st(c, k, ld(c, k) - d)
        counters[ITERATIONS] += 1
        left = relative(change, size)
        going, best = goes_on(going, left, best), left
        if not any_(going > 0.0):
            break
    return going


# --- the step ---------------------------------------------------------------------------------------------------------


@helper
def force(
    field: Any, t: Any, y: Any, g: Any, m: Any, parameters: Any, structure: Any, field_work: Any, work: Any, out: Any,
    counters: Any
) -> None:  # fmt: skip
    """The force at the configuration of y: ṗ at rest."""
    rest, value = work[REST][: y.shape[0]], work[FIELD][: 2 * m]
    for k in range(g):
        st(rest, k, ld(y, k))
    for k in range(m):
        st(rest, g + k, 0.0)
    field(t, rest, parameters, structure, field_work, value)
    for k in range(m):
        st(out, k, ld(value, m + k))
    counters[EVALUATIONS] += 1


@kernel
def fly(
    h: Any, adjoint: Any, y: Any, low: Any, group: Any, coefficients: Any, options: Any, m: Any, work: Any, counters:
    Any
) -> int:  # fmt: skip
    """Free motion over the time h from the momentum in `MOMENTUM`, which moves on with the state, and so does its
    increment.
    """
    form, tau = options[FORM], options[TAU]
    c, p, d, change = work[TURN][:m], work[MOMENTUM][:m], work[DEFECT][:m], work[CHANGE][:m]
    if any_(iterate(h, group, form, tau, adjoint, coefficients, m, work, counters) > 0.0):
        return NOT_CONVERGED
    if leaves_chart(group, c):
        return CHART_LEFT
    if adjoint:  # by the exponent of τ(−c)⁻¹
        for k in range(m):
            st(c, k, -ld(c, k))
        retract(group, tau, y, c, work[REST][: y.shape[0]])
        increment(group, EXP, work[REST][: y.shape[0]], y, c)
        tau = EXP
    coadjoint_difference(group, tau, c, p, d)
    for k in range(m):
        st(p, k, ld(p, k) + ld(d, k))
        st(change, k, ld(change, k) + ld(d, k))
    advance_state(group, tau, y, low, c, work[REST][: y.shape[0]], options[COMPENSATION], counters)
    return OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of a Lie group variational integrator."""
    last = table.shape[0] - 1
    g, m = table[last, Q_OFFSET], table[last, N_V]
    if g == 4 and m == 3:  # one body: the same, with lengths that the compiler knows
        return advance(
            field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters, 4, 3
        )
    return advance(
        field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters, g, m
    )


@helper
def advance(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any, g: Any, m: Any,
) -> int:  # fmt: skip
    """The step of a state whose momenta, m of them, begin at g."""
    group = table[: table.shape[0] - 1]
    p, change, f = work[MOMENTUM][:m], work[CHANGE][:m], work[FIRST][:m]
    if not counters[FIRST_KNOWN]:
        force(field, t, y, g, m, parameters, structure, field_work, work, f, counters)
    for k in range(m):
        st(change, k, (0.5 * h) * ld(f, k))
        st(p, k, ld(y, g + k) + ld(change, k))
    parts = 1 + options[ADJOINT]
    straight = options[FACTORED] and options[TAU] != CCSK and options[FORM] <= MOSER_VESELOV
    for part in range(parts):
        if straight:
            status = fly_factors(h, y, low, group, coefficients, options, m, work, counters)
        else:
            status = fly(h / parts, part == 1, y, low, group, coefficients, options, m, work, counters)
        if status != OK:
            return status
    f = work[LAST][:m]
    force(field, t + h, y, g, m, parameters, structure, field_work, work, f, counters)
    for k in range(m):
        increase(y, low, g + k, ld(change, k) + (0.5 * h) * ld(f, k), options[COMPENSATION])
    counters[LAST_KNOWN] = 1
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return ROWS


def _factored(problem: Problem, K: NDArray[np.float64]) -> bool:
    """Every rotating body has an inertia of its own, and all other factors are commutative."""
    abelian = np.zeros(len(K), dtype=bool)
    block = np.zeros(K.shape, dtype=bool)
    for kind, _, j, _, n_v in problem.table[:-1].tolist():
        abelian[j : j + n_v] = COMMUTATIVE[kind]
        if FACTORS[kind].RIGID_BODY == (0, 3):
            block[j : j + 3, j : j + 3] = True
    return not K[~(block | np.outer(abelian, abelian))].any()


def _prepare(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """𝕀 and K, and whether every factor can be solved by itself."""
    K = inverse_inertia(problem, t)
    K = np.where(np.abs(K) <= 1e-15 * np.outer(speeds(K), speeds(K)), 0.0, K)
    return np.concatenate([inertia_of(problem, K).ravel(), K.ravel()]), np.array(
        [_factored(problem, K)], dtype=np.int64
    )


def _prepare_rotations(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    numbers, factored = _prepare(problem, t)
    if not factored[0]:
        raise ValueError(
            f"{problem.model}: the Moser–Veselov form is for bodies on SO(3) with inertias of their own; use form 'hp'"
        )
    return numbers, factored


LGVI = Stepper("lgvi", step, _rows, prepare=_prepare, prepares_at=True, needs="canonical", form=departures)
ON_ROTATIONS = Stepper(
    "lgvi",
    step,
    _rows,
    maps=("cayley",),
    groups=("SO(3)", "R"),
    prepare=_prepare_rotations,
    prepares_at=True,
    needs="canonical",
    form=departures,
)


def lgvi(name: str = "", form: str = "hp", map: str = "", plain: bool = False, **changes: Any) -> Method:
    """A Lie group variational integrator.

    Parameters
    ----------
    form : {"hp", "moser_veselov", "truncated1", "truncated2"}
    map : {"exp", "cayley", "ccsk"}, optional
        The map τ: Cayley (``hp``, and the only one of ``moser_veselov``) or exp (the only one of the series) unless
        given.
    plain : bool
        With "ccsk": the bare method of order 1, instead of its composition with the adjoint one.

    Raises
    ------
    ValueError
    """
    if form not in FORMS:
        raise ValueError(f"form: {form!r}, expected one of {', '.join(FORMS)}")
    map = map or ("exp" if form.startswith("truncated") else "cayley")
    if form == "moser_veselov" and map != "cayley":
        raise ValueError(f"map: {map!r}, expected 'cayley' with the form 'moser_veselov'")
    if form.startswith("truncated") and map != "exp":
        raise ValueError(
            f"map: {map!r}, expected 'exp' with the form {form!r}: it is the series of exp that is cut off"
        )
    if plain and map != "ccsk":
        raise ValueError(f"plain: only for map 'ccsk'; {map!r} is symmetric as it stands")
    return Method(
        name=name or f"LGVI_{(map if form == 'hp' else form).upper()}",
        stepper=ON_ROTATIONS if form == "moser_veselov" else LGVI,
        order=1 if plain else 2,
        options=np.array([FORMS[form], map == "ccsk" and not plain]),
        symmetric=not plain and not form.startswith("truncated"),
        symplectic=not form.startswith("truncated"),
        source="Lee, Leok and McClamroch 2007" if form == "moser_veselov" else "Bou-Rabee and Marsden 2009",
        map=map,
        **changes,
    )
