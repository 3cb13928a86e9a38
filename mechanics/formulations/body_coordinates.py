"""A mechanism in body coordinates: every body with its own position and attitude, every joint a constraint, M constant.

The classical redundant description, for comparison.  State y = (x₁, R₁, x₂, R₂, …, v), x the centre of mass in the
world, R a unit quaternion, v = (ẋ₁, ω₁, …) with ω in body axes; planar mechanisms take (x, y, θ) per body instead.
Parts in the layout "constrained" (`integrators.problem.parts`), rows of contacts that roll or slide first:

    M = diag(m E, J_c, …),    rows of the joints and of the closures kept,    M v̇ + (0, ω × J_c ω, …) = (m g, …) + Aᵀ λ
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.problem.multipliers import constrained_field
from integrators.problem.parts import clear, constrained
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import absolute, entry, helper, kernel, ld, ld2, st, st2
from liegroup.compile.scalars import maximum, sincos
from liegroup.formulas.vectors import cross, dot
from mechanics.algebra.screws import quaternion_matrix
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.poses import pose
from mechanics.constraints.body_equations import EQUATION_NUMBERS, equation_numbers, rates_by_kind, screws_by_kind
from mechanics.kernels.links import put, vector
from mechanics.model.layout import three

LOOPS = "short"

Array = NDArray[np.float64]


class Sizes(NamedTuple):
    """The header of `structure`: velocities, equations, integrable ones, bodies, whether they move in the plane x-y;
    behind it the equations.
    """

    n: Any
    m: Any
    k: Any
    bodies: Any
    planar: Any


class PackedEquation(NamedTuple):
    """Kind, first and second body; a body's number is its line of the workspace, the base has the line behind them."""

    kind: Any
    first: Any
    second: Any


class BodyNumbers(NamedTuple):
    """Mass, J_c (9) and, in the plane, the height z of the centre of mass, which stays; behind gravity in `parameters`,
    before the numbers of the equations.
    """

    mass: Any
    tensor: Any
    height: Any


BODY_NUMBERS = 11


@helper
def sizes_of(structure: Any) -> Any:
    """The header."""
    s = structure
    return Sizes(s[0], s[1], s[2], s[3], s[4])


@helper
def equation_of(structure: Any, c: Any) -> Any:
    """Equation c."""
    s, o = structure, 5 + 3 * c
    return PackedEquation(s[o], s[o + 1], s[o + 2])


@helper
def body_numbers(parameters: Any, b: Any) -> Any:
    """The numbers of body b."""
    p, o = parameters, 3 + BODY_NUMBERS * b
    return BodyNumbers(p[o], (*three(p, o + 1), *three(p, o + 4), *three(p, o + 7)), p[o + 10])


@helper
def numbers_of(parameters: Any, sizes: Any, c: Any) -> Any:
    """The numbers of equation c."""
    return equation_numbers(parameters, 3 + BODY_NUMBERS * sizes.bodies + EQUATION_NUMBERS * c)


# --- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def _bodies(y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Pose (columns 0 … 11) and twist (12 … 17, body axes) of every body; the base last."""
    sizes = sizes_of(structure)
    count, planar = sizes.bodies, sizes.planar
    n_q = (3 if planar else 7) * count
    for b in range(count):
        if planar:
            o, u = 3 * b, n_q + 3 * b
            s, c = sincos(ld(y, o + 2))
            zero = 0.0 * c
            one = zero + 1.0
            z = zero + body_numbers(parameters, b).height
            R, x = (c, -s, zero, s, c, zero, zero, zero, one), (ld(y, o), ld(y, o + 1), z)
            v, w = (ld(y, u), ld(y, u + 1), zero), (zero, zero, ld(y, u + 2))
        else:
            o, u = 7 * b, n_q + 6 * b
            R = quaternion_matrix(ld(y, o + 3), ld(y, o + 4), ld(y, o + 5), ld(y, o + 6))
            x = ld(y, o), ld(y, o + 1), ld(y, o + 2)
            v, w = (ld(y, u), ld(y, u + 1), ld(y, u + 2)), (ld(y, u + 3), ld(y, u + 4), ld(y, u + 5))
        put(work, b, 0, (R[0], R[1], R[2]))
        put(work, b, 3, (R[3], R[4], R[5]))
        put(work, b, 6, (R[6], R[7], R[8]))
        put(work, b, 9, x)
        put(work, b, 12, rotated_back(R, v))
        put(work, b, 15, w)
    for column in range(18):
        st2(work, count, column, 0.0)
    for column in (0, 4, 8):
        st2(work, count, column, 1.0)


