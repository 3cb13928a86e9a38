"""ERA: recursive solution of the Hamiltonian equations of a tree in linear time, the kernel.

From (q, p) to (s, ṗ), Ivanov and Shimanovsky, eq. (18), with the sign of π* corrected (plus).  From the leaves to the base

    A_iᵀ M*_i A_i = Lᵀ D L (one degree of freedom after another),  M*_k += C_iᵀ M^a_i C_i,   π*_k += C_iᵀ π^a_i,

with the inertia M^a and momentum π^a that are left after the elimination, and from the base to the leaves

    w = C_i V_k,   s_i from the eliminations,   V_i = w + A_i s_i + Vᴶ_i,   P*_i = M^a_i w + π^a_i,
    ṗ_i = −A_iᵀ Ω(V_i) P*_i + A_iᵀ F*_i + τ_i − d_i s_i,

where P*_i is what the paper computes as M*_i V_i + π*_i.  Bases A_i are constant in child axes, so that Ȧ = 0: a joint of several
elementary motions is several rows.  Gravity needs no sweep of its own: F*_i = (m g, c × g) with the mass m and the first
moment c of the subtree.  `reference.py` is the readable statement of the same algorithm.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st, st2
from liegroup.formulas.vectors import add, cross
from liegroup.scalars import sincos
from mechanics.algorithms.sweeps import apply_wrench, clear
from mechanics.hamiltonian.eliminations import (
    eliminate_ax,
    eliminate_ay,
    eliminate_az,
    eliminate_linear,
    eliminate_lx,
    eliminate_ly,
    eliminate_lz,
)
from mechanics.joints.element import BALL, FLOAT, MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.packing import (
    BODIES,
    COS,
    COS_ALPHA,
    COS_GAMMA,
    DAMPING,
    FIRST,
    FLAGS,
    HEADER,
    HEAVY,
    KIND,
    LEAF,
    MASS,
    MOMENT,
    N_Q,
    N_V,
    PARAMETERS,
    PARENT,
    PITCH,
    RHO,
    ROW,
    ROWS,
    SHIFT,
    SIDE,
    SIN,
    SIN_ALPHA,
    SIN_GAMMA,
    TENSOR,
    THETA,
    TREE_MASS,
    A,
    C,
    F,
    H,
    J,
    K,
    L,
    Q,
    V,
)
from mechanics.rows import (
    constant_turn_down,
    constant_turn_up,
    direction_down,
    moment_up,
    orientation,
    plane_position,
    prescribed,
    put,
    set_angle,
    three,
    twist_down,
    vector,
    wrench_up,
)
from mechanics.screws import (
    congruence,
    shift_inertia,
    shift_null,
    slide_inertia,
    turn_inertia_x,
    turn_inertia_z,
    turn_null,
    turn_symmetric,
    turn_z,
    unturn_z,
)

GRAVITY = 6
"""Column where the downward pass keeps gravity in row axes; the twist is in 0 … 5."""


# --- up: inertias and momenta of the subtrees -------------------------------------------------------------------------------


@helper
def _symmetric(work: Any, i: Any, column: Any) -> Any:
    return (*vector(work, i, column), *vector(work, i, column + 3))


@helper
def _full(work: Any, i: Any, column: Any) -> Any:
    return (*vector(work, i, column), *vector(work, i, column + 3), *vector(work, i, column + 6))


@helper
def _put_inertia(work: Any, i: Any, a: Any, h: Any, j: Any) -> None:
    put(work, i, A, (a[0], a[1], a[2]))
    put(work, i, A + 3, (a[3], a[4], a[5]))
    put(work, i, H, (h[0], h[1], h[2]))
    put(work, i, H + 3, (h[3], h[4], h[5]))
    put(work, i, H + 6, (h[6], h[7], h[8]))
    put(work, i, J, (j[0], j[1], j[2]))
    put(work, i, J + 3, (j[3], j[4], j[5]))


@helper
def _with_own(parameters: Any, at: Any, a: Any, h: Any, j: Any) -> Any:
    """The inertia of the children and that of the row's own body."""
    m, x, y, z = parameters[at + MASS], parameters[at + MOMENT], parameters[at + MOMENT + 1], parameters[at + MOMENT + 2]
    o = at + TENSOR
    return (
        (a[0] + m, a[1], a[2], a[3] + m, a[4], a[5] + m),
        (h[0], h[1] + z, h[2] - y, h[3] - z, h[4], h[5] + x, h[6] + y, h[7] - x, h[8]),
        (
            j[0] + parameters[o],
            j[1] + parameters[o + 1],
            j[2] + parameters[o + 2],
            j[3] + parameters[o + 3],
            j[4] + parameters[o + 4],
            j[5] + parameters[o + 5],
        ),
    )


