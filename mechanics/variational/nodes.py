"""Nodes of the variational step: where the rows are, what pulls at them, and the momenta the step aims at."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st2
from liegroup.compile.scalars import sincos
from liegroup.formulas.vectors import add, cross, scale
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.joints.element import BALL, MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.rows import constant_turn_up, orientation, position, prescribed, put, three, vector
from mechanics.model.packing import (
    COS_ALPHA,
    COS_GAMMA,
    COS_THETA,
    FIRST,
    FLAGS,
    HEADER,
    HEAVY,
    KIND,
    LEAF,
    MOMENT,
    N_Q,
    PARAMETERS,
    PARENT,
    PITCH,
    RHO,
    ROW,
    ROWS,
    SIDE,
    SIN_ALPHA,
    SIN_GAMMA,
    SIN_THETA,
    THETA,
    TREE_MASS,
    Q,
    V,
)
from mechanics.model.packing import MASS as ROW_MASS
from mechanics.model.packing import TENSOR as ROW_TENSOR
from mechanics.variational.matrices import product, transpose, turn_about_z
from mechanics.variational.workspace import (
    COM,
    COS0,
    ETA,
    FORCE,
    G0,
    MASS,
    MATRIX,
    RHO0,
    SIN0,
    TARGET,
    TENSOR,
    freedom,
    matrix,
    put_along,
    put_matrix,
)

# --- placement
# ----------------------------------------------------------------------------------------------------------


@helper
def constant_turn(parameters: Any, flags: Any, at: Any) -> Any:
    """(Rz(γ) Rx(α))ᵀ, parent → row components but for the turn about z."""
    c, s = parameters[at + COS_ALPHA], parameters[at + SIN_ALPHA]
    if flags & SIDE:
        g, k = parameters[at + COS_GAMMA], parameters[at + SIN_GAMMA]
        return g, k, 0.0, -c * k, c * g, s, s * k, -s * g, c
    return 1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c


@helper
def place(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any) -> None:
    """G and ρ (both in parent axes) of a row at the configuration y and time t: node k."""
    row = HEADER + i * ROW
    kind, q, at, flags = structure[row + KIND], structure[row + Q], structure[row + PARAMETERS], structure[row + FLAGS]
    G, rho = constant_turn(parameters, flags, at), constant_turn_up(parameters, flags, at, three(parameters, at + RHO))
    if kind in (TURN, SCREW):
        s, c = sincos(ld(y, q) + parameters[at + THETA])
        st2(work, i, COS0, c)
        st2(work, i, SIN0, s)
        put_matrix(work, i, G0, turn_about_z(s, c, G))
        put(work, i, RHO0, add(rho, scale(parameters[at + PITCH] * ld(y, q), G[6:])))
    elif kind == MOVED_TURN:
        x, _ = prescribed(t, parameters, structure, row)
        sine, cosine = sincos(x + parameters[at + THETA])
        put_matrix(work, i, G0, turn_about_z(sine, cosine, G))
        put(work, i, RHO0, rho)
    else:
        H = turn_about_z(parameters[at + SIN_THETA], parameters[at + COS_THETA], G)
        place_other(t, y, parameters, structure, row, work, i, H, rho)


@kernel
def place_other(t: Any, y: Any, parameters: Any, structure: Any, row: Any, work: Any, i: Any, H: Any, rho: Any) -> None:
    """G and ρ of a row that is not a turn about its axis; H and `rho` in its neutral configuration."""
    kind, q = structure[row + KIND], structure[row + Q]
    if kind == SLIDE:
        put_matrix(work, i, G0, H)
        put(work, i, RHO0, add(rho, scale(ld(y, q), H[6:])))
    elif kind == MOVED_SLIDE:
        put_matrix(work, i, G0, H)
        put(work, i, RHO0, add(rho, scale(prescribed(t, parameters, structure, row)[0], H[6:])))
    elif kind == PLANE:
        s, c = sincos(ld(y, q + 2))
        put_matrix(work, i, G0, turn_about_z(s, c, H))
        put(work, i, RHO0, add(rho, add(scale(ld(y, q), H[:3]), scale(ld(y, q + 1), H[3:6]))))
    elif kind == BALL:
        put_matrix(work, i, G0, product(transpose(orientation(y, structure, row)), H))
        put(work, i, RHO0, rho)
    else:
        put_matrix(work, i, G0, product(transpose(orientation(y, structure, row)), H))
        put(work, i, RHO0, add(rho, rotated_back(H, position(y, structure, row))))


@helper
def load(parameters: Any, structure: Any, rate: Any, work: Any, i: Any) -> None:
    """Mass centre of a row, and tensor about it and mass times `rate` = 1/h."""
    row = HEADER + i * ROW
    at = structure[row + PARAMETERS]
    if structure[row + FLAGS] & HEAVY:
        m, J = parameters[at + ROW_MASS], at + ROW_TENSOR
        k = 0.0 if m == 0.0 else 1.0 / m
        x, y, z = k * parameters[at + MOMENT], k * parameters[at + MOMENT + 1], k * parameters[at + MOMENT + 2]
        put(work, i, COM, (x, y, z))
        st2(work, i, MASS, rate * m)
        st2(work, i, TENSOR, rate * (parameters[J] - m * (y * y + z * z)))
        st2(work, i, TENSOR + 1, rate * (parameters[J + 1] + m * (x * y)))
        st2(work, i, TENSOR + 2, rate * (parameters[J + 2] + m * (x * z)))
        st2(work, i, TENSOR + 3, rate * (parameters[J + 3] - m * (x * x + z * z)))
        st2(work, i, TENSOR + 4, rate * (parameters[J + 4] + m * (y * z)))
        st2(work, i, TENSOR + 5, rate * (parameters[J + 5] - m * (x * x + y * y)))


# --- forces and targets
# ---------------------------------------------------------------------------------------------------


@kernel
def forces(parameters: Any, structure: Any, work: Any, column: Any, to: Any) -> None:
    """Q of gravity into the columns from `to` on: Aᵀ (m g, c × g) with the mass m and first moment c of each subtree.

    The placement is read from `column` on; overwrites `ETA` and `MATRIX`.
    """
    gravity(parameters, structure, work, column)
    for i in range(structure[ROWS] - 1, -1, -1):
        weigh(parameters, structure, work, i, column, to)


@kernel
def gravity(parameters: Any, structure: Any, work: Any, column: Any) -> None:
    """g in the axes of every row, into `ETA`."""
    n = structure[ROWS]
    put(work, n, ETA, three(parameters, 0))
    for i in range(n):
        put(work, i, ETA, rotated(matrix(work, i, column), vector(work, structure[HEADER + i * ROW + PARENT], ETA)))


@helper
def weigh(parameters: Any, structure: Any, work: Any, i: Any, column: Any, to: Any) -> None:
    """Q of gravity on a row; the first moment of its subtree goes on to the parent."""
    row = HEADER + i * ROW
    at, flags, parent = structure[row + PARAMETERS], structure[row + FLAGS], structure[row + PARENT]
    g, c = vector(work, i, ETA), three(parameters, at + MOMENT)
    if flags & LEAF:
        put(work, i, MATRIX, c)
    else:
        put(work, i, MATRIX, add(c, vector(work, i, MATRIX)))
    moment, m = vector(work, i, MATRIX), parameters[at + TREE_MASS]
    put_along(work, i, to, structure[row + KIND], parameters[at + PITCH], scale(m, g), cross(moment, g))
    moment = add(rotated_back(matrix(work, i, column), moment), scale(m, vector(work, i, column + 9)))
    if flags & FIRST:
        put(work, parent, MATRIX, moment)
    else:
        put(work, parent, MATRIX, add(vector(work, parent, MATRIX), moment))


@helper
def aim(structure: Any, half: Any, y: Any, work: Any, i: Any) -> None:
    """p̂ = p + (h/2) Q of a row; y = (q, p)."""
    row = HEADER + i * ROW
    v = structure[N_Q] + structure[row + V]
    for j in range(freedom(structure[row + KIND])):
        st2(work, i, TARGET + j, ld(y, v + j) + half * ld2(work, i, FORCE + j))
