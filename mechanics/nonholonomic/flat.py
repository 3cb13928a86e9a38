"""Rates of the flat coordinates of a product of groups, on numbers of any kind (complex, many digits)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.compile.scalars import sincos
from liegroup.table import SE2, SE3, SO3

Array = NDArray[Any]


def _quaternion_rate(q: Any, w: Any) -> Array:
    a, x, y, z = q
    b, c, d = w
    return 0.5 * np.array([-x * b - y * c - z * d, a * b + y * d - z * c, a * c + z * b - x * d, a * d + x * c - y * b])


def _rotate(q: Any, v: Any) -> Array:
    a, u, v = q[0], np.asarray(q[1:]), np.asarray(v)
    return np.asarray((a * a - u @ u) * v + 2 * (u @ v) * u + 2 * a * np.cross(u, v))


def coordinate_rate(group: NDArray[np.int64], q: Any, v: Any) -> Array:
    """q̇ of the flat coordinates for the body velocity v."""
    parts = []
    for kind, iq, iv, nq, nv in group:
        x, w = q[iq : iq + nq], v[iv : iv + nv]
        if kind == SO3:
            parts.append(_quaternion_rate(x, w))
        elif kind == SE2:
            s, c = sincos(x[2])
            parts.append(np.array([c * w[0] - s * w[1], s * w[0] + c * w[1], w[2]]))
        elif kind == SE3:
            parts.append(np.concatenate([_rotate(x[3:], w[:3]), _quaternion_rate(x[3:], w[3:])]))
        else:
            parts.append(np.asarray(w))
    return np.concatenate(parts)


def bracket(group: NDArray[np.int64], x: Any, y: Any) -> Array:
    """[x, y] of the algebra of the product."""
    parts = []
    for kind, _, i, _, n in group:
        a, b = x[i : i + n], y[i : i + n]
        if kind == SO3:
            parts.append(np.cross(a, b))
        elif kind == SE2:
            parts.append(np.array([b[2] * a[1] - a[2] * b[1], a[2] * b[0] - b[2] * a[0], 0 * a[0]]))
        elif kind == SE3:
            parts.append(np.concatenate([np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:]), np.cross(a[3:], b[3:])]))
        else:
            parts.append(0 * np.asarray(a))
    return np.concatenate(parts)


def bracket_transpose(group: NDArray[np.int64], v: Any, p: Any) -> Array:
    """ad_vᵀ p: ⟨ad_vᵀ p, w⟩ = ⟨p, [v, w]⟩."""
    return np.array([p @ bracket(group, v, e) for e in np.eye(len(v))])
