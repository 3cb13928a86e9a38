"""Generalised-α without constraints, on canonical problems H = ½ pᵀK p + V with a constant K: rods, networks, bodies,
dampers and other forces besides.

The formulas are those of `integrators.steppers.generalized_alpha` with momenta in the place of velocities, p = K⁻¹ v:

    a₁ = ((1 − α_f) ṗ₁ + α_f ṗ₀ − α_m a₀)/(1 − α_m)
    q₁ = q exp(h K [p₀ + h (½ − β) a₀ + h β a₁]),    p₁ = p₀ + h (1 − γ) a₀ + h γ a₁,    ṗ₁ = f(t₁, q₁, p₁)

The unknown is ṗ₁; Newton's method solves, with the derivative J of the field at the end of the step,

    (1 − c J)(δq, δp) = (0, h γ r (f − ṗ₁)),   c = h β/γ in rows of q, h γ r in those of p,   r = (1 − α_f)/(1 − α_m)

where δq = h² β r K δṗ.  Where the problem says which components meet, J is a band, and a step takes time linear in
them.  Where the iteration does not converge it is damped.  Order 2; what the step does not follow is multiplied by ρ
in every step.
Newmark's trapezoidal rule, α_m = α_f = 0, γ = ½, β = ¼, damps nothing.  Start: a₀ = ṗ₀ + (α_m − α_f) h p̈₀.
Sources: Newmark 1959; Chung and Hulbert 1993; Brüls, Cardona and Arnold 2012.

coefficients
    α_m, α_f, γ, β; those of a start; the entries of K that are not zero, by rows.
options
    number of these entries; where each row ends; their columns; the pattern of J (`integrators.problem.sparsity`).
own rows
    a; ṗ₀; ṗ₁; a₁; increments of the state; field; state; scratch; h p̈₀; memory of Newton's method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.bands import decompose_band, solve_band
from integrators.arithmetic.compensated import increase
from integrators.arithmetic.matrices import decompose, solve_factors
from integrators.layout import (
    COMPENSATION,
    EVALUATIONS,
    HISTORY,
    ITERATIONS,
    OWN_OPTIONS,
    OWN_ROWS,
    POSITIONS,
    TAU,
)
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.sparsity import HALF, ORDER, per
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.generalized_alpha import START, blended, change, numbers_of, ratio_of, shift
from integrators.steppers.iteration import goes_on, nought
from integrators.steppers.kinetic import damped_departures, sparse_inverse_inertia
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    ROUNDS,
    attempts,
    conclude,
    damp,
    damping,
    errors_of,
    exact,
    explain,
    failure,
    judge,
    least_counted,
    levels,
    linearise,
    newton_rows,
    next_damping,
    of_another_branch,
    share,
    sizes,
    take_back,
    tell_again,
    turned,
)
from integrators.steppers.newton_bands import from_places, to_places
from integrators.steppers.newton_systems import room
from liegroup.arrays import positive, real
from liegroup.compile import absolute, any_, entry, helper, joined, kernel, ld, select, st
from liegroup.compile.scalars import maximum
from liegroup.table import N_V, retract

LOOPS = "short"

(ALGORITHMIC, BEFORE, UNKNOWN, NEXT, STEP, FIELD, STATE, SCRATCH, RATES, MEMORY) = range(OWN_ROWS, OWN_ROWS + 10)
AHEAD = 1e-2
"""Part of a step over which p̈ is taken by differences at the start: forwards, as what moves a support may be known from
there on only.
"""
ABRUPT, FOLLOWED, NUMBERS = 3.0, 0.5, 4
"""A start whose forces differ from those of the step by so many times these is of what is over within it, unless ṗ₀ +
h p̈₀ leads there but for that part of the difference, as where smooth forces pass through zero.
"""


@helper
def _known(options: Any, n: Any) -> Any:
    """Where row ends, columns and pattern begin."""
    return OWN_OPTIONS + 1, OWN_OPTIONS + 1 + n, OWN_OPTIONS + 1 + n + options[OWN_OPTIONS]


@kernel
def _place(h: Any, y: Any, n: Any, numbers: Any, entries: Any, options: Any, work: Any) -> None:
    """a₁, and the increments of q and p, from ṗ₁."""
    n_q, (ends, columns, _) = y.shape[0] - n, _known(options, n)
    mean, u = work[FIELD], work[STEP]
    for i in range(n):
        a0 = ld(work[ALGORITHMIC], i)
        a1 = blended(numbers, ld(work[UNKNOWN], i), ld(work[BEFORE], i), a0)
        st(work[NEXT], i, a1)
        st(mean, i, ld(y, n_q + i) + shift(numbers, h, a0, a1))
        st(u, n + i, change(numbers, h, a0, a1))
    first = 0
    for i in range(n):
        total = 0.0 * ld(mean, 0)
        for k in range(first, options[ends + i]):
            total = total + entries[k] * ld(mean, options[columns + k])
        first = options[ends + i]
        st(u, i, h * total)


@kernel
def _reach(h: Any, y: Any, n: Any, numbers: Any, entries: Any, options: Any, work: Any, out: Any) -> None:
    """out <- the sizes of what makes up the increments of q and p: where it cancels, its rounding is left."""
    n_q, (ends, columns, _), first = y.shape[0] - n, _known(options, n), 0
    size, way = work[SCRATCH], absolute(h)
    for i in range(n):
        a0, a1 = absolute(ld(work[ALGORITHMIC], i)), absolute(ld(work[NEXT], i))
        st(size, i, absolute(ld(y, n_q + i)) + way * (0.5 * a0 + numbers[3] * (a0 + a1)))
        st(out, n + i, way * (a0 + numbers[2] * (a0 + a1)))
    for i in range(n):
        total = 0.0 * ld(y, 0)
        for k in range(first, options[ends + i]):
            total = total + absolute(entries[k]) * ld(size, options[columns + k])
        first = options[ends + i]
        st(out, i, way * total)


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, table: Any, n: Any, numbers: Any, entries: Any, options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual f − ṗ₁ in the rows of p; returns its largest share of what rounding may leave."""
    d, pattern = 2 * n, options[_known(options, n)[2] :]
    at, largest, x, g = room(1, d, pattern[HALF]), 0.0 * ld(y, 0), work[STATE][: y.shape[0]], work[FIELD][:d]
    _place(h, y, n, numbers, entries, options, work)
    _reach(h, y, n, numbers, entries, options, work, memory[at.change :])
    levels(memory, 1, d, pattern)
    retract(table, options[TAU], y, work[STEP][:d], x)
    field(t + h, x, parameters, structure, field_work, g)
    for i in range(n):
        r = ld(g, n + i) - ld(work[UNKNOWN], i)
        st(memory, at.residual + i, 0.0 * r)
        st(memory, at.residual + n + i, r)
        largest = maximum(largest, share(memory, 1, d, n + i, r, ld(work[UNKNOWN], i), ld(g, n + i)))
    return largest + nought(g, d)


