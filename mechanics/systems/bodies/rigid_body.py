"""What the rigid-body systems share: state (q, p) on SO(3) × R³, q the attitude, p the body angular momentum.

    q' = q·ω^,   p' = p × ω + torque,   ω = J⁻¹ p      (all in body axes)

Parameters of the kernels begin with the six numbers of J⁻¹: xx, yy, zz, xy, xz, yz.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from liegroup.compile import helper, ld, st
from liegroup.formulas.vectors import cross
from liegroup.table import RN, SO3, table_of
from mechanics.model.inertia import Inertia
from mechanics.systems.checks import vector

Array = NDArray[np.float64]

TABLE = table_of([(SO3, 1), (RN, 3)])
VARIABLES = (
    Variable("orientation", ("qw", "qx", "qy", "qz"), "1", "unit quaternion (w, x, y, z), body to space"),
    Variable("momentum", ("px", "py", "pz"), "kg m^2/s", "angular momentum in body axes"),
)


@helper
def attitude(y: Any) -> Any:
    """The quaternion of a state."""
    return ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3)


@helper
def momentum(y: Any) -> Any:
    """The body momentum of a state."""
    return ld(y, 4), ld(y, 5), ld(y, 6)


@helper
def angular_velocity(p: Any, parameters: Any) -> Any:
    """ω = J⁻¹ p."""
    xx, yy, zz, xy, xz, yz = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], parameters[5]
    return xx * p[0] + (xy * p[1] + xz * p[2]), yy * p[1] + (xy * p[0] + yz * p[2]), zz * p[2] + (xz * p[0] + yz * p[1])


@helper
def store_motion(out: Any, w: Any, p: Any, torque: Any) -> None:
    """out = (ω, p × ω + torque)."""
    rate = cross(p, w)
    for_x, for_y, for_z = rate[0] + torque[0], rate[1] + torque[1], rate[2] + torque[2]
    st(out, 0, w[0])
    st(out, 1, w[1])
    st(out, 2, w[2])
    st(out, 3, for_x)
    st(out, 4, for_y)
    st(out, 5, for_z)


def tensor(inertia: ArrayLike) -> Array:
    """The inertia tensor (3, 3) from itself or from three principal moments; ValueError unless it is positive definite.

    The triangle inequality of the moments is not asked for: well-known test problems break it.
    """
    J = np.asarray(inertia, dtype=np.float64)
    J = np.diag(vector(J, 3, "inertia", "the principal moments")) if J.ndim == 1 else J
    try:
        J = np.array(Inertia.about_origin(1.0, np.zeros(3), J).tensor)
    except ValueError as error:
        raise ValueError(f"inertia: {error}") from None
    moments = np.linalg.eigvalsh(J)
    if moments[0] <= 0.0:
        raise ValueError(f"inertia: principal moments {moments.tolist()}, expected positive ones")
    return J


def inverse_tensor(J: Array) -> Array:
    """The six numbers of J⁻¹ for the kernels."""
    K = np.diag(1.0 / np.diag(J)) if (np.diag(np.diag(J)) == J).all() else np.linalg.inv(J)
    return np.array([K[0, 0], K[1, 1], K[2, 2], K[0, 1], K[0, 2], K[1, 2]])


def start(J: Array, angular_velocity: ArrayLike | None, momentum: ArrayLike | None, orientation: ArrayLike) -> Array:
    """The state from an attitude and either an angular velocity or a momentum, both in body axes."""
    if angular_velocity is not None and momentum is None:
        p = J @ vector(angular_velocity, 3, "angular_velocity", "in body axes")
    elif momentum is not None and angular_velocity is None:
        p = vector(momentum, 3, "momentum", "in body axes")
    else:
        raise ValueError("angular_velocity, momentum: give exactly one of the two")
    return np.concatenate([vector(orientation, 4, "orientation", "a unit quaternion (w, x, y, z)"), p])
