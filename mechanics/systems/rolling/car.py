r"""A car with front-wheel steering and no slip: the kinematic bicycle with mass.

Configuration SE(2) × R: rear axle and heading, steering angle σ relative to the car; wheelbase ℓ, centre of mass at (d,
0), moment J about it, J_s of the steered wheels.  Rows on (v_x, v_y, ω):

    (0, 1, 0),    (−sin σ, cos σ, ℓ cos σ)          so that   ω = v tan σ/ℓ.

With T = tan σ/ℓ and μ = m + (J + m d²) T² the quasi-velocities u = (√μ v, ω + σ̇) have the constant metric (1, J_s) and
no
gyroscopic terms:  u̇₁ = (F − T τ)/√μ,  J_s u̇₂ = τ,  with thrust F and steering torque τ = τ₀ − k σ.
Source: Bloch 2003, section 1.7 (kinematics); Moiseev et al. 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained, quasi_velocity
from liegroup.compile import helper, kernel, ld, st
from liegroup.compile.scalars import sincos, sqrt
from liegroup.table import RN, SE2, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import positive, signs

Q = quasi_velocity(4, 2)
C = constrained(4, 2, 0)


@helper
def _steering(angle: Any, m: Any, inertia: Any, length: Any) -> Any:
    """T, √μ; `inertia` about the rear axle."""
    s, c = sincos(angle)
    ratio = s / (c * length)
    return ratio, sqrt(m + inertia * ratio * ratio)


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (√μ v, ω + σ̇)."""
    m, inertia, steering, length, _, k = (
        parameters[0],
        parameters[1],
        parameters[2],
        parameters[3],
        parameters[4],
        parameters[5],
    )
    angle = ld(y, 3)
    ratio, root = _steering(angle, m, inertia, length)
    turn = ratio / root
    clear(out)
    st(out, Q.BASIS + 0, 1.0 / root)
    st(out, Q.BASIS + 4, turn)
    st(out, Q.BASIS + 6, -turn)
    st(out, Q.BASIS + 7, 1.0)
    st(out, Q.METRIC, 1.0)
    st(out, Q.METRIC + 1, steering)
    st(out, Q.FORCE, parameters[6] / root - turn * parameters[7])
    st(out, Q.FORCE + 1, parameters[7])
    st(out, Q.GRADIENT + 3, k * angle)
    st(out, Q.POTENTIAL, 0.5 * k * angle * angle)


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω, σ̇)."""
    m, inertia, steering, length, d, k = (
        parameters[0],
        parameters[1],
        parameters[2],
        parameters[3],
        parameters[4],
        parameters[5],
    )
    angle, vx, vy, w, rate = ld(y, 3), ld(y, 4), ld(y, 5), ld(y, 6), ld(y, 7)
    s, c = sincos(angle)
    clear(out)
    st(out, C.MASS + 0, m)
    st(out, C.MASS + 5, m)
    st(out, C.MASS + 6, m * d)
    st(out, C.MASS + 9, m * d)
    st(out, C.MASS + 10, inertia + steering)
    st(out, C.MASS + 11, steering)
    st(out, C.MASS + 14, steering)
    st(out, C.MASS + 15, steering)
    px, py = m * vx, m * (vy + d * w)
    st(out, C.RATE, -(w * py))
    st(out, C.RATE + 1, w * px)
    st(out, C.RATE + 2, vx * py - vy * px)
    st(out, C.ROWS + 1, 1.0)
    st(out, C.ROWS + 4, -s)
    st(out, C.ROWS + 5, c)
    st(out, C.ROWS + 6, length * c)
    st(out, C.BIAS + 1, -(rate * (c * vx + s * vy + length * s * w)))
    st(out, C.GRADIENT + 3, k * angle)
    st(out, C.FORCE, parameters[6])
    st(out, C.FORCE + 3, parameters[7])
    st(out, C.POTENTIAL, 0.5 * k * angle * angle)


REDUCED = quasi_velocity_forms(quasi_velocity_parts)
CONSTRAINED = constrained_forms(constrained_parts)


def car(
    mass: float = 1.0,
    inertia_about_com: float = 0.3,
    steering_inertia: float = 0.1,
    wheelbase: float = 0.8,
    offset: float = 0.35,
    steering_spring: float = 0.5,
    thrust: float = 0.0,
    steering_torque: float = 0.0,
    v: float = 1.0,
    steering_angle: float = 0.4,
    steering_rate: float = 0.1,
) -> NonholonomicSystem:
    """The car from the origin with forward speed v.

    Raises ValueError for masses, moments or lengths that are not positive, and for wheels steered by 90° (no frame).
    """
    positive(mass=mass, inertia_about_com=inertia_about_com, steering_inertia=steering_inertia, wheelbase=wheelbase)
    if abs(steering_angle) >= 0.5 * np.pi:
        raise ValueError(f"steering_angle: {steering_angle}, expected inside (−π/2, π/2), where the car can roll")
    inertia = inertia_about_com + mass * offset**2
    ratio, root = _steering(steering_angle, mass, inertia, wheelbase)
    conservative = thrust == 0.0 and steering_torque == 0.0
    return NonholonomicSystem(
        model="car",
        group=table_of([(SE2, 1), (RN, 1)]),
        variables=(
            Variable("rear_axle", ("x", "y", "heading"), "m, m, rad", "centre of the rear axle and heading"),
            Variable("steering", ("angle",), "rad", "relative to the car"),
        ),
        velocities=Variable(
            "v", ("v_x", "v_y", "omega", "steering"), "m/s, m/s, rad/s, rad/s", "body velocity of the rear axle"
        ),
        quasi_velocities=Variable(
            "u", ("forward", "wheels"), "sqrt(kg) m/s, rad/s", "√μ v and absolute turn rate of the wheels"
        ),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[mass, inertia, steering_inertia, wheelbase, offset, steering_spring, thrust, steering_torque],
        q0=[0.0, 0.0, 0.0, steering_angle],
        u0=[root * v, steering_rate + ratio * v],
        conservative=conservative,
        reversal=signs(1, 1, 1, 1, -1, -1),
    )
