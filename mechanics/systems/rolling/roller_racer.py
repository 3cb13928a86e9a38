r"""The roller racer: a child's scooter that moves by swinging its handlebar; two axles on two jointed bodies.

Configuration SE(2) × SO(2): axle and heading of the first body (x forward), angle φ of the second, jointed at (ℓ₁, 0),
whose axle is ℓ₂ behind the joint along it.  Centres of mass at a₁ on the first body and a₂ from the joint on the
second. Rows on (v_x, v_y, ω, φ̇):

    (0, 1, 0, 0),    (−sin φ, cos φ, ℓ₁ cos φ + ℓ₂, ℓ₂)        so that   ω (ℓ₁ cos φ + ℓ₂) = v sin φ − ℓ₂ φ̇.

Quasi-velocities (v, φ̇); spring ½ k (φ − φ₀)².  The frame ends where b = ℓ₁ cos φ + ℓ₂ = 0 (the axles
meet), and a run that comes there is doubtful.
Source: Tsakiris 1995; Krishnaprasad and Tsakiris 2001.
"""

from __future__ import annotations

import math
from typing import Any

from integrators.problem import Variable
from liegroup.compile.scalars import sincos
from liegroup.table import SE2, SO2, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, positive, signs


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω, φ̇); (X, Y) is the velocity of the second centre of mass."""
    m1, a1, j1, m2, a2, j2, l1, *_ = p
    s, c = sincos(q[3])
    spin, side = v[2] + v[3], v[1] + a1 * v[2]
    x, y = v[0] - a2 * s * spin, v[1] + l1 * v[2] + a2 * c * spin
    first = m1 * (v[0] * v[0] + side * side) + j1 * (v[2] * v[2])
    return 0.5 * (first + m2 * (x * x + y * y) + j2 * (spin * spin))


def rows(q: Any, p: Any) -> Any:
    """No slip of the two axles."""
    l1, l2 = p[6], p[7]
    s, c = sincos(q[3])
    return [[0.0, 1.0, 0.0, 0.0], [-s, c, l1 * c + l2, l2]]


def frame(q: Any, p: Any) -> Any:
    """u = (v, φ̇): ω = (v sin φ − ℓ₂ φ̇)/b, b = ℓ₁ cos φ + ℓ₂."""
    l1, l2 = p[6], p[7]
    s, c = sincos(q[3])
    b = l1 * c + l2
    return [[1.0, 0.0], [0.0, 0.0], [s / b, -(l2 / b)], [0.0, 1.0]]


def arm(q: Any, p: Any) -> Any:
    """b."""
    _, c = sincos(q[3])
    return p[6] * c + p[7]


FUNCTIONS = Functions(
    group=table_of([(SE2, 1), (SO2, 1)]),
    mass=kinetic,
    rows=rows,
    potential=lambda q, p: 0.5 * p[8] * (q[3] - p[9]) * (q[3] - p[9]),
    frame=frame,
    edges={"arm": arm},
    parameters=10,
)


@checked
def roller_racer(
    body: tuple[float, float, float] = (1.0, 0.2, 0.3),
    handlebar: tuple[float, float, float] = (0.4, 0.15, 0.05),
    lengths: tuple[float, float] = (0.5, 0.3),
    spring: float = 0.8,
    rest_angle: float = 0.4,
    v: float = 0.6,
    angle: float = 0.5,
    angle_rate: float = -0.7,
) -> NonholonomicSystem:
    """The racer from the origin, its axles apart.

    Parameters
    ----------
    body, handlebar : three floats each
        (mass, distance of the centre of mass, moment about it) in kg, m, kg·m².
    lengths : two floats
        (ℓ₁, ℓ₂), m.
    spring : float
        k, N·m/rad.
    rest_angle : float
        φ₀, rad.
    v : float
        m/s.
    angle : float
        φ, rad.
    angle_rate : float
        φ̇, rad/s.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        Masses, moments or lengths that are not positive; an angle where the axles meet.

    Examples
    --------
    >>> system = roller_racer(v=1.0)
    >>> system.n, system.m, system.problem().y0.shape
    (4, 2, (6,))
    """
    positive(
        mass_1=body[0],
        moment_1=body[2],
        mass_2=handlebar[0],
        moment_2=handlebar[2],
        length_1=lengths[0],
        length_2=lengths[1],
    )
    if abs(lengths[0] * math.cos(angle) + lengths[1]) < 1e-9:
        raise ValueError(f"angle: {angle} puts the axles on one point (ℓ₁ cos φ + ℓ₂ = 0); start from another angle")
    return FUNCTIONS.system(
        model="roller-racer",
        variables=(
            Variable("body", ("x", "y", "heading"), "m, m, rad", "axle and heading of the first body"),
            Variable("handlebar", ("angle",), "rad", "relative to the first body"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega", "handlebar"), "m/s, m/s, rad/s, rad/s"),
        quasi_velocities=Variable("u", ("v", "handlebar"), "m/s, rad/s", "forward speed and rate of the handlebar"),
        parameters=[*body, *handlebar, *lengths, spring, rest_angle],
        q0=[0.0, 0.0, 0.0, angle],
        u0=[v, angle_rate],
        reversal=signs(1, 1, 1, 1, -1, -1),
        scene=system_scene("roller_racer", (float(lengths[0]), float(lengths[1]))),
    )
