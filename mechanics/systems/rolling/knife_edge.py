r"""A knife edge (skate) on an inclined plane: it never slides sideways, and never runs down.

Configuration SE(2), the centre of mass at the skate, x down the slope.  Row: v_y = 0.  With g' = g sin α

    v̇ = g' cos θ,    ω̇ = 0,    E = ½ m v² + ½ J ω² − m g' x.

Closed form with φ = ω t, the mean heading θ̄ = θ₀ + φ/2 and C = t cos θ̄ sinc(φ/2), S = t sin θ̄ sinc(φ/2), of which
nothing cancels in slow turns:

    θ = θ₀ + φ,   v = v₀ + g' C,   x = x₀ + v₀ C + ½ g' C²
    y = y₀ + v₀ S + ½ g' t² [(φ − sin φ)/φ² + ½ sin 2θ̄ sinc²(φ/2)]:

from rest a cycloid across the slope.  Source: Neimark and Fufaev 1972, chapter II; Bloch 2003, section 1.6.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from liegroup.table import SE2, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, positive, signs


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω)."""
    m, inertia, _ = p
    return 0.5 * m * (v[0] * v[0] + v[1] * v[1]) + 0.5 * inertia * (v[2] * v[2])


FUNCTIONS = Functions(
    group=table_of([(SE2, 1)]),
    mass=kinetic,
    rows=lambda q, p: [[0.0, 1.0, 0.0]],
    potential=lambda q, p: -(p[0] * p[2] * q[0]),
    frame=lambda q, p: [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
    metric=lambda p: (p[0], p[1]),
    invariants={"turn_rate": lambda q, v, p: v[2]},
    parameters=3,
)
"""u = (v, ω), velocity (v, 0, ω)."""


@checked
def knife_edge(
    mass: float = 1.0,
    inertia: float = 1.0,
    slope_gravity: float = 0.5,
    v: float = 0.3,
    omega: float = 1.0,
    heading: float = 0.0,
) -> NonholonomicSystem:
    """The skate from the origin with speed v along the blade and turn rate ω.

    Parameters
    ----------
    mass : float
        kg.
    inertia : float
        J about the skate, kg·m².
    slope_gravity : float
        g sin α, m/s².
    v : float
        m/s.
    omega : float
        ω, rad/s, not zero.
    heading : float
        θ from the direction down the slope, rad.

    Returns
    -------
    NonholonomicSystem
        With `exact`, the solution at any time.

    Raises
    ------
    ValueError
        A mass or inertia that is not positive, or a turn rate that is zero (no closed form).

    Examples
    --------
    >>> system = knife_edge(omega=2.0)
    >>> system.n, system.m, system.problem().y0.shape
    (3, 1, (5,))
    """
    positive(mass=mass, inertia=inertia)
    if omega == 0.0:
        raise ValueError(
            "omega: 0.0, expected a turn rate that is not zero; without turning the skate just slides down its line"
        )
    return FUNCTIONS.system(
        model="knife-edge",
        variables=(Variable("skate", ("x", "y", "heading"), "m, m, rad", "x down the slope"),),
        velocities=Variable("v", ("v_x", "v_y", "omega"), "m/s, m/s, rad/s", "body velocity"),
        quasi_velocities=Variable("u", ("v", "omega"), "m/s, rad/s", "speed along the blade and turn rate"),
        parameters=[mass, inertia, slope_gravity],
        q0=[0.0, 0.0, heading],
        u0=[v, omega],
        invariant_units=("rad/s",),
        reversal=signs(1, 1, 1, -1, -1),
        scene=system_scene("knife", 0.3),
        exact=partial(closed_form, g=slope_gravity, heading=heading, v=v, omega=omega),
    )


def closed_form(t: ArrayLike, g: float, heading: float, v: float, omega: float) -> NDArray[np.float64]:
    """(x, y, θ, v, ω) at the times t from the origin."""
    t = np.asarray(t, float)
    phi = omega * t
    mean, chord = heading + 0.5 * phi, np.sinc(0.5 * phi / np.pi)
    ahead, aside = t * chord * np.cos(mean), t * chord * np.sin(mean)
    x = v * ahead + 0.5 * g * ahead * ahead
    y = v * aside + 0.5 * g * t * t * (_lag(phi) + 0.5 * np.sin(2.0 * mean) * chord * chord)
    return np.stack([x, y, heading + phi, v + g * ahead, omega + 0 * t], axis=-1)


def _lag(phi: NDArray[np.float64]) -> NDArray[np.float64]:
    """(φ − sin φ)/φ², by its series where the two are nearly one."""
    small, square = np.abs(phi) < 0.5, phi * phi
    series = phi / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0 * (1.0 - square / 110.0))))
    return np.where(small, series, (phi - np.sin(phi)) / np.where(small, 1.0, square))
