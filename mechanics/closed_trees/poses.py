"""World poses of the links where closures and forces act, their screws, and the sums of wrenches on the way to the
base.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st, st2
from liegroup.compile.dense import st_on
from liegroup.compile.scalars import absolute, maximum
from liegroup.formulas.vectors import add, cross
from mechanics.closed_trees.layout import (
    ACCUMULATED,
    ALONG_JOINT,
    closures_of,
    equation_of,
    on_path,
    on_path_up,
    scale_of,
)
from mechanics.constraints.body_equations import COUPLING, GIVEN, equation_numbers, rates_by_kind, screws_by_kind
from mechanics.constraints.coupling_equations import (
    coupling_of,
    coupling_rates,
    coupling_value,
    gradient,
    gradient_rate,
    joint,
)
from mechanics.constraints.given_equations import given_rates, given_screws
from mechanics.joints.element import TURN
from mechanics.kernels.impulses import components, to_parent, turn_to_parent
from mechanics.kernels.links import direction_down, freedom, moment_up, put, vector
from mechanics.kernels.sweeps import add_to
from mechanics.model.layout import header_of, link_of, numbers_of

GRAIN = 2e-16
"""Rounding of a pose, relative to its size."""


@helper
def add_at(work: Any, line: Any, column: Any, x: Any) -> None:
    """work[line, column] += x."""
    st2(work, line, column, ld2(work, line, column) + x)


@helper
def pose(work: Any, line: Any) -> Any:
    """R (nine numbers, link axes → world) and x of a line of poses."""
    a, b, c = vector(work, line, 0), vector(work, line, 3), vector(work, line, 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]), vector(work, line, 9)


@kernel
def poses(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """R and x of the links between the closing bodies and the base; the accumulators are cleared."""
    closures, n = closures_of(structure), header_of(structure).links
    first = closures.poses
    for column in range(ALONG_JOINT + 1):
        st2(work, first + n, column, 0.0)
    for column in (0, 4, 8):
        st2(work, first + n, column, 1.0)
    for k in range(closures.path_length):
        i = on_path(structure, closures, k)
        link = link_of(structure, i)
        R, x = pose(work, first + link.parent)
        zero = R[0] - R[0]
        rho = moment_up(t, y, parameters, work, i, link, (zero, zero, zero), 1.0)
        put(work, first + i, 0, direction_down(y, parameters, work, i, link, (R[0], R[1], R[2])))
        put(work, first + i, 3, direction_down(y, parameters, work, i, link, (R[3], R[4], R[5])))
        put(work, first + i, 6, direction_down(y, parameters, work, i, link, (R[6], R[7], R[8])))
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


@kernel
def equation_screws(parameters: Any, structure: Any, work: Any, c: Any) -> Any:
    """φ, W_i, W_j of equation c, not scaled."""
    closures = closures_of(structure)
    return screws_of(parameters, structure, closures, equation_of(structure, closures, c), work)


@helper
def screws_of(parameters: Any, structure: Any, closures: Any, e: Any, work: Any) -> Any:
    """φ, W_i, W_j of an equation between two bodies, not scaled: one of the closures', or a compliant one."""
    R_i, x_i = pose(work, closures.poses + e.first)
    R_j, x_j = pose(work, closures.poses + e.second)
    return screws_at(parameters, structure, e, work, closures.registers, R_i, x_i, R_j, x_j)


@helper
def screws_at(
    parameters: Any, structure: Any, e: Any, work: Any, registers: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any
) -> Any:
    """The same at poses of the two links, of any scalar type; line `registers` of `work` is for a tape."""
    x = equation_numbers(parameters, e.numbers)
    if e.kind == GIVEN:
        return given_screws(
            parameters, e.numbers, structure, e.code, work, registers, x.a, x.p, x.b, x.q, R_i, x_i, R_j, x_j
        )
    return screws_by_kind(e.kind, x.a, x.p, x.b, x.q, x.length, R_i, x_i, R_j, x_j)


@kernel
def equation_rates(parameters: Any, structure: Any, work: Any, c: Any) -> Any:
    """N_i, N_j of equation c, not scaled, with the twists of the bodies in the first columns of their links."""
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    R_i, x_i = pose(work, closures.poses + e.first)
    R_j, x_j = pose(work, closures.poses + e.second)
    v_i, w_i = vector(work, e.first, 0), vector(work, e.first, 3)
    v_j, w_j = vector(work, e.second, 0), vector(work, e.second, 3)
    return rates_at(parameters, structure, e, work, closures.registers, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)


