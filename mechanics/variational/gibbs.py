"""Rotations of one step as Gibbs vectors a = 2 tan(θ/2) n, R = cay(a): rational, without cancellation for small turns.

Vectors are tuples of three scalars, matrices tuples of nine by rows; formulas run on every scalar type.  With s = 4/(4
+ a·a):

    cay(a) = E + s (ã + ãã/2),      (cay(a) − E) x = s (a × x + a × (a × x)/2)
    cay(a) cay(b) = cay(a ⊕ b),     a ⊕ b = (a + b + (a × b)/2)/(1 − a·b/4),      G cay(a) Gᵀ = cay(G a)
    d(a ⊕ y) = dci(a) y,            dci(a) = E + ã/2 + a aᵀ/4        (inverse of the left-trivialised tangent of cay)

`turned` is used where x itself is at hand: cay(a) x − x is never formed by subtraction.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.formulas.vectors import cross, dot


@helper
def gain(a: Any) -> Any:
    """s = 4/(4 + a·a)."""
    return 4.0 / (4.0 + dot(a, a))


@helper
def turned(a: Any, x: Any) -> Any:
    """(cay(a) − E) x, the change of x by the rotation."""
    s = gain(a)
    u = cross(a, x)
    w = cross(a, u)
    return s * (u[0] + 0.5 * w[0]), s * (u[1] + 0.5 * w[1]), s * (u[2] + 0.5 * w[2])


@helper
def cayley_matrix(a: Any) -> Any:
    """cay(a) = E + s (ã + ãã/2)."""
    x, y, z = a
    s = gain(a)
    h = 0.5 * s
    xx, yy, zz, xy, xz, yz = h * x * x, h * y * y, h * z * z, h * x * y, h * x * z, h * y * z
    x, y, z = s * x, s * y, s * z
    return 1.0 - (yy + zz), xy - z, xz + y, xy + z, 1.0 - (xx + zz), yz - x, xz - y, yz + x, 1.0 - (xx + yy)


@helper
def compose(a: Any, b: Any) -> Any:
    """a ⊕ b: cay(a ⊕ b) = cay(a) cay(b).  Infinite where the turns add up to π."""
    k = 1.0 / (1.0 - 0.25 * dot(a, b))
    c = cross(a, b)
    return k * (a[0] + b[0] + 0.5 * c[0]), k * (a[1] + b[1] + 0.5 * c[1]), k * (a[2] + b[2] + 0.5 * c[2])


@helper
def compose_about_z(a: Any, t: Any) -> Any:
    """a ⊕ (0, 0, t)."""
    k = 1.0 / (1.0 - 0.25 * (a[2] * t))
    return k * (a[0] + 0.5 * (a[1] * t)), k * (a[1] - 0.5 * (a[0] * t)), k * (a[2] + t)


@helper
def tangent_inverse_matrix(a: Any) -> Any:
    """dci(a) = E + ã/2 + a aᵀ/4."""
    x, y, z = 0.5 * a[0], 0.5 * a[1], 0.5 * a[2]
    return 1.0 + x * x, x * y - z, x * z + y, x * y + z, 1.0 + y * y, y * z - x, x * z - y, y * z + x, 1.0 + z * z
