"""X ← −M⁻¹ X from the factors of M = Lᵀ D L, of two matrices of derivatives by all velocities side by side.

Sums stay in registers: six columns, or two, from the last row to the first and back.  A column is one number in a
register, as in `mechanics.algorithms.derivatives.sweeps`: eight columns of one trajectory, or one column of eight.  In
lanes the derivatives by velocities that follow each other, and that move the same last one, are taken together, and
only the rows of what they move and of what moves them are read: others count as zero.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import WIDTH, helper, kernel, ld, ld2, st
from mechanics.algorithms.derivatives.columns import COLUMNS, TWIST, times
from mechanics.algorithms.derivatives.sweeps import columns_of_line
from mechanics.model.layout import above, header_of, way_at, ways_of

_TWO = 2 * WIDTH


def work_of_solve(structure: Any) -> tuple[int, int]:
    """Of the workspace: lines of the links and of the base, of M, and of two matrices of one trajectory."""
    links, _, n_v = structure[:3].tolist()
    return links + 2 + 2 * n_v, columns_of_line(max(COLUMNS, int(of_two(2 * n_v) + of_two(n_v))))


@helper
def of_two(columns: Any) -> Any:
    """Columns of whole pairs of blocks."""
    return (columns + _TWO - 1) // _TWO * _TWO


@helper
def _six(rows: Any, k: Any, apart: Any) -> Any:
    l = k + apart
    return (ld(rows, k), ld(rows, k + 1), ld(rows, k + 2)), (ld(rows, l), ld(rows, l + 1), ld(rows, l + 2))


@helper
def _put_six(rows: Any, k: Any, apart: Any, x: Any) -> None:
    l = k + apart
    st(rows, k, x[0][0])
    st(rows, k + 1, x[0][1])
    st(rows, k + 2, x[0][2])
    st(rows, l, x[1][0])
    st(rows, l + 1, x[1][1])
    st(rows, l + 2, x[1][2])


@helper
def _less_six(s: Any, f: Any, x: Any) -> Any:
    """s − f x."""
    (a, b, c), (d, e, g) = s
    (u, v, w), (p, q, r) = x
    return (a - f * u, b - f * v, c - f * w), (d - f * p, e - f * q, g - f * r)


@helper
def _two(rows: Any, k: Any, apart: Any) -> Any:
    return ld(rows, k), ld(rows, k + apart)


@helper
def _put_two(rows: Any, k: Any, apart: Any, x: Any) -> None:
    st(rows, k, x[0])
    st(rows, k + apart, x[1])


@helper
def _less_two(s: Any, f: Any, x: Any) -> Any:
    """s − f x."""
    return s[0] - f * x[0], s[1] - f * x[1]


@helper
def _times_two(f: Any, x: Any) -> Any:
    return f * x[0], f * x[1]


@helper
def _zeros_of_six(zero: Any) -> Any:
    return (zero, zero, zero), (zero, zero, zero)


@helper
def _zeros_of_two(zero: Any) -> Any:
    return zero, zero


def _taking(load: Any, put: Any, less: Any, scaled: Any, zeros: Any) -> Any:
    """X ← −M⁻¹ X in so many columns as `load` reads, from rows[at] on: derivatives by velocities from `begin` on, which
    move those up to `last`; row r begins at rows[at + r·down].
    """

    @helper
    def take(
        structure: Any, work: Any, first: Any, rows: Any, at: Any, down: Any, apart: Any, begin: Any, last: Any
    ) -> None:
        n, ways, zero = header_of(structure).n_v, ways_of(structure), ld2(work, header_of(structure).links, TWIST)
        c = last - 1 if last > begin else above(structure, ways, begin)
        while c >= 0:
            s, r = load(rows, at + c * down, apart), above(structure, ways, begin)
            for k in range(min(last, way_at(structure, ways, c).last), max(begin, c + 1) - 1, -1):
                s = less(s, ld2(work, first + k, c), load(rows, at + k * down, apart))
            while r > c:
                run = max(way_at(structure, ways, r).run, c + 1)
                for k in range(r, run - 1, -1):
                    s = less(s, ld2(work, first + k, c), load(rows, at + k * down, apart))
                r = above(structure, ways, run)
            put(rows, at + c * down, apart, s)
            c = c - 1 if c > begin else above(structure, ways, c)
        for r in range(n):
            s = scaled(-ld2(work, first + r, r), load(rows, at + r * down, apart))
            if work.ndim == 3:  # noqa: SIM102 (the compiler leaves this out for one trajectory)
                if r > last or way_at(structure, ways, r).last < begin:
                    s = zeros(zero)
            c = above(structure, ways, r)
            while c >= 0:
                run = way_at(structure, ways, c).run
                for k in range(run, c + 1):
                    s = less(s, ld2(work, first + r, k), load(rows, at + k * down, apart))
                c = above(structure, ways, run)
            put(rows, at + r * down, apart, s)

    return take


def _inverting(load: Any, put: Any, less: Any) -> Any:
    """Row r of −Σ L_rc X_c over the velocities c above r, added to what is there."""

    @helper
    def invert(structure: Any, work: Any, first: Any, rows: Any, at: Any, down: Any, apart: Any, r: Any) -> None:
        ways, s = ways_of(structure), load(rows, at + r * down, apart)
        c = above(structure, ways, r)
        while c >= 0:
            run = way_at(structure, ways, c).run
            for k in range(run, c + 1):
                s = less(s, ld2(work, first + r, k), load(rows, at + k * down, apart))
            c = above(structure, ways, run)
        put(rows, at + r * down, apart, s)

    return invert


_take_six = _taking(_six, _put_six, _less_six, times, _zeros_of_six)
_take_two = _taking(_two, _put_two, _less_two, _times_two, _zeros_of_two)
_invert_six = _inverting(_six, _put_six, _less_six)
_invert_two = _inverting(_two, _put_two, _less_two)


@kernel
def solve_two(structure: Any, work: Any, first: Any, rows: Any, down: Any, is_deep: Any) -> None:
    """X ← −M⁻¹ X, row r from rows[r·down] on: in lanes columns of the two matrices, else blocks of both; `is_deep`
    where the velocities that any one moves follow it without a gap.
    """
    n, ways = header_of(structure).n_v, ways_of(structure)
    k = 0
    if work.ndim == 3:
        while k < n:
            begin, last, end = (k, way_at(structure, ways, k).last, k + 1) if is_deep else (0, n - 1, n)
            while end < n and way_at(structure, ways, end).last == last and above(structure, ways, end) == end - 1:
                end += 1
            while k < end:
                if end - k >= 3:
                    _take_six(structure, work, first, rows, k, down, n, begin, last)
                    k += 3
                else:
                    _take_two(structure, work, first, rows, k, down, n, begin, last)
                    k += 1
    else:
        count = of_two(2 * n) // WIDTH
        while k < count:
            if count - k >= 6:
                _take_six(structure, work, first, rows, k, down, 3, 0, n - 1)
                k += 6
            else:
                _take_two(structure, work, first, rows, k, down, 1, 0, n - 1)
                k += 2


@kernel
def inverse_in_blocks(structure: Any, work: Any, first: Any, entries: Any, rows: Any, at: Any, down: Any) -> None:
    """M⁻¹ from the factors, row r from entries[at + r·down] on, where zeros stand; `rows` are the same in blocks.

    Below the diagonal (M⁻¹)_rk = −Σ L_rc (M⁻¹)_ck over c above r, the upper triangle is its mirror image, and the
    diagonal is 1/D_r − Σ L_rc (M⁻¹)_cr.
    """
    n, ways, size = header_of(structure).n_v, ways_of(structure), 1 if work.ndim == 3 else WIDTH
    for r in range(n):
        k, row = 0, at + r * down
        while k * size < r:
            if r - k * size >= 6 * size:
                _invert_six(structure, work, first, rows, at // size + k, down // size, 3, r)
                k += 6
            else:
                _invert_two(structure, work, first, rows, at // size + k, down // size, 1, r)
                k += 2
        s, c = ld2(work, first + r, r), above(structure, ways, r)
        while c >= 0:
            s = s - ld2(work, first + r, c) * ld(entries, row + c)
            c = above(structure, ways, c)
        st(entries, row + r, s)
        for i in range(r):
            st(entries, at + i * down + r, ld(entries, row + i))
