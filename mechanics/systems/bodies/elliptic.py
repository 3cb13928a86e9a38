"""Jacobi's elliptic functions, the integral of the first kind and the quarter period, from the complementary modulus.

Libraries take m = k² and lose all digits of 1 − m near a separatrix (m → 1), where k' = √(1 − m) is the number one has.
There cn and dn become small, and what follows hangs on their relative accuracy: it is lost in the amplitude, an angle,
and kept in a `Phase`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Phase(NamedTuple):
    """A point of the motion: n half turns, and sn, cn, dn of the rest of the amplitude, in [−π/2, π/2] (cn ≥ 0)."""

    half_turns: Array
    sn: Array
    cn: Array
    dn: Array

    @property
    def amplitude(self) -> Array:
        """am, unwound."""
        return np.asarray(np.arctan2(self.sn, self.cn) + np.pi * self.half_turns)

    @property
    def sign(self) -> Array:
        """(−1)ⁿ: the factor of sn and cn at the whole amplitude."""
        return 1.0 - 2.0 * (self.half_turns % 2.0)


def phase_at(sine: float, cosine: float, complementary_modulus: float) -> Phase:
    """The phase whose amplitude has a sine and a cosine ≥ 0, up to a common positive factor."""
    length = np.hypot(sine, cosine)
    s, c = np.asarray(sine / length), np.asarray(cosine / length)
    return Phase(np.zeros(()), s, c, np.sqrt((complementary_modulus * s) ** 2 + c**2))


def phase(u: ArrayLike, complementary_modulus: float) -> Phase:
    """The phase at u = ∫₀^φ dθ/√(1 − k² sin²θ); k' = √(1 − k²) in [0, 1].

    Landen's descending transformation of the cotangent of the amplitude, which adds, multiplies and divides positive
    numbers only (Bulirsch 1965); k' = 0 is the Gudermannian.
    """
    u = np.asarray(u, dtype=np.float64)
    if complementary_modulus == 0.0:
        return Phase(np.zeros_like(u), np.tanh(u), 1.0 / np.cosh(u), 1.0 / np.cosh(u))
    quarter, means = quarter_period(complementary_modulus), [(1.0, complementary_modulus)]
    while abs(means[-1][0] - means[-1][1]) > 1e-15 * means[-1][0]:
        a, b = means[-1]
        means.append(((a + b) / 2, np.sqrt(a * b)))
    a = means.pop()[0]
    half_turns = np.round(u / (2.0 * quarter))
    rest = a * (u - 2.0 * quarter * half_turns)
    at_zero = rest == 0.0
    ratio = np.abs(np.cos(rest)) / np.where(at_zero, 1.0, np.abs(np.sin(rest)))
    cotangent, dn = a * ratio, np.ones_like(u)
    for a, b in reversed(means):
        square = ratio * cotangent
        cotangent = cotangent * dn
        dn = (b + square) / (a + square)
        ratio = cotangent / a
    length = np.hypot(1.0, cotangent)
    sn, cn = np.where(at_zero, 0.0, np.copysign(1.0 / length, rest)), np.where(at_zero, 1.0, cotangent / length)
    return Phase(half_turns, sn, cn, np.where(at_zero, 1.0, dn))


def argument(at: Phase, complementary_modulus: float) -> Array:
    """u = ∫₀^φ dθ/√(1 − k² sin²θ) of a phase: the inverse of `phase`, by Carlson's symmetric integral."""
    whole = 2.0 * at.half_turns * quarter_period(complementary_modulus) if at.half_turns.any() else 0.0
    from scipy.special import elliprf  # slow to import

    return np.asarray(at.sn * elliprf(at.cn**2, at.dn**2, 1.0) + whole)


def amplitude(u: ArrayLike, complementary_modulus: float) -> Array:
    """am(u, k), the φ with u = ∫₀^φ dθ/√(1 − k² sin²θ); sn = sin am, cn = cos am."""
    return phase(u, complementary_modulus).amplitude


def first_kind(am: ArrayLike, complementary_modulus: float) -> Array:
    """F(φ, k) = ∫₀^φ dθ/√(1 − k² sin²θ), the inverse of `amplitude`."""
    am = np.asarray(am, dtype=np.float64)
    half_turns = np.round(am / np.pi)
    rest = am - half_turns * np.pi
    s, c = np.sin(rest), np.cos(rest)
    dn = np.sqrt((complementary_modulus * s) ** 2 + c**2)
    return argument(Phase(half_turns, s, c, dn), complementary_modulus)


def quarter_period(complementary_modulus: float) -> float:
    """K(k) = π/2 / agm(1, k')."""
    a, b = 1.0, float(complementary_modulus)
    if b == 0.0:
        return np.inf
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, np.sqrt(a * b)
    return float(np.pi / (a + b))
