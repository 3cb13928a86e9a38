"""The simplified Newton iteration that implicit steppers share: the derivative of the field, the linear systems of a
step, and how large the residual of a solved step may be.

    (1 − h A ⊗ J) Δk = r,     J = ∂f/∂x, f(t, y τ(x)),     A = Q R Qᵀ (real Schur form)

for the slopes k (s d) of a step with residual r.  J comes from the problem (`Problem.jacobian`) or from differences, d
+ 1 evaluations; it is kept from step to step as long as the iteration converges fast, and renewed within a step where
it does not.  In the coordinates Qᵀk the systems are of size d for each real eigenvalue of A and 2d for each pair,
solved from the last to the first; equal eigenvalues (diagonally implicit tableaus) share one factorisation.

A residual is compared with what rounding of the state makes of the field: component m of r counts in units of

    |J|ₘ (|x| + h |k|) + |kₘ| + |fₘ| + νₘ/δ,     |x| the sizes of the state (turns and configurations: one at least,
                                                 and what counts as one the problem says: `Problem.scales`)

where ν is what the field changes by when the state is moved by δ = 64 ε of itself: momenta that are conserved have no
derivative, and rounding all the same.  (It counts no more than the largest of the other terms, so that noise above
rounding does not pass for a solution.)  So `iteration.FLOOR` asks for slopes that are right for a state moved by 1e-12
of itself, however stiff the field.
Where that finds nothing, as where friction sticks and the guesses jump from one side of the slip to the other, the
iteration is damped: Newton's method for J − σ, with a new J in every round, takes a step of the implicit Euler rule for
d k/ds = A⁻¹ r, which comes to the solution from afar where the motion is dissipative, over places where |r| has a
minimum, too.  σ grows where a correction turns back, and falls where corrections become smaller (`steer`).  It may come
to another solution, too, beyond which nothing grows to within a step: that is none (`of_another_branch`).
Every lane has its own J, renews it when it needs to, and stops by itself: lanes give the bits of single trajectories.
Sources: Hairer and Wanner 1996, IV.8; Hairer, McLachlan and Razakarivony 2008;
Kelley and Keyes 1998 (damping by a pseudo-time).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.bands import decompose_band
from integrators.arithmetic.matrices import decompose
from integrators.layout import ERROR, EVALUATIONS, TENTATIVE
from integrators.problem import Problem
from integrators.problem.sparsity import EXACT, HALF, ORDER, entries_of, per
from integrators.status import NON_FINITE, NOT_CONVERGED
from integrators.steppers.iteration import FLOOR
from integrators.steppers.newton_bands import fill_band, levels_band
from integrators.steppers.newton_systems import factorise, room
from liegroup.compile import absolute, any_, helper, joined, kernel, ld, never, rare, scalar_of, select, st
from liegroup.compile.scalars import maximum, minimum
from liegroup.table import KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, retract

LOOPS = "short"

_DELTA = 2.0**-26
"""Relative differences for the derivative: half the digits are lost, and the iteration converges as if none were."""
SAMPLES, _AUDIBLE = 3, 2.0**-46
"""Motions by which the noise of the field is found, and their sizes."""
TINY = 1e-150
"""States and slopes below have decayed to nothing."""
SLOW = 0.2
"""A round that leaves more of the residual than this asks for a new derivative."""
RENEWALS = 6.0
"""Of the derivative, in one step at most."""
ROUNDS = 60
"""At most, with one guess."""
NOISE = 1e-6
"""A residual that has come so close to rounding and falls no further is that of a field that is not smooth."""
_ROUNDING = 2.0**-46
"""What is left where the parts of an entry of the Jacobian cancel, in the largest of its column, of what counts as
one of their rows."""
STIFF_STEPS, MANY = 100.0, 40.0
"""Where iteration fails, or takes so many rounds, so many steps begin with Newton's method."""
KEEP = 6.0
"""An iteration of at most so many rounds keeps its derivative for the next step."""
DAMPED_ROUNDS, STEERED, EASED = 200, 4.0, 1.5
"""Rounds of a damped iteration at most, and the factors by which its damping changes."""
ATTEMPTS, LARGEST_DAMPED = 2, 300
"""Damped iterations of a step, and unknowns of the largest full system for which there are any: all their eliminations
take seconds there, and hours with thousands.
"""
HALVINGS = 16
"""Of h, at which a solution found by damping is asked whether it is the one that begins with h = 0."""
RATE = 1e-2
"""Least size of momenta and velocities, in what counts as one: of what rests, rounding of forces that balance moves
them, and they are as large as that.
"""
_COUNTS, _FAINT = 1e-3, 1e3 * FLOOR
"""Part of a slope, and of |J| |x|, from which on a correction counts; the latter on a second attempt, where some parts
of the state are much larger than others.
"""


