"""Force laws as formulas of scalars: what a depth, a slip or a length gives, and the energy it stores.

Depth d > 0 means penetration, ḋ its rate.  Normal forces only push: N ≥ 0, and N = 0 for d ≤ 0.

====================  ===========================  ================  ========================================
law                   force                        stored energy U   remarks
====================  ===========================  ================  ========================================
`kelvin_voigt`        k d + c ḋ                    k d²/2            jumps by c ḋ at touch
`hunt_crossley`       K d (1 + a ḋ)                K d²/2            no jump; a from a wanted restitution
`hertz`               K d^{3/2} (1 + a ḋ)          2 K d^{5/2}/5     the same over Hertz's spring
`soft`                σ(d/w) (k d + c ḋ)           k ∫ σ(x/w) x dx   no jump, not even of slopes; linear for d > w
`friction_tanh`       N μ tanh(s/v_s)              dissipates        regularised Coulomb: creeps below v_s
`friction_stribeck`   N μ(s)                       dissipates        static peak μ_s near v_s, μ_d far above
====================  ===========================  ================  ========================================

σ(x) = 3x² − 2x³ from 0 to 1.  `soft` is the law of MuJoCo's constraints with an impedance that rises from 0, taken as a
force: there it acts on the acceleration and weighs other forces, too.

Sources: Hunt and Crossley (1975); Brown and McPhee (2016) for the Stribeck curve; Todorov (2014) and
MuJoCo's documentation (solref, solimp) for the soft law.
"""

from __future__ import annotations

import math
from typing import Any

from liegroup.arrays import positive, real, shown
from liegroup.compile import any_, helper
from liegroup.compile.scalars import less, maximum, minimum, select, sqrt, tanh

KELVIN_VOIGT, HUNT_CROSSLEY, HERTZ, SOFT = 0, 1, 2, 3
NO_FRICTION, TANH, STRIBECK = 0, 1, 2
NORMAL_LAWS = {"kelvin_voigt": KELVIN_VOIGT, "hunt_crossley": HUNT_CROSSLEY, "hertz": HERTZ, "soft": SOFT}


def normal_law(name: object) -> int:
    """The number of a law of a depth by its name; ValueError for another."""
    if not isinstance(name, str) or name not in NORMAL_LAWS:
        raise ValueError(f"law: {shown(name)}, expected one of {', '.join(NORMAL_LAWS)}")
    return NORMAL_LAWS[name]


def width_of(law: str, width: float | None) -> float:
    """The width of a law: of "soft" what is given, of others 1, for nothing; ValueError where it does not belong."""
    if law == "soft":
        return positive(width, "width", ': the depth at which the law "soft" is k d + c ḋ')
    if width is not None:
        raise ValueError(f"width: {shown(width)}, expected none: the law {law!r} has no width")
    return 1.0


@helper
def normal_force(law: Any, stiffness: Any, damping: Any, width: Any, d: Any, d_dot: Any) -> Any:
    """(N, U, U'(d)) of a contact law; `damping` is c in N·s/m (Kelvin–Voigt, soft) or the factor a in s/m (the others),
    `width` that of the soft law.
    """
    depth = maximum(d, 0.0)
    if any_(law == KELVIN_VOIGT):
        spring, stored = stiffness * depth, 0.5 * stiffness * depth * depth
        force = spring + damping * d_dot
    elif any_(law == SOFT):
        part = minimum(depth / width, 1.0)
        rise = part * part * (3.0 - 2.0 * part)
        spring = stiffness * depth * rise
        on_rise = width * part
        beyond = depth - on_rise
        stored = stiffness * (on_rise * on_rise * part * part * (0.75 - 0.4 * part) + beyond * (on_rise + 0.5 * beyond))
        force = spring + rise * (damping * d_dot)
    else:
        hertz = any_(law == HERTZ)
        root = sqrt(depth) if hertz else 1.0 + 0.0 * depth
        spring = stiffness * depth * root
        stored = spring * depth * (0.4 if hertz else 0.5)
        force = spring * (1.0 + damping * d_dot)
    return select(less(0.0, d), maximum(force, 0.0), 0.0 * d), stored, spring


