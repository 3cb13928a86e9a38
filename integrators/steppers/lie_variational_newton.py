"""The equations of a variational Gauss step on T*G, solved by Newton's method (`integrators.steppers.newton`).

In the chart of the step (x, P) are canonical coordinates, with slopes (K, N), and the method in them is that of the
tableau; what its matrix 1 − h a ⊗ J leaves out is small with the step and not stiff.
"""

from __future__ import annotations

from typing import Any

from integrators.layout import EVALUATIONS, ITERATIONS, OWN_ROWS, TAU
from integrators.problem.sparsity import HALF
from integrators.steppers.iteration import goes_on, nought
from integrators.steppers.lie_variational_stages import BLOCKS, PAST, STAGES, centre, own, stage
from integrators.steppers.newton import ROUNDS, conclude, judge, levels, linearise, linearise_where_needed, share
from integrators.steppers.newton_systems import correct, factorise, room
from liegroup.compile import absolute, any_, helper, joined, kernel, ld, never, rare, scalar_of, select, st
from liegroup.compile.scalars import maximum


@helper
def memory_row(options: Any) -> Any:
    """Where the memory of Newton's method begins."""
    return own(options[STAGES])[9] + 3 * options[STAGES] * options[PAST]


@kernel
def _residual(
    field: Any, t: Any, h: Any, y: Any, group: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual of (K, N) of all stages into the memory; f and N keep the difference that the equations give them.
    Returns the largest share of what rounding may leave.
    """
    s, tau, d = options[STAGES], options[TAU], 2 * m
    pattern = options[BLOCKS + 2 * s :]
    new, at, zero = own(s)[1], room(s, d, pattern[HALF]), ld(y, 0) * 0.0
    for row in range(2):
        for k in range(m):
            reach = zero
            for i in range(s):
                reach = maximum(reach, absolute(h * ld(work[OWN_ROWS + 3 * i + row], k)))
            st(memory, at.change + row * m + k, reach)
    levels(memory, s, d, pattern)
    centre(h, y, group, tau, m, coefficients, s, work)
    largest = zero
    for i in range(s):
        stage(field, t, h, y, i, group, tau, m, coefficients, s, parameters, structure, field_work, work)
        for row in range(2):
            for k in range(m):
                slope, value = ld(work[OWN_ROWS + 3 * i + row], k), ld(work[new + row], k)
                st(memory, at.residual + i * d + row * m + k, value - slope)
                largest = maximum(largest, share(memory, s, d, row * m + k, value - slope, slope, value))
        for k in range(m):
            apart = ld(work[new + 2], k) - ld(work[new + 1], k)
            st(memory, at.apart + i * m + k, apart)
    return largest + nought(memory, s * d)


@rare(never, lambda field, t, h, y, *others: scalar_of(y))
def newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, going: Any, history: Any,
) -> Any:  # fmt: skip
    """Solve for the stages to rounding where `going`, with 1 − h a ⊗ J for the slopes (K, N) of (x, P); returns 1
    where they are not solved.
    """
    s, d, n, group = options[STAGES], 2 * m, y.shape[0], table[: table.shape[0] - 1]
    pattern = options[BLOCKS + 2 * s :]
    memory, at, q = joined(work[memory_row(options) :]), room(s, d, pattern[HALF]), 2 * s * s + 2 * s
    Q, R = coefficients[q : q + s * s], coefficients[q + s * s :]
    blocks = options[BLOCKS:]
    x, asked, zero = work[own(s)[7]][:n], going, ld(y, 0) * 0.0
    linearise_where_needed(
        field, t, h, y, table, 1, pattern, parameters, structure, field_work, memory, s, d, R, blocks, x, going,
        history, counters,
    )  # fmt: skip
    best, least, lost, rounds, renewed = zero + 1.0, zero + 1e300, zero, zero, zero
    for _ in range(ROUNDS):
        ratio = _residual(
            field, t, h, y, group, m, coefficients, options, parameters, structure, field_work, work, memory
        )
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewed)
        if any_(where > 0.0):
            renewed = renewed + where
            linearise(
                field, t, x, table, 1, pattern, parameters, structure, field_work, memory, s, d,
                work[own(s)[8]][:n], where, counters,
            )  # fmt: skip
            factorise(h, memory, s, d, R, blocks, pattern)
        correct(h, memory, s, d, Q, R, blocks, pattern)
        for i in range(s):
            for row in range(2):
                for k in range(m):
                    z = ld(work[OWN_ROWS + 3 * i + row], k)
                    change = ld(memory, at.residual + i * d + row * m + k)
                    st(work[OWN_ROWS + 3 * i + row], k, select(going > 0.0, z + change, z))
            for k in range(m):
                f = ld(work[OWN_ROWS + 3 * i + 1], k) + ld(memory, at.apart + i * m + k)
                st(work[OWN_ROWS + 3 * i + 2], k, select(going > 0.0, f, ld(work[OWN_ROWS + 3 * i + 2], k)))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    return conclude(work, memory, s, d, asked, going, lost, rounds, best, least)