@helper
def _sheared(a: Any, h: Any, j: Any, l: Any, k: Any, pitch: Any) -> Any:
    """Inertia and momentum in the velocities (v − pitch ω_z e_z, ω), in which a screw is a turn."""
    hz = h[8] + pitch * a[5]
    return (
        (h[0], h[1], h[2] + pitch * a[2], h[3], h[4], h[5] + pitch * a[4], h[6], h[7], hz),
        (j[0], j[1], j[2] + pitch * h[6], j[3], j[4] + pitch * h[7], j[5] + pitch * (h[8] + hz)),
        (k[0], k[1], k[2] + pitch * l[2]),
    )


@helper
def _eliminated(y: Any, p: Any, parameters: Any, kind: Any, at: Any, a: Any, h: Any, j: Any, l: Any, k: Any) -> Any:
    """Eliminate the degrees of freedom of a row, the last first; packed as `eliminations` says."""
    if kind == SLIDE:
        a, h, j, l, k = eliminate_lz(a, h, j, l, k, ld(y, p))
    elif kind == SCREW:
        h, j, k = _sheared(a, h, j, l, k, parameters[at + PITCH])
        a, h, j, l, k = eliminate_az(a, h, j, l, k, ld(y, p))
    elif kind == PLANE:
        a, h, j, l, k = eliminate_az(a, h, j, l, k, ld(y, p + 2))
        a, h, j, l, k = eliminate_ly(a, h, j, l, k, ld(y, p + 1))
        a, h, j, l, k = eliminate_lx(a, h, j, l, k, ld(y, p))
    elif kind == BALL:
        a, h, j, l, k = eliminate_az(a, h, j, l, k, ld(y, p + 2))
        a, h, j, l, k = eliminate_ay(a, h, j, l, k, ld(y, p + 1))
        a, h, j, l, k = eliminate_ax(a, h, j, l, k, ld(y, p))
    elif kind == FLOAT:
        a, h, j, l, k = eliminate_az(a, h, j, l, k, ld(y, p + 5))
        a, h, j, l, k = eliminate_ay(a, h, j, l, k, ld(y, p + 4))
        a, h, j, l, k = eliminate_ax(a, h, j, l, k, ld(y, p + 3))
        a, l = eliminate_linear(a, l, (ld(y, p), ld(y, p + 1), ld(y, p + 2)))
    return a, h, j, l, k


@helper
def _left(y: Any, p: Any, parameters: Any, kind: Any, at: Any, l: Any, k: Any) -> Any:
    """The momentum that is left after the elimination: p in its own directions."""
    if kind == SLIDE:
        l = l[0], l[1], ld(y, p)
    elif kind == SCREW:
        k = k[0], k[1], ld(y, p) - parameters[at + PITCH] * l[2]
    elif kind == PLANE:
        l, k = (ld(y, p), ld(y, p + 1), l[2]), (k[0], k[1], ld(y, p + 2))
    elif kind == BALL:
        k = ld(y, p), ld(y, p + 1), ld(y, p + 2)
    elif kind == FLOAT:
        l, k = (ld(y, p), ld(y, p + 1), ld(y, p + 2)), (ld(y, p + 3), ld(y, p + 4), ld(y, p + 5))
    return l, k


