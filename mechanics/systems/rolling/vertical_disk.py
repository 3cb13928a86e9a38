r"""The vertical disk: it rolls without slipping on a plane and stays upright.

Configuration SE(2) × SO(2): contact point and heading θ (the direction in which it rolls), roll angle φ; body velocity
(v_x, v_y, ω, φ̇).  Rows

    v_x − r φ̇ = 0,    v_y = 0          (ẋ = r φ̇ cos θ,  ẏ = r φ̇ sin θ).

Turning rate and roll rate are constant; the contact point runs on a circle of radius r φ̇/ω.
With moments I_t about the vertical and I_a about the axis: E = ½ (m r² + I_a) φ̇² + ½ I_t ω².
Source: Bloch 2003, section 1.4; Moiseev et al. 2021, eq. (4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained, quasi_velocity
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, kernel, ld, st
from liegroup.table import SE2, SO2, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.multipliers import constrained_energy
from mechanics.nonholonomic.quasi_velocity import quasi_velocity_energy
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import positive, signs

Q = quasi_velocity(4, 2)
C = constrained(4, 2, 0)


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (ω, φ̇), velocity (r φ̇, 0, ω, φ̇)."""
    m, turning, axial, r = parameters[0], parameters[1], parameters[2], parameters[3]
    clear(out)
    st(out, Q.BASIS + 1, r)
    st(out, Q.BASIS + 4, 1.0)
    st(out, Q.BASIS + 7, 1.0)
    st(out, Q.METRIC, turning)
    st(out, Q.METRIC + 1, axial + m * r * r)


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω, φ̇)."""
    m, turning, axial, r = parameters[0], parameters[1], parameters[2], parameters[3]
    vx, vy, w = ld(y, 4), ld(y, 5), ld(y, 6)
    clear(out)
    st(out, C.MASS + 0, m)
    st(out, C.MASS + 5, m)
    st(out, C.MASS + 10, turning)
    st(out, C.MASS + 15, axial)
    st(out, C.ROWS + 0, 1.0)
    st(out, C.ROWS + 3, -r)
    st(out, C.ROWS + 5, 1.0)
    st(out, C.RATE, -(m * w * vy))
    st(out, C.RATE + 1, m * w * vx)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, quasi_velocity_energy(quasi_velocity_parts, t, y, parameters, structure, work))
    st(out, 1, ld(y, 4))
    st(out, 2, ld(y, 5))


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, constrained_energy(constrained_parts, t, y, parameters, structure, work))
    st(out, 1, ld(y, 6))
    st(out, 2, ld(y, 7))


REDUCED = quasi_velocity_forms(quasi_velocity_parts, invariants)
CONSTRAINED = constrained_forms(constrained_parts, constrained_invariants)


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

    Raises ValueError for a mass, radius or moment that is not positive.
    """
    turning = 0.25 * mass * radius**2 if turning_inertia is None else turning_inertia
    axial = 0.5 * mass * radius**2 if axial_inertia is None else axial_inertia
    positive(mass=mass, radius=radius, turning_inertia=turning, axial_inertia=axial)
    return NonholonomicSystem(
        model="vertical-disk",
        group=table_of([(SE2, 1), (SO2, 1)]),
        variables=(
            Variable("contact", ("x", "y", "heading"), "m, m, rad", "contact point and heading"),
            Variable("roll", ("angle",), "rad", "roll angle"),
        ),
        velocities=Variable("v", ("v_x", "v_y", "omega", "roll_rate"), "m/s, m/s, rad/s, rad/s", "body velocity"),
        quasi_velocities=Variable("u", ("omega", "roll_rate"), "rad/s", "turning rate and roll rate"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[mass, turning, axial, radius],
        q0=[0.0, 0.0, heading, 0.0],
        u0=[omega, roll_rate],
        invariant_names=("energy", "turning_rate", "roll_rate"),
        invariant_units=("J", "rad/s", "rad/s"),
        reversal=signs(1, 1, 1, 1, -1, -1),
        exact=lambda t: circle(t, radius, heading, omega, roll_rate),
    )


def circle(t: ArrayLike, radius: float, heading: float, omega: float, roll_rate: float) -> NDArray[np.float64]:
    """(x, y, θ, φ, ω, φ̇) at the times t from the origin: x + i y = r φ̇ t e^{iθ₀} e^{iωt/2} sinc(ωt/2)."""
    t = np.asarray(t, float)
    half = 0.5 * omega * t
    chord = radius * roll_rate * t * np.sinc(half / np.pi)
    x, y = chord * np.cos(heading + half), chord * np.sin(heading + half)
    return np.stack([x, y, heading + omega * t, roll_rate * t, omega + 0 * t, roll_rate + 0 * t], axis=-1)
