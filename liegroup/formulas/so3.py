"""SO(3): unit quaternions (w, x, y, z), algebra ω in rotation-vector coordinates, ŵ = skew(ω)."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.compile.scalars import absolute, arctan2, less, maximum, select, sincos, sqrt
from liegroup.formulas.exponential import Algebra, tangents
from liegroup.formulas.series import half_turn
from liegroup.formulas.vectors import add, combine, cross, dot, scale, subtract

NAME, N_Q, N_V, N_POINT, N_ROTATION = "SO(3)", 4, 3, 3, 3
COMPONENTS, QUATERNIONS, ANGLES = ("qw", "qx", "qy", "qz"), (0,), ()
SIZES, CHART, COMMUTATIVE, RIGID_BODY = (None, None, None), ((0, 3),), False, (0, 3)
_PI, _TWO_PI, _TWO_PI_REST = 3.141592653589793, 6.283185307179586, 2.4492935982947064e-16

# --- the group ------------------------------------------------------------------------------------------------------


@helper
def identity(zero: Any) -> Any:
    """e; `zero` is a zero of the scalar type."""
    return zero + 1.0, zero, zero, zero


@helper
def multiply(a: Any, b: Any) -> Any:
    """Quaternion product a b, without regard to the norm."""
    return (
        a[0] * b[0] - (a[1] * b[1] + a[2] * b[2] + a[3] * b[3]),
        a[0] * b[1] + a[1] * b[0] + (a[2] * b[3] - a[3] * b[2]),
        a[0] * b[2] + a[2] * b[0] + (a[3] * b[1] - a[1] * b[3]),
        a[0] * b[3] + a[3] * b[0] + (a[1] * b[2] - a[2] * b[1]),
    )


@helper
def _norm_excess(q: Any) -> Any:
    return 0.5 * (1.0 - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]))


@helper
def compose(a: Any, b: Any) -> Any:
    """a b, pulled to unit norm to first order, so that rounding errors of the norm do not add up in long products."""
    q = multiply(a, b)
    k = _norm_excess(q)
    return q[0] + k * q[0], q[1] + k * q[1], q[2] + k * q[2], q[3] + k * q[3]


@helper
def inverse(q: Any) -> Any:
    """q⁻¹ of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


@helper
def act(q: Any, u: Any) -> Any:
    """R(q) u."""
    v = q[1:]
    t = scale(2.0, cross(v, u))
    return combine(u, q[0], t, 1.0, cross(v, t))


@helper
def act_inverse(q: Any, u: Any) -> Any:
    """R(q)ᵀ u."""
    return act(inverse(q), u)


@helper
def displace(q: Any, d: Any) -> Any:
    """q τ − q for d = τ − e."""
    return multiply(q, d)


@helper
def advance(q: Any, d: Any) -> Any:
    """q τ for d = τ − e: one rounding of q per component, and the norm of q corrected to first order."""
    e = multiply(q, d)
    k = _norm_excess(q)
    return q[0] + (e[0] + k * q[0]), q[1] + (e[1] + k * q[1]), q[2] + (e[2] + k * q[2]), q[3] + (e[3] + k * q[3])


@helper
def adjoint(q: Any, y: Any) -> Any:
    """Ad_q y = R y."""
    return act(q, y)


@helper
def coadjoint(q: Any, mu: Any) -> Any:
    """Ad_qᵀ μ = Rᵀ μ."""
    return act_inverse(q, mu)


@helper
def bracket(x: Any, y: Any) -> Any:
    """[x, y] = x × y."""
    return cross(x, y)


@helper
def bracket_transpose(x: Any, mu: Any) -> Any:
    """ad_xᵀ μ = μ × x."""
    return cross(mu, x)


@helper
def coordinate_rate(q: Any, v: Any) -> Any:
    """q̇ = ½ q (0, ω)."""
    return multiply(q, (0.0 * v[0], 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]))


@helper
def body_velocity(q: Any, rate: Any) -> Any:
    """ω of (·, ω) = 2 q⁻¹ q̇."""
    d = multiply(inverse(q), rate)
    return 2.0 * d[1], 2.0 * d[2], 2.0 * d[3]