@helper
def _inertia_up(t: Any, y: Any, parameters: Any, structure: Any, row: Any, at: Any, c: Any, s: Any, a: Any, h: Any, j: Any) -> Any:
    """The inertia left after the elimination, about the origin and in the axes of the parent: Cᵀ M^a C."""
    kind, q, zero = structure[row + KIND], structure[row + Q], c - c
    if kind == SLIDE:
        a, h = (a[0], a[1], zero, a[3], zero, zero), (h[0], h[1], h[2], h[3], h[4], h[5], zero, zero, zero)
        a, h, j = slide_inertia(a, h, j, ld(y, q))
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    elif kind == SCREW:
        pitch = parameters[at + PITCH]
        j = j[0], j[1], -pitch * h[6], j[3], -pitch * h[7], pitch * (pitch * a[5])
        h = h[0], h[1], -pitch * a[2], h[3], h[4], -pitch * a[4], h[6], h[7], -pitch * a[5]
        a, h, j = slide_inertia(a, h, j, pitch * ld(y, q))
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    elif kind == PLANE:
        a, h = (zero, zero, zero, zero, zero, a[5]), (zero, zero, zero, zero, zero, zero, h[6], h[7], zero)
        j = j[0], j[1], zero, j[3], zero, zero
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
        x = plane_position(y, parameters, structure, row, at)
        a, h, j = shift_inertia(a, h, j, x[0], x[1], x[2])
    elif kind == BALL:
        a = turn_symmetric(congruence(orientation(y, structure, row), a), c, s, c * s, s * s)
        h, j = (zero, zero, zero, zero, zero, zero, zero, zero, zero), (zero, zero, zero, zero, zero, zero)
    elif kind == FLOAT:
        a, j = (zero, zero, zero, zero, zero, zero), (zero, zero, zero, zero, zero, zero)
        h = zero, zero, zero, zero, zero, zero, zero, zero, zero
    else:
        if kind == MOVED_SLIDE:
            a, h, j = slide_inertia(a, h, j, prescribed(t, parameters, structure, row)[0])
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    if kind != PLANE and structure[row + FLAGS] & SHIFT:
        a, h, j = shift_inertia(a, h, j, parameters[at + RHO], parameters[at + RHO + 1], parameters[at + RHO + 2])
    return _constant_turn_up(parameters, structure[row + FLAGS], at, a, h, j)


@helper
def _constant_turn_up(parameters: Any, flags: Any, at: Any, a: Any, h: Any, j: Any) -> Any:
    """Rz(γ) Rx(α) on an inertia."""
    c, s = parameters[at + COS_ALPHA], parameters[at + SIN_ALPHA]
    a, h, j = turn_inertia_x(a, h, j, c, s, c * s, s * s)
    if flags & SIDE:
        c, s = parameters[at + COS_GAMMA], parameters[at + SIN_GAMMA]
        a, h, j = turn_inertia_z(a, h, j, c, s, c * s, s * s)
    return a, h, j


@helper
def _add_inertia(work: Any, i: Any, first: Any, a: Any, h: Any, j: Any, l: Any, k: Any, c: Any) -> None:
    """Into the row of the parent; the first child writes."""
    if first:
        _put_inertia(work, i, a, h, j)
        put(work, i, L, l)
        put(work, i, K, k)
        put(work, i, C, c)
    else:
        _add_three(work, i, A, (a[0], a[1], a[2]))
        _add_three(work, i, A + 3, (a[3], a[4], a[5]))
        _add_three(work, i, H, (h[0], h[1], h[2]))
        _add_three(work, i, H + 3, (h[3], h[4], h[5]))
        _add_three(work, i, H + 6, (h[6], h[7], h[8]))
        _add_three(work, i, J, (j[0], j[1], j[2]))
        _add_three(work, i, J + 3, (j[3], j[4], j[5]))
        _add_three(work, i, L, l)
        _add_three(work, i, K, k)
        _add_three(work, i, C, c)


@helper
def _add_three(work: Any, i: Any, column: Any, a: Any) -> None:
    put(work, i, column, add(vector(work, i, column), a))


@helper
def _gathered(parameters: Any, flags: Any, work: Any, i: Any, at: Any) -> Any:
    """Inertia, momentum and first moment of the subtree: those of the children and of the row's own body."""
    if flags & LEAF:
        zero = ld2(work, i, COS) - ld2(work, i, COS)
        l = k = moment = zero, zero, zero
        a = j = zero, zero, zero, zero, zero, zero
        h = zero, zero, zero, zero, zero, zero, zero, zero, zero
    else:
        a, h, j = _symmetric(work, i, A), _full(work, i, H), _symmetric(work, i, J)
        l, k, moment = vector(work, i, L), vector(work, i, K), vector(work, i, C)
    if flags & HEAVY:
        a, h, j = _with_own(parameters, at, a, h, j)
        moment = add(moment, three(parameters, at + MOMENT))
    return a, h, j, l, k, moment


