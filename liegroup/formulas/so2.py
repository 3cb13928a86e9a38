"""SO(2): the angle θ, not wrapped by products; logarithms lie in [−π, π]."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.compile.scalars import absolute, arctan, arctan2, less, select, sincos
from liegroup.formulas import rn

NAME, N_Q, N_V, N_POINT, N_ROTATION, N_NORMALS = "SO(2)", 1, 1, 2, 2, 2
COMPONENTS, QUATERNIONS, ANGLES, SIZES, CHART = ("angle",), (), (0,), (None,), ()
COMMUTATIVE, RIGID_BODY = True, None

# --- the group ------------------------------------------------------------------------------------------------------

identity, compose, inverse = rn.identity, rn.compose, rn.inverse
displace, advance = rn.displace, rn.advance
adjoint, coadjoint, bracket, bracket_transpose = rn.adjoint, rn.coadjoint, rn.bracket, rn.bracket_transpose
coordinate_rate, body_velocity = rn.coordinate_rate, rn.body_velocity


@helper
def act(q: Any, u: Any) -> Any:
    """R(θ) u in the plane."""
    s, c = sincos(q[0])
    return c * u[0] - s * u[1], s * u[0] + c * u[1]


@helper
def wrap(angle: Any) -> Any:
    """The same angle in [−π, π]; angles below 3 are returned as they are."""
    s, c = sincos(angle)
    return select(less(absolute(angle), 3.0), angle, arctan2(s, c))


# --- matrices -------------------------------------------------------------------------------------------------------


@helper
def hat(x: Any) -> Any:
    """[[0, −x], [x, 0]]."""
    zero = 0.0 * x[0]
    return (zero, -x[0]), (x[0], zero)


@helper
def vee(m: Any) -> Any:
    """Inverse of `hat`."""
    return (0.5 * (m[1][0] - m[0][1]),)


@helper
def matrix(q: Any) -> Any:
    """[[cos θ, −sin θ], [sin θ, cos θ]]."""
    s, c = sincos(q[0])
    return (c, -s), (s, c)


@helper
def from_matrix(m: Any) -> Any:
    """θ of a rotation matrix."""
    return (arctan2(m[1][0] - m[0][1], m[0][0] + m[1][1]),)


@helper
def project(q: Any) -> Any:
    """θ in [−π, π]."""
    return (wrap(q[0]),)


defect = rn.defect


def uniform(normals: Any) -> Any:
    """A uniform angle from two independent normal numbers."""
    return (arctan2(normals[1], normals[0]),)


# --- maps -----------------------------------------------------------------------------------------------------------

exp = exp_difference = ccsk = ccsk_difference = rn.exp
log = ccsk_inverse = project
dexp_left, dexp_right, dexpinv_left, dexpinv_right = rn.dexp_left, rn.dexp_right, rn.dexpinv_left, rn.dexpinv_right
dexp_left_transpose, dexp_right_transpose = rn.dexp_left_transpose, rn.dexp_right_transpose
dexpinv_left_transpose, dexpinv_right_transpose = rn.dexpinv_left_transpose, rn.dexpinv_right_transpose
dexpinv_left_derivative, dexpinv_left_gradient = rn.dexpinv_left_derivative, rn.dexpinv_left_gradient
dccsk_left, dccsk_right, dccskinv_left, dccskinv_right = dexp_left, dexp_right, dexpinv_left, dexpinv_right
dccsk_left_transpose, dccsk_right_transpose = dexp_left_transpose, dexp_right_transpose
dccskinv_left_transpose, dccskinv_right_transpose = dexpinv_left_transpose, dexpinv_right_transpose
dccskinv_left_derivative, dccskinv_left_gradient = dexpinv_left_derivative, dexpinv_left_gradient
dccskinv_right_derivative, dccskinv_right_gradient = dexpinv_left_derivative, dexpinv_left_gradient


@helper
def cayley_angle(x: Any) -> Any:
    """2 atan(x/2)."""
    return 2.0 * arctan(0.5 * x)


@helper
def cayley_coordinate(angle: Any) -> Any:
    """2 tan(θ/2); θ = π is out of reach (a huge value there)."""
    s, c = sincos(0.5 * angle)
    return 2.0 * s / select(c == 0.0, 1e-300, c)


@helper
def cay(x: Any) -> Any:
    """Rotation by 2 atan(x/2)."""
    return (cayley_angle(x[0]),)


cay_difference = cay


@helper
def cay_margin(q: Any) -> Any:
    """0 where cay⁻¹ does not exist: |cos θ/2|."""
    return absolute(sincos(0.5 * q[0])[1])


@helper
def cay_inverse(q: Any) -> Any:
    """2 tan(θ/2)."""
    return (cayley_coordinate(q[0]),)


@helper
def dcay_right(x: Any, y: Any) -> Any:
    """y/(1 + x²/4)."""
    return (y[0] / (1.0 + 0.25 * x[0] * x[0]),)


@helper
def dcayinv_right(x: Any, y: Any) -> Any:
    """(1 + x²/4) y."""
    return ((1.0 + 0.25 * x[0] * x[0]) * y[0],)


dcay_left = dcay_right_transpose = dcay_left_transpose = dcay_right
dcayinv_left = dcayinv_right_transpose = dcayinv_left_transpose = dcayinv_right


@helper
def dcayinv_left_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """½ x μ δ."""
    return (0.5 * x[0] * mu[0] * delta[0],)


dcayinv_left_gradient = dcayinv_left_derivative
