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

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained, quasi_velocity
from liegroup.compile import helper, kernel, ld, st
from liegroup.compile.scalars import sqrt
from liegroup.table import RN, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import finite, signs

N = 3
D = 2 * N + 1
Q = quasi_velocity(D, 2 * N)
C = constrained(D, 1, 0)


@helper
def _potential(q: Any, out: Any, gradient: Any, potential: Any) -> None:
    z1, z2 = ld(q, 1 + N), ld(q, 2 + N)
    total = 0.5 * (ld(q, 0) * ld(q, 0) + z1 * z1 * z2 * z2)
    st(out, gradient, ld(q, 0))
    for i in range(N):
        a, b = ld(q, 1 + i), ld(q, 1 + N + i)
        total = total + 0.5 * (a * a + b * b + a * a * b * b)
        st(out, gradient + 1 + i, a + a * b * b)
        st(out, gradient + 1 + N + i, b + a * a * b)
    st(out, gradient + 1 + N, ld(out, gradient + 1 + N) + z1 * z2 * z2)
    st(out, gradient + 2 + N, ld(out, gradient + 2 + N) + z1 * z1 * z2)
    st(out, potential, total)


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (ẏ, ζ); with σ = y·ζ, τ = ẏ·ζ, a = y·ẏ:  g_k = −[(y_k/w)(τ/w − σa/w³) + P_k − c y_k y·P], P = −(ċσ + cτ) y −
    cσ ẏ.
    """
    clear(out)
    square, sigma, tau, a = 0.0 * ld(y, 1), 0.0 * ld(y, 1), 0.0 * ld(y, 1), 0.0 * ld(y, 1)
    for i in range(N):
        yi, rate, zeta = ld(y, 1 + i), ld(y, D + i), ld(y, D + N + i)
        square, sigma, tau, a = square + yi * yi, sigma + yi * zeta, tau + rate * zeta, a + yi * rate
    w = sqrt(1.0 + square)
    c = 1.0 / (w * (w + 1.0))
    c_dot = -(c * c * (2.0 * w + 1.0) * a / w)
    along, across = -(c_dot * sigma + c * tau), -(c * sigma)
    y_p = along * square + across * a
    slope = (tau - sigma * a / (w * w)) / w
    for i in range(N):
        yi = ld(y, 1 + i)
        st(out, Q.BASIS + (1 + i) * 2 * N + i, 1.0)
        st(out, Q.BASIS + N + i, -(yi / w))
        for j in range(N):
            st(out, Q.BASIS + (1 + N + i) * 2 * N + N + j, (1.0 if i == j else 0.0) - c * yi * ld(y, 1 + j))
        st(out, Q.METRIC + i, 1.0)
        st(out, Q.METRIC + N + i, 1.0)
        st(out, Q.GYRO + N + i, -(yi / w * slope + along * yi + across * ld(y, D + i) - c * yi * y_p))
    _potential(y, out, Q.GRADIENT, Q.POTENTIAL)


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (ẋ, ẏ, ż)."""
    clear(out)
    for i in range(D):
        st(out, C.MASS + i * (D + 1), 1.0)
    st(out, C.ROWS, 1.0)
    for i in range(N):
        st(out, C.ROWS + 1 + N + i, ld(y, 1 + i))
        st(out, C.BIAS, ld(out, C.BIAS) + ld(y, D + 1 + i) * ld(y, D + 1 + N + i))
    _potential(y, out, C.GRADIENT, C.POTENTIAL)


REDUCED = quasi_velocity_forms(quasi_velocity_parts)
CONSTRAINED = constrained_forms(constrained_parts)


def contact_chain(t: float = 0.6) -> NonholonomicSystem:
    """The chaotic oscillator from x = cos t, y = (0.6, 0.4, 0.2), z = (1, 1, 1), ẏ₁ = sin t.

    Raises ValueError for a parameter t that is not finite.
    """
    finite(t=t)
    names = ("x", *(f"y{i + 1}" for i in range(N)), *(f"z{i + 1}" for i in range(N)))
    return NonholonomicSystem(
        model="contact-chain",
        group=table_of([(RN, D)]),
        variables=(Variable("position", names, "1"),),
        velocities=Variable("v", names, "1/s"),
        quasi_velocities=Variable("u", (*names[1 : 1 + N], *(f"zeta{i + 1}" for i in range(N))), "1/s", "(ẏ, ζ)"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[],
        q0=[math.cos(t), 0.6, 0.4, 0.2, 1.0, 1.0, 1.0],
        u0=[math.sin(t), 0.0, 0.0, 0.0, 0.0, 0.0],
        reversal=signs(*(1,) * D, *(-1,) * (2 * N)),
    )
