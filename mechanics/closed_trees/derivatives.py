"""The derivative of Hamilton's equations of a mechanism, with its closures, their multipliers, and its force elements.

With p = p* + GᵀΛ, the momenta of the velocities v that keep the loops closed (Gv + g_t = 0), the tree's own derivative
is [A_q A_p; R_q R_p] of (v, ρ) by (q, p), and

    K₁ = ∂(GᵀΛ)/∂q,     C = ∂(Gv + g_t)/∂q,     K₂ = ∂(Q − ĠᵀΛ)/∂q,     K₃ = ∂(Q − ĠᵀΛ)/∂v

at fixed Λ and v are sums over equations and elements.  Each is a pair of wrenches F on two links, with the columns B of
the joints that move them, of one another on the way

    ∂(B_jᵀF)/∂q_k = B_jᵀ ∂F/∂q_k + (j stands before k) B_jᵀ(B_k ×* F),

∂F by a complex step along q_k (`mechanics.closed_trees.steps`): no differences.  In Ġ = BᵀN + (V × B)ᵀW, V the twist of
the joint's own link, the second term has the derivative of its screw W, and of V.  Then, with Φ = G A_p Gᵀ,

    Φ ∂Λ = −[C + G(A_q + A_p K₁), G A_p],     ∂p = [K₁, E] + Gᵀ ∂Λ,     ∂v = [A_q, 0] + A_p ∂p,
    ∂ṗ* = [R_q, 0] + R_p ∂p + [K₂, 0] + K₃ ∂v − Ġᵀ ∂Λ.

Where equations depend on each other (rank below their number) Λ is that of least norm, and what its null directions
turn by is left out: it changes ṗ* by Gᵀ of something, which moves nothing.  Eight trajectories are taken one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import WIDTH, flattened, helper, in_pairs, in_rows, kernel, ld, ld2, never, rare, st, st2
from liegroup.compile.dense import ld_on, solve_of_rank
from liegroup.formulas.vectors import add, cross
from mechanics.algebra.vectors import rotated_back
from mechanics.algorithms.derivatives.columns import (
    COLUMNS,
    OFFSET,
    TWIST,
    carried,
    column,
    force_cross,
    motion_cross,
    put_twist,
    rows_of,
    twist_of,
)
from mechanics.algorithms.derivatives.hamiltonian import derivatives_at
from mechanics.closed_trees.forces import body_state, tendon_at, tendon_joint
from mechanics.closed_trees.layout import closures_of, element_of, equation_of, scale_of
from mechanics.closed_trees.poses import add_at, rates_at
from mechanics.closed_trees.steps import STEP, displaced, slopes, stepped_screws, stepped_wrenches, values
from mechanics.constraints.body_equations import COUPLING
from mechanics.constraints.coupling_equations import coupling_of, gradient, gradient_rate, joint, play_rates
from mechanics.forces.element import ON_JOINT, ON_TENDON
from mechanics.forces.registry import law_on_joint
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import header_of, link_of, numbers_of

LOOPS = "short"

COLUMN, TURNING, CARRIED, WAYS = 2, 14, 26, 38
"""Of a line of ways, behind the numbers of a velocity and of its link, twelve numbers each: its column B in either
link, ∂V/∂q = V_parent × B, and V × B with the twist of its own link; and how many there are.
"""


LARGEST = 1000
"""Velocities of a mechanism whose problem has room for its derivatives: 10⁷ numbers and more."""


class Lines(NamedTuple):
    """Lines of the workspace behind those of the tree: the velocities on the ways of two links; rows of G, Ġ, C, and of
    A_pGᵀ and R_pGᵀ − Ġᵀ (transposed), one per equation; K₁, K₂, K₃; right sides, one per column; two for the registers
    of a tape; and their number.
    """

    ways: Any
    rows: Any
    rates: Any
    closing: Any
    moved: Any
    pushed: Any
    momenta: Any
    by_place: Any
    by_velocity: Any
    right: Any
    registers: Any
    count: Any


@helper
def lines_of(structure: Any) -> Any:
    """Where they are."""
    tree, m = header_of(structure), closures_of(structure).kept
    n, o = tree.n_v, tree.links + 1 + 4 * tree.n_v
    k = o + 5 * m
    return Lines(
        o - n, o, o + m, o + 2 * m, o + 3 * m, o + 4 * m, k, k + n, k + 2 * n, k + 3 * n, k + 5 * n, k + 5 * n + 2
    )


@helper
def _wide(structure: Any, columns: Any) -> Any:
    """Numbers in such a line, if a line of the field has so many."""
    return max(COLUMNS, header_of(structure).n_v, closures_of(structure).kept, columns)


def with_derivatives(structure: NDArray[np.int64], parameters: int, rows: int, columns: int) -> tuple[int, int]:
    """The workspace of a field, with room for its derivatives behind: what one trajectory takes, or all of eight one
    after the other, each with its parameters where they have their own.
    """
    tree = header_of(structure)
    own = int(lines_of(structure).count * _wide(structure, columns))
    copied = rows * columns + parameters + int(tree.n_q + 2 * tree.n_v + 4 * tree.n_v**2)
    return rows + -(-max(own, -(-(own + copied) // WIDTH)) // columns), columns


@helper
def _put_lane(parameters: Any, lane: Any, own: Any) -> None:
    """The parameters of a lane, where it has its own."""
    if parameters.ndim == 2:
        for i in range(own.shape[0]):
            own[i] = parameters[i, lane]


@rare(never)
def closed_derivatives(t: Any, y: Any, v: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = the derivative of (v, ṗ*) by (q, p*), by rows, after the field at y, which has given the velocities v; the
    workspace is that of the field, `with_derivatives`.
    """
    rows, columns = closures_of(structure).registers + 1, work.shape[1]
    free, wide = flattened(work[rows:]), _wide(structure, columns)
    size = lines_of(structure).count * wide
    if y.ndim == 2:
        deep, o = in_rows(free[:size], wide), size
        own, o = in_rows(free[o : o + rows * columns], columns), o + rows * columns
        state, o = free[o : o + y.shape[0]], o + y.shape[0]
        n = header_of(structure).n_v
        velocities, matrix = free[o : o + n], free[o + n : o + n + out.shape[0]]
        if parameters.ndim == 2:
            own_parameters = free[o + n + out.shape[0] : o + n + out.shape[0] + parameters.shape[0]]
        else:
            own_parameters = parameters
        st(out, 0, t + 0.0 * ld(y, 0))  # the times of the lanes, until their derivatives stand there
        for lane in range(WIDTH):
            for i in range(rows):
                for k in range(columns):
                    own[i, k] = work[i, k, lane]
            for i in range(y.shape[0]):
                state[i] = y[i, lane]
            for i in range(n):
                velocities[i] = v[i, lane]
            _put_lane(parameters, lane, own_parameters)
            _derivatives(out[0, lane], state, velocities, own_parameters, structure, own, deep, matrix)
            for i in range(out.shape[0]):
                out[i, lane] = matrix[i]
    else:
        _derivatives(t, y, v, parameters, structure, work, in_rows(free[:size], wide), out)


