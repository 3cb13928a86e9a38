"""Full linear systems: L and U in the place of a matrix, with pivots, in lanes those of each; products with matrices.

Matrices stand by rows, one number behind the other.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.bands import OWN, exchange, inverse_size
from liegroup.compile import absolute, any_, helper, kernel, ld, select, st
from liegroup.compile.scalars import maximum

LOOPS = "rows"


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
def _minus_rows(a: Any, row: Any, n: Any, x: Any, first: Any, last: Any, sums: Any) -> Any:
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
        s, t, u, v = _minus_rows(a, r, n, x, 0, i, (ld(x, i), ld(x, i + 1), ld(x, i + 2), ld(x, i + 3)))
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
        s, t, u, v = _minus_rows(a, r, n, x, i + 4, n, (ld(x, i), ld(x, i + 1), ld(x, i + 2), ld(x, i + 3)))
        v = v / ld(a, r + 3 * n + i + 3)
        u = (u - ld(a, r + 2 * n + i + 3) * v) / ld(a, r + 2 * n + i + 2)
        t = ((t - ld(a, r + n + i + 3) * v) - ld(a, r + n + i + 2) * u) / ld(a, r + n + i + 1)
        s = (((s - ld(a, r + i + 3) * v) - ld(a, r + i + 2) * u) - ld(a, r + i + 1) * t) / ld(a, r + i)
        st(x, i, s)
        st(x, i + 1, t)
        st(x, i + 2, u)
        st(x, i + 3, v)


@kernel
def invert(a: Any, n: Any, pivots: Any, out: Any) -> None:
    """out <- the inverse of the matrix with the factors a, by rows."""
    for i in range(n):
        for j in range(n):
            st(out, i * n + j, 0.0 * ld(a, 0) + (1.0 if i == j else 0.0))
    for k in range(n):
        for i in range(k + 1, n):
            if any_(ld(pivots, k) == 1.0 * i):
                for j in range(n):
                    exchange(ld(pivots, k) == 1.0 * i, out, k * n + j, i * n + j)
    for i in range(n):
        for k in range(i):
            subtract_row(out, i * n, ld(a, i * n + k), k * n, n)
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            subtract_row(out, i * n, ld(a, i * n + k), k * n, n)
        inverse = 1.0 / ld(a, i * n + i)
        for j in range(n):
            st(out, i * n + j, ld(out, i * n + j) * inverse)


@helper
def subtract_row(x: Any, to: Any, factor: Any, row: Any, count: Any) -> None:
    """x[to …] −= factor · x[row …]."""
    for j in range(count):
        st(x, to + j, ld(x, to + j) - factor * ld(x, row + j))


@kernel
def add_product(a: Any, wide: Any, b: Any, width: Any, n: Any, out: Any) -> None:
    """out <- out + a b for n × n matrices; rows of a are so far apart, those of b so far, those of out n."""
    for i in range(n):
        for k in range(n):
            factor = ld(a, i * wide + k)
            for j in range(n):
                st(out, i * n + j, ld(out, i * n + j) + factor * ld(b, k * width + j))


@kernel
def times(a: Any, wide: Any, n: Any, x: Any, out: Any) -> None:
    """out <- a x for an n × n matrix whose rows are so far apart."""
    whole, zero = n - n % 4, 0.0 * ld(x, 0)
    for m in range(0, whole, 4):
        s, t, u, v = _minus_rows(a, m * wide, wide, x, 0, n, (zero, zero, zero, zero))
        st(out, m, -s)
        st(out, m + 1, -t)
        st(out, m + 2, -u)
        st(out, m + 3, -v)
    for m in range(whole, n):
        st(out, m, -_minus_row(a, m * wide, x, 0, n, zero))
