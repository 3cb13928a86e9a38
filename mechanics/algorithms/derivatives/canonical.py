"""The derivative of Hamilton's equations in O(n²) where ways to the base are long: columns by q and by p through the
eliminations of articulated bodies, as in `mechanics.algorithms.derivatives.chains`, and what is symmetric once.

For a column S of the joint of link i, w the twist and Ψ̇ = w × S the change of the column with what the link hangs on,
P the momentum of the composite body, M^a and M the articulated and the composite inertia, and Ξ = (g; 0) × S:

    ṗ = Ψ̇ᵀP + Sᵀ(M (g; 0) + F) + (ad_sᵀ p − d s),

the last part of the joint alone, and F the wrenches.  A column by q or p leaves the momenta below link i alone, so that
P changes by M^a W, W the change of w.  Without the last part and F, then,

    ∂ṗ/∂(a column) = bᵀW + Ξᵀ M S,     b = M^a Ψ̇ + S ×* P,

Ξ of the column, in columns by q of joints on the way of i.  This is minus the second derivative of the energy: what is
found for one of two joints counts for the other.  b is at the same time what the column by q of S itself does to the
momentum of what the link hangs on.  The derivatives ∂ṗ/∂p are −(∂v/∂q)ᵀ, but for the last part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import (
    WIDTH,
    entry,
    flattened,
    helper,
    in_rows_of_lanes,
    joined,
    kernel,
    ld,
    ld2,
    lines_from,
    never,
    rare,
    st,
    st2,
)
from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algorithms.crba import unit_twist
from mechanics.algorithms.derivatives.articulated import OWN, REMEMBERED, B, answer_to, articulate, remembered
from mechanics.algorithms.derivatives.bodies import add_forces, inertia_times, own_bodies, tensor_of, wrench_of
from mechanics.algorithms.derivatives.columns import (
    ANGULAR,
    CENTRE,
    FORCE,
    GAIN,
    LINEAR,
    OFFSET,
    TWIST,
    add_twist,
    carried,
    column,
    column_moved,
    column_turned,
    pair,
    plus,
    put_twist,
    rows_of,
    times,
    twist_of,
    work_shape,
    wrench_to_parent,
)
from mechanics.algorithms.derivatives.factor import fill
from mechanics.algorithms.derivatives.hamiltonian import momenta
from mechanics.algorithms.derivatives.inverse import is_depth_first, load
from mechanics.algorithms.derivatives.motion import twists
from mechanics.algorithms.derivatives.sweeps import (
    LEVELS,
    TURNS,
    add_entry,
    add_to_column,
    blocks_of_line,
    clear_blocks,
    columns_give,
    columns_of_block,
    follow,
    hanging_on,
    length_of_row,
    level_behind,
    level_of,
    link_takes,
    six,
    work_of_sweeps,
)
from mechanics.joints.element import BALL, FLOAT
from mechanics.kernels.armature import add_in_places, in_places, turned_momentum
from mechanics.kernels.links import add_three, freedom, vector
from mechanics.kernels.sweeps import clear
from mechanics.model.layout import (
    HEAVY,
    LEAF,
    F,
    damping_of,
    gravity_of,
    header_of,
    link_of,
    numbers_of,
    way_at,
    ways_of,
)

DEPTH = 4
"""So many velocities on the way of one to the base, in the mean, make this way the faster one
(`mechanics.algorithms.derivatives.hamiltonian` is the other).
"""


@helper
def has_way(structure: Any) -> Any:
    """Whether the derivative of Hamilton's equations is taken so."""
    return header_of(structure).depth >= DEPTH


def room(structure: NDArray[np.int64]) -> tuple[int, int]:
    """The workspace of the derivative of Hamilton's equations, whichever way is taken."""
    return work_of_sweeps(structure) if has_way(structure) else work_shape(structure)


# --- motion and bodies ------------------------------------------------------------------------------------------------


@helper
def _momenta_of_drift(parameters: Any, structure: Any, work: Any) -> None:
    """Bodies of the links by themselves, with their momenta in the place of forces."""
    zero = ld2(work, header_of(structure).links, TWIST)
    own_bodies(parameters, structure, work)
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        u, m = twist_of(work, i, TWIST), zero
        if link.flags & HEAVY:
            m = m + numbers_of(parameters, link).mass
        put_twist(work, i, FORCE, inertia_times(m, vector(work, i, CENTRE), tensor_of(work, i), u))