@kernel
def _factorise(of_q: Any, of_p: Any, memory: Any, d: Any, pattern: Any) -> None:
    """The factors of 1 − c J, with c of the rows of q and of p."""
    half = pattern[HALF]
    at, n = room(1, d, half), d // 2
    J, a, zero = memory[at.jacobian :], memory[at.factors :], 0.0 * ld(memory, at.jacobian)
    if half >= 0:
        for i in range(d * (3 * half + 1)):
            st(a, i, zero)
        for m in range(d):
            c = of_q if pattern[ORDER + m] < n else of_p
            for b in range(max(0, m - half), min(d, m + half + 1)):
                x = ld(J, m * 2 * half + b + half)
                st(a, m * 3 * half + b + half, (1.0 if m == b else 0.0) - c * x)
        decompose_band(a, d, half, memory[at.pivots :])
        return
    for m in range(d):
        c = of_q if m < n else of_p
        for b in range(d):
            st(a, m * d + b, (1.0 if m == b else 0.0) - c * ld(J, m * d + b))
    decompose(a, d, memory[at.pivots :])


@kernel
def _correct(memory: Any, d: Any, pattern: Any) -> None:
    """The residual <- the solution of (1 − c J) u = residual."""
    half = pattern[HALF]
    at = room(1, d, half)
    r = memory[at.residual :]
    if half >= 0:
        to_places(r, 1, d, pattern, memory[at.value :])
        solve_band(memory[at.factors :], d, half, 1, memory[at.pivots :], r, memory[at.value :])
        from_places(r, 1, d, pattern, memory[at.value :])
    else:
        solve_factors(memory[at.factors :], d, memory[at.pivots :], r)


@helper
def _steer(n: Any, work: Any, memory: Any, at: Any, attempt: Any, sigma: Any) -> Any:
    """The damping of the next round (`integrators.steppers.newton.steer`), from the corrections of ṗ₁."""
    back, steady = 0.0 * sigma, 0.0 * sigma
    for i in range(n):
        least = least_counted(ld(work[UNKNOWN], i), ld(memory, at.level + n + i), attempt)
        back, steady = turned(ld(memory, at.residual + n + i), ld(memory, at.apart + i), least, back, steady)
    take_back(memory[at.residual + n :], memory[at.apart :], n, back)
    return next_damping(sigma, back, steady)


