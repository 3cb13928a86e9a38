r"""Chaplygin's sleigh: a rigid body on a horizontal plane, on a skate that cannot slip sideways.

Configuration SE(2), the body origin at the skate, x along the blade, the centre of mass at (a, 0).  Row: v_y = 0.
With I = J + m a² (J about the centre of mass)

    v̇ = a ω²,    I ω̇ = −m a v ω,    E = ½ m v² + ½ I ω².

Closed form with A² = v₀² + I ω₀²/m, κ = m a A/I, τ = κ t + artanh(v₀/A):

    v = A tanh τ,    ω = ±A √(m/I) sech τ,    θ = θ₀ ± √(I/m)/a·(gd τ − gd τ₀),    gd τ = 2 arctan tanh(τ/2).

It turns round so that the centre of mass goes first: reversible, though it looks dissipative.
Source: Chaplygin 1911; Neimark and Fufaev 1972, chapter III.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from liegroup.table import SE2, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.bodies.elliptic import amplitude
from mechanics.systems.checks import checked, positive, signs


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω) of the skate; I about it."""
    m, inertia, a = p
    return 0.5 * m * (v[0] * v[0] + v[1] * v[1]) + m * a * v[1] * v[2] + 0.5 * inertia * v[2] * v[2]


FUNCTIONS = Functions(
    group=table_of([(SE2, 1)]),
    mass=kinetic,
    rows=lambda q, p: [[0.0, 1.0, 0.0]],
    frame=lambda q, p: [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
    metric=lambda p: (p[0], p[1]),
    parameters=3,
)
"""u = (v, ω), velocity (v, 0, ω)."""


@checked
def chaplygin_sleigh(
    mass: float = 1.0,
    inertia_about_com: float = 0.5,
    offset: float = 0.3,
    v: float = -0.4,
    omega: float = 1.2,
    heading: float = 0.0,
) -> NonholonomicSystem:
    """The sleigh with its centre of mass `offset` ahead of the skate, from the origin with forward speed v and turn
    rate ω.

    Parameters
    ----------
    mass : float
        m, kg.
    inertia_about_com : float
        J, kg·m².
    offset : float
        a, m.
    v : float
        m/s.
    omega : float
        ω, rad/s.
    heading : float
        θ, rad.

    Returns
    -------
    NonholonomicSystem
        With its start; `closed_form` of this file is its solution.

    Raises
    ------
    ValueError
        A mass or inertia that is not positive.

    Examples
    --------
    >>> system = chaplygin_sleigh(offset=0.2)
    >>> system.n, system.m, system.problem().y0.shape
    (3, 1, (5,))
    """
    positive(mass=mass, inertia_about_com=inertia_about_com)
    inertia = inertia_about_com + mass * offset**2
    return FUNCTIONS.system(
        model="chaplygin-sleigh",
        variables=(
            Variable("skate", ("x", "y", "heading"), "m, m, rad", "contact of the skate and heading of the blade"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega"), "m/s, m/s, rad/s", "body velocity of the skate"),
        quasi_velocities=Variable("u", ("v", "omega"), "m/s, rad/s", "speed along the blade and turn rate"),
        parameters=[mass, inertia, offset],
        q0=[0.0, 0.0, heading],
        u0=[v, omega],
        reversal=signs(1, 1, 1, -1, -1),
        scene=system_scene("sleigh", float(offset)),
    )


def closed_form(t: ArrayLike, system: NonholonomicSystem) -> NDArray[np.float64]:
    """(θ, v, ω) at the times t from the start of the sleigh, by the formulas above; shape (…, 3)."""
    mass, inertia, offset = system.parameters
    heading, (v, omega) = system.q0[2], system.u0
    speed = np.sqrt(v * v + inertia * omega**2 / mass)
    turn = np.sign(omega) * np.sqrt(mass / inertia)
    start = np.arctanh(v / speed)
    tau = start + mass * offset * speed / inertia * np.asarray(t, float)
    theta = heading + (amplitude(tau, 0.0) - amplitude(start, 0.0)) / (offset * turn)
    return np.stack([theta, speed * np.tanh(tau), speed * turn / np.cosh(tau)], axis=-1)