# --- matrices -------------------------------------------------------------------------------------------------------


@helper
def hat(x: Any) -> Any:
    """Skew matrix of x as rows."""
    zero = 0.0 * x[0]
    return (zero, -x[2], x[1]), (x[2], zero, -x[0]), (-x[1], x[0], zero)


@helper
def vee(m: Any) -> Any:
    """x of a skew matrix (of the skew part of any matrix)."""
    return 0.5 * (m[2][1] - m[1][2]), 0.5 * (m[0][2] - m[2][0]), 0.5 * (m[1][0] - m[0][1])


@helper
def matrix(q: Any) -> Any:
    """Rotation matrix as rows."""
    w, x, y, z = q
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz, wx, wy, wz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z, 2.0 * w * x, 2.0 * w * y, 2.0 * w * z
    return (1.0 - (yy + zz), xy - wz, xz + wy), (xy + wz, 1.0 - (xx + zz), yz - wx), (xz - wy, yz + wx, 1.0 - (xx + yy))


@helper
def from_matrix(m: Any) -> Any:
    """Unit quaternion of a rotation matrix: the largest of 4w², 4x², 4y², 4z² is the pivot; w ≥ 0 unless it
    vanishes.
    """
    a, b, c = m[0][0], m[1][1], m[2][2]
    p, q, r = m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]
    d, e, f = m[1][0] + m[0][1], m[0][2] + m[2][0], m[2][1] + m[1][2]
    ww, xx, yy, zz = 1.0 + (a + b + c), 1.0 + (a - b - c), 1.0 + (b - a - c), 1.0 + (c - a - b)
    w, x, y, z, best = ww, p, q, r, ww
    better = less(best, xx)
    w, x, y, z, best = _choose(better, (p, xx, d, e, xx), (w, x, y, z, best))
    better = less(best, yy)
    w, x, y, z, best = _choose(better, (q, d, yy, f, yy), (w, x, y, z, best))
    better = less(best, zz)
    w, x, y, z, best = _choose(better, (r, e, f, zz, zz), (w, x, y, z, best))
    return normalise((w, x, y, z))


@helper
def _choose(condition: Any, a: Any, b: Any) -> Any:
    return (
        select(condition, a[0], b[0]),
        select(condition, a[1], b[1]),
        select(condition, a[2], b[2]),
        select(condition, a[3], b[3]),
        select(condition, a[4], b[4]),
    )


@helper
def normalise(q: Any) -> Any:
    """q/|q| with the sign that makes w ≥ 0."""
    k = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    k = select(less(q[0], 0.0), -k, k)
    return q[0] / k, q[1] / k, q[2] / k, q[3] / k


@helper
def project(q: Any) -> Any:
    """Nearest unit quaternion, q/|q|, free of overflow; the sign is kept."""
    a = absolute(q[0]) + absolute(q[1]) + absolute(q[2]) + absolute(q[3])
    w, x, y, z = q[0] / a, q[1] / a, q[2] / a, q[3] / a
    k = sqrt(w * w + x * x + y * y + z * z)
    return w / k, x / k, y / k, z / k


@helper
def defect(q: Any) -> Any:
    """Distance from the group: | |q| − 1 |, to first order."""
    return absolute(_norm_excess(q))


@helper
def project_margin(q: Any) -> Any:
    """0 where no nearest element exists: |q|."""
    return absolute(q[0]) + absolute(q[1]) + absolute(q[2]) + absolute(q[3])


# --- exponential map ------------------------------------------------------------------------------------------------


@helper
def _square(x: Any) -> Any:
    return dot(x, x)


@helper
def _polar(x: Any, delta: Any) -> Any:
    return 2.0 * dot(x, delta)


@helper
def _square_gradient(x: Any) -> Any:
    return scale(2.0, x)


@helper
def exp(x: Any) -> Any:
    """exp x = (cos θ/2, (sin θ/2)/θ x), θ = |x|."""
    z = dot(x, x)
    m, k = half_turn(z)
    return 1.0 - z * m, k * x[0], k * x[1], k * x[2]


