r"""The Whipple bicycle: four rigid bodies, two knife-edge wheels; its motion linearised about straight upright rolling.

    M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f,    q = (roll, steer)

Benchmark axes: x forward, y right, z down, origin at the rear contact, the bicycle upright and straight; x and z of
centres of mass are measured there, I are components about the centres of mass (I_xz is the matrix element).  Between
the weave speed (an oscillation becomes damped) and the capsize speed (a slow fall begins) the riderless bicycle
balances itself. Source: Meijaard, Papadopoulos, Ruina and Schwab 2007, Appendix A; Whipple 1899.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from mechanics.constraints.wheels import wheel
from mechanics.joints import Free, Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body as TreeBody
from mechanics.model.tree import Tree
from mechanics.systems.checks import check_fields, finite, positive, vector

Array = NDArray[np.float64]
_ACROSS = (0.0, -1.0, 0.0)
"""Axis of the wheels: y of the benchmark."""


@dataclass(frozen=True)
class Body:
    """Mass, centre of mass (x, z) and the moments (I_xx, I_yy, I_zz, I_xz) about it."""

    mass: float
    x: float
    z: float
    moments: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        positive(mass=self.mass)
        finite(x=self.x, z=self.z)
        vector(self.moments, 4, "moments", "(I_xx, I_yy, I_zz, I_xz)")


@dataclass(frozen=True)
class Bicycle:
    """Wheelbase w, trail c, steer axis tilt λ, wheel radii; rear wheel R, frame and rider B, handlebar H, front wheel
    F.

    Default: the benchmark bicycle.  Wheels are symmetric: I_zz = I_xx, I_xz = 0.
    """

    wheelbase: float = 1.02
    trail: float = 0.08
    steer_tilt: float = np.pi / 10
    gravity: float = 9.81
    rear_radius: float = 0.3
    front_radius: float = 0.35
    rear: Body = Body(2.0, 0.0, -0.3, (0.0603, 0.12, 0.0603, 0.0))
    frame: Body = Body(85.0, 0.3, -0.9, (9.2, 11.0, 2.8, 2.4))
    handlebar: Body = Body(4.0, 0.9, -0.7, (0.05892, 0.06, 0.00708, -0.00756))
    front: Body = Body(3.0, 1.02, -0.35, (0.1405, 0.28, 0.1405, 0.0))

    def __post_init__(self) -> None:
        check_fields(self)
        positive(
            wheelbase=self.wheelbase, gravity=self.gravity, rear_radius=self.rear_radius, front_radius=self.front_radius
        )
        hubs = {"rear": (self.rear, 0.0, self.rear_radius), "front": (self.front, self.wheelbase, self.front_radius)}
        for name, (body, x, radius) in hubs.items():
            if (body.x, body.z) != (x, -radius):
                raise ValueError(
                    f"{name}: centre of mass at ({body.x}, {body.z}), expected at the hub ({x}, {-radius})"
                )
            xx, _, zz, xz = body.moments
            if xx != zz or xz != 0.0:
                raise ValueError(f"{name}: moments {body.moments}, expected those of a wheel, I_zz = I_xx and I_xz = 0")


def matrices(bicycle: Bicycle) -> tuple[Array, Array, Array, Array]:
    """M, C₁, K₀, K₂ of the linear equations."""
    b = bicycle
    w, lam, bodies = b.wheelbase, b.steer_tilt, (b.rear, b.frame, b.handlebar, b.front)
    s, c = np.sin(lam), np.cos(lam)
    m_t = sum(p.mass for p in bodies)
    x_t, z_t = sum(p.mass * p.x for p in bodies) / m_t, sum(p.mass * p.z for p in bodies) / m_t
    t_xx = sum(p.moments[0] + p.mass * p.z**2 for p in bodies)
    t_zz = sum(p.moments[2] + p.mass * p.x**2 for p in bodies)
    t_xz = sum(p.moments[3] - p.mass * p.x * p.z for p in bodies)
    steered = (b.handlebar, b.front)
    m_a = sum(p.mass for p in steered)
    x_a, z_a = sum(p.mass * p.x for p in steered) / m_a, sum(p.mass * p.z for p in steered) / m_a
    a_xx = sum(p.moments[0] + p.mass * (p.z - z_a) ** 2 for p in steered)
    a_zz = sum(p.moments[2] + p.mass * (p.x - x_a) ** 2 for p in steered)
    a_xz = sum(p.moments[3] - p.mass * (p.x - x_a) * (p.z - z_a) for p in steered)
    u_a = (x_a - w - b.trail) * c - z_a * s
    a_ll = m_a * u_a**2 + a_xx * s**2 + 2 * a_xz * s * c + a_zz * c**2
    a_lx = -m_a * u_a * z_a + a_xx * s + a_xz * c
    a_lz = m_a * u_a * x_a + a_xz * s + a_zz * c
    mu = b.trail / w * c
    s_r, s_f = b.rear.moments[1] / b.rear_radius, b.front.moments[1] / b.front_radius
    s_t, s_a = s_r + s_f, m_a * u_a + mu * m_t * x_t
    off = a_lx + mu * t_xz
    mass = np.array([[t_xx, off], [off, a_ll + 2 * mu * a_lz + mu**2 * t_zz]])
    stiffness_0 = np.array([[m_t * z_t, -s_a], [-s_a, -s_a * s]])
    stiffness_2 = np.array([[0.0, (s_t - m_t * z_t) / w * c], [0.0, (s_a + s_f * s) / w * c]])
    damping = np.array(
        [
            [0.0, mu * s_t + s_f * c + t_xz / w * c - mu * m_t * z_t],
            [-(mu * s_t + s_f * c), a_lz / w * c + mu * (s_a + t_zz / w * c)],
        ]
    )
    return mass, damping, stiffness_0, stiffness_2


def mechanism(bicycle: Bicycle = Bicycle()) -> Mechanism:
    """The bicycle as a tree on two wheels, upright and straight in the origin: nine velocities, six rows.

    House axes x forward, y left, z up: vectors of the benchmark times D = diag(1, −1, −1), tensors D I D.  Frame and
    rider on a free joint at the hub of the rear wheel; rear wheel, handlebar (about the steer axis) and front wheel on
    revolute joints.
    """
    b, turned = bicycle, np.array([1.0, -1.0, -1.0])
    hub, head = np.array([0.0, 0.0, -b.rear_radius]), np.array([b.wheelbase + b.trail, 0.0, 0.0])
    steer = (np.sin(b.steer_tilt), 0.0, -np.cos(b.steer_tilt))

    def inertia(p: Body, origin: Array) -> Inertia:
        xx, yy, zz, xz = p.moments
        tensor = np.array([[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]])
        return Inertia.about_com(
            p.mass, turned * (np.array([p.x, 0.0, p.z]) - origin), np.outer(turned, turned) * tensor
        )

    front_hub = np.array([b.wheelbase, 0.0, -b.front_radius])
    bodies = [
        TreeBody("frame", Free(), inertia=inertia(b.frame, hub)),
        TreeBody("rear wheel", Revolute(_ACROSS), "frame", inertia=inertia(b.rear, hub)),
        TreeBody("handlebar", Revolute(steer), "frame", turned * (head - hub), inertia=inertia(b.handlebar, head)),
        TreeBody(
            "front wheel",
            Revolute(_ACROSS),
            "handlebar",
            turned * (front_hub - head),
            inertia=inertia(b.front, front_hub),
        ),
    ]
    tree = Tree(bodies, name="Whipple bicycle", gravity=(0.0, 0.0, -b.gravity))
    radii = {"rear wheel": b.rear_radius, "front wheel": b.front_radius}
    wheels = [wheel(Frame.with_axis(name, axis=_ACROSS), radius, name=name) for name, radius in radii.items()]
    home = tree.neutral()
    home[2] = b.rear_radius
    return Mechanism(tree, wheels, home)


def started(bicycle: Bicycle = Bicycle(), speed: float = 4.6, steer_rate: float = 0.1) -> Mechanism:
    """The bicycle upright and straight, the handlebar turning: it balances itself.

    Parameters
    ----------
    bicycle : Bicycle
        Its numbers, SI units.
    speed : float
        m/s.
    steer_rate : float
        Of the handlebar, rad/s.

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
    finite(speed=speed, steer_rate=steer_rate)
    rates = {"rear wheel_joint": -speed / bicycle.rear_radius, "handlebar_joint": steer_rate}
    return mechanism(bicycle).with_start(rates=rates)


