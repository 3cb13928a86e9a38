"""The equations of an implicit Runge-Kutta-Munthe-Kaas step by Newton's method with a derivative for every stage: where
one for all (`integrators.steppers.implicit_newton`) does not converge, because stiff directions turn within the step.

    (1 − h [aᵢⱼ Jᵢ]) Δk = r,     Jᵢ = ∂f/∂x at stage i

The system of size s d is solved as a whole, with new derivatives in every round; a few are enough.  Its matrix takes
the place of the factors, which the next step makes anew.  Bands are left alone.  Where that does not converge either
it is damped (`integrators.steppers.newton.steer`).

What it costs, timed on one machine and of that order elsewhere: on a four-bar held elastically (d = 6) steps of three
stages that all come here take 4.5 to 6 times as long as those of soft closures, where one derivative serves, and 7
times with five stages.  Four times the evaluations are most of it: those that one derivative wastes before it is given
up, and those of the derivatives.  Elimination in (s d)³/3 adds 40 to 75 % to each of them.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.matrices import decompose, solve_factors
from integrators.layout import EVALUATIONS, ITERATIONS, OWN_ROWS, POSITIONS, TAU
from integrators.problem.sparsity import HALF
from integrators.steppers.common import dimension
from integrators.steppers.implicit_newton import memory_row, residual
from integrators.steppers.implicit_stages import BLOCKS, CENTRED, STAGES, centre, own
from integrators.steppers.iteration import goes_on
from integrators.steppers.newton import (
    DAMPED_ROUNDS,
    conclude,
    damp,
    damping,
    judge,
    linearise,
    of_another_branch,
    steer,
)
from integrators.steppers.newton_systems import room
from integrators.steppers.rkmk import combine
from liegroup.compile import absolute, any_, joined, kernel, ld, never, rare, scalar_of, select, st
from liegroup.compile.scalars import maximum
from liegroup.table import retract

LOOPS = "short"

ROUNDS = 30
"""At most."""


@kernel
def rows_of_stage(h: Any, memory: Any, s: Any, d: Any, i: Any, A: Any, b: Any, centred: Any) -> None:
    """Rows of stage i of the matrix, by its J; `centred`: A is without ½ b."""
    at, n = room(s, d, -1), s * d
    J, a = memory[at.jacobian :], memory[at.factors :]
    for j in range(s):
        weight = A[i * s + j]
        if centred:
            weight += 0.5 * b[j]
        r = h * weight
        for m in range(d):
            for c in range(d):
                one = 1.0 if i == j and m == c else 0.0
                st(a, (i * d + m) * n + j * d + c, one - r * ld(J, m * d + c))


@rare(never, lambda field, t, h, y, *others: scalar_of(y))
def newton_of_stages(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, going: Any, damped: Any,
) -> Any:  # fmt: skip
    """Solve for the kᵢ to rounding where `going`, from what they are; returns 1 where they are not solved."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    pattern = options[BLOCKS + 2 * s :]
    if pattern[HALF] >= 0:
        return going
    memory, at = joined(work[memory_row(options) :]), room(s, d, -1)
    _, exponent, middle, state, _ = own(s)
    u, x = work[exponent][:d], work[state][:n]
    asked, zero = going, ld(y, 0) * 0.0
    best, least, lost, rounds = zero + 1.0, zero + 1e300, zero, zero
    sigma = zero + 1.0 / absolute(h)
    for k in range(s * d):
        st(memory, at.apart + k, zero)
    for _ in range(DAMPED_ROUNDS if damped else ROUNDS):
        ratio = residual(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, memory)
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        going, lost, rounds, _where = judge(ratio, going, lost, rounds, best, zero)
        if not any_(going > 0.0):
            break
        for i in range(s):
            centre(h, y, table, coefficients, options, work)
            combine(work, h, coefficients, i * s, s, u)
            retract(table, options[TAU], work[middle][:n], u, x)
            linearise(
                field, t + coefficients[s * s + s + i] * h, x, table, options[POSITIONS], pattern, parameters,
                structure, field_work, memory, s, d, work[middle][:n], going, counters,
            )  # fmt: skip
            shift = damping(memory, s, d, pattern, sigma, going) if damped else zero
            damp(memory, s, d, pattern, shift)
            rows_of_stage(h, memory, s, d, i, coefficients, coefficients[s * s :], options[CENTRED])
            damp(memory, s, d, pattern, -shift)
        decompose(memory[at.factors :], s * d, memory[at.pivots :])
        solve_factors(memory[at.factors :], s * d, memory[at.pivots :], memory[at.residual :])
        if damped:
            sigma = steer(work, OWN_ROWS, memory, s, d, damped, sigma)
        for i in range(s):
            for m in range(d):
                k = ld(work[OWN_ROWS + i], m)
                st(work[OWN_ROWS + i], m, select(going > 0.0, k + ld(memory, at.residual + i * d + m), k))
        least = select((going > 0.0) & (ratio < least), ratio, least)
        going, best = goes_on(going, ratio, best), select(going > 0.0, ratio, best)
        if not any_(going > 0.0):
            break
    unsolved = conclude(work, memory, s, d, asked, going, lost, rounds, best, least)
    if damped:  # J is that of the last stage
        own_weight = 0.0
        for i in range(s):
            own_weight = max(own_weight, coefficients[i * s + i])
            for j in range(i + 1, s):
                own_weight = 1.0 if coefficients[i * s + j] != 0.0 else own_weight
        branch = of_another_branch(h * own_weight, memory, s, d, coefficients, pattern, asked)
        unsolved = maximum(unsolved, branch)
    st(memory, at.kept, select(asked > 0.0, zero, ld(memory, at.kept)))
    st(memory, at.step, zero)  # of the factors of all lanes
    return unsolved