@helper
def _keep(work: Any, i: Any, a: Any, h: Any, j: Any, l: Any, k: Any, moment: Any) -> None:
    _put_inertia(work, i, a, h, j)
    put(work, i, L, l)
    put(work, i, K, k)
    put(work, i, C, moment)


@helper
def _turn_up(y: Any, parameters: Any, structure: Any, work: Any, i: Any, row: Any) -> None:
    """A row of kind TURN: what `_row_up` does, straight through."""
    flags, at, parent = structure[row + FLAGS], structure[row + PARAMETERS], structure[row + PARENT]
    p = ld(y, structure[N_Q] + structure[row + V])
    s, c = sincos(ld(y, structure[row + Q]) + parameters[at + THETA])
    st2(work, i, COS, c)
    st2(work, i, SIN, s)
    a, h, j, l, k, moment = _gathered(parameters, flags, work, i, at)
    a, h, j, l, k = eliminate_az(a, h, j, l, k, p)
    _keep(work, i, a, h, j, l, k, moment)
    if parent < structure[ROWS]:
        x, y_, mass = parameters[at + RHO], parameters[at + RHO + 1], parameters[at + TREE_MASS]
        a, h, j = turn_null(a, (h[0], h[1], h[3], h[4], h[6], h[7]), (j[0], j[1], j[3]), c, s)
        a, h, j = shift_null(a, h, j, x, y_)
        a, h, j = _constant_turn_up(parameters, flags, at, a, h, j)
        l, k, moment = turn_z(l, c, s), turn_z((k[0], k[1], p), c, s), turn_z(moment, c, s)
        k = k[0] + y_ * l[2], k[1] - x * l[2], k[2] + (x * l[1] - y_ * l[0])
        moment = moment[0] + mass * x, moment[1] + mass * y_, moment[2]
        l, k = constant_turn_up(parameters, flags, at, l), constant_turn_up(parameters, flags, at, k)
        moment = constant_turn_up(parameters, flags, at, moment)
        _add_inertia(work, parent, flags & FIRST, a, h, j, l, k, moment)


@helper
def _row_up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, row: Any, pace: Any) -> None:
    """Eliminate a row of any kind and add what is left to its parent."""
    kind, flags, at, p = structure[row + KIND], structure[row + FLAGS], structure[row + PARAMETERS], structure[N_Q] + structure[row + V]
    parent = structure[row + PARENT]
    set_angle(t, y, parameters, structure, work, i, row, at)
    a, h, j, l, k, moment = _gathered(parameters, flags, work, i, at)
    if kind == MOVED_TURN:
        rate = pace * prescribed(t, parameters, structure, row)[1]
        l = l[0] + rate * h[2], l[1] + rate * h[5], l[2] + rate * h[8]
        k = k[0] + rate * j[2], k[1] + rate * j[4], k[2] + rate * j[5]
    elif kind == MOVED_SLIDE:
        rate = pace * prescribed(t, parameters, structure, row)[1]
        l = l[0] + rate * a[2], l[1] + rate * a[4], l[2] + rate * a[5]
        k = k[0] + rate * h[6], k[1] + rate * h[7], k[2] + rate * h[8]
    a, h, j, l, k = _eliminated(y, p, parameters, kind, at, a, h, j, l, k)
    _keep(work, i, a, h, j, l, k, moment)
    if parent < structure[ROWS]:
        l, k = _left(y, p, parameters, kind, at, l, k)
        a, h, j = _inertia_up(t, y, parameters, structure, row, at, ld2(work, i, COS), ld2(work, i, SIN), a, h, j)
        l, k = wrench_up(t, y, parameters, structure, work, i, row, at, l, k)
        moment = moment_up(t, y, parameters, structure, work, i, row, at, moment, parameters[at + TREE_MASS])
        _add_inertia(work, parent, flags & FIRST, a, h, j, l, k, moment)


