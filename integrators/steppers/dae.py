r"""Radau IIA methods for holonomic constraints on a group: index 3, index 2, or both levels (Gear, Gupta and
Leimkuhler).

Stages i = 1 … s with qᵢ = q τ(uᵢ), uᵢ = h Σ aᵢⱼ dτ⁻¹(uⱼ) (vⱼ − P₀ μⱼ), vᵢ = v + h Σ aᵢⱼ v̇ⱼ, P₀ = M₀⁻¹A₀ᵀ, at the times
t + cᵢ h:

    Mᵢ v̇ᵢ + rᵢ − Dᵢ = (F − G)ᵢ + Aᵢᵀ λᵢ        and        index 3: φ(qᵢ) = 0, μ = 0
                                                            index 2: Aᵢ vᵢ = 0, μ = 0
                                                            GGL: both, with the unknown μ (zero on the exact solution)

The last stage is the new state.  The simplified Newton iteration keeps M₀, A₀; then the stages decouple: with the
inverse of h A,

    index 2, GGL: A₀ δv̇ = −(hA)⁻¹ (A v),    GGL: (A₀ P₀) δμ = (hA)⁻¹ φ − A v,    index 3: A₀ δv̇ = −(hA)⁻² φ.

Where that does not converge, because springs or dampers are stiff, Newton's method with their derivatives takes over
(`integrators.steppers.constrained_newton`), and begins the next steps.

Orders for s stages: 2s − 1 in positions; velocities s (index 3) or 2s − 1 (index 2, GGL).
Sources: Gear, Gupta and Leimkuhler 1985; Hairer, Lubich and Roche 1989; Hairer and Wanner 1996, section VII.

coefficients
    A (s·s, by rows), A⁻¹, c.
options
    stages s; largest number of iterations; form (0 index 3, 1 index 2, 2 GGL).
own rows
    those of the nonholonomic node, then `BLOCKS` groups of s rows, then the memory of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.saddle_point import solve_saddle_point
from integrators.layout import COMPENSATION, EVALUATIONS, HISTORY, ITERATIONS, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.augmented_lagrangian import augmented_lagrangian
from integrators.steppers.common import advance_state, copy, leaves_chart
from integrators.steppers.constrained_newton import (
    INFINITE,
    accelerations_count,
    balance,
    begin_damped,
    conclude,
    correct,
    draft_stages,
    keep,
    memory_row,
    of_another_branch,
    part_within,
    proceed,
    room,
    rows_needed,
    stale,
    take_draft,
    tame,
    undamped,
)
from integrators.steppers.generalized_alpha import check, generalized_alpha
from integrators.steppers.iteration import nought
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    ROUNDS,
    attempts,
    count_stiff_steps,
    errors_of,
    explain,
    failure,
    tell_again,
)
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import END, MATRIX, NODE, SCRATCH, R, S
from integrators.tableaus import RADAU_IIA
from liegroup.compile import (
    absolute,
    any_,
    entry,
    helper,
    joined,
    kernel,
    ld,
    ld2,
    never,
    rare,
    scalar_of,
    select,
    st,
    st2,
)
from liegroup.compile.dense import ldl_solve
from liegroup.compile.scalars import maximum
from liegroup.table import dtau_inverse_left, retract

STAGES, LIMIT, FORM = range(OWN_OPTIONS, OWN_OPTIONS + 3)
INDEX_3, INDEX_2, GGL = range(3)
ACC, LAM, MU, VEL, RATE, U, RES, PHI, RHO = range(9)
"""Blocks: v̇, λ, μ, v, dτ⁻¹(v − P μ), u, residuals, φ, A v of the stages."""
BLOCKS = 9


@helper
def block(structure: Any, options: Any, which: Any) -> Any:
    """First row of a block."""
    return memory_row(structure) + which * options[STAGES]


@helper
def _memory_row(structure: Any, options: Any) -> Any:
    """Where the memory of Newton's method begins."""
    return block(structure, options, BLOCKS)


