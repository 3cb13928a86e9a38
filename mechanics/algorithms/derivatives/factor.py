"""M = Lᵀ D L of a mass matrix in its place, without fill-in: row r of L reaches only the velocities before r on the way
to the base.

A matrix is where it stands: in `out` from `o` on, with `w` numbers from one row to the next.  L and D replace the lower
triangle and the diagonal.  The upper triangle is neither read nor written until `invert` fills it.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, st
from mechanics.model.layout import above, header_of


@helper
def factorise(structure: Any, out: Any, o: Any, w: Any) -> None:
    """M → (L, D), from the last row to the first:  L_rc = M_rc/D_r,  M_cb −= L_rc M_rb."""
    for r in range(header_of(structure).n_v - 1, -1, -1):
        row = o + r * w
        pivot = 1.0 / ld(out, row + r)
        c = above(structure, r)
        while c >= 0:
            x = ld(out, row + c) * pivot
            b = c
            while b >= 0:
                st(out, o + c * w + b, ld(out, o + c * w + b) - x * ld(out, row + b))
                b = above(structure, b)
            st(out, row + c, x)
            c = above(structure, c)


@helper
def solve(structure: Any, out: Any, o: Any, w: Any, x: Any, at: Any, down: Any, across: Any, count: Any) -> None:
    """X ← M⁻¹ X in place, from the factors; element (r, k) of X at x[at + r·down + k·across], `count` columns."""
    n = header_of(structure).n_v
    for r in range(n - 1, -1, -1):
        c = above(structure, r)
        while c >= 0:
            l = ld(out, o + r * w + c)
            for k in range(count):
                e = at + c * down + k * across
                st(x, e, ld(x, e) - l * ld(x, at + r * down + k * across))
            c = above(structure, c)
    for r in range(n):
        pivot = 1.0 / ld(out, o + r * w + r)
        for k in range(count):
            e = at + r * down + k * across
            st(x, e, ld(x, e) * pivot)
        c = above(structure, r)
        while c >= 0:
            l = ld(out, o + r * w + c)
            for k in range(count):
                e = at + r * down + k * across
                st(x, e, ld(x, e) - l * ld(x, at + c * down + k * across))
            c = above(structure, c)


@helper
def _meeting(structure: Any, i: Any, j: Any) -> Any:
    """The nearest velocity that is on the ways of both to the base, the two included; −1 if there is none."""
    while i != j:
        if i > j:
            i = above(structure, i)
        else:
            j = above(structure, j)
    return i


@helper
def invert(structure: Any, out: Any, o: Any, w: Any) -> None:
    """(L, D) → M⁻¹, full, in the same place: K = L⁻¹ from K L = E, then M⁻¹_ij = Σ_k K_ik K_jk / D_k, from the last row
    to the first and in a row from the right to the left, so that what is still needed is still there.
    """
    n = header_of(structure).n_v
    for r in range(n - 1, -1, -1):
        row = o + r * w
        c = above(structure, r)
        while c >= 0:
            l = -ld(out, row + c)
            st(out, row + c, l)
            b = above(structure, c)
            while b >= 0:
                st(out, row + b, ld(out, row + b) + l * ld(out, o + c * w + b))
                b = above(structure, b)
            c = above(structure, c)
        st(out, row + r, 1.0 / ld(out, row + r))
    for i in range(n - 1, -1, -1):
        for j in range(i, -1, -1):
            k = _meeting(structure, i, j)
            total = ld(out, o + j * w + j)
            if k < j:
                total = total - total
            else:
                if j < i:
                    total = total * ld(out, o + i * w + j)
                k = above(structure, k)
            while k >= 0:
                total = total + ld(out, o + i * w + k) * (ld(out, o + j * w + k) * ld(out, o + k * w + k))
                k = above(structure, k)
            st(out, o + i * w + j, total)
            st(out, o + j * w + i, total)
