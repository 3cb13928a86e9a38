"""SE(2): (x, y, θ), translation in parent axes, θ not wrapped by products; algebra (vx, vy, ω) in body axes."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.compile.scalars import absolute, arctan2, less, maximum, select, sincos
from liegroup.formulas import rn, so2
from liegroup.formulas.exponential import Algebra, tangents
from liegroup.formulas.ordered import ordered_translations
from liegroup.formulas.vectors import add, combine, dot, scale

NAME, N_Q, N_V, N_POINT, N_ROTATION, N_NORMALS = "SE(2)", 3, 3, 2, 2, 4
COMPONENTS, QUATERNIONS, ANGLES = ("x", "y", "angle"), (), (2,)
SIZES, CHART, COMMUTATIVE, RIGID_BODY = ((0, 2), (0, 2), None), ((2, 1),), False, (2, 1)

# --- the group ------------------------------------------------------------------------------------------------------


@helper
def identity(zero: Any) -> Any:
    """e; `zero` is a zero of the scalar type."""
    return zero, zero, zero


@helper
def _turn(angle: Any, u: Any) -> Any:
    s, c = sincos(angle)
    return c * u[0] - s * u[1], s * u[0] + c * u[1]


@helper
def compose(a: Any, b: Any) -> Any:
    """(p_a + R_a p_b, θ_a + θ_b)."""
    x, y = _turn(a[2], b)
    return a[0] + x, a[1] + y, a[2] + b[2]


@helper
def inverse(q: Any) -> Any:
    """(−Rᵀ p, −θ)."""
    x, y = _turn(-q[2], q)
    return -x, -y, -q[2]


@helper
def act(q: Any, u: Any) -> Any:
    """p + R u in the plane."""
    x, y = _turn(q[2], u)
    return q[0] + x, q[1] + y


@helper
def displace(q: Any, d: Any) -> Any:
    """q τ − q for d = τ − e."""
    x, y = _turn(q[2], d)
    return x, y, d[2]


advance = compose


@helper
def adjoint(q: Any, y: Any) -> Any:
    """(R v − ω J p, ω), J = quarter turn."""
    a, b = _turn(q[2], y)
    return a + y[2] * q[1], b - y[2] * q[0], y[2]


@helper
def coadjoint(q: Any, mu: Any) -> Any:
    """Transpose of `adjoint`: (Rᵀ f, m − f·J p)."""
    a, b = _turn(-q[2], mu)
    return a, b, mu[2] + (mu[0] * q[1] - mu[1] * q[0])


@helper
def bracket(x: Any, y: Any) -> Any:
    """(ω_x J v_y − ω_y J v_x, 0)."""
    return y[2] * x[1] - x[2] * y[1], x[2] * y[0] - y[2] * x[0], 0.0 * y[2]


@helper
def bracket_transpose(x: Any, mu: Any) -> Any:
    """(−ω J f, −f·J v)."""
    return x[2] * mu[1], -(x[2] * mu[0]), mu[0] * x[1] - mu[1] * x[0]


@helper
def coordinate_rate(q: Any, v: Any) -> Any:
    """(R v, ω)."""
    x, y = _turn(q[2], v)
    return x, y, v[2]


@helper
def body_velocity(q: Any, rate: Any) -> Any:
    """(Rᵀ ẋ, ω)."""
    x, y = _turn(-q[2], rate)
    return x, y, rate[2]


# --- matrices -------------------------------------------------------------------------------------------------------


@helper
def hat(x: Any) -> Any:
    """[[0, −ω, vx], [ω, 0, vy], [0, 0, 0]]."""
    zero = 0.0 * x[0]
    return (zero, -x[2], x[0]), (x[2], zero, x[1]), (zero, zero, zero)


@helper
def vee(m: Any) -> Any:
    """Inverse of `hat`."""
    return m[0][2], m[1][2], 0.5 * (m[1][0] - m[0][1])


@helper
def matrix(q: Any) -> Any:
    """[[R, p], [0, 1]]."""
    s, c = sincos(q[2])
    zero = 0.0 * q[0]
    return (c, -s, q[0]), (s, c, q[1]), (zero, zero, zero + 1.0)


@helper
def from_matrix(m: Any) -> Any:
    """Inverse of `matrix`."""
    return m[0][2], m[1][2], so2.from_matrix(m)[0]


@helper
def project(q: Any) -> Any:
    """θ in [−π, π]."""
    return q[0], q[1], so2.wrap(q[2])


defect = rn.defect


def uniform(normals: Any) -> Any:
    """A random element from four independent normal numbers: the angle uniform, the translation normal."""
    return normals[0], normals[1], arctan2(normals[3], normals[2])


# --- exponential map ------------------------------------------------------------------------------------------------


@helper
def _square(x: Any) -> Any:
    return x[2] * x[2]


@helper
def _polar(x: Any, delta: Any) -> Any:
    return 2.0 * x[2] * delta[2]


@helper
def _square_gradient(x: Any) -> Any:
    return 0.0 * x[0], 0.0 * x[1], 2.0 * x[2]


@helper
def _half_sinc(angle: Any) -> Any:
    half = 0.5 * angle  # which rounds, of a denormal number
    s, _ = sincos(half)
    return select(half == 0.0, 1.0, s / select(half == 0.0, 1.0, half))


@helper
def exp(x: Any) -> Any:
    """(sinc(ω/2) R(ω/2) v, ω): the chord of the circular arc."""
    k = _half_sinc(x[2])
    a, b = _turn(0.5 * x[2], x)
    return k * a, k * b, x[2]


exp_difference = exp


@helper
def log(q: Any) -> Any:
    """Inverse of `exp` with −π ≤ ω ≤ π."""
    angle = so2.wrap(q[2])
    k = _half_sinc(angle)
    a, b = _turn(-0.5 * angle, q)
    return a / k, b / k, angle


@helper
def exp_margin(x: Any) -> Any:
    """0 where dexp⁻¹ has a pole: |sin ω/2|/|ω| for |ω| > 1."""
    t = absolute(x[2])
    return select(less(t, 1.0), 1.0, absolute(sincos(0.5 * t)[0]) / maximum(t, 1.0))


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
def _cayley(angle: Any, u: Any) -> Any:
    """(E − ½ω J)⁻¹ u = κ (u + ½ω J u), κ = 1/(1 + ω²/4)."""
    h = 0.5 * angle
    k = 1.0 / (1.0 + h * h)
    return k * (u[0] - h * u[1]), k * (u[1] + h * u[0])


@helper
def cay(x: Any) -> Any:
    """((E − ½ω J)⁻¹ v, 2 atan(ω/2))."""
    a, b = _cayley(x[2], x)
    return a, b, so2.cayley_angle(x[2])


cay_difference = cay


@helper
def cay_inverse(q: Any) -> Any:
    """((E − ½ω J) p, ω), ω = 2 tan(θ/2); θ = π is out of reach (a huge value there)."""
    w = so2.cayley_coordinate(q[2])
    return q[0] + 0.5 * w * q[1], q[1] - 0.5 * w * q[0], w


@helper
def cay_margin(q: Any) -> Any:
    """0 where cay⁻¹ does not exist: |cos θ/2|."""
    return so2.cay_margin((q[2],))


@helper
def dcay_right(x: Any, y: Any) -> Any:
    """((E − ½ω J)⁻¹ y_v − ½ω' J v, ω'), ω' = κ y_ω."""
    w = y[2] / (1.0 + 0.25 * x[2] * x[2])
    a, b = _cayley(x[2], y)
    return a + 0.5 * w * x[1], b - 0.5 * w * x[0], w