@kernel
def _sum_up(h: Any, coefficients: Any, options: Any, work: Any, source: Any, target: Any, n: Any) -> None:
    """target_i <- target_i + h Σ aᵢⱼ source_j."""
    s = options[STAGES]
    for i in range(s):
        for k in range(n):
            x = ld2(work, target + i, k)
            for j in range(s):
                x = x + (h * coefficients[i * s + j]) * ld2(work, source + j, k)
            st2(work, target + i, k, x)


@kernel
def _stage_states(
    h: Any, v: Any, group: Any, tau: Any, coefficients: Any, options: Any, structure: Any, work: Any
) -> None:
    """Velocities and charts u of the stages, from v̇ and μ."""
    n, m, s = structure[0], structure[1], options[STAGES]
    vel, rate, u = block(structure, options, VEL), block(structure, options, RATE), block(structure, options, U)
    for i in range(s):
        for k in range(n):
            st2(work, vel + i, k, ld(v, k))
    _sum_up(h, coefficients, options, work, block(structure, options, ACC), vel, n)
    for i in range(s):
        for k in range(n):
            x = ld2(work, vel + i, k)
            if options[FORM] == GGL:
                for j in range(m):
                    x = x - ld2(work, MATRIX + n + j, k) * ld2(work, block(structure, options, MU) + i, j)
            st2(work, rate + i, k, x)
        dtau_inverse_left(group, tau, work[u + i][:n], work[rate + i][:n], work[rate + i][:n])
    for i in range(s):
        for k in range(n):
            st2(work, u + i, k, 0.0 * ld(v, k))
    _sum_up(h, coefficients, options, work, rate, u, n)


@kernel
def _residuals(
    parts: Any, t: Any, h: Any, q: Any, group: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any,
) -> None:  # fmt: skip
    """RES, PHI and RHO of all stages."""
    n, m, s = structure[0], structure[1], options[STAGES]
    at = constrained(n, m, structure[2])
    for i in range(s):
        velocity = work[block(structure, options, VEL) + i][:n]
        u, acceleration = work[block(structure, options, U) + i][:n], work[block(structure, options, ACC) + i][:n]
        time = t + coefficients[2 * s * s + i] * h
        node.parts_beyond(
            parts, time, group, options[TAU], q, u, velocity, parameters, structure, field_work, work, END
        )
        node.mass_times(work[END], structure, acceleration, work[SCRATCH][:n])
        for k in range(n):
            push = node.reaction(work[END], structure, work[block(structure, options, LAM) + i], k)
            st2(
                work,
                block(structure, options, RES) + i,
                k,
                balance(work[END], structure, k) + push - ld2(work, SCRATCH, k),
            )
        for j in range(m):
            st2(work, block(structure, options, PHI) + i, j, ld(work[END], at.POSITION + j))
            st2(work, block(structure, options, RHO) + i, j, node.row_defect(work[END], structure, velocity, j))


@helper
def _unrolled(h: Any, coefficients: Any, options: Any, work: Any, source: Any, i: Any, j: Any) -> Any:
    """Row i of (hA)⁻¹ source, component j."""
    s = options[STAGES]
    x = 0.0 * ld2(work, source, j)
    for k in range(s):
        x = x + (coefficients[s * s + i * s + k] / h) * ld2(work, source + k, j)
    return x


@kernel
def _targets(h: Any, coefficients: Any, options: Any, structure: Any, work: Any) -> None:
    """RHO <- what the rows ask of v̇ in all stages, and for GGL PHI <- what they ask of μ."""
    m, s = structure[1], options[STAGES]
    phi, rho = block(structure, options, PHI), block(structure, options, RHO)
    for j in range(m):
        if options[FORM] == INDEX_3:  # (hA)⁻² φ; the rates are not needed
            for i in range(s):
                st2(work, rho + i, j, _unrolled(h, coefficients, options, work, phi, i, j))
        for i in range(s):
            st2(work, SCRATCH, i, -_unrolled(h, coefficients, options, work, rho, i, j))
        if options[FORM] == GGL:
            for i in range(s):
                st2(work, R, i, _unrolled(h, coefficients, options, work, phi, i, j) - ld2(work, rho + i, j))
            for i in range(s):
                st2(work, phi + i, j, ld2(work, R, i))
        for i in range(s):
            st2(work, rho + i, j, ld2(work, SCRATCH, i))


