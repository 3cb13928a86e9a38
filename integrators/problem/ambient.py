"""Rates of the numbers that a state consists of (ambient rates), and the body velocities behind them.

q̇ = d/ds q τ(s v)|₀, by the formula `coordinate_rate` of each group, and back by `body_velocity`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.table import FACTORS

Array = NDArray[np.float64]


def ambient_velocity(table: NDArray[np.int64], y: Array, v: Array) -> Array:
    """ẏ (n,) in the numbers of the state y (n,) from the body velocity v (dimension,), of any scalar type."""
    out = np.empty(y.shape, np.result_type(y, v))
    for kind, q, w, n_q, n_v in table.tolist():
        f = FACTORS[kind]
        if f.COMMUTATIVE:
            out[q : q + n_q] = v[w : w + n_v]
            continue
        for k in range(n_v // f.N_V):
            i, j = q + k * f.N_Q, w + k * f.N_V
            out[i : i + f.N_Q] = f.coordinate_rate(tuple(y[i : i + f.N_Q]), tuple(v[j : j + f.N_V]))
    return out


def element_velocity(kind: int, q: list[float], rate: list[float]) -> tuple[Any, float]:
    """The body velocity of the rate of an element (of a whole Rⁿ), and the size of its part normal to the group."""
    f = FACTORS[kind]
    if f.COMMUTATIVE:
        return rate, 0.0
    v = f.body_velocity(tuple(q), tuple(rate))
    tangent = f.coordinate_rate(tuple(q), v)
    return v, math.dist(rate, tangent)


def unit_sizes(table: NDArray[np.int64], scales: Array) -> Array:
    """What counts as one behind each component of the velocity (dimension,), of what does in each of the state: 1 for
    rotations.
    """
    found = np.ones(0)
    for kind, q, _, n_q, _ in table.tolist():
        x = scales[q : q + n_q].reshape(-1, FACTORS[kind].N_Q)
        parts = [x[:, s[0] : sum(s)].max(axis=1) if s else np.ones(len(x)) for s in FACTORS[kind].SIZES]
        found = np.concatenate([found, np.stack(parts, axis=1).ravel()])
    return found


def state_units(table: NDArray[np.int64], units: Array) -> Array:
    """What counts as one in each component of the state (n,), of what does in each of the velocity (dimension,), the
    other way of `unit_sizes`: 1 in those of a rotation.
    """
    found = [np.ones(0)]
    for kind, _, v, n_q, n_v in table.tolist():
        f = FACTORS[kind]
        q, of_v = np.ones((n_q // f.N_Q, f.N_Q)), units[v : v + n_v].reshape(-1, f.N_V)
        for j, place in enumerate(f.SIZES):
            if place is not None:
                q[:, place[0] : sum(place)] = of_v[:, j : j + 1]
        found.append(q.ravel())
    return np.concatenate(found)


def state_sizes(table: NDArray[np.int64], y: Array) -> Array:
    """Size of the state behind each component of the velocity: 1 for rotations, lengths of positions, magnitudes on
    Rⁿ.
    """
    found: list[Array] = [np.zeros(0)]
    for kind, q, _, n_q, _ in table.tolist():
        x = y[q : q + n_q].reshape(-1, FACTORS[kind].N_Q)
        lengths = [x[:, s[0] : sum(s)] if s else np.ones((len(x), 1)) for s in FACTORS[kind].SIZES]
        found.append(np.stack([np.linalg.norm(part, axis=1) for part in lengths], axis=1).ravel())
    return np.concatenate(found)
