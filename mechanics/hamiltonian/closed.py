"""Closed loops in Hamiltonian variables in linear time: the kernel of equations (5), (6) of Ivanov (2022), corrected.

State y = (q, p*).  Beside the sweeps of ERA (`mechanics.hamiltonian.era`) one evaluation takes, per closure equation, a passage
from its two bodies to the base: with the screws W of `mechanics.constraints.rows`, G = Wᵀ T A, H = Aᵀ Tᵀ M T A,

    up       factors of H, and the free momenta of p*
    columns  Y_c: what is left of the impulse W_c at every degree of freedom, so that Φ = G H⁻¹ Gᵀ = Yᵀ D⁻¹ Y and G H⁻¹ p* = Yᵀ u
    solve    Φ η = −G H⁻¹ p*, with the rank that the mechanism has (decided once)
    load     momenta −W η enter the tree: its momenta become μ' = μ − η* by themselves
    down     s, V, μ' and ṗ* = −Aᵀ Ω μ' + Aᵀ F*, as in the tree
    react    ṗ* −= Aᵀ Tᵀ N η, with N the rates of the screws seen from space (zero for what the paper keeps in absolute axes)

η is the time integral of the closing reactions since it was last zero.  `closed_reference.py` is the readable statement.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, ld2, st, st2
from liegroup.dense import factor_of_rank, solve_of_rank
from liegroup.formulas.vectors import add
from mechanics.constraints.packing import (
    ACCUMULATED,
    ALL,
    COLUMNS,
    EQUATION,
    EQUATIONS,
    ETA,
    GAP,
    KEPT,
    MATRIX,
    NULLS,
    PATH,
    PATHS,
    POSES,
    RANK,
    SCRATCH,
    SCREWS,
    STARTS,
    VECTORS,
)
from mechanics.constraints.rows import row_rates, row_screws
from mechanics.hamiltonian.era import down, up
from mechanics.joints.element import BALL, FLOAT, MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.packing import EXTENSION, HEADER, KIND, N_V, PARAMETERS, PARENT, PITCH, ROW, ROWS, A, H, J, K, L, V
from mechanics.rows import direction_down, moment_up, prescribed, put, vector, wrench_up

# --- impulses through the eliminations --------------------------------------------------------------------------------------
# (l, k) is a momentum of a row beyond that of p; each function continues it as `eliminations` did: ξ goes to the emptied place.


@helper
def _through_az(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -k[2]
    u = xi * ld2(work, i, J + 5)
    l = l[0] + ld2(work, i, H + 2) * u, l[1] + ld2(work, i, H + 5) * u, l[2] + ld2(work, i, H + 8) * u
    return l, (k[0] + ld2(work, i, J + 2) * u, k[1] + ld2(work, i, J + 4) * u, xi)


@helper
def _through_ay(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -k[1]
    u = xi * ld2(work, i, J + 3)
    l = l[0] + ld2(work, i, H + 1) * u, l[1] + ld2(work, i, H + 4) * u, l[2] + ld2(work, i, H + 7) * u
    return l, (k[0] + ld2(work, i, J + 1) * u, xi, k[2])


@helper
def _through_ax(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -k[0]
    u = xi * ld2(work, i, J)
    return (l[0] + ld2(work, i, H) * u, l[1] + ld2(work, i, H + 3) * u, l[2] + ld2(work, i, H + 6) * u), (xi, k[1], k[2])


@helper
def _through_lz(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -l[2]
    u = xi * ld2(work, i, A + 5)
    k = k[0] + ld2(work, i, H + 6) * u, k[1] + ld2(work, i, H + 7) * u, k[2] + ld2(work, i, H + 8) * u
    return (l[0] + ld2(work, i, A + 2) * u, l[1] + ld2(work, i, A + 4) * u, xi), k


@helper
def _through_ly(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -l[1]
    u = xi * ld2(work, i, A + 3)
    k = k[0] + ld2(work, i, H + 3) * u, k[1] + ld2(work, i, H + 4) * u, k[2]
    return (l[0] + ld2(work, i, A + 1) * u, xi, l[2] + ld2(work, i, A + 4) * u), k


@helper
def _through_lx(work: Any, i: Any, l: Any, k: Any) -> Any:
    xi = -l[0]
    u = xi * ld2(work, i, A)
    return (xi, l[1], l[2] + ld2(work, i, A + 2) * u), (k[0] + ld2(work, i, H) * u, k[1] + ld2(work, i, H + 1) * u, k[2])


@helper
def _through_linear(work: Any, i: Any, l: Any) -> Any:
    xi_z = -l[2]
    u = xi_z * ld2(work, i, A + 5)
    lx, xi_y = l[0] + ld2(work, i, A + 2) * u, -(l[1] + ld2(work, i, A + 4) * u)
    return -(lx + ld2(work, i, A + 1) * (xi_y * ld2(work, i, A + 3))), xi_y, xi_z


@kernel
def through(parameters: Any, work: Any, i: Any, kind: Any, at: Any, l: Any, k: Any) -> Any:
    """(l, k) with ξ in the emptied places."""
    if kind == TURN:
        l, k = _through_az(work, i, l, k)
    elif kind == SLIDE:
        l, k = _through_lz(work, i, l, k)
    elif kind == SCREW:
        l, k = _through_az(work, i, l, (k[0], k[1], k[2] + parameters[at + PITCH] * l[2]))
    elif kind == PLANE:
        l, k = _through_az(work, i, l, k)
        l, k = _through_ly(work, i, l, k)
        l, k = _through_lx(work, i, l, k)
    elif kind in (BALL, FLOAT):
        l, k = _through_az(work, i, l, k)
        l, k = _through_ay(work, i, l, k)
        l, k = _through_ax(work, i, l, k)
        if kind == FLOAT:
            l = _through_linear(work, i, l)
    return l, k


@helper
def left_over(parameters: Any, kind: Any, at: Any, l: Any, k: Any) -> Any:
    """What goes on to the parent: nothing along the row's own motions."""
    zero = l[0] - l[0]
    if kind == TURN:
        k = k[0], k[1], zero
    elif kind == SLIDE:
        l = l[0], l[1], zero
    elif kind == SCREW:
        k = k[0], k[1], zero - parameters[at + PITCH] * l[2]
    elif kind == PLANE:
        l, k = (zero, zero, l[2]), (k[0], k[1], zero)
    elif kind == BALL:
        k = zero, zero, zero
    elif kind == FLOAT:
        l, k = (zero, zero, zero), (zero, zero, zero)
    return l, k


