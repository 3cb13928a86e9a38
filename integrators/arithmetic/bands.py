"""Linear systems whose matrix is a band, by rows of 3w + 1 numbers for a half width w: the largest pivots bring w more
to the right.  Time and memory are linear; each lane has its own pivots.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import absolute, any_, helper, kernel, ld, never, rare, select, st
from liegroup.compile.scalars import maximum

LOOPS = "rows"

OWN = 10.0
"""A row gives up its place for a pivot that is larger by this factor: rows of what does not move keep theirs."""


@kernel
def inverse_size(a: Any, first: Any, count: Any) -> Any:
    """1 over the largest of `count` entries from `first` on."""
    largest = absolute(ld(a, first))
    for j in range(1, count):
        largest = maximum(largest, absolute(ld(a, first + j)))
    return 1.0 / largest


@helper
def exchange(where: Any, a: Any, i: Any, j: Any) -> None:
    """Exchange entries i and j where the condition holds."""
    x, z = ld(a, i), ld(a, j)
    st(a, i, select(where, z, x))
    st(a, j, select(where, x, z))


@rare(never)
def decompose_band(a: Any, n: Any, w: Any, pivots: Any) -> None:
    """L and U of the band a of half width w in its place, with pivots as in `integrators.steppers.newton_systems`."""
    right = 0
    for i in range(n):
        st(pivots, i, inverse_size(a, i * (3 * w + 1), 3 * w + 1))
    for k in range(n):
        below, own = min(k + w + 1, n), k * 3 * w + w
        size = ld(pivots, k)
        largest = OWN * absolute(ld(a, own + k)) * size
        pivot = 0.0 * largest + 1.0 * k
        for i in range(k + 1, below):
            x = absolute(ld(a, i * 3 * w + w + k)) * ld(pivots, i)
            pivot = select(x > largest, 0.0 * x + 1.0 * i, pivot)
            largest = maximum(largest, x)
        right = max(right, below)
        for i in range(k + 1, below):
            if any_(pivot == 1.0 * i):
                right = max(right, min(i + w + 1, n))
                st(pivots, i, select(pivot == 1.0 * i, size, ld(pivots, i)))
                for j in range(k, right):
                    exchange(pivot == 1.0 * i, a, own + j, i * 3 * w + w + j)
        st(pivots, k, pivot)
        inverse = 1.0 / ld(a, own + k)
        for i in range(k + 1, below):
            row = i * 3 * w + w
            factor = ld(a, row + k) * inverse
            st(a, row + k, factor)
            for j in range(k + 1, right):
                st(a, row + j, ld(a, row + j) - factor * ld(a, own + j))


@rare(never)
def solve_band(a: Any, d: Any, half: Any, width: Any, pivots: Any, x: Any, scratch: Any) -> None:
    """x <- the solution of the system with the factors a and the right-hand side x, one vector (or two) by places."""
    n, w = width * d, width * half + width - 1
    for k in range(width):
        for m in range(d):
            st(scratch, width * m + k, ld(x, k * d + m))
    for k in range(n):
        below = min(k + w + 1, n)
        for i in range(k + 1, below):
            if any_(ld(pivots, k) == 1.0 * i):
                exchange(ld(pivots, k) == 1.0 * i, scratch, k, i)
        z = ld(scratch, k)
        for i in range(k + 1, below):
            st(scratch, i, ld(scratch, i) - ld(a, i * 3 * w + w + k) * z)
    for i in range(n - 1, -1, -1):
        row, z = i * 3 * w + w, ld(scratch, i)
        for j in range(i + 1, min(i + 2 * w + 1, n)):
            z = z - ld(a, row + j) * ld(scratch, j)
        st(scratch, i, z / ld(a, row + i))
    for k in range(width):
        for m in range(d):
            st(x, k * d + m, ld(scratch, width * m + k))
