r"""Chaplygin's sleigh with a mass that slides on a transverse track, held by a spring.

Configuration SE(2) × R: skate and heading, position s of the mass on the track x = b; the sleigh's centre of mass at
(a, 0). Row: v_y = 0; quasi-velocities (v, ω, ṡ); potential ½ k s².  The kinetic energy depends on the shape s:

    T = ½ m (v_x² + (v_y + a ω)²) + ½ J ω² + ½ m_p ((v_x − s ω)² + (v_y + b ω + ṡ)²).

Source: Osborne and Zenkov 2005 (sleigh with a moving mass).
"""

from __future__ import annotations

from typing import Any

from integrators.problem import Variable
from liegroup.table import RN, SE2, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, positive, signs


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω, ṡ); (X, Y) is the velocity of the moving mass."""
    m, a, inertia, moving, b, _ = p
    side = v[1] + a * v[2]
    x, y = v[0] - q[3] * v[2], v[1] + b * v[2] + v[3]
    sleigh = m * (v[0] * v[0] + side * side) + inertia * (v[2] * v[2])
    return 0.5 * sleigh + 0.5 * moving * (x * x + y * y)


FUNCTIONS = Functions(
    group=table_of([(SE2, 1), (RN, 1)]),
    mass=kinetic,
    rows=lambda q, p: [[0.0, 1.0, 0.0, 0.0]],
    potential=lambda q, p: 0.5 * p[5] * q[3] * q[3],
    parameters=6,
)
"""u = (v, ω, ṡ)."""


@checked
def sleigh_with_moving_mass(
    mass: float = 1.0,
    offset: float = 0.3,
    inertia_about_com: float = 0.5,
    moving_mass: float = 0.4,
    track: float = 0.5,
    spring: float = 2.0,
    v: float = 0.4,
    omega: float = 0.9,
    position: float = 0.3,
    rate: float = -0.2,
) -> NonholonomicSystem:
    """The sleigh from the origin; the mass starts at `position` on its track with velocity `rate`.

    Parameters
    ----------
    mass : float
        m of the sleigh, kg.
    offset : float
        a, m.
    inertia_about_com : float
        J, kg·m².
    moving_mass : float
        m_p, kg.
    track : float
        b, m.
    spring : float
        k, N/m.
    v : float
        Forward speed, m/s.
    omega : float
        Turn rate, rad/s.
    position : float
        s at the start, m.
    rate : float
        ṡ at the start, m/s.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        Masses or a moment that are not positive.

    Examples
    --------
    >>> system = sleigh_with_moving_mass(spring=1.0)
    >>> system.n, system.m, system.problem().y0.shape
    (4, 1, (7,))
    """
    positive(mass=mass, inertia_about_com=inertia_about_com, moving_mass=moving_mass)
    return FUNCTIONS.system(
        model="sleigh-with-moving-mass",
        variables=(
            Variable("skate", ("x", "y", "heading"), "m, m, rad", "contact of the skate and heading"),
            Variable("mass", ("position",), "m", "along the track"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega", "mass"), "m/s, m/s, rad/s, m/s"),
        quasi_velocities=Variable(
            "u", ("v", "omega", "mass"), "m/s, rad/s, m/s", "forward speed, turn rate, rate of the mass"
        ),
        parameters=[mass, offset, inertia_about_com, moving_mass, track, spring],
        q0=[0.0, 0.0, 0.0, position],
        u0=[v, omega, rate],
        reversal=signs(1, 1, 1, 1, -1, -1, -1),
        scene=system_scene("sleigh_with_mass", float(offset), float(track)),
    )