@helper
def exp_difference(x: Any) -> Any:
    """exp x − e; the real part is −2 sin²(θ/4) = −(1 − cos θ/2)."""
    z = dot(x, x)
    m, k = half_turn(z)
    return -(z * m), k * x[0], k * x[1], k * x[2]


@helper
def log(q: Any) -> Any:
    """Rotation vector with 0 ≤ θ ≤ π: 2 atan2(|v|, |w|) v/|v| with the sign of w; the norm of q does not matter."""
    n = sqrt(dot(q[1:], q[1:]))
    w = absolute(q[0])
    k = 2.0 * select(n == 0.0, 1.0, arctan2(n, w) / select(n == 0.0, 1.0, n))
    k = select(less(q[0], 0.0), -k, k)
    return k * q[1], k * q[2], k * q[3]


@helper
def exp_margin(x: Any) -> Any:
    """0 where dexp⁻¹ has a pole: |sin θ/2|/θ for θ > 1."""
    t = sqrt(dot(x, x))
    s, _ = sincos(0.5 * t)
    return select(less(t, 1.0), 1.0, absolute(s) / maximum(t, 1.0))


(
    dexp_left,
    dexp_right,
    dexpinv_left,
    dexpinv_right,
    dexp_left_transpose,
    dexp_right_transpose,
    dexpinv_left_transpose,
    dexpinv_right_transpose,
    dexpinv_left_derivative,
    dexpinv_left_gradient,
) = tangents(Algebra(bracket, bracket_transpose, _square, _polar, _square_gradient, add, scale, dot, combine))

# --- Cayley map -----------------------------------------------------------------------------------------------------


@helper
def cay(x: Any) -> Any:
    """cay x = (1, x/2)/√(1 + θ²/4): rotation by 2 atan(θ/2) about x."""
    r = sqrt(1.0 + 0.25 * dot(x, x))
    k = 0.5 / r
    return 1.0 / r, k * x[0], k * x[1], k * x[2]


@helper
def cay_difference(x: Any) -> Any:
    """cay x − e; the real part is −n/(r (1 + r)), n = θ²/4, r = √(1 + n)."""
    n = 0.25 * dot(x, x)
    r = sqrt(1.0 + n)
    k = 0.5 / r
    return -(n / (r * (1.0 + r))), k * x[0], k * x[1], k * x[2]


@helper
def cay_inverse(q: Any) -> Any:
    """2 v/w; rotations by π are out of reach (w = 0: a huge value of the right direction)."""
    return scale(2.0 / select(q[0] == 0.0, 1e-300, q[0]), q[1:])


@helper
def cay_margin(q: Any) -> Any:
    """0 where cay⁻¹ does not exist: |w|."""
    return absolute(q[0])


@helper
def cayley_factor(x: Any) -> Any:
    """κ = 1/(1 + θ²/4)."""
    return 1.0 / (1.0 + 0.25 * dot(x, x))


@helper
def dcay_right(x: Any, y: Any) -> Any:
    """κ (y + ½ x × y)."""
    k = cayley_factor(x)
    return add(scale(k, y), scale(0.5 * k, cross(x, y)))


@helper
def dcay_right_transpose(x: Any, mu: Any) -> Any:
    """κ (μ − ½ x × μ)."""
    k = cayley_factor(x)
    return subtract(scale(k, mu), scale(0.5 * k, cross(x, mu)))


@helper
def dcayinv_right(x: Any, y: Any) -> Any:
    """y − ½ x × y + ¼ x (x·y)."""
    return combine(y, -0.5, cross(x, y), 0.25 * dot(x, y), x)


@helper
def dcayinv_right_transpose(x: Any, mu: Any) -> Any:
    """μ + ½ x × μ + ¼ x (x·μ)."""
    return combine(mu, 0.5, cross(x, mu), 0.25 * dot(x, mu), x)


@helper
def dcayinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """½ μ × δ + ¼ (δ (x·μ) + x (δ·μ))."""
    return combine(scale(0.5, cross(mu, delta)), 0.25 * dot(x, mu), delta, 0.25 * dot(delta, mu), x)


@helper
def dcayinv_left_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """½ ξ × μ + ¼ (μ (x·ξ) + ξ (x·μ))."""
    return combine(scale(0.5, cross(xi, mu)), 0.25 * dot(x, xi), mu, 0.25 * dot(x, mu), xi)