@helper
def _velocities(parameters: Any, structure: Any, work: Any, lines: Any) -> None:
    """From the base to the leaves the velocities of the joints, into their lines, and what they add to the twists."""
    n, at = header_of(structure).links, work.shape[1] - REMEMBERED
    zero = ld2(work, n, TWIST)
    none = zero, zero, zero
    put_twist(work, n, GAIN, (none, none))
    for i in range(n):
        link = link_of(structure, i)
        W = carried(work, link.parent, GAIN, vector(work, i, OFFSET))
        for d in range(freedom(link.kind)):
            v = link.v + d
            s = ld2(lines, v, at + OWN) - pair(twist_of(lines, v, at), W)
            st2(lines, v, at + OWN, s)
            W = plus(W, times(s, column(work, i, link.kind, d, numbers_of(parameters, link).pitch)))
        put_twist(work, i, GAIN, W)
        add_twist(work, i, TWIST, W)


@helper
def _add_moments(parameters: Any, structure: Any, work: Any) -> None:
    """First moments of the links with their subtrees."""
    n = header_of(structure).links
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        if link.parent < n:
            m, r = numbers_of(parameters, link).tree_mass, vector(work, i, OFFSET)
            add_three(work, link.parent, CENTRE, add(vector(work, i, CENTRE), scale(m, r)))


@helper
def _pushed(parameters: Any, work: Any, i: Any, link: Any, S: Any) -> Any:
    """The linear momentum of the composite body of a link that moves by S."""
    return add(scale(numbers_of(parameters, link).tree_mass, S[0]), cross(S[1], vector(work, i, CENTRE)))


# --- columns ----------------------------------------------------------------------------------------------------------


@helper
def _rates_row(work: Any, n_v: Any, v: Any) -> Any:
    """Where the row of ∂ṗ/∂q of a velocity begins: behind the rows of ∂v, or in its line."""
    behind = (2 * n_v + WIDTH - 1) // WIDTH * WIDTH
    return (n_v + v) * 2 * n_v if work.ndim == 3 else v * work.shape[1] + behind


