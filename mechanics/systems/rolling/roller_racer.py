r"""The roller racer: a child's scooter that moves by swinging its handlebar; two axles on two jointed bodies.

Configuration SE(2) × SO(2): axle and heading of the first body (x forward), angle φ of the second, jointed at (ℓ₁, 0),
whose axle is ℓ₂ behind the joint along it.  Centres of mass at a₁ on the first body and a₂ from the joint on the
second. Rows on (v_x, v_y, ω, φ̇):

    (0, 1, 0, 0),    (−sin φ, cos φ, ℓ₁ cos φ + ℓ₂, ℓ₂)        so that   ω (ℓ₁ cos φ + ℓ₂) = v sin φ − ℓ₂ φ̇.

Quasi-velocities (v, φ̇); spring ½ k (φ − φ₀)².  The frame ends where ℓ₁ cos φ + ℓ₂ = 0 (the axles meet).
Source: Tsakiris 1995; Krishnaprasad and Tsakiris 2001.
"""

from __future__ import annotations

import math
from typing import Any

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained
from liegroup.compile import kernel, ld, st
from liegroup.compile.scalars import sincos
from liegroup.table import SE2, SO2, table_of
from mechanics.nonholonomic.forms import constrained_forms, projected_forms
from mechanics.nonholonomic.projected import FRAME_ROWS
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import positive, signs

C = constrained(4, 2, 0)


@kernel
def frame(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (v, φ̇): S with ω = (v sin φ − ℓ₂ φ̇)/b, b = ℓ₁ cos φ + ℓ₂, and Ṡ u."""
    l1, l2 = parameters[6], parameters[7]
    s, c = sincos(ld(y, 3))
    v, rate = ld(y, 4), ld(y, 5)
    b = l1 * c + l2
    w = (v * s - l2 * rate) / b
    for i in range(12):
        st(out, i, 0.0)
    st(out, 0, 1.0)
    st(out, 4, s / b)
    st(out, 5, -(l2 / b))
    st(out, 7, 1.0)
    st(out, 10, (v * c * rate + w * l1 * s * rate) / b)


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω, φ̇); (X, Y) is the velocity of the second centre of mass."""
    m1, a1, j1, m2, a2, j2 = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], parameters[5]
    l1, l2, k = parameters[6], parameters[7], parameters[8]
    s, c = sincos(ld(y, 3))
    stretch = ld(y, 3) - parameters[9]
    vx, vy, w, rate = ld(y, 4), ld(y, 5), ld(y, 6), ld(y, 7)
    spin, side = w + rate, l1 + a2 * c
    x_dot, y_dot = vx - a2 * s * spin, vy + l1 * w + a2 * c * spin
    x_slope, y_slope = -(a2 * c * spin), -(a2 * s * spin)
    clear(out)
    st(out, C.MASS + 0, m1 + m2)
    st(out, C.MASS + 2, -(m2 * a2 * s))
    st(out, C.MASS + 3, -(m2 * a2 * s))
    st(out, C.MASS + 5, m1 + m2)
    st(out, C.MASS + 6, m1 * a1 + m2 * side)
    st(out, C.MASS + 7, m2 * a2 * c)
    st(out, C.MASS + 8, -(m2 * a2 * s))
    st(out, C.MASS + 9, m1 * a1 + m2 * side)
    st(out, C.MASS + 10, m1 * a1 * a1 + j1 + m2 * (a2 * a2 * s * s + side * side) + j2)
    st(out, C.MASS + 11, m2 * (a2 * a2 * s * s + side * a2 * c) + j2)
    st(out, C.MASS + 12, -(m2 * a2 * s))
    st(out, C.MASS + 13, m2 * a2 * c)
    st(out, C.MASS + 14, m2 * (a2 * a2 * s * s + side * a2 * c) + j2)
    st(out, C.MASS + 15, m2 * a2 * a2 + j2)
    st(out, C.KINETIC + 3, m2 * (x_dot * x_slope + y_dot * y_slope))
    px, py = m1 * vx + m2 * x_dot, m1 * (vy + a1 * w) + m2 * y_dot
    turned = -(a2 * c * x_dot) - a2 * s * x_slope - a2 * s * y_dot
    st(out, C.RATE, m2 * x_slope * rate - w * py)
    st(out, C.RATE + 1, m2 * y_slope * rate + w * px)
    st(out, C.RATE + 2, m2 * rate * (turned + side * y_slope) + (vx * py - vy * px))
    st(out, C.RATE + 3, m2 * rate * (turned + a2 * c * y_slope))
    st(out, C.ROWS + 1, 1.0)
    st(out, C.ROWS + 4, -s)
    st(out, C.ROWS + 5, c)
    st(out, C.ROWS + 6, l1 * c + l2)
    st(out, C.ROWS + 7, l2)
    st(out, C.BIAS + 1, -(rate * (c * vx + s * vy + l1 * s * w)))
    st(out, C.GRADIENT + 3, k * stretch)
    st(out, C.POTENTIAL, 0.5 * k * stretch * stretch)


REDUCED = projected_forms(constrained_parts, frame)
CONSTRAINED = constrained_forms(constrained_parts)


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
    """The racer from the origin; each body is (mass, distance of its centre of mass, moment about it).

    Raises ValueError for masses, moments or lengths that are not positive, and at an angle where the axles meet.
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
    return NonholonomicSystem(
        model="roller-racer",
        group=table_of([(SE2, 1), (SO2, 1)]),
        variables=(
            Variable("body", ("x", "y", "heading"), "m, m, rad", "axle and heading of the first body"),
            Variable("handlebar", ("angle",), "rad", "relative to the first body"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega", "handlebar"), "m/s, m/s, rad/s, rad/s"),
        quasi_velocities=Variable("u", ("v", "handlebar"), "m/s, rad/s", "forward speed and rate of the handlebar"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[*body, *handlebar, *lengths, spring, rest_angle],
        q0=[0.0, 0.0, 0.0, angle],
        u0=[v, angle_rate],
        scratch=FRAME_ROWS + 2,
        reversal=signs(1, 1, 1, 1, -1, -1),
    )