@kernel
def _derivatives(
    t: Any, y: Any, v: Any, parameters: Any, structure: Any, work: Any, deep: Any, out: Any
) -> None:  # fmt: skip
    """The same of one trajectory; lines of the field in `work`, those of `Lines` in `deep`."""
    closures, at, n = closures_of(structure), lines_of(structure), header_of(structure).n_v
    tape = in_pairs(in_rows(flattened(deep[at.registers : at.registers + 2]), 2 * deep.shape[1]))
    derivatives_at(t, y, v, parameters, structure, deep, out)
    for line in range(at.rows, at.right):
        for k in range(n):
            st2(deep, line, k, 0.0)
    for c in range(closures.kept):
        if equation_of(structure, closures, c).kind == COUPLING:
            _coupling(y, v, parameters, structure, work, deep, tape, c)
        else:
            _equation(parameters, structure, work, deep, tape, c)
    for e in range(closures.forces):
        _element(t, y, v, parameters, structure, work, deep, tape, element_of(structure, closures, e))
    if closures.kept > 0:
        _close(structure, work, deep, out)
    for r in range(n):
        row = (n + r) * 2 * n
        for b in range(n):
            x = ld2(deep, at.by_velocity + r, b)
            if x != 0.0:
                for k in range(2 * n):
                    st(out, row + k, ld(out, row + k) + x * ld(out, b * 2 * n + k))
        for k in range(n):
            st(out, row + k, ld(out, row + k) + ld2(deep, at.by_place + r, k))


# --- the ways of two links to the base --------------------------------------------------------------------------------


@helper
def _seen(deep: Any, i: Any, r: Any, u: Any) -> Any:
    """A twist in the axes of link i, of its origin, which is r from the point of the twist."""
    R = rows_of(deep, i)
    return rotated_back(R, add(u[0], cross(u[1], r))), rotated_back(R, u[1])


