"""The Gauss method of eight stages (order 16), its stages in eight lanes, and a free estimate of the error of a step.

    m = y τ(½ S),  xᵢ = Σⱼ νᵢⱼ Lⱼ,  Yᵢ = m τ(xᵢ),  Lᵢ = h bᵢ dτ_left(xᵢ)⁻¹ f(t + cᵢh, Yᵢ),  S = Σ Lⱼ,  y <- m τ(½ S)

On commutative groups Yᵢ = y + ½ S + xᵢ and nothing else is needed.  One call of the field in lanes evaluates all
stages; a field that reads the time, or has no lanes, is called stage by stage, to the same numbers.  The stages are
iterated from the polynomial of the step before until rounding ends their progress: the change must fail to become
smaller twice in a row.  For H = ½ pᵀK p + V(t, q) with a constant K the momenta of a sweep come first and serve its
positions, which takes two thirds of the sweeps.  On T*Rⁿ the method is symplectic; on other groups up to its truncation
error, which is kept below rounding.

The estimate is made of the highest Legendre coefficient hγ of the stages' derivatives (or a part of the one below),

    e = (1/h) Σₘ |hγ_q,m hγ_p,m|   (canonical: energy)      or      maxₘ (hγₘ/scaleₘ)²   (otherwise: relative).

A step whose estimate exceeds the tolerance, or whose stages are not found, is divided into halves, down to h/2¹²; the
steps become larger again where that is allowed.  Sources: Hairer, McLachlan and Razakarivony 2008; Antoñana, Makazaga
and Murua 2017 (antisymmetric form, starting values); Zanna, Engø and Munthe-Kaas 2001 (centred chart).

Coefficients, options and rows of the workspace: `integrators.steppers.gauss_workspace`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import (
    CANONICAL,
    COMPENSATION,
    ERROR,
    HISTORY,
    LAST_KNOWN,
    OWN_ROWS,
    PENDING,
    POSITIONS,
    PROJECTED,
    REJECTED,
    TAU,
)
from integrators.method import Method, Report, Stepper
from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.ambient import unit_sizes
from integrators.signatures import STEP_OF_STAGES_SIGNATURE, STEP_SIGNATURE
from integrators.status import NON_FINITE, OK
from integrators.steppers.common import advance_state, dimension
from integrators.steppers.gauss_stages import LEAST, guess_within, measure, size_of, solve
from integrators.steppers.gauss_sweep import body_row, columns_at, product, sum_of_stages
from integrators.steppers.gauss_workspace import (
    AGAIN,
    AT_PLAY,
    CLOCK_ROW,
    ENDS,
    ENERGY,
    ESTIMATE_SUM,
    FLAT,
    FRESH,
    GUESS,
    HIGHEST,
    JUMP,
    JUMP_TIME,
    KEPT,
    LARGEST,
    LARGEST_ESTIMATE,
    LAST_SIZE,
    LAST_START,
    LEVEL,
    LEVELS_ROW,
    MOST,
    OWN,
    REJECTIONS,
    REPORT_ROW,
    SAME,
    SMALLEST,
    SMALLEST_TIME,
    STAGES,
    STEEPEST,
    STEP_SIZE,
    SUBSTEP_COUNT,
    SWEEPS,
    TIMELESS,
    TOLERANCE,
    TOLERATED,
    TOP,
    UP,
    B,
    room,
)
from integrators.steppers.implicit import implicit_rkmk
from integrators.steppers.kinetic import constant_inverse_inertia
from integrators.tableaus import GAUSS
from integrators.tableaus.gauss_in_lanes import gauss_in_lanes
from liegroup.arrays import real
from liegroup.compile import absolute, entry, flattened, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import less, maximum
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import EXP, FACTORS, KIND

LOOPS = "rows"

LEVELS = 12
"""A step is divided into at most 2¹² substeps."""
ROUNDING = 1e-16
"""Default tolerance of a substep, as a part of the energy at play."""
LIGHT = 1e-13
"""Relative error, squared, of a position of a canonical problem that counts as much as that tolerance: the energy of
what is light beside the rest, or slow, says nothing of it.
"""
NOTHING = 1e-200
"""An energy, J, that is none: parts of it would be lost."""
RESOLVED = 1e-8
"""Of the size of a component its highest coefficient, where a step is not divided: the root of the tolerance."""
EVEN, BELOW = 1e-4, 2
"""Part of the coefficient below the highest that counts as that, at least: of a smooth field in a resolved step it is
much less.  Where its weights stand.
"""
REST = 1e-9
"""Least size of a position of a canonical problem, rad or m: what is at rest at zero moves by rounding."""
AT_REST = 3e-8
"""Least size, in what counts as one, where positions are told from momenta or velocities (`Problem.positions`): of it
the tolerance allows the rounding of one.
"""
ROUNDED = 1e-12
"""Part of what counts as one by which positions of a canonical problem move by rounding, and more."""
UP_BELOW = 131072.0
"""A substep may become twice as large, and its estimate 2¹⁵ times, if that leaves a quarter of the tolerance."""
STILL = 300.0
"""Times that size has what is asked for jumps, at least: of it `NOISE` is what rounding makes of forces that balance.
"""
PROJECTION_EVERY = 10
"""Steps from one projection to the next: a projection changes the rates, from which the next stages are guessed."""
WITHIN = 2.0
"""Parts of a step are guessed from a part that is larger than half of them."""
HELPS, CLEAR, SLOW = 256.0, 1e-9, 1.5
"""Of a smooth field the estimate falls to less than one part of this when a substep is halved, in the end to 2⁻¹⁵, once
it is below this; and how often it may not before the field is taken to have a kink or a jump: of some 1500 runs of
smooth ones four had it once, none twice, and most fields with kinks two to four times.
"""
SMOOTH, NOISE = 100.0, 1e-10
"""A smooth field differs at the end of one substep and the start of the next by less than this many times its two
highest coefficients, and this part of the sizes.
"""


@kernel
def estimate(h: Any, n: Any, table: Any, coefficients: Any, options: Any, work: Any) -> Any:
    """The error of the substep: of the energy of canonical problems, else 0; and that of the component, of canonical
    problems of the position, where it is largest beside its size, squared.
    """
    d = dimension(table)
    at, flat = room(n, d), flattened(work)
    l, inverse = work[at.l : at.l + d], flat[at.inverse : at.inverse + d]
    energy, relative, half = 0.0, 0.0, d // 2
    for m in range(half if options[CANONICAL] else d):
        high = highest(coefficients, l, inverse, m)
        part = high * ld(inverse, m).real
        if options[CANONICAL]:
            energy += high * highest(coefficients, l, inverse, half + m)
            part = high * min(ld(inverse, m).real, 1.0 / REST)
        relative = max(relative, part * part)
    return energy / abs(h.real), relative


@helper
def at_play(work: Any) -> Any:
    """The energy at play; 1 where there is none, since nothing has momentum though it moves as it is told: then errors
    of positions count by themselves, and so they do by any number.
    """
    found = work[CLOCK_ROW, AT_PLAY].real
    return found if found > NOTHING else 1.0


@helper
def error_of(estimates: Any, options: Any, work: Any) -> Any:
    """The larger of the two, in the units of the tolerance: what is light beside the rest of a canonical problem counts
    by itself, where its relative error is more than `LIGHT`.
    """
    energy, relative = estimates
    if options[CANONICAL]:
        return max(energy, relative * (ROUNDING / LIGHT) * at_play(work))
    return relative


@helper
def highest(coefficients: Any, l: Any, inverse: Any, m: Any) -> Any:
    """h times the size of the highest Legendre coefficient of component m, or `EVEN` of the one below, if that is more
    than rounding of its size: what is even about the middle of a step has none of degree 7.
    """
    odd = coefficients[HIGHEST] * (ld2(l, m, 0) - ld2(l, m, 7))
    even = coefficients[ENDS + BELOW] * (ld2(l, m, 0) + ld2(l, m, 7))
    for j in range(1, STAGES // 2):
        odd = odd + coefficients[HIGHEST + j] * (ld2(l, m, j) - ld2(l, m, STAGES - 1 - j))
        even = even + coefficients[ENDS + STAGES * j + BELOW] * (ld2(l, m, j) + ld2(l, m, STAGES - 1 - j))
    counts = abs(even.real) * ld(inverse, m).real > ROUNDING
    return max(abs(odd.real), EVEN * abs(even.real)) if counts else abs(odd.real)


@kernel
def jump(h: Any, n: Any, table: Any, coefficients: Any, options: Any, work: Any, follows: Any) -> Any:
    """How far the field at the start of the substep is from that at the end of the one before, if it `follows` one, in
    units of what a smooth field allows by the highest coefficients of the two; the field at its end is kept.
    """
    d = dimension(table)
    at, flat = room(n, d), flattened(work)
    l = work[body_row(at, options) : body_row(at, options) + d]
    inverse, last = flat[at.inverse : at.inverse + d], flat[at.last : at.last + d]
    differs, top, size = 0.0, 0.0, abs(h.real)
    columns = columns_at(coefficients, ENDS)
    for m in range(d):
        st(work, ERROR, product(columns, l, m))
        start, end, below, high = ld2(work, ERROR, 0), ld2(work, ERROR, 1), ld2(work, ERROR, 2), ld2(work, ERROR, 3)
        often = ld(inverse, m).real
        if options[POSITIONS]:
            often = min(often, 1.0 / (STILL * coefficients[coefficients.shape[0] - d + m]))
        differs = max(differs, abs((start - h * ld(last, m)).real) * often)
        top = max(top, (abs(high.real) + abs(below.real)) * often)
        st(last, m, end / h)
    before = ld2(work, LEVELS_ROW + 1, TOP).real * size
    st2(work, LEVELS_ROW + 1, TOP, top / size)
    return differs / (SMOOTH * max(top, before) + NOISE) if follows else 0.0


@kernel
def energy_at_play(n: Any, table: Any, work: Any) -> Any:
    """½ Σ |v p| at the stages, the largest."""
    d = dimension(table)
    at = room(n, d)
    half = d // 2
    y, f = work[at.y : at.y + n], work[at.f : at.f + d]
    total = absolute(ld(f, 0) * ld(y, n - half))
    for m in range(1, half):
        total = total + absolute(ld(f, m) * ld(y, n - half + m))
    st(work, ERROR, total)
    largest = 0.0
    for i in range(STAGES):
        largest = max(largest, 0.5 * ld2(work, ERROR, i).real)
    return largest


@kernel
def advance(y: Any, low: Any, table: Any, options: Any, work: Any, counters: Any) -> None:
    """y <- y τ(½ S) τ(½ S), by increments and with its low words; sums of commutative groups and exp take both at
    once.
    """
    n, d = y.shape[0], dimension(table)
    at, flat = room(n, d), flattened(work)
    l, total, state = work[at.l : at.l + d], flat[at.total : at.total + d], flat[at.state : at.state + n]
    tau = EXP if options[FLAT] else options[TAU]
    part = 1.0 if tau == EXP else 0.5
    for m in range(d):
        st(total, m, part * sum_of_stages(l, m))
    for _ in range(1 if tau == EXP else 2):
        advance_state(table, tau, y, low, total, state, options[COMPENSATION], counters)


# --- the step and its substeps ----------------------------------------------------------------------------------------


@helper
def allowed(coefficients: Any, options: Any, work: Any) -> Any:
    """The tolerance of a substep."""
    given = coefficients[TOLERANCE]
    if given > 0.0:
        return given
    return ROUNDING * at_play(work) if options[CANONICAL] else ROUNDING


@kernel
def wake(t: Any, h: Any, n: Any, table: Any, coefficients: Any, options: Any, work: Any, counters: Any) -> None:
    """Before a step: what an earlier one left is used if it was the step before and of the same size, or another part
    of the same step (states within steps).
    """
    clock, last = work[CLOCK_ROW], work[LEVELS_ROW + 1]
    if ld(clock, AT_PLAY) == 0.0:
        st(clock, AT_PLAY, coefficients[ENERGY])
        if options[POSITIONS] and not options[CANONICAL]:
            d = dimension(table)
            scale, least = flattened(work)[room(n, d).scale :], coefficients[coefficients.shape[0] - d :]
            for m in range(d):
                st(scale, m, least[m])
    if counters[HISTORY] == 0 or ld(clock, STEP_SIZE) != h:
        size = ld(last, LAST_SIZE).real
        within = (counters[HISTORY] > 0 or counters[PENDING] > 1) and size != 0.0 and ld(last, LAST_START).real == t
        within = within and 0.0 < h.real / size < WITHIN
        if within:
            guess_within(h.real / size, n, table, coefficients, options, work)
            st(clock, LEVEL, 0.0)
        st(clock, GUESS, KEPT if within else FRESH)
        st(clock, STEP_SIZE, h)


@helper
def fifteenth(x: Any) -> Any:
    """x¹⁵."""
    square = x * x
    fourth = square * square
    return fourth * fourth * fourth * square * x


@helper
def helps_little(before: Any, error: Any) -> Any:
    """Whether half the size has not brought the estimate down as that of a smooth field; `before` is 0 of none."""
    return 0.0 < before < CLEAR and error * HELPS > before


@kernel
def note(t: Any, h: Any, level: Any, error: Any, work: Any) -> None:
    """An accepted substep, in the report of the run."""
    report, size = work[REPORT_ROW], abs(h.real)
    st2(
        work,
        LEVELS_ROW + level // STAGES,
        level % STAGES,
        ld2(work, LEVELS_ROW + level // STAGES, level % STAGES) + 1.0,
    )
    st(report, LARGEST_ESTIMATE, max(ld(report, LARGEST_ESTIMATE).real, error))
    st(report, ESTIMATE_SUM, ld(report, ESTIMATE_SUM) + error)
    st(report, SUBSTEP_COUNT, ld(report, SUBSTEP_COUNT) + 1.0)
    steep = error / fifteenth(size)
    st(work[CLOCK_ROW], STEEPEST, max(ld(work[CLOCK_ROW], STEEPEST).real, steep))
    if ld(report, SMALLEST) == 0.0 or size < ld(report, SMALLEST).real:
        st(report, SMALLEST, size)
        st(report, SMALLEST_TIME, t)


@helper
def divided(
    solve: Any, advance: Any, field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step, in as many substeps as its estimate and its iteration demand.

    `solve` finds the stages of a substep and returns a status, `advance` takes the state to its end.
    """
    n, clock, largest = y.shape[0], work[CLOCK_ROW], options[LARGEST]
    wake(t, h, n, table, coefficients, options, work, counters)
    level, whole, position, before, slow = int(ld(clock, LEVEL).real), 1 << largest, 0, 0.0, 0
    follows = counters[HISTORY] > 0 and not counters[PROJECTED] and bool(options[TIMELESS])
    while position < whole:
        part = 1.0 / (1 << level)
        start, size = t + (position / whole) * h, part * h
        status = solve(
            field, start, size, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
        )  # fmt: skip
        estimates = estimate(size, n, table, coefficients, options, work)
        solved = status == OK and estimates[0] == estimates[0] and estimates[1] == estimates[1]
        if solved and options[CANONICAL]:
            st(clock, AT_PLAY, max(ld(clock, AT_PLAY).real, energy_at_play(n, table, work)))
        tolerance, error = allowed(coefficients, options, work), error_of(estimates, options, work)
        st(clock, TOLERATED, tolerance)
        if solved and error > tolerance:  # beside how far it goes, from rest and from zero
            measure(y, table, options, work)
            error = error_of(estimate(size, n, table, coefficients, options, work), options, work)
        if not (solved and (error <= tolerance or level == largest)):
            if level == largest:
                st(clock, GUESS, FRESH)
                return status if status != OK else NON_FINITE
            slow = slow + 1 if solved and helps_little(before, error) else 0
            level, before = level + 1, error if solved else 0.0
            near = solved and error <= 1e14 * tolerance
            st(clock, GUESS, AGAIN if near else FRESH)
            counters[REJECTED] += 1
            st(work[REPORT_ROW], REJECTIONS, ld(work[REPORT_ROW], REJECTIONS) + 1.0)
        else:
            advance(y, low, table, options, work, counters)
            position += whole >> level
            note(start, size, level, error, work)
            st2(work, LEVELS_ROW + 1, LAST_START, start)
            st2(work, LEVELS_ROW + 1, LAST_SIZE, size)
            rough = jump(size, n, table, coefficients, options, work, follows)
            if ld2(work, LEVELS_ROW + 1, TOP).real * abs(size.real) > NOISE:  # what is at rest moves by rounding
                if helps_little(before, error):
                    rough = max(rough, (slow + 1) / SLOW)
                if error > tolerance and before > 0.0:  # the smallest there is
                    rough = max(rough, HELPS * error / before)
            slow, before = 0, 0.0
            if rough > 1.0 and ld(clock, JUMP).real <= 1.0:
                st(clock, JUMP_TIME, start)
            st(clock, JUMP, max(ld(clock, JUMP).real, rough))
            follows = True
            larger = level > 0 and position % (whole >> (level - 1)) == 0 and UP_BELOW * error < tolerance
            st(clock, GUESS, UP if larger else SAME)
            if larger:
                level -= 1
    st(clock, LEVEL, float(level))
    counters[HISTORY] = 1
    counters[LAST_KNOWN] = 0
    return OK