@kernel
def _newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, n: Any, numbers: Any, entries: Any, options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any, going: Any, history: Any, damped: Any,
) -> Any:  # fmt: skip
    """ṗ₁ to rounding where `going`; returns 1 where it is not found."""
    d, pattern, zero = 2 * n, options[_known(options, n)[2] :], 0.0 * going
    memory, at, x = joined(work[MEMORY:]), room(1, d, pattern[HALF]), work[STATE][: y.shape[0]]
    positions, asked = options[POSITIONS], going
    of_q, of_p = h * numbers[3] / numbers[2], h * numbers[2] * ratio_of(numbers)
    needed = select(ld(memory, at.kept) > 0.0, zero, going) if history > 0 else going
    renewed = any_(needed > 0.0)
    if renewed:
        linearise(
            field, t, y, table, positions, pattern, parameters, structure, field_work, memory, 1, d, x, needed,
            counters,
        )  # fmt: skip
    if renewed or any_(ld(memory, at.step) != h):
        _factorise(of_q, of_p, memory, d, pattern)
        st(memory, at.step, zero + h)
    sizes(y, table, positions, pattern[per(d)].view(np.float64), memory[at.size :], going)
    best, least, lost, rounds, renewals = zero + 1.0, zero + 1e300, zero, zero, zero
    sigma, shift = zero + 1.0 / absolute(h), zero
    for i in range(n):
        st(memory, at.apart + i, zero)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS):
        ratio = _residual(
            field, t, h, y, table, n, numbers, entries, options, parameters, structure, field_work, work, memory
        )
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewals)
        if damped:
            where = going
        if any_(where > 0.0):
            renewals = renewals + where
            linearise(
                field, t + h, x, table, positions, pattern, parameters, structure, field_work, memory, 1, d,
                work[SCRATCH][: y.shape[0]], where, counters,
            )  # fmt: skip
            if damped:
                shift = damping(memory, 1, d, pattern, sigma, going)
                damp(memory, 1, d, pattern, shift)
            _factorise(of_q, of_p, memory, d, pattern)
            if damped:
                damp(memory, 1, d, pattern, -shift)
        for i in range(n):
            st(memory, at.residual + n + i, of_p * ld(memory, at.residual + n + i))
        _correct(memory, d, pattern)
        for i in range(n):
            st(memory, at.residual + n + i, ld(memory, at.residual + n + i) / of_p)
        if damped:
            sigma = _steer(n, work, memory, at, damped, sigma)
        for i in range(n):
            k = ld(work[UNKNOWN], i)
            st(work[UNKNOWN], i, select(going > 0.0, k + ld(memory, at.residual + n + i), k))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, memory, 1, d, asked, going, lost, rounds, best, least)
    if damped:
        unsolved = maximum(unsolved, of_another_branch(of_p, memory, 1, d, numbers[2:], pattern, asked))
    return unsolved