# --- canonical coordinates of the second kind: R_x(x₁) R_y(x₂) R_z(x₃) -----------------------------------------------


@helper
def ccsk(x: Any) -> Any:
    """exp(x₁e₁) exp(x₂e₂) exp(x₃e₃)."""
    d = ccsk_difference(x)
    return 1.0 + d[0], d[1], d[2], d[3]


@helper
def ccsk_difference(x: Any) -> Any:
    """ccsk x − e; c₁c₂c₃ − 1 = Σ of products of cₖ − 1 = −2 sin²(xₖ/4)."""
    s1, c1, m1 = _half(x[0])
    s2, c2, m2 = _half(x[1])
    s3, c3, m3 = _half(x[2])
    m = m1 + c1 * (m2 + c2 * m3)
    return m - s1 * s2 * s3, s1 * c2 * c3 + c1 * s2 * s3, c1 * s2 * c3 - s1 * c2 * s3, c1 * c2 * s3 + s1 * s2 * c3


@helper
def _half(x: Any) -> Any:
    s, c = sincos(0.25 * x)
    return 2.0 * s * c, (c - s) * (c + s), -2.0 * s * s


@helper
def ccsk_inverse(q: Any) -> Any:
    """Angles of R_x R_y R_z with −π/2 ≤ x₂ ≤ π/2 and x₁, x₃ in (−π, π].

    Half sum and half difference of x₁ and x₃ are read off first, so that the product of the three rotations is q to
    rounding next to and on the singular set x₂ = ±π/2, too (there x₁ = ±x₃ is chosen).  Source: Bernardes & Viollet
    2022.
    """
    sign = select(less(q[0], 0.0), -1.0, 1.0)
    w, x, y, z = sign * q[0], sign * q[1], sign * q[2], sign * q[3]
    p = sqrt((w + y) * (w + y) + (x + z) * (x + z))
    m = sqrt((w - y) * (w - y) + (x - z) * (x - z))
    half_sum, half_difference = arctan2(x + z, w + y), arctan2(x - z, w - y)
    return (
        _wrap(half_sum + half_difference),
        2.0 * arctan2(4.0 * (w * y + x * z), (p + m) * (p + m)),
        _wrap(half_sum - half_difference),
    )


@helper
def _wrap(a: Any) -> Any:
    up, down = less(a, -_PI), less(_PI, a)
    return select(down, (a - _TWO_PI) - _TWO_PI_REST, select(up, (a + _TWO_PI) + _TWO_PI_REST, a))


@helper
def _safe(c: Any) -> Any:
    return select(c == 0.0, 1e-300, c)


@helper
def ccsk_margin(x: Any) -> Any:
    """0 where the inverse tangents have a pole: |cos x₂|."""
    return absolute(sincos(x[1])[1])


@helper
def dccsk_right(x: Any, y: Any) -> Any:
    """y₁ e₁ + y₂ R_x e₂ + y₃ R_x R_y e₃."""
    s1, c1 = sincos(x[0])
    s2, c2 = sincos(x[1])
    k = c2 * y[2]
    return y[0] + s2 * y[2], c1 * y[1] - s1 * k, s1 * y[1] + c1 * k


@helper
def dccsk_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccsk_right`."""
    s1, c1 = sincos(x[0])
    s2, c2 = sincos(x[1])
    return mu[0], c1 * mu[1] + s1 * mu[2], s2 * mu[0] + c2 * (c1 * mu[2] - s1 * mu[1])


@helper
def dccskinv_right(x: Any, y: Any) -> Any:
    """Inverse of `dccsk_right`; poles at x₂ = ±π/2."""
    s1, c1 = sincos(x[0])
    s2, c2 = sincos(x[1])
    k = (c1 * y[2] - s1 * y[1]) / _safe(c2)
    return y[0] - s2 * k, c1 * y[1] + s1 * y[2], k


@helper
def dccskinv_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccskinv_right`."""
    s1, c1 = sincos(x[0])
    s2, c2 = sincos(x[1])
    k = (mu[2] - s2 * mu[0]) / _safe(c2)
    return mu[0], c1 * mu[1] - s1 * k, s1 * mu[1] + c1 * k


@helper
def dccsk_left(x: Any, y: Any) -> Any:
    """y₁ R_zᵀ R_yᵀ e₁ + y₂ R_zᵀ e₂ + y₃ e₃."""
    s2, c2 = sincos(x[1])
    s3, c3 = sincos(x[2])
    k = c2 * y[0]
    return c3 * k + s3 * y[1], c3 * y[1] - s3 * k, s2 * y[0] + y[2]


@helper
def dccsk_left_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccsk_left`."""
    s2, c2 = sincos(x[1])
    s3, c3 = sincos(x[2])
    return c2 * (c3 * mu[0] - s3 * mu[1]) + s2 * mu[2], s3 * mu[0] + c3 * mu[1], mu[2]


