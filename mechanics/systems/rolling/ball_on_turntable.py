r"""A homogeneous ball on a turntable of constant turn rate W: it runs on circles that do not follow the table.

Affine rows: v − r ω × e_z = W e_z × x.  With moment I and κ = I/(I + m r²) (2/7 for a solid ball)

    v̇ = κ W e_z × v        circles of angular velocity κ W (period 7/2 of the table) about  x₀ + e_z × v₀/(κ W),

and the vertical spin is constant.  Neither energy nor angular momentum is conserved, but the moving energy E − W J_z
is, J_z = m (x v_y − y v_x) + I ω_z. Source: Earnshaw 1844; Neimark and Fufaev 1972; Fassò and Sansonetto 2016 (moving
energy).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, st
from liegroup.formulas import so3
from mechanics.nonholonomic.rolling import SMOOTH
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import checked, positive
from mechanics.systems.rolling import rolling_body


@helper
def _moving_energy(y: Any, velocity: Any, omega: Any, p: Any, out: Any) -> None:
    q = rolling_body.quaternion(y)
    v, w = so3.act(q, velocity), so3.act(q, omega)
    momentum = p[rolling_body.MASS] * (ld(y, 0) * v[1] - ld(y, 1) * v[0]) + p[rolling_body.INERTIA] * w[2]
    st(out, 0, rolling_body.energy(y, velocity, omega, p) - p[rolling_body.TURN] * momentum)
    st(out, 1, w[2])


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    velocity = rolling_body.rolling_velocity(structure, y, parameters)
    _moving_energy(y, velocity, rolling_body.triple(y, 7), parameters, out)


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    _moving_energy(y, rolling_body.triple(y, 7), rolling_body.triple(y, 10), parameters, out)


@checked
def ball_on_turntable(
    mass: float = 1.0,
    radius: float = 0.1,
    moment: float | None = None,
    turn_rate: float = 2.0,
    position: tuple[float, float] = (0.5, 0.0),
    velocity: tuple[float, float] = (0.1, 0.3),
    spin: float = 1.0,
) -> NonholonomicSystem:
    """The ball (solid by default) at a place and with a velocity of its centre, both in space.

    Parameters
    ----------
    mass, radius : float
        kg and m.
    moment : float, optional
        I about the centre, kg·m²; default (2/5) m r².
    turn_rate : float
        W of the table, rad/s.
    position : two floats
        m.
    velocity : two floats
        m/s.
    spin : float
        ω_z, rad/s.

    Returns
    -------
    NonholonomicSystem
        With its start; `path` of this file is where its centre goes.

    Examples
    --------
    >>> system = ball_on_turntable(turn_rate=1.0)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 3, (10,))
    """
    moment = 0.4 * mass * radius**2 if moment is None else moment
    positive(mass=mass, radius=radius, moment=moment)
    relative = velocity[0] + turn_rate * position[1], velocity[1] - turn_rate * position[0]
    return rolling_body.rolling_body(
        "ball-on-turntable",
        mass,
        moment * np.eye(3),
        SMOOTH,
        (radius,) * 3,
        (1.0, 0.0, 0.0, 0.0),
        (-relative[1] / radius, relative[0] / radius, spin),
        position=position,
        support_turn_rate=turn_rate,
        invariants=(invariants, constrained_invariants),
        names=("moving_energy", "vertical_spin"),
        units=("J", "rad/s"),
    )


def path(t: ArrayLike, system: NonholonomicSystem) -> NDArray[np.float64]:
    """(x, y) of the centre at the times t: x + i y = c + (x₀ − c) e^{iκWt}."""
    p = system.parameters
    moment = p[rolling_body.INERTIA]
    rate = moment / (moment + p[rolling_body.MASS] * p[rolling_body.SIZE] ** 2) * p[rolling_body.TURN]
    v = so3.act(tuple(system.q0[3:]), tuple(system.velocity(system.q0, system.u0)[:3]))
    start, velocity = complex(*system.q0[:2]), complex(v[0], v[1])
    centre = start + 1j * velocity / rate
    z = centre + (start - centre) * np.exp(1j * rate * np.asarray(t, float))
    return np.stack([z.real, z.imag], axis=-1)
