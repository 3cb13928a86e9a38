"""The walking mechanism of Ivanov (2022), section 4: a hull, a driven disc and two legs, in the plane y-z.

The disc turns in the hull; each leg is pinned to the disc and slides through a point of the hull, so that hull, disc
and leg are a crank mechanism.  Feet are arcs about the upper ends of the legs.  Splitting each leg into two halves
opens both loops; the tree is

    body   1 hull   2 disc   3 leg 1   4 leg 2   5 leg 1 (image)   6 leg 2 (image)
    k      0        1        1         1         2                 2
    q      y z φ    α        z₁ γ₁     z₂ γ₂     β₁                β₂

    ε = [0 0 1 0 −1  0]
        [0 0 0 1  0 −1]

All turns are about x.  O₁ = O₂ is the centre of the disc, O₃ … O₆ are the upper ends of the legs.  Masses and moments
of the legs are those of the halves.  Data of the paper, except the contact of the feet, which it does not give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from mechanics.constraints.loops import Closure, weld
from mechanics.forces import Element, Sphere, contact, servo
from mechanics.joints import Compound, Motion, Revolute, Slide, Turn
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.checks import positive

Array = NDArray[np.float64]

LEG = 1.5
"""e₁, length of a leg and radius of its foot, m."""
CRANK = 0.05
"""e₂, radius of the pins on the disc, m."""
PIN = 0.3
"""e₃, from the upper end of a leg to its pin, m."""
PERIOD = 2.6
"""T, of the disc, s."""
GRAVITY = 9.8
"""m/s²."""
PARENTS = (0, 1, 1, 1, 2, 2)
"""k, numbered from 1 as in the paper; 0 is the ground."""
EPSILON = np.array([[0, 0, 1, 0, -1, 0], [0, 0, 0, 1, 0, -1]])
"""ε."""

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_HULL = Inertia.about_origin(20.0, (0.0, 0.0, -0.1), np.diag([1.1, 0.7, 0.5]))
_DISC = Inertia.about_origin(3.0, (0.0, 0.0, 0.0), np.diag([0.004, 0.0025, 0.0025]))
_HALF_LEG = Inertia.about_origin(0.6, (0.0, 0.0, -0.75), np.diag([0.4675, 0.4675, 0.00015]))


@dataclass(frozen=True)
class Ground:
    """The contact of a foot: N = max(0, k d + c ḋ), friction N μ tanh(slip/v_s)."""

    stiffness: float = 1e5
    damping: float = 3e3
    friction: float = 0.9
    slip_speed: float = 0.01


SERVO_STIFFNESS, SERVO_DAMPING = 6000.0, 0.4
"""Of the drive m_α = −6000 (α − ω t) − 0.4 (α̇ − ω), N·m/rad and N·m·s/rad."""

HARD_GROUND = Ground()
"""Needs steps of 5e-5 s."""
SOFT_GROUND = Ground(stiffness=5e4, damping=2e3, slip_speed=0.05)
"""Steps of 2e-4 s do."""


def tree() -> Tree:
    """The tree of six bodies, neutral with both legs upright and the disc at α = 0."""
    in_plane = Compound((Slide(_Y), Slide(_Z), Turn(_X)))
    in_hull = Compound((Slide(_Z), Turn(_X)))
    on_disc = Compound((Turn(_X), Slide(_Z, motion=Motion((PIN,)))))
    return Tree(
        [
            Body("hull", in_plane, None, (0.0, 0.0, LEG - PIN), inertia=_HULL),
            Body("disc", Revolute(_X), "hull", inertia=_DISC),
            Body("leg1", in_hull, "hull", (0.0, 0.0, PIN), inertia=_HALF_LEG),
            Body("leg2", in_hull, "hull", (0.0, 0.0, PIN), inertia=_HALF_LEG),
            Body("leg1_image", on_disc, "disc", (0.0, 0.0, -CRANK), inertia=_HALF_LEG),
            Body("leg2_image", on_disc, "disc", (0.0, 0.0, CRANK), inertia=_HALF_LEG),
        ],
        name="walking mechanism",
        gravity=(0.0, 0.0, -GRAVITY),
    )


def closures() -> tuple[Closure, ...]:
    """The halves of each leg coincide."""
    return tuple(weld(Frame(f"leg{k}"), Frame(f"leg{k}_image"), f"leg{k}") for k in (1, 2))


def legs(alpha: complex) -> Array:
    """(z₁, γ₁, z₂, γ₂, β₁, β₂) of closed loops: sin γ = ±e₂ sin α/e₃, z = ∓e₂ cos α + e₃(cos γ − 1), β = γ − α."""
    in_hull, on_disc = [], []
    for side in (1.0, -1.0):
        gamma = np.arcsin(side * CRANK * np.sin(alpha) / PIN)
        in_hull += [-side * CRANK * np.cos(alpha) + PIN * (np.cos(gamma) - 1.0), gamma]
        on_disc += [gamma - alpha]
    return np.array([*in_hull, *on_disc])


def closed_configuration(y: float, z: float, phi: float, alpha: float) -> Array:
    """q with closed loops."""
    return np.concatenate([[y, z, phi, alpha], legs(alpha)])


def closed_rates(alpha: float, y_dot: float, z_dot: float, phi_dot: float, alpha_dot: float) -> Array:
    """q̇ with closed loops."""
    derivative = legs(alpha + 1e-30j).imag / 1e-30
    return np.concatenate([[y_dot, z_dot, phi_dot, alpha_dot], derivative * alpha_dot])


def drive(period: float = PERIOD) -> list[Element]:
    """m_α = −6000 (α − ω t) − 0.4 (α̇ − ω), ω = 2π/T."""
    return servo(
        "disc_joint", stiffness=SERVO_STIFFNESS, damping=SERVO_DAMPING, target=Motion((0.0, 2.0 * np.pi / period))
    )


def feet(ground: Ground = HARD_GROUND) -> list[Element]:
    """The arcs of both feet, of radius e₁ about the upper ends of the legs, on the ground z = 0."""
    return [
        element
        for leg in ("leg1_image", "leg2_image")
        for element in contact(
            Sphere(Frame(leg), LEG),
            Frame(None),
            law="kelvin_voigt",
            stiffness=ground.stiffness,
            damping=ground.damping,
            friction=ground.friction,
            slip_speed=ground.slip_speed,
        )
    ]


def mechanism(ground: Ground = HARD_GROUND, period: float = PERIOD) -> Mechanism:
    """Tree, closures, drive and feet."""
    return Mechanism(tree(), closures(), closed_configuration(0.0, 0.0, 0.0, 0.0), [drive(period), feet(ground)])


def start(ground: Ground = HARD_GROUND, period: float = PERIOD, phi_dot: float = -0.22) -> tuple[Array, Array]:
    """(q, q̇): leg 1 down, its foot rolling without slip and sunk as far as the weight presses it, the disc at speed."""
    omega = 2.0 * np.pi / period
    weight = sum(body.inertia.mass for body in tree().bodies) * GRAVITY
    z_foot = LEG - weight / ground.stiffness  # height of the centre of the arc
    q = closed_configuration(0.0, 0.0, 0.0, 0.0)
    q[1] = z_foot - (LEG - PIN) - PIN - q[4]
    # rates of the leg at α = 0: γ̇₁ relative to the hull, no sliding, so that its centre moves with y − (height above
    # the hull) φ̇
    v = closed_rates(0.0, 0.0, 0.0, phi_dot, omega)
    turn = phi_dot + v[5]
    y_dot_of_centre = -LEG * turn  # rolling: ẏ + e₁ ω_x = 0
    v[0] = y_dot_of_centre + (PIN + q[4]) * phi_dot
    return q, v


def started(ground: Ground = HARD_GROUND, period: float = PERIOD) -> Mechanism:
    """The walking mechanism, walking.

    Parameters
    ----------
    ground : Ground
        Law and numbers of the contact with the feet.
    period : float
        Of the drive, s.

    Returns
    -------
    Mechanism
        At its start.

    Raises
    ------
    ValueError, TypeError
        A period that is not a positive number.

    Examples
    --------
    >>> started().mobility.dof
    4
    """
    positive(period=period)
    return mechanism(ground, period).with_start(*start(ground, period))


def problem(ground: Ground = HARD_GROUND, period: float = PERIOD, projection: Projection = "positions") -> Problem:
    """The walk, from `started`."""
    return started(ground, period).problem(projection=projection)
