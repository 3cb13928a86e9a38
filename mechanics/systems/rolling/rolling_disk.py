r"""The tilting (falling) disk and hoop: a thin axisymmetric body that rolls on its edge without slipping, in Euler
angles.

Configuration R⁵: centre (x, y), precession ψ, tilt θ of the axis from the vertical (upright π/2, flat 0), spin φ; the
axes t (horizontal, in the plane of the disk), s (in the plane, up), n = t × s turn with ψ and θ.  Angular velocity on
(t, s, n):

    ω₁ = θ̇,    ω₂ = ψ̇ sin θ,    ω₃ = φ̇ + ψ̇ cos θ,    Ω = ψ̇ cos θ = ω₂ cot θ

Rows: the horizontal velocity of the centre is that of r (ω₁ n − ω₃ t); the height r sin θ is built in.

    (I₁ + m r²) ω̇₁ = −(I₃ + m r²) ω₂ ω₃ + I₁ Ω ω₂ − m g r cos θ
    I₁ ω̇₂ = I₃ ω₁ ω₃ − I₁ Ω ω₁
    (I₃ + m r²) ω̇₃ = m r² ω₁ ω₂
    E = ½ m r² (ω₁² + ω₃²) + ½ I₁ (ω₁² + ω₂²) + ½ I₃ ω₃² + m g r sin θ

Appell's and Korteweg's integrals: along the motion dω₃/dθ = a ω₂ and dω₂/dθ = b ω₃ − ω₂ cot θ with a = m r²/(I₃ + m
r²), b = I₃/I₁, Legendre's equation in cos θ; its constants are the values that ω₃ and ω₂ take when the disk is upright.

Steady circles: I₁ ψ̇² sin θ cos θ − (I₃ + m r²) ψ̇ ω₃ sin θ − m g r cos θ = 0, contact circle of radius r |φ̇/ψ̇|.
Upright rolling is stable iff ω₃² > I₁ m g r/(I₃ (I₃ + m r²)), upright spinning iff ψ̇² > m g r/(I₁ + m r²).

Dissipation acts on the roll rate φ̇ = ω₃ − Ω along the contact line, as a moment Q conjugate to φ
(`mechanics.systems.rolling.eulers_disk`). The angles are singular when the disk lies flat. Source: Appell 1900;
Korteweg 1900; Routh 1905, article 244; O'Reilly 1996; Moiseev et al. 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.multipliers import constrained_energy
from integrators.problem.parts import clear, constrained, quasi_velocity
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, st
from liegroup.compile.scalars import absolute, any_, arctan2, less, maximum, select, sincos, sqrt
from liegroup.table import RN, table_of
from mechanics.nonholonomic.forms import constrained_forms, quasi_velocity_forms
from mechanics.nonholonomic.quasi_velocity import quasi_velocity_energy
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.scenes import system_scene
from mechanics.systems.checks import checked, finite, positive, signs

Q = quasi_velocity(5, 3)
C = constrained(5, 2, 0)
FLAT = 1e-3
"""Below this sin θ the disk counts as lying flat."""
LOOKAHEAD = 0.05
"""In units of √(r/g): `falls_flat` ends a motion so long before the disk would lie flat; a step must not be longer."""
NO_LOSS, DRY, VISCOUS, FILM = 0, 1, 2, 3
"""Laws of dissipation: Q = −c sign φ̇, −c φ̇, −c φ̇/α with the angle α between disk and plane."""
PRECISION, LIMIT = 1e-17, 8000
"""Appell's and Korteweg's series stops at a term this small, at the latest at this power of cos θ (enough above θ =
0.1).
"""


@helper
def _loss(law: Any, c: Any, roll: Any, sine: Any, cosine: Any) -> Any:
    """Q."""
    if law == DRY:
        return -(c * select(less(roll, 0.0), -1.0, 1.0))
    if law == VISCOUS:
        return -(c * roll)
    if law == FILM:
        return -(c * roll / arctan2(sine, absolute(cosine)))
    return 0.0 * roll


@helper
def flat_margin(sine: Any, sine_rate: Any, w1: Any, w2: Any, m: Any, r: Any, i1: Any, g: Any) -> Any:
    """Negative when the disk is about to lie flat: within `LOOKAHEAD`, and the turning of its plane does not stop it
    before.

    Near the plane ω₂ sin θ hardly changes, so that ½ I₁ ω₂² is a barrier: the least sin θ ahead is sin θ b/√(ω₁² + b²)
    with b² = ω₂² I₁/(I₁ + m r²).
    """
    barrier = sqrt(i1 / (i1 + m * r * r)) * absolute(w2)
    speed = sqrt(w1 * w1 + barrier * barrier)
    least = sine * barrier / select(speed == 0.0, 1.0 + speed, speed)
    return maximum(least, sine + LOOKAHEAD * sqrt(r / g) * sine_rate) - FLAT


@entry(*FIELD_SIGNATURES)
def falls_flat(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Event function of the form in quasi-velocities: becomes negative when the disk falls flat."""
    s, c = sincos(ld(y, 3))
    st(
        out,
        0,
        flat_margin(s, c * ld(y, 5), ld(y, 5), ld(y, 6), parameters[0], parameters[1], parameters[2], parameters[4]),
    )


