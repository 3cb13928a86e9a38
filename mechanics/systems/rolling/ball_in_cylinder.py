r"""A homogeneous ball that rolls inside a vertical cylinder: it does not fall, it climbs and sinks for ever.

Configuration SE(3); the centre stays at distance d from the axis, azimuth ν; n radial, e the direction of growing ν,
contact at r n. Rows in the frame (e, z, n), with v and ω in space and the last one the rate of the distance:

    v_e + r ω_z = 0,    v_z − r ω_e = 0,    v_n = 0.

ν̇ and ω_z = −d ν̇/r are constant; with κ = I/(I + m r²) the height swings with the frequency ν̇ √κ (√(2/7) of a turn
for a solid ball):

    z̈ = −κ ν̇² (z − z*),    z* = z₀ − (m g + I ν̇ ω_n/r)/(I ν̇²) r²,    ω_n − ν̇ z/r constant.

Source: Routh 1905, article 225; Neimark and Fufaev 1972; Gualtieri, Tokieda and others 2006.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.multipliers import constrained_energy
from integrators.problem.parts import clear, constrained
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas import so3
from liegroup.formulas.vectors import cross, dot, scale
from liegroup.table import SE3, table_of
from mechanics.nonholonomic.forms import Forms, constrained_forms
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, finite, positive
from mechanics.systems.rolling.rolling_body import quaternion, triple

C = constrained(6, 3, 1)


@helper
def _frame(y: Any) -> Any:
    """(cos ν, sin ν, distance from the axis)."""
    distance = sqrt(ld(y, 0) * ld(y, 0) + ld(y, 1) * ld(y, 1))
    return ld(y, 0) / distance, ld(y, 1) / distance, distance


@helper
def _rolling(y: Any, omega: Any, radius: Any) -> Any:
    """V (space), ν̇, and the components (ω_n, ω_e) of an angular velocity ω in space."""
    c, s, distance = _frame(y)
    along = -(radius * omega[2])
    w_n, w_e = c * omega[0] + s * omega[1], c * omega[1] - s * omega[0]
    return (-(s * along), c * along, radius * w_e), along / distance, w_n, w_e


@kernel
def reduced(t: Any, y: Any, p: Any, structure: Any, work: Any, out: Any) -> None:
    """(V, ω, ω̇) of a state (x, y, z, quaternion, ω): in space ω̇ = (ν̇ ω_n − (m r g + I ν̇ ω_n)/(I + m r²)) e."""
    m, r, moment, g = p[0], p[1], p[2], p[3]
    q, w = quaternion(y), triple(y, 7)
    c, s, _ = _frame(y)
    velocity, turn, w_n, _ = _rolling(y, so3.act(q, w), r)
    tilt = turn * w_n - (m * r * g + moment * turn * w_n) / (moment + m * r * r)
    v, rate = so3.act_inverse(q, velocity), so3.act_inverse(q, (-(s * tilt), c * tilt, 0.0 * tilt))
    for i in range(3):
        st(out, i, v[i])
        st(out, 3 + i, w[i])
        st(out, 6 + i, rate[i])


@kernel
def constrained_parts(t: Any, y: Any, p: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (V, ω), body axes."""
    m, r, moment, g = p[0], p[1], p[2], p[3]
    q = quaternion(y)
    velocity, omega = triple(y, 7), triple(y, 10)
    c, s, distance = _frame(y)
    v, w = so3.act(q, velocity), so3.act(q, omega)
    zero, one = 0.0 * c, 1.0 + 0.0 * c
    n, e, z = (c, s, zero), (-s, c, zero), (zero, zero, one)
    rows = so3.act_inverse(q, e), so3.act_inverse(q, z), so3.act_inverse(q, n)
    transport, turning = scale(m, cross(omega, velocity)), cross(w, v)
    clear(out)
    for i in range(3):
        st(out, C.MASS + 7 * i, m)
        st(out, C.MASS + 7 * (3 + i), moment)
        st(out, C.RATE + i, transport[i])
        st(out, C.GRADIENT + i, m * g * rows[1][i])
        for j in range(3):
            st(out, C.ROWS + 6 * j + i, rows[j][i])
        st(out, C.ROWS + 3 + i, r * rows[1][i])
        st(out, C.ROWS + 9 + i, -(r * rows[0][i]))
    turn = dot(v, e) / distance
    st(out, C.BIAS, dot(e, turning) - turn * dot(n, v))
    st(out, C.BIAS + 1, turning[2] + r * turn * dot(n, w))
    st(out, C.BIAS + 2, dot(n, turning) + turn * dot(e, v))
    st(out, C.POSITION, distance - p[4])
    st(out, C.POTENTIAL, m * g * ld(y, 2))


