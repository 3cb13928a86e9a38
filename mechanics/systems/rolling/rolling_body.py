r"""A convex body that rolls without slipping on a horizontal plane, which may turn about the vertical.

Configuration SE(3): centre of mass and orientation; body velocity (V, ω).  With γ up, ρ from the centre of mass to the
contact point (`mechanics.nonholonomic.rolling`), x_c the contact point in space and W the turn rate of the support:

    rows        R (V + ω × ρ) = W e_z × x_c        two tangential rows and the normal one, the rate of z + γ·ρ
    reduced     u = ω,   V = ρ × ω + w,   w = Rᵀ(W e_z × x_c)
    motion      (J + m (ρ² − ρρᵀ)) ω̇ = −ω × J ω + m ρ × (ρ̇ × ω + ω × (ρ × ω) + ẇ + ω × w + g γ) − σ ω

J about the centre of mass, σ an optional damping.  Multipliers: the contact force in space axes, the last one the load.
With K = J ω + m ρ × (ω × ρ), the momentum about the contact, and the plane at rest: K̇ = K × ω + m ρ̇ × (ω × ρ) + m g ρ
× γ. The kernels are written by hand, for every surface at once: a ruler of what `mechanics.nonholonomic.written`
traces.
Source: Routh 1905, articles 241–244; Borisov and Mamaev 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.parts import clear, constrained
from integrators.signatures import FIELD_SIGNATURES
from liegroup.arrays import reals
from liegroup.compile import entry, helper, kernel, ld, st
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from liegroup.table import SE3, load_components, table_of
from mechanics.nonholonomic.forms import Forms, constrained_forms
from mechanics.nonholonomic.rolling import (
    SMOOTH,
    WHEEL,
    smooth_contact,
    solve_symmetric,
    times_symmetric,
    up,
    wheel_contact,
)
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.scenes import system_scene
from mechanics.systems.checks import finite, positive, vector

C = constrained(6, 3, 1)
MASS, INERTIA, SIZE, CENTRE, GRAVITY, TURN, DAMPING = 0, 1, 7, 10, 13, 14, 15
"""Where the numbers begin in the parameters."""


triple = load_components(3)
"""(a, i) → a[i], a[i + 1], a[i + 2] of a state or of the parameters."""
_four, _six = load_components(4), load_components(6)


@helper
def inertia_of(p: Any) -> Any:
    """J as (xx, yy, zz, xy, xz, yz)."""
    return _six(p, INERTIA)


@helper
def quaternion(y: Any) -> Any:
    """The orientation in a state."""
    return _four(y, 3)


@helper
def contact(structure: Any, gamma: Any, omega: Any, p: Any) -> Any:
    """ρ, ρ̇ of the body's shape."""
    size = (p[SIZE], p[SIZE + 1], p[SIZE + 2])
    centre = (p[CENTRE], p[CENTRE + 1], p[CENTRE + 2])
    if structure[3] == WHEEL:
        return wheel_contact(gamma, omega, size, centre)
    return smooth_contact(gamma, omega, size, centre)


@helper
def contact_momentum(p: Any, rho: Any, omega: Any) -> Any:
    """K = J ω + m ρ × (ω × ρ)."""
    return add(times_symmetric(inertia_of(p), omega), scale(p[MASS], cross(rho, cross(omega, rho))))


@helper
def _support(y: Any, q: Any, rho: Any, turn: Any) -> Any:
    """Velocity of the support at the contact point, space axes."""
    r = so3.act(q, rho)
    return -(turn * (ld(y, 1) + r[1])), turn * (ld(y, 0) + r[0]), 0.0 * r[0]


@helper
def rolling_velocity(structure: Any, y: Any, p: Any) -> Any:
    """V of a reduced state."""
    q, omega = quaternion(y), triple(y, 7)
    rho, _ = contact(structure, up(q), omega, p)
    return add(cross(rho, omega), so3.act_inverse(q, _support(y, q, rho, p[TURN])))


@kernel
def reduced(t: Any, y: Any, p: Any, structure: Any, work: Any, out: Any) -> None:
    """(V, ω, ω̇) of a state (x, y, z, quaternion, ω)."""
    m, turn = p[MASS], p[TURN]
    q, omega = quaternion(y), triple(y, 7)
    gamma = up(q)
    rho, rho_rate = contact(structure, gamma, omega, p)
    inertia = inertia_of(p)
    support = _support(y, q, rho, turn)
    velocity = add(cross(rho, omega), so3.act_inverse(q, support))
    drift = add(support, so3.act(q, rho_rate))  # of the contact point in space
    centripetal = so3.act_inverse(q, (-(turn * drift[1]), turn * drift[0], 0.0 * drift[0]))
    a = add(add(cross(rho_rate, omega), cross(omega, cross(rho, omega))), add(centripetal, scale(p[GRAVITY], gamma)))
    moment = subtract(scale(m, cross(rho, a)), cross(omega, times_symmetric(inertia, omega)))
    moment = subtract(moment, scale(p[DAMPING], omega))
    square = dot(rho, rho)
    about_contact = (
        inertia[0] + m * (square - rho[0] * rho[0]), inertia[1] + m * (square - rho[1] * rho[1]),
        inertia[2] + m * (square - rho[2] * rho[2]), inertia[3] - m * rho[0] * rho[1], inertia[4] - m * rho[0] * rho[2],
        inertia[5] - m * rho[1] * rho[2],
    )  # fmt: skip
    spin_rate = solve_symmetric(about_contact, moment)
    for i in range(3):
        st(out, i, velocity[i])
        st(out, 3 + i, omega[i])
        st(out, 6 + i, spin_rate[i])


