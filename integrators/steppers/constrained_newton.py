"""Newton's method for the equations of constrained motion (`integrators.problem.parts`, layout "constrained"): what
takes over where the simplified iteration, which knows the mass matrix and the rows alone, does not converge.

For the accelerations aᵢ and multipliers λᵢ of s stages, with δvᵢ = Σ Vᵢⱼ δaⱼ and δqᵢ = Σ Wᵢⱼ δaⱼ,

    Σⱼ (δᵢⱼ M + Vᵢⱼ C + Wᵢⱼ K) δaⱼ − Aᵀ δλᵢ = rᵢ,      A δaᵢ + ε δλᵢ = sᵢ
    C = −∂b/∂v,      K = −∂b/∂q,      b = F − G + D − r + Aᵀ λ − M a

C and K by differences at the newest state, 2 n evaluations of the parts; all are kept from step to step as long as the
iteration converges fast (`integrators.steppers.newton`).  What is left out, the change of A and the tangent of the map,
is small with h and not stiff.

A change of the accelerations counts beside |v|/h and |q|/h²: rounding of q changes forces by |K| |q| ε, and what
accelerations make of them, (M + … + W K)⁻¹ K, is at most 1/W, of the size of 1/h², however stiff the springs are.

Where that does not converge either, as where friction sticks within the step, the iteration is damped as in
`integrators.steppers.newton`: with C + σ M in the place of C and a new matrix in every round.
Sources: Hairer and Wanner 1996, IV.8; Arnold and Brüls 2007.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.arithmetic.matrices import decompose, solve_factors
from integrators.layout import ERROR, EVALUATIONS
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.steppers.common import copy
from integrators.steppers.iteration import FLOOR, nought, relative
from integrators.steppers.newton import (
    HALVINGS,
    KEEP,
    judge,
    least_counted,
    next_damping,
    sign_of,
    take_back,
    turned,
)
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import END, HX, MATRIX, MIDDLE, MU, PER, L, P, R, S, X
from liegroup.compile import absolute, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from liegroup.table import retract

_SHIFT, _PUSH = 2.0**-26, 2.0**-16
"""Relative differences of positions, and of velocities: forces are smoother in these, but for friction that sticks."""
REGULAR = 1e-14
"""ε: rows that depend on each other leave the matrix regular, and stiff springs across a row do not feel it."""


ABRUPT = 10.0
"""Accelerations that are over within a step: so many times what it makes of the velocities."""
WILD, INFINITE = 1e9, float("inf")
"""Accelerations beyond so many |q|/h² are no guess from which an iteration comes back."""


class Room(NamedTuple):
    """Where the parts of the memory begin, as numbers of a vector; N = s (n + m).

    velocities and positions (s² each): V and W; place and moved (n_q), speed and value (n): the newest state, and b
    there; damping and stiffness (n²): C and K; draft and factors (N²), drafted and pivots (N), right (N); before (N):
    the correction of the round before; kept (1 where the factors may serve the next step), step (their h), stiff (steps
    that are still to begin with Newton's method), sigma (of a damped iteration, zero of another)
    """

    velocities: int
    positions: int
    place: int
    moved: int
    speed: int
    value: int
    damping: int
    stiffness: int
    draft: int
    factors: int
    drafted: int
    pivots: int
    right: int
    before: int
    kept: int
    step: int
    stiff: int
    sigma: int
    end: int


@helper
def room(s: Any, n: Any, m: Any, n_q: Any) -> Room:
    """The parts of the memory."""
    size = s * (n + m)
    place = 2 * s * s
    damping = place + 2 * n_q + 2 * n
    draft = damping + 2 * n * n
    drafted = draft + 2 * size * size
    kept = drafted + 4 * size
    return Room(0, s * s, place, place + n_q, place + 2 * n_q, place + 2 * n_q + n, damping, damping + n * n, draft,
                draft + size * size, drafted, drafted + size, drafted + 2 * size, drafted + 3 * size, kept, kept + 1,
                kept + 2, kept + 3, kept + 4)  # fmt: skip


@helper
def memory_row(structure: Any) -> Any:
    """Where the memory begins: behind the rows of the node."""
    return MATRIX + structure[0] + 2 * structure[1]


def rows_needed(problem: Problem, s: int, columns: int) -> int:
    """Rows of `columns` numbers that hold the memory for s stages."""
    n, m, _ = problem.sizes
    return -(-room(s, n, m, problem.n - n).end // columns)


# --- what accelerations count beside ----------------------------------------------------------------------------------


@helper
def balance(values: Any, structure: Any, i: Any) -> Any:
    """Component i of F − G + D − r."""
    at = constrained(structure[0], structure[1], structure[2])
    return node.force(values, structure, i) + ld(values, at.KINETIC + i) - ld(values, at.RATE + i)


@kernel
def accelerations_count(h: Any, y: Any, n_q: Any, from_positions: Any, work: Any) -> Any:
    """Accelerations that matter beside y in a step, all in what counts as one (`Problem.scales`): |v|/h, or |q|/h²
    where they are found from positions, which are rounded.
    """
    n = y.shape[0] - n_q
    size = node.greatest_velocity(work, y, n_q, n) / absolute(h)
    return maximum(size, node.greatest_position(work, y, n_q, n) / (h * h)) if from_positions else size


@helper
def part_within(size: Any, bound: Any) -> Any:
    """What a vector of this size is multiplied by to stay within a bound: 1 where it does."""
    one = 1.0 + 0.0 * size
    return select(size > bound, bound / select(size > 0.0, size, one), one)


@helper
def is_over(h: Any, y: Any, structure: Any, work: Any, first: Any, times: Any) -> Any:
    """Whether the acceleration in row `first` is of a motion that is over within the step to v̇₁ in X, ended by dampers:
    it would change the velocities by more than so many times what they and that step amount to.
    """
    n = structure[0]
    n_q, apart = y.shape[0] - n, 0.0 * ld(y, 0)
    for i in range(n):
        apart = maximum(apart, absolute(ld2(work, first, i) - ld2(work, X, i)) * ld2(work, PER, i))
    speed, here = node.greatest_velocity(work, y, n_q, n), node.greatest_velocity(work, work[X], 0, n)
    return apart > times * maximum(speed / absolute(h), here)


# --- the matrix -------------------------------------------------------------------------------------------------------


@helper
def stale(memory: Any, at: Any, h: Any, asked: Any, history: Any) -> Any:
    """1 where the factors of the step before do not serve."""
    if history == 0:
        return asked
    return select((ld(memory, at.kept) > 0.0) & (ld(memory, at.step) == h), 0.0 * asked, asked)


@kernel
def unbalanced(values: Any, structure: Any, a: Any, l: Any, out: Any) -> None:
    """out <- b at accelerations a and multipliers l."""
    n = structure[0]
    node.mass_times(values, structure, a, out)
    for i in range(n):
        st(out, i, balance(values, structure, i) + node.reaction(values, structure, l, i) - ld(out, i))


@kernel
def _differences(
    parts: Any, t: Any, group: Any, tau: Any, a: Any, l: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, memory: Any, at: Any, increment: Any,
) -> None:  # fmt: skip
    """C and K at the state in `memory`, whose parts are in END; `increment`: n numbers of scratch."""
    n, n_q = structure[0], at.moved - at.place
    q, moved = memory[at.place : at.place + n_q], memory[at.moved : at.moved + n_q]
    v, here = memory[at.speed : at.speed + n], memory[at.value : at.value + n]
    one = 1.0 + 0.0 * ld(q, 0)
    far, fast = node.greatest_position(work, q, n_q, n), maximum(node.greatest_velocity(work, v, 0, n), one)
    fast = select(ld(memory, at.sigma) > 0.0, _SHIFT, _PUSH) * fast
    unbalanced(work[END], structure, a, l, here)
    for i in range(n):
        st(increment, i, 0.0 * one)
    for j in range(n):
        shift, push = _SHIFT * far / ld2(work, PER, j), fast / ld2(work, PER, j)
        st(increment, j, shift)
        retract(group, tau, q, increment, moved)
        st(increment, j, 0.0 * one)
        node.parts_at(parts, t, moved, v, parameters, structure, field_work, work, MIDDLE)
        _column(memory, at.stiffness, work, structure, a, l, here, increment, j, shift)
        old = ld(v, j)
        st(v, j, old + push)
        node.parts_at(parts, t, q, v, parameters, structure, field_work, work, MIDDLE)
        st(v, j, old)
        _column(memory, at.damping, work, structure, a, l, here, increment, j, push)


@kernel
def _column(
    memory: Any, first: Any, work: Any, structure: Any, a: Any, l: Any, here: Any, there: Any, j: Any, delta: Any
) -> None:
    """Column j of minus the derivative, from the parts in MIDDLE; `there` is scratch, and zero afterwards."""
    n = structure[0]
    unbalanced(work[MIDDLE], structure, a, l, there)
    for i in range(n):
        st(memory, first + i * n + j, (ld(here, i) - ld(there, i)) / delta)
        st(there, i, 0.0 * ld(there, i))


@helper
def _damping(values: Any, structure: Any, memory: Any, at: Any) -> Any:
    """What M is multiplied by and added to C: σ, where there is one, and the most by which C falls short of zero, as
    where friction falls with the slip.
    """
    n, layout = structure[0], constrained(structure[0], structure[1], structure[2])
    sigma = ld(memory, at.sigma)
    most = 0.0 * sigma
    for r in range(n):
        most = maximum(most, -ld(memory, at.damping + r * n + r) / ld(values, layout.MASS + r * n + r))
    return select(sigma > 0.0, sigma + most, 0.0 * sigma)


@kernel
def _assemble(
    structure: Any, work: Any, memory: Any, at: Any, s: Any, first: Any, last: Any, softness: Any, shift: Any
) -> None:  # fmt: skip
    """The matrix into the draft, of it the rows of the stages from `first` to before `last`: M and A of the parts in
    END, with C + shift M in the place of C.

    The stages of an unknown follow each other: in elimination, what is zero in M, C, K and A then stays zero far longer
    than with stage after stage.
    """
    n, m = structure[0], structure[1]
    values, layout = work[END], constrained(n, m, structure[2])
    size = s * (n + m)
    for k in range(size * size if first == 0 else 0):
        st(memory, at.draft + k, 0.0)
    for i in range(first, last):
        for j in range(s):
            V, W = ld(memory, at.velocities + i * s + j), ld(memory, at.positions + i * s + j)
            for r in range(n):
                for c in range(n):
                    mass = ld(values, layout.MASS + r * n + c)
                    C = ld(memory, at.damping + r * n + c) + shift * mass
                    x = V * C + W * ld(memory, at.stiffness + r * n + c)
                    if i == j:
                        x = x + mass
                    st(memory, at.draft + (r * s + i) * size + c * s + j, x)
        for k in range(m):
            row = (n + k) * s + i
            for c in range(n):
                x, other = ld(values, layout.ROWS + k * n + c), c * s + i
                st(memory, at.draft + row * size + other, x)
                st(memory, at.draft + other * size + row, -x)
            st(memory, at.draft + row * size + row, softness)


@kernel
def renew(
    parts: Any, t: Any, h: Any, group: Any, tau: Any, a: Any, l: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, memory: Any, at: Any, s: Any, increment: Any, where: Any, counters: Any,
) -> None:  # fmt: skip
    """The factors at the newest state, where asked.

    The caller has put V, W, position and velocity into the memory, and the parts there into END; a, l are the
    accelerations and multipliers there.
    """
    draft_stages(
        parts, t, group, tau, a, l, parameters, structure, field_work, work, memory, at, s, increment, 0, s, counters
    )
    take_draft(h, structure, memory, at, s, where)


@kernel
def draft_stages(
    parts: Any, t: Any, group: Any, tau: Any, a: Any, l: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, memory: Any, at: Any, s: Any, increment: Any, first: Any, last: Any, counters: Any,
) -> None:  # fmt: skip
    """The rows of stages from `first` to before `last`, by the derivatives at one state, as `renew` needs it."""
    _differences(parts, t, group, tau, a, l, parameters, structure, field_work, work, memory, at, increment)
    shift = _damping(work[END], structure, memory, at)
    _assemble(structure, work, memory, at, s, first, last, REGULAR, shift)
    counters[EVALUATIONS] += 2 * structure[0]


@kernel
def take_draft(h: Any, structure: Any, memory: Any, at: Any, s: Any, where: Any) -> None:
    """The factors of the matrix in the draft, where asked."""
    size = s * (structure[0] + structure[1])
    decompose(memory[at.draft :], size, memory[at.drafted :])
    for k in range(size * size):
        st(memory, at.factors + k, select(where > 0.0, ld(memory, at.draft + k), ld(memory, at.factors + k)))
    for k in range(size):
        st(memory, at.pivots + k, select(where > 0.0, ld(memory, at.drafted + k), ld(memory, at.pivots + k)))
    st(memory, at.step, select(where > 0.0, h + 0.0 * where, ld(memory, at.step)))


@kernel
def renew_at_end(
    parts: Any, t: Any, h: Any, y: Any, group: Any, tau: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, memory: Any, at: Any, where: Any, counters: Any,
) -> None:  # fmt: skip
    """The same at the end of the step, of methods of one stage: the position of y moved by HX, the velocity in MU, the
    accelerations in X, the multipliers in L; P is scratch.
    """
    n = structure[0]
    n_q = y.shape[0] - n
    retract(group, tau, y[:n_q], work[HX][:n], memory[at.place : at.place + n_q])
    copy(work[MU][:n], memory[at.speed : at.speed + n])
    renew(
        parts, t, h, group, tau, work[X][:n], work[L], parameters, structure, field_work, work, memory, at, 1,
        work[P][:n], where, counters,
    )  # fmt: skip


@kernel
def correct(
    structure: Any, work: Any, memory: Any, at: Any, s: Any, residuals: Any, rows: Any, accelerations: Any, counts: Any,
    damped: Any,
) -> None:  # fmt: skip
    """Rows `residuals` + i and `rows` + i of the workspace <- δaᵢ and δλᵢ from rᵢ and sᵢ, of the accelerations in the
    rows from `accelerations` on.
    """
    n, m = structure[0], structure[1]
    for i in range(s):
        for k in range(n):
            st(memory, at.right + k * s + i, ld2(work, residuals + i, k))
        for k in range(m):
            st(memory, at.right + (n + k) * s + i, ld2(work, rows + i, k))
    solve_factors(memory[at.factors :], s * (n + m), memory[at.pivots :], memory[at.right :])
    if damped:
        _steer(structure, work, memory, at, s, accelerations, counts, damped)
    for i in range(s):
        for k in range(n):
            st2(work, residuals + i, k, ld(memory, at.right + k * s + i))
        for k in range(m):
            st2(work, rows + i, k, ld(memory, at.right + (n + k) * s + i))


@kernel
def _steer(
    structure: Any, work: Any, memory: Any, at: Any, s: Any, accelerations: Any, counts: Any, attempt: Any
) -> None:
    """The damping of the next round (`integrators.steppers.newton.steer`), from the correction of this one."""
    n, sigma = structure[0], ld(memory, at.sigma)
    back, steady = 0.0 * sigma, 0.0 * sigma
    for k in range(n):
        level = counts / ld2(work, PER, k)
        for i in range(s):
            now, before = ld(memory, at.right + k * s + i), ld(memory, at.before + k * s + i)
            least = least_counted(ld2(work, accelerations + i, k), level, attempt)
            back, steady = turned(now, before, least, back, steady)
    take_back(memory[at.right :], memory[at.before :], s * (n + structure[1]), back)
    st(memory, at.sigma, next_damping(sigma, back, steady))


@kernel
def begin_damped(h: Any, memory: Any, at: Any, asked: Any, damped: Any) -> None:
    """Before the first round: σ = 1/h of a damped iteration, which has no correction before."""
    st(memory, at.sigma, 0.0 * asked + (1.0 / absolute(h) if damped else 0.0))
    for k in range(at.before, at.kept):
        st(memory, k, 0.0 * asked)


@kernel
def of_another_branch(V: Any, W: Any, structure: Any, work: Any, memory: Any, at: Any, asked: Any) -> Any:
    """1 where det(M + V C + W K), bordered by A, changes its sign as V and W become smaller with the step: what solves
    the equations is not what small steps lead to (`integrators.steppers.newton`).  V and W in the memory are lost.
    """
    size, zero = structure[0] + structure[1], 0.0 * asked
    found, step, beginning = zero, 0.0, zero + 1.0
    for _ in range(HALVINGS + 1):
        st(memory, at.velocities, zero + step * V)
        st(memory, at.positions, zero + step * step * W)
        _assemble(structure, work, memory, at, 1, 0, 1, REGULAR, zero)
        decompose(memory[at.draft :], size, memory[at.drafted :])
        sign = sign_of(memory[at.draft :], size, size + 1, memory[at.drafted :])
        beginning = sign if step == 0.0 else beginning
        found = select((asked > 0.0) & (sign * beginning < 0.0), zero + 1.0, found)
        step = 1.0 if step == 0.0 else 0.5 * step
    return found


# --- the iteration ----------------------------------------------------------------------------------------------------


@helper
def move(work: Any, n: Any, m: Any, going: Any) -> Any:
    """(X, L) <- (X, L) + (R, S) where the iteration goes on; the largest change of X, undefined where X is, and its
    size.
    """
    change, size = node.add_solution(work, X, R, n, going)
    node.add(work, L, S, m, going)
    return change + nought(work[X], n), size


@helper
def proceed(change: Any, size: Any, going: Any, lost: Any, rounds: Any, best: Any, renewed: Any) -> Any:
    """After a change of the accelerations: (going, lost, rounds, best) and 1 where the factors are to be renewed."""
    going, lost, rounds, where = judge(relative(change, size), going, lost, rounds, best, renewed)
    wild = change == INFINITE
    going, best = node.converged(select(wild, size, change), size, best, going)
    going, best = select(wild, 0.0 * where, going), select(wild, 0.0 * where + INFINITE, best)
    return going, lost, rounds, best, select(going > 0.0, where, 0.0 * where)


@helper
def tame(change: Any, size: Any, counts: Any) -> Any:
    """A change of accelerations, infinite where these have left all sense."""
    return select(size > WILD * counts, 0.0 * size + INFINITE, change)


@helper
def undamped(h: Any, change: Any, sigma: Any) -> Any:
    """A change of accelerations as large as it would be at least without the damping σ, by which a step could seem
    solved.
    """
    return change * (1.0 + absolute(h) * sigma)


@helper
def conclude(work: Any, going: Any, lost: Any, best: Any) -> Any:
    """After the last round: 1 where the equations are not solved; the residuals into the row of errors."""
    unsolved = select(((going > 0.0) & (best > FLOOR)) | (best == INFINITE), 0.0 * going + 1.0, lost)
    st(work[ERROR], 0, best)
    st(work[ERROR], 1, best)
    st(work[ERROR], 2, lost)
    return unsolved


@helper
def keep(memory: Any, at: Any, asked: Any, unsolved: Any, rounds: Any, damped: Any) -> None:
    """After Newton's method, where it was asked for: whether its factors may serve the next step."""
    zero = 0.0 * asked
    kept = zero if damped else select((unsolved > 0.0) | (rounds > KEEP), zero, zero + 1.0)
    st(memory, at.kept, select(asked > 0.0, kept, ld(memory, at.kept)))
