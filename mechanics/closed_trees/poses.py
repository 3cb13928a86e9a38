"""World poses of the links where closures and forces act, their screws, and the sums of wrenches on the way to the
base.

Screws and sums stand in the axes of the world, about the origins of the links: on the way to the base nothing is
turned, and distances are those between neighbours, wherever the tree is.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st, st2
from liegroup.compile.dense import ld_on, st_on
from liegroup.compile.scalars import absolute, maximum
from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.layout import (
    ACCUMULATED,
    ALONG_JOINT,
    FROM_PARENT,
    closures_of,
    equation_of,
    on_path,
    on_path_up,
    scale_of,
)
from mechanics.constraints.body_equations import (
    ALONG,
    COUPLING,
    GIVEN,
    PARALLEL,
    along_line,
    closing_points,
    equation_numbers,
    in_axes,
    rates_in_space,
    screws_in_space,
)
from mechanics.constraints.coupling_equations import (
    coupling_of,
    coupling_rates,
    coupling_value,
    gradient,
    gradient_rate,
    joint,
)
from mechanics.constraints.given_equations import given_rates, given_screws
from mechanics.joints.element import SLIDE
from mechanics.kernels.impulses import components
from mechanics.kernels.links import direction_down, freedom, moment_up, put, vector
from mechanics.kernels.sweeps import add_to
from mechanics.model.layout import header_of, link_of, numbers_of

LOOPS = "short"

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
        rho = rotated(R, moment_up(t, y, parameters, work, i, link, (zero, zero, zero), 1.0))
        put(work, first + i, 0, direction_down(y, parameters, work, i, link, (R[0], R[1], R[2])))
        put(work, first + i, 3, direction_down(y, parameters, work, i, link, (R[3], R[4], R[5])))
        put(work, first + i, 6, direction_down(y, parameters, work, i, link, (R[6], R[7], R[8])))
        put(work, first + i, 9, add(x, rho))
        put(work, first + i, FROM_PARENT, rho)
        for column in range(ACCUMULATED, ALONG_JOINT + 1):
            st2(work, first + i, column, 0.0)


@helper
def equation_screws(parameters: Any, structure: Any, work: Any, c: Any) -> Any:
    """φ, W_i, W_j of equation c, not scaled."""
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    R_i, x_i = pose(work, closures.poses + e.first)
    R_j, x_j = pose(work, closures.poses + e.second)
    return _screws_at(parameters, structure, e, work, closures.registers, R_i, x_i, R_j, x_j)


@helper
def _screws_at(
    parameters: Any, structure: Any, e: Any, work: Any, registers: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any
) -> Any:
    x = equation_numbers(parameters, e.numbers)
    if e.kind == GIVEN:
        return given_screws(
            parameters, e.numbers, structure, e.code, work, registers, x.a, x.p, x.b, x.q, R_i, x_i, R_j, x_j
        )
    return screws_in_space(e.kind, x.a, x.p, x.b, x.q, x.length, R_i, x_i, R_j, x_j)


@helper
def screws_of(parameters: Any, structure: Any, closures: Any, e: Any, work: Any) -> Any:
    """φ, W_i, W_j of an equation between two bodies, not scaled, in the axes of the links: one of the closures', or a
    compliant one.
    """
    R_i, x_i = pose(work, closures.poses + e.first)
    R_j, x_j = pose(work, closures.poses + e.second)
    return screws_at(parameters, structure, e, work, closures.registers, R_i, x_i, R_j, x_j)


@helper
def screws_at(
    parameters: Any, structure: Any, e: Any, work: Any, registers: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any
) -> Any:
    """The same at poses of the two links, of any scalar type; line `registers` of `work` is for a tape."""
    phi, W_i, W_j = _screws_at(parameters, structure, e, work, registers, R_i, x_i, R_j, x_j)
    return phi, in_axes(R_i, W_i), in_axes(R_j, W_j)


@helper
def equation_rates(parameters: Any, structure: Any, work: Any, c: Any, a: Any) -> Any:
    """N_i, N_j of equation c, not scaled, with a direction a (`mechanics.constraints.body_equations`) and the twists of
    the bodies in the first columns of their links.
    """
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    R_i, x_i = pose(work, closures.poses + e.first)
    R_j, x_j = pose(work, closures.poses + e.second)
    v_i, w_i = vector(work, e.first, 0), vector(work, e.first, 3)
    v_j, w_j = vector(work, e.second, 0), vector(work, e.second, 3)
    return _rates_at(parameters, structure, e, a, work, closures.registers, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)


@helper
def _rates_at(
    parameters: Any, structure: Any, e: Any, a: Any, work: Any, registers: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any,
    v_i: Any, w_i: Any, v_j: Any, w_j: Any,
) -> Any:  # fmt: skip
    x = equation_numbers(parameters, e.numbers)
    if e.kind == GIVEN:
        return given_rates(
            parameters, e.numbers, structure, e.code, work, registers,
            a, x.p, x.b, x.q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j,
        )  # fmt: skip
    return rates_in_space(e.kind, a, x.p, x.b, x.q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)


@helper
def rates_at(
    parameters: Any, structure: Any, e: Any, work: Any, registers: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any,
    v_i: Any, w_i: Any, v_j: Any, w_j: Any,
) -> Any:  # fmt: skip
    """N_i, N_j at poses and twists of the two links, of any scalar type, in the axes of the links."""
    a = equation_numbers(parameters, e.numbers).a
    N_i, N_j = _rates_at(parameters, structure, e, a, work, registers, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)
    return in_axes(R_i, N_i), in_axes(R_j, N_j)


@kernel
def screws(y: Any, parameters: Any, structure: Any, work: Any, c: Any, end: Any) -> None:
    """φ (not scaled) and the scaled screws W_i, W_j, or g, of the equations from c up to `end`."""
    closures = closures_of(structure)
    gaps, registers = closures.gap, closures.registers
    while c < end:
        e, line = equation_of(structure, closures, c), closures.screws + c
        factor = scale_of(parameters, e)
        if e.kind == ALONG:
            _along(parameters, structure, work, c)
        elif e.kind == COUPLING:
            st_on(work, gaps, c, coupling_value(y, parameters, e.numbers, structure, e.code, work, registers))
            coupling = coupling_of(structure, e.code)
            for j in range(coupling.joints):
                st2(work, line, j, factor * gradient(structure, coupling, work, registers, j))
        else:
            phi, W_i, W_j = equation_screws(parameters, structure, work, c)
            st_on(work, gaps, c, phi)
            for k in range(6):
                st2(work, line, k, factor * W_i[k])
                st2(work, line, 6 + k, factor * W_j[k])
        c += e.alike


@helper
def _along(parameters: Any, structure: Any, work: Any, c: Any) -> None:
    """The same of equation c and those that are alike."""
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    first = equation_numbers(parameters, e.numbers)
    R_i, x_i = pose(work, closures.poses + e.first)
    R_j, x_j = pose(work, closures.poses + e.second)
    points = closing_points(first.p, first.q, R_i, x_i, R_j, x_j)
    for n in range(c, c + e.alike):
        x = equation_numbers(parameters, equation_of(structure, closures, n).numbers)
        phi, W_i, W_j = along_line(rotated(R_i, x.a), points)
        st_on(work, closures.gap, n, phi)
        for k in range(6):
            st2(work, closures.screws + n, k, x.scale * W_i[k])
            st2(work, closures.screws + n, 6 + k, x.scale * W_j[k])


# --- a row of G and its rate, whatever it acts on ---------------------------------------------------------------------


@helper
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


@helper
def push_rate(y: Any, v: Any, offset: Any, parameters: Any, structure: Any, work: Any, c: Any, sign: Any) -> None:
    """sign·λ times row c of Ġ, and those of the equations that are alike, into the accumulators, λ in the line of
    multipliers; twists are in the links, joint velocities in v[offset …].
    """
    closures = closures_of(structure)
    e, first = equation_of(structure, closures, c), closures.poses
    x = sign * ld_on(work, closures.multipliers, c) * scale_of(parameters, e)
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
        return
    own, one = equation_numbers(parameters, e.numbers), 0.0 * x + 1.0
    linear = e.kind == PARALLEL or e.kind == ALONG  # in the direction a
    a = scale(x if linear else one, own.a)
    for n in range(c + 1, c + e.alike):
        other = equation_numbers(parameters, equation_of(structure, closures, n).numbers)
        a = add(a, scale(sign * ld_on(work, closures.multipliers, n) * other.scale, other.a))
    N_i, N_j = equation_rates(parameters, structure, work, c, a)
    x = one if linear else x
    for k in range(6):
        add_at(work, first + e.first, ACCUMULATED + k, x * N_i[k])
    for k in range(6):
        add_at(work, first + e.second, ACCUMULATED + k, x * N_j[k])


@helper
def closing_rate(v: Any, offset: Any, structure: Any, work: Any, c: Any) -> Any:
    """φ̇ of equation c, scaled; twists are in the links, joint velocities in v[offset …]."""
    closures = closures_of(structure)
    e, screw = equation_of(structure, closures, c), closures.screws + c
    if e.kind == COUPLING:
        return coupled_rate(v, offset, structure, work, e, screw)
    return along_bodies(structure, work, c, 0)


@helper
def coupled_rate(v: Any, offset: Any, structure: Any, work: Any, e: Any, screw: Any) -> Any:
    """The same of an equation of joint coordinates."""
    x, coupling = 0.0 * ld2(work, screw, 0), coupling_of(structure, e.code)
    for j in range(coupling.joints):
        x = x + ld2(work, screw, j) * ld(v, offset + joint(structure, coupling, j).v)
    return x


@helper
def six(work: Any, poses_at: Any, i: Any, column: Any) -> Any:
    """Six numbers of link i, from `column` on, in the axes of the world."""
    R, _ = pose(work, poses_at + i)
    v, w = rotated(R, vector(work, i, column)), rotated(R, vector(work, i, column + 3))
    return v[0], v[1], v[2], w[0], w[1], w[2]


@helper
def along_bodies(structure: Any, work: Any, c: Any, column: Any) -> Any:
    """W_i · (six numbers of link i, from `column` on) + W_j · (those of link j)."""
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    a, b = six(work, closures.poses, e.first, column), six(work, closures.poses, e.second, column)
    return along_six(work, closures.screws + c, a, b)


@helper
def along_six(work: Any, screw: Any, a: Any, b: Any) -> Any:
    """W_i · a + W_j · b, six numbers each in the axes of the world."""
    x = 0.0 * ld2(work, screw, 0)
    for k in range(6):
        x = x + (ld2(work, screw, k) * a[k] + ld2(work, screw, 6 + k) * b[k])
    return x


@kernel
def closing_bias(y: Any, offset: Any, parameters: Any, structure: Any, work: Any, c: Any, column: Any) -> Any:
    """φ̈ of equation c at v̇ = 0, scaled; twists are in the links, accelerations from `column` on, velocities in
    y[offset …].
    """
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    factor, x = scale_of(parameters, e), 0.0 * ld2(work, closures.screws + c, 0)
    if e.kind == COUPLING:
        coupling, registers = coupling_of(structure, e.code), closures.registers
        coupling_rates(y, y, offset, parameters, e.numbers, structure, e.code, work, registers)
        for j in range(coupling.joints):
            rate = gradient_rate(structure, coupling, work, registers, j)
            x = x + rate * ld(y, offset + joint(structure, coupling, j).v)
        return factor * x
    N_i, N_j = equation_rates(parameters, structure, work, c, equation_numbers(parameters, e.numbers).a)
    a, b = six(work, closures.poses, e.first, 0), six(work, closures.poses, e.second, 0)
    for k in range(6):
        x = x + (N_i[k] * a[k] + N_j[k] * b[k])
    return along_bodies(structure, work, c, column) + factor * x


# --- the way to the base ----------------------------------------------------------------------------------------------


@helper
def taken(work: Any, line: Any) -> Any:
    """The accumulated momentum of a link, and that along its joint, which are cleared."""
    l, k, x = vector(work, line, ACCUMULATED), vector(work, line, ACCUMULATED + 3), ld2(work, line, ALONG_JOINT)
    for column in range(ACCUMULATED, ALONG_JOINT + 1):
        st2(work, line, column, 0.0)
    return l, k, x


@helper
def is_straight(kind: Any) -> Any:
    """Whether a link turns about or slides along one axis, z."""
    return kind <= SLIDE


@helper
def axis_of(work: Any, line: Any) -> Any:
    """z of a link, in the axes of the world."""
    return ld2(work, line, 2), ld2(work, line, 5), ld2(work, line, 8)


@helper
def hand_over(structure: Any, work: Any, first: Any, i: Any, parent: Any, l: Any, k: Any) -> None:
    """A momentum or wrench about the origin of link i to the accumulated one of its parent, but for the base."""
    if parent < header_of(structure).links:
        add_to(work, first + parent, ACCUMULATED, l, add(k, cross(vector(work, first + i, FROM_PARENT), l)))


@helper
def _lift(
    parameters: Any, structure: Any, work: Any, out: Any, offset: Any, first: Any, i: Any
) -> Any:  # fmt: skip
    """The accumulated wrench of link i along its joint, and over to its parent, whose number is returned."""
    link = link_of(structure, i)
    kind = link.kind
    l, k, x = taken(work, first + i)
    p = offset + link.v
    if is_straight(kind):
        st(out, p, ld(out, p) + (dot(axis_of(work, first + i), l if kind == SLIDE else k) + x))
    else:
        R, _ = pose(work, first + i)
        q = components(kind, numbers_of(parameters, link).pitch, rotated_back(R, l), rotated_back(R, k))
        for d in range(freedom(kind)):
            st(out, p + d, ld(out, p + d) + (q[d] + x))
    hand_over(structure, work, first, i, link.parent, l, k)
    return link.parent


@kernel
def gather(parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """out[offset …] += Aᵀ Tᵀ of the accumulated wrenches, which are cleared."""
    closures = closures_of(structure)
    first = closures.poses
    for r in range(closures.path_length):
        i = on_path_up(structure, closures, r)
        _lift(parameters, structure, work, out, offset, first, i)
    taken(work, first + header_of(structure).links)


@kernel
def gather_moving(
    parameters: Any, structure: Any, work: Any, out: Any, offset: Any, rates: Any, rates_at: Any
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
        R, _ = pose(work, first + i)
        l = rotated_back(R, vector(work, first + i, ACCUMULATED))
        k = rotated_back(R, vector(work, first + i, ACCUMULATED + 3))
        f, m = cross(w, l), add(cross(w, k), cross(v, l))
        q, p = components(link.kind, numbers_of(parameters, link).pitch, f, m), rates_at + link.v
        for d in range(freedom(link.kind)):
            st(rates, p + d, ld(rates, p + d) - q[d])
        _lift(parameters, structure, work, out, offset, first, i)
    taken(work, first + header_of(structure).links)


@kernel
def gather_row(parameters: Any, structure: Any, work: Any, out: Any, offset: Any, c: Any) -> None:
    """out[offset …] += row c of G: the joints it couples, or those between its two bodies and the base and no other."""
    closures, base = closures_of(structure), header_of(structure).links
    e, first = equation_of(structure, closures, c), closures.poses
    push(structure, work, c, 1.0)
    if e.kind == COUPLING:
        coupling = coupling_of(structure, e.code)
        for k in range(coupling.joints):
            _lift(parameters, structure, work, out, offset, first, joint(structure, coupling, k).link)
    else:
        i, j = e.first, e.second
        while i != base or j != base:
            low = j if i == base or (j != base and j > i) else i  # parents have smaller numbers
            up = _lift(parameters, structure, work, out, offset, first, low)
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
