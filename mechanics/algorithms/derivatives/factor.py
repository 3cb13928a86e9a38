"""M = Lᵀ D L of a mass matrix in its place, without fill-in: row r of L reaches only the velocities before r on the way
to the base.

The matrix stands in the workspace, behind the lines of the links: row r in line `first` + r.  L and D replace the lower
triangle and the diagonal.  The upper triangle, and what does not share a way to the base, is neither read nor written.

Rows of right-hand sides are taken four or two at a time where they follow each other on the way to the base: a number
that changes is then loaded and stored once for all of them.  The order of the sums is that of one row after another.
Derivatives by a velocity are zero in the rows of velocities that neither move it nor are moved by it, and stay so on
the way to the base.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.matrices import subtract_row
from liegroup.compile import helper, kernel, ld, ld2, st, st2
from mechanics.algorithms.derivatives.columns import TWIST
from mechanics.model.layout import above, header_of, way_at, ways_of

LOOPS = "rows"

AT_A_TIME = 16
"""Columns of a solution in lanes: as many as stay in the nearest cache."""


@kernel
def factorise(structure: Any, work: Any, first: Any) -> None:
    """M → (L, D), from the last row to the first:  L_rc = M_rc/D_r,  M_cb −= L_rc M_rb;  1/D on the diagonal."""
    ways = ways_of(structure)
    for r in range(header_of(structure).n_v - 1, -1, -1):
        row = first + r
        pivot = 1.0 / ld2(work, row, r)
        st2(work, row, r, pivot)
        c = above(structure, ways, r)
        while c >= 0:
            x, b = ld2(work, row, c) * pivot, c
            while b >= 0:
                run = way_at(structure, ways, b).run
                for k in range(run, b + 1):
                    st2(work, first + c, k, ld2(work, first + c, k) - x * ld2(work, row, k))
                b = above(structure, ways, run)
            st2(work, row, c, x)
            c = above(structure, ways, c)


@helper
def solve(structure: Any, work: Any, first: Any, x: Any, at: Any) -> None:
    """x ← M⁻¹ x from x[at] on, one column, from the factors."""
    n, ways = header_of(structure).n_v, ways_of(structure)
    for r in range(n - 1, -1, -1):
        s, c = ld(x, at + r), above(structure, ways, r)
        while c >= 0:
            run = way_at(structure, ways, c).run
            for k in range(run, c + 1):
                st(x, at + k, ld(x, at + k) - ld2(work, first + r, k) * s)
            c = above(structure, ways, run)
    for r in range(n):
        s, c = ld(x, at + r) * ld2(work, first + r, r), above(structure, ways, r)
        while c >= 0:
            run = way_at(structure, ways, c).run
            for k in range(c, run - 1, -1):
                s = s - ld2(work, first + r, k) * ld(x, at + k)
            c = above(structure, ways, run)
        st(x, at + r, s)


@helper
def at_a_time(x: Any, count: Any) -> Any:
    """How many of `count` columns: in lanes `AT_A_TIME`, alone all."""
    return AT_A_TIME if x.ndim == 2 else count


@kernel
def solve_derivatives(structure: Any, work: Any, first: Any, x: Any, at: Any, down: Any) -> None:
    """X ← −M⁻¹ X in place, from the factors, of derivatives by all velocities; row r begins at x[at + r·down]."""
    n, ways = header_of(structure).n_v, ways_of(structure)
    if x.ndim == 2:
        k = 0
        while k < n:
            end = k + 1
            while end < n and end < k + AT_A_TIME and above(structure, ways, end) == end - 1:
                end += 1
            _towards_base(structure, work, first, x, at, down, k, end)
            k = end
    else:
        r = n - 1
        while r >= 0:
            rows = rows_together(structure, r, 0)
            give_above(structure, work, first, x, at, at, down, n, r, rows)
            r -= rows
    size = at_a_time(x, n)
    for k in range(0, n, size):
        some = min(size, n - k)
        for r in range(n):
            pivot, row = -ld2(work, first + r, r), at + r * down + k
            for i in range(row, row + some):
                st(x, i, ld(x, i) * pivot)
            take_above(structure, work, first + r, x, row, at + k, down, some, r)


@kernel
def inverse_into(structure: Any, work: Any, first: Any, x: Any, at: Any, down: Any) -> None:
    """M⁻¹ from the factors; row r begins at x[at + r·down].

    Below the diagonal (M⁻¹)_rk = −Σ L_rc (M⁻¹)_ck over c above r, the upper triangle is its mirror image, and the
    diagonal is 1/D_r − Σ L_rc (M⁻¹)_cr.
    """
    n, ways = header_of(structure).n_v, ways_of(structure)
    size = at_a_time(x, n)
    for k in range(0, n, size):
        for r in range(k, n):
            row, some, s = at + r * down, min(size, r - k), ld2(work, first + r, r)
            for i in range(row + k, row + k + some):
                st(x, i, s * 0.0)
            take_above(structure, work, first + r, x, row + k, at + k, down, some, r)
            for i in range(k, k + some):
                st(x, at + i * down + r, ld(x, row + i))
            if r < k + size:
                c = above(structure, ways, r)
                while c >= 0:
                    s = s - ld2(work, first + r, c) * ld(x, row + c)
                    c = above(structure, ways, c)
                st(x, row + r, s)


@kernel
def by_momenta(structure: Any, work: Any, out: Any) -> None:
    """The derivatives of Hamilton's equations by (q, p) from those by (q, v) and the factors of M."""
    tree = header_of(structure)
    n_v, first = tree.n_v, tree.links + 1
    width, by_v = 2 * n_v, first + n_v
    below, transposed = width * n_v, by_v + n_v
    ways = ways_of(structure)
    solve_derivatives(structure, work, first, out, 0, width)
    inverse_into(structure, work, first, out, n_v, width)
    for r in range(n_v):
        row, c = below + r * width + n_v, r
        while c >= 0:
            st2(work, by_v + r, c, -ld(out, row + c))
            st2(work, transposed + r, c, -ld(out, below + c * width + n_v + r))
            c = above(structure, ways, c)
    zero = ld2(work, tree.links, TWIST)
    for r in range(n_v):
        fill(out, below + r * width + n_v, n_v, zero)
    size = at_a_time(out, width)
    for k in range(0, width, size):
        some, r = min(size, width - k), n_v - 1
        while r >= 0:
            rows = rows_together(structure, r, 0)
            give_above(structure, work, transposed, out, below + k, k, width, some, r, rows)
            r -= rows
        for r in range(n_v):
            row = below + r * width + k
            subtract_row(out, row, ld2(work, by_v + r, r), r * width + k, some)
            take_above(structure, work, by_v + r, out, row, k, width, some, r)