@entry(*FIELD_SIGNATURES)
def constrained_falls_flat(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The same of the form with multipliers."""
    s, c = sincos(ld(y, 3))
    turn, tilt = ld(y, 7) * s, ld(y, 8)
    st(out, 0, flat_margin(s, c * tilt, tilt, turn, parameters[0], parameters[1], parameters[2], parameters[4]))


@kernel
def quasi_velocity_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """u = (ω₁, ω₂, ω₃)."""
    m, r, i1, i3, g = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    w1, w2, w3 = ld(y, 5), ld(y, 6), ld(y, 7)
    sp, cp = sincos(ld(y, 2))
    s, c = sincos(ld(y, 3))
    mr2, turn = m * r * r, w2 * (c / s)
    clear(out)
    st(out, Q.BASIS + 0, r * sp * s)
    st(out, Q.BASIS + 2, -(r * cp))
    st(out, Q.BASIS + 3, -(r * cp * s))
    st(out, Q.BASIS + 5, -(r * sp))
    st(out, Q.BASIS + 7, 1.0 / s)
    st(out, Q.BASIS + 9, 1.0)
    st(out, Q.BASIS + 13, -(c / s))
    st(out, Q.BASIS + 14, 1.0)
    st(out, Q.METRIC, i1 + mr2)
    st(out, Q.METRIC + 1, i1)
    st(out, Q.METRIC + 2, i3 + mr2)
    st(out, Q.GYRO, i1 * turn * w2 - (i3 + mr2) * w2 * w3)
    st(out, Q.GYRO + 1, i3 * w1 * w3 - i1 * turn * w1)
    st(out, Q.GYRO + 2, mr2 * w1 * w2)
    loss = _loss(structure[3], parameters[5], w3 - turn, s, c)
    st(out, Q.FORCE + 1, -(loss * (c / s)))
    st(out, Q.FORCE + 2, loss)
    st(out, Q.GRADIENT + 3, m * g * r * c)
    st(out, Q.POTENTIAL, m * g * r * s)


@kernel
def constrained_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = (ẋ, ẏ, ψ̇, θ̇, φ̇), T = ½ m (ẋ² + ẏ² + r² cos²θ θ̇²) + ½ I₁ (θ̇² + ψ̇² sin²θ) + ½ I₃ (φ̇ + ψ̇ cos θ)²."""
    m, r, i1, i3, g = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    psi_rate, theta_rate, phi_rate = ld(y, 7), ld(y, 8), ld(y, 9)
    sp, cp = sincos(ld(y, 2))
    s, c = sincos(ld(y, 3))
    mr2, w3 = m * r * r, phi_rate + psi_rate * c
    clear(out)
    st(out, C.MASS + 0, m)
    st(out, C.MASS + 6, m)
    st(out, C.MASS + 12, i1 * s * s + i3 * c * c)
    st(out, C.MASS + 14, i3 * c)
    st(out, C.MASS + 18, i1 + mr2 * c * c)
    st(out, C.MASS + 22, i3 * c)
    st(out, C.MASS + 24, i3)
    st(out, C.KINETIC + 3, s * (i1 * psi_rate * psi_rate * c - mr2 * c * theta_rate * theta_rate - i3 * psi_rate * w3))
    st(out, C.RATE + 2, theta_rate * s * (2.0 * (i1 - i3) * c * psi_rate - i3 * phi_rate))
    st(out, C.RATE + 3, -(2.0 * mr2 * c * s * theta_rate * theta_rate))
    st(out, C.RATE + 4, -(i3 * s * theta_rate * psi_rate))
    w3_rate = -(psi_rate * s * theta_rate)
    st(out, C.ROWS + 0, 1.0)
    st(out, C.ROWS + 2, r * cp * c)
    st(out, C.ROWS + 3, -(r * sp * s))
    st(out, C.ROWS + 4, r * cp)
    st(out, C.ROWS + 6, 1.0)
    st(out, C.ROWS + 7, r * sp * c)
    st(out, C.ROWS + 8, r * cp * s)
    st(out, C.ROWS + 9, r * sp)
    st(out, C.BIAS, r * (w3_rate * cp - psi_rate * sp * w3 - theta_rate * (cp * s * psi_rate + sp * c * theta_rate)))
    st(
        out,
        C.BIAS + 1,
        r * (w3_rate * sp + psi_rate * cp * w3 - theta_rate * (sp * s * psi_rate - cp * c * theta_rate)),
    )
    st(out, C.FORCE + 4, _loss(structure[3], parameters[5], phi_rate, s, c))
    st(out, C.GRADIENT + 3, m * g * r * c)
    st(out, C.POTENTIAL, m * g * r * s)


@helper
def appell_korteweg(sine: Any, cosine: Any, w2: Any, w3: Any, a: Any, b: Any) -> Any:
    """(ω₃, ω₂) at the upright passage of the motion through (θ, ω₂, ω₃).

    y(x) solves (1 − x²) y″ − 2 x y′ = a b y, x = cos θ, with ω₃ = y, ω₂ = −(sin θ/a) y′; even and odd series.
    """
    x2, product = cosine * cosine, a * b
    even, odd = 1.0 + 0.0 * x2, 1.0 + 0.0 * x2
    even_sum, even_slope, odd_sum, odd_slope = even, 0.0 * x2, odd, odd
    n = 0
    while n < LIMIT and any_(less(PRECISION, absolute(even) * (n + 1.0))):
        even = even * x2 * (n * (n + 1.0) + product) / ((n + 1.0) * (n + 2.0))
        odd = odd * x2 * ((n + 1.0) * (n + 2.0) + product) / ((n + 2.0) * (n + 3.0))
        even_sum, odd_sum = even_sum + even, odd_sum + odd
        even_slope, odd_slope = even_slope + (n + 2.0) * even, odd_slope + (n + 3.0) * odd
        n += 2
    even_slope, odd_sum = even_slope / select(cosine == 0.0, 1.0, cosine), odd_sum * cosine
    slope, wronskian = a * w2 / sine, sine * sine
    return wronskian * (w3 * odd_slope + slope * odd_sum), wronskian * (slope * even_sum + w3 * even_slope) / a


@helper
def _integrals(y: Any, w2: Any, w3: Any, parameters: Any, out: Any) -> None:
    m, r, i1, i3 = parameters[0], parameters[1], parameters[2], parameters[3]
    s, c = sincos(ld(y, 3))
    roll, spin = appell_korteweg(s, c, w2, w3, m * r * r / (i3 + m * r * r), i3 / i1)
    st(out, 1, roll)
    st(out, 2, spin)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, quasi_velocity_energy(quasi_velocity_parts, t, y, parameters, structure, work))
    _integrals(y, ld(y, 6), ld(y, 7), parameters, out)


