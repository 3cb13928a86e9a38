r"""Euler's disk: a coin that spins on its edge, ever flatter and ever faster, until it stops with a shudder.

The equations are those of `mechanics.systems.rolling.rolling_disk` with a moment Q against the roll rate φ̇ along the
contact line. With the centre at rest, ω₃ = 0 and the angle α = θ between disk and plane small,

    ψ̇² = m g r/(I₁ sin α),    φ̇ = −ψ̇ cos α,    E = (3/2) m g r sin α,    (3/2) m g r α̇ = −P,

so that α vanishes in finite time, α ~ (t₀ − t)ⁿ:

=========  ======================  =====  ===========================================================
law        power P                 n      α
=========  ======================  =====  ===========================================================
DRY        c |φ̇|                   2/3    α^{3/2} = (c/(m g r)) √(m g r/I₁) (t₀ − t)
VISCOUS    c φ̇²                    1/2    α² = (4/3)(c/I₁)(t₀ − t)
FILM       c φ̇²/α                  1/3    α³ = 2 c/I₁ (t₀ − t); air film of viscosity μ: c = π μ r I₁/m
=========  ======================  =====  ===========================================================

Rolling without slipping ends before: the load m (g + z̈) must stay positive (`normal_force`).
Source: Moffatt 2000 (film); O'Reilly 1996; Kessler and O'Reilly 2002 (contour friction).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import checked
from mechanics.systems.rolling.rolling_disk import DRY, FILM, NO_LOSS, VISCOUS, rolling_disk

EXPONENTS = {DRY: 2.0 / 3.0, VISCOUS: 0.5, FILM: 1.0 / 3.0}
"""n of α ~ (t₀ − t)ⁿ, by law."""


@checked
def eulers_disk(
    mass: float = 0.44,
    radius: float = 0.0375,
    angle: float = 0.2,
    law: int = VISCOUS,
    coefficient: float = 1e-6,
    gravity: float = 9.81,
) -> NonholonomicSystem:
    """A thin disk with its centre at rest, at `angle` from the plane, on the steady motion ψ̇² = m g r/(I₁ sin α).

    Parameters
    ----------
    mass, radius : float
        kg and m.
    angle : float
        α at the start, rad, between 0 and π/2.
    law : int
        Which moment Q against the roll rate: NO_LOSS (0), DRY (1), VISCOUS (2) or FILM (3).
    coefficient : float
        Of that law, SI units, not negative.
    gravity : float
        m/s².

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        An unknown law, a negative coefficient, or an angle outside (0, π/2).

    Examples
    --------
    >>> system = eulers_disk(angle=0.3)
    >>> system.n, system.m, system.problem().y0.shape
    (5, 2, (8,))
    """
    if law not in (NO_LOSS, *EXPONENTS):
        raise ValueError(f"law: {law}, expected NO_LOSS (0), DRY (1), VISCOUS (2) or FILM (3)")
    if not coefficient >= 0:
        raise ValueError(f"coefficient: {coefficient}, expected at least 0")
    if not 0 < angle < np.pi / 2:
        raise ValueError(f"angle: {angle}, expected an angle between disk and plane inside (0, π/2)")
    psi_rate = np.sqrt(4.0 * gravity / (radius * np.sin(angle)))
    return rolling_disk(
        mass,
        radius,
        gravity=gravity,
        tilt=0.5 * np.pi - angle,
        omega=(0.0, psi_rate * np.sin(angle), 0.0),
        loss=law,
        loss_coefficient=coefficient,
        model="eulers-disk",
    )


def end_time(system: NonholonomicSystem) -> float:
    """t₀ of the table above, from the start of the system; infinite without loss."""
    m, r, i1, _, g, c = system.parameters
    law, angle = int(system.structure[3]), float(system.q0[3])
    rate = {
        NO_LOSS: 0.0,
        DRY: c / (m * g * r) * np.sqrt(m * g * r / i1),
        VISCOUS: 4.0 / 3.0 * c / i1,
        FILM: 2.0 * c / i1,
    }[law]
    return float(angle ** (1.0 / EXPONENTS[law]) / rate) if rate else np.inf


def normal_force(system: NonholonomicSystem, y: ArrayLike) -> NDArray[np.float64]:
    """Load m (g + z̈) of reduced states (…, 8), z = r sin θ; the coin lifts off where it would be negative."""
    m, r, i1, i3, g, _ = system.parameters
    y = np.asarray(y, float)
    s, c = np.sin(y[..., 3]), np.cos(y[..., 3])
    w1, w2, w3 = y[..., 5], y[..., 6], y[..., 7]
    acceleration = (-(i3 + m * r * r) * w2 * w3 + i1 * w2 * w2 * c / s - m * g * r * c) / (i1 + m * r * r)
    return np.asarray(m * (g + r * (acceleration * c - w1 * w1 * s)))
