"""Jacobi's amplitude, its inverse and the quarter period, from the complementary modulus.

Libraries take m = k² and lose all digits of 1 − m near a separatrix (m → 1), where k' = √(1 − m) is the number one has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import elliprf

Array = NDArray[np.float64]


def amplitude(u: ArrayLike, complementary_modulus: float) -> Array:
    """am(u, k), the φ with u = ∫₀^φ dθ/√(1 − k² sin²θ); k' = √(1 − k²) in [0, 1].  sn = sin am, cn = cos am.

    Descending Landen transformation (Abramowitz and Stegun 1964, 16.4); k' = 0 is the Gudermannian.
    """
    u = np.asarray(u, dtype=np.float64)
    if complementary_modulus == 0.0:
        return np.asarray(2.0 * np.arctan(np.tanh(0.5 * u)))
    ratios, a, b = [], 1.0, complementary_modulus
    while abs(a - b) > 1e-15 * a:
        a, b, c = (a + b) / 2, np.sqrt(a * b), (a - b) / 2
        ratios.append(c / a)
    phi = 2.0 ** len(ratios) * a * u
    for ratio in reversed(ratios):
        phi = (phi + np.arcsin(ratio * np.sin(phi))) / 2
    return np.asarray(phi)


def first_kind(am: ArrayLike, complementary_modulus: float) -> Array:
    """F(φ, k) = ∫₀^φ dθ/√(1 − k² sin²θ), the inverse of `amplitude`, by Carlson's symmetric integral."""
    am = np.asarray(am, dtype=np.float64)
    turns = np.round(am / np.pi)
    s, c2 = np.sin(am - turns * np.pi), np.cos(am) ** 2
    k2 = complementary_modulus**2
    whole = 2.0 * turns * quarter_period(complementary_modulus) if turns.any() else 0.0
    return np.asarray(s * elliprf(c2, k2 + (1.0 - k2) * c2, 1.0) + whole)


def quarter_period(complementary_modulus: float) -> float:
    """K(k) = π/2 / agm(1, k')."""
    a, b = 1.0, float(complementary_modulus)
    if b == 0.0:
        return np.inf
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, np.sqrt(a * b)
    return float(np.pi / (a + b))
