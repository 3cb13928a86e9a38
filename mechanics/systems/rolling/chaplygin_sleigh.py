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
from integrators.problem.parts import clear, constrained, quasi_velocity
from liegroup.compile import kernel, ld, st
from liegroup.formulas import se2
from liegroup.table import SE2, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.bodies.elliptic import amplitude
from mechanics.systems.checks import positive, signs

Q = quasi_velocity(3, 2)
C = constrained(3, 1, 0)


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (v, ω), velocity (v, 0, ω)."""
    m, inertia, a = parameters[0], parameters[1], parameters[2]
    v, w = ld(y, 3), ld(y, 4)
    clear(out)
    st(out, Q.BASIS + 0, 1.0)
    st(out, Q.BASIS + 5, 1.0)
    st(out, Q.METRIC, m)
    st(out, Q.METRIC + 1, inertia)
    st(out, Q.GYRO, m * a * w * w)
    st(out, Q.GYRO + 1, -(m * a * v * w))


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω)."""
    m, inertia, a = parameters[0], parameters[1], parameters[2]
    vx, vy, w = ld(y, 3), ld(y, 4), ld(y, 5)
    clear(out)
    st(out, C.MASS + 0, m)
    st(out, C.MASS + 4, m)
    st(out, C.MASS + 5, m * a)
    st(out, C.MASS + 7, m * a)
    st(out, C.MASS + 8, inertia)
    st(out, C.ROWS + 1, 1.0)
    rx, ry, rw = se2.bracket_transpose((vx, vy, w), (m * vx, m * (vy + a * w), m * a * vy + inertia * w))
    st(out, C.RATE, -rx)
    st(out, C.RATE + 1, -ry)
    st(out, C.RATE + 2, -rw)


REDUCED = quasi_velocity_forms(quasi_velocity_parts)
CONSTRAINED = constrained_forms(constrained_parts)


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

    Raises ValueError for a mass or inertia that is not positive.
    """
    positive(mass=mass, inertia_about_com=inertia_about_com)
    inertia = inertia_about_com + mass * offset**2
    return NonholonomicSystem(
        model="chaplygin-sleigh",
        group=table_of([(SE2, 1)]),
        variables=(
            Variable("skate", ("x", "y", "heading"), "m, m, rad", "contact of the skate and heading of the blade"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega"), "m/s, m/s, rad/s", "body velocity of the skate"),
        quasi_velocities=Variable("u", ("v", "omega"), "m/s, rad/s", "speed along the blade and turn rate"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[mass, inertia, offset],
        q0=[0.0, 0.0, heading],
        u0=[v, omega],
        reversal=signs(1, 1, 1, -1, -1),
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