@kernel
def constrained_parts(t: Any, y: Any, p: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (V, ω); rows in space axes."""
    m, turn = p[MASS], p[TURN]
    q, velocity, omega = quaternion(y), triple(y, 7), triple(y, 10)
    gamma = up(q)
    rho, rho_rate = contact(structure, gamma, omega, p)
    inertia = inertia_of(p)
    clear(out)
    for i in range(3):
        st(out, C.MASS + 7 * i, m)
        st(out, C.MASS + 7 * (3 + i), inertia[i])
    for i, j, k in ((3, 4, 3), (3, 5, 4), (4, 5, 5)):
        st(out, C.MASS + 6 * i + j, inertia[k])
        st(out, C.MASS + 6 * j + i, inertia[k])
    spin_momentum = times_symmetric(inertia, omega)
    transport, turning = cross(omega, scale(m, velocity)), cross(omega, spin_momentum)
    support = _support(y, q, rho, turn)
    material = add(velocity, cross(omega, rho))
    drift = add(so3.act(q, add(material, rho_rate)), (0.0 * turn, 0.0 * turn, 0.0 * turn))
    bias = so3.act(q, add(cross(omega, material), cross(omega, rho_rate)))
    rows = so3.matrix(q)
    for i in range(3):
        moment = cross(rho, rows[i])
        for j in range(3):
            st(out, C.ROWS + 6 * i + j, rows[i][j])
            st(out, C.ROWS + 6 * i + 3 + j, moment[j])
        st(out, C.RATE + i, transport[i])
        st(out, C.RATE + 3 + i, turning[i])
        st(out, C.GRADIENT + i, m * p[GRAVITY] * gamma[i])
        st(out, C.FORCE + 3 + i, -(p[DAMPING] * omega[i]))
        st(out, C.VALUE + i, support[i])
    st(out, C.BIAS, bias[0] + turn * drift[1])
    st(out, C.BIAS + 1, bias[1] - turn * drift[0])
    st(out, C.BIAS + 2, bias[2])
    st(out, C.POSITION, ld(y, 2) + dot(gamma, rho))
    st(out, C.POTENTIAL, m * p[GRAVITY] * ld(y, 2))


@helper
def energy(y: Any, velocity: Any, omega: Any, p: Any) -> Any:
    """½ m V² + ½ ω·Jω + m g z."""
    spin = dot(omega, times_symmetric(inertia_of(p), omega))
    return 0.5 * p[MASS] * dot(velocity, velocity) + 0.5 * spin + p[MASS] * p[GRAVITY] * ld(y, 2)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, energy(y, rolling_velocity(structure, y, parameters), triple(y, 7), parameters))


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, energy(y, triple(y, 7), triple(y, 10), parameters))


FIELD = entry(*FIELD_SIGNATURES)(reduced)
CONSTRAINED = constrained_forms(constrained_parts, constrained_invariants)


def rolling_body(
    model: str,
    mass: float,
    inertia: ArrayLike,
    shape: int,
    size: tuple[float, float, float],
    orientation_wxyz: ArrayLike,
    omega: ArrayLike,
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0),
    position: tuple[float, float] = (0.0, 0.0),
    gravity: float = 9.81,
    support_turn_rate: float = 0.0,
    damping: float = 0.0,
    invariants: tuple[Any, Any] = (invariants, constrained_invariants),
    names: Sequence[str] = ("energy",),
    units: Sequence[str] = ("J",),
    exact: Callable[[Any], NDArray[np.float64]] | None = None,
) -> NonholonomicSystem:
    """A convex body that rolls on a horizontal plane, from its shape, masses and start; the height follows from the
    orientation.

    Parameters
    ----------
    model : str
        Name for tables and files.
    mass : float
        kg.
    inertia : array (3, 3)
        About the centre of mass, body axes, kg·m².
    shape : int
        `WHEEL` or `SMOOTH` of `mechanics.nonholonomic.rolling`.
    size : three floats
        (r, b, 0) of a wheel, whose axis is the third of the body, or half axes, m.
    orientation_wxyz : array (4,)
        Unit quaternion at the start (dimensionless).
    omega : array (3,)
        Angular velocity at the start, body axes, rad/s.
    centre : three floats
        Of the shape from the centre of mass, body axes, m.
    position : two floats
        Of the contact point, m.
    gravity : float
        m/s².
    support_turn_rate : float
        W of the plane, rad/s.
    damping : float
        σ of the moment −σ ω, N·m·s.
    invariants, names, units
        Functions of the reduced and of the constrained form, with the names and units of their values.
    exact : callable, optional
        ``exact(t)`` → the reduced state, in SI units.

    Returns
    -------
    NonholonomicSystem
        With its start.

    Raises
    ------
    ValueError
        An inertia that is not symmetric positive definite, sizes that are not positive, an orientation that is not a
        unit quaternion, or a wheel that lies flat (within 1e-3 rad), where its contact point is not defined.

    References
    ----------
    Routh 1905, articles 241–244; Borisov and Mamaev 2002.

    Examples
    --------
    >>> upright, omega = (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    >>> ball = rolling_body("ball", 1.0, 0.1 * np.eye(3), SMOOTH, (0.5, 0.5, 0.5), upright, omega)
    >>> ball.n, ball.m
    (6, 3)
    """
    matrix, q = reals(inertia, "inertia"), reals(orientation_wxyz, "orientation_wxyz")
    lengths = vector(size, 3, "size", "(r, b, 0) of a wheel or half axes, m")
    positive(mass=mass, size=min(lengths[: 1 if shape == WHEEL else 3].tolist()))
    finite(gravity=gravity, support_turn_rate=support_turn_rate, damping=damping)
    if matrix.shape != (3, 3) or not np.allclose(matrix, matrix.T, rtol=1e-12) or not np.linalg.eigvalsh(matrix)[0] > 0:
        raise ValueError(
            f"inertia: {matrix.tolist()}, expected a symmetric positive definite 3 × 3 matrix about the centre of mass"
        )
    if q.shape != (4,) or not abs(q @ q - 1.0) < 1e-9:
        raise ValueError(f"orientation_wxyz: {q}, expected a unit quaternion (w, x, y, z)")
    gamma = np.array(up(tuple(q)))
    if shape == WHEEL and np.hypot(gamma[0], gamma[1]) < 1e-3:
        raise ValueError(
            f"orientation_wxyz: {q} lays the wheel flat (tilt {np.hypot(*gamma[:2]):.2g} rad), where it has no "
            "contact point"
        )
    contact_at = wheel_contact if shape == WHEEL else smooth_contact
    rho = np.array(contact_at(tuple(gamma), (0.0, 0.0, 0.0), size, centre)[0])
    offset = np.array(so3.act(tuple(q), tuple(rho)))
    tensor = [matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[0, 1], matrix[0, 2], matrix[1, 2]]
    return NonholonomicSystem(
        autonomous=True,
        model=model,
        group=table_of([(SE3, 1)]),
        variables=(
            Variable(
                "body", ("x", "y", "z", "qw", "qx", "qy", "qz"), "m, m, m, 1, 1, 1, 1", "centre of mass and orientation"
            ),
        ),
        velocities=Variable(
            "v", ("v_x", "v_y", "v_z", "w_x", "w_y", "w_z"), "m/s, m/s, m/s, rad/s, rad/s, rad/s", "body axes"
        ),
        quasi_velocities=Variable("omega", ("w_x", "w_y", "w_z"), "rad/s", "angular velocity, body axes"),
        reduced=Forms(FIELD, invariants[0]),
        constrained=CONSTRAINED._replace(invariants=invariants[1]),
        parameters=[mass, *tensor, *size, *centre, gravity, support_turn_rate, damping],
        q0=[position[0] - offset[0], position[1] - offset[1], -offset[2], *q],
        u0=np.asarray(omega, float),
        positions=1,
        extra=(shape,),
        invariant_names=names,
        invariant_units=units,
        conservative=damping == 0.0,
        reversal=_reversal if support_turn_rate == 0.0 and damping == 0.0 else None,
        exact=exact,
        scene=_scene(shape, tuple(lengths.tolist()), tuple(map(float, centre))),
    )


def _scene(shape: int, size: tuple[float, ...], centre: tuple[float, ...]) -> Any:
    if shape == WHEEL:
        return system_scene("rolling_wheel", size[0], size[1])
    return system_scene("rolling_ellipsoid", size, centre)


def _reversal(y: Any) -> NDArray[np.float64]:
    """(q, ω) → (q, −ω)."""
    return np.asarray(np.asarray(y) * np.array([1.0] * 7 + [-1.0] * 3))


__all__ = ["SMOOTH", "WHEEL", "rolling_body"]
