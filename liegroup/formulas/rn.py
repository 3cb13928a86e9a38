"""The real line (R, +), the factor of Rⁿ: every map is the identity."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.compile.scalars import absolute

NAME, N_Q, N_V, N_POINT = "R", 1, 1, 1
COMPONENTS, QUATERNIONS, ANGLES, SIZES, CHART = ("0",), (), (), ((0, 1),), ()
COMMUTATIVE, RIGID_BODY, VECTOR_SPACE = True, None, True

# --- the group ------------------------------------------------------------------------------------------------------


@helper
def identity(zero: Any) -> Any:
    """e; `zero` is a zero of the scalar type."""
    return (zero,)


@helper
def compose(a: Any, b: Any) -> Any:
    """a + b."""
    return (a[0] + b[0],)


@helper
def inverse(q: Any) -> Any:
    """−q."""
    return (-q[0],)


act = compose
advance = compose


@helper
def displace(q: Any, d: Any) -> Any:
    """(q + d) − q."""
    return (d[0],)


@helper
def _same(a: Any, y: Any) -> Any:
    """y: the operator is the identity."""
    return (y[0],)


@helper
def _zero(a: Any, y: Any) -> Any:
    """0: the group is commutative."""
    return (0.0 * y[0],)


adjoint = coadjoint = _same
bracket = bracket_transpose = _zero
coordinate_rate = body_velocity = _same

# --- matrices -------------------------------------------------------------------------------------------------------


@helper
def hat(x: Any) -> Any:
    """Algebra of the matrices [[1, q], [0, 1]]."""
    zero = 0.0 * x[0]
    return (zero, x[0]), (zero, zero)


@helper
def vee(m: Any) -> Any:
    """Inverse of `hat`."""
    return (m[0][1],)


@helper
def matrix(q: Any) -> Any:
    """[[1, q], [0, 1]]."""
    zero = 0.0 * q[0]
    return (zero + 1.0, q[0]), (zero, zero + 1.0)


from_matrix = vee


@helper
def project(q: Any) -> Any:
    """q."""
    return (q[0],)


@helper
def defect(q: Any) -> Any:
    """0: every number is an element."""
    return 0.0 * absolute(q[0])


# --- maps -----------------------------------------------------------------------------------------------------------

exp = exp_difference = log = project
cay = cay_difference = cay_inverse = project
ccsk = ccsk_difference = ccsk_inverse = project


@helper
def _no_derivative(x: Any, mu: Any, delta: Any) -> Any:
    """0: the tangents do not depend on x."""
    return (0.0 * mu[0],)


dexp_left = dexp_right = dexpinv_left = dexpinv_right = _same
dexp_left_transpose = dexp_right_transpose = dexpinv_left_transpose = dexpinv_right_transpose = _same
dexpinv_left_derivative = dexpinv_left_gradient = _no_derivative
dcay_left = dcay_right = dcayinv_left = dcayinv_right = _same
dcay_left_transpose = dcay_right_transpose = dcayinv_left_transpose = dcayinv_right_transpose = _same
dcayinv_left_derivative = dcayinv_left_gradient = _no_derivative
dccsk_left = dccsk_right = dccskinv_left = dccskinv_right = _same
dccsk_left_transpose = dccsk_right_transpose = dccskinv_left_transpose = dccskinv_right_transpose = _same
dccskinv_left_derivative = dccskinv_left_gradient = _no_derivative
dccskinv_right_derivative = dccskinv_right_gradient = _no_derivative
