"""The simplified Newton iteration that implicit steppers share: the derivative of the field, the linear systems of a
step, and how large the residual of a solved step may be.

    (1 − h A ⊗ J) Δk = r,     J = ∂f/∂x, f(t, y τ(x)),     A = Q R Qᵀ (real Schur form)

for the slopes k (s d) of a step with residual r.  J comes from the problem (`Problem.jacobian`) or from differences, d
+ 1 evaluations; it is kept from step to step as long as the iteration converges fast, and renewed within a step where
it does not.  In the coordinates Qᵀk the systems are of size d for each real eigenvalue of A and 2d for each pair,
solved from the last to the first; equal eigenvalues (diagonally implicit tableaus) share one factorisation.

A residual is compared with what rounding of the state makes of the field: component m of r counts in units of

    |J|ₘ (|x| + h |k|) + |kₘ| + |fₘ| + νₘ/δ,     |x| the sizes of the state (turns and configurations: one at least)

where ν is what the field changes by when the state is moved by δ = 64 ε of itself: momenta that are conserved have no
derivative, and rounding all the same.  (It counts no more than the largest of the other terms, so that noise above
rounding does not pass for a solution.)  So `iteration.FLOOR` asks for slopes that are right for a state moved by 1e-12
of itself, however stiff the field.
Every lane has its own J, renews it when it needs to, and stops by itself: lanes give the bits of single trajectories.
Sources: Hairer and Wanner 1996, IV.8; Hairer, McLachlan and Razakarivony 2008.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import schur

from integrators.layout import ERROR, EVALUATIONS
from integrators.problem import Problem
from integrators.status import NON_FINITE, NOT_CONVERGED
from integrators.steppers.iteration import FLOOR
from liegroup.compile import absolute, any_, helper, joined, kernel, ld, select, st
from liegroup.compile.scalars import maximum, minimum
from liegroup.table import KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, retract

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
STIFF_STEPS, MANY = 100.0, 20.0
"""Where iteration fails, or takes so many rounds, so many steps begin with Newton's method."""
KEEP = 6.0
"""An iteration of at most so many rounds keeps its derivative for the next step."""


class Room(NamedTuple):
    """Where the parts of the iteration's memory begin, as numbers of a vector; s stages, d velocities.

    residual, change and apart (s d each; the last is the stepper's own), size, noise and level (d) of state, field and slopes, value (d + d²), J (d²) by rows, factors (2 s
    d²), pivots (s d), kept (1 where J may serve the next step), stiff (steps that are still to begin with Newton's
    method where others iterate), step (the h of the factors)
    """

    residual: int
    change: int
    apart: int
    size: int
    noise: int
    level: int
    value: int
    jacobian: int
    factors: int
    pivots: int
    kept: int
    stiff: int
    step: int
    end: int


@helper
def room(s: Any, d: Any) -> Room:
    """The parts of the memory for s stages and d velocities."""
    m = s * d
    size = 3 * m
    value = size + 3 * d
    jacobian = value + d + d * d
    factors = jacobian + d * d
    pivots = factors + 2 * s * d * d
    kept = pivots + m
    return Room(0, m, 2 * m, size, size + d, size + 2 * d, value, jacobian, factors, pivots, kept, kept + 1, kept + 2,
                kept + 3)  # fmt: skip


