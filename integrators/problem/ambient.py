"""Rates of the numbers that a state consists of (ambient rates), and the body velocities behind them.

q̇ = d/ds q τ(s v)|₀:   Rⁿ, SO(2): q̇ = v;   SE(2), SE(3): the position moves with R v;
unit quaternions: q̇ = ½ q (0, ω).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.formulas import so3
from liegroup.table import FACTORS, SE2, SE3, SO3

Array = NDArray[np.float64]


def ambient_velocity(table: NDArray[np.int64], y: Array, v: Array) -> Array:
    """ẏ (n,) in the numbers of the state y (n,) from the body velocity v (dimension,)."""
    out = np.empty_like(y)
    for kind, q, w in _elements(table):
        out[q] = _rate(kind, y[q], v[w])
    return out


def body_velocity(table: NDArray[np.int64], y: Array, rate: Array) -> tuple[Array, Array]:
    """The body velocity v (dimension,) of the rate ẏ (n,), and what of ẏ is not tangent to the group.

    The second array has one number per element of the group: the part of the rate of its quaternion along the
    quaternion, |q·q̇|, zero for a rate that keeps the norm.
    """
    elements = list(_elements(table))
    v, astray = np.empty(sum(w.stop - w.start for _, _, w in elements)), np.zeros(len(elements))
    for k, (kind, q, w) in enumerate(elements):
        v[w], astray[k] = element_velocity(kind, y[q].tolist(), rate[q].tolist())
    return v, astray


def _elements(table: NDArray[np.int64]) -> Iterator[tuple[int, slice, slice]]:
    """(kind, where in the state, where in the velocity) of every element; a whole Rⁿ is one."""
    for kind, q, v, n_q, n_v in table.tolist():
        step_q, step_v = (FACTORS[kind].N_Q, FACTORS[kind].N_V) if kind in (SO3, SE2, SE3) else (n_q, n_v)
        for k in range(n_q // max(step_q, 1)):
            yield kind, slice(q + k * step_q, q + (k + 1) * step_q), slice(v + k * step_v, v + (k + 1) * step_v)


def _rate(kind: int, q: Array, v: Array) -> Any:
    if kind == SO3:
        return _quaternion_rate(q, v)
    if kind == SE3:
        return *so3.act(q[3:], v[:3]), *_quaternion_rate(q[3:], v[3:])
    if kind == SE2:
        c, s = math.cos(q[2]), math.sin(q[2])
        return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]
    return v


def element_velocity(kind: int, q: list[float], rate: list[float]) -> tuple[Any, float]:
    """`body_velocity` of one element: the velocity, and what of the rate is astray."""
    if kind == SO3:
        return _angular_velocity(q, rate)
    if kind == SE3:
        angular, astray = _angular_velocity(q[3:], rate[3:])
        return (*so3.act_inverse(q[3:], rate[:3]), *angular), astray
    if kind == SE2:
        c, s = math.cos(q[2]), math.sin(q[2])
        return (c * rate[0] + s * rate[1], -s * rate[0] + c * rate[1], rate[2]), 0.0
    return rate, 0.0


def _quaternion_rate(q: Any, w: Any) -> Any:
    """½ q (0, ω)."""
    return so3.multiply(q, (0.0, *(0.5 * w)))


def _angular_velocity(q: Any, rate: Any) -> tuple[Any, float]:
    """(0, ω) = 2 q⁻¹ q̇ and |q·q̇|."""
    s, x, y, z = so3.multiply(so3.inverse(q), rate)
    return (2.0 * x, 2.0 * y, 2.0 * z), abs(s)
