"""SE(3): (x, y, z, qw, qx, qy, qz), translation p in parent axes, unit quaternion; algebra (v, ω) linear first, body
axes.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.formulas import so3
from liegroup.formulas.exponential import Algebra, Dual, tangents
from liegroup.formulas.ordered import ordered_translations
from liegroup.formulas.vectors import add, add6, combine, combine6, cross, dot, dot6, scale, scale6, subtract

NAME, N_Q, N_V, N_POINT, N_ROTATION = "SE(3)", 7, 6, 3, 3
COMPONENTS, QUATERNIONS, ANGLES = ("x", "y", "z", *so3.COMPONENTS), (3,), ()
SIZES, CHART, COMMUTATIVE, RIGID_BODY = (*((0, 3),) * 3, None, None, None), ((3, 3),), False, (3, 3)

# --- the group ------------------------------------------------------------------------------------------------------


@helper
def identity(zero: Any) -> Any:
    """e; `zero` is a zero of the scalar type."""
    return (zero, zero, zero) + so3.identity(zero)  # noqa: RUF005 (the compiler knows no unpacking)


@helper
def compose(a: Any, b: Any) -> Any:
    """(p_a + R_a p_b, q_a q_b)."""
    return add(a[:3], so3.act(a[3:], b[:3])) + so3.compose(a[3:], b[3:])


@helper
def inverse(q: Any) -> Any:
    """(−Rᵀ p, q⁻¹)."""
    r = so3.inverse(q[3:])
    return scale(-1.0, so3.act(r, q[:3])) + r


@helper
def act(q: Any, u: Any) -> Any:
    """p + R u."""
    return add(q[:3], so3.act(q[3:], u))


@helper
def displace(q: Any, d: Any) -> Any:
    """q τ − q for d = τ − e."""
    return so3.act(q[3:], d[:3]) + so3.displace(q[3:], d[3:])


@helper
def advance(q: Any, d: Any) -> Any:
    """q τ for d = τ − e."""
    return add(q[:3], so3.act(q[3:], d[:3])) + so3.advance(q[3:], d[3:])


@helper
def adjoint(q: Any, y: Any) -> Any:
    """(R v + p × R ω, R ω)."""
    w = so3.act(q[3:], y[3:])
    return add(so3.act(q[3:], y[:3]), cross(q[:3], w)) + w


@helper
def coadjoint(q: Any, mu: Any) -> Any:
    """Transpose of `adjoint`: (Rᵀ f, Rᵀ (m − p × f))."""
    r = so3.inverse(q[3:])
    return so3.act(r, mu[:3]) + so3.act(r, subtract(mu[3:], cross(q[:3], mu[:3])))


@helper
def bracket(x: Any, y: Any) -> Any:
    """(ω_x × v_y + v_x × ω_y, ω_x × ω_y)."""
    return add(cross(x[3:], y[:3]), cross(x[:3], y[3:])) + cross(x[3:], y[3:])


@helper
def bracket_transpose(x: Any, mu: Any) -> Any:
    """(f × ω, m × ω + f × v)."""
    return cross(mu[:3], x[3:]) + add(cross(mu[3:], x[3:]), cross(mu[:3], x[:3]))


@helper
def coordinate_rate(q: Any, v: Any) -> Any:
    """(R v, ½ q (0, ω))."""
    return so3.act(q[3:], v[:3]) + so3.coordinate_rate(q[3:], v[3:])


@helper
def body_velocity(q: Any, rate: Any) -> Any:
    """(Rᵀ ẋ, ω)."""
    return so3.act_inverse(q[3:], rate[:3]) + so3.body_velocity(q[3:], rate[3:])


# --- matrices -------------------------------------------------------------------------------------------------------


@helper
def hat(x: Any) -> Any:
    """[[ω̂, v], [0, 0]] as rows."""
    a, b, c = so3.hat(x[3:])
    zero = 0.0 * x[0]
    return a + (x[0],), b + (x[1],), c + (x[2],), (zero, zero, zero, zero)  # noqa: RUF005


@helper
def vee(m: Any) -> Any:
    """Inverse of `hat`."""
    return (m[0][3], m[1][3], m[2][3]) + so3.vee(m)  # noqa: RUF005


@helper
def matrix(q: Any) -> Any:
    """[[R, p], [0, 1]] as rows."""
    a, b, c = so3.matrix(q[3:])
    zero = 0.0 * q[0]
    return a + (q[0],), b + (q[1],), c + (q[2],), (zero, zero, zero, zero + 1.0)  # noqa: RUF005


@helper
def from_matrix(m: Any) -> Any:
    """Inverse of `matrix`."""
    return (m[0][3], m[1][3], m[2][3]) + so3.from_matrix(m)  # noqa: RUF005


@helper
def project(q: Any) -> Any:
    """(p, q/|q|)."""
    return q[:3] + so3.project(q[3:])


@helper
def defect(q: Any) -> Any:
    """Distance from the group: | |q| − 1 |, to first order."""
    return so3.defect(q[3:])


@helper
def project_margin(q: Any) -> Any:
    """0 where no nearest element exists."""
    return so3.project_margin(q[3:])


# --- exponential map ------------------------------------------------------------------------------------------------


@helper
def _translation(x: Any) -> Any:
    """dexp_right(ω) v on so(3)."""
    return so3.dexp_right(x[3:], x[:3])


@helper
def exp(x: Any) -> Any:
    """(dexp_right(ω) v, exp ω)."""
    return _translation(x) + so3.exp(x[3:])


@helper
def exp_difference(x: Any) -> Any:
    """exp x − e."""
    return _translation(x) + so3.exp_difference(x[3:])


@helper
def log(q: Any) -> Any:
    """(dexp_right(ω)⁻¹ p, ω), ω = log q, 0 ≤ θ ≤ π."""
    w = so3.log(q[3:])
    return so3.dexpinv_right(w, q[:3]) + w


@helper
def _square(x: Any) -> Any:
    return dot(x[3:], x[3:])


@helper
def _polar(x: Any, delta: Any) -> Any:
    return 2.0 * dot(x[3:], delta[3:])


@helper
def _square_gradient(x: Any) -> Any:
    return scale(0.0, x[:3]) + scale(2.0, x[3:])


@helper
def _combine_shift(y: Any, a: Any, u: Any, b: Any, w: Any) -> Any:
    return combine(y[:3], a, u[3:], b, w[3:]) + y[3:]


@helper
def _combine_shift_transpose(y: Any, a: Any, u: Any, b: Any, w: Any) -> Any:
    return y[:3] + combine(y[3:], a, u[:3], b, w[:3])


@helper
def _dot_shift(p: Any, u: Any) -> Any:
    return dot(p[:3], u[3:])


@helper
def _pitch(x: Any) -> Any:
    return 2.0 * dot(x[:3], x[3:])


@helper
def _pitch_polar(x: Any, delta: Any) -> Any:
    return 2.0 * (dot(x[:3], delta[3:]) + dot(x[3:], delta[:3]))


@helper
def _pitch_gradient(x: Any) -> Any:
    return scale(2.0, x[3:]) + scale(2.0, x[:3])


@helper
def exp_margin(x: Any) -> Any:
    """0 where dexp⁻¹ has a pole."""
    return so3.exp_margin(x[3:])


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
) = tangents(
    Algebra(bracket, bracket_transpose, _square, _polar, _square_gradient, add6, scale6, dot6, combine6),
    Dual(_combine_shift, _combine_shift_transpose, _dot_shift, _pitch, _pitch_polar, _pitch_gradient),
)

# --- Cayley map -----------------------------------------------------------------------------------------------------


@helper
def _resolvent(w: Any, u: Any) -> Any:
    """(E − ½ŵ)⁻¹ u = κ (u + ½ ω × u + ¼ ω (ω·u)); its transpose for −ω."""
    return scale(so3.cayley_factor(w), combine(u, 0.5, cross(w, u), 0.25 * dot(w, u), w))


@helper
def cay(x: Any) -> Any:
    """((E − ½ω̂)⁻¹ v, cay ω)."""
    return _resolvent(x[3:], x[:3]) + so3.cay(x[3:])


@helper
def cay_difference(x: Any) -> Any:
    """cay x − e."""
    return _resolvent(x[3:], x[:3]) + so3.cay_difference(x[3:])


@helper
def cay_inverse(q: Any) -> Any:
    """((E − ½ω̂) p, ω), ω = cay⁻¹ q; rotations by π are out of reach (a huge value there)."""
    w = so3.cay_inverse(q[3:])
    return subtract(q[:3], scale(0.5, cross(w, q[:3]))) + w


@helper
def cay_margin(q: Any) -> Any:
    """0 where cay⁻¹ does not exist."""
    return so3.cay_margin(q[3:])


@helper
def dcay_right(x: Any, y: Any) -> Any:
    """((E − ½ω̂)⁻¹ y_v + ½ v × ω', ω'), ω' = dcay_right(ω) y_ω on so(3)."""
    w = so3.dcay_right(x[3:], y[3:])
    return add(_resolvent(x[3:], y[:3]), scale(0.5, cross(x[:3], w))) + w


