r"""A contact-type oscillator in 2N + 1 coordinates (x, y₁…y_N, z₁…z_N) with the row ẋ + Σ yᵢ żᵢ = 0: reversible and
chaotic.

    L = ½ |q̇|² − V,    V = ½ (|q|² + z₁² z₂² + Σ yᵢ² zᵢ²).

In the frame ż = (E − c y yᵀ) ζ, ẋ = −y·ζ/w with w = √(1 + |y|²) and c = 1/(w² + w), the quasi-velocities (ẏ, ζ) are
orthonormal.  The standard starts x = cos t, ẏ₁ = sin t lie on one surface of energy.
Source: McLachlan and Perlmutter 2006, section 5.3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from integrators.problem import Variable
from liegroup.compile.scalars import sqrt
from liegroup.table import RN, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.systems.checks import finite, signs

N = 3
D = 2 * N + 1


def _frame_numbers(y: Any) -> Any:
    """w, c."""
    w = sqrt(1.0 + y @ y)
    return w, 1.0 / (w * (w + 1.0))


def potential(q: Any) -> Any:
    y, z = q[1 : 1 + N], q[1 + N :]
    return 0.5 * (q @ q + (z[0] * z[1]) * (z[0] * z[1]) + (y * z) @ (y * z))


def rows(q: Any) -> Any:
    return [[1.0, *(0.0,) * N, *q[1 : 1 + N]]]


def frame(q: Any) -> Any:
    """u = (ẏ, ζ)."""
    y = q[1 : 1 + N]
    w, c = _frame_numbers(y)
    basis = np.zeros((D, 2 * N), dtype=object)
    basis[0, N:] = -(y / w)
    basis[1 : 1 + N, :N] = np.eye(N)
    basis[1 + N :, N:] = np.eye(N) - c * np.outer(y, y)
    return basis


def gyro(q: Any, u: Any) -> Any:
    """σ = y·ζ, τ = ẏ·ζ, a = y·ẏ:  g = −[(y/w)(τ/w − σa/w³) + P − c y y·P], P = −(ċσ + cτ) y − cσ ẏ."""
    y, rate, zeta = q[1 : 1 + N], u[:N], u[N:]
    w, c = _frame_numbers(y)
    sigma, tau, a = y @ zeta, rate @ zeta, y @ rate
    c_dot = -(c * c * (2.0 * w + 1.0) * a / w)
    p = -((c_dot * sigma + c * tau) * y) - c * sigma * rate
    return [*(0.0,) * N, *-(y / w * ((tau - sigma * a / (w * w)) / w) + p - c * (y @ p) * y)]


FUNCTIONS = Functions(
    group=table_of([(RN, D)]),
    mass=lambda q, v: 0.5 * (v @ v),
    rows=rows,
    potential=potential,
    frame=frame,
    metric=lambda: (1.0,) * (2 * N),
    gyro=gyro,
)


def contact_chain(t: float = 0.6) -> NonholonomicSystem:
    """The chaotic oscillator from x = cos t, y = (0.6, 0.4, 0.2), z = (1, 1, 1), ẏ₁ = sin t.

    Parameters
    ----------
    t : float
        Parameter of the start (dimensionless).

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        A parameter t that is not finite.

    Examples
    --------
    >>> system = contact_chain(0.3)
    >>> system.n, system.m, system.problem().y0.shape
    (7, 1, (13,))
    """
    finite(t=t)
    names = ("x", *(f"y{i + 1}" for i in range(N)), *(f"z{i + 1}" for i in range(N)))
    return FUNCTIONS.system(
        model="contact-chain",
        variables=(Variable("position", names, "1"),),
        velocities=Variable("v", names, "1/s"),
        quasi_velocities=Variable("u", (*names[1 : 1 + N], *(f"zeta{i + 1}" for i in range(N))), "1/s", "(ẏ, ζ)"),
        parameters=[],
        q0=[math.cos(t), 0.6, 0.4, 0.2, 1.0, 1.0, 1.0],
        u0=[math.sin(t), 0.0, 0.0, 0.0, 0.0, 0.0],
        reversal=signs(*(1,) * D, *(-1,) * (2 * N)),
    )
