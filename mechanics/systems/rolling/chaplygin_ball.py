r"""Chaplygin's ball: a balanced sphere with three different moments that rolls on a plane.

ρ = −r γ; the momentum about the contact, K = J ω + m r² (ω − γ (γ·ω)), is constant in space: three integrals besides
the energy. Integrable, with closed forms in hyperelliptic functions.  With equal moments it rolls straight on. Source:
Chaplygin 1903; Borisov and Mamaev 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, st
from liegroup.formulas import so3
from mechanics.nonholonomic.rolling import SMOOTH, up
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import checked
from mechanics.systems.rolling import rolling_body


@helper
def _momentum(structure: Any, y: Any, omega: Any, p: Any, out: Any) -> None:
    q = rolling_body.quaternion(y)
    rho, _ = rolling_body.contact(structure, up(q), omega, p)
    momentum = so3.act(q, rolling_body.contact_momentum(p, rho, omega))
    for i in range(3):
        st(out, 1 + i, momentum[i])


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    omega = rolling_body.triple(y, 7)
    st(out, 0, rolling_body.energy(y, rolling_body.rolling_velocity(structure, y, parameters), omega, parameters))
    _momentum(structure, y, omega, parameters, out)


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    omega = rolling_body.triple(y, 10)
    st(out, 0, rolling_body.energy(y, rolling_body.triple(y, 7), omega, parameters))
    _momentum(structure, y, omega, parameters, out)


@checked
def chaplygin_ball(
    mass: float = 1.0,
    radius: float = 0.5,
    moments: tuple[float, float, float] = (0.06, 0.09, 0.13),
    omega: tuple[float, float, float] = (1.0, 2.5, -0.8),
    orientation_wxyz: tuple[float, float, float, float] = (0.8, 0.48, 0.36, 0.0),
) -> NonholonomicSystem:
    """The ball at the origin.

    Parameters
    ----------
    mass, radius : float
        kg and m.
    moments : three floats
        Principal moments about the centre, kg·m².
    omega : three floats
        ω at the start, body axes, rad/s.
    orientation_wxyz : four floats
        Unit quaternion at the start (dimensionless).

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Examples
    --------
    >>> system = chaplygin_ball(radius=0.4)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 3, (10,))
    """
    return rolling_body.rolling_body(
        "chaplygin-ball",
        mass,
        np.diag(moments),
        SMOOTH,
        (radius,) * 3,
        orientation_wxyz,
        omega,
        invariants=(invariants, constrained_invariants),
        names=("energy", "momentum_x", "momentum_y", "momentum_z"),
        units=("J", "kg m^2/s", "kg m^2/s", "kg m^2/s"),
    )