@kernel
def to_parent(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, row: Any, at: Any, l: Any, k: Any) -> Any:
    """`wrench_up`, compiled once."""
    return wrench_up(t, y, parameters, structure, work, i, row, at, l, k)


@helper
def _add_at(work: Any, row: Any, column: Any, x: Any) -> None:
    st2(work, row, column, ld2(work, row, column) + x)


@helper
def components(kind: Any, pitch: Any, l: Any, k: Any) -> Any:
    """Aᵀ (l, k), one number per degree of freedom of a row (the rest of the six means nothing); pitch 0 picks the emptied places."""
    if kind == SLIDE:
        return l[2], l[2], l[2], l[2], l[2], l[2]
    if kind == PLANE:
        return l[0], l[1], k[2], k[2], k[2], k[2]
    if kind == BALL:
        return k[0], k[1], k[2], k[2], k[2], k[2]
    if kind == FLOAT:
        return l[0], l[1], l[2], k[0], k[1], k[2]
    s = k[2] + pitch * l[2]
    return s, s, s, s, s, s


@helper
def freedom(kind: Any) -> Any:
    """Degrees of freedom of a row."""
    if kind in (MOVED_TURN, MOVED_SLIDE):
        return 0
    if kind == FLOAT:
        return 6
    return 3 if kind in (PLANE, BALL) else 1


@helper
def inverse_pivots(work: Any, i: Any, kind: Any) -> Any:
    """1/d, one number per degree of freedom of a row."""
    a = ld2(work, i, A), ld2(work, i, A + 3), ld2(work, i, A + 5)
    j = ld2(work, i, J), ld2(work, i, J + 3), ld2(work, i, J + 5)
    if kind == SLIDE:
        return a[2], a[2], a[2], a[2], a[2], a[2]
    if kind == PLANE:
        return a[0], a[1], j[2], j[2], j[2], j[2]
    if kind == BALL:
        return j[0], j[1], j[2], j[2], j[2], j[2]
    if kind == FLOAT:
        return a[0], a[1], a[2], j[0], j[1], j[2]
    return j[2], j[2], j[2], j[2], j[2], j[2]


