"""World poses of the rows where closures and forces act, their screws, and the sums of wrenches on the way to the
base.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st, st2
from liegroup.formulas.vectors import add
from mechanics.closed_trees.packing import (
    ACCUMULATED,
    ALONG_JOINT,
    EQUATION,
    EQUATIONS,
    GAP,
    PATH,
    PATHS,
    POSES,
    REGISTERS,
    SCREWS,
    VECTORS,
)
from mechanics.constraints.coupling_rows import COUNT, coupling_rates, coupling_value, gradient, gradient_rate, joint
from mechanics.constraints.given_rows import given_rates, given_screws
from mechanics.constraints.rows import COUPLING, GIVEN, SCALE, row_rates, row_screws
from mechanics.joints.element import TURN
from mechanics.kernels.impulses import components, freedom, to_parent, turn_to_parent
from mechanics.kernels.rows import direction_down, moment_up, put, vector
from mechanics.model.packing import EXTENSION, FLAGS, HEADER, KIND, PARAMETERS, PARENT, PITCH, ROW, ROWS, V


@helper
def add_at(work: Any, row: Any, column: Any, x: Any) -> None:
    """work[row, column] += x."""
    st2(work, row, column, ld2(work, row, column) + x)


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
    for column in range(ALONG_JOINT + 1):
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
        for column in range(ACCUMULATED, ALONG_JOINT + 1):
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
        parameters[at + SCALE],
    )


@kernel
def equation_screws(parameters: Any, structure: Any, work: Any, c: Any) -> Any:
    """φ, W_i, W_j of equation c, not scaled."""
    o = structure[EXTENSION]
    kind, i, j, a, p, b, q, length, _ = equation(parameters, structure, c)
    R_i, x_i = pose(work, structure[o + POSES] + i)
    R_j, x_j = pose(work, structure[o + POSES] + j)
    if kind == GIVEN:
        e = structure[o + EQUATIONS] + EQUATION * c
        row = structure[o + VECTORS] + REGISTERS
        return given_screws(
            parameters, structure[e + 3], structure, structure[e + 4], work, row, a, p, b, q, R_i, x_i, R_j, x_j
        )
    return row_screws(kind, a, p, b, q, length, R_i, x_i, R_j, x_j)


@kernel
def equation_rates(parameters: Any, structure: Any, work: Any, c: Any) -> Any:
    """N_i, N_j of equation c, not scaled, with the twists of the bodies in the first columns of their rows."""
    o = structure[EXTENSION]
    kind, i, j, a, p, b, q, _, _ = equation(parameters, structure, c)
    R_i, x_i = pose(work, structure[o + POSES] + i)
    R_j, x_j = pose(work, structure[o + POSES] + j)
    v_i, w_i, v_j, w_j = vector(work, i, 0), vector(work, i, 3), vector(work, j, 0), vector(work, j, 3)
    if kind == GIVEN:
        e = structure[o + EQUATIONS] + EQUATION * c
        row = structure[o + VECTORS] + REGISTERS
        return given_rates(
            parameters,
            structure[e + 3],
            structure,
            structure[e + 4],
            work,
            row,
            a,
            p,
            b,
            q,
            R_i,
            x_i,
            R_j,
            x_j,
            v_i,
            w_i,
            v_j,
            w_j,
        )
    return row_rates(kind, a, p, b, q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)


@kernel
def screws(y: Any, parameters: Any, structure: Any, work: Any, count: Any) -> None:
    """φ (not scaled) and the scaled screws W_i, W_j, or g, of the first `count` equations."""
    o = structure[EXTENSION]
    gaps, registers = structure[o + VECTORS] + GAP, structure[o + VECTORS] + REGISTERS
    for c in range(count):
        e, row = structure[o + EQUATIONS] + EQUATION * c, structure[o + SCREWS] + c
        at, code = structure[e + 3], structure[e + 4]
        scale = parameters[at + SCALE]
        if structure[e] == COUPLING:
            st2(work, gaps, c, coupling_value(y, parameters, at, structure, code, work, registers))
            for j in range(structure[code + COUNT]):
                st2(work, row, j, scale * gradient(structure, code, work, registers, j))
        else:
            phi, W_i, W_j = equation_screws(parameters, structure, work, c)
            st2(work, gaps, c, phi)
            for k in range(6):
                st2(work, row, k, scale * W_i[k])
                st2(work, row, 6 + k, scale * W_j[k])


# --- a row of G and its rate, whatever it acts on
# ------------------------------------------------------------------------------


@kernel
def push(structure: Any, work: Any, c: Any, x: Any) -> None:
    """x times row c of G into the accumulators."""
    o = structure[EXTENSION]
    e, screw, first = structure[o + EQUATIONS] + EQUATION * c, structure[o + SCREWS] + c, structure[o + POSES]
    if structure[e] == COUPLING:
        code = structure[e + 4]
        for j in range(structure[code + COUNT]):
            add_at(work, first + joint(structure, code, j)[0], ALONG_JOINT, x * ld2(work, screw, j))
    else:
        for side in range(2):
            for k in range(6):
                add_at(work, first + structure[e + 1 + side], ACCUMULATED + k, x * ld2(work, screw, 6 * side + k))


@kernel
def push_rate(y: Any, v: Any, offset: Any, parameters: Any, structure: Any, work: Any, c: Any, x: Any) -> None:
    """x times row c of Ġ into the accumulators; twists are in the rows, joint velocities in v[offset …]."""
    o = structure[EXTENSION]
    e, first = structure[o + EQUATIONS] + EQUATION * c, structure[o + POSES]
    x = x * parameters[structure[e + 3] + SCALE]
    if structure[e] == COUPLING:
        code, registers = structure[e + 4], structure[o + VECTORS] + REGISTERS
        coupling_rates(y, v, offset, parameters, structure[e + 3], structure, code, work, registers)
        for j in range(structure[code + COUNT]):
            add_at(
                work,
                first + joint(structure, code, j)[0],
                ALONG_JOINT,
                x * gradient_rate(structure, code, work, registers, j),
            )
    else:
        N_i, N_j = equation_rates(parameters, structure, work, c)
        for k in range(6):
            add_at(work, first + structure[e + 1], ACCUMULATED + k, x * N_i[k])
            add_at(work, first + structure[e + 2], ACCUMULATED + k, x * N_j[k])


@kernel
def closing_rate(v: Any, offset: Any, structure: Any, work: Any, c: Any) -> Any:
    """φ̇ of equation c, scaled; twists are in the rows, joint velocities in v[offset …]."""
    o = structure[EXTENSION]
    e, screw = structure[o + EQUATIONS] + EQUATION * c, structure[o + SCREWS] + c
    x = 0.0 * ld2(work, screw, 0)
    if structure[e] == COUPLING:
        code = structure[e + 4]
        for j in range(structure[code + COUNT]):
            x = x + ld2(work, screw, j) * ld(v, offset + joint(structure, code, j)[2])
    else:
        x = x + along_bodies(structure, work, c, 0)
    return x


@helper
def along_bodies(structure: Any, work: Any, c: Any, column: Any) -> Any:
    """W_i · (six numbers of row i, from `column` on) + W_j · (those of row j)."""
    o = structure[EXTENSION]
    e, screw = structure[o + EQUATIONS] + EQUATION * c, structure[o + SCREWS] + c
    i, j = structure[e + 1], structure[e + 2]
    x = 0.0 * ld2(work, screw, 0)
    for k in range(6):
        x = x + (ld2(work, screw, k) * ld2(work, i, column + k) + ld2(work, screw, 6 + k) * ld2(work, j, column + k))
    return x


@kernel
def closing_bias(y: Any, offset: Any, parameters: Any, structure: Any, work: Any, c: Any, column: Any) -> Any:
    """φ̈ of equation c at v̇ = 0, scaled; twists are in the rows, accelerations from `column` on, velocities in
    y[offset …].
    """
    o = structure[EXTENSION]
    e = structure[o + EQUATIONS] + EQUATION * c
    scale, x = parameters[structure[e + 3] + SCALE], 0.0 * ld2(work, structure[o + SCREWS] + c, 0)
    if structure[e] == COUPLING:
        code, registers = structure[e + 4], structure[o + VECTORS] + REGISTERS
        coupling_rates(y, y, offset, parameters, structure[e + 3], structure, code, work, registers)
        for j in range(structure[code + COUNT]):
            x = x + gradient_rate(structure, code, work, registers, j) * ld(y, offset + joint(structure, code, j)[2])
        return scale * x
    N_i, N_j = equation_rates(parameters, structure, work, c)
    for k in range(6):
        x = x + (N_i[k] * ld2(work, structure[e + 1], k) + N_j[k] * ld2(work, structure[e + 2], k))
    return along_bodies(structure, work, c, column) + scale * x


# --- the way to the base
# -----------------------------------------------------------------------------------------------------------


@helper
def taken(work: Any, row: Any) -> Any:
    """The accumulated momentum of a row, and that along its joint, which are cleared."""
    l, k, x = vector(work, row, ACCUMULATED), vector(work, row, ACCUMULATED + 3), ld2(work, row, ALONG_JOINT)
    for column in range(ACCUMULATED, ALONG_JOINT + 1):
        st2(work, row, column, 0.0)
    return l, k, x


@helper
def pass_on(work: Any, row: Any, l: Any, k: Any) -> None:
    put(work, row, ACCUMULATED, add(vector(work, row, ACCUMULATED), l))
    put(work, row, ACCUMULATED + 3, add(vector(work, row, ACCUMULATED + 3), k))


@kernel
def gather(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """out[offset …] += Aᵀ Tᵀ of the accumulated wrenches, which are cleared."""
    o = structure[EXTENSION]
    count, first = structure[o + PATHS], structure[o + POSES]
    for r in range(count):
        i = structure[structure[o + PATH] + count - 1 - r]
        row = HEADER + i * ROW
        kind, at = structure[row + KIND], structure[row + PARAMETERS]
        l, k, x = taken(work, first + i)
        p = offset + structure[row + V]
        if kind == TURN:
            st(out, p, ld(out, p) + (k[2] + x))
            l, k = turn_to_parent(parameters, structure[row + FLAGS], work, i, at, l, k)
        else:
            q = components(kind, parameters[at + PITCH], l, k)
            for d in range(freedom(kind)):
                st(out, p + d, ld(out, p + d) + (q[d] + x))
            l, k = to_parent(t, y, parameters, structure, work, i, row, at, l, k)
        pass_on(work, first + structure[row + PARENT], l, k)
    taken(work, first + structure[ROWS])
