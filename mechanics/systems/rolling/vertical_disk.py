r"""The vertical disk: it rolls without slipping on a plane and stays upright.

Configuration SE(2) × SO(2): contact point and heading θ (the direction in which it rolls), roll angle φ; body velocity
(v_x, v_y, ω, φ̇).  Rows

    v_x − r φ̇ = 0,    v_y = 0          (ẋ = r φ̇ cos θ,  ẏ = r φ̇ sin θ).

Turning rate and roll rate are constant; the contact point runs on a circle of radius r φ̇/ω.
With moments I_t about the vertical and I_a about the axis: E = ½ (m r² + I_a) φ̇² + ½ I_t ω².
Source: Bloch 2003, section 1.4; Moiseev et al. 2021, eq. (4).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from liegroup.table import SE2, SO2, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, positive, signs


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω, φ̇)."""
    m, turning, axial, _ = p
    return 0.5 * m * (v[0] * v[0] + v[1] * v[1]) + 0.5 * turning * (v[2] * v[2]) + 0.5 * axial * (v[3] * v[3])


FUNCTIONS = Functions(
    group=table_of([(SE2, 1), (SO2, 1)]),
    mass=kinetic,
    rows=lambda q, p: [[1.0, 0.0, 0.0, -p[3]], [0.0, 1.0, 0.0, 0.0]],
    frame=lambda q, p: [[0.0, p[3]], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
    metric=lambda p: (p[1], p[2] + p[0] * p[3] * p[3]),
    invariants={"turning_rate": lambda q, v, p: v[2], "roll_rate": lambda q, v, p: v[3]},
    parameters=4,
)
"""u = (ω, φ̇), velocity (r φ̇, 0, ω, φ̇)."""


@checked
def vertical_disk(
    mass: float = 1.0,
    radius: float = 1.0,
    turning_inertia: float | None = None,
    axial_inertia: float | None = None,
    omega: float = 0.7,
    roll_rate: float = 1.5,
    heading: float = 0.0,
) -> NonholonomicSystem:
    """The disk (moments of a thin uniform one by default) from the origin, with turning rate ω and roll rate φ̇.

    Parameters
    ----------
    mass, radius : float
        kg and m.
    turning_inertia, axial_inertia : float, optional
        I_t about the vertical and I_a about the axis, kg·m²; default m r²/4 and m r²/2.
    omega, roll_rate : float
        ω and φ̇ at the start, rad/s.
    heading : float
        Direction in which it rolls, rad.

    Returns
    -------
    NonholonomicSystem
        With `exact`, the solution at any time.

    Raises
    ------
    ValueError
        A mass, radius or moment that is not positive.

    Examples
    --------
    >>> system = vertical_disk(omega=0.5)
    >>> system.n, system.m, system.problem().y0.shape
    (4, 2, (6,))
    """
    turning = 0.25 * mass * radius**2 if turning_inertia is None else turning_inertia
    axial = 0.5 * mass * radius**2 if axial_inertia is None else axial_inertia
    positive(mass=mass, radius=radius, turning_inertia=turning, axial_inertia=axial)
    return FUNCTIONS.system(
        model="vertical-disk",
        variables=(
            Variable("contact", ("x", "y", "heading"), "m, m, rad", "contact point and heading"),
            Variable("roll", ("angle",), "rad", "roll angle"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega", "roll_rate"), "m/s, m/s, rad/s, rad/s", "body velocity"),
        quasi_velocities=Variable("u", ("omega", "roll_rate"), "rad/s", "turning rate and roll rate"),
        parameters=[mass, turning, axial, radius],
        q0=[0.0, 0.0, heading, 0.0],
        u0=[omega, roll_rate],
        invariant_units=("rad/s", "rad/s"),
        reversal=signs(1, 1, 1, 1, -1, -1),
        scene=system_scene("upright_disk", float(radius)),
        exact=partial(circle, radius=radius, heading=heading, omega=omega, roll_rate=roll_rate),
    )


def circle(t: ArrayLike, radius: float, heading: float, omega: float, roll_rate: float) -> NDArray[np.float64]:
    """(x, y, θ, φ, ω, φ̇) at the times t from the origin: x + i y = r φ̇ t e^{iθ₀} e^{iωt/2} sinc(ωt/2)."""
    t = np.asarray(t, float)
    half = 0.5 * omega * t
    chord = radius * roll_rate * t * np.sinc(half / np.pi)
    x, y = chord * np.cos(heading + half), chord * np.sin(heading + half)
    return np.stack([x, y, heading + omega * t, roll_rate * t, omega + 0 * t, roll_rate + 0 * t], axis=-1)