@kernel
def _simplified(options: Any, structure: Any, work: Any) -> None:
    """(RES, RHO) <- the simplified Newton step of v̇ and λ, stage by stage."""
    for i in range(options[STAGES]):
        residuals, rows = block(structure, options, RES) + i, block(structure, options, RHO) + i
        solve_saddle_point(
            work[NODE], constrained(structure[0], structure[1], structure[2]).ROWS, work, MATRIX, structure[0],
            structure[1], residuals, rows,
        )  # fmt: skip


@kernel
def _correct(going: Any, options: Any, structure: Any, work: Any) -> Any:
    """Add the step of v̇ and λ in (RES, RHO), and that of μ, to all stages; returns the greatest change and size of
    v̇.
    """
    n, m, s = structure[0], structure[1], options[STAGES]
    acc, change, size = block(structure, options, ACC), 0.0 * going, 0.0 * going
    for i in range(s):
        found, largest = node.add_solution(work, acc + i, block(structure, options, RES) + i, n, going)
        node.add(work, block(structure, options, LAM) + i, block(structure, options, RHO) + i, m, going)
        change, size = maximum(change, found), maximum(size, largest)
        change = change + nought(work[acc + i], n)
        if options[FORM] == GGL:
            ldl_solve(work, MATRIX + n + m, m, work, block(structure, options, PHI) + i)
            node.add(work, block(structure, options, MU) + i, block(structure, options, PHI) + i, m, going)
    return change, size


@kernel
def _start(options: Any, structure: Any, work: Any, where: Any, largest: Any) -> None:
    """All stages begin with the acceleration and multipliers of the node, or that part of them that accelerates by no
    more than `largest`, where asked.
    """
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    for i in range(n):
        st2(work, R, i, balance(work[NODE], structure, i))
    for j in range(m):
        st2(work, S, j, -ld(work[NODE], at.BIAS + j))
    node.solve_node(work[NODE], structure, work)
    zero, part = 0.0 * where, part_within(node.greatest_velocity(work, work[R], 0, n), largest)
    for i in range(options[STAGES]):
        for k in range(n):
            _put(work, block(structure, options, ACC) + i, k, part * ld2(work, R, k), where)
            _put(work, block(structure, options, U) + i, k, zero, where)
        for j in range(m):
            _put(work, block(structure, options, LAM) + i, j, part * ld2(work, S, j), where)
            _put(work, block(structure, options, MU) + i, j, zero, where)


@helper
def _put(work: Any, row: Any, k: Any, value: Any, where: Any) -> None:
    """work[row, k] <- value, where asked."""
    st2(work, row, k, select(where > 0.0, value, ld2(work, row, k)))


@kernel
def _iterate(
    parts: Any, t: Any, h: Any, y: Any, group: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any,
) -> Any:  # fmt: skip
    """v̇, λ and μ of all stages by the simplified iteration, to rounding, where asked; (1 where they are not found,
    rounds).
    """
    n, zero = structure[0], 0.0 * asked
    n_q = y.shape[0] - n
    going, best, lost, rounds = asked, zero + 1.0, zero, zero
    counts = accelerations_count(h, y, n_q, options[FORM] == INDEX_3, work)
    _start(options, structure, work, asked, zero + INFINITE)
    for _ in range(options[LIMIT]):
        _stage_states(h, y[n_q:], group, options[TAU], coefficients, options, structure, work)
        _residuals(parts, t, h, y[:n_q], group, coefficients, options, parameters, structure, field_work, work)
        _targets(h, coefficients, options, structure, work)
        _simplified(options, structure, work)
        change, size = _correct(going, options, structure, work)
        going, lost, rounds, best, _ = proceed(change, maximum(size, counts), going, lost, rounds, best, zero)
        counters[EVALUATIONS] += options[STAGES]
        counters[ITERATIONS] += 1
        if not any_(going > 0.0):
            break
    return conclude(work, going, lost, best), rounds


@kernel
def _weights(h: Any, coefficients: Any, options: Any, memory: Any, at: Any, one: Any) -> None:
    """V = h A and W = h² A² into the memory."""
    s = options[STAGES]
    for i in range(s):
        for j in range(s):
            total = 0.0
            for k in range(s):
                total = total + coefficients[i * s + k] * coefficients[k * s + j]
            st(memory, at.velocities + i * s + j, h * coefficients[i * s + j] * one)
            st(memory, at.positions + i * s + j, h * h * total * one)


