"""Narrow systems of Newton's method: J as a band, for problems whose components meet only a few others each.

The components stand in an order in which those that meet are near each other; a place is the number of a component in
this order, and entry (i, j) of J, for places, is zero where |i − j| > w.  J by rows of 2w + 1 numbers, its factors by
rows of 3w + 1: the largest pivots bring w more to the right.  A pair of eigenvalues makes a system of twice the size,
whose rows are taken in turn (2m + k): a band of half width 2w + 1.  Time and memory are linear in d; J by differences
takes 2w + 2 evaluations, in each of which every (2w + 1)th place moves.

Few problems have a band: its kernels are compiled when the first of them takes a step.
"""

from __future__ import annotations

from typing import Any

from integrators.problem.sparsity import HALF, ORDER
from liegroup.compile import absolute, any_, helper, kernel, ld, never, rare, select, st
from liegroup.compile.scalars import maximum

OWN = 10.0
"""A row gives up its place for a pivot that is larger by this factor: rows of what does not move keep theirs."""


@helper
def numbers_of_band(d: Any, half: Any) -> Any:
    """Numbers that the factors of one stage take at most."""
    return d * (6 * half + 4)


# --- the band ---------------------------------------------------------------------------------------------------------


@rare(never)
def times_band(J: Any, d: Any, half: Any, x: Any, out: Any) -> None:
    """out <- J x."""
    for m in range(d):
        total = 0.0 * ld(x, m)
        for b in range(max(0, m - half), min(d, m + half + 1)):
            total = total + ld(J, m * 2 * half + b + half) * ld(x, b)
        st(out, m, total)


@rare(never)
def levels_band(J: Any, d: Any, pattern: Any, size: Any, reach: Any, out: Any) -> None:
    """out <- |J| (size + reach), by components."""
    half = pattern[HALF]
    for m in range(d):
        total = 0.0 * ld(size, 0)
        for b in range(max(0, m - half), min(d, m + half + 1)):
            i = pattern[ORDER + b]
            total = total + absolute(ld(J, m * 2 * half + b + half)) * (ld(size, i) + ld(reach, i))
        st(out, pattern[ORDER + m], total)


@kernel
def to_places(x: Any, s: Any, d: Any, pattern: Any, scratch: Any) -> None:
    """s vectors of components <- the same by places."""
    for i in range(s):
        for m in range(d):
            st(scratch, m, ld(x, i * d + pattern[ORDER + m]))
        for m in range(d):
            st(x, i * d + m, ld(scratch, m))


@kernel
def from_places(x: Any, s: Any, d: Any, pattern: Any, scratch: Any) -> None:
    """s vectors by places <- the same by components."""
    for i in range(s):
        for m in range(d):
            st(scratch, pattern[ORDER + m], ld(x, i * d + m))
        for m in range(d):
            st(x, i * d + m, ld(scratch, m))


# --- factors ----------------------------------------------------------------------------------------------------------


@rare(never)
def fill_band(h: Any, J: Any, d: Any, half: Any, R: Any, stride: Any, width: Any, a: Any) -> None:
    """a <- 1 − h R ⊗ J of a block of R, whose rows are `stride` apart; rows of a in turn."""
    w = width * half + width - 1
    zero = 0.0 * ld(J, 0)
    for i in range(width * d * (3 * w + 1)):
        st(a, i, zero)
    for m in range(d):
        for b in range(max(0, m - half), min(d, m + half + 1)):
            x = ld(J, m * 2 * half + b + half)
            for k in range(width):
                for l in range(width):
                    one = 1.0 if k == l and m == b else 0.0
                    st(a, (width * m + k) * 3 * w + width * b + l + w, one - (h * R[k * stride + l]) * x)


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