@entry(*FIELD_SIGNATURES)
def constrained_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    st(out, 0, constrained_energy(constrained_parts, t, y, parameters, structure, work))
    s, c = sincos(ld(y, 3))
    _integrals(y, ld(y, 7) * s, ld(y, 9) + ld(y, 7) * c, parameters, out)


REDUCED = quasi_velocity_forms(quasi_velocity_parts, invariants)
CONSTRAINED = constrained_forms(constrained_parts, constrained_invariants)


@checked
def rolling_disk(
    mass: float = 1.0,
    radius: float = 0.3,
    diametral_inertia: float | None = None,
    axial_inertia: float | None = None,
    gravity: float = 9.81,
    tilt: float = 0.3,
    omega: tuple[float, float, float] = (0.0, 2.0, 4.0),
    heading: float = 0.0,
    loss: int = NO_LOSS,
    loss_coefficient: float = 0.0,
    model: str = "rolling-disk",
) -> NonholonomicSystem:
    """The disk (moments of a thin uniform one by default), its contact point in the origin, its plane `tilt` from the
    vertical.

    Parameters
    ----------
    mass, radius : float
        kg and m.
    diametral_inertia, axial_inertia : float, optional
        I₁ and I₃ about the centre of mass, kg·m²; default m r²/4 and m r²/2; a hoop has m r²/2 and m r².
    gravity : float
        m/s².
    tilt : float
        rad; θ = π/2 − tilt.
    omega : three floats
        (ω₁, ω₂, ω₃) on (t, s, n) at the start, rad/s.
    heading : float
        ψ, the direction of t, rad.
    loss : int
        NO_LOSS (0), or one of the laws of `eulers_disk`: DRY (1), VISCOUS (2), FILM (3).
    loss_coefficient : float
        Of that law, SI units.
    model : str
        Name for tables and files.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        Masses, lengths or moments that are not positive; a disk that lies flat (sin θ < 1e-3).

    Examples
    --------
    >>> system = rolling_disk(tilt=0.2)
    >>> system.n, system.m, system.problem().y0.shape
    (5, 2, (8,))
    """
    i1 = 0.25 * mass * radius**2 if diametral_inertia is None else diametral_inertia
    i3 = 0.5 * mass * radius**2 if axial_inertia is None else axial_inertia
    positive(mass=mass, radius=radius, diametral_inertia=i1, axial_inertia=i3)
    finite(gravity=gravity, tilt=tilt, heading=heading, loss_coefficient=loss_coefficient)
    if loss not in (NO_LOSS, DRY, VISCOUS, FILM):
        raise ValueError(f"loss: {loss}, expected NO_LOSS (0), DRY (1), VISCOUS (2) or FILM (3)")
    theta = 0.5 * np.pi - tilt
    if np.sin(theta) < FLAT:
        raise ValueError(
            f"tilt: {tilt} rad lays the disk flat (sin θ = {np.sin(theta):.2g} < {FLAT}), where its angles are singular"
        )
    return NonholonomicSystem(
        autonomous=True,
        model=model,
        group=table_of([(RN, 5)]),
        variables=(
            Variable("centre", ("x", "y"), "m", "centre of the disk over the plane"),
            Variable("angles", ("psi", "theta", "phi"), "rad", "precession, tilt of the axis from the vertical, spin"),
        ),
        velocities=Variable(
            "v", ("x", "y", "psi", "theta", "phi"), "m/s, m/s, rad/s, rad/s, rad/s", "rates of the coordinates"
        ),
        quasi_velocities=Variable("omega", ("w_1", "w_2", "w_3"), "rad/s", "angular velocity on (t, s, n)"),
        reduced=REDUCED,
        constrained=CONSTRAINED,
        parameters=[mass, radius, i1, i3, gravity, loss_coefficient],
        q0=[-radius * np.sin(heading) * np.cos(theta), radius * np.cos(heading) * np.cos(theta), heading, theta, 0.0],
        u0=list(omega),
        extra=(loss,),
        invariant_names=("energy", "upright_roll_rate", "upright_spin_rate"),
        invariant_units=("J", "rad/s", "rad/s"),
        conservative=loss == NO_LOSS,
        scene=system_scene("disk", float(radius)),
        reversal=signs(1, 1, 1, 1, 1, -1, -1, -1) if loss == NO_LOSS else None,
    )