@helper
def up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, loaded: Any, pace: Any = 1.0) -> None:
    """Eliminate from the leaves to the base; the rows keep M^a, π^a, first moments and (if loaded) F*; `pace` scales prescribed rates."""
    n = structure[ROWS]
    for i in range(n - 1, -1, -1):
        row = HEADER + i * ROW
        if structure[row + KIND] == TURN:
            _turn_up(y, parameters, structure, work, i, row)
        else:
            _row_up(t, y, parameters, structure, work, i, row, pace)
        if loaded:
            at, parent = structure[row + PARAMETERS], structure[row + PARENT]
            f, m = wrench_up(t, y, parameters, structure, work, i, row, at, vector(work, i, F), vector(work, i, F + 3))
            _add_three(work, parent, F, f)
            _add_three(work, parent, F + 3, m)


# --- down: velocities and rates of the momenta ------------------------------------------------------------------------------


@helper
def _solved_turns(h: Any, j: Any, v: Any, xi: Any) -> Any:
    """ω of a BALL or FLOAT from the eliminations of its three turns."""
    wx = j[0] * (xi[0] - ((h[0] * v[0] + h[3] * v[1]) + h[6] * v[2]))
    wy = j[3] * (xi[1] - (((h[1] * v[0] + h[4] * v[1]) + h[7] * v[2]) + j[1] * wx))
    wz = j[5] * (xi[2] - (((h[2] * v[0] + h[5] * v[1]) + h[8] * v[2]) + (j[2] * wx + j[4] * wy)))
    return wx, wy, wz


@helper
def _solved_slides(a: Any, xi: Any) -> Any:
    """v of a FLOAT from the eliminations of its three translations."""
    x = a[0] * xi[0]
    y = a[3] * (xi[1] - a[1] * x)
    return x, y, a[5] * (xi[2] - (a[2] * x + a[4] * y))


@helper
def _turn_z(h: Any, j: Any, v: Any, w: Any, xi: Any) -> Any:
    """ω_z of a joint whose turn about z was eliminated first."""
    return j[5] * (xi - (((h[2] * v[0] + h[5] * v[1]) + h[8] * v[2]) + (j[2] * w[0] + j[4] * w[1])))


@helper
def _rate_turn(v: Any, w: Any, lx: Any, ly: Any, kx: Any, ky: Any) -> Any:
    """−(v × l + w × k)_z."""
    return (v[1] * lx - v[0] * ly) + (w[1] * kx - w[0] * ky)


@helper
def _momentum_xy(a: Any, h: Any, j: Any, l: Any, k: Any, v: Any, w: Any) -> Any:
    """x and y components of P* = M^a w + π^a without anything about z."""
    return (
        ((a[0] * v[0] + a[1] * v[1]) + a[2] * v[2]) + (h[0] * w[0] + h[1] * w[1]) + l[0],
        ((a[1] * v[0] + a[3] * v[1]) + a[4] * v[2]) + (h[3] * w[0] + h[4] * w[1]) + l[1],
        ((h[0] * v[0] + h[3] * v[1]) + h[6] * v[2]) + (j[0] * w[0] + j[1] * w[1]) + k[0],
        ((h[1] * v[0] + h[4] * v[1]) + h[7] * v[2]) + (j[1] * w[0] + j[3] * w[1]) + k[1],
    )


@helper
def _output(parameters: Any, structure: Any, out: Any, o: Any, s: Any, rate: Any) -> None:
    """s, and ṗ with damping."""
    st(out, o, s)
    st(out, structure[N_V] + o, rate - parameters[structure[DAMPING] + o] * s)