def rows_needed(s: int, d: int, columns: int) -> int:
    """Rows of `columns` numbers that hold the memory."""
    return -(-room(s, d).end // columns)


def exact(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What a stepper needs to know: 1 if the problem has a Jacobian."""
    return np.zeros(0), np.array([problem.jacobian is not None], dtype=np.int64)


# --- the Schur form of A ----------------------------------------------------------------------------------------------


def schur_form(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(Q and R by rows, structure) of A = Q R Qᵀ: for each column the width of its block (0: second of a pair), then
    the column whose factors it shares.
    """
    s = len(A)
    if not np.triu(A, 1).any():  # triangular: in the opposite order, with eigenvalues to the last bit
        Q = np.eye(s)[::-1].copy()
        R = A[::-1, ::-1].copy()
    else:
        R, Q = schur(A, output="real")
    widths = [1] * s
    for j in range(s - 1):
        if R[j + 1, j] != 0.0:
            widths[j : j + 2] = [2, 0]
    shared = [
        next(i for i in range(j + 1) if i == j or (widths[i] == widths[j] == 1 and R[i, i] == R[j, j]))
        for j in range(s)
    ]
    return np.concatenate([Q.ravel(), R.ravel()]), np.array([*widths, *shared], dtype=np.int64)


# --- the derivative ---------------------------------------------------------------------------------------------------


@kernel
def sizes(y: Any, table: Any, canonical: Any, out: Any) -> None:
    """The size of the state that each component of the velocity moves: of its factor, one at least for turns and
    configurations.
    """
    last = table.shape[0] - 1
    for row in range(table.shape[0]):
        size = ld(y, 0) * 0.0
        for i in range(table[row, Q_OFFSET], table[row, Q_OFFSET] + table[row, N_Q]):
            size = maximum(size, absolute(ld(y, i)))
        if table[row, KIND] != RN or (canonical and row != last):
            size = maximum(size, 0.0 * size + 1.0)
        for i in range(table[row, V_OFFSET], table[row, V_OFFSET] + table[row, N_V]):
            st(out, i, size)


@helper
def tiny_as_one(size: Any) -> Any:
    """A size, or 1 where there is none."""
    return select(size < TINY, 0.0 * size + 1.0, size)


@kernel
def linearise(
    field: Any, t: Any, y: Any, table: Any, canonical: Any, is_exact: Any, parameters: Any, structure: Any,
    field_work: Any, memory: Any, s: Any, d: Any, x: Any, going: Any, counters: Any,
) -> None:  # fmt: skip
    """J at y, where `going`; x: a state for scratch."""
    at = room(s, d)
    J, value = memory[at.jacobian :], memory[at.value : at.value + d + d * d]
    sizes(y, table, canonical, memory[at.size :])
    if is_exact:
        field(t, y, parameters, structure, field_work, value)
        for k in range(d * d):
            st(J, k, select(going > 0.0, ld(value, d + k), ld(J, k)))
        counters[EVALUATIONS] += 1
    else:
        _differences(field, t, y, table, parameters, structure, field_work, memory, s, d, x, going)
        counters[EVALUATIONS] += d + 1
    _listen(field, t, y, table, parameters, structure, field_work, memory, s, d, x, going)
    counters[EVALUATIONS] += SAMPLES


@kernel
def _listen(
    field: Any, t: Any, y: Any, table: Any, parameters: Any, structure: Any, field_work: Any, memory: Any, s: Any,
    d: Any, x: Any, going: Any,
) -> None:  # fmt: skip
    """The largest change of the field, at y = `value`, by motions of the state a little above rounding."""
    at = room(s, d)
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
def levels(memory: Any, s: Any, d: Any) -> None:
    """|J| (|x| + |Δx|): what the rounding of the state counts in the slopes; the changes of the state within the step,
    h |k|, are the first d numbers of `change`.
    """
    at = room(s, d)
    J, size, reach = memory[at.jacobian :], memory[at.size :], memory[at.change :]
    largest = 0.0 * ld(size, 0)
    for m in range(d):
        level = 0.0 * ld(size, 0)
        for b in range(d):
            level = level + absolute(ld(J, m * d + b)) * (ld(size, b) + ld(reach, b))
        st(memory, at.level + m, level)
        largest = maximum(largest, level)
    for m in range(d):
        noise = minimum(ld(memory, at.noise + m) / _AUDIBLE, largest)
        st(memory, at.level + m, ld(memory, at.level + m) + noise)


@kernel
def linearise_where_needed(
    field: Any, t: Any, h: Any, y: Any, table: Any, canonical: Any, is_exact: Any, parameters: Any, structure: Any,
    field_work: Any, memory: Any, s: Any, d: Any, R: Any, blocks: Any, x: Any, going: Any, history: Any,
    counters: Any,
) -> None:  # fmt: skip
    """At the start of a step: J at y and the factors, unless those of the step before still serve."""
    at = room(s, d)
    kept = ld(memory, at.kept)
    needed = select(kept > 0.0, 0.0 * going, going) if history > 0 else going
    renewed = any_(needed > 0.0)
    if renewed:
        linearise(
            field, t, y, table, canonical, is_exact, parameters, structure, field_work, memory, s, d, x, needed,
            counters,
        )  # fmt: skip
    if renewed or any_(ld(memory, at.step) != h):
        factorise(h, memory, s, d, R, blocks)
        st(memory, at.step, 0.0 * going + h)
    sizes(y, table, canonical, memory[at.size :])


@kernel
def _differences(
    field: Any, t: Any, y: Any, table: Any, parameters: Any, structure: Any, field_work: Any, memory: Any, s: Any,
    d: Any, x: Any, going: Any,
) -> None:  # fmt: skip
    """J by differences from y."""
    at = room(s, d)
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


# --- linear systems ---------------------------------------------------------------------------------------------------


@kernel
def factorise(h: Any, memory: Any, s: Any, d: Any, R: Any, blocks: Any) -> None:
    """The factors of 1 − h R ⊗ J, block by block; R by rows."""
    at = room(s, d)
    J = memory[at.jacobian :]
    for j in range(s):
        width = blocks[j]
        if width == 0 or blocks[s + j] != j or (width == 1 and R[j * s + j] == 0.0):
            continue
        n = width * d
        a = memory[at.factors + 2 * j * d * d :]
        for k in range(width):
            for l in range(width):
                r = h * R[(j + k) * s + j + l]
                for m in range(d):
                    for b in range(d):
                        one = 1.0 if k == l and m == b else 0.0
                        st(a, (k * d + m) * n + l * d + b, one - r * ld(J, m * d + b))
        _factors(a, n, memory[at.pivots + j * d :])


@kernel
def _factors(a: Any, n: Any, pivots: Any) -> None:
    """L and U of the n × n matrix a in its place, with the largest pivots, each lane with its own."""
    for k in range(n):
        largest = absolute(ld(a, k * n + k))
        pivot = 0.0 * largest + 1.0 * k
        for i in range(k + 1, n):
            x = absolute(ld(a, i * n + k))
            pivot = select(x > largest, 0.0 * x + 1.0 * i, pivot)
            largest = maximum(largest, x)
        st(pivots, k, pivot)
        for i in range(k + 1, n):
            if any_(pivot == 1.0 * i):
                for j in range(n):
                    _exchange(pivot == 1.0 * i, a, k * n + j, i * n + j)
        inverse = 1.0 / ld(a, k * n + k)
        for i in range(k + 1, n):
            factor = ld(a, i * n + k) * inverse
            st(a, i * n + k, factor)
            for j in range(k + 1, n):
                st(a, i * n + j, ld(a, i * n + j) - factor * ld(a, k * n + j))


@helper
def _exchange(where: Any, a: Any, i: Any, j: Any) -> None:
    """Exchange entries i and j where the condition holds."""
    x, z = ld(a, i), ld(a, j)
    st(a, i, select(where, z, x))
    st(a, j, select(where, x, z))


@kernel
def solve_factors(a: Any, n: Any, pivots: Any, x: Any) -> None:
    """x <- the solution of the system with the factors a and the right-hand side x."""
    for k in range(n):
        for i in range(k + 1, n):
            if any_(ld(pivots, k) == 1.0 * i):
                _exchange(ld(pivots, k) == 1.0 * i, x, k, i)
    for i in range(n):
        total = ld(x, i)
        for j in range(i):
            total = total - ld(a, i * n + j) * ld(x, j)
        st(x, i, total)
    for i in range(n - 1, -1, -1):
        total = ld(x, i)
        for j in range(i + 1, n):
            total = total - ld(a, i * n + j) * ld(x, j)
        st(x, i, total / ld(a, i * n + i))


@kernel
def correct(h: Any, memory: Any, s: Any, d: Any, Q: Any, R: Any, blocks: Any) -> None:
    """The residual <- the correction Δk of the slopes."""
    at = room(s, d)
    J, r, x = memory[at.jacobian :], memory[at.residual :], memory[at.change :]
    for j in range(s):
        for m in range(d):
            total = Q[j] * ld(r, m)
            for i in range(1, s):
                total = total + Q[i * s + j] * ld(r, i * d + m)
            st(x, j * d + m, total)
    for j in range(s - 1, -1, -1):
        width = blocks[j]
        if width == 0:
            continue
        for k in range(width):
            for c in range(j + width, s):
                for m in range(d):
                    st(x, (j + k) * d + m, ld(x, (j + k) * d + m) + h * R[(j + k) * s + c] * ld(r, c * d + m))
        source = blocks[s + j]
        if width == 2 or R[j * s + j] != 0.0:
            solve_factors(
                memory[at.factors + 2 * source * d * d :], width * d, memory[at.pivots + source * d :], x[j * d :]
            )
        for k in range(width):
            _apply(J, d, x[(j + k) * d :], r[(j + k) * d :])
    for i in range(s):
        for m in range(d):
            total = Q[i * s] * ld(x, m)
            for j in range(1, s):
                total = total + Q[i * s + j] * ld(x, j * d + m)
            st(r, i * d + m, total)


@kernel
def _apply(J: Any, d: Any, x: Any, out: Any) -> None:
    """out <- J x."""
    for m in range(d):
        total = ld(J, m * d) * ld(x, 0)
        for b in range(1, d):
            total = total + ld(J, m * d + b) * ld(x, b)
        st(out, m, total)


# --- the iteration ----------------------------------------------------------------------------------------------------


@helper
def share(memory: Any, s: Any, d: Any, m: Any, residual: Any, slope: Any, value: Any) -> Any:
    """A component m of the residual in units of the rounding that it may have."""
    return absolute(residual) / (ld(memory, room(s, d).level + m) + absolute(slope) + absolute(value) + TINY)


@helper
def begin_stiff(work: Any, row: Any, s: Any, d: Any, one: Any, always: Any) -> Any:
    """1 where a step begins with Newton's method: always, or because a step before could not be iterated."""
    stiff = ld(joined(work[row:]), room(s, d).stiff)
    return one if always else select(stiff > 0.0, one, 0.0 * one)


@helper
def remember_stiffness(work: Any, row: Any, s: Any, d: Any, unsolved: Any, rounds: Any) -> None:
    """After the iteration of a step: how many of the next ones begin with Newton's method."""
    memory, at = joined(work[row:]), room(s, d).stiff
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
def conclude(
    work: Any, memory: Any, s: Any, d: Any, asked: Any, going: Any, lost: Any, rounds: Any, best: Any, least: Any
) -> Any:
    """After the last round: the residuals into the row of errors, whether J may serve the next step; returns 1 where
    the equations are not solved.
    """
    at, zero = room(s, d), 0.0 * going
    unsolved = select((going > 0.0) & (best > FLOOR), zero + 1.0, lost)
    kept = select((unsolved > 0.0) | (rounds > KEEP), zero, zero + 1.0)
    st(memory, at.kept, select(asked > 0.0, kept, ld(memory, at.kept)))
    st(work[ERROR], 0, best)
    st(work[ERROR], 1, least)
    st(work[ERROR], 2, lost)
    return unsolved


@helper
def failure(work: Any) -> Any:
    """The status of a step whose equations are not solved."""
    return NON_FINITE if any_(ld(work[ERROR], 2) > 0.0) else NOT_CONVERGED


def explain(errors: NDArray[np.float64]) -> str:
    """What the residuals of an iteration that failed say, or nothing: the last, the smallest."""
    if not (errors[0] > FLOOR and errors[1] < NOISE):
        return ""
    return (
        f"residual {errors[0]:.2g}, {errors[1]:.2g} at best: it has come near rounding and falls no further, so that "
        "the field is not smooth there, or noisy; a smaller step does not help"
    )
