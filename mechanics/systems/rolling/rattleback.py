r"""The rattleback (Celtic stone): a half ellipsoid whose axes of inertia are turned against those of its surface.

Half axes (a, b, c) on the body axes, e₃ up; the centre of the ellipsoid is h above the centre of mass.  Spun against
its preferred direction it starts to rattle and turns round; which direction that is depends on the sign of the matrix
element J₁₂. Default: Kane and Levinson's stone, a, b, c = 20, 3, 2 cm, h = 1 cm, J/m = [[2, −0.2, 0], [−0.2, 16, 0],
[0, 0, 17]] cm², (D is the element itself, without the minus sign of a "product of inertia"); start: half a degree of
tilt about e₁, ω·e_z = −5 rad/s. Source: Kane and Levinson 1982; Walker 1896; Bondi 1986.
"""

from __future__ import annotations

import numpy as np

from mechanics.nonholonomic.rolling import SMOOTH
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import checked
from mechanics.systems.rolling.rolling_body import rolling_body


@checked
def rattleback(
    mass: float = 1.0,
    half_axes: tuple[float, float, float] = (0.20, 0.03, 0.02),
    height: float = 0.01,
    gyration: tuple[float, float, float, float] = (2e-4, 16e-4, 17e-4, -0.2e-4),
    tilt: float = np.deg2rad(0.5),
    spin: float = -5.0,
    damping: float = 0.0,
) -> NonholonomicSystem:
    """The stone, tilted about e₁ and spun about the vertical.

    Parameters
    ----------
    mass : float
        kg.
    half_axes : three floats
        (a, b, c), m.
    height : float
        h of the centre of the ellipsoid above the centre of mass, m.
    gyration : four floats
        (A, B, C, D), m²: J/m = [[A, D, 0], [D, B, 0], [0, 0, C]].
    tilt : float
        rad.
    spin : float
        About the vertical, rad/s.
    damping : float
        σ of the moment −σ ω, N·m·s.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Examples
    --------
    >>> system = rattleback(spin=5.0)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 3, (10,))
    """
    a, b, c, d = gyration
    orientation = (np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0)
    return rolling_body(
        "rattleback",
        mass,
        mass * np.array([[a, d, 0.0], [d, b, 0.0], [0.0, 0.0, c]]),
        SMOOTH,
        half_axes,
        orientation,
        (0.0, spin * np.sin(tilt), spin * np.cos(tilt)),
        centre=(0.0, 0.0, height),
        damping=damping,
    )
