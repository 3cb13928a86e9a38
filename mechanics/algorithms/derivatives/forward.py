"""Derivatives of forward dynamics v̇(q, v, τ): with those of inverse dynamics at the accelerations that belong to τ,

∂v̇/∂q = −M⁻¹ ∂τ/∂q,     ∂v̇/∂v = −M⁻¹ ∂τ/∂v,     ∂v̇/∂τ = M⁻¹.
"""

from __future__ import annotations

from typing import Any

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
    st,
    st2,
)
from liegroup.formulas.vectors import dot
from mechanics.algebra.vectors import rotated_back
from mechanics.algorithms.derivatives.armature import add_to_rows
from mechanics.algorithms.derivatives.bodies import column_momentum, composite_times
from mechanics.algorithms.derivatives.columns import (
    ACCELERATION,
    FORCE,
    GAIN,
    OFFSET,
    SECOND,
    TWIST,
    add_column,
    add_twist,
    along,
    axis_of,
    carried,
    column,
    column_moved,
    pair,
    plus,
    put_twist,
    rows_of,
    times,
    twist_of,
    wrench_to_parent,
)
from mechanics.algorithms.derivatives.factor import factorise, fill, solve
from mechanics.algorithms.derivatives.inverse import derivatives_into, is_depth_first, move
from mechanics.algorithms.derivatives.motion import in_world
from mechanics.algorithms.derivatives.solve import factorise_in_blocks, of_blocks, solve_three
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, TURN
from mechanics.kernels.armature import add_rates
from mechanics.kernels.links import freedom, put, vector
from mechanics.kernels.sweeps import own_twist
from mechanics.model.layout import F, damping_of, has_armature, header_of, link_of, numbers_of

LOOPS = "rows"


@helper
def _put_projected(parameters: Any, work: Any, j: Any, link: Any, w: Any, row: Any) -> None:
    """Sᵀw of all columns of a link into a line of the workspace."""
    kind, c, R = link.kind, link.v, rows_of(work, j)
    if kind == TURN:
        st2(work, row, c, dot(axis_of(R, 2), w[1]))
    elif kind <= SCREW:
        st2(work, row, c, pair(column(work, j, kind, 0, numbers_of(parameters, link).pitch), w))
    else:
        l, k = rotated_back(R, w[0]), rotated_back(R, w[1])
        if kind == PLANE:
            put(work, row, c, (l[0], l[1], k[2]))
        elif kind == BALL:
            put(work, row, c, k)
        elif kind == FLOAT:
            put(work, row, c, l)
            put(work, row, c + 3, k)


@helper
def mass_into(parameters: Any, structure: Any, work: Any, first: Any) -> None:
    """The lower triangle of M, where velocities share a way to the base, from the composite bodies: row r in line
    `first` + r.
    """
    n = header_of(structure).links
    for i in range(n):
        link = link_of(structure, i)
        for d in range(freedom(link.kind)):
            row = first + link.v + d
            w = column_momentum(
                parameters, work, i, link, column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            )
            j = i
            while j < n:
                passed = link_of(structure, j)
                _put_projected(parameters, work, j, passed, w, row)
                w, j = wrench_to_parent(vector(work, j, OFFSET), w), passed.parent
    add_to_rows(parameters, structure, work, first)


@helper
def forces_into(parameters: Any, structure: Any, work: Any, out: Any, o: Any) -> None:
    """SᵀF of all velocities, without damping."""
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        F = twist_of(work, i, FORCE)
        for d in range(freedom(link.kind)):
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            st(out, o + link.v + d, along(link.kind, S, F))