# --- rows on the way to the base --------------------------------------------------------------------------------------


@helper
def rows_together(structure: Any, r: Any, least: Any) -> Any:
    """How many rows from r down to `least` are taken at a time: 4, 2 or 1 that follow each other."""
    run = max(way_at(structure, ways_of(structure), r).run, least)
    return 4 if r - run >= 3 else 2 if r > run else 1


@helper
def take_above(
    structure: Any, work: Any, line: Any, x: Any, to: Any, start: Any, down: Any, count: Any, r: Any
) -> None:
    """x[to …] −= Σ F_c x[start + c·down …] over the velocities c above r, with F_c in a line of the workspace."""
    ways = ways_of(structure)
    c = above(structure, ways, r)
    while c >= 0:
        rows, row = rows_together(structure, c, 0), start + c * down
        if rows == 4:
            _four(
                x, to, (ld2(work, line, c), ld2(work, line, c - 1), ld2(work, line, c - 2), ld2(work, line, c - 3)),
                (row, row - down, row - 2 * down, row - 3 * down), count,
            )  # fmt: skip
        elif rows == 2:
            _two(x, to, (ld2(work, line, c), ld2(work, line, c - 1)), (row, row - down), count)
        else:
            subtract_row(x, to, ld2(work, line, c), row, count)
        c = above(structure, ways, c + 1 - rows)


@helper
def give_above(
    structure: Any, work: Any, first: Any, x: Any, to: Any, start: Any, down: Any, count: Any, r: Any, rows: Any
) -> None:
    """x[to + c·down …] −= F_rc x[start + r·down …] for some rows that follow each other, from r downwards, and all c
    above them, with F_rc in line `first` + r of the workspace.
    """
    ways, line, row = ways_of(structure), first + r, start + r * down
    if rows == 4:
        second, third, fourth = row - down, row - 2 * down, row - 3 * down
        subtract_row(x, to + (r - 1) * down, ld2(work, line, r - 1), row, count)
        _two(x, to + (r - 2) * down, (ld2(work, line, r - 2), ld2(work, line - 1, r - 2)), (row, second), count)
        subtract_row(x, to + (r - 3) * down, ld2(work, line, r - 3), row, count)
        _two(x, to + (r - 3) * down, (ld2(work, line - 1, r - 3), ld2(work, line - 2, r - 3)), (second, third), count)
        c = above(structure, ways, r - 3)
        while c >= 0:
            _four(
                x, to + c * down,
                (ld2(work, line, c), ld2(work, line - 1, c), ld2(work, line - 2, c), ld2(work, line - 3, c)),
                (row, second, third, fourth), count,
            )  # fmt: skip
            c = above(structure, ways, c)
    elif rows == 2:
        subtract_row(x, to + (r - 1) * down, ld2(work, line, r - 1), row, count)
        c = above(structure, ways, r - 1)
        while c >= 0:
            _two(x, to + c * down, (ld2(work, line, c), ld2(work, line - 1, c)), (row, row - down), count)
            c = above(structure, ways, c)
    else:
        c = above(structure, ways, r)
        while c >= 0:
            subtract_row(x, to + c * down, ld2(work, line, c), row, count)
            c = above(structure, ways, c)


@kernel
def _towards_base(structure: Any, work: Any, first: Any, x: Any, at: Any, down: Any, begin: Any, end: Any) -> None:
    """X ← L⁻ᵀ X for columns of velocities that follow each other: rows of what they move, then those on their way."""
    ways = ways_of(structure)
    r = way_at(structure, ways, begin).last
    while r >= 0:
        rows = rows_together(structure, r, begin if r >= begin else 0)
        lowest = r + 1 - rows
        count = min(end, way_at(structure, ways, lowest).last + 1) - begin
        give_above(structure, work, first, x, at + begin, at + begin, down, count, r, rows)
        r = lowest - 1 if lowest > begin else above(structure, ways, lowest)


@helper
def _two(x: Any, to: Any, factors: Any, rows: Any, count: Any) -> None:
    """The same of two rows, the first one first."""
    (f, g), (a, b) = factors, rows
    for k in range(count):
        st(x, to + k, (ld(x, to + k) - f * ld(x, a + k)) - g * ld(x, b + k))


@helper
def _four(x: Any, to: Any, factors: Any, rows: Any, count: Any) -> None:
    """The same of four rows."""
    (f, g, h, i), (a, b, c, d) = factors, rows
    for k in range(count):
        s = (ld(x, to + k) - f * ld(x, a + k)) - g * ld(x, b + k)
        st(x, to + k, (s - h * ld(x, c + k)) - i * ld(x, d + k))


@kernel
def fill(out: Any, o: Any, count: Any, zero: Any) -> None:
    """out[o … o + count] <- 0."""
    for k in range(count):
        st(out, o + k, zero)