@helper
def rates_at(
    parameters: Any, structure: Any, e: Any, work: Any, registers: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any,
    v_i: Any, w_i: Any, v_j: Any, w_j: Any,
) -> Any:  # fmt: skip
    """The same at poses and twists of the two links, of any scalar type."""
    x = equation_numbers(parameters, e.numbers)
    if e.kind == GIVEN:
        return given_rates(
            parameters, e.numbers, structure, e.code, work, registers,
            x.a, x.p, x.b, x.q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j,
        )  # fmt: skip
    return rates_by_kind(e.kind, x.a, x.p, x.b, x.q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)


@kernel
def screws(y: Any, parameters: Any, structure: Any, work: Any, count: Any) -> None:
    """φ (not scaled) and the scaled screws W_i, W_j, or g, of the first `count` equations."""
    closures = closures_of(structure)
    gaps, registers = closures.gap, closures.registers
    for c in range(count):
        e, line = equation_of(structure, closures, c), closures.screws + c
        scale = scale_of(parameters, e)
        if e.kind == COUPLING:
            st_on(work, gaps, c, coupling_value(y, parameters, e.numbers, structure, e.code, work, registers))
            coupling = coupling_of(structure, e.code)
            for j in range(coupling.joints):
                st2(work, line, j, scale * gradient(structure, coupling, work, registers, j))
        else:
            phi, W_i, W_j = equation_screws(parameters, structure, work, c)
            st_on(work, gaps, c, phi)
            for k in range(6):
                st2(work, line, k, scale * W_i[k])
                st2(work, line, 6 + k, scale * W_j[k])


# --- a row of G and its rate, whatever it acts on ---------------------------------------------------------------------


@kernel
def push(structure: Any, work: Any, c: Any, x: Any) -> None:
    """x times row c of G into the accumulators."""
    closures = closures_of(structure)
    e, screw, first = equation_of(structure, closures, c), closures.screws + c, closures.poses
    if e.kind == COUPLING:
        coupling = coupling_of(structure, e.code)
        for j in range(coupling.joints):
            add_at(work, first + joint(structure, coupling, j).link, ALONG_JOINT, x * ld2(work, screw, j))
    else:
        for k in range(6):
            add_at(work, first + e.first, ACCUMULATED + k, x * ld2(work, screw, k))
        for k in range(6):
            add_at(work, first + e.second, ACCUMULATED + k, x * ld2(work, screw, 6 + k))


@kernel
def push_rate(y: Any, v: Any, offset: Any, parameters: Any, structure: Any, work: Any, c: Any, x: Any) -> None:
    """x times row c of Ġ into the accumulators; twists are in the links, joint velocities in v[offset …]."""
    closures = closures_of(structure)
    e, first = equation_of(structure, closures, c), closures.poses
    x = x * scale_of(parameters, e)
    if e.kind == COUPLING:
        coupling, registers = coupling_of(structure, e.code), closures.registers
        coupling_rates(y, v, offset, parameters, e.numbers, structure, e.code, work, registers)
        for j in range(coupling.joints):
            add_at(
                work,
                first + joint(structure, coupling, j).link,
                ALONG_JOINT,
                x * gradient_rate(structure, coupling, work, registers, j),
            )
    else:
        N_i, N_j = equation_rates(parameters, structure, work, c)
        for k in range(6):
            add_at(work, first + e.first, ACCUMULATED + k, x * N_i[k])
            add_at(work, first + e.second, ACCUMULATED + k, x * N_j[k])


@kernel
def closing_rate(v: Any, offset: Any, structure: Any, work: Any, c: Any) -> Any:
    """φ̇ of equation c, scaled; twists are in the links, joint velocities in v[offset …]."""
    closures = closures_of(structure)
    e, screw = equation_of(structure, closures, c), closures.screws + c
    x = 0.0 * ld2(work, screw, 0)
    if e.kind == COUPLING:
        coupling = coupling_of(structure, e.code)
        for j in range(coupling.joints):
            x = x + ld2(work, screw, j) * ld(v, offset + joint(structure, coupling, j).v)
    else:
        x = x + along_bodies(structure, work, c, 0)
    return x


@helper
def along_bodies(structure: Any, work: Any, c: Any, column: Any) -> Any:
    """W_i · (six numbers of link i, from `column` on) + W_j · (those of link j)."""
    closures = closures_of(structure)
    e, screw = equation_of(structure, closures, c), closures.screws + c
    i, j = e.first, e.second
    x = 0.0 * ld2(work, screw, 0)
    for k in range(6):
        x = x + (ld2(work, screw, k) * ld2(work, i, column + k) + ld2(work, screw, 6 + k) * ld2(work, j, column + k))
    return x