@helper
def dcay_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dcay_right`."""
    m = add(mu[3:], scale(0.5, cross(mu[:3], x[:3])))
    return _resolvent(scale(-1.0, x[3:]), mu[:3]) + so3.dcay_right_transpose(x[3:], m)


@helper
def dcayinv_right(x: Any, y: Any) -> Any:
    """y − ½ ad_x y − ¼ x y x (as matrices): the linear part is (E − ½ω̂)(y_v − ½ v × y_ω)."""
    z = subtract(y[:3], scale(0.5, cross(x[:3], y[3:])))
    return subtract(z, scale(0.5, cross(x[3:], z))) + so3.dcayinv_right(x[3:], y[3:])


@helper
def dcayinv_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dcayinv_right`; its linear part is (E + ½ω̂) f."""
    f = add(mu[:3], scale(0.5, cross(x[3:], mu[:3])))
    return f + add(so3.dcayinv_right_transpose(x[3:], mu[3:]), scale(0.5, cross(x[:3], f)))


@helper
def dcayinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """Derivative of (f', μ' − ½ v × f'), f' = (E − ½ω̂) f, μ' the so(3) part, in the direction δ."""
    f = subtract(mu[:3], scale(0.5, cross(x[3:], mu[:3])))
    df = scale(-0.5, cross(delta[3:], mu[:3]))
    turned = add(cross(delta[:3], f), cross(x[:3], df))
    return df + subtract(so3.dcayinv_left_derivative(x[3:], mu[3:], delta[3:]), scale(0.5, turned))


@helper
def dcayinv_left_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """Gradient of ⟨f, (E + ½ω̂) z⟩ + the so(3) part, z = ξ_v + ½ v × ξ_ω."""
    f = subtract(mu[:3], scale(0.5, cross(x[3:], mu[:3])))
    z = add(xi[:3], scale(0.5, cross(x[:3], xi[3:])))
    angular = add(so3.dcayinv_left_gradient(x[3:], xi[3:], mu[3:]), scale(0.5, cross(z, mu[:3])))
    return scale(0.5, cross(xi[3:], f)) + angular


# --- canonical coordinates of the second kind: translations, then R_x R_y R_z ----------------------------------------


@helper
def ccsk(x: Any) -> Any:
    """exp(x₁e₁)…exp(x₆e₆) = (v, R_x R_y R_z)."""
    return x[:3] + so3.ccsk(x[3:])


@helper
def ccsk_difference(x: Any) -> Any:
    """ccsk x − e."""
    return x[:3] + so3.ccsk_difference(x[3:])


@helper
def ccsk_inverse(q: Any) -> Any:
    """(p, angles of R_x R_y R_z)."""
    return q[:3] + so3.ccsk_inverse(q[3:])


@helper
def ccsk_margin(x: Any) -> Any:
    """0 where the inverse tangents have a pole."""
    return so3.ccsk_margin(x[3:])


@helper
def dccsk_right(x: Any, y: Any) -> Any:
    """(y_v + v × w, w), w = dccsk_right(ω) y_ω on so(3)."""
    w = so3.dccsk_right(x[3:], y[3:])
    return add(y[:3], cross(x[:3], w)) + w


@helper
def dccsk_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccsk_right`."""
    return mu[:3] + so3.dccsk_right_transpose(x[3:], add(mu[3:], cross(mu[:3], x[:3])))


@helper
def dccskinv_right(x: Any, y: Any) -> Any:
    """Inverse of `dccsk_right`; poles at x₅ = ±π/2."""
    return subtract(y[:3], cross(x[:3], y[3:])) + so3.dccskinv_right(x[3:], y[3:])


@helper
def dccskinv_right_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccskinv_right`."""
    return mu[:3] + subtract(so3.dccskinv_right_transpose(x[3:], mu[3:]), cross(mu[:3], x[:3]))


@helper
def dccsk_left(x: Any, y: Any) -> Any:
    """(Rᵀ y_v, dccsk_left(ω) y_ω)."""
    return so3.act_inverse(so3.ccsk(x[3:]), y[:3]) + so3.dccsk_left(x[3:], y[3:])


@helper
def dccsk_left_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccsk_left`."""
    return so3.act(so3.ccsk(x[3:]), mu[:3]) + so3.dccsk_left_transpose(x[3:], mu[3:])


@helper
def dccskinv_left(x: Any, y: Any) -> Any:
    """Inverse of `dccsk_left`; poles at x₅ = ±π/2."""
    return so3.act(so3.ccsk(x[3:]), y[:3]) + so3.dccskinv_left(x[3:], y[3:])


@helper
def dccskinv_left_transpose(x: Any, mu: Any) -> Any:
    """Transpose of `dccskinv_left`."""
    return so3.act_inverse(so3.ccsk(x[3:]), mu[:3]) + so3.dccskinv_left_transpose(x[3:], mu[3:])


@helper
def dccskinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """(Rᵀf × dccsk_left(ω) δ_ω, the so(3) part)."""
    f = so3.act_inverse(so3.ccsk(x[3:]), mu[:3])
    return cross(f, so3.dccsk_left(x[3:], delta[3:])) + so3.dccskinv_left_derivative(x[3:], mu[3:], delta[3:])


@helper
def dccskinv_left_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """(0, dccsk_left(ω)ᵀ (ξ_v × Rᵀf) + the so(3) part)."""
    f = so3.act_inverse(so3.ccsk(x[3:]), mu[:3])
    turned = so3.dccsk_left_transpose(x[3:], cross(xi[:3], f))
    return scale(0.0, f) + add(turned, so3.dccskinv_left_gradient(x[3:], xi[3:], mu[3:]))


@helper
def dccskinv_right_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """(0, the so(3) part − f × δ_v)."""
    angular = so3.dccskinv_right_derivative(x[3:], mu[3:], delta[3:])
    return scale(0.0, mu[:3]) + subtract(angular, cross(mu[:3], delta[:3]))


@helper
def dccskinv_right_gradient(x: Any, xi: Any, mu: Any) -> Any:
    """(f × ξ_ω, the so(3) part)."""
    return cross(mu[:3], xi[3:]) + so3.dccskinv_right_gradient(x[3:], xi[3:], mu[3:])


def ccsk_inverse_ordered(q: Any, order: tuple[int, ...]) -> Any:
    """`ccsk_inverse` for any order of the basis: the angles of the rotations, then a linear system for the
    translations.
    """
    angles = so3.ccsk_inverse_ordered(q[3:], tuple(k - 3 for k in order if k >= 3))
    translation = ordered_translations(_act_all, _about_axis, (0, 1, 2), order, (None, None, None, *angles), q[:3])
    return (*translation, *angles)


def _about_axis(k: int, angle: Any) -> Any:
    return so3.exp(tuple(angle if i == k - 3 else 0.0 * angle for i in range(3)))


def _act_all(rotations: Any, u: Any) -> Any:
    for r in reversed(rotations):
        u = so3.act(r, u)
    return u