@entry(STEP_SIGNATURE, STEP_OF_STAGES_SIGNATURE)
def gauss_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the Gauss method of eight stages."""
    return divided(
        solve, advance, field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work,
        counters,
    )  # fmt: skip


# --- the method -------------------------------------------------------------------------------------------------------


def prepare(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The energy at play at the start, at t, K of a constant kinetic energy, and the least sizes of components; whether
    the group is commutative, there is such a K, and the field does not read the time; where the sizes of the state are
    read and where the entries of K stand.
    """
    flat = bool(COMMUTATIVE[problem.table[:, KIND]].all()) and problem.n == problem.dimension
    sizes = [
        (0, 0) if size is None else (q + copy * FACTORS[kind].N_Q + size[0], size[1])
        for kind, q, _, n_q, _ in problem.table.tolist()
        for copy in range(n_q // FACTORS[kind].N_Q)
        for size in FACTORS[kind].SIZES
    ]
    K = constant_inverse_inertia(problem, t) if flat and problem.canonical else np.zeros((0, 0))
    timeless = problem.is_autonomous  # what is a function of time may be switched at the ends of steps
    options = [flat, len(K) > 0, timeless, *np.ravel(sizes), *np.ravel([_columns(row) for row in K])]
    least = AT_REST * unit_sizes(problem.table, problem.scales) if problem.positions else np.zeros(problem.dimension)
    return np.array([energy_of(problem, t), *K.ravel(), *least]), np.array(options, dtype=np.int64)


def _columns(row: NDArray[np.float64]) -> tuple[int, int]:
    """Between which columns the entries of a row stand."""
    found = np.flatnonzero(row)
    return (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 1)


def energy_of(problem: Problem, t: float = 0.0) -> float:
    """The energy at play at t: |E| and ½ Σ |v p| at the starts of a canonical problem, the largest, but at least the
    work of its forces on the way `ROUNDED`: what is at rest has that; of others 1.
    """
    if not problem.canonical:
        return 1.0
    largest, half = 0.0, problem.dimension // 2
    way = ROUNDED * unit_sizes(problem.table, problem.scales) * np.random.default_rng(0).standard_normal(2 * half)
    way[half:] = 0.0
    for y in np.atleast_2d(problem.y0):
        rates = problem.velocity(t, y)
        largest = max(largest, 0.5 * float(np.abs(rates[:half] * y[problem.n - half :]).sum()))
        with suppress(Exception):  # of a user's function beside the start
            beside = problem.velocity(t, moved(problem, y, way)) - rates
            largest = max(largest, 0.5 * float(np.nan_to_num(np.abs(beside[half:] * way[:half])).sum()))
        if "energy" in problem.invariant_names:
            largest = max(largest, abs(float(problem.invariant_values(t, y)[problem.invariant_names.index("energy")])))
    return largest if np.isfinite(largest) else 0.0


def shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the whole workspace."""
    return int(room(problem.n, problem.dimension).end), STAGES


def _rows(options: NDArray[np.int64]) -> int:
    """Rows that do not depend on the problem; `shape` knows the others."""
    return OWN - OWN_ROWS


def report(work: NDArray[np.float64]) -> Report:
    """How the steps were divided so far."""
    found, clock = work[REPORT_ROW].tolist(), work[CLOCK_ROW].tolist()
    levels = np.trim_zeros(work[LEVELS_ROW : LEVELS_ROW + 2].ravel()[: LEVELS + 1], "b")
    tried = found[SUBSTEP_COUNT] + found[REJECTIONS]
    steepest = clock[STEEPEST]
    return Report(
        levels=tuple(int(x) for x in levels),
        rejected=int(found[REJECTIONS]),
        smallest_substep=found[SMALLEST],
        smallest_at=found[SMALLEST_TIME],
        largest_estimate=found[LARGEST_ESTIMATE],
        estimate_sum=found[ESTIMATE_SUM],
        tolerance=clock[TOLERATED],
        recommended_step=(clock[TOLERATED] / steepest) ** (1 / 15) if steepest > 0.0 else float("inf"),
        sweeps=found[SWEEPS] / tried if tried else 0.0,
        most_sweeps=found[MOST],
        jump=clock[JUMP],
        jump_at=clock[JUMP_TIME],
    )


def tuned(method: Method, energy_tolerance: float | None, fast: bool) -> Method:
    """The method with another tolerance, and the fast stop; its name says so."""
    if energy_tolerance is not None:
        real(energy_tolerance, "energy_tolerance", "a positive number, or inf for undivided steps", lambda x: x > 0)
    said = ([] if energy_tolerance is None else [f"energy_tolerance={energy_tolerance!r}"]) + ["fast"] * fast
    return gauss_in_lanes_method(f"{method.name}[{', '.join(said)}]", energy_tolerance, fast)


def one_by_one(method: Method) -> Method:
    """The method, undivided, with its stages one after another."""
    return _one_by_one().with_map(method.map)


@cache
def _one_by_one() -> Method:
    return implicit_rkmk(GAUSS(STAGES), "GAUSS8, stages one by one")


def unresolved(method: Method, problem: Problem, h: Any, y: Any, slopes: Any) -> Any:
    """1 where the highest coefficient of a component is more than `RESOLVED` of its size, else 0: of steps that are
    divided all, and a few of those that are not, since it does not multiply coefficients of positions and momenta.
    """
    coefficients, options, d = method.coefficients, method.kernel_options(problem), problem.dimension
    parts, most = 2 if problem.canonical else 1, 0.0
    if options[LARGEST] == 0:
        return most
    for part in range(parts):
        components, largest = range(part * d // parts, (part + 1) * d // parts), 0.0
        sizes = {}
        for m in components:
            l = [h * coefficients[B + j] * slopes[j, m] for j in range(STAGES)]
            sizes[m] = l, size_of(y, options, m) + absolute(sum(l))
            largest = maximum(largest, sizes[m][1])
        for l, size in sizes.values():
            pairs = [(l[j], l[STAGES - 1 - j]) for j in range(STAGES // 2)]
            odd = sum(coefficients[HIGHEST + j] * (a - b) for j, (a, b) in enumerate(pairs))
            even = sum(coefficients[ENDS + STAGES * j + BELOW] * (a + b) for j, (a, b) in enumerate(pairs))
            most = maximum(most, maximum(absolute(odd), EVEN * absolute(even)) / (size + 1e-9 * largest + LEAST))
    return select(less(RESOLVED, most), 1.0, 0.0)


GAUSS_IN_LANES = Stepper(
    "gauss_in_lanes",
    gauss_step,
    _rows,
    maps=("exp", "cayley"),
    prepare=prepare,
    prepares_at=True,
    shape=shape,
    stages_in_lanes=True,
    one_by_one=one_by_one,
    unresolved=unresolved,
    report=report,
    tuned=tuned,
)


def gauss_in_lanes_method(
    name: str = "GAUSS8", energy_tolerance: float | None = None, fast: bool = False, levels: int = LEVELS
) -> Method:
    """The Gauss method of eight stages, its stages in lanes.

    Parameters
    ----------
    energy_tolerance : float, optional
        Largest estimate of a substep: energy for canonical problems, in the units of the problem; for others the square
        of a relative error.  Default: 1e-16 of the energy at play (or 1e-16).  inf: the step is never divided.
    fast : bool
        End the iteration where the next change is predicted below 1e-17 of the sizes: up to a third faster, with a
        drift of rounding in long runs.
    levels : int
        A step is divided into at most 2^levels substeps.
    """
    tolerance = 0.0 if energy_tolerance is None else float(energy_tolerance)
    whole = tolerance == np.inf
    return Method(
        name=name,
        stepper=GAUSS_IN_LANES,
        order=16,
        coefficients=np.concatenate([gauss_in_lanes().packed(), [1e300 if whole else tolerance]]),
        options=np.array([0 if whole else levels, fast]),
        symmetric=True,
        symplectic=True,
        source="Hairer, McLachlan and Razakarivony 2008; Antoñana, Makazaga and Murua 2017",
        projection_every=PROJECTION_EVERY,
    )
