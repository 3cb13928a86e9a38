"""The variational Gauss method of eight stages on T*G (order 16), its stages in eight lanes: symplectic with any step.

The equations are those of `integrators.steppers.lie_variational`, the numbers those of `integrators.tableaus.
gauss_in_lanes`; with Lⱼ = h bⱼ Kⱼ and Mⱼ = h bⱼ Nⱼ,

    Y = ½ Σ Lⱼ,   g_c = g₀ τ(Y),   xᵢ = Σ νᵢⱼ Lⱼ,   Pᵢ = P̄ + Σ νᵢⱼ Mⱼ,   μᵢ = dτ_left(xᵢ)⁻ᵀ Pᵢ

One call of the field at all (g_c τ(xᵢ), μᵢ) gives h b ξ and h b f.  For these the equations of the chart are solved
before the next call: first x and Y from K = dτ_left(x)⁻¹ ξ, then P from N, which is linear in it.  Else every change
would pass through the centre, and the iteration would contract by h|ω|/4, not like that of a Volterra equation.  The
forces follow the new momenta (`foresee`), so that it converges as that of `GAUSS8` does.

The step is not divided unless a tolerance is given: it is for coarse steps over long times, which divisions that follow
the state would spoil.  On commutative groups the method is `GAUSS8`.  Sources: those of `lie_variational` and of
`gauss_in_lanes`, whose workspace it shares (`integrators.steppers.gauss_workspace`):

    x: x and P;   l: L and M;   f: (ξ, ṗ);   h b f: h b ξ and h b f;   ½ S: Y and h F
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, TAU
from integrators.method import Method, Report
from integrators.problem import Problem
from integrators.signatures import STEP_OF_STAGES_SIGNATURE, STEP_SIGNATURE
from integrators.steppers import gauss_in_lanes, gauss_stages
from integrators.steppers.common import dimension
from integrators.steppers.gauss_in_lanes import GAUSS_IN_LANES, LEVELS, at_play, divided, gauss_in_lanes_method, report
from integrators.steppers.gauss_stages import guess, iterate
from integrators.steppers.gauss_sweep import (
    columns_at,
    largest_of_stages,
    place,
    product,
    put,
    refresh_coordinates,
    sum_of_stages,
    take,
    weights,
)
from integrators.steppers.gauss_workspace import FLAT, NU, STAGES, room
from integrators.steppers.lie_variational import check_canonical, gauss
from integrators.steppers.lie_variational_stages import force, mean_momentum, move_by
from liegroup.compile import entry, flattened, helper, kernel, ld, magnitude, st
from liegroup.compile.scalars import less, maximum, select
from liegroup.table import (
    EXP,
    bracket_transpose,
    coadjoint,
    coadjoint_difference,
    dtau_inverse_left,
    dtau_inverse_left_gradient,
    dtau_inverse_left_transpose,
    dtau_left_transpose,
)

MOST_INNER = 40
"""Iterations of the chart per call of the field, at most …"""
INNER = 1e-6
"""… until their change is this part of their first."""
UNSEEN = 1e-15
"""Changes of momenta, relative to their sizes, that are not foreseen."""
COARSE = 1e-2
"""An undivided step whose estimate is more than this part of the energy at play is doubtful."""

advance_flat, solve_flat = gauss_in_lanes.advance, gauss_stages.solve


# --- verbs of the group on all stages ---------------------------------------------------------------------------------


@helper
def by_stages(verb: Any, group: Any, tau: Any, a: Any, b: Any, out: Any, at: Any, field_work: Any, work: Any) -> None:
    """``verb(group, tau, a, b, out)`` on all stages: at once in lanes where the field is, else one by one."""
    if field_work.ndim == 3:
        verb(group, tau, a, b, out)
    else:
        m, flat = out.shape[0], flattened(work)
        u, v = flat[at.value : at.value + m], flat[at.value + m : at.value + 2 * m]
        for i in range(STAGES):
            take(a, i, u)
            take(b, i, v)
            verb(group, tau, u, v, v)
            put(v, out, i)


@kernel
def weigh(h: Any, n: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any) -> None:
    """h b ξ and h b f, with f = ṗ − ad_ξᵀ μ."""
    d, group = dimension(table), table[: table.shape[0] - 1]
    at, m, flat = room(n, d), d // 2, flattened(work)
    z, mu, body = work[at.f : at.f + d], work[at.y + n - m : at.y + n], work[at.body : at.body + d]
    if field_work.ndim == 3:
        force(group, z, mu, body[m:])
    else:
        one, momentum = flat[at.value : at.value + d], flat[at.state : at.state + m]
        f = flat[at.total : at.total + m]
        for i in range(STAGES):
            take(z, i, one)
            take(mu, i, momentum)
            force(group, one, momentum, f)
            put(f, body[m:], i)
    hb = weights(h, coefficients)
    for k in range(m):
        st(body, k, ld(z, k) * hb)
        st(body, m + k, ld(body, m + k) * hb)


# --- the equations of the chart, for known h b ξ and h b f ------------------------------------------------------------


@helper
def settled(k: Any, change: Any, first: Any, before: Any) -> bool:
    """Whether iteration k of the chart need not go on after a change."""
    return k > 0 and (not change > INNER * first or change >= before)


@kernel
def foresee(y: Any, low: Any, group: Any, coefficients: Any, hb: Any, field_work: Any, work: Any) -> None:
    """h b f <- h b (f − ad_ξᵀ Δμ), Δμ the change of p + h Σ a ṗ since the sweep before: so ad_ξᵀ μ + f stays ṗ.

    In ṗ the errors of the two cancel where bodies are light; apart, one of the momenta before and one of the new ones,
    they would not.  Changes near rounding are left out: momenta are then exact.
    """
    n, m = y.shape[0], dimension(group)
    at, g, flat = room(n, 2 * m), n - m, flattened(work)
    inverse = flat[at.inverse + m : at.inverse + 2 * m]
    nu, pushed = columns_at(coefficients, NU), work[at.l + m : at.l + 2 * m]
    rate, seen = work[at.f + m : at.f + 2 * m], work[at.seen : at.seen + m]
    xi, f, change = work[at.body : at.body + m], work[at.body + m : at.body + 2 * m], work[at.moved + g : at.moved + n]
    for k in range(m):
        st(pushed, k, ld(rate, k) * hb)
    for k in range(m):
        new = ld(y, g + k) + (ld(low, g + k) + (0.5 * sum_of_stages(pushed, k) + product(nu, pushed, k)))
        step = new - ld(seen, k)
        st(change, k, select(less(magnitude(step) * ld(inverse, k), UNSEEN), 0.0 * step, step))
        st(seen, k, new)
    by_stages(turned, group, EXP, xi, change, change, at, field_work, work)
    for k in range(m):
        st(f, k, ld(f, k) - ld(change, k))


@helper
def turned(group: Any, tau: Any, xi: Any, mu: Any, out: Any) -> None:
    """ad_ξᵀ μ, as a verb of a map."""
    bracket_transpose(group, xi, mu, out)


@kernel
def find_places(n: Any, group: Any, tau: Any, coefficients: Any, field_work: Any, work: Any) -> Any:
    """x and Y from h b ξ; the largest change."""
    m = dimension(group)
    at = room(n, 2 * m)
    l, x, xi = work[at.l : at.l + m], work[at.x : at.x + m], work[at.body : at.body + m]
    first, before = 0.0, 0.0
    for k in range(MOST_INNER):
        by_stages(dtau_inverse_left, group, tau, x, xi, l, at, field_work, work)
        now = largest_of_stages(refresh_coordinates(0, m, at, coefficients, work), work)
        if k == 0:
            first = now
        if settled(k, now, first, before):
            break
        before = now
    return first


@kernel
def find_centre(y: Any, low: Any, group: Any, tau: Any, field_work: Any, work: Any) -> None:
    """h F, n₀, n₁ and P̄ from x, Y and h b f."""
    n, m = y.shape[0], dimension(group)
    g = n - m
    at, flat = room(n, 2 * m), flattened(work)
    x, back, f = work[at.x : at.x + m], work[at.centre + g : at.centre + n], work[at.body + m : at.body + 2 * m]
    carried, Y, F = work[at.l + m : at.l + 2 * m], flat[at.half : at.half + m], flat[at.half + m : at.half + 2 * m]
    n0, n1 = flat[at.total : at.total + m], flat[at.total + m : at.total + 2 * m]
    mean, scratch = flat[at.middle + g : at.middle + n], flat[at.middle_low + g : at.middle_low + n]
    for k in range(m):
        st(back, k, -ld(x, k))
    by_stages(coadjoint, group, tau, back, f, carried, at, field_work, work)
    coadjoint_difference(group, tau, Y, y[g:], n0)
    for k in range(m):
        st(F, k, sum_of_stages(carried, k))
        st(n0, k, ld(y, g + k) + (ld(low, g + k) + ld(n0, k)))
        st(n1, k, ld(n0, k) + ld(F, k))
    mean_momentum(group, tau, Y, n0, n1, scratch, mean)


@kernel
def find_momenta(n: Any, group: Any, tau: Any, coefficients: Any, field_work: Any, work: Any) -> Any:
    """P from h b ξ, h b f, x and P̄; the largest change."""
    m = dimension(group)
    g = n - m
    at, flat = room(n, 2 * m), flattened(work)
    nu, l, P = columns_at(coefficients, NU), work[at.l + m : at.l + 2 * m], work[at.x + m : at.x + 2 * m]
    x, xi, f = work[at.x : at.x + m], work[at.body : at.body + m], work[at.body + m : at.body + 2 * m]
    push, mean = work[at.moved + g : at.moved + n], flat[at.middle + g : at.middle + n]
    inverse = flat[at.inverse + m : at.inverse + 2 * m]
    by_stages(dtau_left_transpose, group, tau, x, f, push, at, field_work, work)
    first, before = 0.0, 0.0
    for k in range(MOST_INNER):
        gradients(group, tau, x, xi, P, l, at, field_work, work)
        for i in range(m):
            st(l, i, ld(push, i) - ld(l, i))
        largest = nu[0] * 0.0
        total = largest
        for i in range(m):
            new = ld(mean, i) + product(nu, l, i)
            change = magnitude(new - ld(P, i)) * ld(inverse, i)
            st(P, i, new)
            largest, total = maximum(largest, change), total + change
        now = largest_of_stages(largest + total * 0.0, work)
        if k == 0:
            first = now
        if settled(k, now, first, before):
            break
        before = now
    return first


@helper
def gradients(
    group: Any, tau: Any, x: Any, xi: Any, P: Any, out: Any, at: Any, field_work: Any, work: Any
) -> None:  # fmt: skip
    """∇ₓ⟨P, dτ_left(x)⁻¹ ξ⟩ of all stages."""
    if field_work.ndim == 3:
        dtau_inverse_left_gradient(group, tau, x, xi, P, out)
    else:
        m, flat = out.shape[0], flattened(work)
        u, v = flat[at.value : at.value + m], flat[at.value + m : at.value + 2 * m]
        p = flat[at.state : at.state + m]
        for i in range(STAGES):
            take(x, i, u)
            take(xi, i, v)
            take(P, i, p)
            dtau_inverse_left_gradient(group, tau, u, v, p, p)
            put(p, out, i)


@kernel
def settle(y: Any, low: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any) -> Any:
    """The stages for known h b ξ and h b f; the largest change of x, Y and P."""
    n, tau, group = y.shape[0], options[TAU], table[: table.shape[0] - 1]
    m = dimension(group)
    at = room(n, 2 * m)
    moved = find_places(n, group, tau, coefficients, field_work, work)
    find_centre(y, low, group, tau, field_work, work)
    pushed = find_momenta(n, group, tau, coefficients, field_work, work)
    place(y, low, group, options, at, field_work, work)
    x, P, mu = work[at.x : at.x + m], work[at.x + m : at.x + 2 * m], work[at.y + n - m : at.y + n]
    by_stages(dtau_inverse_left_transpose, group, tau, x, P, mu, at, field_work, work)
    return maximum(moved, pushed) + (moved + pushed) * 0.0


# --- the step ---------------------------------------------------------------------------------------------------------


@kernel
def begin(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> None:  # fmt: skip
    """First guess of the stages: h b ξ and h b f, x from these, P = p."""
    guess(
        weigh, field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )  # fmt: skip
    n, d = y.shape[0], dimension(table)
    at, m = room(n, d), d // 2
    nu, xi = columns_at(coefficients, NU), work[at.body : at.body + m]
    x, P = work[at.x : at.x + m], work[at.x + m : at.x + d]
    for k in range(m):
        st(x, k, product(nu, xi, k))
        st(P, k, nu[0] * 0.0 + ld(y, n - m + k))
    settle(y, low, table, coefficients, options, field_work, work)
    mu, seen = work[at.y + n - m : at.y + n], work[at.seen : at.seen + m]
    for k in range(m):
        st(seen, k, 1.0 * ld(mu, k))


@kernel
def sweep(
    h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, field_work: Any, work: Any
) -> Any:  # fmt: skip
    """Stages from the field at the stages; their largest change."""
    weigh(h, y.shape[0], table, coefficients, options, field_work, work)
    group = table[: table.shape[0] - 1]
    foresee(y, low, group, coefficients, weights(h, coefficients), field_work, work)
    return settle(y, low, table, coefficients, options, field_work, work)


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """Find the stages; a status."""
    if options[FLAT]:
        return solve_flat(
            field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
        )  # fmt: skip
    return iterate(
        begin, sweep, field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work,
        counters,
    )  # fmt: skip


@kernel
def advance(y: Any, low: Any, table: Any, options: Any, work: Any, counters: Any) -> None:
    """g <- g₀ τ(Y) τ(Y), p <- Ad_{τ(Y)}ᵀ n₁, by increments and with their low words."""
    if options[FLAT]:
        advance_flat(y, low, table, options, work, counters)
    else:
        n, d, group = y.shape[0], dimension(table), table[: table.shape[0] - 1]
        at, m, flat = room(n, d), d // 2, flattened(work)
        Y, F = flat[at.half : at.half + m], flat[at.half + m : at.half + d]
        n1, scratch = flat[at.total + m : at.total + d], flat[at.state : at.state + n]
        move_by(y, low, group, options[TAU], Y, F, n1, scratch, options[COMPENSATION], counters)


@entry(STEP_SIGNATURE, STEP_OF_STAGES_SIGNATURE)
def variational_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the variational Gauss method of eight stages."""
    return divided(
        solve, advance, field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work,
        counters,
    )  # fmt: skip