@kernel
def closing_bias(y: Any, offset: Any, parameters: Any, structure: Any, work: Any, c: Any, column: Any) -> Any:
    """φ̈ of equation c at v̇ = 0, scaled; twists are in the links, accelerations from `column` on, velocities in
    y[offset …].
    """
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    scale, x = scale_of(parameters, e), 0.0 * ld2(work, closures.screws + c, 0)
    if e.kind == COUPLING:
        coupling, registers = coupling_of(structure, e.code), closures.registers
        coupling_rates(y, y, offset, parameters, e.numbers, structure, e.code, work, registers)
        for j in range(coupling.joints):
            rate = gradient_rate(structure, coupling, work, registers, j)
            x = x + rate * ld(y, offset + joint(structure, coupling, j).v)
        return scale * x
    N_i, N_j = equation_rates(parameters, structure, work, c)
    for k in range(6):
        x = x + (N_i[k] * ld2(work, e.first, k) + N_j[k] * ld2(work, e.second, k))
    return along_bodies(structure, work, c, column) + scale * x


# --- the way to the base ----------------------------------------------------------------------------------------------


@helper
def taken(work: Any, line: Any) -> Any:
    """The accumulated momentum of a link, and that along its joint, which are cleared."""
    l, k, x = vector(work, line, ACCUMULATED), vector(work, line, ACCUMULATED + 3), ld2(work, line, ALONG_JOINT)
    for column in range(ACCUMULATED, ALONG_JOINT + 1):
        st2(work, line, column, 0.0)
    return l, k, x


@helper
def _lift(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any, first: Any, i: Any
) -> Any:  # fmt: skip
    """The accumulated wrench of link i along its joint, and over to its parent, whose number is returned."""
    link = link_of(structure, i)
    kind = link.kind
    l, k, x = taken(work, first + i)
    p = offset + link.v
    if kind == TURN:
        st(out, p, ld(out, p) + (k[2] + x))
        l, k = turn_to_parent(parameters, link, work, i, l, k)
    else:
        q = components(kind, numbers_of(parameters, link).pitch, l, k)
        for d in range(freedom(kind)):
            st(out, p + d, ld(out, p + d) + (q[d] + x))
        l, k = to_parent(t, y, parameters, work, i, link, l, k)
    add_to(work, first + link.parent, ACCUMULATED, l, k)
    return link.parent


@kernel
def gather(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """out[offset …] += Aᵀ Tᵀ of the accumulated wrenches, which are cleared."""
    closures = closures_of(structure)
    first = closures.poses
    for r in range(closures.path_length):
        i = on_path_up(structure, closures, r)
        _lift(t, y, parameters, structure, work, out, offset, first, i)
    taken(work, first + header_of(structure).links)


@kernel
def gather_moving(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any, rates: Any, rates_at: Any
) -> None:  # fmt: skip
    """The same of momenta, and rates[rates_at …] −= Aᵀ Ω(V) times them: what they are in the axes of links that move
    with the twists which are in them.
    """
    closures = closures_of(structure)
    first = closures.poses
    for r in range(closures.path_length):
        i = on_path_up(structure, closures, r)
        link = link_of(structure, i)
        v, w = vector(work, i, 0), vector(work, i, 3)
        l, k = vector(work, first + i, ACCUMULATED), vector(work, first + i, ACCUMULATED + 3)
        f, m = cross(w, l), add(cross(w, k), cross(v, l))
        q, p = components(link.kind, numbers_of(parameters, link).pitch, f, m), rates_at + link.v
        for d in range(freedom(link.kind)):
            st(rates, p + d, ld(rates, p + d) - q[d])
        _lift(t, y, parameters, structure, work, out, offset, first, i)
    taken(work, first + header_of(structure).links)


@kernel
def gather_row(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any, c: Any) -> None:
    """out[offset …] += row c of G: the joints it couples, or those between its two bodies and the base and no other."""
    closures, base = closures_of(structure), header_of(structure).links
    e, first = equation_of(structure, closures, c), closures.poses
    push(structure, work, c, 1.0)
    if e.kind == COUPLING:
        coupling = coupling_of(structure, e.code)
        for k in range(coupling.joints):
            _lift(t, y, parameters, structure, work, out, offset, first, joint(structure, coupling, k).link)
    else:
        i, j = e.first, e.second
        while i != base or j != base:
            low = j if i == base or (j != base and j > i) else i  # parents have smaller numbers
            up = _lift(t, y, parameters, structure, work, out, offset, first, low)
            i, j = up if i == low else i, up if j == low else j
    taken(work, first + base)


@kernel
def extent(structure: Any, field_work: Any) -> Any:
    """The largest coordinate of a link where something acts; 0 where nothing does."""
    closures = closures_of(structure)
    size = 0.0 * ld2(field_work, closures.poses, 0)
    for r in range(closures.path_length):
        line = closures.poses + on_path(structure, closures, r)
        for k in range(9, 12):
            size = maximum(size, absolute(ld2(field_work, line, k)))
    return size
