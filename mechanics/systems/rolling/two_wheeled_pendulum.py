r"""The two-wheeled inverted pendulum: a body that balances, or falls, above an axle with two driven wheels; a tree with
wheels.

Body on a free joint at the middle of the axle, a wheel on a revolute joint at either end, each rolling on the plane z =
0.  With V the forward speed, θ the pitch (forward lean), ψ the yaw, and no torques:

    (m_b + 2 m_w + 2 I_w/r²) V̇ + m_b l cos θ θ̈ − m_b l sin θ (θ̇² + ψ̇²) = 0
    (I_y + m_b l²) θ̈ + m_b l cos θ V̇ − (I_x + m_b l² − I_z) sin θ cos θ ψ̇² − m_b g l sin θ = 0
    J ψ̈ + J' θ̇ ψ̇ + m_b l sin θ V ψ̇ = 0,   J = I_z cos²θ + (I_x + m_b l²) sin²θ + 2 (m_w + I_w/r²) b² + 2 I_d

Both wheels resist sideways, and do it twice: one of the six rows is redundant.
Source: Pathak, Franch and Agrawal 2005 (the model); the equations follow from Lagrange–d'Alembert.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanics.constraints.wheels import wheel
from mechanics.joints import Free, Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.checks import check_fields, finite, positive

Array = NDArray[np.float64]
AXIS = (0.0, 1.0, 0.0)
"""Axis of the wheels in body axes (x forward, y left, z up)."""


@dataclass(frozen=True)
class TwoWheeledPendulum:
    """Masses (kg), lengths (m), moments about centres of mass (kg·m²): body (x, y, z), wheel axial and diametral."""

    body_mass: float = 10.0
    wheel_mass: float = 1.0
    height: float = 0.4
    """Of the body's centre of mass above the axle."""
    half_track: float = 0.25
    radius: float = 0.12
    body_moments: tuple[float, float, float] = (0.5, 0.4, 0.2)
    axial: float = 0.0072
    diametral: float = 0.004
    gravity: float = 9.81

    def __post_init__(self) -> None:
        check_fields(self)
        positive(
            body_mass=self.body_mass, wheel_mass=self.wheel_mass, height=self.height, half_track=self.half_track,
            radius=self.radius,
            axial=self.axial, diametral=self.diametral,
        )  # fmt: skip


def mechanism(p: TwoWheeledPendulum = TwoWheeledPendulum()) -> Mechanism:
    """The tree on its wheels, upright in the origin."""
    inertia = Inertia.about_com(p.body_mass, (0.0, 0.0, p.height), np.diag(p.body_moments))
    rolling = Inertia.about_com(p.wheel_mass, (0.0, 0.0, 0.0), np.diag([p.diametral, p.axial, p.diametral]))
    bodies = [Body("body", Free(), inertia=inertia)]
    for name, side in (("left", 1.0), ("right", -1.0)):
        bodies.append(Body(name, Revolute(AXIS), "body", (0.0, side * p.half_track, 0.0), inertia=rolling))
    tree = Tree(bodies, name="two-wheeled pendulum", gravity=(0.0, 0.0, -p.gravity))
    wheels = [wheel(Frame.with_axis(name, axis=AXIS), p.radius, name=name) for name in ("left", "right")]
    home = tree.neutral()
    home[2] = p.radius
    return Mechanism(tree, wheels, home)


def state(p: TwoWheeledPendulum, pitch: float, speed: float, pitch_rate: float, yaw_rate: float) -> tuple[Array, Array]:
    """(q, v) with heading 0 and the wheels rolling."""
    q = np.concatenate([[0.0, 0.0, p.radius, np.cos(pitch / 2), 0.0, np.sin(pitch / 2), 0.0], [0.0, 0.0]])
    s, c = np.sin(pitch), np.cos(pitch)
    spins = [(speed - side * p.half_track * yaw_rate) / p.radius - pitch_rate for side in (1.0, -1.0)]
    return q, np.array([speed * c, 0.0, speed * s, -yaw_rate * s, pitch_rate, yaw_rate * c, *spins])


def started(
    p: TwoWheeledPendulum = TwoWheeledPendulum(), pitch: float = 0.1, speed: float = 1.0, yaw_rate: float = 0.5
) -> Mechanism:
    """The pendulum leaning forward in a curve, about to fall.

    Parameters
    ----------
    p : TwoWheeledPendulum
        Its numbers, SI units.
    pitch : float
        Forward lean, rad.
    speed : float
        m/s.
    yaw_rate : float
        rad/s.

    Returns
    -------
    Mechanism
        At its start.

    Raises
    ------
    ValueError, TypeError
        Numbers that are not finite.

    Examples
    --------
    >>> started().mobility.dof
    3
    """
    finite(pitch=pitch, speed=speed, yaw_rate=yaw_rate)
    return mechanism(p).with_start(*state(p, pitch, speed, 0.0, yaw_rate))


def accelerations(p: TwoWheeledPendulum, pitch: float, speed: float, pitch_rate: float, yaw_rate: float) -> Array:
    """(V̇, θ̈, ψ̈) of the equations above."""
    s, c = np.sin(pitch), np.cos(pitch)
    ix, iy, iz = p.body_moments
    moment, rolling = p.body_mass * p.height, p.wheel_mass + p.axial / p.radius**2
    matrix = np.array([[p.body_mass + 2 * rolling, moment * c], [moment * c, iy + moment * p.height]])
    right = [
        moment * s * (pitch_rate**2 + yaw_rate**2),
        (ix + moment * p.height - iz) * s * c * yaw_rate**2 + moment * p.gravity * s,
    ]
    inertia = iz * c**2 + (ix + moment * p.height) * s**2 + 2 * rolling * p.half_track**2 + 2 * p.diametral
    change = 2 * s * c * (ix + moment * p.height - iz)
    yaw = -(change * pitch_rate * yaw_rate + moment * s * speed * yaw_rate) / inertia
    return np.array([*np.linalg.solve(matrix, right), yaw])
