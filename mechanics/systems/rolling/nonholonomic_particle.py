r"""The nonholonomic particle: a point of unit mass in space with ż = y ẋ, free or in the harmonic potential ½ k (x² +
y²).

Configuration R³; row (−y, 0, 1).  In the orthonormal frame e₁ = (1, 0, y)/√(1 + y²), e₂ = (0, 1, 0) the free motion has
constant u₁ = ẋ √(1 + y²) and u₂ = ẏ:

    y = y₀ + u₂ t,    x = x₀ + (u₁/u₂)(arsinh y − arsinh y₀),    z = z₀ + (u₁/u₂)(√(1 + y²) − √(1 + y₀²)).

Source: Rosenberg 1977; Bates and Śniatycki 1993; Cortés and Martínez 2001 (harmonic variant).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained, quasi_velocity
from liegroup.compile import kernel, ld, st
from liegroup.compile.scalars import sqrt
from liegroup.table import RN, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import finite, signs

Q = quasi_velocity(3, 2)
C = constrained(3, 1, 0)


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (ẋ √(1 + y²), ẏ)."""
    k = parameters[0]
    x, height = ld(y, 0), ld(y, 1)
    w = 1.0 / sqrt(1.0 + height * height)
    clear(out)
    st(out, Q.BASIS + 0, w)
    st(out, Q.BASIS + 3, 1.0)
    st(out, Q.BASIS + 4, height * w)
    st(out, Q.METRIC, 1.0)
    st(out, Q.METRIC + 1, 1.0)
    st(out, Q.GRADIENT, k * x)
    st(out, Q.GRADIENT + 1, k * height)
    st(out, Q.POTENTIAL, 0.5 * k * (x * x + height * height))


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (ẋ, ẏ, ż)."""
    k = parameters[0]
    x, height = ld(y, 0), ld(y, 1)
    clear(out)
    st(out, C.MASS + 0, 1.0)
    st(out, C.MASS + 4, 1.0)
    st(out, C.MASS + 8, 1.0)
    st(out, C.ROWS + 0, -height)
    st(out, C.ROWS + 2, 1.0)
    st(out, C.BIAS, -(ld(y, 3) * ld(y, 4)))
    st(out, C.GRADIENT, k * x)
    st(out, C.GRADIENT + 1, k * height)
    st(out, C.POTENTIAL, 0.5 * k * (x * x + height * height))


REDUCED = quasi_velocity_forms(quasi_velocity_parts)
CONSTRAINED = constrained_forms(constrained_parts)


def nonholonomic_particle(
    stiffness: float = 0.0, position: tuple[float, float, float] = (0.2, -0.4, 0.1), u: tuple[float, float] = (0.9, 0.6)
) -> NonholonomicSystem:
    """The particle from a position with quasi-velocities u = (ẋ √(1 + y²), ẏ); without stiffness the motion is known.

    Raises ValueError for a stiffness that is not finite.
    """
    finite(stiffness=stiffness)
    known = stiffness == 0.0 and u[1] != 0.0
    return NonholonomicSystem(
        model="nonholonomic-particle",
        group=table_of([(RN, 3)]),
        variables=(Variable("position", ("x", "y", "z"), "m"),),
        velocities=Variable("v", ("x", "y", "z"), "m/s"),
        quasi_velocities=Variable("u", ("along", "y"), "m/s", "speed along (1, 0, y) and ẏ"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[stiffness],
        q0=list(position),
        u0=list(u),
        reversal=signs(1, 1, 1, -1, -1),
        exact=(lambda t: closed_form(t, position, u)) if known else None,
    )


def closed_form(t: ArrayLike, position: tuple[float, float, float], u: tuple[float, float]) -> NDArray[np.float64]:
    """(x, y, z, u₁, u₂) of the free particle at the times t."""
    t = np.asarray(t, float)
    x0, y0, z0 = position
    y, k = y0 + u[1] * t, u[0] / u[1]
    x, z = x0 + k * (np.arcsinh(y) - np.arcsinh(y0)), z0 + k * (np.sqrt(1 + y * y) - np.sqrt(1 + y0 * y0))
    return np.stack([x, y, z, u[0] + 0 * t, u[1] + 0 * t], axis=-1)