@helper
def dcay_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dcay_right`."""
    a, b = _cayley(-x[2], mu)
    return a, b, (mu[2] + 0.5 * (mu[0] * x[1] - mu[1] * x[0])) / (1.0 + 0.25 * x[2] * x[2])


@helper
def dcayinv_right(x: Any, y: Any) -> Any:
    """y − ½ ad_x y + ¼ ω y_ω x."""
    return combine(y, -0.5, bracket(x, y), 0.25 * x[2] * y[2], x)


@helper
def dcayinv_right_transpose(x: Any, mu: Any) -> Any:
    """μ − ½ ad_xᵀ μ + ¼ (0, 0, ω x·μ)."""
    u = bracket_transpose(x, mu)
    return mu[0] - 0.5 * u[0], mu[1] - 0.5 * u[1], mu[2] - (0.5 * u[2] - 0.25 * x[2] * dot(x, mu))


@helper
def dcayinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """½ ad_δᵀ μ + ¼ (0, 0, δ_ω x·μ + ω δ·μ)."""
    u = bracket_transpose(delta, mu)
    return 0.5 * u[0], 0.5 * u[1], 0.5 * u[2] + 0.25 * (delta[2] * dot(x, mu) + x[2] * dot(delta, mu))


@helper
def dcayinv_left_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """−½ ad_ξᵀ μ + ¼ ξ_ω (ω μ + (0, 0, x·μ))."""
    u = bracket_transpose(xi, mu)
    k = 0.25 * xi[2]
    return k * x[2] * mu[0] - 0.5 * u[0], k * x[2] * mu[1] - 0.5 * u[1], k * (x[2] * mu[2] + dot(x, mu)) - 0.5 * u[2]


# --- canonical coordinates of the second kind: translations, then the rotation --------------------------------------


@helper
def ccsk(x: Any) -> Any:
    """exp(x₁e₁) exp(x₂e₂) exp(x₃e₃) = (x₁, x₂, x₃)."""
    return x[0], x[1], x[2]


ccsk_difference = ccsk
ccsk_inverse = project


@helper
def dccsk_right(x: Any, y: Any) -> Any:
    """(y_v − y_ω J v, y_ω)."""
    return y[0] + y[2] * x[1], y[1] - y[2] * x[0], y[2]


@helper
def dccsk_right_transpose(x: Any, mu: Any) -> Any:
    """(f, m − f·J v)."""
    return mu[0], mu[1], mu[2] + (mu[0] * x[1] - mu[1] * x[0])


@helper
def dccskinv_right(x: Any, y: Any) -> Any:
    """(y_v + y_ω J v, y_ω)."""
    return y[0] - y[2] * x[1], y[1] + y[2] * x[0], y[2]


@helper
def dccskinv_right_transpose(x: Any, mu: Any) -> Any:
    """(f, m + f·J v)."""
    return mu[0], mu[1], mu[2] - (mu[0] * x[1] - mu[1] * x[0])


@helper
def dccsk_left(x: Any, y: Any) -> Any:
    """(Rᵀ y_v, y_ω)."""
    a, b = _turn(-x[2], y)
    return a, b, y[2]


@helper
def dccskinv_left(x: Any, y: Any) -> Any:
    """(R y_v, y_ω)."""
    a, b = _turn(x[2], y)
    return a, b, y[2]


dccsk_left_transpose, dccskinv_left_transpose = dccskinv_left, dccsk_left


@helper
def dccskinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """(−δ_ω J Rᵀ f, 0)."""
    a, b = _turn(-x[2], mu)
    return delta[2] * b, -(delta[2] * a), 0.0 * a


@helper
def dccskinv_left_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """(0, 0, f·J R ξ_v)."""
    a, b = _turn(-x[2], mu)
    return 0.0 * a, 0.0 * b, xi[0] * b - xi[1] * a


@helper
def dccskinv_right_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """(0, 0, f·J δ_v)."""
    return 0.0 * mu[0], 0.0 * mu[1], mu[1] * delta[0] - mu[0] * delta[1]


@helper
def dccskinv_right_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """(−ξ_ω J f, 0)."""
    return xi[2] * mu[1], -(xi[2] * mu[0]), 0.0 * xi[2]


def ccsk_inverse_ordered(q: Any, order: tuple[int, ...]) -> Any:
    """`ccsk_inverse` for any order of the basis; singular at ±π/2 if the rotation stands between the translations."""
    angle = so2.wrap(q[2])
    translation = ordered_translations(_turn_by_all, lambda k, a: a, (0, 1), order, (None, None, angle), q[:2])
    return (*translation, angle)


def _turn_by_all(angles: Any, u: Any) -> Any:
    for angle in angles:
        u = _turn(angle, u)
    return u
