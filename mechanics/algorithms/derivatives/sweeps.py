"""Many right-hand sides at a time through the eliminations of a tree: from the leaves to the base, and back.

Side by side stand three columns for every velocity k, the derivatives by q_k, v_k and τ_k.  Seen from the links that k
moves, a derivative by q_k or v_k changes the motion of what they hang on: its acceleration by Ψ, and its twist by one
with the angular part ω, where

    by q_k:  Ψ = Ψ̈, ω of Ψ̇,  and what they hang on feels S ×* F besides;     by v_k:  Ψ = Ψ̇ + V × S, ω of S.

So a column waits until the way to the base reaches its link, which gives what it hangs on its answer, and goes on
through the eliminations of the velocities before it; on the way back Ψ is added from its link on.

A column is one number in a register: eight columns of one trajectory, or one column of eight trajectories.  Lines of
the workspace are read in such *blocks*, and so are the rows of accelerations: in lanes those of the result, else lines.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import (
    WIDTH,
    flattened,
    helper,
    in_rows_of_lanes,
    joined,
    kernel,
    ld,
    ld2,
    less,
    lines_from,
    select,
    st,
    st2,
)
from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algorithms.derivatives.armature import add_rate_derivatives
from mechanics.algorithms.derivatives.articulated import REMEMBERED, answer, remembered
from mechanics.algorithms.derivatives.columns import (
    ARTICULATED,
    FORCE,
    OFFSET,
    TWIST,
    axis_of,
    column,
    column_turned,
    pair,
    plus,
    rows_of,
    times,
    twist_of,
    wrench_to_parent,
)
from mechanics.algorithms.derivatives.inverse import is_depth_first, rates_of
from mechanics.joints.element import BALL, FLOAT, TURN
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import (
    FIRST,
    HEADER,
    LEAF,
    LINK,
    Link,
    above,
    damping_of,
    has_armature,
    header_of,
    link_of,
    numbers_of,
    way_at,
    ways_of,
)

LOOPS = "short"

NUMBERS, TURNS, LEVELS = 6, 7, 10
"""Lines behind those of the velocities: wrenches on their way to the base (6), then the numbers 0 … 7, ω of all columns
(3), and accelerations on their way back (6 for each level, see `level_of`).
"""


def work_of_sweeps(structure: Any) -> tuple[int, int]:
    """Of the workspace: lines of the links and of the base, of the velocities, and of what stands behind them."""
    links, _, n_v = structure[:3].tolist()
    fields = structure[HEADER : HEADER + LINK * links].reshape(links, LINK).T
    parents, flags = (fields[Link._fields.index(name)].tolist() for name in ("parent", "flags"))
    levels: list[int] = []
    for parent, flag in zip(parents, flags, strict=True):
        levels.append(0 if parent >= links else levels[parent] + (flag & FIRST == 0))
    count = 1 + max(levels, default=0) if is_depth_first(structure) else links
    columns = max(ARTICULATED + 45, whole(2 * n_v) + whole(n_v) + REMEMBERED)
    return links + 2 + n_v + LEVELS + 6 * count, columns_of_line(columns)


def whole(columns: int) -> int:
    """Columns of whole blocks."""
    return -(-columns // WIDTH) * WIDTH


def columns_of_line(columns: int) -> int:
    """At least so many, of whole blocks, an odd number of them: lines that are used together then stand in different
    places of the nearest cache.
    """
    return WIDTH * (-(-columns // WIDTH) | 1)


# --- blocks -----------------------------------------------------------------------------------------------------------


@helper
def columns_of_block(work: Any) -> Any:
    return 1 if work.ndim == 3 else WIDTH


@helper
def blocks_of_line(work: Any) -> Any:
    return work.shape[1] if work.ndim == 3 else work.shape[1] // WIDTH


@helper
def length_of_row(work: Any, n_v: Any, matrices: Any) -> Any:
    """Of the numbers of a velocity in so many matrices side by side, in columns."""
    return matrices * n_v if work.ndim == 3 else work.shape[1]


@helper
def add_entry(entries: Any, k: Any, x: Any) -> None:
    st(entries, k, ld(entries, k) + x)


@helper
def six(blocks: Any, line: Any, count: Any, b: Any) -> Any:
    """Block b of six lines, `count` blocks each, as a pair of vectors."""
    k = line * count + b
    l = k + 3 * count
    return (
        (ld(blocks, k), ld(blocks, k + count), ld(blocks, k + 2 * count)),
        (ld(blocks, l), ld(blocks, l + count), ld(blocks, l + 2 * count)),
    )


@helper
def _put_six(blocks: Any, line: Any, count: Any, b: Any, a: Any) -> None:
    k = line * count + b
    l = k + 3 * count
    st(blocks, k, a[0][0])
    st(blocks, k + count, a[0][1])
    st(blocks, k + 2 * count, a[0][2])
    st(blocks, l, a[1][0])
    st(blocks, l + count, a[1][1])
    st(blocks, l + 2 * count, a[1][2])


@helper
def _inside(numbers: Any, b: Any, begin: Any, end: Any) -> Any:
    """Which columns of a block are begin … end of all."""
    return less(begin - WIDTH * b - 1, numbers) & less(numbers, end - WIDTH * b)


@helper
def _chosen(work: Any, inside: Any, new: Any, old: Any) -> Any:
    """`new` in the columns inside, else `old`; in lanes a block is one column, and inside."""
    return new if work.ndim == 3 else select(inside, new, old)


@helper
def _three_chosen(work: Any, inside: Any, new: Any, old: Any) -> Any:
    return (
        _chosen(work, inside, new[0], old[0]),
        _chosen(work, inside, new[1], old[1]),
        _chosen(work, inside, new[2], old[2]),
    )


@helper
def _six_chosen(work: Any, inside: Any, new: Any, old: Any) -> Any:
    return _three_chosen(work, inside, new[0], old[0]), _three_chosen(work, inside, new[1], old[1])


@helper
def add_to_column(lines: Any, line: Any, c: Any, a: Any) -> None:
    """Six lines += a in one column."""
    for k in range(3):
        st2(lines, line + k, c, ld2(lines, line + k, c) + a[0][k])
        st2(lines, line + 3 + k, c, ld2(lines, line + 3 + k, c) + a[1][k])


# --- ways -------------------------------------------------------------------------------------------------------------


@helper
def hanging_on(structure: Any, work: Any, i: Any) -> Any:
    """The nearest link on the way to the base that has velocities (the base without one), and from where it sees i."""
    n = header_of(structure).links
    r, k = vector(work, i, OFFSET), link_of(structure, i).parent
    while k < n and freedom(link_of(structure, k).kind) == 0:
        r, k = add(r, vector(work, k, OFFSET)), link_of(structure, k).parent
    return k, r


@helper
def level_of(structure: Any, i: Any, is_deep: Any) -> Any:
    """Where accelerations of a link stand: in the place of its parent's if it is the last child, which then needs them
    no more.  So long as links are numbered depth first; else every link has its own.
    """
    n, level = header_of(structure).links, i
    if is_deep:
        link, level = link_of(structure, i), 0
        while link.parent < n:
            level += 1 if link.flags & FIRST == 0 else 0
            link = link_of(structure, link.parent)
    return level


@helper
def level_behind(structure: Any, i: Any, link: Any, level: Any, is_deep: Any) -> Any:
    """The same of a link whose predecessor has `level`."""
    goes_on = is_deep and i > 0 and link.parent == i - 1 and link.flags & FIRST != 0
    return level if goes_on else level_of(structure, i, is_deep)


@helper
def _moved_together(structure: Any, k: Any, v: Any, last: Any, is_deep: Any) -> Any:
    """Behind which velocity a row from k on ends that velocity v moves; k if k is not one of them."""
    end = last + 1
    if not is_deep:
        ways, c = ways_of(structure), k
        while c > v:
            c = above(structure, ways, c)
        end = k + 1 if c == v else k
    return end


# --- towards the base -------------------------------------------------------------------------------------------------


@helper
def clear_blocks(structure: Any, work: Any, lines: Any, blocks: Any, rows: Any, matrices: Any) -> None:
    """Zeros in so many matrices side by side, and where wrenches and ω of their columns stand."""
    tree = header_of(structure)
    n_v, zero = tree.n_v, ld2(work, tree.links, TWIST)
    count, size = blocks_of_line(work), columns_of_block(work)
    for k in range(WIDTH):
        st2(lines, n_v + NUMBERS, k, zero + k)
    nothing, used = 0.0 * ld(blocks, (n_v + NUMBERS) * count), (matrices * n_v + size - 1) // size
    for line in range(n_v, n_v + LEVELS):
        if line != n_v + NUMBERS:
            for k in range(line * count, line * count + used):
                st(blocks, k, nothing)
    for v in range(n_v):
        row = v * (length_of_row(work, n_v, matrices) // size)
        for k in range(row, row + used):
            st(rows, k, nothing)


@helper
def _prepare(
    parameters: Any, structure: Any, y: Any, work: Any, lines: Any, blocks: Any, rows: Any, entries: Any
) -> None:
    """Zeros, and in the rows of the velocities what their own forces change by v and τ."""
    tree = header_of(structure)
    n_v, zero = tree.n_v, ld2(work, tree.links, TWIST)
    length = length_of_row(work, n_v, 3)
    clear_blocks(structure, work, lines, blocks, rows, 3)
    for v in range(n_v):
        st(entries, v * length + 2 * n_v + v, zero + 1.0)
        st(entries, v * length + n_v + v, zero - damping_of(parameters, structure, v))
    if has_armature(structure):
        add_rate_derivatives(parameters, structure, y, tree.n_q, entries, n_v, length, 1.0)


@helper
def _give(x: Any, p: Any, S: Any, u: Any) -> Any:
    """A velocity eliminated from a block:  u = x − Sᵀp,  x ← u/D,  p ← p + g u."""
    g, _, inverse = u
    u = x - pair(S, p)
    return inverse * u, plus(p, times(u, g))


@helper
def _turn_gives(x: Any, p: Any, a: Any, u: Any) -> Any:
    """`_give` of a turn about a."""
    (g, h), _, inverse = u
    u = x - dot(a, p[1])
    return inverse * u, (add(p[0], scale(u, g)), add(p[1], scale(u, h)))


@helper
def _slide_gives(x: Any, p: Any, a: Any, u: Any) -> Any:
    """`_give` of a slide along a."""
    (g, h), _, inverse = u
    u = x - dot(a, p[0])
    return inverse * u, (add(p[0], scale(u, g)), add(p[1], scale(u, h)))


@helper
def _three_give(
    is_turn: Any, work: Any, rows: Any, k: Any, stride: Any, inside: Any, p: Any, axes: Any, us: Any
) -> Any:
    """The same of three turns, or three slides, along the axes of a link, from the last to the first."""
    for d in range(2, -1, -1):
        at = k + d * stride
        x = ld(rows, at)
        new, p = _turn_gives(x, p, axes[d], us[d]) if is_turn else _slide_gives(x, p, axes[d], us[d])
        st(rows, at, _chosen(work, inside, new, x))
    return p


@helper
def _three(lines: Any, v: Any) -> Any:
    """What the lines of three velocities remember."""
    return remembered(lines, v), remembered(lines, v + 1), remembered(lines, v + 2)


@helper
def _link_gives(
    parameters: Any, work: Any, blocks: Any, rows: Any, length: Any, lines: Any, n_v: Any, i: Any, link: Any,
    begin: Any, end: Any, r: Any,
) -> None:  # fmt: skip
    """The velocities of a link eliminated from some columns, and their wrenches at the link that sees it at r."""
    kind, v, R = link.kind, link.v, rows_of(work, i)
    count, size = blocks_of_line(work), columns_of_block(work)
    stride = length // size
    row, numbers, start, stop = v * stride, ld(blocks, (n_v + NUMBERS) * count), begin // size, (end + size - 1) // size
    if kind == TURN:
        a, u = axis_of(R, 2), remembered(lines, v)
        for b in range(start, stop):
            inside, x, p = _inside(numbers, b, begin, end), ld(rows, row + b), six(blocks, n_v, count, b)
            new, f = _turn_gives(x, p, a, u)
            st(rows, row + b, _chosen(work, inside, new, x))
            _put_six(blocks, n_v, count, b, _six_chosen(work, inside, wrench_to_parent(r, f), p))
    elif kind == BALL:
        axes, us = (axis_of(R, 0), axis_of(R, 1), axis_of(R, 2)), _three(lines, v)
        for b in range(start, stop):
            inside, p = _inside(numbers, b, begin, end), six(blocks, n_v, count, b)
            f = _three_give(True, work, rows, row + b, stride, inside, p, axes, us)
            _put_six(blocks, n_v, count, b, _six_chosen(work, inside, wrench_to_parent(r, f), p))
    elif kind == FLOAT:
        axes = axis_of(R, 0), axis_of(R, 1), axis_of(R, 2)
        us, ts = _three(lines, v + 3), _three(lines, v)
        for b in range(start, stop):
            inside, p = _inside(numbers, b, begin, end), six(blocks, n_v, count, b)
            f = _three_give(True, work, rows, row + 3 * stride + b, stride, inside, p, axes, us)
            f = _three_give(False, work, rows, row + b, stride, inside, f, axes, ts)
            _put_six(blocks, n_v, count, b, _six_chosen(work, inside, wrench_to_parent(r, f), p))
    else:
        for d in range(freedom(kind) - 1, -1, -1):
            S, u = column(work, i, kind, d, numbers_of(parameters, link).pitch), remembered(lines, v + d)
            for b in range(start, stop):
                k = row + d * stride + b
                inside, x, p = _inside(numbers, b, begin, end), ld(rows, k), six(blocks, n_v, count, b)
                new, f = _give(x, p, S, u)
                if d == 0:
                    f = wrench_to_parent(r, f)
                st(rows, k, _chosen(work, inside, new, x))
                _put_six(blocks, n_v, count, b, _six_chosen(work, inside, f, p))


@helper
def columns_give(
    parameters: Any, structure: Any, work: Any, lines: Any, blocks: Any, rows: Any, matrices: Any, i: Any, link: Any,
    r: Any, is_deep: Any,
) -> None:  # fmt: skip
    """The same for the columns of all velocities that the link moves, in matrices side by side."""
    tree = header_of(structure)
    n_v, length, k = tree.n_v, length_of_row(work, tree.n_v, matrices), link.v
    last = way_at(structure, ways_of(structure), k).last
    while k <= last:
        end = _moved_together(structure, k, link.v, last, is_deep)
        if end > k:
            for begin in range(k, k + matrices * n_v, n_v):
                _link_gives(parameters, work, blocks, rows, length, lines, n_v, i, link, begin, begin + end - k, r)
        k = max(end, k + 1)


@helper
def _join(
    parameters: Any, work: Any, entries: Any, lines: Any, n_v: Any, i: Any, link: Any, r: Any, hangs: Any
) -> None:
    """The columns of the velocities of a link by q and v:  ω into its lines, what the link answers into the wrenches of
    the link that sees it at r, if it hangs on one, and from its own accelerations  x −= bᵀω + gᵀΨ.
    """
    length = length_of_row(work, n_v, 3)
    for d in range(freedom(link.kind)):
        S, k = column(work, i, link.kind, d, numbers_of(parameters, link).pitch), link.v + d
        rate, second, both = rates_of(work, i, link, S)
        if hangs:
            force = plus(answer(work, i, second, rate[1]), column_turned(link.kind, S, twist_of(work, i, FORCE)))
            add_to_column(lines, n_v, k, wrench_to_parent(r, force))
            add_to_column(lines, n_v, n_v + k, wrench_to_parent(r, answer(work, i, both, S[1])))
        for c in range(3):
            st2(lines, n_v + TURNS + c, k, rate[1][c])
            st2(lines, n_v + TURNS + c, n_v + k, S[1][c])
        for e in range(freedom(link.kind)):
            v = link.v + e
            g, b, _ = remembered(lines, v)
            add_entry(entries, v * length + k, -(dot(b, rate[1]) + pair(g, second)))
            add_entry(entries, v * length + n_v + k, -(dot(b, S[1]) + pair(g, both)))


@kernel
def towards_base(parameters: Any, structure: Any, y: Any, work: Any, out: Any) -> None:
    """All columns from their links to the base; y = (q, v, …)."""
    tree = header_of(structure)
    n, n_v, lines = tree.links, tree.n_v, lines_from(work, tree.links + 1)
    entries = out if work.ndim == 3 else joined(lines)
    rows, blocks = in_rows_of_lanes(flattened(entries)), in_rows_of_lanes(flattened(lines))
    is_deep = is_depth_first(structure)
    _prepare(parameters, structure, y, work, lines, blocks, rows, entries)
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        if freedom(link.kind) > 0:
            on, r = hanging_on(structure, work, i)
            columns_give(parameters, structure, work, lines, blocks, rows, 3, i, link, r, is_deep)
            _join(parameters, work, entries, lines, n_v, i, link, r, on < n)


# --- back -------------------------------------------------------------------------------------------------------------


@helper
def follow(structure: Any, work: Any, blocks: Any, rows: Any, row: Any, w: Any, v: Any, matrices: Any) -> None:
    """What stands from rows[row] on −= wᵀω, in the columns of velocities before v, of so many matrices."""
    tree, ways = header_of(structure), ways_of(structure)
    n_v, count, size = tree.n_v, blocks_of_line(work), columns_of_block(work)
    numbers, at = ld(blocks, (n_v + NUMBERS) * count), (n_v + TURNS) * count
    c = above(structure, ways, v)
    while c >= 0:
        run = way_at(structure, ways, c).run
        for k in range(0, matrices * n_v, n_v):
            begin, end = k + run, k + c + 1
            for b in range(begin // size, (end + size - 1) // size):
                x, t = ld(rows, row + b), at + b
                turned = dot(w, (ld(blocks, t), ld(blocks, t + count), ld(blocks, t + 2 * count)))
                st(rows, row + b, _chosen(work, _inside(numbers, b, begin, end), x - turned, x))
        c = above(structure, ways, run)


@helper
def _take(x: Any, W: Any, S: Any, u: Any) -> Any:
    """The acceleration of a velocity:  x ← x − gᵀW,  W ← W + S x."""
    x = x - pair(u[0], W)
    return x, plus(W, times(x, S))


@helper
def _turn_takes(x: Any, W: Any, a: Any, u: Any) -> Any:
    """`_take` of a turn about a."""
    x = x - pair(u[0], W)
    return x, (W[0], add(W[1], scale(x, a)))


@helper
def _slide_takes(x: Any, W: Any, a: Any, u: Any) -> Any:
    """`_take` of a slide along a."""
    x = x - pair(u[0], W)
    return x, (add(W[0], scale(x, a)), W[1])


@helper
def _three_take(is_turn: Any, rows: Any, k: Any, stride: Any, W: Any, axes: Any, us: Any) -> Any:
    """The same of three turns, or three slides, along the axes of a link, from the first to the last."""
    for d in range(3):
        x = ld(rows, k + d * stride)
        x, W = _turn_takes(x, W, axes[d], us[d]) if is_turn else _slide_takes(x, W, axes[d], us[d])
        st(rows, k + d * stride, x)
    return W


@helper
def _carried(blocks: Any, source: Any, count: Any, b: Any, r: Any, hangs: Any, nothing: Any) -> Any:
    """Accelerations in a block of what is seen at r; none if it hangs on the base, where nothing stands in `source`."""
    l, w = six(blocks, source, count, b)
    if hangs:
        l = add(l, cross(w, r))
    else:
        l, w = (nothing, nothing, nothing), (nothing, nothing, nothing)
    return l, w


@helper
def link_takes(
    parameters: Any, work: Any, blocks: Any, rows: Any, length: Any, lines: Any, n_v: Any, i: Any, link: Any,
    stop: Any, r: Any, source: Any, place: Any, hangs: Any,
) -> None:  # fmt: skip
    """Accelerations of the velocities of a link in the blocks before `stop`."""
    kind, v, R, is_leaf = link.kind, link.v, rows_of(work, i), link.flags & LEAF != 0
    count, size = blocks_of_line(work), columns_of_block(work)
    stride = length // size
    row, nothing = v * stride, 0.0 * ld(blocks, (n_v + NUMBERS) * count)
    if kind == TURN:
        a, u = axis_of(R, 2), remembered(lines, v)
        for b in range(stop):
            x, W = _turn_takes(ld(rows, row + b), _carried(blocks, source, count, b, r, hangs, nothing), a, u)
            st(rows, row + b, x)
            if not is_leaf:
                _put_six(blocks, place, count, b, W)
    elif kind == BALL:
        axes, us = (axis_of(R, 0), axis_of(R, 1), axis_of(R, 2)), _three(lines, v)
        for b in range(stop):
            W = _carried(blocks, source, count, b, r, hangs, nothing)
            _put_six(blocks, place, count, b, _three_take(True, rows, row + b, stride, W, axes, us))
    elif kind == FLOAT:
        axes = axis_of(R, 0), axis_of(R, 1), axis_of(R, 2)
        ts, us = _three(lines, v), _three(lines, v + 3)
        for b in range(stop):
            W = _three_take(
                False, rows, row + b, stride, _carried(blocks, source, count, b, r, hangs, nothing), axes, ts
            )
            W = _three_take(True, rows, row + 3 * stride + b, stride, W, axes, us)
            _put_six(blocks, place, count, b, W)
    else:
        for d in range(freedom(kind)):
            S, u = column(work, i, kind, d, numbers_of(parameters, link).pitch), remembered(lines, v + d)
            for b in range(stop):
                k = row + d * stride + b
                W = _carried(blocks, source, count, b, r, hangs, nothing) if d == 0 else six(blocks, place, count, b)
                x, W = _take(ld(rows, k), W, S, u)
                st(rows, k, x)
                _put_six(blocks, place, count, b, W)


@helper
def _feel(parameters: Any, work: Any, lines: Any, n_v: Any, i: Any, link: Any, place: Any) -> None:
    """W += Ψ in the link's own columns by q and v."""
    for d in range(freedom(link.kind)):
        k = link.v + d
        _, second, both = rates_of(work, i, link, column(work, i, link.kind, d, numbers_of(parameters, link).pitch))
        add_to_column(lines, place, k, second)
        add_to_column(lines, place, n_v + k, both)