# --- poses and screws -------------------------------------------------------------------------------------------------------


@helper
def pose(work: Any, row: Any) -> Any:
    """R (nine numbers, row axes → world) and x of a pose row."""
    a, b, c = vector(work, row, 0), vector(work, row, 3), vector(work, row, 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]), vector(work, row, 9)


@kernel
def poses(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """R and x of the rows between the closing bodies and the base; the accumulators are cleared."""
    o, n = structure[EXTENSION], structure[ROWS]
    first = structure[o + POSES]
    for column in range(ACCUMULATED + 6):
        st2(work, first + n, column, 0.0)
    for column in (0, 4, 8):
        st2(work, first + n, column, 1.0)
    for k in range(structure[o + PATHS]):
        i = structure[structure[o + PATH] + k]
        row = HEADER + i * ROW
        at, parent = structure[row + PARAMETERS], first + structure[row + PARENT]
        R, x = pose(work, parent)
        zero = R[0] - R[0]
        rho = moment_up(t, y, parameters, structure, work, i, row, at, (zero, zero, zero), 1.0)
        put(work, first + i, 0, direction_down(y, parameters, structure, work, i, row, at, (R[0], R[1], R[2])))
        put(work, first + i, 3, direction_down(y, parameters, structure, work, i, row, at, (R[3], R[4], R[5])))
        put(work, first + i, 6, direction_down(y, parameters, structure, work, i, row, at, (R[6], R[7], R[8])))
        put(
            work,
            first + i,
            9,
            (
                x[0] + (R[0] * rho[0] + R[1] * rho[1] + R[2] * rho[2]),
                x[1] + (R[3] * rho[0] + R[4] * rho[1] + R[5] * rho[2]),
                x[2] + (R[6] * rho[0] + R[7] * rho[1] + R[8] * rho[2]),
            ),
        )
        for column in range(ACCUMULATED, ACCUMULATED + 6):
            st2(work, first + i, column, 0.0)


@helper
def equation(parameters: Any, structure: Any, c: Any) -> Any:
    """kind, rows of the two bodies, a, p, b, q, L, scale of equation c."""
    e = structure[structure[EXTENSION] + EQUATIONS] + EQUATION * c
    at = structure[e + 3]
    return (
        structure[e],
        structure[e + 1],
        structure[e + 2],
        (parameters[at], parameters[at + 1], parameters[at + 2]),
        (parameters[at + 3], parameters[at + 4], parameters[at + 5]),
        (parameters[at + 6], parameters[at + 7], parameters[at + 8]),
        (parameters[at + 9], parameters[at + 10], parameters[at + 11]),
        parameters[at + 12],
        parameters[at + 13],
    )


@kernel
def screws(parameters: Any, structure: Any, work: Any, count: Any) -> None:
    """φ and the screws W_i, W_j of the first `count` equations."""
    o = structure[EXTENSION]
    for c in range(count):
        kind, i, j, a, p, b, q, length, scale = equation(parameters, structure, c)
        R_i, x_i = pose(work, structure[o + POSES] + i)
        R_j, x_j = pose(work, structure[o + POSES] + j)
        phi, W_i, W_j = row_screws(kind, a, p, b, q, length, R_i, x_i, R_j, x_j)
        st2(work, structure[o + VECTORS] + GAP, c, scale * phi)
        row = structure[o + SCREWS] + c
        for k in range(6):
            st2(work, row, k, scale * W_i[k])
            st2(work, row, 6 + k, scale * W_j[k])


# --- the equations for η ------------------------------------------------------------------------------------------------------


@kernel
def _impulse(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, screw: Any, column: Any, c: Any) -> None:
    """Carry the momentum −W of a unit multiplier from row i to the base: adds to the column Y_c and to −(closing velocity) c."""
    o, n = structure[EXTENSION], structure[ROWS]
    l, k = vector(work, screw, column), vector(work, screw, column + 3)
    l, k = (-l[0], -l[1], -l[2]), (-k[0], -k[1], -k[2])
    while i < n:
        row = HEADER + i * ROW
        kind, at = structure[row + KIND], structure[row + PARAMETERS]
        l, k = through(parameters, work, i, kind, at, l, k)
        if kind == MOVED_TURN:
            _add_at(work, structure[o + VECTORS] + ETA, c, prescribed(t, parameters, structure, row)[1] * k[2])
        elif kind == MOVED_SLIDE:
            _add_at(work, structure[o + VECTORS] + ETA, c, prescribed(t, parameters, structure, row)[1] * l[2])
        xi, first = components(kind, 0.0, l, k), structure[o + COLUMNS] + structure[row + V]
        for d in range(freedom(kind)):
            _add_at(work, first + d, c, xi[d])
        l, k = left_over(parameters, kind, at, l, k)
        l, k = to_parent(t, y, parameters, structure, work, i, row, at, l, k)
        i = structure[row + PARENT]


@kernel
def columns(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Y, 1/d and u = ξ/d of p for all degrees of freedom on the path; −G H⁻¹ p (with drift: −φ̇) in the row η."""
    o = structure[EXTENSION]
    m, vectors, base = structure[o + KEPT], structure[o + VECTORS], structure[o + COLUMNS]
    for c in range(m):
        st2(work, vectors + ETA, c, 0.0)
    for r in range(structure[o + PATHS]):
        i = structure[structure[o + PATH] + r]
        row = HEADER + i * ROW
        kind, first = structure[row + KIND], base + structure[row + V]
        pivots = inverse_pivots(work, i, kind)
        xi = components(kind, 0.0, vector(work, i, L), vector(work, i, K))
        for d in range(freedom(kind)):
            for c in range(m):
                st2(work, first + d, c, 0.0)
            st2(work, first + d, m, pivots[d])
            st2(work, first + d, m + 1, pivots[d] * xi[d])
    for c in range(m):
        e = structure[o + EQUATIONS] + EQUATION * c
        _impulse(t, y, parameters, structure, work, structure[e + 1], structure[o + SCREWS] + c, 0, c)
        _impulse(t, y, parameters, structure, work, structure[e + 2], structure[o + SCREWS] + c, 6, c)


@kernel
def factor(structure: Any, parameters: Any, work: Any) -> None:
    """Φ = Yᵀ D⁻¹ Y and its factors; −Yᵀ u is added to the row η."""
    o = structure[EXTENSION]
    m, matrix, base, vectors = structure[o + KEPT], structure[o + MATRIX], structure[o + COLUMNS], structure[o + VECTORS]
    for c in range(m):
        for b in range(c + 1):
            st2(work, matrix + c, b, 0.0)
    for r in range(structure[o + PATHS]):
        row = HEADER + structure[structure[o + PATH] + r] * ROW
        first = base + structure[row + V]
        for d in range(first, first + freedom(structure[row + KIND])):
            pivot, u = ld2(work, d, m), ld2(work, d, m + 1)
            for c in range(m):
                x = ld2(work, d, c)
                _add_at(work, vectors + ETA, c, -(x * u))
                x = x * pivot
                for b in range(c + 1):
                    _add_at(work, matrix + c, b, x * ld2(work, d, b))
    dropped = m - structure[o + RANK]
    for d in range(dropped):
        for c in range(m):
            st2(work, structure[o + NULLS] + d, c, parameters[structure[o + STARTS] + d * m + c])
    factor_of_rank(work, matrix, m, structure[o + RANK], work, structure[o + NULLS], work, structure[o + SCRATCH])


@kernel
def solve(structure: Any, work: Any) -> None:
    """η <- Φ⁺ η."""
    o = structure[EXTENSION]
    vectors = structure[o + VECTORS]
    solve_of_rank(work, structure[o + MATRIX], structure[o + KEPT], structure[o + RANK], work, structure[o + NULLS], work, vectors + ETA)


@kernel
def scatter(structure: Any, work: Any, sign: Any) -> None:
    """sign·W η into the accumulators of the closing rows."""
    o = structure[EXTENSION]
    for c in range(structure[o + KEPT]):
        e, screw = structure[o + EQUATIONS] + EQUATION * c, structure[o + SCREWS] + c
        x = sign * ld2(work, structure[o + VECTORS] + ETA, c)
        for side in range(2):
            row = structure[o + POSES] + structure[e + 1 + side]
            for k in range(6):
                _add_at(work, row, ACCUMULATED + k, x * ld2(work, screw, 6 * side + k))


@helper
def _taken(work: Any, row: Any) -> Any:
    """The accumulated momentum of a row, which is cleared."""
    l, k = vector(work, row, ACCUMULATED), vector(work, row, ACCUMULATED + 3)
    for column in range(ACCUMULATED, ACCUMULATED + 6):
        st2(work, row, column, 0.0)
    return l, k


@helper
def _pass_on(work: Any, row: Any, l: Any, k: Any) -> None:
    put(work, row, ACCUMULATED, add(vector(work, row, ACCUMULATED), l))
    put(work, row, ACCUMULATED + 3, add(vector(work, row, ACCUMULATED + 3), k))


@kernel
def load(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """The momenta −W η through the eliminations, added to those of the tree."""
    o = structure[EXTENSION]
    scatter(structure, work, -1.0)
    count, first = structure[o + PATHS], structure[o + POSES]
    for r in range(count):
        i = structure[structure[o + PATH] + count - 1 - r]
        row = HEADER + i * ROW
        kind, at = structure[row + KIND], structure[row + PARAMETERS]
        l, k = _taken(work, first + i)
        l, k = through(parameters, work, i, kind, at, l, k)
        put(work, i, L, add(vector(work, i, L), l))
        put(work, i, K, add(vector(work, i, K), k))
        l, k = left_over(parameters, kind, at, l, k)
        l, k = to_parent(t, y, parameters, structure, work, i, row, at, l, k)
        _pass_on(work, first + structure[row + PARENT], l, k)
    _taken(work, first + structure[ROWS])


@kernel
def gather(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """out[offset …] += Aᵀ Tᵀ of the accumulated wrenches, which are cleared."""
    o = structure[EXTENSION]
    count, first = structure[o + PATHS], structure[o + POSES]
    for r in range(count):
        i = structure[structure[o + PATH] + count - 1 - r]
        row = HEADER + i * ROW
        kind, at = structure[row + KIND], structure[row + PARAMETERS]
        l, k = _taken(work, first + i)
        q = components(kind, parameters[at + PITCH], l, k)
        for d in range(freedom(kind)):
            p = offset + structure[row + V] + d
            st(out, p, ld(out, p) + q[d])
        l, k = to_parent(t, y, parameters, structure, work, i, row, at, l, k)
        _pass_on(work, first + structure[row + PARENT], l, k)
    _taken(work, first + structure[ROWS])


@kernel
def rates_of_screws(structure: Any, parameters: Any, work: Any) -> None:
    """−N η into the accumulators of the closing rows, with the twists that `down` has left in the rows."""
    o = structure[EXTENSION]
    first = structure[o + POSES]
    for c in range(structure[o + KEPT]):
        kind, i, j, a, p, b, q, length, scale = equation(parameters, structure, c)
        R_i, x_i = pose(work, first + i)
        R_j, x_j = pose(work, first + j)
        v_i, w_i, v_j, w_j = vector(work, i, 0), vector(work, i, 3), vector(work, j, 0), vector(work, j, 3)
        N_i, N_j = row_rates(kind, a, p, b, q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)
        x = -scale * ld2(work, structure[o + VECTORS] + ETA, c)
        for k in range(6):
            _add_at(work, first + i, ACCUMULATED + k, x * N_i[k])
            _add_at(work, first + j, ACCUMULATED + k, x * N_j[k])


@kernel
def close(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """After `up`: the multipliers η that close the velocities, and their momenta in the tree."""
    o = structure[EXTENSION]
    poses(t, y, parameters, structure, work)
    screws(parameters, structure, work, structure[o + KEPT])
    columns(t, y, parameters, structure, work)
    factor(structure, parameters, work)
    solve(structure, work)
    load(t, y, parameters, structure, work)


@entry(*FIELD_SIGNATURES)
def closed(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p*) → out = (v, ṗ*)."""
    up(t, y, parameters, structure, work, False)
    close(t, y, parameters, structure, work)
    down(t, y, parameters, structure, work, out, False)
    rates_of_screws(structure, parameters, work)
    gather(t, y, parameters, structure, work, out, structure[N_V])
