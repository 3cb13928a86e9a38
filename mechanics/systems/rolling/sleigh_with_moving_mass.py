r"""Chaplygin's sleigh with a mass that slides on a transverse track, held by a spring.

Configuration SE(2) × R: skate and heading, position s of the mass on the track x = b; the sleigh's centre of mass at
(a, 0). Row: v_y = 0; quasi-velocities (v, ω, ṡ); potential ½ k s².  The kinetic energy depends on the shape s:

    T = ½ m (v_x² + (v_y + a ω)²) + ½ J ω² + ½ m_p ((v_x − s ω)² + (v_y + b ω + ṡ)²).

Source: Osborne and Zenkov 2005 (sleigh with a moving mass).
"""

from __future__ import annotations

from typing import Any

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained
from liegroup.compile import kernel, ld, st
from liegroup.table import RN, SE2, table_of
from mechanics.nonholonomic.forms import constrained_forms, projected_forms
from mechanics.nonholonomic.projected import FRAME_ROWS
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import positive, signs

C = constrained(4, 1, 0)


@kernel
def frame(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (v, ω, ṡ); S is constant."""
    for i in range(16):
        st(out, i, 0.0)
    st(out, 0, 1.0)
    st(out, 7, 1.0)
    st(out, 11, 1.0)


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω, ṡ); (X, Y) is the velocity of the moving mass."""
    m, a, inertia, mp, b, k = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], parameters[5]
    s, vx, vy, w, rate = ld(y, 3), ld(y, 4), ld(y, 5), ld(y, 6), ld(y, 7)
    x_dot, y_dot = vx - s * w, vy + b * w + rate
    clear(out)
    st(out, C.MASS + 0, m + mp)
    st(out, C.MASS + 2, -(mp * s))
    st(out, C.MASS + 5, m + mp)
    st(out, C.MASS + 6, m * a + mp * b)
    st(out, C.MASS + 7, mp)
    st(out, C.MASS + 8, -(mp * s))
    st(out, C.MASS + 9, m * a + mp * b)
    st(out, C.MASS + 10, m * a * a + inertia + mp * (s * s + b * b))
    st(out, C.MASS + 11, mp * b)
    st(out, C.MASS + 13, mp)
    st(out, C.MASS + 14, mp * b)
    st(out, C.MASS + 15, mp)
    st(out, C.KINETIC + 3, -(mp * x_dot * w))
    px, py = m * vx + mp * x_dot, m * (vy + a * w) + mp * y_dot
    st(out, C.RATE, -(mp * rate * w) - w * py)
    st(out, C.RATE + 1, w * px)
    st(out, C.RATE + 2, mp * rate * (s * w - x_dot) + (vx * py - vy * px))
    st(out, C.ROWS + 1, 1.0)
    st(out, C.GRADIENT + 3, k * s)
    st(out, C.POTENTIAL, 0.5 * k * s * s)


REDUCED = projected_forms(constrained_parts, frame)
CONSTRAINED = constrained_forms(constrained_parts)


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

    Raises ValueError for masses or a moment that are not positive.
    """
    positive(mass=mass, inertia_about_com=inertia_about_com, moving_mass=moving_mass)
    return NonholonomicSystem(
        model="sleigh-with-moving-mass",
        group=table_of([(SE2, 1), (RN, 1)]),
        variables=(
            Variable("skate", ("x", "y", "heading"), "m, m, rad", "contact of the skate and heading"),
            Variable("mass", ("position",), "m", "along the track"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega", "mass"), "m/s, m/s, rad/s, m/s"),
        quasi_velocities=Variable(
            "u", ("v", "omega", "mass"), "m/s, rad/s, m/s", "forward speed, turn rate, rate of the mass"
        ),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[mass, offset, inertia_about_com, moving_mass, track, spring],
        q0=[0.0, 0.0, 0.0, position],
        u0=[v, omega, rate],
        scratch=FRAME_ROWS + 3,
        reversal=signs(1, 1, 1, 1, -1, -1, -1),
    )
