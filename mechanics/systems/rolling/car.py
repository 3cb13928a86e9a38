r"""A car with front-wheel steering and no slip: the kinematic bicycle with mass.

Configuration SE(2) × R: rear axle and heading, steering angle σ relative to the car; wheelbase ℓ, centre of mass at (d,
0), moment J about it, J_s of the steered wheels.  Rows on (v_x, v_y, ω):

    (0, 1, 0),    (−sin σ, cos σ, ℓ cos σ)          so that   ω = v tan σ/ℓ.

With μ = m cos²σ + (J + m d²) sin²σ/ℓ² and the speed w of the front wheels, (v, ω) = (cos σ, sin σ/ℓ) w, the
quasi-velocities u = (√μ w, ω + σ̇) have the constant metric (1, J_s) and no gyroscopic terms:
u̇₁ = (F cos σ − τ sin σ/ℓ)/√μ,  J_s u̇₂ = τ,  with thrust F and steering torque τ = τ₀ − k σ.  They pass σ = ±90°, where
the car turns about its rear axle.
Source: Bloch 2003, section 1.7 (kinematics); Moiseev et al. 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.problem import Variable
from liegroup.compile.scalars import sincos, sqrt
from liegroup.table import RN, SE2, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, positive, signs


def _steering(angle: Any, m: Any, inertia: Any, length: Any) -> Any:
    """cos σ/√μ, sin σ/(ℓ √μ); `inertia` about the rear axle."""
    s, c = sincos(angle)
    turn = s / length
    root = sqrt(m * (c * c) + inertia * (turn * turn))
    return c / root, turn / root


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω, σ̇)."""
    m, inertia, steering, _, d, *_ = p
    wheels = v[2] + v[3]
    body = m * (v[0] * v[0] + v[1] * v[1]) + 2.0 * m * d * v[1] * v[2] + inertia * (v[2] * v[2])
    return 0.5 * body + 0.5 * steering * (wheels * wheels)


def rows(q: Any, p: Any) -> Any:
    """No slip of the rear and of the front wheels."""
    s, c = sincos(q[3])
    return [[0.0, 1.0, 0.0, 0.0], [-s, c, p[3] * c, 0.0]]


def frame(q: Any, p: Any) -> Any:
    """u = (√μ w, ω + σ̇)."""
    ahead, turn = _steering(q[3], p[0], p[1], p[3])
    return [[ahead, 0.0], [0.0, 0.0], [turn, 0.0], [-turn, 1.0]]


FUNCTIONS = Functions(
    group=table_of([(SE2, 1), (RN, 1)]),
    mass=kinetic,
    rows=rows,
    potential=lambda q, p: 0.5 * p[5] * q[3] * q[3],
    force=lambda t, q, v, p: (p[6], 0.0, 0.0, p[7]),
    frame=frame,
    metric=lambda p: (1.0, p[2]),
    gyro=lambda q, u, p: (0.0, 0.0),
    parameters=8,
)


@checked
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

    Parameters
    ----------
    mass : float
        m, kg.
    inertia_about_com, steering_inertia : float
        J and J_s, kg·m².
    wheelbase : float
        ℓ, m.
    offset : float
        d from the rear axle to the centre of mass, m.
    steering_spring : float
        N·m/rad.
    thrust : float
        N.
    steering_torque : float
        N·m.
    v : float
        m/s.
    steering_angle : float
        σ, rad.
    steering_rate : float
        σ̇, rad/s.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        Masses, moments or lengths that are not positive; wheels steered by 90° or more, where it does not move forward.

    Examples
    --------
    >>> system = car(thrust=0.5)
    >>> system.n, system.m, system.problem().y0.shape
    (4, 2, (6,))
    """
    positive(mass=mass, inertia_about_com=inertia_about_com, steering_inertia=steering_inertia, wheelbase=wheelbase)
    if abs(steering_angle) >= 0.5 * np.pi:
        raise ValueError(f"steering_angle: {steering_angle}, expected inside (−π/2, π/2), where the car can roll")
    inertia = inertia_about_com + mass * offset**2
    ahead, turn = _steering(steering_angle, mass, inertia, wheelbase)
    conservative = thrust == 0.0 and steering_torque == 0.0
    return FUNCTIONS.system(
        model="car",
        variables=(
            Variable("rear_axle", ("x", "y", "heading"), "m, m, rad", "centre of the rear axle and heading"),
            Variable("steering", ("angle",), "rad", "relative to the car"),
        ),
        velocities=Variable(
            "v", ("v_x", "v_y", "omega", "steering"), "m/s, m/s, rad/s, rad/s", "body velocity of the rear axle"
        ),
        quasi_velocities=Variable(
            "u", ("forward", "wheels"), "sqrt(kg) m/s, rad/s", "√μ w and absolute turn rate of the wheels"
        ),
        parameters=[mass, inertia, steering_inertia, wheelbase, offset, steering_spring, thrust, steering_torque],
        q0=[0.0, 0.0, 0.0, steering_angle],
        u0=[v / ahead, steering_rate + turn * v / ahead],
        conservative=conservative,
        reversal=signs(1, 1, 1, 1, -1, -1),
        scene=system_scene("car", float(wheelbase)),
    )