@helper
def _move(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, row: Any, out: Any, v: Any, w: Any, f: Any, m: Any, pace: Any
) -> Any:
    """Velocity and rate of momentum of a row; v, w its twist without its own motion, (f, m) = F*.  Returns its twist."""
    at = structure[row + PARAMETERS]
    kind, o, p = structure[row + KIND], structure[row + V], structure[N_Q] + structure[row + V]
    a, h, j = _symmetric(work, i, A), _full(work, i, H), _symmetric(work, i, J)
    l, k = vector(work, i, L), vector(work, i, K)
    if kind == SLIDE:
        vz = a[5] * (l[2] - ((a[2] * v[0] + a[4] * v[1]) + ((h[6] * w[0] + h[7] * w[1]) + h[8] * w[2])))
        lx = (a[0] * v[0] + a[1] * v[1]) + ((h[0] * w[0] + h[1] * w[1]) + h[2] * w[2]) + l[0]
        ly = (a[1] * v[0] + a[3] * v[1]) + ((h[3] * w[0] + h[4] * w[1]) + h[5] * w[2]) + l[1]
        _output(parameters, structure, out, o, vz - v[2], (w[1] * lx - w[0] * ly) + f[2])
        v = v[0], v[1], vz
    elif kind == SCREW:
        pitch = parameters[at + PITCH]
        u = v[0], v[1], v[2] - pitch * w[2]
        wz = _turn_z(h, j, u, w, k[2])
        lx, ly, kx, ky = _momentum_xy(a, h, j, l, k, u, w)
        rate = _rate_turn(v, w, lx, ly, kx, ky) + pitch * (w[1] * lx - w[0] * ly)
        _output(parameters, structure, out, o, wz - w[2], rate + (m[2] + pitch * f[2]))
        v, w = (v[0], v[1], v[2] + pitch * (wz - w[2])), (w[0], w[1], wz)
    elif kind == PLANE:
        vx = a[0] * (l[0] - (a[2] * v[2] + (h[0] * w[0] + h[1] * w[1])))
        vy = a[3] * (l[1] - ((a[1] * vx + a[4] * v[2]) + (h[3] * w[0] + h[4] * w[1])))
        u = vx, vy, v[2]
        wz = _turn_z(h, j, u, w, k[2])
        lx, ly = ld(y, p), ld(y, p + 1)
        lz = (a[5] * v[2] + (h[6] * w[0] + h[7] * w[1])) + l[2]
        kx = h[6] * v[2] + (j[0] * w[0] + j[1] * w[1]) + k[0]
        ky = h[7] * v[2] + (j[1] * w[0] + j[3] * w[1]) + k[1]
        _output(parameters, structure, out, o, vx - v[0], (wz * ly - w[1] * lz) + f[0])
        _output(parameters, structure, out, o + 1, vy - v[1], (w[0] * lz - wz * lx) + f[1])
        _output(parameters, structure, out, o + 2, wz - w[2], _rate_turn(u, w, lx, ly, kx, ky) + m[2])
        v, w = u, (w[0], w[1], wz)
    elif kind == BALL:
        u = _solved_turns(h, j, v, k)
        lx = ((a[0] * v[0] + a[1] * v[1]) + a[2] * v[2]) + l[0]
        ly = ((a[1] * v[0] + a[3] * v[1]) + a[4] * v[2]) + l[1]
        lz = ((a[2] * v[0] + a[4] * v[1]) + a[5] * v[2]) + l[2]
        rate = add(cross((lx, ly, lz), v), cross((ld(y, p), ld(y, p + 1), ld(y, p + 2)), u))
        _output(parameters, structure, out, o, u[0] - w[0], rate[0] + m[0])
        _output(parameters, structure, out, o + 1, u[1] - w[1], rate[1] + m[1])
        _output(parameters, structure, out, o + 2, u[2] - w[2], rate[2] + m[2])
        w = u
    elif kind == FLOAT:
        x = _solved_slides(a, l)
        u = _solved_turns(h, j, x, k)
        lin, ang = (ld(y, p), ld(y, p + 1), ld(y, p + 2)), (ld(y, p + 3), ld(y, p + 4), ld(y, p + 5))
        rate = cross(lin, u)
        _output(parameters, structure, out, o, x[0] - v[0], rate[0] + f[0])
        _output(parameters, structure, out, o + 1, x[1] - v[1], rate[1] + f[1])
        _output(parameters, structure, out, o + 2, x[2] - v[2], rate[2] + f[2])
        rate = add(cross(lin, x), cross(ang, u))
        _output(parameters, structure, out, o + 3, u[0] - w[0], rate[0] + m[0])
        _output(parameters, structure, out, o + 4, u[1] - w[1], rate[1] + m[1])
        _output(parameters, structure, out, o + 5, u[2] - w[2], rate[2] + m[2])
        v, w = x, u
    elif kind == MOVED_TURN:
        w = w[0], w[1], w[2] + pace * prescribed(t, parameters, structure, row)[1]
    else:
        v = v[0], v[1], v[2] + pace * prescribed(t, parameters, structure, row)[1]
    return v, w


