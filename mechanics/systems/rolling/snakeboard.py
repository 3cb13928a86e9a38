r"""The snakeboard: a board on two steerable trucks, driven by a rotor that the rider swings.

Configuration SE(2) × R³: centre and heading of the board, rotor angle ψ, truck angles p₁ (front), p₂ (back), all
relative to the board; trucks at ±ℓ.  Rows (wheels do not slip sideways), on (v_x, v_y, ω):

    (−sin p₁, cos p₁, ℓ cos p₁),    (−sin p₂, cos p₂, −ℓ cos p₂).

They leave the board the velocities along (κ, τ, σ) = (cos p₁ cos p₂, sin(p₁ + p₂)/2, sin(p₁ − p₂)/(2ℓ)). With
μ = m (κ² + τ²) + J σ²

    (v_x, v_y, ω) = (κ, τ, σ) u₁/√μ,    u = (u₁, ψ̇ + ω, ṗ₁ + ω, ṗ₂ + ω)

are quasi-velocities of constant metric (1, J_r, J_w, J_w) without gyroscopic terms: u̇₁ = −(σ/√μ)(F_ψ + F₁ + F₂).
The rotor is driven by F_ψ = a_ψ sin Ωt, the trucks by ±a_w sin Ωt (front +, back −) and springs ½ k p².
Written with tan p the frame would jump where a truck passes 90°; this one ends only where both stand across the board,
and the rows depend on each other: past that it has another sign, and a run that comes there is doubtful.
Source: Ostrowski, Lewis, Murray and Burdick 1994; Bloch, Krishnaprasad, Marsden and Murray 1996.
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

ACROSS = 0.02
"""How near both trucks come to standing across, the root mean square of their angles from it, where the frame counts as
ended, rad: so far that no step leads past it unseen, as the frame does not vanish there but turns over.
"""


def _directions(p1: Any, p2: Any) -> Any:
    """κ, τ, ℓσ."""
    s1, c1 = sincos(p1)
    s2, c2 = sincos(p2)
    left, right = s1 * c2, c1 * s2
    return c1 * c2, 0.5 * (left + right), 0.5 * (left - right)


def _steering(p1: Any, p2: Any, m: Any, inertia: Any, length: Any) -> Any:
    """κ/√μ, τ/√μ, σ/√μ."""
    kappa, tau, turn = _directions(p1, p2)
    sigma = turn / length
    root = sqrt(m * (kappa * kappa + tau * tau) + inertia * sigma * sigma)
    return kappa / root, tau / root, sigma / root


def kinetic(q: Any, v: Any, p: Any) -> Any:
    """v = (v_x, v_y, ω, ψ̇, ṗ₁, ṗ₂)."""
    m, board, rotor, truck, *_ = p
    spin, front, back = v[2] + v[3], v[2] + v[4], v[2] + v[5]
    moving = m * (v[0] * v[0] + v[1] * v[1]) + board * (v[2] * v[2])
    return 0.5 * moving + 0.5 * rotor * (spin * spin) + 0.5 * truck * (front * front + back * back)


def rows(q: Any, p: Any) -> Any:
    """No slip of the front and of the back wheels."""
    (s1, c1), (s2, c2) = sincos(q[4]), sincos(q[5])
    return [[-s1, c1, p[4] * c1, 0.0, 0.0, 0.0], [-s2, c2, -(p[4] * c2), 0.0, 0.0, 0.0]]


def frame(q: Any, p: Any) -> Any:
    """u = (u₁, ψ̇ + ω, ṗ₁ + ω, ṗ₂ + ω)."""
    ahead, aside, turn = _steering(q[4], q[5], p[0], p[1], p[4])
    board = [[ahead, 0.0, 0.0, 0.0], [aside, 0.0, 0.0, 0.0], [turn, 0.0, 0.0, 0.0]]
    return [*board, [-turn, 1.0, 0.0, 0.0], [-turn, 0.0, 1.0, 0.0], [-turn, 0.0, 0.0, 1.0]]


def apart(q: Any, p: Any) -> Any:
    """How far the trucks are from both standing across, beyond what counts as there."""
    kappa, tau, turn = _directions(q[4], q[5])
    return sqrt(kappa * kappa + tau * tau + turn * turn) - ACROSS


def force(t: Any, q: Any, v: Any, p: Any) -> Any:
    """The rotor's torque, and ± that of the trucks."""
    s, _ = sincos(p[8] * t)
    return 0.0, 0.0, 0.0, p[6] * s, p[7] * s, -(p[7] * s)


FUNCTIONS = Functions(
    group=table_of([(SE2, 1), (RN, 3)]),
    mass=kinetic,
    rows=rows,
    potential=lambda q, p: 0.5 * p[5] * (q[4] * q[4] + q[5] * q[5]),
    force=force,
    frame=frame,
    edges={"apart": apart},
    metric=lambda p: (1.0, p[2], p[3], p[3]),
    gyro=lambda q, u, p: (0.0, 0.0, 0.0, 0.0),
    parameters=9,
)


@checked
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

    Parameters
    ----------
    mass : float
        m, kg.
    board_inertia, rotor_inertia, truck_inertia : float
        About the vertical, kg·m².
    half_length : float
        ℓ, m.
    truck_spring : float
        N·m/rad.
    rotor_torque, truck_torque : float
        Amplitudes, N·m.
    frequency : float
        Of the torques, rad/s.
    angles : three floats
        (ψ, p₁, p₂) at the start, rad.
    v : float
        m/s.
    rates : three floats
        Of the angles at the start, rad/s.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        Masses, moments or lengths that are not positive; a truck turned by 90° or more, where the board does not move
        forward; both nearly across it.

    Examples
    --------
    >>> system = snakeboard(rotor_torque=1.0)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 2, (10,))
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
    if apart((0.0, 0.0, 0.0, *angles), ()) <= 0.0:
        raise ValueError(
            f"angles: {angles} put both trucks across the board, to {ACROSS} rad, where their rows depend on each "
            "other; turn one of them"
        )
    ahead, _, turn = _steering(angles[1], angles[2], mass, board_inertia, half_length)
    return FUNCTIONS.system(
        model="snakeboard",
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
            "√μ v_x/κ and absolute rates of the angles",
        ),
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
        scene=system_scene("snakeboard", float(half_length)),
        q0=[0.0, 0.0, 0.0, *angles],
        u0=[v / ahead, *(rate + turn * v / ahead for rate in rates)],
        conservative=rotor_torque == 0.0 and truck_torque == 0.0,
        reversal=signs(*(1,) * 6, *(-1,) * 4) if rotor_torque == truck_torque == 0.0 else None,
    )