@kernel
def _start(
    field: Any, t: Any, h: Any, y: Any, table: Any, n: Any, numbers: Any, start: Any, entries: Any, options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
) -> None:  # fmt: skip
    """ṗ₀ and a₀; where they are of what the step does not follow, because little is left of ṗ at its end and h p̈₀ does
    not lead there, both are those of a step with the numbers of a start.
    """
    d, u, x, g = 2 * n, work[STEP][: 2 * n], work[STATE][: y.shape[0]], work[FIELD][: 2 * n]
    before, algorithmic, unknown, rates = work[BEFORE], work[ALGORITHMIC], work[UNKNOWN], work[RATES]
    field(t, y, parameters, structure, field_work, work[SCRATCH][:d])
    for i in range(n):
        st(before, i, ld(work[SCRATCH], n + i))
        st(rates, i, (-1.5 / AHEAD) * ld(before, i))
        st(unknown, i, 0.0 * ld(y, 0))
    for times in (1.0, 2.0):
        e, weight = times * AHEAD * h, (2.0 if times == 1.0 else -0.5) / AHEAD
        for i in range(d):
            st(u, i, e * ld(work[SCRATCH], i))
        retract(table, options[TAU], y, u, x)
        field(t + e, x, parameters, structure, field_work, g)
        for i in range(n):
            st(rates, i, ld(rates, i) + weight * ld(g, n + i))
    counters[EVALUATIONS] += 3
    for i in range(n):
        st(algorithmic, i, ld(before, i) + (numbers[0] - numbers[1]) * ld(rates, i))
    left = _newton(
        field, t, h, y, table, n, start, entries, options, parameters, structure, field_work, work, counters,
        0.0 * ld(y, 0) + 1.0, 0, 0,
    )  # fmt: skip
    apart, missed, size = 0.0 * ld(y, 0), 0.0 * ld(y, 0), 0.0 * ld(y, 0)
    for i in range(n):
        x1 = ld(unknown, i)
        size = maximum(size, absolute(x1))
        apart = maximum(apart, maximum(absolute(ld(algorithmic, i) - x1), absolute(ld(before, i) - x1)))
        missed = maximum(missed, absolute(ld(before, i) + ld(rates, i) - x1))
    over = (left == 0.0) & (apart > ABRUPT * size) & (missed > FOLLOWED * apart)
    for i in range(n):
        st(before, i, select(over, ld(unknown, i), ld(before, i)))
        st(algorithmic, i, select(over, ld(unknown, i), ld(algorithmic, i)))


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step."""
    n = table[table.shape[0] - 1, N_V]
    n_q, group = y.shape[0] - n, table[: table.shape[0] - 1]
    numbers, start, entries = coefficients[:NUMBERS], coefficients[NUMBERS : 2 * NUMBERS], coefficients[2 * NUMBERS :]
    if counters[HISTORY] == 0:
        _start(
            field, t, h, y, table, n, numbers, start, entries, options, parameters, structure, field_work, work,
            counters,
        )  # fmt: skip
    for i in range(n):
        st(work[UNKNOWN], i, ld(work[BEFORE], i))
    left = _newton(
        field, t, h, y, table, n, numbers, entries, options, parameters, structure, field_work, work, counters,
        0.0 * ld(y, 0) + 1.0, counters[HISTORY], 0,
    )  # fmt: skip
    errors, counters[HISTORY] = errors_of(work), 0
    for damped in range(1, attempts(2 * n, options[_known(options, n)[2] + HALF], counters)):
        if any_(left > 0.0):
            for i in range(n):
                st(work[UNKNOWN], i, select(left > 0.0, ld(work[BEFORE], i), ld(work[UNKNOWN], i)))
            left = _newton(
                field, t, h, y, table, n, numbers, entries, options, parameters, structure, field_work, work, counters,
                left, 0, damped,
            )  # fmt: skip
    if any_(left > 0.0):
        tell_again(work, left, errors)
        return failure(work)
    _place(h, y, n, numbers, entries, options, work)
    if leaves_chart(group, work[STEP][:n]):
        return CHART_LEFT
    advance_state(group, options[TAU], y, low, work[STEP][:n], work[STATE][:n_q], options[COMPENSATION], counters)
    for i in range(n):
        increase(y, low, n_q + i, ld(work[STEP], n + i), options[COMPENSATION])
        st(work[ALGORITHMIC], i, ld(work[NEXT], i))
        st(work[BEFORE], i, ld(work[UNKNOWN], i))
    counters[HISTORY] = 1
    return OK


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    return MEMORY + newton_rows(1, problem, columns), columns


def _prepare(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    K = sparse_inverse_inertia(problem, t, damped=True).tocsr()
    pattern = exact(problem)[1]
    return K.data, np.concatenate([[K.nnz], K.indptr[1:], K.indices, pattern]).astype(np.int64)


STEPPER = Stepper(
    "canonical-alpha", step, lambda options: 0, maps=("exp", "cayley"), prepare=_prepare, prepares_at=True,
    evaluates="linearised", shape=_shape, needs="canonical", explain=explain, starts=True,
    remembers=True, form=damped_departures,
)  # fmt: skip


DAMPED = replace(STEPPER, name="canonical-alpha-damped", multistep=True)
"""a₁ is of states before: steps that begin anew, one by one, are another method, of lower order for small ρ."""


def canonical_alpha(radius: float = 0.8, name: str = "ALPHA", **changes: Any) -> Method:
    """Generalised-α on canonical problems with a constant inertia; order 2.

    Parameters
    ----------
    radius : float in [0, 1]
        Spectral radius ρ at infinity: what a step does not follow is multiplied by it.
    name : str
        Of the method.

    Raises
    ------
    TypeError, ValueError
        A radius that is no number in [0, 1].
    """
    radius = real(radius, "radius", "a spectral radius in [0, 1]", lambda x: 0.0 <= x <= 1.0)
    return _method(name, DAMPED, numbers_of(radius), "Chung and Hulbert 1993; Brüls, Cardona and Arnold 2012", changes)


def newmark(gamma: float = 0.5, beta: float = 0.25, name: str = "NEWMARK", **changes: Any) -> Method:
    """Newmark's method on canonical problems with a constant inertia.

    Parameters
    ----------
    gamma : float
        ½, with which the order is 2; no other is taken.
    beta : float
        Positive; ¼ is the trapezoidal rule.
    name : str
        Of the method.

    Raises
    ------
    TypeError, ValueError
        Numbers that are none of these.
    """
    gamma = real(gamma, "gamma", "0.5, with which the order is 2", lambda x: x == 0.5)
    beta = positive(beta, "beta")
    return _method(name, STEPPER, (0.0, 0.0, gamma, beta), "Newmark 1959", changes)


def _method(name: str, stepper: Stepper, numbers: tuple[float, ...], source: str, changes: Any) -> Method:
    return Method(
        name=name, stepper=stepper, order=2, coefficients=np.array([*numbers, *START]), source=source, **changes
    )
