"""X ← −M⁻¹ X from the factors of M = Lᵀ D L, of matrices of derivatives by all velocities.

A column is one number in a register, as in `mechanics.algorithms.derivatives.sweeps`: eight columns of one trajectory,
or one column of eight.  Sums stay in registers, of six columns, or three, and of three rows that follow each other on
the way to the base, or one: a factor is then read once for all columns, and a row once for all rows.

Derivatives by velocities that follow each other are taken together; they are read in the rows of what these velocities
move and of what moves them, and count as zero in others.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import WIDTH, flattened, helper, in_rows_of_lanes, kernel, ld, ld2, st, st2
from liegroup.formulas.vectors import scale
from mechanics.algorithms.derivatives.columns import COLUMNS, TWIST, times
from mechanics.algorithms.derivatives.sweeps import columns_of_line
from mechanics.model.layout import above, header_of, way_at, ways_of


def work_of_solve(structure: Any) -> tuple[int, int]:
    """Of the workspace: lines of the links and of the base, of M, and of three matrices of one trajectory."""
    links, _, n_v = structure[:3].tolist()
    return links + 2 + 2 * n_v, columns_of_line(max(COLUMNS, 3 * int(of_blocks(n_v))))


@helper
def of_blocks(columns: Any) -> Any:
    """Columns of whole blocks."""
    return (columns + WIDTH - 1) // WIDTH * WIDTH


@helper
def _three(rows: Any, k: Any, apart: Any) -> Any:
    return ld(rows, k), ld(rows, k + apart), ld(rows, k + 2 * apart)


@helper
def _put_three(rows: Any, k: Any, apart: Any, x: Any) -> None:
    st(rows, k, x[0])
    st(rows, k + apart, x[1])
    st(rows, k + 2 * apart, x[2])


@helper
def _less_three(s: Any, f: Any, x: Any) -> Any:
    """s − f x."""
    return s[0] - f * x[0], s[1] - f * x[1], s[2] - f * x[2]


@helper
def _zeros(zero: Any) -> Any:
    return zero, zero, zero


@helper
def _six(rows: Any, k: Any, apart: Any) -> Any:
    return _three(rows, k, apart), _three(rows, k + 1, apart)


@helper
def _put_six(rows: Any, k: Any, apart: Any, x: Any) -> None:
    _put_three(rows, k, apart, x[0])
    _put_three(rows, k + 1, apart, x[1])


@helper
def _less_six(s: Any, f: Any, x: Any) -> Any:
    return _less_three(s[0], f, x[0]), _less_three(s[1], f, x[1])


@helper
def _zeros_of_six(zero: Any) -> Any:
    return _zeros(zero), _zeros(zero)


@kernel
def factorise_in_blocks(structure: Any, work: Any, first: Any) -> None:
    """What `factorise` does, of one trajectory, whose lines are whole blocks: all that stands before the end of the
    block of the diagonal is taken along, zeros where velocities do not share a way, and behind the diagonal what is
    never read.
    """
    ways, rows, count = ways_of(structure), in_rows_of_lanes(flattened(work)), work.shape[1] // WIDTH
    for r in range(header_of(structure).n_v - 1, -1, -1):
        row = first + r
        pivot, source, c = 1.0 / ld2(work, row, r), row * count, above(structure, ways, r)
        while c >= 0:
            x, target = ld2(work, row, c) * pivot, (first + c) * count
            for k in range(c // WIDTH + 1):
                st(rows, target + k, ld(rows, target + k) - x * ld(rows, source + k))
            c = above(structure, ways, c)
        for k in range(r // WIDTH + 1):
            st(rows, source + k, ld(rows, source + k) * pivot)
        st2(work, row, r, pivot)


def _sweeping(load: Any, put: Any, less: Any, scaled: Any, zeros: Any) -> Any:
    """X ← −M⁻¹ X in so many columns as `load` reads, from rows[at] on: derivatives by velocities from `begin` on, which
    move those up to `last`; row r begins at rows[at + r·down].
    """

    @helper
    def less_three(s: Any, work: Any, line: Any, c: Any, x: Any) -> Any:
        """Of rows that give to c−2, c−1 and c."""
        f, g, h = ld2(work, line, c - 2), ld2(work, line, c - 1), ld2(work, line, c)
        return less(s[0], f, x), less(s[1], g, x), less(s[2], h, x)

    @helper
    def towards_base(
        structure: Any, work: Any, first: Any, rows: Any, at: Any, down: Any, apart: Any, begin: Any, last: Any
    ) -> None:
        """X ← L⁻ᵀ X."""
        ways, c = ways_of(structure), last
        while c >= 0:
            way, row, r = way_at(structure, ways, c), at + c * down, above(structure, ways, begin)
            end, start = min(last, way.last), max(begin, c + 1)
            if way.run <= c - 2 and way_at(structure, ways, c - 2).last == way.last:
                s = load(rows, row - 2 * down, apart), load(rows, row - down, apart), load(rows, row, apart)
                for k in range(start, end + 1):
                    s = less_three(s, work, first + k, c, load(rows, at + k * down, apart))
                while r > c:
                    s = less_three(s, work, first + r, c, load(rows, at + r * down, apart))
                    r = above(structure, ways, r)
                low, mid, x = s
                mid, low = less(mid, ld2(work, first + c, c - 1), x), less(low, ld2(work, first + c, c - 2), x)
                low = less(low, ld2(work, first + c - 1, c - 2), mid)
                put(rows, row - 2 * down, apart, low)
                put(rows, row - down, apart, mid)
                put(rows, row, apart, x)
                c -= 2
            else:
                x = load(rows, row, apart)
                for k in range(start, end + 1):
                    x = less(x, ld2(work, first + k, c), load(rows, at + k * down, apart))
                while r > c:
                    x = less(x, ld2(work, first + r, c), load(rows, at + r * down, apart))
                    r = above(structure, ways, r)
                put(rows, row, apart, x)
            c = c - 1 if c > begin else above(structure, ways, c)

    @helper
    def begun(
        structure: Any, work: Any, first: Any, rows: Any, at: Any, down: Any, apart: Any, begin: Any, last: Any, r: Any
    ) -> Any:
        """Row r of −D⁻¹ X."""
        x = scaled(-ld2(work, first + r, r), load(rows, at + r * down, apart))
        if work.ndim == 3:  # noqa: SIM102 (the compiler leaves this out for one trajectory)
            if r > last or way_at(structure, ways_of(structure), r).last < begin:
                x = zeros(ld2(work, header_of(structure).links, TWIST))
        return x

    @helper
    def from_base(
        structure: Any, work: Any, first: Any, rows: Any, at: Any, down: Any, apart: Any, begin: Any, last: Any
    ) -> None:
        """X ← −L⁻¹ D⁻¹ X."""
        n, ways, r = header_of(structure).n_v, ways_of(structure), 0
        while r < n:
            row, c = at + r * down, above(structure, ways, r)
            x = begun(structure, work, first, rows, at, down, apart, begin, last, r)
            if r + 2 < n and way_at(structure, ways, r + 2).run <= r:
                y = begun(structure, work, first, rows, at, down, apart, begin, last, r + 1)
                z = begun(structure, work, first, rows, at, down, apart, begin, last, r + 2)
                while c >= 0:
                    a = load(rows, at + c * down, apart)
                    x, y = less(x, ld2(work, first + r, c), a), less(y, ld2(work, first + r + 1, c), a)
                    z = less(z, ld2(work, first + r + 2, c), a)
                    c = above(structure, ways, c)
                y, z = less(y, ld2(work, first + r + 1, r), x), less(z, ld2(work, first + r + 2, r), x)
                z = less(z, ld2(work, first + r + 2, r + 1), y)
                put(rows, row, apart, x)
                put(rows, row + down, apart, y)
                put(rows, row + 2 * down, apart, z)
                r += 3
            else:
                while c >= 0:
                    x = less(x, ld2(work, first + r, c), load(rows, at + c * down, apart))
                    c = above(structure, ways, c)
                put(rows, row, apart, x)
                r += 1

    @helper
    def take(
        structure: Any, work: Any, first: Any, rows: Any, at: Any, down: Any, apart: Any, begin: Any, last: Any
    ) -> None:
        towards_base(structure, work, first, rows, at, down, apart, begin, last)
        from_base(structure, work, first, rows, at, down, apart, begin, last)

    return take


_take_six = _sweeping(_six, _put_six, _less_six, times, _zeros_of_six)
_take_three = _sweeping(_three, _put_three, _less_three, scale, _zeros)


@kernel
def solve_three(structure: Any, work: Any, first: Any, rows: Any, down: Any, is_deep: Any) -> None:
    """X ← −M⁻¹ X of three matrices side by side, row r from rows[r·down] on: in lanes columns, else blocks of eight;
    `is_deep` where the velocities that any one moves follow it without a gap.
    """
    n, ways, k = header_of(structure).n_v, ways_of(structure), 0
    size = 1 if work.ndim == 3 else WIDTH
    count = (n + size - 1) // size
    while k < count:
        begin, some = size * k, 1 if k + 1 == count else 2
        last = way_at(structure, ways, begin).last
        if work.ndim == 3:
            if some == 2 and (above(structure, ways, k + 1) != k or way_at(structure, ways, k + 1).last != last):
                some = 1
        else:
            for v in range(begin + 1, min(n, begin + some * size)):
                last = max(last, way_at(structure, ways, v).last)
        if not is_deep:
            begin, last = 0, n - 1
        if some == 2:
            _take_six(structure, work, first, rows, k, down, count, begin, last)
        else:
            _take_three(structure, work, first, rows, k, down, count, begin, last)
        k += some