@kernel
def back(parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Accelerations of all velocities in all columns: rows of ∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ, the last one symmetric."""
    tree = header_of(structure)
    n, n_v, lines, width = tree.links, tree.n_v, lines_from(work, tree.links + 1), 3 * tree.n_v
    entries, is_deep, level = out if work.ndim == 3 else joined(lines), is_depth_first(structure), 0
    rows, blocks = in_rows_of_lanes(flattened(entries)), in_rows_of_lanes(flattened(lines))
    length, size = length_of_row(work, n_v, 3), columns_of_block(work)
    for i in range(n):
        link = link_of(structure, i)
        previous, level = level, level_behind(structure, i, link, level, is_deep)
        if freedom(link.kind) > 0:
            for v in range(link.v, link.v + freedom(link.kind)):
                _, w, _ = remembered(lines, v)
                follow(structure, work, blocks, rows, v * (length // size), w, link.v, 2)
            k, r = hanging_on(structure, work, i)
            place = n_v + LEVELS + 6 * level
            source = n_v + LEVELS + 6 * (previous if k == i - 1 or k == n else level_of(structure, k, is_deep))
            stop = (2 * n_v + way_at(structure, ways_of(structure), link.v).last + size) // size
            link_takes(parameters, work, blocks, rows, length, lines, n_v, i, link, stop, r, source, place, k < n)
            if link.flags & LEAF == 0:
                _feel(parameters, work, lines, n_v, i, link, place)
    for v in range(n_v):
        if work.ndim == 2:
            for k in range(2 * n_v + v + 1):
                st(out, v * width + k, ld(entries, v * length + k))
        for k in range(v):
            st(out, k * width + 2 * n_v + v, ld(entries, v * length + 2 * n_v + k))
