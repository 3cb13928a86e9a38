"""Changes of axes of vectors and inertias as tuples of scalars, for the kernels: turns about z and x, shifts of the
origin.

An inertia M = [[A, H], [Hᵀ, J]] gives momenta from twists, (l, k) = M (v, ω); it is held as three tuples: A and J
symmetric, ``(xx, xy, xz, yy, yz, zz)``, and H full, ``(xx, xy, xz, yx, yy, yz, zx, zy, zz)``.  A vector is a tuple of
three.

`turn_…` goes from child to parent components, x_parent = Rz(θ) x_child (or Rx), given c, s = cos θ, sin θ; `unturn_…`
back. A turn of a 2 × 2 block costs four multiplications:

    [[a, b], [e, d]] → [[a + δ, b − η], [e − η, d − δ]],   δ = s²(d − a) − cs(b + e),   η = cs(d − a) + s²(b + e).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper
from liegroup.formulas import so3

# --- vectors ----------------------------------------------------------------------------------------------------------


@helper
def turn_z(a: Any, c: Any, s: Any) -> Any:
    """Rz(θ) a."""
    x, y, z = a
    return c * x - s * y, s * x + c * y, z


@helper
def unturn_z(a: Any, c: Any, s: Any) -> Any:
    """Rz(θ)ᵀ a."""
    x, y, z = a
    return c * x + s * y, c * y - s * x, z


@helper
def turn_x(a: Any, c: Any, s: Any) -> Any:
    """Rx(α) a."""
    x, y, z = a
    return x, c * y - s * z, s * y + c * z


@helper
def unturn_x(a: Any, c: Any, s: Any) -> Any:
    """Rx(α)ᵀ a."""
    x, y, z = a
    return x, c * y + s * z, c * z - s * y


@helper
def quaternion_matrix(w: Any, x: Any, y: Any, z: Any) -> Any:
    """The rotation of a unit quaternion, row by row."""
    a, b, c = so3.matrix((w, x, y, z))
    return a + b + c


# --- inertias ---------------------------------------------------------------------------------------------------------


@helper
def turn_block(a: Any, b: Any, e: Any, d: Any, cs: Any, ss: Any) -> Any:
    """R [[a, b], [e, d]] Rᵀ for the plane turn R with cs = cos θ sin θ, ss = sin² θ."""
    t, sigma = d - a, b + e
    delta = ss * t - cs * sigma
    eta = cs * t + ss * sigma
    return a + delta, b - eta, e - eta, d - delta


@helper
def turn_symmetric(S: Any, c: Any, s: Any, cs: Any, ss: Any) -> Any:
    """Rz(θ) S Rz(θ)ᵀ of a symmetric matrix."""
    xx, xy, xz, yy, yz, zz = S
    xx, xy, _, yy = turn_block(xx, xy, xy, yy, cs, ss)
    return xx, xy, c * xz - s * yz, yy, s * xz + c * yz, zz


@helper
def turn_full(M: Any, c: Any, s: Any, cs: Any, ss: Any) -> Any:
    """Rz(θ) M Rz(θ)ᵀ of a full matrix."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = M
    xx, xy, yx, yy = turn_block(xx, xy, yx, yy, cs, ss)
    return xx, xy, c * xz - s * yz, yx, yy, s * xz + c * yz, c * zx - s * zy, s * zx + c * zy, zz


@helper
def forward_symmetric(S: Any) -> Any:
    """The same matrix with the coordinates named in the order (y, z, x)."""
    return S[3], S[4], S[1], S[5], S[2], S[0]


@helper
def backward_symmetric(S: Any) -> Any:
    """The same matrix with the coordinates named in the order (z, x, y)."""
    return S[5], S[2], S[4], S[0], S[1], S[3]


@helper
def forward_full(M: Any) -> Any:
    """The same matrix with the coordinates named in the order (y, z, x)."""
    return M[4], M[5], M[3], M[7], M[8], M[6], M[1], M[2], M[0]


@helper
def backward_full(M: Any) -> Any:
    """The same matrix with the coordinates named in the order (z, x, y)."""
    return M[8], M[6], M[7], M[2], M[0], M[1], M[5], M[3], M[4]


@helper
def turn_inertia_z(A: Any, H: Any, J: Any, c: Any, s: Any, cs: Any, ss: Any) -> Any:
    """The inertia in axes before the turn Rz(θ)."""
    return turn_symmetric(A, c, s, cs, ss), turn_full(H, c, s, cs, ss), turn_symmetric(J, c, s, cs, ss)


@helper
def congruence(R: Any, S: Any) -> Any:
    """R S Rᵀ of a symmetric matrix for a rotation given row by row."""
    xx, xy, xz, yy, yz, zz = S
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = R
    ax, ay, az = r00 * xx + r01 * xy + r02 * xz, r00 * xy + r01 * yy + r02 * yz, r00 * xz + r01 * yz + r02 * zz
    bx, by, bz = r10 * xx + r11 * xy + r12 * xz, r10 * xy + r11 * yy + r12 * yz, r10 * xz + r11 * yz + r12 * zz
    cx, cy, cz = r20 * xx + r21 * xy + r22 * xz, r20 * xy + r21 * yy + r22 * yz, r20 * xz + r21 * yz + r22 * zz
    return (
        ax * r00 + ay * r01 + az * r02,
        ax * r10 + ay * r11 + az * r12,
        ax * r20 + ay * r21 + az * r22,
        bx * r10 + by * r11 + bz * r12,
        bx * r20 + by * r21 + bz * r22,
        cx * r20 + cy * r21 + cz * r22,
    )