@helper
def _put_seen(deep: Any, line: Any, end: Any, i: Any, r: Any, S: Any, turning: Any, own: Any) -> None:
    put_twist(deep, line, COLUMN + end, _seen(deep, i, r, S))
    put_twist(deep, line, TURNING + end, _seen(deep, i, r, turning))
    put_twist(deep, line, CARRIED + end, _seen(deep, i, r, own))


@kernel
def _ways(parameters: Any, structure: Any, deep: Any, line: Any, i: Any, j: Any) -> Any:
    """Lines, from `line` on, of the velocities that move link i or j, from the last to the first; returns how many."""
    n = header_of(structure).links
    zero = 0.0 * ld2(deep, n, TWIST)
    a, b, r_a, r_b, count = i, j, (zero, zero, zero), (zero, zero, zero), 0
    while a < n or b < n:
        on_first, on_second = a < n and (b == n or a >= b), b < n and (a == n or b >= a)
        l = a if on_first else b
        link = link_of(structure, l)
        offset = vector(deep, l, OFFSET)
        before = carried(deep, link.parent, TWIST, offset)
        for d in range(freedom(link.kind)):
            S = column(deep, l, link.kind, d, numbers_of(parameters, link).pitch)
            to = line + count
            st2(deep, to, 0, 1.0 * (link.v + d))
            st2(deep, to, 1, 1.0 * l)
            for k in range(COLUMN, WAYS):
                st2(deep, to, k, 0.0)
            turning, own = motion_cross(before, S), motion_cross(twist_of(deep, l, TWIST), S)
            if on_first:
                _put_seen(deep, to, 0, i, r_a, S, turning, own)
            if on_second:
                _put_seen(deep, to, 6, j, r_b, S, turning, own)
            count += 1
        if on_first:
            a, r_a = link.parent, add(r_a, offset)
        if on_second:
            b, r_b = link.parent, add(r_b, offset)
    return count


@helper
def _twelve(deep: Any, line: Any, place: Any) -> Any:
    a, b = twist_of(deep, line, place), twist_of(deep, line, place + 6)
    return a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], b[0][0], b[0][1], b[0][2], b[1][0], b[1][1], b[1][2]


@helper
def _along(deep: Any, line: Any, place: Any, F: Any) -> Any:
    """Twelve numbers of a line times F."""
    a = _twelve(deep, line, place)
    return ((a[0] * F[0] + a[1] * F[1] + a[2] * F[2]) + (a[3] * F[3] + a[4] * F[4] + a[5] * F[5])) + (
        (a[6] * F[6] + a[7] * F[7] + a[8] * F[8]) + (a[9] * F[9] + a[10] * F[10] + a[11] * F[11])
    )


@helper
def _plus(F: Any, x: Any, G: Any) -> Any:
    """F + x G."""
    return (
        F[0] + x * G[0], F[1] + x * G[1], F[2] + x * G[2], F[3] + x * G[3], F[4] + x * G[4], F[5] + x * G[5],
        F[6] + x * G[6], F[7] + x * G[7], F[8] + x * G[8], F[9] + x * G[9], F[10] + x * G[10], F[11] + x * G[11],
    )  # fmt: skip


@helper
def _crossed(u: Any, F: Any) -> Any:
    """u ×* F in either link."""
    a = force_cross(((u[0], u[1], u[2]), (u[3], u[4], u[5])), ((F[0], F[1], F[2]), (F[3], F[4], F[5])))
    b = force_cross(((u[6], u[7], u[8]), (u[9], u[10], u[11])), ((F[6], F[7], F[8]), (F[9], F[10], F[11])))
    return a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], b[0][0], b[0][1], b[0][2], b[1][0], b[1][1], b[1][2]


@kernel
def _add(deep: Any, line: Any, count: Any, r: Any, to: Any, x: Any, place: Any, before: Any, others: Any) -> None:
    """x times what is in the lines of ways along a pair of wrenches, into the column of velocity r of a matrix: along
    `before` of joints that stand before that of r, along `others` of the others.
    """
    k, l = int(ld2(deep, line + r, 0)), ld2(deep, line + r, 1)
    for s in range(line, line + count):
        row = to + int(ld2(deep, s, 0))
        along = _along(deep, s, place, before) if ld2(deep, s, 1) < l else _along(deep, s, place, others)
        add_at(deep, row, k, x * along)


# --- equations and elements -------------------------------------------------------------------------------------------


@helper
def _twists(first: Any, second: Any) -> Any:
    a, b, c, d = first.v, first.w, second.v, second.w
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2]