@helper
def _integrals(y: Any, w: Any, p: Any, out: Any) -> None:
    _, turn, w_n, _ = _rolling(y, w, p[1])
    st(out, 1, w[2])
    st(out, 2, w_n - turn * ld(y, 2) / p[1])


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    m, r, moment, g = parameters[0], parameters[1], parameters[2], parameters[3]
    w = so3.act(quaternion(y), triple(y, 7))
    velocity, _, _, _ = _rolling(y, w, r)
    st(out, 0, 0.5 * m * dot(velocity, velocity) + 0.5 * moment * dot(w, w) + m * g * ld(y, 2))
    _integrals(y, w, parameters, out)


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, constrained_energy(constrained_parts, t, y, parameters, structure, work))
    _integrals(y, so3.act(quaternion(y), triple(y, 10)), parameters, out)


FIELD = entry(*FIELD_SIGNATURES)(reduced)
CONSTRAINED = constrained_forms(constrained_parts, constrained_invariants)


@checked
def ball_in_cylinder(
    mass: float = 1.0,
    radius: float = 0.1,
    distance: float = 0.6,
    moment: float | None = None,
    gravity: float = 9.81,
    turn_rate: float = 3.0,
    climb: float = 0.2,
    radial_spin: float = 0.5,
) -> NonholonomicSystem:
    """The ball (solid by default), its centre at (distance, 0, 0).

    Parameters
    ----------
    mass, radius : float
        kg and m.
    distance : float
        d of the centre from the axis, m.
    moment : float, optional
        I about the centre, kg·m²; default (2/5) m r².
    gravity : float
        m/s².
    turn_rate : float
        ν̇ about the axis of the cylinder, rad/s.
    climb : float
        Vertical velocity, m/s.
    radial_spin : float
        ω_n, rad/s.

    Returns
    -------
    NonholonomicSystem
        With its start; `path` of this file is where its centre goes.

    Raises
    ------
    ValueError
        A mass, length or moment that is not positive.

    Examples
    --------
    >>> system = ball_in_cylinder(climb=0.1)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 3, (10,))
    """
    moment = 0.4 * mass * radius**2 if moment is None else moment
    positive(mass=mass, radius=radius, distance=distance, moment=moment)
    finite(gravity=gravity, turn_rate=turn_rate, climb=climb, radial_spin=radial_spin)
    return NonholonomicSystem(
        autonomous=True,
        model="ball-in-cylinder",
        group=table_of([(SE3, 1)]),
        variables=(
            Variable("ball", ("x", "y", "z", "qw", "qx", "qy", "qz"), "m, m, m, 1, 1, 1, 1", "centre and orientation"),
        ),
        velocities=Variable(
            "v", ("v_x", "v_y", "v_z", "w_x", "w_y", "w_z"), "m/s, m/s, m/s, rad/s, rad/s, rad/s", "body axes"
        ),
        quasi_velocities=Variable("omega", ("w_x", "w_y", "w_z"), "rad/s", "angular velocity, body axes"),
        reduced=Forms(FIELD, invariants),
        constrained=CONSTRAINED,
        parameters=[mass, radius, moment, gravity, distance],
        q0=[distance, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        u0=[radial_spin, climb / radius, -distance * turn_rate / radius],
        positions=1,
        invariant_names=("energy", "vertical_spin", "radial_spin_less_climb"),
        invariant_units=("J", "rad/s", "rad/s"),
        scene=system_scene("ball_in_cylinder", float(radius), float(distance)),
        reversal=lambda y: np.asarray(np.asarray(y) * np.array([1.0] * 7 + [-1.0] * 3)),
    )


def path(t: ArrayLike, system: NonholonomicSystem) -> NDArray[np.float64]:
    """(x, y, z) of the centre at the times t from the start of the system."""
    m, r, moment, g, distance = system.parameters
    w_n, w_e, w_z = system.u0
    t, turn = np.asarray(t, float), -r * w_z / distance
    k = moment / (moment + m * r * r)
    rest = -(m * g + moment * turn * w_n / r) * r * r / (moment * turn * turn)
    frequency = turn * np.sqrt(k)
    z = rest - rest * np.cos(frequency * t) + r * w_e / frequency * np.sin(frequency * t)
    return np.stack([distance * np.cos(turn * t), distance * np.sin(turn * t), z], axis=-1)