@rare(never, lambda parts, t, h, y, *others: scalar_of(y))
def _newton(
    parts: Any, t: Any, h: Any, y: Any, group: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, asked: Any, history: Any, damped: Any,
) -> Any:  # fmt: skip
    """The same by Newton's method, damped or not; 1 where they are not found."""
    n, m, s, zero = structure[0], structure[1], options[STAGES], 0.0 * asked
    n_q = y.shape[0] - n
    memory, at = joined(work[_memory_row(structure, options) :]), room(s, n, m, n_q)
    going, best, lost, rounds, renewed = asked, zero + 1.0, zero, zero, zero
    where, counts = stale(memory, at, h, asked, history), accelerations_count(h, y, n_q, True, work)
    most = node.greatest_velocity(work, y, n_q, n) / absolute(h)
    _start(options, structure, work, asked, most)  # dampers may end it at once
    begin_damped(h, memory, at, asked, damped)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS):
        where = going if damped else where
        _stage_states(h, y[n_q:], group, options[TAU], coefficients, options, structure, work)
        _residuals(parts, t, h, y[:n_q], group, coefficients, options, parameters, structure, field_work, work)
        if any_(where > 0.0):  # at the last stage, which is the end of the step, or where damped at every one
            renewed = renewed + where
            _weights(h, coefficients, options, memory, at, zero + 1.0)
            place, speed = memory[at.place : at.place + n_q], memory[at.speed : at.speed + n]
            for i in range(0 if damped else s - 1, s):
                u, time = work[block(structure, options, U) + i][:n], t + coefficients[2 * s * s + i] * h
                retract(group, options[TAU], y[:n_q], u, place)
                copy(work[block(structure, options, VEL) + i][:n], speed)
                a, l = work[block(structure, options, ACC) + i][:n], work[block(structure, options, LAM) + i]
                if damped:
                    node.parts_at(parts, time, place, speed, parameters, structure, field_work, work, END)
                draft_stages(
                    parts, time, group, options[TAU], a, l, parameters, structure, field_work, work, memory, at, s,
                    work[R][:n], i if damped else 0, i + 1, counters,
                )  # fmt: skip
            take_draft(h, structure, memory, at, s, where)
        _targets(h, coefficients, options, structure, work)
        sigma = ld(memory, at.sigma)
        correct(
            structure, work, memory, at, s, block(structure, options, RES), block(structure, options, RHO),
            block(structure, options, ACC), counts, damped,
        )  # fmt: skip
        change, size = _correct(going, options, structure, work)
        change = tame(undamped(h, change, sigma), size, counts)
        going, lost, rounds, best, where = proceed(change, maximum(size, counts), going, lost, rounds, best, renewed)
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, going, lost, best)
    keep(memory, at, asked, unsolved, rounds, damped)
    if damped:
        unsolved = maximum(unsolved, of_another_branch(h, h * h, structure, work, memory, at, asked))
    return unsolved


