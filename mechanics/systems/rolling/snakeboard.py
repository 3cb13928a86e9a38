r"""The snakeboard: a board on two steerable trucks, driven by a rotor that the rider swings.

Configuration SE(2) × R³: centre and heading of the board, rotor angle ψ, truck angles p₁ (front), p₂ (back), all
relative to the board; trucks at ±ℓ.  Rows (wheels do not slip sideways), on (v_x, v_y, ω):

    (−sin p₁, cos p₁, ℓ cos p₁),    (−sin p₂, cos p₂, −ℓ cos p₂).

With τ = (tan p₁ + tan p₂)/2, σ = (tan p₁ − tan p₂)/(2ℓ), μ = m (1 + τ²) + J σ² and forward speed v

    ω = σ v,    v_y = τ v,    u = (√μ v, ψ̇ + ω, ṗ₁ + ω, ṗ₂ + ω)

are quasi-velocities of constant metric (1, J_r, J_w, J_w) without gyroscopic terms: u̇₁ = −(σ/√μ)(F_ψ + F₁ + F₂).
The rotor is driven by F_ψ = a_ψ sin Ωt, the trucks by ±a_w sin Ωt (front +, back −) and springs ½ k p².
The frame ends at p = ±π/2, where the rows stay regular but the board cannot roll on.
Source: Ostrowski, Lewis, Murray and Burdick 1994; Bloch, Krishnaprasad, Marsden and Murray 1996.
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

Q = quasi_velocity(6, 4)
C = constrained(6, 2, 0)


@helper
def _steering(p1: Any, p2: Any, m: Any, inertia: Any, length: Any) -> Any:
    """τ, σ, √μ."""
    s1, c1 = sincos(p1)
    s2, c2 = sincos(p2)
    t1, t2 = s1 / c1, s2 / c2
    tau, sigma = 0.5 * (t1 + t2), 0.5 * (t1 - t2) / length
    return tau, sigma, sqrt(m * (1.0 + tau * tau) + inertia * sigma * sigma)


@helper
def _drive(t: Any, parameters: Any) -> Any:
    s, _ = sincos(parameters[8] * t)
    return parameters[6] * s, parameters[7] * s


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (√μ v, ψ̇ + ω, ṗ₁ + ω, ṗ₂ + ω)."""
    m, inertia, rotor, truck, length, k = (
        parameters[0],
        parameters[1],
        parameters[2],
        parameters[3],
        parameters[4],
        parameters[5],
    )
    p1, p2 = ld(y, 4), ld(y, 5)
    tau, sigma, root = _steering(p1, p2, m, inertia, length)
    turn = sigma / root
    clear(out)
    st(out, Q.BASIS + 0, 1.0 / root)
    st(out, Q.BASIS + 4, tau / root)
    st(out, Q.BASIS + 8, turn)
    for i in range(3):
        st(out, Q.BASIS + 4 * (3 + i), -turn)
        st(out, Q.BASIS + 4 * (3 + i) + 1 + i, 1.0)
    st(out, Q.METRIC, 1.0)
    st(out, Q.METRIC + 1, rotor)
    st(out, Q.METRIC + 2, truck)
    st(out, Q.METRIC + 3, truck)
    torque, steering = _drive(t, parameters)
    st(out, Q.FORCE, -(turn * torque))
    st(out, Q.FORCE + 1, torque)
    st(out, Q.FORCE + 2, steering)
    st(out, Q.FORCE + 3, -steering)
    st(out, Q.GRADIENT + 4, k * p1)
    st(out, Q.GRADIENT + 5, k * p2)
    st(out, Q.POTENTIAL, 0.5 * k * (p1 * p1 + p2 * p2))


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (v_x, v_y, ω, ψ̇, ṗ₁, ṗ₂)."""
    m, inertia, rotor, truck, length, k = (
        parameters[0],
        parameters[1],
        parameters[2],
        parameters[3],
        parameters[4],
        parameters[5],
    )
    vx, vy, w = ld(y, 6), ld(y, 7), ld(y, 8)
    clear(out)
    st(out, C.MASS + 0, m)
    st(out, C.MASS + 7, m)
    st(out, C.MASS + 14, inertia + rotor + 2.0 * truck)
    for i in range(3):
        spin = rotor if i == 0 else truck
        st(out, C.MASS + 15 + i, spin)
        st(out, C.MASS + 6 * (3 + i) + 2, spin)
        st(out, C.MASS + 7 * (3 + i), spin)
    st(out, C.RATE, -(m * w * vy))
    st(out, C.RATE + 1, m * w * vx)
    for j in range(2):
        p, arm = ld(y, 4 + j), (length if j == 0 else -length)
        s, c = sincos(p)
        st(out, C.ROWS + 6 * j, -s)
        st(out, C.ROWS + 6 * j + 1, c)
        st(out, C.ROWS + 6 * j + 2, arm * c)
        st(out, C.BIAS + j, -(ld(y, 10 + j) * (c * vx + s * vy + arm * s * w)))
        st(out, C.GRADIENT + 4 + j, k * p)
    torque, steering = _drive(t, parameters)
    st(out, C.FORCE + 3, torque)
    st(out, C.FORCE + 4, steering)
    st(out, C.FORCE + 5, -steering)
    st(out, C.POTENTIAL, 0.5 * k * (ld(y, 4) * ld(y, 4) + ld(y, 5) * ld(y, 5)))


REDUCED = quasi_velocity_forms(quasi_velocity_parts)
CONSTRAINED = constrained_forms(constrained_parts)


def snakeboard(
    mass: float = 1.0,
    board_inertia: float = 0.4,
    rotor_inertia: float = 0.3,
    truck_inertia: float = 0.05,
    half_length: float = 0.5,
    truck_spring: float = 0.2,
    rotor_torque: float = 0.0,
    truck_torque: float = 0.0,
    frequency: float = 1.0,
    angles: tuple[float, float, float] = (0.0, 0.35, -0.2),
    v: float = 0.5,
    rates: tuple[float, float, float] = (1.2, 0.2, 0.1),
) -> NonholonomicSystem:
    """The board from the origin with angles (ψ, p₁, p₂), forward speed v and rates (ψ̇, ṗ₁, ṗ₂).

    Raises ValueError for masses, moments or lengths that are not positive, and for a truck turned by 90° (no frame).
    """
    positive(
        mass=mass,
        board_inertia=board_inertia,
        rotor_inertia=rotor_inertia,
        truck_inertia=truck_inertia,
        half_length=half_length,
    )
    if max(abs(angles[1]), abs(angles[2])) >= 0.5 * np.pi:
        raise ValueError(f"angles: {angles}, expected truck angles inside (−π/2, π/2), where the board can roll")
    _, sigma, root = _steering(angles[1], angles[2], mass, board_inertia, half_length)
    return NonholonomicSystem(
        model="snakeboard",
        group=table_of([(SE2, 1), (RN, 3)]),
        variables=(
            Variable("board", ("x", "y", "heading"), "m, m, rad", "centre and heading"),
            Variable("angles", ("rotor", "front", "back"), "rad", "relative to the board"),
        ),
        velocities=Variable(
            "v", ("v_x", "v_y", "omega", "rotor", "front", "back"), "m/s, m/s, rad/s, rad/s, rad/s, rad/s"
        ),
        quasi_velocities=Variable(
            "u",
            ("forward", "rotor", "front", "back"),
            "sqrt(kg) m/s, rad/s, rad/s, rad/s",
            "√μ v and absolute rates of the angles",
        ),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[
            mass,
            board_inertia,
            rotor_inertia,
            truck_inertia,
            half_length,
            truck_spring,
            rotor_torque,
            truck_torque,
            frequency,
        ],
        q0=[0.0, 0.0, 0.0, *angles],
        u0=[root * v, *(rate + sigma * v for rate in rates)],
        conservative=rotor_torque == 0.0 and truck_torque == 0.0,
        reversal=signs(*(1,) * 6, *(-1,) * 4) if rotor_torque == truck_torque == 0.0 else None,
    )