@helper
def _write(structure: Any, work: Any, b: Any, W: Any, out: Any, at: Any) -> None:
    """The entries of body b in a row of A: world components of the force, body components of the moment."""
    sizes = sizes_of(structure)
    if b < sizes.bodies:
        R, _ = pose(work, b)
        f = rotated(R, (W[0], W[1], W[2]))
        if sizes.planar:
            st(out, at + 3 * b, f[0])
            st(out, at + 3 * b + 1, f[1])
            st(out, at + 3 * b + 2, W[5])
        else:
            for k in range(3):
                st(out, at + 6 * b + k, f[k])
                st(out, at + 6 * b + 3 + k, W[3 + k])


@helper
def _turned(work: Any, b: Any, W: Any, N: Any) -> Any:
    """The part of φ̈ of a body at ẍ = 0, ω̇ = 0: N·V + W·(−ω × v, 0)."""
    v, w = vector(work, b, 12), vector(work, b, 15)
    c = cross(v, w)
    return (
        (N[0] * v[0] + N[1] * v[1] + N[2] * v[2])
        + (N[3] * w[0] + N[4] * w[1] + N[5] * w[2])
        + (W[0] * c[0] + W[1] * c[1] + W[2] * c[2])
    )


@kernel
def body_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y → the parts."""
    sizes = sizes_of(structure)
    n, m, count = sizes.n, sizes.m, sizes.bodies
    at, width, rolling = constrained(n, m, sizes.k), 3 if sizes.planar else 6, m - sizes.k
    clear(out)
    _bodies(y, parameters, structure, work)
    potential, g = 0.0 * ld(y, 0), three(parameters, 0)
    for b in range(count):
        mass, J, _ = body_numbers(parameters, b)
        i, x, w = width * b, vector(work, b, 9), vector(work, b, 15)
        for k in range(2 if sizes.planar else 3):
            st(out, at.MASS + (i + k) * n + i + k, mass)
            st(out, at.GRADIENT + i + k, -mass * g[k])
        potential = potential - mass * dot(g, x)
        if sizes.planar:
            st(out, at.MASS + (i + 2) * n + i + 2, J[8])
        else:
            for k in range(3):
                for l in range(3):
                    st(out, at.MASS + (i + 3 + k) * n + i + 3 + l, J[3 * k + l])
            gyro = cross(w, rotated(J, w))
            for k in range(3):
                st(out, at.RATE + i + 3 + k, gyro[k])
    for c in range(m):
        kind, i, j = equation_of(structure, c)
        e = numbers_of(parameters, sizes, c)
        R_i, x_i = pose(work, i)
        R_j, x_j = pose(work, j)
        v_i, w_i, v_j, w_j = vector(work, i, 12), vector(work, i, 15), vector(work, j, 12), vector(work, j, 15)
        phi, W_i, W_j = screws_by_kind(kind, e.a, e.p, e.b, e.q, e.length, R_i, x_i, R_j, x_j)
        N_i, N_j = rates_by_kind(kind, e.a, e.p, e.b, e.q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)
        _write(structure, work, i, W_i, out, at.ROWS + c * n)
        _write(structure, work, j, W_j, out, at.ROWS + c * n)
        st(out, at.BIAS + c, _turned(work, i, W_i, N_i) + _turned(work, j, W_j, N_j))
        if c >= rolling:
            st(out, at.POSITION + c - rolling, phi)
    st(out, at.POTENTIAL, potential)


@entry(*FIELD_SIGNATURES)
def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y → the parts."""
    body_parts(t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, v̇) of the equations with multipliers."""
    constrained_field(body_parts, t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(energy, greatest |φ|, greatest |φ̇|)."""
    sizes = sizes_of(structure)
    _bodies(y, parameters, structure, work)
    energy, g = 0.0 * ld(y, 0), three(parameters, 0)
    for b in range(sizes.bodies):
        mass, J, _ = body_numbers(parameters, b)
        x, v, w = vector(work, b, 9), vector(work, b, 12), vector(work, b, 15)
        l = rotated(J, w)
        energy = energy + 0.5 * (
            mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + (w[0] * l[0] + w[1] * l[1] + w[2] * l[2])
        )
        energy = energy - mass * dot(g, x)
    gap = rate = 0.0 * energy
    for c in range(sizes.m):
        kind, i, j = equation_of(structure, c)
        e = numbers_of(parameters, sizes, c)
        R_i, x_i = pose(work, i)
        R_j, x_j = pose(work, j)
        phi, W_i, W_j = screws_by_kind(kind, e.a, e.p, e.b, e.q, e.length, R_i, x_i, R_j, x_j)
        speed = 0.0 * phi
        for k in range(6):
            speed = speed + W_i[k] * ld2(work, i, 12 + k) + W_j[k] * ld2(work, j, 12 + k)
        gap, rate = maximum(gap, absolute(phi)), maximum(rate, absolute(speed))
    st(out, 0, energy)
    st(out, 1, gap)
    st(out, 2, rate)