@kernel
def _solve(
    parts: Any, t: Any, h: Any, y: Any, group: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, history: Any,
) -> Any:  # fmt: skip
    """v̇, λ and μ of all stages: by Newton's method where the simplified iteration does not find them, or the steps
    before tell.
    """
    n, m, one = structure[0], structure[1], 0.0 * ld(y, 0) + 1.0
    memory = joined(work[_memory_row(structure, options) :])
    at = room(options[STAGES], n, m, y.shape[0] - n)
    stiff = select(ld(memory, at.stiff) > 0.0, one, 0.0 * one)
    left, rounds = one - stiff, 0.0 * one
    if any_(left > 0.0):
        left, rounds = _iterate(
            parts, t, h, y, group, coefficients, options, parameters, structure, field_work, work, counters, left
        )
    count_stiff_steps(memory, at.stiff, left, rounds)
    left = select(stiff > 0.0, stiff, left)
    if any_(left > 0.0):
        left = _newton(
            parts, t, h, y, group, coefficients, options, parameters, structure, field_work, work, counters, left,
            history, 0,
        )  # fmt: skip
    if any_(left > 0.0) and any_(stiff > 0.0):  # what is not stiff any more
        left, rounds = _iterate(
            parts, t, h, y, group, coefficients, options, parameters, structure, field_work, work, counters, left
        )
    errors = errors_of(work)
    for damped in range(1, attempts(options[STAGES] * (n + m), -1, counters)):
        if any_(left > 0.0):
            left = _newton(
                parts, t, h, y, group, coefficients, options, parameters, structure, field_work, work, counters, left,
                0, damped,
            )  # fmt: skip
    if any_(left > 0.0):
        tell_again(work, left, errors)
        return failure(work)
    return OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step; `field` is the problem's parts."""
    n = structure[0]
    n_q = y.shape[0] - n
    group, v = table[: table.shape[0] - 1], y[n_q:]
    last = options[STAGES] - 1
    node.take_scales(coefficients, y, work)
    node.parts_at(field, t, y[:n_q], v, parameters, structure, field_work, work, NODE)
    node.factor(work[NODE], structure, work)
    history, counters[HISTORY] = counters[HISTORY], 0
    status = _solve(field, t, h, y, group, coefficients, options, parameters, structure, field_work, work, counters,
                    history)  # fmt: skip
    if status != OK:
        return status
    _stage_states(h, v, group, options[TAU], coefficients, options, structure, work)
    u = work[block(structure, options, U) + last][:n]
    if leaves_chart(group, u):
        return CHART_LEFT
    advance_state(group, options[TAU], y, low, u, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    for k in range(n):
        st(v, k, ld2(work, block(structure, options, VEL) + last, k))
        st(low, n_q + k, 0.0)
    counters[HISTORY] = 1
    return OK


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    rows, columns = node.work_shape(problem, options)
    s = int(options[STAGES - OWN_OPTIONS])
    return rows + BLOCKS * s + rows_needed(problem, s, columns), columns


STEPPER = Stepper(
    "radau-constrained",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=check,
    evaluates="parts",
    shape=work_shape,
    needs="closures",
    explain=explain,
)
FORMS = {"index3": INDEX_3, "index2": INDEX_2, "ggl": GGL}


def radau(name: str, form: str = "ggl", stages: int = 3, iterations: int = 80) -> Method:
    """Radau IIA with a number of stages, in one of the `FORMS`; ValueError for another."""
    if form not in FORMS:
        raise ValueError(f"form: {form!r}, expected one of {', '.join(FORMS)}")
    tableau = RADAU_IIA(stages)
    A, c = np.asarray(tableau.rounded.A), np.asarray(tableau.rounded.c)
    return Method(
        name=name,
        stepper=STEPPER,
        order=2 * stages - 1,
        velocity_order=stages if form == "index3" and stages > 1 else None,
        coefficients=np.concatenate([A.ravel(), np.linalg.inv(A).ravel(), c]),
        options=np.array([stages, iterations, FORMS[form]]),
        source="Gear, Gupta and Leimkuhler 1985; Hairer, Lubich and Roche 1989",
    )


def rows() -> Iterator[tuple[str, Callable[[], Method]]]:
    """Name and builder of the rows of the catalogue.

    ================================  ==================================================================================
    ALPHA_INDEX3, ALPHA_STABILISED    generalised-α: ρ = 0.9 for energy over long times, 0.8 closed in velocities, too
    AUGMENTED_LAGRANGIAN              trapezoidal rule, iterated multipliers, projected velocities and accelerations
    RADAU_INDEX3, _INDEX2, _GGL       Radau IIA of three stages, order 5; GGL closes positions and velocities, index 3
                                      has velocities of order 3
    ================================  ==================================================================================
    """
    yield "ALPHA_INDEX3", partial(generalized_alpha, "ALPHA_INDEX3", 0.9)
    yield "ALPHA_STABILISED", partial(generalized_alpha, "ALPHA_STABILISED", 0.8, stabilised=True)
    yield "AUGMENTED_LAGRANGIAN", partial(augmented_lagrangian, "AUGMENTED_LAGRANGIAN")
    for form in FORMS:
        yield f"RADAU_{form}".upper(), partial(radau, f"RADAU_{form}".upper(), form)
