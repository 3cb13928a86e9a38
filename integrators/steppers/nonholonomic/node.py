"""What the nonholonomic steppers share: parts at a state, the matrix of a node, discrete momenta, the iteration's end.

State y = (q, v); parts in the layout `integrators.problem.parts.Constrained`; structure begins with (n, m, k).  The
node matrix [[M, −Aᵀ], [A, 0]] (`integrators.arithmetic.saddle_point`) is factored at a node and used for the simplified
Newton steps that start there and for the projection onto the constraints.

rows of the workspace (as long as the parts), from `OWN_ROWS` on
    NODE parts at the node whose matrix is factored; MIDDLE, END parts elsewhere; X interval velocity; L multipliers; P
    momentum at the start; HX increment in the algebra; MU; R, S right-hand sides; STATE (q, v) where parts are
    evaluated; MEMORY, MEMORY_2 what a method remembers; SCRATCH; PER inverses of `Problem.scales`, velocities first;
    AT the X at which the parts of an iteration are; `STEPS` rows of past steps of an iteration, M times them behind;
    `DIFFERENCES` rows of backward differences of past solutions; then n rows of the factor of M, m of Y, m of the
    factor of A Y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.saddle_point import factor_saddle_point, factor_soft_saddle_point, solve_saddle_point
from integrators.layout import EVALUATIONS, ITERATIONS, OWN_ROWS
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.status import NON_FINITE, OK
from integrators.steppers.iteration import FLOOR, relative
from liegroup.compile import absolute, any_, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from liegroup.table import dtau_inverse_left_transpose, dtau_inverse_right_transpose, retract

LOOPS = "short"

NODE, MIDDLE, END, X, L, P, HX, MU, R, S, STATE, MEMORY, MEMORY_2, SCRATCH, PER, AT = range(OWN_ROWS, OWN_ROWS + 16)
STEPS = 12
"""Past steps that an iteration learns from."""
DIFFERENCES = 4
"""Past solutions from which the start of the next iteration is extrapolated."""
PAST = OWN_ROWS + 16
TREND = PAST + STEPS
MATRIX = TREND + DIFFERENCES
GOES_ON = -1
"""Beside the statuses of a step: the iteration is not at its end."""
NEGLIGIBLE = 1e-18
"""Relative: a next step expected to be smaller is not taken."""


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    check(problem)
    n, m, _ = problem.sizes
    return MATRIX + n + 2 * m, max(problem.n, problem.parts_size)  # the parts are longer than n + m + 1


def check(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The inverses of the problem's scales; ValueError unless it carries its constraints as parts."""
    if problem.parts_layout != "constrained":
        remedy = (
            "pose it by mechanics.formulations.constrained_problem of a mechanism, by constrained_problem() of a "
            "nonholonomic system, a holonomic_problem by integrators.problem.in_velocities"
        )
        if problem.inputs.worked:
            remedy = "run it without with_work(), and integrate Problem.input_powers(run.t, run.y)"
        raise ValueError(
            f"method: it works with constraints and multipliers, which the problem {problem.model!r} does not carry; "
            f"{remedy}"
        )
    n = problem.sizes[0]
    return 1.0 / np.roll(problem.scales, n), np.zeros(0, dtype=np.int64)


@kernel
def take_scales(coefficients: Any, y: Any, work: Any) -> None:
    """PER <- what `check` found, before anything is compared."""
    own = coefficients.shape[0] - y.shape[0]
    for i in range(y.shape[0]):
        st2(work, PER, i, coefficients[own + i])


@helper
def greatest(work: Any, x: Any, first: Any, count: Any, scaled: Any) -> Any:
    """max |x| of `count` components from `first` on, in what counts as one from number `scaled` of PER on."""
    largest = absolute(ld(x, first)) * ld2(work, PER, scaled)
    for i in range(1, count):
        largest = maximum(largest, absolute(ld(x, first + i)) * ld2(work, PER, scaled + i))
    return largest


@helper
def greatest_velocity(work: Any, x: Any, first: Any, n: Any) -> Any:
    """The same of n velocities or accelerations."""
    return greatest(work, x, first, n, 0)


@helper
def greatest_position(work: Any, q: Any, n_q: Any, n: Any) -> Any:
    """The same of the position that x begins with; one at least: what is computed from it is rounded, too."""
    largest = greatest(work, q, 0, n_q, n)
    return maximum(largest, 1.0 + 0.0 * largest)


