r"""Suslov's problem: a rigid body about a fixed point whose angular velocity never has a component along a body axis.

Configuration SO(3); row ω₃ = 0 in axes with I₁₂ = 0; no torques.

    I₁₁ ω̇₁ = −(I₁₃ ω₁ + I₂₃ ω₂) ω₂,    I₂₂ ω̇₂ = (I₁₃ ω₁ + I₂₃ ω₂) ω₁,    2E = I₁₁ ω₁² + I₂₂ ω₂².

With ω₁ = α cos ψ, ω₂ = β sin ψ, α = √(2E/I₁₁), β = √(2E/I₂₂), K = |(I₁₃α, I₂₃β)|, δ = atan2(I₂₃β, I₁₃α):

    ψ̇ = (K/√(I₁₁I₂₂)) cos(ψ − δ),    ψ − δ = gd(K t/√(I₁₁I₂₂) + gd⁻¹(ψ₀ − δ))   where cos(ψ₀ − δ) > 0,

so that the body goes from one steady rotation (I₁₃ ω₁ + I₂₃ ω₂ = 0) to the opposite one.
Source: Suslov 1946, section 53; Fedorov and Kozlov 1995.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from liegroup.table import SO3, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.systems.bodies.elliptic import amplitude
from mechanics.systems.checks import checked, signs


def mass(q: Any, p: Any) -> Any:
    """v = ω."""
    i11, i22, i33, i13, i23 = p
    return [[i11, 0.0, i13], [0.0, i22, i23], [i13, i23, i33]]


FUNCTIONS = Functions(
    group=table_of([(SO3, 1)]),
    mass=mass,
    rows=lambda q, p: [[0.0, 0.0, 1.0]],
    frame=lambda q, p: [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
    metric=lambda p: (p[0], p[1]),
    parameters=5,
)
"""u = (ω₁, ω₂)."""


@checked
def suslov(
    inertia: tuple[float, float, float, float, float] = (1.0, 1.4, 1.2, 0.3, -0.2),
    omega: tuple[float, float] = (0.8, 0.5),
) -> NonholonomicSystem:
    """The body about its fixed point, turning with (ω₁, ω₂).

    Parameters
    ----------
    inertia : five floats
        (I₁₁, I₂₂, I₃₃, I₁₃, I₂₃) about the fixed point, kg·m².
    omega : two floats
        (ω₁, ω₂) at the start, body axes, rad/s.

    Returns
    -------
    NonholonomicSystem
        With its start; `closed_form` of this file is ω.

    Raises
    ------
    ValueError
        An inertia matrix that is not positive definite.

    Examples
    --------
    >>> system = suslov(omega=(0.8, 0.5))
    >>> system.n, system.m, system.problem().y0.shape
    (3, 1, (6,))
    """
    i11, i22, i33, i13, i23 = inertia
    matrix = np.array([[i11, 0.0, i13], [0.0, i22, i23], [i13, i23, i33]])
    if not (np.isfinite(matrix).all() and np.linalg.eigvalsh(matrix)[0] > 0):
        raise ValueError(f"inertia: {inertia} gives the matrix {matrix.tolist()}, expected a positive definite one")
    return FUNCTIONS.system(
        model="suslov",
        variables=(Variable("orientation", ("qw", "qx", "qy", "qz"), "1", "body to space"),),
        velocities=Variable("v", ("omega_1", "omega_2", "omega_3"), "rad/s", "angular velocity, body axes"),
        quasi_velocities=Variable("u", ("omega_1", "omega_2"), "rad/s", "angular velocity, body axes"),
        parameters=list(inertia),
        q0=[1.0, 0.0, 0.0, 0.0],
        u0=list(omega),
        reversal=signs(1, 1, 1, 1, -1, -1),
    )


def closed_form(t: ArrayLike, system: NonholonomicSystem) -> NDArray[np.float64]:
    """(ω₁, ω₂) at the times t from the start of the system, by the formula above.

    Raises ValueError where cos(ψ₀ − δ) ≤ 0: the same formula then holds for −ω and reversed time.
    """
    i11, i22, _, i13, i23 = system.parameters
    w1, w2 = system.u0
    energy = i11 * w1**2 + i22 * w2**2
    a, b = np.sqrt(energy / i11), np.sqrt(energy / i22)
    k, delta = np.hypot(i13 * a, i23 * b), np.arctan2(i23 * b, i13 * a)
    start = np.arctan2(w2 / b, w1 / a) - delta
    if np.cos(start) <= 0:
        raise ValueError(
            f"omega: ({w1}, {w2}) has cos(ψ₀ − δ) = {np.cos(start):.3g}, expected > 0; reverse time and velocity"
        )
    psi = delta + amplitude(k / np.sqrt(i11 * i22) * np.asarray(t, float) + np.arcsinh(np.tan(start)), 0.0)
    return np.stack([a * np.cos(psi), b * np.sin(psi)], axis=-1)