@helper
def shift_inertia(A: Any, H: Any, J: Any, x: Any, y: Any, z: Any) -> Any:
    """The inertia about the origin from which its present origin is seen at ρ = (x, y, z).

    H' = H − A ρ̃,   J' = J + ρ̃ H' + (ρ̃ H)ᵀ.
    """
    axx, axy, axz, ayy, ayz, azz = A
    hxx, hxy, hxz, hyx, hyy, hyz, hzx, hzy, hzz = H
    jxx, jxy, jxz, jyy, jyz, jzz = J
    gxx, gxy, gxz = hxx + (axz * y - axy * z), hxy + (axx * z - axz * x), hxz + (axy * x - axx * y)
    gyx, gyy, gyz = hyx + (ayz * y - ayy * z), hyy + (axy * z - ayz * x), hyz + (ayy * x - axy * y)
    gzx, gzy, gzz = hzx + (azz * y - ayz * z), hzy + (axz * z - azz * x), hzz + (ayz * x - axz * y)
    return (
        A,
        (gxx, gxy, gxz, gyx, gyy, gyz, gzx, gzy, gzz),
        (
            jxx + (y * (hzx + gzx) - z * (hyx + gyx)),
            jxy + ((y * gzy - z * gyy) + (z * hxx - x * hzx)),
            jxz + ((y * gzz - z * gyz) + (x * hyx - y * hxx)),
            jyy + (z * (hxy + gxy) - x * (hzy + gzy)),
            jyz + ((z * gxz - x * gzz) + (x * hyy - y * hxy)),
            jzz + (x * (hyz + gyz) - y * (hxz + gxz)),
        ),
    )


@helper
def slide_inertia(A: Any, H: Any, J: Any, z: Any) -> Any:
    """`shift_inertia` by ρ = (0, 0, z)."""
    axx, axy, axz, ayy, ayz, _ = A
    hxx, hxy, hxz, hyx, hyy, hyz, hzx, hzy, hzz = H
    jxx, jxy, jxz, jyy, jyz, jzz = J
    gxx, gxy, gyx, gyy, gzx, gzy = (
        hxx - axy * z,
        hxy + axx * z,
        hyx - ayy * z,
        hyy + axy * z,
        hzx - ayz * z,
        hzy + axz * z,
    )
    return (
        A,
        (gxx, gxy, hxz, gyx, gyy, hyz, gzx, gzy, hzz),
        (
            jxx - z * (hyx + gyx),
            jxy + z * (hxx - gyy),
            jxz - z * hyz,
            jyy + z * (hxy + gxy),
            jyz + z * hxz,
            jzz,
        ),
    )


@helper
def turn_null(a: Any, h: Any, j: Any, c: Any, s: Any) -> Any:
    """`turn_inertia_z` of an inertia that is zero along the turn about z: H as (xx, xy, yx, yy, zx, zy), J as (xx, xy,
    yy).
    """
    cs, ss = c * s, s * s
    hxx, hxy, hyx, hyy, hzx, hzy = h
    hxx, hxy, hyx, hyy = turn_block(hxx, hxy, hyx, hyy, cs, ss)
    jxx, jxy, _, jyy = turn_block(j[0], j[1], j[1], j[2], cs, ss)
    return (
        turn_symmetric(a, c, s, cs, ss),
        (hxx, hxy, hyx, hyy, c * hzx - s * hzy, s * hzx + c * hzy),
        (jxx, jxy, jyy),
    )


@helper
def shift_null(a: Any, h: Any, j: Any, x: Any, y: Any) -> Any:
    """`shift_inertia` by ρ = (x, y, 0) of an inertia that is zero along the turn about z (as in `turn_null`); the
    result is full.
    """
    axx, axy, axz, ayy, ayz, azz = a
    hxx, hxy, hyx, hyy, hzx, hzy = h
    jxx, jxy, jyy = j
    gxx, gxy, gxz = hxx + axz * y, hxy - axz * x, axy * x - axx * y
    gyx, gyy, gyz = hyx + ayz * y, hyy - ayz * x, ayy * x - axy * y
    gzx, gzy, gzz = hzx + azz * y, hzy - azz * x, ayz * x - axz * y
    return (
        a,
        (gxx, gxy, gxz, gyx, gyy, gyz, gzx, gzy, gzz),
        (
            jxx + y * (hzx + gzx),
            jxy + (y * gzy - x * hzx),
            y * gzz + (x * hyx - y * hxx),
            jyy - x * (hzy + gzy),
            (x * hyy - y * hxy) - x * gzz,
            x * gyz - y * gxz,
        ),
    )