@helper
def _prepare(structure: Any, work: Any, lines: Any, blocks: Any, rows: Any, entries: Any) -> None:
    """Zeros, and what p itself changes."""
    tree = header_of(structure)
    n_v, zero, size = tree.n_v, ld2(work, tree.links, TWIST), columns_of_block(work)
    clear_blocks(structure, work, lines, blocks, rows, 2)
    nothing = ld(rows, 0)
    for v in range(n_v):
        row = _rates_row(work, n_v, v) // size
        for k in range(row, row + (n_v + size - 1) // size):
            st(rows, k, nothing)
        st(entries, v * length_of_row(work, n_v, 2) + n_v + v, zero + 1.0)


@helper
def _join(
    parameters: Any, structure: Any, work: Any, entries: Any, lines: Any, i: Any, link: Any, r: Any, hangs: Any
) -> None:
    """The columns by q of a link: Ξ into its lines, b of every velocity into its line and, if the link hangs on one
    that sees it at r, there into the wrenches; and what they change in their own rows.
    """
    n_v, kind, at = header_of(structure).n_v, link.kind, work.shape[1] - REMEMBERED
    length, pitch, g = length_of_row(work, n_v, 2), numbers_of(parameters, link).pitch, gravity_of(parameters)
    before = carried(work, link.parent, TWIST, vector(work, i, OFFSET))
    P = vector(work, i, LINEAR), vector(work, i, ANGULAR)
    for e in range(freedom(kind)):
        S, v = column(work, i, kind, e, pitch), link.v + e
        b = plus(answer_to(work, i, column_moved(kind, before, S)), column_turned(kind, S, P))
        pushed, (gain, _, _) = _pushed(parameters, work, i, link, S), remembered(lines, v)
        for d in range(freedom(kind)):
            other = column(work, i, kind, d, pitch)
            rate = column_moved(kind, before, other)
            add_entry(entries, v * length + link.v + d, -pair(gain, rate))
            own = pair(b, rate) + dot(cross(g, other[1]), pushed)
            st(entries, _rates_row(work, n_v, v) + link.v + d, own)
        b, lifted = wrench_to_parent(r, b), cross(g, S[1])
        put_twist(lines, v, at + B, b)
        for c in range(3):
            st2(lines, n_v + TURNS + c, v, lifted[c])
        if hangs:
            add_to_column(lines, n_v, v, b)


@kernel
def _towards_base(parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """All columns from their links to the base."""
    tree = header_of(structure)
    n, lines = tree.links, lines_from(work, tree.links + 1)
    entries = out if work.ndim == 3 else joined(lines)
    rows, blocks = in_rows_of_lanes(flattened(entries)), in_rows_of_lanes(flattened(lines))
    is_deep = is_depth_first(structure)
    _prepare(structure, work, lines, blocks, rows, entries)
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        if freedom(link.kind) > 0:
            on, r = hanging_on(structure, work, i)
            columns_give(parameters, structure, work, lines, blocks, rows, 2, i, link, r, is_deep)
            _join(parameters, structure, work, entries, lines, i, link, r, on < n)


@kernel
def _back(parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Velocities of all joints in all columns, and bᵀW + Ξᵀ M S in the columns by q that are not behind them."""
    tree = header_of(structure)
    n, n_v, lines, at = tree.links, tree.n_v, lines_from(work, tree.links + 1), work.shape[1] - REMEMBERED
    blocks, is_deep = in_rows_of_lanes(flattened(lines)), is_depth_first(structure)
    rows = in_rows_of_lanes(flattened(out if work.ndim == 3 else joined(lines)))
    size, count, length, level = columns_of_block(work), blocks_of_line(work), length_of_row(work, n_v, 2), 0
    for i in range(n):
        link = link_of(structure, i)
        previous, level = level, level_behind(structure, i, link, level, is_deep)
        if freedom(link.kind) > 0:
            k, r = hanging_on(structure, work, i)
            place = n_v + LEVELS + 6 * level
            source = n_v + LEVELS + 6 * (previous if k == i - 1 or k == n else level_of(structure, k, is_deep))
            behind = link.v + freedom(link.kind)
            for v in range(link.v, behind if k < n else link.v):
                S = column(work, i, link.kind, v - link.v, numbers_of(parameters, link).pitch)
                row, pushed = _rates_row(work, n_v, v) // size, _pushed(parameters, work, i, link, S)
                follow(structure, work, blocks, rows, row, scale(-1.0, pushed), link.v, 1)
                b = twist_of(lines, v, at + B)
                for c in range((behind + size - 1) // size):
                    st(rows, row + c, ld(rows, row + c) + pair(b, six(blocks, source, count, c)))
            stop = (n_v + way_at(structure, ways_of(structure), link.v).last + size) // size
            link_takes(parameters, work, blocks, rows, length, lines, n_v, i, link, stop, r, source, place, k < n)
            if link.flags & LEAF == 0:
                before = carried(work, link.parent, TWIST, vector(work, i, OFFSET))
                for d in range(freedom(link.kind)):
                    S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
                    add_to_column(lines, place, link.v + d, column_moved(link.kind, before, S))


# --- the four matrices ------------------------------------------------------------------------------------------------


@helper
def _turn_wrenches(parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """∂ṗ/∂q += Sᵀ(S' ×* F), S' of joints behind that of S, which turn with their wrenches."""
    tree = header_of(structure)
    for i in range(tree.links):
        link = link_of(structure, i)
        for d in range(freedom(link.kind)):
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            f, r, j = column_turned(link.kind, S, twist_of(work, i, FORCE)), vector(work, i, OFFSET), link.parent
            while j < tree.links:
                f, passed = wrench_to_parent(r, f), link_of(structure, j)
                for e in range(freedom(passed.kind)):
                    S = column(work, j, passed.kind, e, numbers_of(parameters, passed).pitch)
                    add_entry(out, (tree.n_v + passed.v + e) * 2 * tree.n_v + link.v + d, pair(S, f))
                r, j = vector(work, j, OFFSET), passed.parent


@helper
def _of_joint(kind: Any, x: Any, at: Any, stride: Any, zero: Any) -> Any:
    """Numbers of the velocities of a joint of several, x[at], x[at + stride], …, among (linear, angular)."""
    a = ld(x, at), ld(x, at + stride), ld(x, at + 2 * stride)
    l, k = a, (zero, zero, zero)
    if kind == BALL:
        l, k = k, a
    elif kind == FLOAT:
        k = ld(x, at + 3 * stride), ld(x, at + 4 * stride), ld(x, at + 5 * stride)
    else:
        l, k = (a[0], a[1], zero), (zero, zero, a[2])
    return l, k


@helper
def _turn_momenta(y: Any, structure: Any, work: Any, out: Any, lines: Any) -> None:
    """The derivative of ad_sᵀ p of joints with several velocities."""
    tree = header_of(structure)
    n_v, width, at = tree.n_v, 2 * tree.n_v, work.shape[1] - REMEMBERED
    zero = ld2(work, tree.links, TWIST)
    for i in range(tree.links):
        link = link_of(structure, i)
        kind, rates = link.kind, (n_v + link.v) * width
        if freedom(kind) > 1:
            l, k = in_places(kind, y, tree.n_q + link.v, zero)
            for c in range(width):
                v, w = _of_joint(kind, out, link.v * width + c, width, zero)
                f, m = turned_momentum(l, k, v, w)
                add_in_places(kind, out, rates + c, width, f, m, 1.0)
            v, w = _of_joint(kind, joined(lines), link.v * work.shape[1] + at + OWN, work.shape[1], zero)
            for d in range(freedom(kind)):
                f, m = unit_twist(kind, d, 0.0, zero)
                f, m = turned_momentum(f, m, v, w)
                add_in_places(kind, out, rates + n_v + link.v + d, width, f, m, 1.0)


@helper
def _finish(y: Any, parameters: Any, structure: Any, work: Any, out: Any, lines: Any, loaded: Any) -> None:
    """The whole matrix from what has been found of it."""
    tree = header_of(structure)
    n_v, width, length = tree.n_v, 2 * tree.n_v, length_of_row(work, tree.n_v, 2)
    entries = out if work.ndim == 3 else joined(lines)
    for i in range(tree.links):
        link = link_of(structure, i)
        for v in range(link.v, link.v + freedom(link.kind)):
            row, rates = v * width, (n_v + v) * width
            if work.ndim == 2:
                own, found = _rates_row(work, n_v, v), v * length
                for k in range(n_v + v + 1):
                    st(out, row + k, ld(entries, found + k))
                for k in range(link.v + freedom(link.kind)):
                    st(out, rates + k, ld(entries, own + k))
            for k in range(v):
                st(out, k * width + n_v + v, ld(out, row + n_v + k))
            for k in range(link.v):
                st(out, (n_v + k) * width + v, ld(out, rates + k))
    if loaded:
        _turn_wrenches(parameters, structure, work, out)
    for v in range(n_v):
        row, rates, loss = v * width, (n_v + v) * width, damping_of(parameters, structure, v)
        for k in range(n_v):
            st(out, rates + k, ld(out, rates + k) - loss * ld(out, row + k))
            st(out, rates + n_v + k, -ld(out, k * width + v) - loss * ld(out, row + n_v + k))
    _turn_momenta(y, structure, work, out, lines)


@helper
def _derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any) -> None:
    tree = header_of(structure)
    n_v, lines = tree.n_v, lines_from(work, tree.links + 1)
    fill(out, 0, n_v, ld2(work, tree.links, F))
    twists(t, y, parameters, structure, work, out, 0)
    _momenta_of_drift(parameters, structure, work)
    articulate(parameters, structure, work, lines, y, tree.n_q, False)
    _velocities(parameters, structure, work, lines)
    momenta(parameters, structure, work)
    _add_moments(parameters, structure, work)
    if loaded:
        for i in range(tree.links):
            put_twist(work, i, FORCE, wrench_of(work, i, rows_of(work, i)))
        add_forces(structure, work)
    _towards_base(parameters, structure, work, out)
    _back(parameters, structure, work, out)
    _finish(y, parameters, structure, work, out, lines, loaded)


@kernel
def _without_wrenches(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    clear(structure, work, F, 6)
    _derivatives(t, y, parameters, structure, work, out, False)


@entry(*FIELD_SIGNATURES)
def chain_era_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) → the derivative of (v, ṗ) by (q, p), (2 n_v)² by rows; `work` of `work_of_sweeps`."""
    _without_wrenches(t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def chain_era_derivatives_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p, τ, wrenches of all bodies) → the same with the wrenches; τ matters nothing."""
    tree = header_of(structure)
    load(y, tree.n_q + 2 * tree.n_v, parameters, structure, work)
    _derivatives(t, y, parameters, structure, work, out, True)


@rare(never)
def chain_derivatives_on_demand(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What `chain_era_derivatives` gives, for fields that most runs never ask for it."""
    _without_wrenches(t, y, parameters, structure, work, out)