@rare(never)
def _equation(parameters: Any, structure: Any, work: Any, deep: Any, tape: Any, c: Any) -> None:
    """What an equation between two bodies adds to K₁, K₂, K₃; its rows of G, Ġ, C."""
    closures, at = closures_of(structure), lines_of(structure)
    e = equation_of(structure, closures, c)
    scale = scale_of(parameters, e)
    impulse = scale * ld_on(work, closures.multipliers, c)
    first, second = body_state(work, closures.poses, e.first), body_state(work, closures.poses, e.second)
    V, line, registers = _twists(first, second), at.ways, closures.registers
    count = _ways(parameters, structure, deep, line, e.first, e.second)
    for r in range(count):
        k, u, change = int(ld2(deep, line + r, 0)), _twelve(deep, line + r, COLUMN), _twelve(deep, line + r, TURNING)
        i, j = displaced(first, u[:6], change[:6]), displaced(second, u[6:], change[6:])
        W_i, W_j, N_i, N_j = stepped_screws(parameters, structure, e, tape, i, j)
        W, N, dW, dN = values(W_i, W_j), values(N_i, N_j), slopes(W_i, W_j), slopes(N_i, N_j)
        st2(deep, at.rows + c, k, scale * _along(deep, line + r, COLUMN, W))
        st2(deep, at.rates + c, k, scale * (_along(deep, line + r, COLUMN, N) + _along(deep, line + r, CARRIED, W)))
        st2(deep, at.closing + c, k, scale * (_along(deep, line + r, TURNING, W) + _product(dW, V)))
        turned = _crossed(u, W)
        moved = _plus(dW, 1.0, turned)
        _add(deep, line, count, r, at.momenta, impulse, COLUMN, moved, dW)
        _add(deep, line, count, r, at.by_place, -impulse, CARRIED, moved, dW)
        before, others = _plus(dN, 1.0, _crossed(u, N)), _plus(dN, -1.0, _crossed(change, W))
        _add(deep, line, count, r, at.by_place, -impulse, COLUMN, before, others)
        N_i, N_j = rates_at(
            parameters, structure, e, work, registers,
            first.R, first.x, second.R, second.x, u[:3], u[3:6], u[6:9], u[9:],
        )  # fmt: skip
        dN = _pair(N_i, N_j)  # N is linear in the twists
        _add(deep, line, count, r, at.by_velocity, -impulse, COLUMN, dN, _plus(dN, -1.0, turned))


@helper
def _pair(a: Any, b: Any) -> Any:
    return a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], b[3], b[4], b[5]


@helper
def _product(a: Any, b: Any) -> Any:
    x = 0.0 * a[0]
    for k in range(12):
        x = x + a[k] * b[k]
    return x


@helper
def _none(V: Any) -> Any:
    zero = 0.0 * V[0]
    return zero, zero, zero, zero, zero, zero


@rare(never)
def _coupling(
    y: Any, v: Any, parameters: Any, structure: Any, work: Any, deep: Any, tape: Any, c: Any
) -> None:  # fmt: skip
    """The same of an equation of joint coordinates, along these."""
    closures, at = closures_of(structure), lines_of(structure)
    e = equation_of(structure, closures, c)
    coupling, scale = coupling_of(structure, e.code), scale_of(parameters, e)
    impulse = scale * ld_on(work, closures.multipliers, c)
    for moved in range(coupling.joints):
        for j in range(coupling.joints):
            place = joint(structure, coupling, j)
            st2(tape, 0, j, ld(y, place.q) + (STEP if j == moved else 0.0 * STEP))
            st2(tape, 0, coupling.joints + j, ld(v, place.v) + 0.0 * STEP)
        play_rates(parameters, e.numbers, structure, coupling, tape, 0)
        k = joint(structure, coupling, moved).v
        for j in range(coupling.joints):
            l = joint(structure, coupling, j).v
            g, g_dot = gradient(structure, coupling, tape, 0, j), gradient_rate(structure, coupling, tape, 0, j)
            st2(deep, at.rows + c, l, scale * g.real)
            st2(deep, at.rates + c, l, scale * g_dot.real)
            second = g.imag / STEP.imag
            add_at(deep, at.closing + c, k, scale * second * ld(v, l))
            add_at(deep, at.momenta + l, k, impulse * second)
            add_at(deep, at.by_place + l, k, -(impulse * (g_dot.imag / STEP.imag)))
            add_at(deep, at.by_velocity + l, k, -(impulse * second))


