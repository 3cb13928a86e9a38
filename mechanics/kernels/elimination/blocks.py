"""Elimination of one degree of freedom of a joint from the inertia and momentum of its subtree, for the kernels.

For a unit twist a (a coordinate direction), with w = M a, d = aᵀ w, ξ = p − aᵀ y:

    M ← M − w wᵀ/d,      y ← y + w ξ/d.

The row and the column of M along a become zero; in the packed inertia their places keep w and 1/d, and that of y keeps
ξ (the new value there is p).  Joints of several degrees of freedom are eliminated from the last to the first, which is
the LᵀDL scheme of Ivanov and Shimanovsky, eq. (18); every function below skips the places emptied before it.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper


@helper
def eliminate_az(A: Any, H: Any, J: Any, l: Any, k: Any, p: Any) -> Any:
    """Turn about z."""
    axx, axy, axz, ayy, ayz, azz = A
    hxx, hxy, wx, hyx, hyy, wy, hzx, hzy, wz = H
    jxx, jxy, ux, jyy, uy, jzz = J
    i, xi = 1.0 / jzz, p - k[2]
    u = xi * i
    gx, gy, gz, fx, fy = wx * i, wy * i, wz * i, ux * i, uy * i
    return (
        (axx - wx * gx, axy - wx * gy, axz - wx * gz, ayy - wy * gy, ayz - wy * gz, azz - wz * gz),
        (hxx - wx * fx, hxy - wx * fy, wx, hyx - wy * fx, hyy - wy * fy, wy, hzx - wz * fx, hzy - wz * fy, wz),
        (jxx - ux * fx, jxy - ux * fy, ux, jyy - uy * fy, uy, i),
        (l[0] + wx * u, l[1] + wy * u, l[2] + wz * u),
        (k[0] + ux * u, k[1] + uy * u, xi),
    )


@helper
def eliminate_ay(A: Any, H: Any, J: Any, l: Any, k: Any, p: Any) -> Any:
    """Turn about y, after z."""
    axx, axy, axz, ayy, ayz, azz = A
    hxx, wx, hxz, hyx, wy, hyz, hzx, wz, hzz = H
    jxx, ux, jxz, jyy, jyz, jzz = J
    i, xi = 1.0 / jyy, p - k[1]
    u = xi * i
    gx, gy, gz, fx = wx * i, wy * i, wz * i, ux * i
    return (
        (axx - wx * gx, axy - wx * gy, axz - wx * gz, ayy - wy * gy, ayz - wy * gz, azz - wz * gz),
        (hxx - wx * fx, wx, hxz, hyx - wy * fx, wy, hyz, hzx - wz * fx, wz, hzz),
        (jxx - ux * fx, ux, jxz, i, jyz, jzz),
        (l[0] + wx * u, l[1] + wy * u, l[2] + wz * u),
        (k[0] + ux * u, xi, k[2]),
    )


@helper
def eliminate_ax(A: Any, H: Any, J: Any, l: Any, k: Any, p: Any) -> Any:
    """Turn about x, after z and y."""
    axx, axy, axz, ayy, ayz, azz = A
    wx, wy, wz = H[0], H[3], H[6]
    i, xi = 1.0 / J[0], p - k[0]
    u = xi * i
    gx, gy, gz = wx * i, wy * i, wz * i
    return (
        (axx - wx * gx, axy - wx * gy, axz - wx * gz, ayy - wy * gy, ayz - wy * gz, azz - wz * gz),
        H,
        (i, J[1], J[2], J[3], J[4], J[5]),
        (l[0] + wx * u, l[1] + wy * u, l[2] + wz * u),
        (xi, k[1], k[2]),
    )


@helper
def eliminate_linear(A: Any, l: Any, p: Any) -> Any:
    """Translations along z, y, x, after all turns; `p` the three momenta."""
    axx, axy, wx, ayy, wy, azz = A
    iz, xiz = 1.0 / azz, p[2] - l[2]
    u, gx, gy = xiz * iz, wx * iz, wy * iz
    axx, axy, ayy = axx - wx * gx, axy - wx * gy, ayy - wy * gy
    lx, ly = l[0] + wx * u, l[1] + wy * u
    iy, xiy = 1.0 / ayy, p[1] - ly
    lx = lx + axy * (xiy * iy)
    axx = axx - axy * (axy * iy)
    return (1.0 / axx, axy, wx, iy, wy, iz), (p[0] - lx, xiy, xiz)


@helper
def eliminate_lz(A: Any, H: Any, J: Any, l: Any, k: Any, p: Any) -> Any:
    """Translation along z, nothing eliminated before."""
    axx, axy, wx, ayy, wy, azz = A
    hxx, hxy, hxz, hyx, hyy, hyz, ux, uy, uz = H
    jxx, jxy, jxz, jyy, jyz, jzz = J
    i, xi = 1.0 / azz, p - l[2]
    u = xi * i
    gx, gy, fx, fy, fz = wx * i, wy * i, ux * i, uy * i, uz * i
    return (
        (axx - wx * gx, axy - wx * gy, wx, ayy - wy * gy, wy, i),
        (hxx - wx * fx, hxy - wx * fy, hxz - wx * fz, hyx - wy * fx, hyy - wy * fy, hyz - wy * fz, ux, uy, uz),
        (jxx - ux * fx, jxy - ux * fy, jxz - ux * fz, jyy - uy * fy, jyz - uy * fz, jzz - uz * fz),
        (l[0] + wx * u, l[1] + wy * u, xi),
        (k[0] + ux * u, k[1] + uy * u, k[2] + uz * u),
    )


@helper
def eliminate_ly(A: Any, H: Any, J: Any, l: Any, k: Any, p: Any) -> Any:
    """Translation along y, after the turn about z."""
    axx, wx, axz, ayy, wz, azz = A
    hxx, hxy, hxz, ux, uy, hyz, hzx, hzy, hzz = H
    jxx, jxy, jxz, jyy, jyz, jzz = J
    i, xi = 1.0 / ayy, p - l[1]
    u = xi * i
    gx, gz, fx, fy = wx * i, wz * i, ux * i, uy * i
    return (
        (axx - wx * gx, wx, axz - wx * gz, i, wz, azz - wz * gz),
        (hxx - wx * fx, hxy - wx * fy, hxz, ux, uy, hyz, hzx - wz * fx, hzy - wz * fy, hzz),
        (jxx - ux * fx, jxy - ux * fy, jxz, jyy - uy * fy, jyz, jzz),
        (l[0] + wx * u, xi, l[2] + wz * u),
        (k[0] + ux * u, k[1] + uy * u, k[2]),
    )


@helper
def eliminate_lx(A: Any, H: Any, J: Any, l: Any, k: Any, p: Any) -> Any:
    """Translation along x, after the turn about z and the translation along y."""
    axx, axy, wz, ayy, ayz, azz = A
    ux, uy, hxz, hyx, hyy, hyz, hzx, hzy, hzz = H
    jxx, jxy, jxz, jyy, jyz, jzz = J
    i, xi = 1.0 / axx, p - l[0]
    u = xi * i
    gz, fx, fy = wz * i, ux * i, uy * i
    return (
        (i, axy, wz, ayy, ayz, azz - wz * gz),
        (ux, uy, hxz, hyx, hyy, hyz, hzx - wz * fx, hzy - wz * fy, hzz),
        (jxx - ux * fx, jxy - ux * fy, jxz, jyy - uy * fy, jyz, jzz),
        (xi, l[1], l[2] + wz * u),
        (k[0] + ux * u, k[1] + uy * u, k[2]),
    )
