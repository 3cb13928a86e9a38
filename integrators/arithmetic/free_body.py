"""Exact motion of the free rigid body over a time t, as increments of momentum and attitude.

    m' = m × ω,  ω = (i₁m₁, i₂m₂, i₃m₃),   q' = ½ q (0, ω)

in principal axes, with the inverse moments iₖ.  With a₁ = i₃ − i₂ and cyclic, and the constants of the motion

    p = a₁(a₃m₂² − a₂m₃²),   q = a₃(a₁m₂² − a₂m₁²)

the solution is rational in S, c, d with S' = c d, c' = −p S d, d' = −q S c, S(0) = 0, c(0) = d(0) = 1 (Jacobi's
functions for any signs of p and q): the addition theorems eliminate the phase, so neither the order of the axes nor the
separatrix matters. The attitude follows from the angle of precession about m,

    ψ = G ∫ (2T₂ + ω(0)·Δm)/(2G² + m(0)·Δm) ds,   G = |m|,  T₂ = m·ω

by five Gauss nodes (for what differs from the constant T₂/G, so that rounded weights are no bias), and the smallest
rotation from m(t) to m(0).  Differences from 1 are computed as such, never subtracted. Sources: Jacobi 1850; the
phase-free form by the addition theorems of sn, cn, dn.  One call is accurate to rounding while the body turns by at
most `LONGEST`; `pieces` says into how many parts a longer time must be divided.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from integrators.arithmetic.compensated import add_to, increase3, two_product, two_sum
from liegroup.compile import absolute, any_, helper, kernel, ld, select, sqrt, st
from liegroup.compile.scalars import less, maximum, sincos
from liegroup.formulas import so3
from liegroup.formulas.vectors import cross, dot, scale

LONGEST = 1.2
"""Largest angle of one evaluation."""
MOST = 1e5
"""Parts into which a time is divided at most: a body that turns faster is thrown by a step that is too large."""
_SERIES = 0.02
"""Largest t² max(|p|, |q|) for the series; longer times are halved, and the functions doubled again."""
_DEGENERATE = 1e-6
"""Where energy and momentum are this close to dependent, only the momentum is held."""
_LEAST = 1e-140
"""A body with less squared momentum is at rest: it turns by t ω, which has a derivative where what is divided by the
momentum has none.
"""
_nodes, _weights = np.polynomial.legendre.leggauss(5)
NODES: tuple[float, ...] = tuple(float(x) for x in (1.0 + _nodes) / 2.0)
WEIGHTS: tuple[float, ...] = tuple(float(w) for w in _weights / 2.0)


@helper
def _series(t: Any, p: Any, q: Any) -> Any:
    """(S, c − 1, d − 1) for short times, from S'' = −(p + q) S + 2pq S³."""
    tt = t * t
    g, w = (p + q) * tt, (p * q) * (tt * tt)
    gg = g * g
    s = 1.0 + (
        -g / 6.0
        + (gg + 12.0 * w) / 120.0
        - g * (gg + 132.0 * w) / 5040.0
        + (gg * gg + w * (1224.0 * gg + 3024.0 * w)) / 362880.0
        - g * (gg + 12.0 * w) * (gg + 11052.0 * w) / 39916800.0
        + (gg * gg * gg + w * (99636.0 * gg * gg + w * (4095792.0 * gg + 4390848.0 * w))) / 6227020800.0
        - g * (gg * gg * gg + w * (896796.0 * gg * gg + w * (111810672.0 * gg + 490287168.0 * w))) / 1307674368000.0
    )
    s = t * s
    ps, qs = p * (s * s), q * (s * s)
    return s, -ps / (1.0 + sqrt(1.0 - ps)), -qs / (1.0 + sqrt(1.0 - qs))


@kernel
def elliptic(t: Any, p: Any, q: Any) -> Any:
    """(S, c − 1, d − 1) at time t."""
    one = t * 0.0 + 1.0
    size, halvings = t * t * maximum(absolute(p), absolute(q)), one - one
    scale = one
    while any_(size > _SERIES):
        large = size > _SERIES
        scale = select(large, 0.5 * scale, scale)
        halvings = select(large, halvings + 1.0, halvings)
        size = select(large, 0.25 * size, size)
    s, c1, d1 = _series(t * scale, p, q)
    done = 0.0
    while any_(halvings > done):
        more = halvings > done
        ss = s * s
        k = 1.0 / (1.0 - (p * q) * (ss * ss))
        c, d = 1.0 + c1, 1.0 + d1
        s, c1, d1 = (
            select(more, 2.0 * s * c * d * k, s),
            select(more, -2.0 * p * ss * (d * d) * k, c1),
            select(more, -2.0 * q * ss * (c * c) * k, d1),
        )
        done += 1.0
    return s, c1, d1


@helper
def _change(t: Any, m: Any, a: Any, p: Any, q: Any) -> Any:
    """Δm over the time t."""
    s, c1, d1 = elliptic(t, p, q)
    c, d = 1.0 + c1, 1.0 + d1
    e = a[0] * a[2] * (m[1] * m[1]) * (s * s)
    k = 1.0 / (1.0 - e)
    return (
        (m[0] * (c1 + e) + a[0] * (m[1] * m[2]) * (s * d)) * k,
        (m[1] * (c1 * d + d1 + e) + a[1] * (m[0] * m[2]) * s) * k,
        (m[2] * (d1 + e) + a[2] * (m[0] * m[1]) * (s * c)) * k,
    )


@kernel
def exact_motion(t: Any, m: Any, i: Any) -> Any:
    """(Δm, real part − 1 and vector part of the relative quaternion) over a time t, for |ω| t ≤ `LONGEST`.

    Parameters
    ----------
    t : time.
    m : (m₁, m₂, m₃), momentum in principal axes at the start.
    i : (i₁, i₂, i₃), inverse principal moments.
    """
    a = (i[2] - i[1], i[0] - i[2], i[1] - i[0])
    p = a[0] * (a[2] * (m[1] * m[1]) - a[1] * (m[2] * m[2]))
    q = a[2] * (a[0] * (m[1] * m[1]) - a[1] * (m[0] * m[0]))
    w = (i[0] * m[0], i[1] * m[1], i[2] * m[2])
    gg, tt = dot(m, m), dot(m, w)
    moves = less(_LEAST, gg)
    gg = select(moves, gg, gg * 0.0 + 1.0)
    psi = t * 0.0
    for node, weight in (
        (NODES[0], WEIGHTS[0]),
        (NODES[1], WEIGHTS[1]),
        (NODES[2], WEIGHTS[2]),
        (NODES[3], WEIGHTS[3]),
        (NODES[4], WEIGHTS[4]),
    ):
        dm = _change(t * node, m, a, p, q)
        psi = psi + weight * ((2.0 * tt + dot(w, dm)) / (2.0 * gg + dot(m, dm)))
    dm = _change(t, m, a, p, q)
    n = 2.0 * gg + dot(m, dm)
    r = 1.0 / sqrt(2.0 * gg * n)
    v = cross(dm, m)
    v = (r * v[0], r * v[1], r * v[2])
    tilt = sqrt(n / (2.0 * gg))
    tilt1 = -dot(v, v) / (1.0 + tilt)
    g = sqrt(gg)
    half = 0.25 * (psi * t) * g
    s, c = sincos(half)
    c1, sg = -2.0 * (s * s), 2.0 * (s * c) / g
    mv = cross(m, v)
    vector = (
        select(moves, (1.0 + c1) * v[0] + sg * (tilt * m[0] + mv[0]), 0.5 * t * w[0]),
        select(moves, (1.0 + c1) * v[1] + sg * (tilt * m[1] + mv[1]), 0.5 * t * w[1]),
        select(moves, (1.0 + c1) * v[2] + sg * (tilt * m[2] + mv[2]), 0.5 * t * w[2]),
    )
    return dm, c1 + (1.0 + c1) * tilt1, vector


@helper
def _about(axis: Any, angle: Any, m: Any, dm: Any, w1: Any, v: Any) -> Any:
    """Turn by an angle about one axis after what (dm, w1, v) describes: momentum increment and relative quaternion
    − 1.
    """
    s, c = sincos(0.5 * angle)
    quarter, _ = sincos(0.25 * angle)
    e = -2.0 * (quarter * quarter)
    x, y, z = m[0] + dm[0], m[1] + dm[1], m[2] + dm[2]
    r, r1 = 2.0 * (s * c), -2.0 * (s * s)
    if axis == 0:
        dm = (dm[0], dm[1] + (r1 * y + r * z), dm[2] + (r1 * z - r * y))
        return (
            dm,
            w1 + e + w1 * e - v[0] * s,
            (v[0] + v[0] * e + (1.0 + w1) * s, v[1] + v[1] * e + v[2] * s, v[2] + v[2] * e - v[1] * s),
        )
    if axis == 1:
        dm = (dm[0] + (r1 * x - r * z), dm[1], dm[2] + (r1 * z + r * x))
        return (
            dm,
            w1 + e + w1 * e - v[1] * s,
            (v[0] + v[0] * e - v[2] * s, v[1] + v[1] * e + (1.0 + w1) * s, v[2] + v[2] * e + v[0] * s),
        )
    dm = (dm[0] + (r1 * x + r * y), dm[1] + (r1 * y - r * x), dm[2])
    return (
        dm,
        w1 + e + w1 * e - v[2] * s,
        (v[0] + v[0] * e + v[1] * s, v[1] + v[1] * e - v[0] * s, v[2] + v[2] * e + (1.0 + w1) * s),
    )


@kernel
def three_rotations(t: Any, m: Any, i: Any) -> Any:
    """The same to second order: the flows of iₖmₖ²/2 are rotations about the axes, 1-2-3-2-1 with halves of 1 and 2."""
    zero = t * 0.0 + m[0] * 0.0
    dm, w1, v = (zero, zero, zero), zero, (zero, zero, zero)
    dm, w1, v = _about(0, 0.5 * t * i[0] * (m[0] + dm[0]), m, dm, w1, v)
    dm, w1, v = _about(1, 0.5 * t * i[1] * (m[1] + dm[1]), m, dm, w1, v)
    dm, w1, v = _about(2, t * i[2] * (m[2] + dm[2]), m, dm, w1, v)
    dm, w1, v = _about(1, 0.5 * t * i[1] * (m[1] + dm[1]), m, dm, w1, v)
    return _about(0, 0.5 * t * i[0] * (m[0] + dm[0]), m, dm, w1, v)


@helper
def pieces(t: Any, m: Any, i: Any) -> Any:
    """Number of equal parts of the time in which the body turns by at most `LONGEST`, one per lane; no number
    where they are more than `MOST`.
    """
    fastest = maximum(i[0], maximum(i[1], i[2]))
    angle = absolute(t) * sqrt(fastest * (i[0] * (m[0] * m[0]) + i[1] * (m[1] * m[1]) + i[2] * (m[2] * m[2])))
    angle = select(angle < LONGEST * MOST, angle, angle * 0.0 + math.nan)
    n = angle * 0.0 + 1.0
    while any_(angle > LONGEST * n):
        n = select(angle > LONGEST * n, n + 1.0, n)
    return n


@helper
def turn_back(v: Any, w: Any, u: Any) -> Any:
    """Rᵀu − u for the quaternion (w, v)."""
    t = cross(u, v)
    t = (t[0] + t[0], t[1] + t[1], t[2] + t[2])
    s = cross(t, v)
    return w * t[0] + s[0], w * t[1] + s[1], w * t[2] + s[2]


@helper
def turn(v: Any, w: Any, u: Any) -> Any:
    """R u − u for the quaternion (w, v)."""
    return turn_back((-v[0], -v[1], -v[2]), w, u)


@helper
def _product_sum(i: Any, m: Any, low: Any, dm: Any) -> Any:
    """(2m + 2 low + dm) dm, and the same times i, to twice the precision (high and low words each)."""
    s, e = two_sum(m + m, dm)
    e = e + (low + low)
    p, f = two_product(s, dm)
    f = f + e * dm
    g, r = two_product(p, i)
    return p, f, g, r + f * i


@helper
def hold_constants(i: Any, m: Any, low: Any, dm: Any) -> Any:
    """What must be added to m + dm so that |m|² and Σ iₖ mₖ² are what they were before dm: α m + β ω."""
    a, a1, b, b1 = _product_sum(i[0], m[0], low[0], dm[0])
    c, c1, d, d1 = _product_sum(i[1], m[1], low[1], dm[1])
    e, e1, f, f1 = _product_sum(i[2], m[2], low[2], dm[2])
    s, r = two_sum(a, c)
    s, q = two_sum(s, e)
    norm = s + ((r + q) + (a1 + c1 + e1))
    s, r = two_sum(b, d)
    s, q = two_sum(s, f)
    energy = s + ((r + q) + (b1 + d1 + f1))
    w = (i[0] * m[0], i[1] * m[1], i[2] * m[2])
    gg, tt, ww = dot(m, m), dot(m, w), dot(w, w)
    determinant = gg * ww - tt * tt
    full = determinant > _DEGENERATE * (gg * ww)
    safe = select(full, determinant, determinant * 0.0 + 1.0)
    length = select(gg > 0.0, gg, gg * 0.0 + 1.0)
    alpha = select(full, -0.5 * (norm * ww - energy * tt) / safe, -0.5 * norm / length)
    beta = select(full, -0.5 * (energy * gg - norm * tt) / safe, determinant * 0.0)
    return alpha * m[0] + beta * w[0], alpha * m[1] + beta * w[1], alpha * m[2] + beta * w[2]


@helper
def correct(low: Any, p: Any, i: Any, m: Any, dm: Any) -> None:
    """Put |m|² and Σ iₖ mₖ² of the momentum at p, which has changed from m by dm, right in the low words."""
    fix = hold_constants(i, m, (ld(low, p), ld(low, p + 1), ld(low, p + 2)), dm)
    st(low, p, ld(low, p) + fix[0])
    st(low, p + 1, ld(low, p + 1) + fix[1])
    st(low, p + 2, ld(low, p + 2) + fix[2])


@helper
def displace(y: Any, low: Any, q: Any, w1: Any, v: Any, compensation: Any) -> None:
    """Multiply the quaternion at q of the state by (1 + w1, v) from the right."""
    attitude = ld(y, q), ld(y, q + 1), ld(y, q + 2), ld(y, q + 3)
    if compensation:
        d = so3.displace(attitude, (w1, v[0], v[1], v[2]))
        add_to(y, low, q, d[0])
        add_to(y, low, q + 1, d[1])
        add_to(y, low, q + 2, d[2])
        add_to(y, low, q + 3, d[3])
    else:
        moved = so3.advance(attitude, (w1, v[0], v[1], v[2]))
        st(y, q, moved[0])
        st(y, q + 1, moved[1])
        st(y, q + 2, moved[2])
        st(y, q + 3, moved[3])


@helper
def _vector(y: Any, i: Any) -> Any:
    return ld(y, i), ld(y, i + 1), ld(y, i + 2)


@helper
def fly(
    t: Any, y: Any, low: Any, q: Any, p: Any, free: Any, mass: Any, inverse_mass: Any, inverse: Any, g: Any,
    compensation: Any,
) -> None:  # fmt: skip
    """The exact motion over any time t of a body that turns freely about its centre of mass, which falls (`free`) or is
    held: the place of that and the quaternion at q of the state, linear and angular momentum in body axes at p; of a
    body that is held the quaternion and the angular momentum alone.
    """
    attitude, momentum = (q + 3, p + 3) if free else (q, p)
    weighs = g[0] != 0.0 or g[1] != 0.0 or g[2] != 0.0
    if free:
        r = ld(y, attitude), ld(y, attitude + 1), ld(y, attitude + 2), ld(y, attitude + 3)
        increase3(y, low, q, so3.act(r, scale(t * inverse_mass, _vector(y, p))), compensation)
        if weighs:
            increase3(y, low, q, scale(0.5 * t * t, g), compensation)
    parts, done = pieces(t, _vector(y, momentum), inverse), 0.0
    while True:
        part = select(parts > done, t / parts, parts * 0.0)
        m = _vector(y, momentum)
        dm, w1, v = exact_motion(part, m, inverse)
        increase3(y, low, momentum, dm, compensation)
        if compensation:
            correct(low, momentum, inverse, m, dm)
        displace(y, low, attitude, w1, v, compensation)
        if free:
            increase3(y, low, p, turn_back(v, 1.0 + w1, _vector(y, p)), compensation)
        done += 1.0
        if not any_(parts > done):
            break
    if free and weighs:
        r = ld(y, attitude), ld(y, attitude + 1), ld(y, attitude + 2), ld(y, attitude + 3)
        increase3(y, low, p, so3.act_inverse(r, scale(t * mass, g)), compensation)