@helper
def _accelerate(t: Any, parameters: Any, structure: Any, work: Any, s: Any, o: Any) -> None:
    """Joint accelerations from s[o] on, added to those that the links have, and what they change:

    δW_i = δW_k + S_i a_i,     δΨ̈_i = δW_k × S_i,     δF_i = M_i δW_k + Σ M_j S_j a_j  over i and the links j below it,

    k the parent of i, M of composite bodies.  Wrenches in F have been read and make room for the sum.
    """
    n = header_of(structure).links
    zero = ld2(work, n, TWIST)
    none = zero, zero, zero
    put_twist(work, n, GAIN, (none, none))
    for i in range(n):
        link = link_of(structure, i)
        kind = link.kind
        W, push = carried(work, link.parent, GAIN, vector(work, i, OFFSET)), (none, none)
        add_twist(work, i, FORCE, composite_times(parameters, work, i, link, W))
        if kind <= SCREW:
            S, x = column(work, i, kind, 0, numbers_of(parameters, link).pitch), ld(s, o + link.v)
            add_twist(work, i, SECOND, column_moved(kind, W, S))
            push = times(x, column_momentum(parameters, work, i, link, S))
            W = add_column(kind, W, x, S)
        elif freedom(kind) > 0:
            own = in_world(work, i, kind, own_twist(t, s, o, parameters, link, zero))
            push = composite_times(parameters, work, i, link, own)
            W = plus(W, own)
        put_twist(work, i, F, push)
        put_twist(work, i, GAIN, W)
        add_twist(work, i, ACCELERATION, W)
    for i in range(n - 1, -1, -1):
        push, k = twist_of(work, i, F), link_of(structure, i).parent
        add_twist(work, i, FORCE, push)
        if k < n:
            add_twist(work, k, F, wrench_to_parent(vector(work, i, OFFSET), push))


@kernel
def _derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any) -> None:
    tree = header_of(structure)
    n_q, n_v, first = tree.n_q, tree.n_v, tree.links + 1
    width = 3 * n_v
    a = n_v * width
    fill(out, a, n_v, 0.0 * ld(y, n_q))
    move(t, y, parameters, structure, work, out, a, loaded)
    forces_into(parameters, structure, work, out, a)
    for k in range(n_v):
        resisted = ld(out, a + k) + damping_of(parameters, structure, k) * ld(y, n_q + k)
        st(out, a + k, ld(y, n_q + n_v + k) - resisted)
    if has_armature(structure):
        add_rates(parameters, structure, y, n_q, out, a, 1.0)
    is_deep = is_depth_first(structure)
    if work.ndim == 2:
        for r in range(n_v):
            fill(joined(work), (first + r) * work.shape[1], of_blocks(r + 1), 0.0)
    elif not is_deep:
        for r in range(n_v):
            for c in range(r):
                st2(work, first + r, c, 0.0)
    mass_into(parameters, structure, work, first)
    if work.ndim == 2:
        factorise_in_blocks(structure, work, first)
    else:
        factorise(structure, work, first)
    solve(structure, work, first, out, a)
    _accelerate(t, parameters, structure, work, out, a)
    lines = lines_from(work, first + n_v)
    entries, down, apart = (out, width, n_v) if work.ndim == 3 else (joined(lines), lines.shape[1], of_blocks(n_v))
    size, zero = 1 if work.ndim == 3 else WIDTH, ld2(work, tree.links, TWIST)
    for r in range(n_v):
        if work.ndim == 2 or not is_deep:
            fill(entries, r * down, 3 * apart, zero)
        else:
            fill(entries, r * down + 2 * apart, apart, zero)
        st(entries, r * down + 2 * apart + r, zero - 1.0)
    derivatives_into(y, parameters, structure, work, entries, down, apart, False)
    solve_three(structure, work, first, in_rows_of_lanes(flattened(entries)), down // size, is_deep)
    if work.ndim == 2:
        for r in range(n_v):
            for k in range(n_v):
                st(out, r * width + k, ld(entries, r * down + k))
            for k in range(n_v):
                st(out, r * width + n_v + k, ld(entries, r * down + apart + k))
    for r in range(n_v):  # of M⁻¹ the lower triangle, and its mirror image
        for k in range(r + 1):
            x = ld(entries, r * down + 2 * apart + k)
            st(out, r * width + 2 * n_v + k, x)
            st(out, k * width + 2 * n_v + r, x)


@entry(*FIELD_SIGNATURES)
def forward_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ) → rows of ∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹ side by side, then v̇; `work` of `work_of_solve`."""
    _derivatives(t, y, parameters, structure, work, out, False)


@entry(*FIELD_SIGNATURES)
def forward_derivatives_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ, wrenches of all bodies) → the same with the wrenches."""
    _derivatives(t, y, parameters, structure, work, out, True)
