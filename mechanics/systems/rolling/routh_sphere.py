r"""Routh's sphere: a sphere that rolls on a plane, its centre of mass off its centre on an axis of symmetry.

J = diag(I₁, I₁, I₃), centre of the sphere at −a e₃ from the centre of mass: ρ = −r γ − a e₃.  Two integrals besides the
energy:

    jellett      (J ω)·ρ
    Routh's      ω₃ √(I₁ I₃ + m I₁ (ρ² − ρ₃²) + m I₃ ρ₃²)

Source: Jellett 1872; Routh 1905, article 243; Cushman 1998.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import dot
from mechanics.nonholonomic.rolling import SMOOTH, times_symmetric, up
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import checked
from mechanics.systems.rolling import rolling_body


@helper
def _integrals(structure: Any, y: Any, omega: Any, p: Any, out: Any) -> None:
    rho, _ = rolling_body.contact(structure, up(rolling_body.quaternion(y)), omega, p)
    inertia, m = rolling_body.inertia_of(p), p[rolling_body.MASS]
    i1, i3 = inertia[0], inertia[2]
    across, along = rho[0] * rho[0] + rho[1] * rho[1], rho[2] * rho[2]
    st(out, 1, dot(times_symmetric(inertia, omega), rho))
    st(out, 2, omega[2] * sqrt(i1 * i3 + m * i1 * across + m * i3 * along))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    omega = rolling_body.triple(y, 7)
    st(out, 0, rolling_body.energy(y, rolling_body.rolling_velocity(structure, y, parameters), omega, parameters))
    _integrals(structure, y, omega, parameters, out)


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    omega = rolling_body.triple(y, 10)
    st(out, 0, rolling_body.energy(y, rolling_body.triple(y, 7), omega, parameters))
    _integrals(structure, y, omega, parameters, out)


@checked
def routh_sphere(
    mass: float = 1.0,
    radius: float = 0.5,
    offset: float = 0.1,
    moments: tuple[float, float] = (0.08, 0.1),
    omega: tuple[float, float, float] = (0.4, 1.0, 5.0),
    orientation_wxyz: tuple[float, float, float, float] = (0.96, 0.28, 0.0, 0.0),
) -> NonholonomicSystem:
    """The sphere, its centre `offset` below its centre of mass along the axis.

    Parameters
    ----------
    mass, radius : float
        kg and m.
    offset : float
        m, smaller than the radius.
    moments : two floats
        (I₁, I₃) about the centre of mass, kg·m².
    omega : three floats
        ω at the start, body axes, rad/s.
    orientation_wxyz : four floats
        Unit quaternion at the start (dimensionless).

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        An offset that is not smaller than the radius.

    Examples
    --------
    >>> system = routh_sphere(offset=0.2)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 3, (10,))
    """
    if not abs(offset) < radius:
        raise ValueError(f"offset: {offset}, expected less than the radius {radius}")
    return rolling_body.rolling_body(
        "routh-sphere",
        mass,
        np.diag([moments[0], moments[0], moments[1]]),
        SMOOTH,
        (radius,) * 3,
        orientation_wxyz,
        omega,
        centre=(0.0, 0.0, -offset),
        invariants=(invariants, constrained_invariants),
        names=("energy", "jellett", "routh"),
        units=("J", "kg m^3/s", "kg m^2/s"),
    )