@kernel
def factor(values: Any, structure: Any, work: Any) -> None:
    """Factor the matrix of the node whose parts are `values`."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    factor_saddle_point(values, at.MASS, at.ROWS, work, MATRIX, n, m)


@kernel
def soft_factor(values: Any, structure: Any, work: Any, softness: Any) -> None:
    """The same with the softness ε in the place of the lower right zero: regular for rows that depend on each other,
    too.
    """
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    factor_soft_saddle_point(values, at.MASS, at.ROWS, softness, work, MATRIX, n, m)


@kernel
def solve_node(values: Any, structure: Any, work: Any) -> None:
    """(R, S) <- (x, l) with M x − Aᵀ l = R and A x = S, at the node with parts `values`."""
    n, m = structure[0], structure[1]
    solve_saddle_point(values, constrained(n, m, structure[2]).ROWS, work, MATRIX, n, m, R, S)


@kernel
def parts_at(
    parts: Any, t: Any, q: Any, velocity: Any, parameters: Any, structure: Any, field_work: Any, work: Any, row: Any
) -> None:
    """The parts at (q, velocity) into a row."""
    n, n_q = structure[0], q.shape[0]
    state = work[STATE][: n_q + n]
    for i in range(n_q):
        st(state, i, ld(q, i))
    for i in range(n):
        st(state, n_q + i, ld(velocity, i))
    parts(t, state, parameters, structure, field_work, work[row][: constrained(n, structure[1], structure[2]).SIZE])


@kernel
def parts_beyond(
    parts: Any, t: Any, group: Any, tau: Any, q: Any, increment: Any, velocity: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, row: Any,
) -> None:  # fmt: skip
    """The parts at (q τ(increment), velocity) into a row."""
    n, n_q = structure[0], q.shape[0]
    state = work[STATE][: n_q + n]
    retract(group, tau, q, increment, state)
    for i in range(n):
        st(state, n_q + i, ld(velocity, i))
    parts(t, state, parameters, structure, field_work, work[row][: constrained(n, structure[1], structure[2]).SIZE])


@kernel
def parts_at_end(
    parts: Any, t: Any, y: Any, group: Any, tau: Any, parameters: Any, structure: Any, field_work: Any, work: Any
) -> None:
    """The parts at time t, at the position of y moved by HX and with the velocity in MU, into END."""
    n = structure[0]
    q, velocity = y[: y.shape[0] - n], work[MU][:n]
    parts_beyond(parts, t, group, tau, q, work[HX][:n], velocity, parameters, structure, field_work, work, END)


@helper
def force(values: Any, structure: Any, i: Any) -> Any:
    """Component i of F − G."""
    at = constrained(structure[0], structure[1], structure[2])
    return ld(values, at.FORCE + i) - ld(values, at.GRADIENT + i)


@helper
def reaction(values: Any, structure: Any, multipliers: Any, i: Any) -> Any:
    """Component i of Aᵀ l."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    s = 0.0 * ld(multipliers, 0)
    for j in range(m):
        s = s + ld(values, at.ROWS + j * n + i) * ld(multipliers, j)
    return s