@rare(never)
def _element(
    t: Any, y: Any, v: Any, parameters: Any, structure: Any, work: Any, deep: Any, tape: Any, element: Any
) -> None:  # fmt: skip
    """What a force element adds to K₂ and K₃."""
    closures, at = closures_of(structure), lines_of(structure)
    if element.place == ON_JOINT:
        j = element.second
        x, s = ld(y, element.first) + 0.0 * STEP, ld(v, j) + 0.0 * STEP
        force, _, _ = law_on_joint(element.kind, t, parameters, element, x + STEP, s)
        add_at(deep, at.by_place + j, j, force.imag / STEP.imag)
        force, _, _ = law_on_joint(element.kind, t, parameters, element, x, s + STEP)
        add_at(deep, at.by_velocity + j, j, force.imag / STEP.imag)
        return
    if element.place == ON_TENDON:
        x, s = tendon_at(y, v, 0, parameters, structure, element)
        force, _, _ = law_on_joint(element.kind, t, parameters, element, x + STEP, s + 0.0 * STEP)
        damped, _, _ = law_on_joint(element.kind, t, parameters, element, x + 0.0 * STEP, s + STEP)
        for pulled in range(element.first):
            for moved in range(element.first):
                b = ld(parameters, element.equation_numbers + pulled) * ld(parameters, element.equation_numbers + moved)
                j, k = tendon_joint(structure, element, pulled).v, tendon_joint(structure, element, moved).v
                add_at(deep, at.by_place + j, k, b * (force.imag / STEP.imag))
                add_at(deep, at.by_velocity + j, k, b * (damped.imag / STEP.imag))
        return
    line = at.ways
    i, j = element.first, element.second
    first, second = body_state(work, closures.poses, i), body_state(work, closures.poses, j)
    count = _ways(parameters, structure, deep, line, i, j)
    for r in range(count):
        u, change, none = _twelve(deep, line + r, COLUMN), _twelve(deep, line + r, TURNING), _none(first.v)
        i_moved, j_moved = displaced(first, u[:6], change[:6]), displaced(second, u[6:], change[6:])
        F_i, F_j = stepped_wrenches(t, parameters, structure, element, tape, i_moved, j_moved)
        F, dF = values(F_i, F_j), slopes(F_i, F_j)
        _add(deep, line, count, r, at.by_place, 1.0, COLUMN, _plus(dF, 1.0, _crossed(u, F)), dF)
        if element.reads > 0:
            i_moved, j_moved = displaced(first, none, u[:6]), displaced(second, none, u[6:])
            F_i, F_j = stepped_wrenches(t, parameters, structure, element, tape, i_moved, j_moved)
            dF = slopes(F_i, F_j)
            _add(deep, line, count, r, at.by_velocity, 1.0, COLUMN, dF, dF)


# --- the multipliers --------------------------------------------------------------------------------------------------


@kernel
def _close(structure: Any, work: Any, deep: Any, out: Any) -> None:
    """From the derivative of the tree by (q, p) that by (q, p*), but for K₂ and K₃."""
    closures, at, n = closures_of(structure), lines_of(structure), header_of(structure).n_v
    m, width = closures.kept, 2 * n
    for r in range(width):
        row = r * width
        for b in range(n):
            x = ld(out, row + n + b)
            if x != 0.0:
                for k in range(n):
                    st(out, row + k, ld(out, row + k) + x * ld2(deep, at.momenta + b, k))
    for c in range(m):
        for k in range(width):
            st2(deep, at.right + k, c, -ld2(deep, at.closing + c, k) if k < n else 0.0)
        for r in range(n):
            st2(deep, at.moved + c, r, 0.0)
            st2(deep, at.pushed + c, r, -ld2(deep, at.rates + c, r))
        for b in range(n):
            g = ld2(deep, at.rows + c, b)
            if g != 0.0:
                for k in range(width):
                    add_at(deep, at.right + k, c, -(g * ld(out, b * width + k)))
                for r in range(n):
                    add_at(deep, at.moved + c, r, ld(out, r * width + n + b) * g)
                    add_at(deep, at.pushed + c, r, ld(out, (n + r) * width + n + b) * g)
    for k in range(width):
        solve_of_rank(
            work,
            closures.matrix,
            m,
            closures.rank,
            work,
            closures.nulls,
            deep,
            at.right + k,
            structure,
            closures.profile,
        )
    for r in range(n):
        for c in range(m):
            x, z = ld2(deep, at.moved + c, r), ld2(deep, at.pushed + c, r)
            for k in range(width):
                impulse, o = ld2(deep, at.right + k, c), r * width + k
                st(out, o, ld(out, o) + x * impulse)
                o = (n + r) * width + k
                st(out, o, ld(out, o) + z * impulse)
