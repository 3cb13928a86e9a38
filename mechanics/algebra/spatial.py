"""Six-vectors of rigid bodies, linear part first, as NumPy arrays of any scalar type (float64 or mpmath numbers).

A twist V = (v, ω) holds the velocity of the body origin and the angular velocity, a wrench F = (f, m) the force and the
moment about the origin, both in body axes; a momentum (linear, angular) transforms like a wrench.

=====================  ============================================  ==============================================
`skew`                 ã                                             ã b = a × b
`shift`                C = [[G, −G ρ̃], [0, G]]       parent twist → child twist; Cᵀ: child wrench → parent
`momentum_cross`       Ω(V) = [[ω̃, 0], [ṽ, ω̃]]                       rate of a momentum seen from turning axes
`motion_cross`         −Ω(V)ᵀ = [[ω̃, ṽ], [0, ω̃]]                     rate of a twist seen from moving axes
`rotation`             R = E + sin θ ã + (1 − cos θ) ã ã             turn by θ about the axis a
=====================  ============================================  ==============================================

G turns parent components into child components, ρ is the child origin in parent axes (Ivanov and Shimanovsky, eq. 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroup.compile.scalars import sincos, sqrt
from liegroup.formulas import so3

Array = Any
"""A NumPy array of float64, or of objects (mpmath numbers)."""


def skew(a: Any) -> Array:
    """The matrix ã of the cross product, ã b = a × b."""
    return np.array(so3.hat(tuple(a)))


def blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    """The 6 × 6 matrix [[a, b], [c, d]]."""
    return np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)])


def shift(G: Array, rho: Any) -> Array:
    """C = [[G, −G ρ̃], [0, G]] for the rotation G (parent → child components) and the child origin ρ in parent axes."""
    return blocks(G, -G @ skew(rho), 0 * G, G)


def momentum_cross(V: Array) -> Array:
    """Ω(V) = [[ω̃, 0], [ṽ, ω̃]]."""
    v, w = skew(V[:3]), skew(V[3:])
    return blocks(w, 0 * w, v, w)


def motion_cross(V: Array) -> Array:
    """−Ω(V)ᵀ = [[ω̃, ṽ], [0, ω̃]]."""
    return -momentum_cross(V).T


def unit(a: Any) -> Array:
    """a/|a|, to the digits of its scalar type."""
    a = np.asarray(a)
    return a / sqrt(a @ a)


def rotation(axis: Any, angle: Any) -> Array:
    """R = E + sin θ ã + (1 − cos θ) ã ã, the turn by `angle` about a unit `axis`."""
    s, c = sincos(angle)
    a = skew(axis)
    return np.eye(3) + s * a + (1 - c) * (a @ a)


def rotation_from_quaternion(quaternion_wxyz: Any) -> Array:
    """R of a unit quaternion (w, x, y, z): E + 2 w ã + 2 ã ã with a = (x, y, z)."""
    w, x, y, z = quaternion_wxyz
    a = skew((x, y, z))
    return np.eye(3) + 2 * w * a + 2 * (a @ a)
