"""The memory of `integrators.steppers.newton` and its linear systems: 1 − h A ⊗ J in the Schur form of A, by blocks.

J is dense, or a band (`integrators.steppers.newton_bands`) where the problem says which components meet: which of the
two is the pattern of a problem (`integrators.problem.sparsity`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.bands import OWN, decompose_band, exchange, inverse_size, solve_band
from integrators.problem.sparsity import HALF
from integrators.steppers.newton_bands import fill_band, from_places, numbers_of_band, times_band, to_places
from liegroup.compile import absolute, any_, helper, kernel, ld, select, st
from liegroup.compile.scalars import maximum

LOOPS = "rows"

ROUNDING = 1e-14
"""Entries of a Schur form, relative to the largest, that are zero."""


class Room(NamedTuple):
    """Where the parts of the iteration's memory begin, as numbers of a vector; s stages, d velocities.

    residual, change and apart (s d each; the last is the stepper's own), size, noise and level (d) of state, field and
    slopes, pivots (s d), kept (1 where J may serve the next step), stiff (steps that are still to begin with Newton's
    method where others iterate), step (the h of the factors), value (2 d; d + d² of a given Jacobian), J (d² by rows;
    d (2w + 1) as a band), factors (2 s d², or s² d² where that is more; s d (6w + 4) as bands)
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
    value: int
    jacobian: int
    factors: int
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
    value = kept + 3
    jacobian = value + (d + d * d if half < 0 else 2 * d)
    factors = jacobian + (d * d if half < 0 else d * (2 * half + 1))
    end = factors + s * ((s if s > 2 else 2) * d * d if half < 0 else numbers_of_band(d, half))
    return Room(0, m, 2 * m, size, size + d, size + 2 * d, pivots, kept, kept + 1, kept + 2, value, jacobian, factors,
                end)  # fmt: skip


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


@kernel
def factorise(h: Any, memory: Any, s: Any, d: Any, R: Any, blocks: Any, pattern: Any) -> None:
    """The factors of 1 − h R ⊗ J, block by block; R by rows."""
    half = pattern[HALF]
    at = room(s, d, half)
    J = memory[at.jacobian :]
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
        for k in range(width):
            for l in range(width):
                r = h * R[(j + k) * s + j + l]
                for m in range(d):
                    for b in range(d):
                        one = 1.0 if k == l and m == b else 0.0
                        st(a, (k * d + m) * n + l * d + b, one - r * ld(J, m * d + b))
        decompose(a, n, memory[at.pivots + j * d :])


@kernel
def decompose(a: Any, n: Any, pivots: Any) -> None:
    """L and U of the n × n matrix a in its place, with pivots that are large in their rows, each lane with its own:
    rows of what does not move, 1 and zeros, then stay as they are, to the last bit.

    Four columns at a time: the rows behind them are then loaded and stored once for four pivots, in the order of sums
    of one after another.  Rows and ends of rows in which nothing but zeros would change anything are left alone, so
    that matrices with a profile take no more than that.
    """
    for i in range(n):
        st(pivots, i, inverse_size(a, i * n, n))
    for first in range(0, n, 4):
        behind = min(first + 4, n)
        for k in range(first, behind):
            _pivot(a, n, k, pivots)
            inverse = 1.0 / ld(a, k * n + k)
            for i in range(k + 1, n):
                factor = ld(a, i * n + k) * inverse
                st(a, i * n + k, factor)
                for j in range(k + 1, behind):
                    st(a, i * n + j, ld(a, i * n + j) - factor * ld(a, k * n + j))
        for k in range(first + 1, behind):
            for i in range(first, k):
                factor = ld(a, k * n + i)
                for j in range(behind, n):
                    st(a, k * n + j, ld(a, k * n + j) - factor * ld(a, i * n + j))
        if behind - first == 4:
            r, s, t, u = first * n, (first + 1) * n, (first + 2) * n, (first + 3) * n
            end = n
            while end > behind and not _any_of((ld(a, r + end - 1), ld(a, s + end - 1), ld(a, t + end - 1),
                                                ld(a, u + end - 1))):  # fmt: skip
                end -= 1
            for i in range(behind, n):
                row, o = i * n, i * n + first
                f, g, p, q = ld(a, o), ld(a, o + 1), ld(a, o + 2), ld(a, o + 3)
                if _any_of((f, g, p, q)):
                    for j in range(behind, end):
                        x = (ld(a, row + j) - f * ld(a, r + j)) - g * ld(a, s + j)
                        st(a, row + j, (x - p * ld(a, t + j)) - q * ld(a, u + j))


@helper
def _any_of(x: Any) -> Any:
    """Whether one of four numbers is not zero, in any lane."""
    return any_((x[0] != 0.0) | (x[1] != 0.0) | (x[2] != 0.0) | (x[3] != 0.0))


@helper
def _pivot(a: Any, n: Any, k: Any, pivots: Any) -> None:
    """The row with the largest entry of column k in units of its row, from row k on, in its place, where it is `OWN`
    times that of row k; the sizes of rows to come wait among the pivots.
    """
    size = ld(pivots, k)
    largest = OWN * absolute(ld(a, k * n + k)) * size
    pivot = 0.0 * largest + 1.0 * k
    for i in range(k + 1, n):
        x = absolute(ld(a, i * n + k)) * ld(pivots, i)
        pivot = select(x > largest, 0.0 * x + 1.0 * i, pivot)
        largest = maximum(largest, x)
    st(pivots, k, pivot)
    for i in range(k + 1, n):
        if any_(pivot == 1.0 * i):
            st(pivots, i, select(pivot == 1.0 * i, size, ld(pivots, i)))
            for j in range(n):
                exchange(pivot == 1.0 * i, a, k * n + j, i * n + j)


@helper
def minus_rows(a: Any, row: Any, n: Any, x: Any, first: Any, last: Any, sums: Any) -> Any:
    """Four numbers less four rows of a from `row` on times x[first … last]: sums that do not wait for each other."""
    s, t, u, v = sums
    for j in range(first, last):
        z = ld(x, j)
        s = s - ld(a, row + j) * z
        t = t - ld(a, row + n + j) * z
        u = u - ld(a, row + 2 * n + j) * z
        v = v - ld(a, row + 3 * n + j) * z
    return s, t, u, v


@helper
def _minus_row(a: Any, row: Any, x: Any, first: Any, last: Any, s: Any) -> Any:
    """A number less one row of a times x[first … last]."""
    for j in range(first, last):
        s = s - ld(a, row + j) * ld(x, j)
    return s


@kernel
def solve_factors(a: Any, n: Any, pivots: Any, x: Any) -> None:
    """x <- the solution of the system with the factors a and the right-hand side x."""
    for k in range(n):
        for i in range(k + 1, n):
            if any_(ld(pivots, k) == 1.0 * i):
                exchange(ld(pivots, k) == 1.0 * i, x, k, i)
    whole = n - n % 4
    for i in range(0, whole, 4):
        r = i * n
        s, t, u, v = minus_rows(a, r, n, x, 0, i, (ld(x, i), ld(x, i + 1), ld(x, i + 2), ld(x, i + 3)))
        t = t - ld(a, r + n + i) * s
        u = (u - ld(a, r + 2 * n + i) * s) - ld(a, r + 2 * n + i + 1) * t
        v = ((v - ld(a, r + 3 * n + i) * s) - ld(a, r + 3 * n + i + 1) * t) - ld(a, r + 3 * n + i + 2) * u
        st(x, i, s)
        st(x, i + 1, t)
        st(x, i + 2, u)
        st(x, i + 3, v)
    for i in range(whole, n):
        st(x, i, _minus_row(a, i * n, x, 0, i, ld(x, i)))
    for i in range(n - 1, whole - 1, -1):
        st(x, i, _minus_row(a, i * n, x, i + 1, n, ld(x, i)) / ld(a, i * n + i))
    for i in range(whole - 4, -1, -4):
        r = i * n
        s, t, u, v = minus_rows(a, r, n, x, i + 4, n, (ld(x, i), ld(x, i + 1), ld(x, i + 2), ld(x, i + 3)))
        v = v / ld(a, r + 3 * n + i + 3)
        u = (u - ld(a, r + 2 * n + i + 3) * v) / ld(a, r + 2 * n + i + 2)
        t = ((t - ld(a, r + n + i + 3) * v) - ld(a, r + n + i + 2) * u) / ld(a, r + n + i + 1)
        s = (((s - ld(a, r + i + 3) * v) - ld(a, r + i + 2) * u) - ld(a, r + i + 1) * t) / ld(a, r + i)
        st(x, i, s)
        st(x, i + 1, t)
        st(x, i + 2, u)
        st(x, i + 3, v)


@kernel
def correct(h: Any, memory: Any, s: Any, d: Any, Q: Any, R: Any, blocks: Any, pattern: Any) -> None:
    """The residual <- the correction Δk of the slopes."""
    half = pattern[HALF]
    at = room(s, d, half)
    J, r, x = memory[at.jacobian :], memory[at.residual :], memory[at.change :]
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
                solve_factors(memory[at.factors + 2 * source * d * d :], width * d, pivots, x[j * d :])
        for k in range(width):
            if half >= 0:
                times_band(J, d, half, x[(j + k) * d :], r[(j + k) * d :])
            else:
                _apply(J, d, x[(j + k) * d :], r[(j + k) * d :])
    for i in range(s):
        for m in range(d):
            total = Q[i * s] * ld(x, m)
            for j in range(1, s):
                total = total + Q[i * s + j] * ld(x, j * d + m)
            st(r, i * d + m, total)
    if half >= 0:
        from_places(r, s, d, pattern, memory[at.value :])


@kernel
def solve_one(memory: Any, s: Any, d: Any, j: Any, pattern: Any, x: Any) -> None:
    """x <- (1 − h Rⱼⱼ J)⁻¹ x, by the factors of a real eigenvalue in column j."""
    half = pattern[HALF]
    at = room(s, d, half)
    pivots = memory[at.pivots + j * d :]
    if half < 0:
        solve_factors(memory[at.factors + 2 * j * d * d :], d, pivots, x)
        return
    to_places(x, 1, d, pattern, memory[at.value :])
    solve_band(memory[at.factors + j * numbers_of_band(d, half) :], d, half, 1, pivots, x, memory[at.value :])
    from_places(x, 1, d, pattern, memory[at.value :])


@kernel
def _apply(J: Any, d: Any, x: Any, out: Any) -> None:
    """out <- J x."""
    whole, zero = d - d % 4, 0.0 * ld(x, 0)
    for m in range(0, whole, 4):
        s, t, u, v = minus_rows(J, m * d, d, x, 0, d, (zero, zero, zero, zero))
        st(out, m, -s)
        st(out, m + 1, -t)
        st(out, m + 2, -u)
        st(out, m + 3, -v)
    for m in range(whole, d):
        st(out, m, -_minus_row(J, m * d, x, 0, d, zero))
