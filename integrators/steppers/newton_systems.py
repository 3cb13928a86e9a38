"""The memory of `integrators.steppers.newton` and its linear systems: 1 − h A ⊗ J in the Schur form of A, by blocks.

J is dense, or a band (`integrators.steppers.newton_bands`) where the problem says which components meet: which of the
two is the pattern of a problem (`integrators.problem.sparsity`).  Where it is dense, by positions and momenta, momenta
are eliminated first where there are pairs of eigenvalues (`integrators.steppers.newton_second_order`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.bands import decompose_band, solve_band
from integrators.arithmetic.matrices import decompose, solve_factors, times
from integrators.problem import Problem
from integrators.problem.sparsity import HALF, SECOND_ORDER
from integrators.steppers.newton_bands import fill_band, from_places, numbers_of_band, times_band, to_places
from integrators.steppers.newton_second_order import LEAST, REDUCED, UNKNOWN, fill, reduce, solve
from liegroup.compile import any_, helper, kernel, ld, st

LOOPS = "rows"

ROUNDING = 1e-14
"""Entries of a Schur form, relative to the largest, that are zero."""


class Room(NamedTuple):
    """Where the parts of the iteration's memory begin, as numbers of a vector; s stages, d velocities.

    residual, change and apart (s d each; the last is the stepper's own), size, noise and level (d) of state, field and
    slopes, pivots (s d), kept (1 where J may serve the next step), stiff (steps that are still to begin with Newton's
    method where others iterate), step (the h of the factors), reduced (what is known of the last part), value (2 d;
    d + d² of a given Jacobian), J (d² by rows; d (2w + 1) as a band), factors (2 s d², or s² d² where that is more;
    s d (6w + 4) as bands), masses (3 (d/2)² of second order)
    """

    residual: int
    change: int
    apart: int
    size: int
    noise: int
    level: int
    pivots: int
    kept: int
    stiff: int
    step: int
    reduced: int
    value: int
    jacobian: int
    factors: int
    masses: int
    end: int


@helper
def room(s: Any, d: Any, half: Any) -> Room:
    """The parts of the memory for s stages, d velocities and a band of this half width; those before `jacobian` do not
    depend on it.
    """
    m = s * d
    size = 3 * m
    pivots = size + 3 * d
    kept = pivots + m
    value = kept + 4
    jacobian = value + (d + d * d if half < 0 else 2 * d)
    factors = jacobian + (d * d if half < 0 else d * (2 * half + 1))
    masses = factors + s * ((s if s > 2 else 2) * d * d if half < 0 else numbers_of_band(d, half))
    end = masses + (3 * (d // 2) * (d // 2) if half == SECOND_ORDER else 0)
    return Room(0, m, 2 * m, size, size + d, size + 2 * d, pivots, kept, kept + 1, kept + 2, kept + 3, value, jacobian,
                factors, masses, end)  # fmt: skip


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
        Q, R = _real_schur(A)
    widths = [1] * s
    for j in range(s - 1):
        if R[j + 1, j] != 0.0:
            widths[j : j + 2] = [2, 0]
    shared = [
        next(i for i in range(j + 1) if i == j or (widths[i] == widths[j] == 1 and R[i, i] == R[j, j]))
        for j in range(s)
    ]
    return np.concatenate([Q.ravel(), R.ravel()]), np.array([*widths, *shared], dtype=np.int64)


def _real_schur(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Q and R from the eigenvectors, those of pairs by their real and imaginary parts, which tells the same as LAPACK's
    form to rounding for tableaus; SciPy's is asked where eigenvectors do not tell, since its import takes longer than
    many a run.
    """
    values, vectors = np.linalg.eig(A)
    columns, pairs = list[NDArray[np.float64]](), list[int]()
    for value, v in zip(values, vectors.T, strict=True):
        if value.imag == 0.0:
            columns.append(v.real)
        elif value.imag > 0.0:
            pairs.append(len(columns))
            columns += [v.real, v.imag]
    Q = np.linalg.qr(np.stack(columns, axis=1))[0]
    R = Q.T @ A @ Q
    R[np.abs(R) < ROUNDING * np.abs(R).max()] = 0.0
    below = np.tril(R, -1)
    below[[j + 1 for j in pairs], pairs] = 0.0
    if below.any():
        from scipy.linalg import schur  # slow to import

        R, Q = schur(A)
    return Q, R


# --- linear systems ---------------------------------------------------------------------------------------------------


@helper
def _is_worth_it(half: Any, s: Any, d: Any, blocks: Any) -> Any:
    """Whether momenta are eliminated first."""
    pairs = 0
    for j in range(s):
        pairs += blocks[j] == 0
    return half == SECOND_ORDER and pairs > 0 and d >= LEAST


def eliminations(problem: Problem, blocks: NDArray[np.int64]) -> list[Any]:
    """The kernels that eliminate momenta, where the systems of a problem call them, for the widths of blocks."""
    is_worth_it = _is_worth_it(problem.derivative_pattern[HALF], len(blocks), problem.dimension, blocks)
    return [reduce, fill, solve] if is_worth_it else []


@kernel
def factorise(h: Any, memory: Any, s: Any, d: Any, R: Any, blocks: Any, pattern: Any) -> None:
    """The factors of 1 − h R ⊗ J, block by block; R by rows."""
    half = pattern[HALF]
    at = room(s, d, half)
    J = memory[at.jacobian :]
    if _is_worth_it(half, s, d, blocks) and any_(ld(memory, at.reduced) == UNKNOWN):
        reduce(
            J, d // 2, memory[at.factors :], memory[at.pivots :], memory[at.masses :], memory[at.reduced :]
        )  # fmt: skip
    reduced = half == SECOND_ORDER and any_(ld(memory, at.reduced) == REDUCED)
    for j in range(s):
        width = blocks[j]
        if width == 0 or blocks[s + j] != j or (width == 1 and R[j * s + j] == 0.0):
            continue
        n = width * d
        if half >= 0:
            a = memory[at.factors + j * numbers_of_band(d, half) :]
            fill_band(h, J, d, half, R[j * s + j :], s, width, a)
            decompose_band(a, n, width * half + width - 1, memory[at.pivots + j * d :])
            continue
        a = memory[at.factors + 2 * j * d * d :]
        if reduced:
            fill(h, memory[at.masses :], d // 2, R[j * s + j :], s, width, a)
            decompose(a, n // 2, memory[at.pivots + j * d :])
            continue
        for k in range(width):
            for l in range(width):
                r = h * R[(j + k) * s + j + l]
                for m in range(d):
                    for b in range(d):
                        one = 1.0 if k == l and m == b else 0.0
                        st(a, (k * d + m) * n + l * d + b, one - r * ld(J, m * d + b))
        decompose(a, n, memory[at.pivots + j * d :])


@kernel
def correct(h: Any, memory: Any, s: Any, d: Any, Q: Any, R: Any, blocks: Any, pattern: Any) -> None:
    """The residual <- the correction Δk of the slopes."""
    half = pattern[HALF]
    at = room(s, d, half)
    J, r, x = memory[at.jacobian :], memory[at.residual :], memory[at.change :]
    reduced = half == SECOND_ORDER and any_(ld(memory, at.reduced) == REDUCED)
    if half >= 0:
        to_places(r, s, d, pattern, memory[at.value :])
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
            pivots = memory[at.pivots + source * d :]
            if half >= 0:
                a = memory[at.factors + source * numbers_of_band(d, half) :]
                solve_band(a, d, half, width, pivots, x[j * d :], memory[at.value :])
            else:
                a = memory[at.factors + 2 * source * d * d :]
                if reduced:
                    solve(
                        h, J, memory[at.masses :], d // 2, R[j * s + j :], s, width, a, pivots, x[j * d :],
                        memory[at.value + d :],
                    )  # fmt: skip
                else:
                    solve_factors(a, width * d, pivots, x[j * d :])
        for k in range(width):
            if half >= 0:
                times_band(J, d, half, x[(j + k) * d :], r[(j + k) * d :])
            else:
                times(J, d, d, x[(j + k) * d :], r[(j + k) * d :])
    for i in range(s):
        for m in range(d):
            total = Q[i * s] * ld(x, m)
            for j in range(1, s):
                total = total + Q[i * s + j] * ld(x, j * d + m)
            st(r, i * d + m, total)
    if half >= 0:
        from_places(r, s, d, pattern, memory[at.value :])


@kernel
def solve_one(h: Any, memory: Any, s: Any, d: Any, R: Any, j: Any, pattern: Any, x: Any) -> None:
    """x <- (1 − h Rⱼⱼ J)⁻¹ x, by the factors of a real eigenvalue in column j."""
    half = pattern[HALF]
    at = room(s, d, half)
    pivots = memory[at.pivots + j * d :]
    if half < 0:
        J, a = memory[at.jacobian :], memory[at.factors + 2 * j * d * d :]
        if half == SECOND_ORDER and any_(ld(memory, at.reduced) == REDUCED):
            solve(h, J, memory[at.masses :], d // 2, R[j * s + j :], s, 1, a, pivots, x, memory[at.value + d :])
        else:
            solve_factors(a, d, pivots, x)
        return
    to_places(x, 1, d, pattern, memory[at.value :])
    solve_band(memory[at.factors + j * numbers_of_band(d, half) :], d, half, 1, pivots, x, memory[at.value :])
    from_places(x, 1, d, pattern, memory[at.value :])
