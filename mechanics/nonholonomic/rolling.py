"""Where a convex body touches a horizontal plane: contact vectors and their rates, as formulas of scalars.

All vectors in body axes: γ the unit vector straight up, ρ from the body origin to the contact point, c the centre of
the shape. γ̇ = γ × ω because up stays where it is.

=========  ===========================================================================================================
shape      contact vector
=========  ===========================================================================================================
`WHEEL`    ρ = c − r e − b γ, e = (γ₁, γ₂, 0)/√(γ₁² + γ₂²): disk or hoop about its third axis, radius r of the line amid
           the rim, section radius b (0: a sharp edge); not defined when the wheel lies flat
`SMOOTH`   ρ = c − B²γ/√(γ·B²γ), B = diag of half axes: ellipsoid, sphere
=========  ===========================================================================================================

The material point in contact has the velocity V + ω × ρ; ρ̇ is tangent to the surface: γ·ρ̇ = 0.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import combine, cross, dot, scale, subtract

WHEEL, SMOOTH = 0, 1
"""Shapes: a wheel with a round rim, an ellipsoid."""


@helper
def up(q: Any) -> Any:
    """γ = Rᵀ e_z of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@helper
def wheel_contact(gamma: Any, omega: Any, size: Any, centre: Any) -> Any:
    """ρ and ρ̇ of a wheel; size = (r, b, ·)."""
    radius, section = size[0], size[1]
    rate = cross(gamma, omega)
    length = sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1])
    e = (gamma[0] / length, gamma[1] / length)
    along = e[0] * rate[0] + e[1] * rate[1]
    e_rate = ((rate[0] - e[0] * along) / length, (rate[1] - e[1] * along) / length)
    rho = (
        centre[0] - radius * e[0] - section * gamma[0],
        centre[1] - radius * e[1] - section * gamma[1],
        centre[2] - section * gamma[2],
    )
    return rho, (
        -(radius * e_rate[0]) - section * rate[0],
        -(radius * e_rate[1]) - section * rate[1],
        -(section * rate[2]),
    )


@helper
def smooth_contact(gamma: Any, omega: Any, size: Any, centre: Any) -> Any:
    """ρ and ρ̇ of an ellipsoid; size = half axes."""
    square = (size[0] * size[0], size[1] * size[1], size[2] * size[2])
    rate = cross(gamma, omega)
    normal = (square[0] * gamma[0], square[1] * gamma[1], square[2] * gamma[2])
    normal_rate = (square[0] * rate[0], square[1] * rate[1], square[2] * rate[2])
    s2 = dot(gamma, normal)
    s = sqrt(s2)
    turn = dot(gamma, normal_rate) / s2
    return subtract(centre, scale(1.0 / s, normal)), scale(
        1.0 / s, combine(scale(-1.0, normal_rate), turn, normal, 0.0, normal)
    )


@helper
def solve_symmetric(a: Any, b: Any) -> Any:
    """x with a x = b for a symmetric 3 × 3 matrix a = (xx, yy, zz, xy, xz, yz), by cofactors."""
    xx, yy, zz, xy, xz, yz = a
    c = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy)
    d = xz * xy - xx * yz
    determinant = xx * c[0] + xy * c[1] + xz * c[2]
    e, f = xx * zz - xz * xz, xx * yy - xy * xy
    return scale(1.0 / determinant, (dot(c, b), c[1] * b[0] + e * b[1] + d * b[2], c[2] * b[0] + d * b[1] + f * b[2]))


@helper
def times_symmetric(a: Any, w: Any) -> Any:
    """a w for a symmetric 3 × 3 matrix a = (xx, yy, zz, xy, xz, yz)."""
    return (
        a[0] * w[0] + a[3] * w[1] + a[4] * w[2],
        a[3] * w[0] + a[1] * w[1] + a[5] * w[2],
        a[4] * w[0] + a[5] * w[1] + a[2] * w[2],
    )
