r"""The nonholonomic particle: a point of unit mass in space with ż = y ẋ, free or in the harmonic potential ½ k (x² +
y²).

Configuration R³; row (−y, 0, 1).  In the orthonormal frame e₁ = (1, 0, y)/√(1 + y²), e₂ = (0, 1, 0) the free motion has
constant u₁ = ẋ √(1 + y²) and u₂ = ẏ:

    y = y₀ + u₂ t,    x = x₀ + (u₁/u₂)(arsinh y − arsinh y₀),    z = z₀ + (u₁/u₂)(√(1 + y²) − √(1 + y₀²)),

where the differences over u₂ t are taken so that nothing cancels.

Source: Rosenberg 1977; Bates and Śniatycki 1993; Cortés and Martínez 2001 (harmonic variant).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from liegroup.compile.scalars import sqrt
from liegroup.table import RN, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, finite, signs


def frame(q: Any, p: Any) -> Any:
    """u = (ẋ √(1 + y²), ẏ)."""
    w = 1.0 / sqrt(1.0 + q[1] * q[1])
    return [[w, 0.0], [0.0, 1.0], [q[1] * w, 0.0]]


FUNCTIONS = Functions(
    group=table_of([(RN, 3)]),
    mass=lambda q, v, p: 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]),
    rows=lambda q, p: [[-q[1], 0.0, 1.0]],
    potential=lambda q, p: 0.5 * p[0] * (q[0] * q[0] + q[1] * q[1]),
    frame=frame,
    metric=lambda p: (1.0, 1.0),
    gyro=lambda q, u, p: (0.0, 0.0),
    parameters=1,
)


@checked
def nonholonomic_particle(
    stiffness: float = 0.0, position: tuple[float, float, float] = (0.2, -0.4, 0.1), u: tuple[float, float] = (0.9, 0.6)
) -> NonholonomicSystem:
    """The particle from a position with quasi-velocities u; without stiffness the motion is known.

    Parameters
    ----------
    stiffness : float
        k per unit of mass, 1/s².
    position : three floats
        (x, y, z), m.
    u : two floats
        (ẋ √(1 + y²), ẏ), m/s.

    Returns
    -------
    NonholonomicSystem
        With `exact` where the motion is known.

    Raises
    ------
    ValueError
        A stiffness that is not finite.

    Examples
    --------
    >>> system = nonholonomic_particle(stiffness=1.3)
    >>> system.n, system.m, system.problem().y0.shape
    (3, 1, (5,))
    """
    finite(stiffness=stiffness)
    known = stiffness == 0.0
    return FUNCTIONS.system(
        model="nonholonomic-particle",
        variables=(Variable("position", ("x", "y", "z"), "m"),),
        velocities=Variable("v", ("x", "y", "z"), "m/s"),
        quasi_velocities=Variable("u", ("along", "y"), "m/s", "speed along (1, 0, y) and ẏ"),
        parameters=[stiffness],
        q0=list(position),
        u0=list(u),
        reversal=signs(1, 1, 1, -1, -1),
        scene=system_scene("particle"),
        exact=partial(closed_form, position=position, u=u) if known else None,
    )


def closed_form(t: ArrayLike, position: tuple[float, float, float], u: tuple[float, float]) -> NDArray[np.float64]:
    """(x, y, z, u₁, u₂) of the free particle at the times t."""
    t = np.asarray(t, float)
    x0, y0, z0 = position
    y = y0 + u[1] * t
    w0, w = np.sqrt(1.0 + y0 * y0), np.sqrt(1.0 + y * y)
    product = y0 * y  # w₀ w − y₀ y, of a sum where it would be a difference
    inner = np.where(product > 0.0, (1.0 + y0 * y0 + y * y) / (w0 * w + np.abs(product)), w0 * w - product)
    slope = (1.0 + inner) / (w0 + w)  # sinh(arsinh y − arsinh y₀) over y − y₀
    s = u[1] * t * slope
    x = x0 + u[0] * t * slope * np.where(s == 0.0, 1.0, np.arcsinh(s) / np.where(s == 0.0, 1.0, s))
    z = z0 + u[0] * t * (y + y0) / (w + w0)
    return np.stack([x, y, z, u[0] + 0 * t, u[1] + 0 * t], axis=-1)