# --- the method -------------------------------------------------------------------------------------------------------


def prepare(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """As for `GAUSS8`; ValueError if the problem is not canonical."""
    check_canonical(problem)
    return gauss_in_lanes.prepare(problem, t)


def report_whole(work: NDArray[np.float64]) -> Report:
    """How coarse undivided steps were; the recommended one is what a division would not have made smaller."""
    return replace(report(work), tolerance=COARSE * float(at_play(work)))


def tuned(method: Method, energy_tolerance: float | None, fast: bool) -> Method:
    """The method with a tolerance, by which steps are divided, and the fast stop; its name says so."""
    base = gauss_in_lanes.tuned(method, energy_tolerance, fast)
    return variational_in_lanes(base.name, energy_tolerance, fast)


def one_by_one(method: Method) -> Method:
    """The method, undivided, with its stages one after another."""
    return _one_by_one().with_map(method.map)


@cache
def _one_by_one() -> Method:
    return gauss(STAGES, "VARIATIONAL_GAUSS8, stages one by one")


VARIATIONAL_DIVIDED = replace(
    GAUSS_IN_LANES,
    one_by_one=one_by_one,
    name="variational_in_lanes",
    step=variational_step,
    prepare=prepare,
    prepares_at=True,
    needs="canonical",
    tuned=tuned,
)
VARIATIONAL_IN_LANES = replace(VARIATIONAL_DIVIDED, report=report_whole)


def variational_in_lanes(
    name: str = "VARIATIONAL_GAUSS8", energy_tolerance: float | None = None, fast: bool = False, levels: int = LEVELS
) -> Method:
    """The variational Gauss method of eight stages, its stages in lanes.

    Parameters
    ----------
    energy_tolerance : float, optional
        Largest estimate of a substep, by which steps are divided.  Default: they are not, whatever their estimate.
    fast, levels
        As of `gauss_in_lanes_method`.
    """
    whole = energy_tolerance is None or energy_tolerance == np.inf
    base = gauss_in_lanes_method(name, None if whole else energy_tolerance, fast, 0 if whole else levels)
    return replace(
        base,
        stepper=VARIATIONAL_IN_LANES if whole else VARIATIONAL_DIVIDED,
        source="Bou-Rabee and Marsden 2009; Bogfjellmo and Marthinsen 2016; Antoñana, Makazaga and Murua 2017",
    )
