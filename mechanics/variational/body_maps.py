"""The discrete momentum of one body over one step, and its derivative, for four maps of its motion.

A body of mass m with tensor J about its mass centre moves over a step h from (R, x) to (R cay(a), x + R d), x the mass
centre. With X = (v, w) the coordinates of this motion by a map τ and M = diag(m E, J), the discrete Lagrangian is Xᵀ M
X/(2h) and

    P = (1/h) dτ_right(X)⁻ᵀ M X               the momentum that leaves the start (minus the derivative there), old axes
    δP = N η                                  η the increment of the end (linear, angular), new axes
    N = (1/h) [dτ_right(X)⁻ᵀ M + ∂_X (dτ_right(X)⁻ᵀ μ)] dτ_left(X)⁻¹,     μ = M X held in the derivative

============  ====================================  ==================================================================
map           X                                     what it is
============  ====================================  ==================================================================
``split``     d, a                                  R³ × SO(3) with the Cayley map: P = (m d, dcay⁻ᵀ J a)/h, rational
``splitexp``  d, φ                                  R³ × SO(3) with exp, φ = 2 atan(|a|/2) a/|a|
``cayley``    d − (a × d)/2, a                      SE(3) with the Cayley map, rational
``exp``       dexp_right(φ)⁻¹ d, φ                  SE(3) with exp
============  ====================================  ==================================================================

(For the first two P is P⁻ in old axes; the linear part of N is m cay(a)/h.)  All are invariant under SE(3), so that
total
momenta are exact; under ``split`` and ``splitexp`` the mass centre of a free system moves exactly as it should.  The
functions take m and J already divided by h.  Sources: Bou-Rabee and Marsden 2009; Lee, Liu, Park and Srinivasa 2016
(SE(3), trees).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, rare
from liegroup.compile.scalars import arctan2, select, sqrt
from liegroup.formulas import se3, so3
from liegroup.formulas.vectors import cross, dot, scale, scale6, subtract
from liegroup.tau import CAYLEY, SPLIT, SPLITEXP
from mechanics.variational.gibbs import cayley_matrix
from mechanics.variational.matrices import add9, apply_symmetric, cross_columns, cross_rows, scale9, shifted

LOOPS = "short"

_UNITS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NOTHING = (0.0, 0.0, 0.0)


@helper
def momentum(code: Any, a: Any, d: Any, m: Any, J: Any) -> Any:
    """P of a body about its mass centre: linear, angular."""
    if code == SPLIT:
        f, n = scale(m, d), so3.dcayinv_right_transpose(a, apply_symmetric(J, a))
    elif code == SPLITEXP:
        f, n = scale(m, d), _rotation_momentum(a, J)
    else:
        P = motion_momentum(code, a, d, (m, m, m), J)
        f, n = (P[0], P[1], P[2]), (P[3], P[4], P[5])
    return f, n


@helper
def matrix_of(code: Any, a: Any, d: Any, m: Any, J: Any, r: Any) -> Any:
    """N of a body about the point from which its mass centre is seen at r: the blocks A, B, C, I of [[A, B], [C,
    I]].
    """
    if code >= SPLIT:
        A = scale9(m, cayley_matrix(a))
        B, C = cross_rows(A, scale(-1.0, r)), cross_columns(r, A)
        I = add9(_rotation_matrix(code, a, J), cross_columns(r, B))
    else:
        A, B, C, I = motion_matrix(code, a, d, (m, m, m), J)
        A, B, C, I = shifted(A, B, C, I, r, r)
    return A, B, C, I


# --- rotations alone ------------------------------------------------------------------------------------------------


@helper
def cayley_rotation_matrix(a: Any, J: Any) -> Any:
    """K dci(a), K = J + (ã J − μ̃)/2 + ((a·μ) E + 2 a μᵀ)/4 the derivative of dcay_right(a)⁻ᵀ J a, dci(a) = E + ã/2 +
    a aᵀ/4.

    With μ = J a, κ = a·μ, n = a·a/4 and g = tr J/2 + 3 κ/8 the product is a symmetric and a skew part,

        (1 + n) J + (3 κ/4 − n tr J) E + (g/2) a aᵀ + (g a − (1 + n) μ)̃

    (J ã + ã J = (tr J a − μ)̃, ã J ã = |a|² J − μ aᵀ − a μᵀ + tr J a aᵀ + (κ − |a|² tr J) E).
    """
    mu, trace = apply_symmetric(J, a), J[0] + J[3] + J[5]
    n, k = 0.25 * dot(a, a), 0.375 * dot(a, mu)
    g, m = 0.5 * trace + k, 1.0 + n
    x, y, z = g * a[0] - m * mu[0], g * a[1] - m * mu[1], g * a[2] - m * mu[2]
    k, u = 2.0 * k - n * trace, scale(0.5 * g, a)
    xx, xy, xz = (m * J[0] + k) + u[0] * a[0], m * J[1] + u[0] * a[1], m * J[2] + u[0] * a[2]
    yy, yz, zz = (m * J[3] + k) + u[1] * a[1], m * J[4] + u[1] * a[2], (m * J[5] + k) + u[2] * a[2]
    return xx, xy - z, xz + y, xy + z, yy, yz - x, xz - y, yz + x, zz


@helper
def rotation_vector(a: Any) -> Any:
    """φ = 2 atan(|a|/2) a/|a|."""
    r = 0.5 * sqrt(dot(a, a))
    still = r == 0.0
    return scale(select(still, 1.0 + r, arctan2(r, 1.0 + 0.0 * r) / select(still, 1.0 + r, r)), a)


@rare(lambda structure, tau: tau == SPLITEXP, lambda a, J: a)
def _rotation_momentum(a: Any, J: Any) -> Any:
    phi = rotation_vector(a)
    return so3.dexpinv_right_transpose(phi, apply_symmetric(J, phi))


@helper
def _rotation_matrix(code: Any, a: Any, J: Any) -> Any:
    return cayley_rotation_matrix(a, J) if code == SPLIT else _exp_rotation_matrix(a, J)


@rare(lambda structure, tau: tau == SPLITEXP, lambda a, J: (a[0],) * 9)
def _exp_rotation_matrix(a: Any, J: Any) -> Any:
    phi = rotation_vector(a)
    mu = apply_symmetric(J, phi)
    x, y, z = _exp_column(phi, mu, J, _UNITS[0]), _exp_column(phi, mu, J, _UNITS[1]), _exp_column(phi, mu, J, _UNITS[2])
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@helper
def _exp_column(phi: Any, mu: Any, J: Any, y: Any) -> Any:
    z = so3.dexpinv_right(scale(-1.0, phi), y)
    first = so3.dexpinv_right_transpose(phi, apply_symmetric(J, z))
    return subtract(first, so3.dexpinv_left_derivative(scale(-1.0, phi), mu, z))


# --- motions, SE(3) -------------------------------------------------------------------------------------------------


@helper
def _coordinates(code: Any, a: Any, d: Any) -> Any:
    """X = τ⁻¹ of the motion."""
    if code == CAYLEY:
        v, w = subtract(d, scale(0.5, cross(a, d))), a
    else:
        w = rotation_vector(a)
        v = so3.dexpinv_right(w, d)
    return v[0], v[1], v[2], w[0], w[1], w[2]


@helper
def _mass_times(m: Any, J: Any, X: Any) -> Any:
    w = apply_symmetric(J, (X[3], X[4], X[5]))
    return m[0] * X[0], m[1] * X[1], m[2] * X[2], w[0], w[1], w[2]


@rare(lambda structure, tau: tau < SPLIT, lambda code, a, d, m, J: (a[0],) * 6)
def motion_momentum(code: Any, a: Any, d: Any, m: Any, J: Any) -> Any:
    """P of ½ (Σ m v² + ωᵀ J ω), (v, ω) = X: linear, then angular."""
    X = _coordinates(code, a, d)
    mu = _mass_times(m, J, X)
    return se3.dcayinv_right_transpose(X, mu) if code == CAYLEY else se3.dexpinv_right_transpose(X, mu)


@rare(lambda structure, tau: tau < SPLIT, lambda code, a, d, m, J: ((a[0],) * 9,) * 4)
def motion_matrix(code: Any, a: Any, d: Any, m: Any, J: Any) -> Any:
    """N of the same: the blocks A, B, C, I."""
    X = _coordinates(code, a, d)
    u, v, w = (
        _column(code, X, m, J, _UNITS[0], _NOTHING),
        _column(code, X, m, J, _UNITS[1], _NOTHING),
        _column(code, X, m, J, _UNITS[2], _NOTHING),
    )
    x, y, z = (
        _column(code, X, m, J, _NOTHING, _UNITS[0]),
        _column(code, X, m, J, _NOTHING, _UNITS[1]),
        _column(code, X, m, J, _NOTHING, _UNITS[2]),
    )
    return (
        (u[0], v[0], w[0], u[1], v[1], w[1], u[2], v[2], w[2]),
        (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]),
        (u[3], v[3], w[3], u[4], v[4], w[4], u[5], v[5], w[5]),
        (x[3], y[3], z[3], x[4], y[4], z[4], x[5], y[5], z[5]),
    )


@kernel
def _column(code: Any, X: Any, m: Any, J: Any, linear: Any, angular: Any) -> Any:
    """N y for y = (linear, angular)."""
    y = (linear[0], linear[1], linear[2], angular[0], angular[1], angular[2])
    back, mu = scale6(-1.0, X), _mass_times(m, J, X)
    if code == CAYLEY:
        z = se3.dcayinv_right(back, y)
        first, second = se3.dcayinv_right_transpose(X, _mass_times(m, J, z)), se3.dcayinv_left_derivative(back, mu, z)
    else:
        z = se3.dexpinv_right(back, y)
        first, second = se3.dexpinv_right_transpose(X, _mass_times(m, J, z)), se3.dexpinv_left_derivative(back, mu, z)
    return (
        first[0] - second[0], first[1] - second[1], first[2] - second[2],
        first[3] - second[3], first[4] - second[4], first[5] - second[5],
    )  # fmt: skip