@helper
def dccskinv_left(x: Any, y: Any) -> Any:
    """Inverse of `dccsk_left`; poles at x₂ = ±π/2."""
    s2, c2 = sincos(x[1])
    s3, c3 = sincos(x[2])
    k = (c3 * y[0] - s3 * y[1]) / _safe(c2)
    return k, s3 * y[0] + c3 * y[1], y[2] - s2 * k


@helper
def dccskinv_left_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccskinv_left`."""
    s2, c2 = sincos(x[1])
    s3, c3 = sincos(x[2])
    k = (mu[0] - s2 * mu[2]) / _safe(c2)
    return c3 * k + s3 * mu[1], c3 * mu[1] - s3 * k, mu[2]


@helper
def dccskinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """Derivative of ν = `dccskinv_left_transpose(x, mu)` by x in the direction δ."""
    s2, c2 = sincos(x[1])
    s3, c3 = sincos(x[2])
    nu = dccskinv_left_transpose(x, mu)
    k = (s2 * ((mu[0] - s2 * mu[2]) / _safe(c2)) / _safe(c2) - mu[2]) * delta[1]
    return c3 * k + nu[1] * delta[2], -(s3 * k) - nu[0] * delta[2], 0.0 * k


@helper
def dccskinv_left_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """Gradient of ⟨μ, dccskinv_left(x) ξ⟩ by x."""
    s2, c2 = sincos(x[1])
    s3, c3 = sincos(x[2])
    nu = dccskinv_left_transpose(x, mu)
    k = s2 * ((mu[0] - s2 * mu[2]) / _safe(c2)) / _safe(c2) - mu[2]
    return 0.0 * k, k * (c3 * xi[0] - s3 * xi[1]), nu[1] * xi[0] - nu[0] * xi[1]


@helper
def dccskinv_right_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """Derivative of ν = `dccskinv_right_transpose(x, mu)` by x in the direction δ."""
    s1, c1 = sincos(x[0])
    s2, c2 = sincos(x[1])
    nu = dccskinv_right_transpose(x, mu)
    k = (s2 * ((mu[2] - s2 * mu[0]) / _safe(c2)) / _safe(c2) - mu[0]) * delta[1]
    return 0.0 * k, -(s1 * k) - nu[2] * delta[0], c1 * k + nu[1] * delta[0]


@helper
def dccskinv_right_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """Gradient of ⟨μ, dccskinv_right(x) ξ⟩ by x."""
    s1, c1 = sincos(x[0])
    s2, c2 = sincos(x[1])
    nu = dccskinv_right_transpose(x, mu)
    k = s2 * ((mu[2] - s2 * mu[0]) / _safe(c2)) / _safe(c2) - mu[0]
    return nu[1] * xi[2] - nu[2] * xi[1], k * (c1 * xi[2] - s1 * xi[1]), 0.0 * k


def ccsk_inverse_ordered(q: Any, order: tuple[int, ...]) -> Any:
    """`ccsk_inverse` for any order of the axes: a permutation of axes (with a reflection if odd) turns it into the
    natural one.
    """
    a, b, c = order
    sign = 1.0 if (b - a) % 3 == 1 else -1.0
    angles = ccsk_inverse((q[0], sign * q[1 + a], sign * q[1 + b], sign * q[1 + c]))
    return tuple(sign * angles[order.index(k)] for k in range(3))
