"""A mechanism in body coordinates: every body with its own position and attitude, every joint a constraint, M constant.

The classical redundant description, for comparison.  State y = (x₁, R₁, x₂, R₂, …, v), x the centre of mass in the
world, R a unit quaternion, v = (ẋ₁, ω₁, …) with ω in body axes; planar mechanisms take (x, y, θ) per body instead.
Parts in the layout "constrained" (`integrators.problem.parts`), all rows integrable:

    M = diag(m E, J_c, …),    rows of the joints and of the closures kept,    M v̇ + (0, ω × J_c ω, …) = (m g, …) + Aᵀ λ
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.parts import clear, constrained
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import absolute, entry, helper, kernel, ld, ld2, st, st2
from liegroup.compile.scalars import maximum, sincos
from liegroup.formulas.vectors import cross
from mechanics.algebra.screws import quaternion_matrix
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.poses import pose
from mechanics.constraints.rows import row_rates, row_screws
from mechanics.kernels.rows import put, three, vector
from mechanics.nonholonomic.multipliers import constrained_field

Array = NDArray[np.float64]
BODIES, PLANAR, ROWS = 3, 4, 5
"""Behind (n, m, k): number of bodies, whether they move in the plane x-y, and the rows (kind, first body, second body)
of the constraints; a body's number is its row of the workspace, the base is row BODIES.
"""
BODY_NUMBERS = 10
"""Mass, J_c (9)."""


# --- kernels
# --------------------------------------------------------------------------------------------------------------------


@kernel
def _bodies(y: Any, structure: Any, work: Any) -> None:
    """Pose (columns 0 … 11) and twist (12 … 17, body axes) of every body; the base last."""
    count, planar = structure[BODIES], structure[PLANAR]
    n_q = (3 if planar else 7) * count
    for b in range(count):
        if planar:
            o, u = 3 * b, n_q + 3 * b
            s, c = sincos(ld(y, o + 2))
            zero = 0.0 * c
            one = zero + 1.0
            R, x = (c, -s, zero, s, c, zero, zero, zero, one), (ld(y, o), ld(y, o + 1), zero)
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
    if b < structure[BODIES]:
        R, _ = pose(work, b)
        f = rotated(R, (W[0], W[1], W[2]))
        if structure[PLANAR]:
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


@helper
def _numbers(parameters: Any, at: Any) -> Any:
    return (
        three(parameters, at),
        three(parameters, at + 3),
        three(parameters, at + 6),
        three(parameters, at + 9),
        parameters[at + 12],
    )


@kernel
def body_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y → the parts."""
    n, m, count = structure[0], structure[1], structure[BODIES]
    at, width = constrained(n, m, m), 3 if structure[PLANAR] else 6
    clear(out)
    _bodies(y, structure, work)
    potential = 0.0 * ld(y, 0)
    for b in range(count):
        o, i = 3 + BODY_NUMBERS * b, width * b
        mass, x, w = parameters[o], vector(work, b, 9), vector(work, b, 15)
        for k in range(2 if structure[PLANAR] else 3):
            st(out, at.MASS + (i + k) * n + i + k, mass)
            st(out, at.GRADIENT + i + k, -mass * parameters[k])
        potential = potential - mass * (parameters[0] * x[0] + parameters[1] * x[1] + parameters[2] * x[2])
        if structure[PLANAR]:
            st(out, at.MASS + (i + 2) * n + i + 2, parameters[o + 9])
        else:
            for k in range(3):
                for l in range(3):
                    st(out, at.MASS + (i + 3 + k) * n + i + 3 + l, parameters[o + 1 + 3 * k + l])
            J = (*three(parameters, o + 1), *three(parameters, o + 4), *three(parameters, o + 7))
            gyro = cross(w, rotated(J, w))
            for k in range(3):
                st(out, at.RATE + i + 3 + k, gyro[k])
    for c in range(m):
        kind, i, j = structure[ROWS + 3 * c], structure[ROWS + 3 * c + 1], structure[ROWS + 3 * c + 2]
        a, p, b_, q, length = _numbers(parameters, 3 + BODY_NUMBERS * count + 15 * c)
        R_i, x_i = pose(work, i)
        R_j, x_j = pose(work, j)
        v_i, w_i, v_j, w_j = vector(work, i, 12), vector(work, i, 15), vector(work, j, 12), vector(work, j, 15)
        phi, W_i, W_j = row_screws(kind, a, p, b_, q, length, R_i, x_i, R_j, x_j)
        N_i, N_j = row_rates(kind, a, p, b_, q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)
        _write(structure, work, i, W_i, out, at.ROWS + c * n)
        _write(structure, work, j, W_j, out, at.ROWS + c * n)
        st(out, at.BIAS + c, _turned(work, i, W_i, N_i) + _turned(work, j, W_j, N_j))
        st(out, at.POSITION + c, phi)
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
    count = structure[BODIES]
    _bodies(y, structure, work)
    energy = 0.0 * ld(y, 0)
    for b in range(count):
        o = 3 + BODY_NUMBERS * b
        mass, x, v, w = parameters[o], vector(work, b, 9), vector(work, b, 12), vector(work, b, 15)
        J = (*three(parameters, o + 1), *three(parameters, o + 4), *three(parameters, o + 7))
        l = rotated(J, w)
        energy = energy + 0.5 * (
            mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + (w[0] * l[0] + w[1] * l[1] + w[2] * l[2])
        )
        energy = energy - mass * (parameters[0] * x[0] + parameters[1] * x[1] + parameters[2] * x[2])
    gap = rate = 0.0 * energy
    for c in range(structure[1]):
        kind, i, j = structure[ROWS + 3 * c], structure[ROWS + 3 * c + 1], structure[ROWS + 3 * c + 2]
        a, p, b_, q, length = _numbers(parameters, 3 + BODY_NUMBERS * count + 15 * c)
        R_i, x_i = pose(work, i)
        R_j, x_j = pose(work, j)
        phi, W_i, W_j = row_screws(kind, a, p, b_, q, length, R_i, x_i, R_j, x_j)
        speed = 0.0 * phi
        for k in range(6):
            speed = speed + W_i[k] * ld2(work, i, 12 + k) + W_j[k] * ld2(work, j, 12 + k)
        gap, rate = maximum(gap, absolute(phi)), maximum(rate, absolute(speed))
    st(out, 0, energy)
    st(out, 1, gap)
    st(out, 2, rate)