def exact(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What a stepper needs to know: the pattern of the derivative."""
    return np.zeros(0), problem.derivative_pattern


def newton_rows(s: int, problem: Problem, columns: int) -> int:
    """Rows of `columns` numbers that hold the memory of s stages."""
    return -(-room(s, problem.dimension, int(problem.derivative_pattern[HALF])).end // columns)


# --- the derivative ---------------------------------------------------------------------------------------------------


@kernel
def sizes(y: Any, table: Any, positions: Any, often: Any, out: Any, going: Any) -> None:
    """The size of the state that each component of the velocity moves, where `going`: of its factor in what counts as
    one, one at least for turns and configurations, and `RATE` for what follows these; `often`: the inverses of what
    counts as one.
    """
    for row in range(table.shape[0]):
        size, q, v, n_v = ld(y, 0) * 0.0, table[row, Q_OFFSET], table[row, V_OFFSET], table[row, N_V]
        for i in range(table[row, N_Q]):
            size = maximum(size, absolute(ld(y, q + i)) * often[v + min(i, n_v - 1)])  # lengths come before turns
        if table[row, KIND] != RN or positions:
            size = maximum(size, 0.0 * size + (1.0 if v < positions or table[row, KIND] != RN else RATE))
        for i in range(v, v + n_v):
            st(out, i, select(going > 0.0, size / often[i], ld(out, i)))


@helper
def tiny_as_one(size: Any) -> Any:
    """A size, or 1 where there is none."""
    return select(size < TINY, 0.0 * size + 1.0, size)


@kernel
def linearise(
    field: Any, t: Any, y: Any, table: Any, positions: Any, pattern: Any, parameters: Any, structure: Any,
    field_work: Any, memory: Any, s: Any, d: Any, x: Any, going: Any, counters: Any,
) -> None:  # fmt: skip
    """J at y and the noise of the field, where `going`; x: a state for scratch."""
    differentiate(
        field, t, y, table, positions, pattern, parameters, structure, field_work, memory, s, d, x, going, counters
    )
    _listen(field, t, y, table, parameters, structure, field_work, memory, s, d, x, going)
    counters[EVALUATIONS] += SAMPLES


@kernel
def differentiate(
    field: Any, t: Any, y: Any, table: Any, positions: Any, pattern: Any, parameters: Any, structure: Any,
    field_work: Any, memory: Any, s: Any, d: Any, x: Any, going: Any, counters: Any,
) -> None:  # fmt: skip
    """J at y, where `going`, with the field there as the first d of the memory's values; x: a state for scratch."""
    at = room(s, d, pattern[HALF])
    J, value = memory[at.jacobian :], memory[at.value : at.value + d + d * d]
    sizes(y, table, positions, pattern[per(d)].view(np.float64), memory[at.size :], going)
    st(memory, at.reduced, 0.0 * going)
    if pattern[EXACT] and pattern[HALF] >= 0:
        _take_entries(field, t, y, pattern, parameters, structure, field_work, memory, s, d, going)
        counters[EVALUATIONS] += 1
    elif pattern[EXACT]:
        field(t, y, parameters, structure, field_work, value)
        _take(value[d:], d, pattern[per(d)].view(np.float64), J, going)
        counters[EVALUATIONS] += 1
    elif pattern[HALF] >= 0:
        _differences_in_band(
            field, t, y, table, pattern, parameters, structure, field_work, memory, s, d, x, going, counters
        )
    else:
        _differences(field, t, y, table, parameters, structure, field_work, memory, s, d, x, going)
        counters[EVALUATIONS] += d + 1


@kernel
def _take(given: Any, d: Any, often: Any, J: Any, going: Any) -> None:
    """J <- what the problem gives, where `going`, without entries that are nothing but rounding: the row of a momentum
    that is conserved would count residuals by it.
    """
    for b in range(d):
        largest = 0.0 * ld(given, b)
        for m in range(d):
            largest = maximum(largest, absolute(ld(given, m * d + b)) * often[m])
        for m in range(d):
            k = m * d + b
            x = ld(given, k)
            x = select(absolute(x) * often[m] > _ROUNDING * largest, x, 0.0 * largest)
            st(J, k, select(going > 0.0, x, ld(J, k)))


@rare(never)
def _take_entries(
    field: Any, t: Any, y: Any, pattern: Any, parameters: Any, structure: Any, field_work: Any, memory: Any, s: Any,
    d: Any, going: Any,
) -> None:  # fmt: skip
    """The band J, where `going`, from the entries that the field gives, in the room of the factors to be made anew."""
    half, entries = pattern[HALF], entries_of(d)
    count = pattern[entries]
    at = room(s, d, half)
    J, given = memory[at.jacobian :], memory[at.factors : at.factors + d + count]
    field(t, y, parameters, structure, field_work, given)
    for m in range(d):
        st(memory, at.value + m, ld(given, m))
    for k in range(d * (2 * half + 1)):
        st(J, k, select(going > 0.0, 0.0 * going, ld(J, k)))
    for k in range(count):
        place = pattern[entries + 1 + k]
        st(J, place, select(going > 0.0, ld(given, d + k), ld(J, place)))


@kernel
def _listen(
    field: Any, t: Any, y: Any, table: Any, parameters: Any, structure: Any, field_work: Any, memory: Any, s: Any,
    d: Any, x: Any, going: Any,
) -> None:  # fmt: skip
    """The largest change of the field, at y = `value`, by motions of the state a little above rounding."""
    at = room(s, d, -1)
    size, noise, u = memory[at.size :], memory[at.noise :], memory[at.change :]
    here, there = memory[at.value : at.value + d], memory[at.value + d : at.value + 2 * d]
    for k in range(SAMPLES):
        for b in range(d):
            st(u, b, (_AUDIBLE if (b + b // (k + 2)) % 2 == 0 else -_AUDIBLE) * (k + 1.0) * ld(size, b))
        retract(table, 0, y, u, x)
        field(t, x, parameters, structure, field_work, there)
        for m in range(d):
            loudest = maximum(ld(noise, m), absolute(ld(there, m) - ld(here, m)))
            st(noise, m, select(going > 0.0, loudest, ld(noise, m)))


@kernel
def levels(memory: Any, s: Any, d: Any, pattern: Any) -> None:
    """|J| (|x| + |Δx|): what the rounding of the state counts in the slopes; the changes of the state within the step,
    h |k|, are the first d numbers of `change`.
    """
    at, often = room(s, d, pattern[HALF]), pattern[per(d)].view(np.float64)
    J, size, reach = memory[at.jacobian :], memory[at.size :], memory[at.change :]
    zero = 0.0 * ld(size, 0)
    dense, largest = d if pattern[HALF] < 0 else 0, zero
    if dense == 0:
        levels_band(J, d, pattern, size, reach, memory[at.level :])
    whole = dense - dense % 4
    for m in range(0, whole, 4):  # sums that do not wait for each other
        r, p, q, u, v = m * d, zero, zero, zero, zero
        for b in range(d):
            x = ld(size, b) + ld(reach, b)
            p = p + absolute(ld(J, r + b)) * x
            q = q + absolute(ld(J, r + d + b)) * x
            u = u + absolute(ld(J, r + 2 * d + b)) * x
            v = v + absolute(ld(J, r + 3 * d + b)) * x
        st(memory, at.level + m, p)
        st(memory, at.level + m + 1, q)
        st(memory, at.level + m + 2, u)
        st(memory, at.level + m + 3, v)
    for m in range(whole, dense):
        p = zero
        for b in range(d):
            p = p + absolute(ld(J, m * d + b)) * (ld(size, b) + ld(reach, b))
        st(memory, at.level + m, p)
    for m in range(d):
        largest = maximum(largest, ld(memory, at.level + m) * often[m])
    for m in range(d):
        noise = minimum(ld(memory, at.noise + m) / _AUDIBLE, largest / often[m])
        st(memory, at.level + m, ld(memory, at.level + m) + noise)


@kernel
def linearise_where_needed(
    field: Any, t: Any, h: Any, y: Any, table: Any, positions: Any, pattern: Any, parameters: Any, structure: Any,
    field_work: Any, memory: Any, s: Any, d: Any, R: Any, blocks: Any, x: Any, going: Any, history: Any,
    counters: Any,
) -> None:  # fmt: skip
    """At the start of a step: J at y and the factors, unless those of the step before still serve."""
    at = room(s, d, -1)
    kept = ld(memory, at.kept)
    needed = select(kept > 0.0, 0.0 * going, going) if history > 0 else going
    renewed = any_(needed > 0.0)
    if renewed:
        linearise(
            field, t, y, table, positions, pattern, parameters, structure, field_work, memory, s, d, x, needed,
            counters,
        )  # fmt: skip
    if renewed or any_(ld(memory, at.step) != h):
        factorise(h, memory, s, d, R, blocks, pattern)
        st(memory, at.step, 0.0 * going + h)
    sizes(y, table, positions, pattern[per(d)].view(np.float64), memory[at.size :], going)


@kernel
def _differences(
    field: Any, t: Any, y: Any, table: Any, parameters: Any, structure: Any, field_work: Any, memory: Any, s: Any,
    d: Any, x: Any, going: Any,
) -> None:  # fmt: skip
    """J by differences from y."""
    at = room(s, d, -1)
    J, size = memory[at.jacobian :], memory[at.size :]
    here, there, u = memory[at.value : at.value + d], memory[at.value + d : at.value + 2 * d], memory[at.change :]
    field(t, y, parameters, structure, field_work, here)
    for m in range(d):
        st(u, m, 0.0)
    for b in range(d):
        delta = _DELTA * tiny_as_one(ld(size, b))
        st(u, b, delta)
        retract(table, 0, y, u, x)
        st(u, b, 0.0)
        field(t, x, parameters, structure, field_work, there)
        for m in range(d):
            st(J, m * d + b, select(going > 0.0, (ld(there, m) - ld(here, m)) / delta, ld(J, m * d + b)))


@rare(never)
def _differences_in_band(
    field: Any, t: Any, y: Any, table: Any, pattern: Any, parameters: Any, structure: Any, field_work: Any,
    memory: Any, s: Any, d: Any, x: Any, going: Any, counters: Any,
) -> None:  # fmt: skip
    """The band J by differences from y, of places at once that are too far apart to meet."""
    half = pattern[HALF]
    at, apart = room(s, d, half), 2 * half + 1
    J, size = memory[at.jacobian :], memory[at.size :]
    here, there, u = memory[at.value : at.value + d], memory[at.value + d : at.value + 2 * d], memory[at.change :]
    field(t, y, parameters, structure, field_work, here)
    for m in range(d):
        st(u, m, 0.0)
    for first in range(min(apart, d)):
        for b in range(first, d, apart):
            i = pattern[ORDER + b]
            st(u, i, _DELTA * tiny_as_one(ld(size, i)))
        retract(table, 0, y, u, x)
        field(t, x, parameters, structure, field_work, there)
        for b in range(first, d, apart):
            i = pattern[ORDER + b]
            st(u, i, 0.0)
            delta = _DELTA * tiny_as_one(ld(size, i))
            for m in range(max(0, b - half), min(d, b + half + 1)):
                j, k = pattern[ORDER + m], m * 2 * half + b + half
                st(J, k, select(going > 0.0, (ld(there, j) - ld(here, j)) / delta, ld(J, k)))
    counters[EVALUATIONS] += 1 + min(apart, d)


# --- the iteration ----------------------------------------------------------------------------------------------------


@helper
def share(memory: Any, s: Any, d: Any, m: Any, residual: Any, slope: Any, value: Any) -> Any:
    """A component m of the residual in units of the rounding that it may have."""
    return absolute(residual) / (ld(memory, room(s, d, -1).level + m) + absolute(slope) + absolute(value) + TINY)


@helper
def begin_stiff(work: Any, row: Any, s: Any, d: Any, one: Any, always: Any) -> Any:
    """1 where a step begins with Newton's method: always, or because a step before could not be iterated."""
    stiff = ld(joined(work[row:]), room(s, d, -1).stiff)
    return one if always else select(stiff > 0.0, one, 0.0 * one)


@helper
def remember_stiffness(work: Any, row: Any, s: Any, d: Any, unsolved: Any, rounds: Any) -> None:
    """After the iteration of a step: how many of the next ones begin with Newton's method."""
    count_stiff_steps(joined(work[row:]), room(s, d, -1).stiff, unsolved, rounds)


@helper
def count_stiff_steps(memory: Any, at: Any, unsolved: Any, rounds: Any) -> None:
    """The same, for a number `at` in a memory."""
    slow = (unsolved > 0.0) | (rounds > MANY)
    left = maximum(ld(memory, at) - 1.0, 0.0 * unsolved)
    st(memory, at, select(slow, 0.0 * unsolved + STIFF_STEPS, left))


@helper
def judge(ratio: Any, going: Any, lost: Any, rounds: Any, best: Any, renewed: Any) -> Any:
    """After the residual of a round: (going, lost, rounds) and 1 where the derivative is to be renewed."""
    zero = 0.0 * going
    lost = select((going > 0.0) & (ratio != ratio), zero + 1.0, lost)
    going, rounds = select(lost > 0.0, zero, going), rounds + going
    slow = (going > 0.0) & (ratio > SLOW * best) & (ratio > FLOOR) & (rounds > 1.0) & (renewed < RENEWALS)
    return going, lost, rounds, select(slow, zero + 1.0, zero)


@helper
def attempts(unknowns: Any, half: Any, counters: Any) -> Any:
    """How many more iterations a step may take, the first one plain and others damped: none where a smaller step is
    taken in its place; `half`: that of the band, negative where the system is full.
    """
    if counters[TENTATIVE]:
        return 0
    return 1 if half < 0 and unknowns > LARGEST_DAMPED else 1 + ATTEMPTS


@helper
def _diagonal(d: Any, half: Any) -> Any:
    """Where the diagonal of J begins, and how far its entries are apart."""
    return (0, d + 1) if half < 0 else (half, 2 * half + 1)


@rare(never, lambda memory, *others: scalar_of(memory))
def damping(memory: Any, s: Any, d: Any, pattern: Any, sigma: Any, going: Any) -> Any:
    """What is taken from the diagonal of J, where `going`: σ, and the largest of its entries that are positive, as
    where friction falls with the slip.
    """
    J, (first, apart) = memory[room(s, d, pattern[HALF]).jacobian :], _diagonal(d, pattern[HALF])
    most = 0.0 * sigma
    for m in range(d):
        most = maximum(most, ld(J, first + m * apart))
    return select(going > 0.0, sigma + most, 0.0 * sigma)


@rare(never)
def damp(memory: Any, s: Any, d: Any, pattern: Any, shift: Any) -> None:
    """J <- J − shift."""
    J, (first, apart) = memory[room(s, d, pattern[HALF]).jacobian :], _diagonal(d, pattern[HALF])
    for m in range(d):
        st(J, first + m * apart, ld(J, first + m * apart) - shift)


@rare(never, lambda work, row, memory, *others: scalar_of(memory))
def steer(work: Any, row: Any, memory: Any, s: Any, d: Any, attempt: Any, sigma: Any) -> Any:
    """The damping σ of the next round, from the correction of this one, which waits among the residuals, and that
    before, for the slopes in the rows from `row` on.

    Where a component turns back, the correction before is taken back but for a part, with so much more damping; where
    none does there is a little less, and less where all become smaller.
    """
    at, back, steady = room(s, d, -1), 0.0 * sigma, 0.0 * sigma
    for i in range(s):
        for m in range(d):
            k, least = i * d + m, least_counted(ld(work[row + i], m), ld(memory, at.level + m), attempt)
            back, steady = turned(ld(memory, at.residual + k), ld(memory, at.apart + k), least, back, steady)
    take_back(memory[at.residual :], memory[at.apart :], s * d, back)
    return next_damping(sigma, back, steady)


@helper
def least_counted(slope: Any, level: Any, attempt: Any) -> Any:
    """The least correction that counts beside a slope, and beside what rounding of all the state is multiplied by."""
    return _COUNTS * absolute(slope) + (_COUNTS if attempt < 2 else _FAINT) * level


@helper
def turned(now: Any, before: Any, least: Any, back: Any, steady: Any) -> Any:
    """(1 where a correction turns back, 1 where one does not become smaller), after one more component of it."""
    far = (absolute(now) > least) & (absolute(now) > 0.5 * absolute(before))
    one = 0.0 * back + 1.0
    return select(far & (now * before < 0.0), one, back), select(far, one, steady)


@kernel
def take_back(now: Any, before: Any, size: Any, back: Any) -> None:
    """now <- what takes all but a part of the correction before back, where it turns back; before <- now."""
    for k in range(size):
        new, old = ld(now, k), ld(before, k)
        kept = old / STEERED
        st(now, k, select(back > 0.0, kept - old, new))
        st(before, k, select(back > 0.0, kept, new))


@helper
def next_damping(sigma: Any, back: Any, steady: Any) -> Any:
    """σ of the next round: more where a correction turns back, less where corrections become smaller."""
    return select(back > 0.0, STEERED * sigma, select(steady > 0.0, sigma / EASED, sigma / STEERED))


@helper
def sign_of(diagonal: Any, n: Any, apart: Any, pivots: Any) -> Any:
    """The sign of a determinant, from the diagonal of its factors, whose entries are so far apart, and their pivots."""
    sign = 0.0 * ld(pivots, 0) + 1.0
    for k in range(n):
        sign = select(ld(diagonal, k * apart) < 0.0, -sign, sign)
        sign = select(ld(pivots, k) != 1.0 * k, -sign, sign)
    return sign


@rare(never, lambda h, memory, *others: scalar_of(memory))
def of_another_branch(h: Any, memory: Any, s: Any, d: Any, R: Any, pattern: Any, asked: Any) -> Any:
    """1 where det(1 − h' J), which is one for h' = 0, is negative at h' = h, h/2, h/4, …: J has real eigenvalues beyond
    1/h, and the equations a solution that small steps do not lead to, as behind the infinity of x' = x².  h is a_ii
    times the step, and the step where stages are coupled.  The factors are lost.
    """
    half, zero = pattern[HALF], 0.0 * asked
    at = room(s, d, half)
    J, a, pivots = memory[at.jacobian :], memory[at.factors :], memory[at.pivots :]
    found, step, (first, apart) = zero, h, (0, d + 1)
    if half >= 0:
        first, apart = half, 3 * half + 1
    for _ in range(HALVINGS):
        if half >= 0:
            fill_band(step / R[0], J, d, half, R, 1, 1, a)
            decompose_band(a, d, half, pivots)
        else:
            for m in range(d):
                for b in range(d):
                    st(a, m * d + b, (1.0 if m == b else 0.0) - step * ld(J, m * d + b))
            decompose(a, d, pivots)
        sign = sign_of(a[first:], d, apart, pivots)
        found = select((asked > 0.0) & (sign < 0.0), zero + 1.0, found)
        step = 0.5 * step
    st(memory, at.kept, select(asked > 0.0, zero, ld(memory, at.kept)))
    st(memory, at.step, zero)  # of the factors of all lanes
    return found


@helper
def conclude(
    work: Any, memory: Any, s: Any, d: Any, asked: Any, going: Any, lost: Any, rounds: Any, best: Any, least: Any
) -> Any:
    """After the last round: the residuals into the row of errors, whether J may serve the next step; returns 1 where
    the equations are not solved.
    """
    at, zero = room(s, d, -1), 0.0 * going
    unsolved = select((going > 0.0) & (best > FLOOR), zero + 1.0, lost)
    kept = select((unsolved > 0.0) | (rounds > KEEP), zero, zero + 1.0)
    st(memory, at.kept, select(asked > 0.0, kept, ld(memory, at.kept)))
    st(work[ERROR], 0, best)
    st(work[ERROR], 1, least)
    st(work[ERROR], 2, lost)
    return unsolved


@helper
def errors_of(work: Any) -> Any:
    """What `conclude` says of an iteration, to be told where a damped one does not help."""
    return ld(work[ERROR], 0), ld(work[ERROR], 1), ld(work[ERROR], 2)


@helper
def tell_again(work: Any, left: Any, errors: Any) -> None:
    """The errors of an iteration before, where it is left unsolved."""
    first, second, third = errors
    st(work[ERROR], 0, select(left > 0.0, first, ld(work[ERROR], 0)))
    st(work[ERROR], 1, select(left > 0.0, second, ld(work[ERROR], 1)))
    st(work[ERROR], 2, select(left > 0.0, third, ld(work[ERROR], 2)))


@helper
def failure(work: Any) -> Any:
    """The status of a step whose equations are not solved."""
    return NON_FINITE if any_(ld(work[ERROR], 2) > 0.0) else NOT_CONVERGED


def explain(errors: NDArray[np.float64]) -> str:
    """What the residuals of an iteration that failed say, or nothing: the last, the smallest."""
    if not (errors[0] > FLOOR and errors[1] < NOISE):
        return ""
    return (
        f"residual {errors[0]:.2g}, {errors[1]:.2g} at best: it has come near rounding and falls no further: the field "
        "is not smooth there, or noisy, or changes too much within the step"
    )