def contact_point(y: ArrayLike, radius: float) -> NDArray[np.float64]:
    """(x, y) of the contact point of states (…, ≥ 5): the centre less r s."""
    y = np.asarray(y, float)
    psi, flat = y[..., 2], radius * np.cos(y[..., 3])
    return np.stack([y[..., 0] + flat * np.sin(psi), y[..., 1] - flat * np.cos(psi)], axis=-1)


def steady_roll_rate(system: NonholonomicSystem, tilt: float, psi_rate: float) -> float:
    """ω₃ of the steady circle with the given tilt of the plane from the vertical and precession rate."""
    m, r, i1, i3, g, _ = system.parameters
    s, c = np.cos(tilt), np.sin(tilt)
    return float((i1 * psi_rate**2 * s * c - m * g * r * c) / ((i3 + m * r * r) * psi_rate * s))


def least_roll_rate(system: NonholonomicSystem) -> float:
    """|ω₃| above which rolling upright in a straight line is stable: √(I₁ m g r/(I₃ (I₃ + m r²)))."""
    m, r, i1, i3, g, _ = system.parameters
    return float(np.sqrt(i1 * m * g * r / (i3 * (i3 + m * r * r))))


def least_spin_rate(system: NonholonomicSystem) -> float:
    """|ψ̇| above which spinning upright on the spot is stable: √(m g r/(I₁ + m r²))."""
    m, r, i1, _, g, _ = system.parameters
    return float(np.sqrt(m * g * r / (i1 + m * r * r)))
