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

Orders for s stages: 2s − 1 in positions; velocities s (index 3) or 2s − 1 (index 2, GGL).
Sources: Gear, Gupta and Leimkuhler 1985; Hairer, Lubich and Roche 1989; Hairer and Wanner 1996, section VII.

coefficients
    A (s·s, by rows), A⁻¹, c.
options
    stages s; largest number of iterations; form (0 index 3, 1 index 2, 2 GGL).
own rows
    those of the nonholonomic node, then `BLOCKS` groups of s rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, ITERATIONS, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.augmented_lagrangian import augmented_lagrangian
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.generalized_alpha import accelerations_count, balance, check, generalized_alpha
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import END, MATRIX, NODE, SCRATCH, L, R, S
from integrators.tableaus import RADAU_IIA
from liegroup.compile import any_, entry, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.dense import ldl_solve
from liegroup.compile.scalars import maximum
from liegroup.table import dtau_inverse_left

STAGES, LIMIT, FORM = range(OWN_OPTIONS, OWN_OPTIONS + 3)
INDEX_3, INDEX_2, GGL = range(3)
ACC, LAM, MU, VEL, RATE, U, RES, PHI, RHO = range(9)
"""Blocks: v̇, λ, μ, v, dτ⁻¹(v − P μ), u, residuals, φ, A v of the stages."""
BLOCKS = 9


@helper
def block(structure: Any, options: Any, which: Any) -> Any:
    """First row of a block."""
    return MATRIX + structure[0] + 2 * structure[1] + which * options[STAGES]


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
def _correct(h: Any, going: Any, coefficients: Any, options: Any, structure: Any, work: Any) -> Any:
    """Add the Newton step to v̇, λ, μ of all stages; returns the greatest change and size of v̇."""
    n, m, s = structure[0], structure[1], options[STAGES]
    phi, rho, acc = block(structure, options, PHI), block(structure, options, RHO), block(structure, options, ACC)
    change, size = 0.0 * going, 0.0 * going
    if options[FORM] == INDEX_3:
        for i in range(s):  # RHO is not needed: it takes (hA)⁻¹ φ
            for j in range(m):
                st2(work, rho + i, j, _unrolled(h, coefficients, options, work, phi, i, j))
    for i in range(s):
        for k in range(n):
            st2(work, R, k, ld2(work, block(structure, options, RES) + i, k))
        for j in range(m):
            st2(work, S, j, -_unrolled(h, coefficients, options, work, rho, i, j))
        node.solve_node(work[NODE], structure, work)
        found, greatest = node.add_solution(work, acc + i, R, n, going)
        node.add_solution(work, block(structure, options, LAM) + i, S, m, going)
        change, size = maximum(change, found), maximum(size, greatest)
        if options[FORM] == GGL:
            for j in range(m):
                st2(work, L, j, _unrolled(h, coefficients, options, work, phi, i, j) - ld2(work, rho + i, j))
            ldl_solve(work, MATRIX + n + m, m, work, L)
            row = block(structure, options, MU) + i
            for j in range(m):
                old = ld2(work, row, j)
                st2(work, row, j, select(going > 0.0, old + ld2(work, L, j), old))
    return change, size


@kernel
def _start(options: Any, structure: Any, work: Any) -> None:
    """All stages begin with the acceleration and multipliers of the node."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    for i in range(n):
        st2(work, R, i, balance(work[NODE], structure, i))
    for j in range(m):
        st2(work, S, j, -ld(work[NODE], at.BIAS + j))
    node.solve_node(work[NODE], structure, work)
    for i in range(options[STAGES]):
        for k in range(n):
            st2(work, block(structure, options, ACC) + i, k, ld2(work, R, k))
            st2(work, block(structure, options, U) + i, k, 0.0 * ld2(work, R, k))
        for j in range(m):
            st2(work, block(structure, options, LAM) + i, j, ld2(work, S, j))
            st2(work, block(structure, options, MU) + i, j, 0.0 * ld2(work, S, j))


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step; `field` is the problem's parts."""
    n = structure[0]
    n_q = y.shape[0] - n
    group, v = table[: table.shape[0] - 1], y[n_q:]
    last = options[STAGES] - 1
    node.parts_at(field, t, y[:n_q], v, parameters, structure, field_work, work, NODE)
    node.factor(work[NODE], structure, work)
    _start(options, structure, work)
    zero = ld(y, 0) * 0.0
    going, best = zero + 1.0, zero + 1.0
    counts = accelerations_count(h, y, n_q, options[FORM] == INDEX_3)
    for _ in range(options[LIMIT]):
        _stage_states(h, v, group, options[TAU], coefficients, options, structure, work)
        _residuals(field, t, h, y[:n_q], group, coefficients, options, parameters, structure, field_work, work)
        change, size = _correct(h, going, coefficients, options, structure, work)
        counters[EVALUATIONS] += options[STAGES]
        counters[ITERATIONS] += 1
        going, best = node.converged(change, maximum(size, counts), best, going)
        if node.fails(best):
            return NON_FINITE
        if not any_(going > 0.0):
            break
    if any_(going > 0.0):
        st(work[ERROR], 0, best)
        return NOT_CONVERGED
    _stage_states(h, v, group, options[TAU], coefficients, options, structure, work)
    u = work[block(structure, options, U) + last][:n]
    if leaves_chart(group, u):
        return CHART_LEFT
    advance_state(group, options[TAU], y, low, u, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    for k in range(n):
        st(v, k, ld2(work, block(structure, options, VEL) + last, k))
        st(low, n_q + k, 0.0)
    return OK


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    rows, columns = node.work_shape(problem, options)
    return rows + BLOCKS * int(options[STAGES - OWN_OPTIONS]), columns


STEPPER = Stepper(
    "radau-constrained",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=check,
    evaluates="parts",
    shape=work_shape,
    needs="closures",
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