@helper
def _turn_down(parameters: Any, structure: Any, work: Any, i: Any, row: Any, out: Any, loaded: Any) -> None:
    """A row of kind TURN: what `_row_down` does, straight through."""
    flags, at, parent, o = structure[row + FLAGS], structure[row + PARAMETERS], structure[row + PARENT], structure[row + V]
    c, s, moment = ld2(work, i, COS), ld2(work, i, SIN), vector(work, i, C)
    x, y = parameters[at + RHO], parameters[at + RHO + 1]
    v = constant_turn_down(parameters, flags, at, vector(work, parent, 0))
    w = constant_turn_down(parameters, flags, at, vector(work, parent, 3))
    v = v[0] - y * w[2], v[1] + x * w[2], v[2] - (x * w[1] - y * w[0])
    v, w = unturn_z(v, c, s), unturn_z(w, c, s)
    g = unturn_z(constant_turn_down(parameters, flags, at, vector(work, parent, GRAVITY)), c, s)
    torque = moment[0] * g[1] - moment[1] * g[0]
    if loaded:
        torque = torque + ld2(work, i, F + 5)
    a, h, j, k = _symmetric(work, i, A), _full(work, i, H), _symmetric(work, i, J), vector(work, i, K)
    wz = _turn_z(h, j, v, w, k[2])
    lx, ly, kx, ky = _momentum_xy(a, h, j, vector(work, i, L), k, v, w)
    _output(parameters, structure, out, o, wz - w[2], _rate_turn(v, w, lx, ly, kx, ky) + torque)
    put(work, i, 0, v)
    put(work, i, 3, (w[0], w[1], wz))
    put(work, i, GRAVITY, g)


@helper
def _row_down(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any, row: Any, out: Any, loaded: Any, pace: Any) -> None:
    """Velocity and rate of momentum of a row of any kind."""
    at, parent = structure[row + PARAMETERS], structure[row + PARENT]
    v, w = twist_down(t, y, parameters, structure, work, i, row, at, vector(work, parent, 0), vector(work, parent, 3))
    g = direction_down(y, parameters, structure, work, i, row, at, vector(work, parent, GRAVITY))
    mass = parameters[at + TREE_MASS]
    f, m = (mass * g[0], mass * g[1], mass * g[2]), cross(vector(work, i, C), g)
    if loaded:
        f, m = add(f, vector(work, i, F)), add(m, vector(work, i, F + 3))
    v, w = _move(t, y, parameters, structure, work, i, row, out, v, w, f, m, pace)
    put(work, i, 0, v)
    put(work, i, 3, w)
    put(work, i, GRAVITY, g)


@helper
def down(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any, pace: Any = 1.0) -> None:
    """Velocities and rates of the momenta from the base to the leaves; the rows keep their twists (columns 0 … 5)."""
    n = structure[ROWS]
    for column in range(6):
        st2(work, n, column, 0.0)
    for column in range(3):
        st2(work, n, GRAVITY + column, parameters[column])
    for i in range(n):
        row = HEADER + i * ROW
        if structure[row + KIND] == TURN:
            _turn_down(parameters, structure, work, i, row, out, loaded)
        else:
            _row_down(t, y, parameters, structure, work, i, row, out, loaded, pace)


# --- entries ----------------------------------------------------------------------------------------------------------------


@entry(*FIELD_SIGNATURES)
def era(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) → out = (v, ṗ)."""
    up(t, y, parameters, structure, work, False)
    down(t, y, parameters, structure, work, out, False)


@entry(*FIELD_SIGNATURES)
def era_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p, τ, wrenches of all bodies) → out = (v, ṗ)."""
    n_q, n_v = structure[N_Q], structure[N_V]
    clear(structure, work, F, 6)
    for b in range(structure[BODIES]):
        apply_wrench(y, n_q + 2 * n_v + 6 * b, parameters, structure, work, b)
    up(t, y, parameters, structure, work, True)
    down(t, y, parameters, structure, work, out, True)
    for k in range(n_v):
        st(out, n_v + k, ld(out, n_v + k) + ld(y, n_q + n_v + k))


@entry(*FIELD_SIGNATURES)
def mass_solve(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, b) → out = (M⁻¹ b, scratch): the same eliminations with prescribed motions at rest."""
    up(t, y, parameters, structure, work, False, 0.0)
    down(t, y, parameters, structure, work, out, False, 0.0)
