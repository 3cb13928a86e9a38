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
from liegroup.compile import absolute, helper, ld, never, rare, st

LOOPS = "rows"


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


@rare(never)
def to_places(x: Any, s: Any, d: Any, pattern: Any, scratch: Any) -> None:
    """s vectors of components <- the same by places."""
    for i in range(s):
        for m in range(d):
            st(scratch, m, ld(x, i * d + pattern[ORDER + m]))
        for m in range(d):
            st(x, i * d + m, ld(scratch, m))


@rare(never)
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
