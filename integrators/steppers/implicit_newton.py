"""The equations of an implicit Runge-Kutta-Munthe-Kaas step, solved by Newton's method (`integrators.steppers.newton`).

What the matrix 1 − h A ⊗ J leaves out, the terms ½[u, k] of the inverse differential, is small with the step and not
stiff.

coefficients
    those of `integrators.steppers.implicit_stages`, then Q and R of A (not centred), by rows.
options
    those of `integrators.steppers.implicit_stages`.
own rows
    those of `integrators.steppers.implicit_stages`, then the memory of the iteration.
"""

from __future__ import annotations

from typing import Any

from integrators.layout import EVALUATIONS, ITERATIONS, OWN_ROWS, POSITIONS
from integrators.problem.sparsity import HALF
from integrators.steppers.common import dimension
from integrators.steppers.implicit_stages import BLOCKS, PAST, STAGES, centre, evaluate, own
from integrators.steppers.iteration import goes_on, nought
from integrators.steppers.newton import ROUNDS, conclude, judge, levels, linearise, linearise_where_needed, share
from integrators.steppers.newton_systems import correct, factorise, room
from liegroup.compile import absolute, any_, helper, joined, ld, never, rare, scalar_of, select, st
from liegroup.compile.scalars import maximum

LOOPS = "rows"

FEW = 1.0
"""New derivatives in one step, of dense problems: where another is asked for, they turn too much within the step for
one to serve all stages, and what is found after many rounds may be another solution, far away.
"""


@helper
def memory_row(options: Any) -> Any:
    """Where the memory of Newton's iteration begins."""
    return own(options[STAGES])[4] + options[STAGES] * options[PAST]


@helper
def residual(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, memory: Any,
) -> Any:  # fmt: skip
    """The residual of all kᵢ into the memory; returns its largest share of what rounding may leave."""
    s, d = options[STAGES], dimension(table)
    pattern = options[BLOCKS + 2 * s :]
    new, at, largest = own(s)[0], room(s, d, pattern[HALF]), ld(y, 0) * 0.0
    for m in range(d):
        reach = absolute(h * ld(work[OWN_ROWS], m))
        for i in range(1, s):
            reach = maximum(reach, absolute(h * ld(work[OWN_ROWS + i], m)))
        st(memory, at.change + m, reach)
    levels(memory, s, d, pattern)
    centre(h, y, table, coefficients, options, work)
    for i in range(s):
        evaluate(field, t, h, y.shape[0], i, table, coefficients, options, parameters, structure, field_work, work)
        for m in range(d):
            k, value = ld(work[OWN_ROWS + i], m), ld(work[new], m)
            st(memory, at.residual + i * d + m, value - k)
            largest = maximum(largest, share(memory, s, d, m, value - k, k, value))
    return largest + nought(memory, s * d)


@rare(never, lambda field, t, h, y, *others: scalar_of(y))
def newton(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, going: Any, history: Any,
) -> Any:  # fmt: skip
    """Solve for the kᵢ to rounding where `going`; returns 1 where they are not solved."""
    s, d = options[STAGES], dimension(table)
    pattern = options[BLOCKS + 2 * s :]
    memory, at = joined(work[memory_row(options) :]), room(s, d, pattern[HALF])
    q = s * s + 3 * s
    Q, R = coefficients[q : q + s * s], coefficients[q + s * s :]
    blocks = options[BLOCKS:]
    x, asked, zero, positions = work[own(s)[3]][: y.shape[0]], going, ld(y, 0) * 0.0, options[POSITIONS]
    linearise_where_needed(
        field, t, h, y, table, positions, pattern, parameters, structure, field_work, memory, s, d, R, blocks, x,
        going, history, counters,
    )  # fmt: skip
    best, least, lost, rounds, renewed, left = zero + 1.0, zero + 1e300, zero, zero, zero, zero
    dense = pattern[HALF] < 0
    for _ in range(ROUNDS):
        ratio = residual(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, memory)
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        going, lost, rounds, where = judge(ratio, going, lost, rounds, best, renewed)
        if dense:
            turns = (where > 0.0) & (renewed >= FEW)
            left, going, where = select(turns, zero + 1.0, left), select(turns, zero, going), select(turns, zero, where)
        if any_(where > 0.0):
            renewed = renewed + where
            linearise(
                field, t, x, table, positions, pattern, parameters, structure, field_work, memory, s, d,
                work[own(s)[2]][: y.shape[0]], where, counters,
            )  # fmt: skip
            factorise(h, memory, s, d, R, blocks, pattern)
        correct(h, memory, s, d, Q, R, blocks, pattern)
        for i in range(s):
            for m in range(d):
                k = ld(work[OWN_ROWS + i], m)
                st(work[OWN_ROWS + i], m, select(going > 0.0, k + ld(memory, at.residual + i * d + m), k))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    return conclude(work, memory, s, d, asked, maximum(going, left), lost, rounds, best, least)