def eigenvalues(bicycle: Bicycle, speed: float) -> NDArray[np.complex128]:
    """The four eigenvalues of the linear motion at forward `speed`, by real part."""
    finite(speed=speed)
    m, c1, k0, k2 = matrices(bicycle)
    inverse = np.linalg.inv(m)
    system = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-inverse @ (bicycle.gravity * k0 + speed**2 * k2), -inverse @ (speed * c1)]]
    )
    values = np.linalg.eigvals(system)
    return np.asarray(values[np.argsort(values.real)], dtype=np.complex128)


def capsize_speed(bicycle: Bicycle) -> float:
    """The speed where a real eigenvalue passes through zero: det(g K₀ + v² K₂) = 0."""
    return _positive_root(_coefficients(bicycle)[0], "capsize")


def weave_speed(bicycle: Bicycle) -> float:
    """The speed where a complex pair passes the imaginary axis: Hurwitz's determinant a₁a₂a₃ − a₀a₃² − a₁²a₄ = 0, a₁a₃
    > 0.

    Raises ValueError if the bicycle has no such speed.
    """
    a4, a3, a2, a1, a0 = _coefficients(bicycle)
    # a₁ and a₃ are odd in v: divide the determinant by v²
    hurwitz = (a1 * a2 * a3 - a0 * a3 * a3 - a1 * a1 * a4) // Polynomial([0.0, 0.0, 1.0])
    return _positive_root(hurwitz, "weave", lambda v: bool(a1(v) * a3(v) > 0))


def _coefficients(bicycle: Bicycle) -> list[Polynomial]:
    """Of det(M s² + v C₁ s + g K₀ + v² K₂) by rising powers of s, each a polynomial in v."""
    m, c1, k0, k2 = matrices(bicycle)
    v = Polynomial([0.0, 1.0])
    entries = [
        [[bicycle.gravity * k0[i, j] + v * v * k2[i, j], v * c1[i, j], Polynomial([m[i, j]])] for j in range(2)]
        for i in range(2)
    ]
    found = [Polynomial([0.0]) for _ in range(5)]
    for i in range(3):
        for j in range(3):
            found[i + j] = found[i + j] + entries[0][0][i] * entries[1][1][j] - entries[0][1][i] * entries[1][0][j]
    return found


def _positive_root(p: Polynomial, name: str, condition: Callable[[float], bool] = lambda v: True) -> float:
    slope, found = p.deriv(), []
    for root in np.asarray(p.roots(), dtype=np.complex128):
        if abs(root.imag) < 1e-9 * (1.0 + abs(root)) and root.real > 1e-6:
            v = float(root.real)
            for _ in range(3):  # Newton, to the last digit
                v -= float(p(v) / slope(v))
            if condition(v):
                found.append(v)
    if not found:
        raise ValueError(f"bicycle: it has no {name} speed")
    return min(found)
