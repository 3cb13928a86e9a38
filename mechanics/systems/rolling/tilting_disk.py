r"""The tilting disk on SE(3): disk, hoop or wheel with a thick rim, whose edge rolls on a plane; no singular angles.

The body origin is the centre of mass, the third body axis the axis of the wheel; see
`mechanics.systems.rolling.rolling_body` for the equations and `mechanics.systems.rolling.rolling_disk` for the same
motion in angles, its integrals and its stability limits. Default: the benchmark of Hante, m = 15, r = 1, J = diag(15/4,
15/4, 15/2), g = 9.81, tilted by 15°, ω = (0, 15, 5), with the energy 845.2609853384364.

Thick rim: section radius b, r the radius of the centre line of the rim; the height of the centre is r sin θ + b.
Source: S. Hante (benchmark configuration); Routh 1905, article 244.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas import so3
from mechanics.nonholonomic.rolling import WHEEL, up, wheel_contact
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.checks import checked, positive
from mechanics.systems.rolling import rolling_body
from mechanics.systems.rolling.rolling_disk import FLAT, appell_korteweg, flat_margin

TILT = np.deg2rad(15.0)


@helper
def _integrals(y: Any, omega: Any, p: Any, out: Any) -> None:
    """Appell's and Korteweg's integrals of a sharp edge, with (sin θ, cos θ) = (√(γ₁² + γ₂²), γ₃)."""
    gamma = up(rolling_body.quaternion(y))
    sine = sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1])
    w2 = (gamma[0] * omega[0] + gamma[1] * omega[1]) / sine
    m, r = p[rolling_body.MASS], p[rolling_body.SIZE]
    i1, i3 = p[rolling_body.INERTIA], p[rolling_body.INERTIA + 2]
    roll, spin = appell_korteweg(sine, gamma[2], w2, omega[2], m * r * r / (i3 + m * r * r), i3 / i1)
    st(out, 1, roll)
    st(out, 2, spin)


@helper
def _flat_margin(y: Any, omega: Any, p: Any) -> Any:
    """`rolling_disk.flat_margin` with θ̇ = ω·t, t = (γ₂, −γ₁, 0)/sin θ."""
    gamma = up(rolling_body.quaternion(y))
    sine = sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1])
    w1 = (gamma[1] * omega[0] - gamma[0] * omega[1]) / sine
    w2 = (gamma[0] * omega[0] + gamma[1] * omega[1]) / sine
    m, r, i1, g = p[rolling_body.MASS], p[rolling_body.SIZE], p[rolling_body.INERTIA], p[rolling_body.GRAVITY]
    return flat_margin(sine, gamma[2] * w1, w1, w2, m, r, i1, g)


@entry(*FIELD_SIGNATURES)
def falls_flat(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Event function of the form in quasi-velocities: becomes negative when the disk falls flat."""
    st(out, 0, _flat_margin(y, rolling_body.triple(y, 7), parameters))


@entry(*FIELD_SIGNATURES)
def constrained_falls_flat(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The same of the form with multipliers."""
    st(out, 0, _flat_margin(y, rolling_body.triple(y, 10), parameters))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    omega = rolling_body.triple(y, 7)
    st(out, 0, rolling_body.energy(y, rolling_body.rolling_velocity(structure, y, parameters), omega, parameters))
    _integrals(y, omega, parameters, out)


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    omega = rolling_body.triple(y, 10)
    st(out, 0, rolling_body.energy(y, rolling_body.triple(y, 7), omega, parameters))
    _integrals(y, omega, parameters, out)


@checked
def tilting_disk(
    mass: float = 15.0,
    radius: float = 1.0,
    section: float = 0.0,
    diametral_inertia: float | None = None,
    axial_inertia: float | None = None,
    gravity: float = 9.81,
    tilt: float = TILT,
    omega: tuple[float, float, float] = (0.0, 15.0, 5.0),
    heading: float = 0.0,
) -> NonholonomicSystem:
    """The disk (moments of a thin uniform one by default), its plane `tilt` from the vertical, contact point in the
    origin.

    Parameters
    ----------
    mass, radius : float
        kg and m (of the centre line of the rim).
    section : float
        Section radius of a thick rim, m (then energy is the only integral that is watched).
    diametral_inertia, axial_inertia : float, optional
        I₁ and I₃ about the centre of mass, kg·m²; default m r²/4 and m r²/2; a hoop has m r²/2 and m r².
    gravity : float
        m/s².
    tilt : float
        rad.
    omega : three floats
        On (t, s, n), t horizontal in the plane of the disk, s in the plane and up, n the axis, rad/s.
    heading : float
        Direction of t, rad.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        Masses, lengths or moments that are not positive; a disk that lies flat.

    Examples
    --------
    >>> system = tilting_disk(tilt=0.3)
    >>> system.n, system.m, system.problem().y0.shape
    (6, 3, (10,))
    """
    i1 = 0.25 * mass * radius**2 if diametral_inertia is None else diametral_inertia
    i3 = 0.5 * mass * radius**2 if axial_inertia is None else axial_inertia
    positive(mass=mass, radius=radius, diametral_inertia=i1, axial_inertia=i3)
    if section < 0:
        raise ValueError(f"section: {section}, expected a section radius of at least 0")
    if np.cos(tilt) < FLAT:
        raise ValueError(
            f"tilt: {tilt} rad from the vertical, where the disk lies flat or upside down (cos tilt < {FLAT}) and no "
            "point of its rim is below the others"
        )
    precession = (np.cos(heading / 2), 0.0, 0.0, np.sin(heading / 2))
    lean = 0.5 * (0.5 * np.pi - tilt)
    sharp = section == 0.0
    return rolling_body.rolling_body(
        "tilting-disk" if sharp else "thick-disk",
        mass,
        np.diag([i1, i1, i3]),
        WHEEL,
        (radius, section, 0.0),
        so3.multiply(precession, (np.cos(lean), np.sin(lean), 0.0, 0.0)),
        omega,
        gravity=gravity,
        invariants=(invariants, constrained_invariants)
        if sharp
        else (rolling_body.invariants, rolling_body.constrained_invariants),
        names=("energy", "upright_roll_rate", "upright_spin_rate") if sharp else ("energy",),
        units=("J", "rad/s", "rad/s") if sharp else ("J",),
    )


def contact_point(y: ArrayLike, radius: float, section: float = 0.0) -> NDArray[np.float64]:
    """(x, y) of the contact point of states (…, ≥ 7)."""
    y = np.asarray(y, float)
    q = tuple(np.moveaxis(y[..., 3:7], -1, 0))
    zero = np.zeros_like(y[..., 0])
    rho, _ = wheel_contact(up(q), (zero, zero, zero), (radius, section, 0.0), (zero, zero, zero))
    offset = so3.act(q, rho)
    return np.stack([y[..., 0] + offset[0], y[..., 1] + offset[1]], axis=-1)