@helper
def friction_ratio(law: Any, static: Any, dynamic: Any, scale: Any, speed: Any) -> Any:
    """Friction force over normal force at a slip speed, odd in it; `scale` is the speed v_s of the regularisation."""
    x = speed / scale
    if any_(law == TANH):
        return dynamic * tanh(x)
    peak = 0.25 * x * x + 0.75
    return dynamic * tanh(4.0 * x) + (static - dynamic) * x / (peak * peak)


def soft_numbers(mass: float, *, time_constant: float = 0.02, damping_ratio: float = 1.0) -> dict[str, float]:
    """Stiffness k = m/(τ ζ)² and damping c = 2m/τ of the law "soft", from the numbers of MuJoCo's `solref`.

    Parameters
    ----------
    mass : float
        m, the mass that the contact feels, kg (on a joint the moment of inertia, kg·m²).
    time_constant : float
        τ, s: the motion on the contact decays like exp(−t/τ).
    damping_ratio : float
        ζ (dimensionless); 1 is critical damping.

    Returns
    -------
    dict
        ``stiffness`` in N/m and ``damping`` in N·s/m, for `contact` and `joint_stop`.

    Raises
    ------
    ValueError
        Numbers that are not positive.

    References
    ----------
    MuJoCo's documentation, solver parameters: k = d/(d_max² τ² ζ²), b = 2/(d_max τ), here with d_max = 1; they are per
    mass there.

    Examples
    --------
    >>> soft_numbers(2.0, time_constant=0.1)
    {'stiffness': 199.99999999999997, 'damping': 40.0}
    """
    m, tau, zeta = (
        positive(x, name)
        for x, name in ((mass, "mass"), (time_constant, "time_constant"), (damping_ratio, "damping_ratio"))
    )
    return {"stiffness": m / (tau * zeta) ** 2, "damping": 2.0 * m / tau}


def hunt_crossley_factor(restitution: float, *, speed: float) -> float:
    """The factor a (s/m) that gives a wanted coefficient of restitution e at one impact speed, exactly.

    With α = a·speed, ln((1 + α)/(1 − α e)) = α (1 + e), for every exponent of the spring.

    Parameters
    ----------
    restitution : float
        e, the ratio of the speeds after and before, 0 < e ≤ 1.
    speed : float
        Before the impact, m/s.

    Returns
    -------
    float
        a, s/m.

    Raises
    ------
    ValueError
        e outside (0, 1], or a speed that is not positive.

    References
    ----------
    The law is that of Hunt and Crossley 1975; the equation for a follows by integrating one impact.

    Examples
    --------
    >>> round(hunt_crossley_factor(0.8, speed=1.0), 6), hunt_crossley_factor(1.0, speed=1.0)
    (0.373146, 0.0)
    """
    from scipy.optimize import brentq  # slow to import

    e = real(restitution, "restitution", "0 < e <= 1", lambda e: 0.0 < e <= 1.0)
    speed = real(speed, "speed", "a positive impact speed in m/s", lambda v: v > 0.0)
    if e == 1.0 or e < 0.02:  # 1 - α e is below rounding
        return 0.0 if e == 1.0 else 1.0 / e / speed

    def alpha(w: float) -> float:
        return -math.expm1(-w) / e

    def defect(w: float) -> float:
        """The equation over α², without what cancels where α is small, for w = −ln(1 − α e), large where α e → 1."""
        a = alpha(w)
        return a * (e**3 * _third(-a * e, -w) + _third(a, math.log1p(a))) - 0.5 * (1.0 - e) * (1.0 + e)

    return alpha(float(brentq(defect, 0.0, (1.0 + e) / e, xtol=1e-300, rtol=1e-15, maxiter=1000))) / speed


def _third(x: float, log: float) -> float:
    """(ln(1 + x) − x + x²/2)/x³ = 1/3 − x/4 + x²/5 − …, with ln(1 + x) as given."""
    if abs(x) < 0.5:
        return sum((-x) ** k / (k + 3) for k in range(50))
    return ((log / x - 1.0) / x + 0.5) / x
