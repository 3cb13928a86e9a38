r"""A knife edge (skate) on an inclined plane: it never slides sideways, and never runs down.

Configuration SE(2), the centre of mass at the skate, x down the slope.  Row: v_y = 0.  With g' = g sin α

    v̇ = g' cos θ,    ω̇ = 0,    E = ½ m v² + ½ J ω² − m g' x.

Closed form with θ = θ₀ + ω t and V = v₀ − (g'/ω) sin θ₀:

    v = V + (g'/ω) sin θ
    x = x₀ + [V (sin θ − sin θ₀) + (g'/2ω)(sin² θ − sin² θ₀)]/ω
    y = y₀ + [V (cos θ₀ − cos θ) + (g'/2ω)(ω t − (sin 2θ − sin 2θ₀)/2)]/ω:

from rest a cycloid across the slope.  Source: Neimark and Fufaev 1972, chapter II; Bloch 2003, section 1.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained, quasi_velocity
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, kernel, ld, st
from liegroup.compile.scalars import sincos
from liegroup.table import SE2, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.multipliers import constrained_energy
from mechanics.nonholonomic.quasi_velocity import quasi_velocity_energy
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import positive, signs

Q = quasi_velocity(3, 2)
C = constrained(3, 1, 0)


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (v, ω), velocity (v, 0, ω)."""
    m, inertia, g = parameters[0], parameters[1], parameters[2]
    s, c = sincos(ld(y, 2))
    clear(out)
    st(out, Q.BASIS + 0, 1.0)
    st(out, Q.BASIS + 5, 1.0)
    st(out, Q.METRIC, m)
    st(out, Q.METRIC + 1, inertia)
    st(out, Q.GRADIENT, -(m * g * c))
    st(out, Q.GRADIENT + 1, m * g * s)
    st(out, Q.POTENTIAL, -(m * g * ld(y, 0)))


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω)."""
    m, inertia, g = parameters[0], parameters[1], parameters[2]
    s, c = sincos(ld(y, 2))
    vx, vy, w = ld(y, 3), ld(y, 4), ld(y, 5)
    clear(out)
    st(out, C.MASS + 0, m)
    st(out, C.MASS + 4, m)
    st(out, C.MASS + 8, inertia)
    st(out, C.ROWS + 1, 1.0)
    st(out, C.RATE, -(m * w * vy))
    st(out, C.RATE + 1, m * w * vx)
    st(out, C.GRADIENT, -(m * g * c))
    st(out, C.GRADIENT + 1, m * g * s)
    st(out, C.POTENTIAL, -(m * g * ld(y, 0)))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, quasi_velocity_energy(quasi_velocity_parts, t, y, parameters, structure, work))
    st(out, 1, ld(y, 4))


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, constrained_energy(constrained_parts, t, y, parameters, structure, work))
    st(out, 1, ld(y, 5))


REDUCED = quasi_velocity_forms(quasi_velocity_parts, invariants)
CONSTRAINED = constrained_forms(constrained_parts, constrained_invariants)


def knife_edge(
    mass: float = 1.0,
    inertia: float = 1.0,
    slope_gravity: float = 0.5,
    v: float = 0.3,
    omega: float = 1.0,
    heading: float = 0.0,
) -> NonholonomicSystem:
    """The skate from the origin with speed v along the blade and turn rate ω; `slope_gravity` is g sin α.

    Raises ValueError for a mass or inertia that is not positive, or a turn rate that is zero (no closed form).
    """
    positive(mass=mass, inertia=inertia)
    if omega == 0.0:
        raise ValueError(
            "omega: 0.0, expected a turn rate that is not zero; without turning the skate just slides down its line"
        )
    return NonholonomicSystem(
        model="knife-edge",
        group=table_of([(SE2, 1)]),
        variables=(Variable("skate", ("x", "y", "heading"), "m, m, rad", "x down the slope"),),
        velocities=Variable("v", ("v_x", "v_y", "omega"), "m/s, m/s, rad/s", "body velocity"),
        quasi_velocities=Variable("u", ("v", "omega"), "m/s, rad/s", "speed along the blade and turn rate"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[mass, inertia, slope_gravity],
        q0=[0.0, 0.0, heading],
        u0=[v, omega],
        invariant_names=("energy", "turn_rate"),
        invariant_units=("J", "rad/s"),
        reversal=signs(1, 1, 1, -1, -1),
        exact=lambda t: closed_form(t, slope_gravity, heading, v, omega),
    )


def closed_form(t: ArrayLike, g: float, heading: float, v: float, omega: float) -> NDArray[np.float64]:
    """(x, y, θ, v, ω) at the times t from the origin."""
    t = np.asarray(t, float)
    theta = heading + omega * t
    s0, s = np.sin(heading), np.sin(theta)
    k, base = g / omega, v - g / omega * s0
    x = (base * (s - s0) + 0.5 * k * (s * s - s0 * s0)) / omega
    y = (
        base * (np.cos(heading) - np.cos(theta))
        + 0.5 * k * (omega * t - 0.5 * (np.sin(2 * theta) - np.sin(2 * heading)))
    ) / omega
    return np.stack([x, y, theta, base + k * s, omega + 0 * t], axis=-1)