@helper
def row_defect(values: Any, structure: Any, velocity: Any, j: Any) -> Any:
    """Row j of A v − c."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    s = -ld(values, at.VALUE + j)
    for i in range(n):
        s = s + ld(values, at.ROWS + j * n + i) * ld(velocity, i)
    return s


@kernel
def mass_times(values: Any, structure: Any, velocity: Any, out: Any) -> None:
    """out <- M v."""
    n = structure[0]
    for i in range(n):
        s = ld(values, i * n) * ld(velocity, 0)
        for j in range(1, n):
            s = s + ld(values, i * n + j) * ld(velocity, j)
        st(out, i, s)


@kernel
def momentum_before(group: Any, tau: Any, h: Any, values: Any, structure: Any, hx: Any, mu: Any, out: Any) -> None:
    """P⁻ = dτ_right(hX)⁻ᵀ μ − (h/2) D."""
    at = constrained(structure[0], structure[1], structure[2])
    dtau_inverse_right_transpose(group, tau, hx, mu, out)
    for i in range(structure[0]):
        st(out, i, ld(out, i) - 0.5 * h * ld(values, at.KINETIC + i))


@kernel
def momentum_after(group: Any, tau: Any, h: Any, values: Any, structure: Any, hx: Any, mu: Any, out: Any) -> None:
    """P⁺ = dτ_left(hX)⁻ᵀ μ + (h/2) D."""
    at = constrained(structure[0], structure[1], structure[2])
    dtau_inverse_left_transpose(group, tau, hx, mu, out)
    for i in range(structure[0]):
        st(out, i, ld(out, i) + 0.5 * h * ld(values, at.KINETIC + i))


@kernel
def learn(structure: Any, work: Any, count: Any) -> None:
    """(R, S) <- the next step of Broyden's method, from the simplified Newton step in (R, S) and the `count` steps
    before it.

    The matrix is corrected by one dyad per step, along the velocities only (the equations are linear in the
    multipliers): z <- z + s_{j+1} (s_j·z)/|s_j|², and at last z/(1 − s·z/|s|²), where a·b = aᵀM b with the M of NODE:
    metres and turns have no other product that knows no unit.  Source: Broyden 1965; Kelley 1995, section 7.3.
    """
    n, m = structure[0], structure[1]
    known, momentum = min(count, STEPS), n + m + 1
    if 0 < count <= STEPS:
        last = PAST + count - 1
        mass_times(work[NODE], structure, work[last][:n], work[last][momentum : momentum + n])
        square = 0.0 * ld2(work, R, 0)
        for i in range(n):
            square = square + ld2(work, last, momentum + i) * ld2(work, last, i)
        st2(work, last, n + m, select(square == 0.0, 1.0 + 0.0 * square, square))
    for j in range(known):
        share = 0.0 * ld2(work, R, 0)
        for i in range(n):
            share = share + ld2(work, PAST + j, momentum + i) * ld2(work, R, i)
        share = share / ld2(work, PAST + j, n + m)
        if j + 1 < known:
            for i in range(n):
                st2(work, R, i, ld2(work, R, i) + share * ld2(work, PAST + j + 1, i))
            for i in range(m):
                st2(work, S, i, ld2(work, S, i) + share * ld2(work, PAST + j + 1, n + i))
        elif count < STEPS:
            gain = 1.0 / select(absolute(1.0 - share) < 0.1, 1.0 + 0.0 * share, 1.0 - share)
            for i in range(n):
                st2(work, R, i, gain * ld2(work, R, i))
            for i in range(m):
                st2(work, S, i, gain * ld2(work, S, i))
    if count < STEPS:
        for i in range(n):
            st2(work, PAST + count, i, ld2(work, R, i))
        for i in range(m):
            st2(work, PAST + count, n + i, ld2(work, S, i))


@kernel
def extrapolate(work: Any, n: Any, m: Any, known: Any) -> None:
    """(X, L) <- the next of a series from its backward differences."""
    for i in range(n + m):
        s = ld2(work, TREND, i)
        for k in range(1, known):
            s = s + ld2(work, TREND + k, i)
        if i < n:
            st2(work, X, i, s)
        else:
            st2(work, L, i - n, s)


@kernel
def remember(work: Any, n: Any, m: Any, known: Any) -> None:
    """Update the backward differences with the new (X, L); `known` rows will be known afterwards."""
    for i in range(n + m):
        x = ld2(work, X, i) if i < n else ld2(work, L, i - n)
        for k in range(known):
            old = ld2(work, TREND + k, i)
            st2(work, TREND + k, i, x)
            x = x - old


@helper
def converged(change: Any, size: Any, best: Any, going: Any) -> Any:
    """(going, best) after a change: an iteration ends when its next step would be negligible, or rounding stops it
    below `FLOOR`.
    """
    residual = relative(change, size)
    rate = select(best >= 1.0, 1.0 + 0.0 * best, residual / select(best == 0.0, 1.0 + 0.0 * best, best))
    expected = residual * rate
    stuck = select(best <= FLOOR, select(residual >= best, residual * 0.0, going), going)
    return select(expected < NEGLIGIBLE, residual * 0.0, stuck), residual


@kernel
def go_to(work: Any, n: Any, going: Any) -> None:
    """AT <- X where the iteration goes on.  Parts are evaluated there and used after its end: those of a lane that has
    ended remain the same, however long others go on.
    """
    for i in range(n):
        st2(work, AT, i, select(going > 0.0, ld2(work, X, i), ld2(work, AT, i)))


@kernel
def add_solution(work: Any, target: Any, source: Any, count: Any, going: Any) -> Any:
    """target <- target + source where the iteration goes on; returns the largest change and the largest value,
    as those of velocities.
    """
    change, size = 0.0 * going, 0.0 * going
    for i in range(count):
        old, step, per = ld2(work, target, i), ld2(work, source, i), ld2(work, PER, i)
        new = select(going > 0.0, old + step, old)
        change, size = maximum(change, absolute(step) * per), maximum(size, absolute(new) * per)
        st2(work, target, i, new)
    return change, size


@kernel
def add(work: Any, target: Any, source: Any, count: Any, going: Any) -> None:
    """The same of what is not compared."""
    for i in range(count):
        old = ld2(work, target, i)
        st2(work, target, i, select(going > 0.0, old + ld2(work, source, i), old))


@helper
def accept(work: Any, n: Any, m: Any, counts: Any, going: Any, best: Any, counters: Any) -> tuple[Any, Any, int]:
    """(X, L) <- (X, L) + (R, S) where the iteration goes on; returns (going, best, status), `GOES_ON` until it ends.

    A change is relative to X, or to `counts` where that is larger.
    """
    change, size = add_solution(work, X, R, n, going)
    add(work, L, S, m, going)
    counters[EVALUATIONS] += 1
    counters[ITERATIONS] += 1
    going, best = converged(change, maximum(size, counts), best, going)
    status = GOES_ON if any_(going > 0.0) else OK
    return going, best, NON_FINITE if fails(best) else status


@helper
def fails(x: Any) -> Any:
    """Whether a number is not a number, in any lane."""
    return any_(x != x)
