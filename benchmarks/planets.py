"""The outer solar system, the usual example of long runs of separable problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators import Problem
from integrators.signatures import FIELD_SIGNATURES
from liegroup import rn
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sqrt

GRAVITATION = 2.95912208286e-4
MASSES = (1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1 / 1.3e8)
PLACES = (
    (0, 0, 0), (-3.5023653, -3.8169847, -1.5507963), (9.0755314, -3.0458353, -1.6483708),
    (8.3101420, -16.2901086, -7.2521278), (11.4707666, -25.7294829, -10.8169456),
    (-15.5387357, -25.2225594, -3.1902382),
)  # fmt: skip
VELOCITIES = (
    (0, 0, 0), (0.00565429, -0.00412490, -0.00190589), (0.00168318, 0.00483525, 0.00192462),
    (0.00354178, 0.00137102, 0.00055029), (0.00288930, 0.00114527, 0.00039677),
    (0.00276725, -0.00170702, -0.00136504),
)  # fmt: skip
"""Hairer, Lubich and Wanner 2006, table I.2.2: the outer solar system, astronomical units and days."""


@entry(*FIELD_SIGNATURES)
def planets_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(pᵢ/mᵢ, −G Σ mᵢmⱼ (qᵢ − qⱼ)/|qᵢ − qⱼ|³); parameters G, m."""
    n = structure[0]
    for i in range(3 * n):
        st(out, i, ld(y, 3 * n + i) / parameters[1 + i // 3])
        st(out, 3 * n + i, ld(y, 0) * 0.0)
    for i in range(n):
        for j in range(i):
            x, y_, z = (
                ld(y, 3 * i) - ld(y, 3 * j),
                ld(y, 3 * i + 1) - ld(y, 3 * j + 1),
                ld(y, 3 * i + 2) - ld(y, 3 * j + 2),
            )
            square = x * x + (y_ * y_ + z * z)
            k = parameters[0] * parameters[1 + i] * parameters[1 + j] / (square * sqrt(square))
            a, b = 3 * (n + i), 3 * (n + j)
            st(out, a, ld(out, a) - k * x)
            st(out, a + 1, ld(out, a + 1) - k * y_)
            st(out, a + 2, ld(out, a + 2) - k * z)
            st(out, b, ld(out, b) + k * x)
            st(out, b + 1, ld(out, b + 1) + k * y_)
            st(out, b + 2, ld(out, b + 2) + k * z)


@entry(*FIELD_SIGNATURES)
def planets_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """½ Σ |pᵢ|²/mᵢ − G Σ mᵢmⱼ/|qᵢ − qⱼ|."""
    n = structure[0]
    energy = ld(y, 0) * 0.0
    for i in range(3 * n):
        energy = energy + 0.5 * ld(y, 3 * n + i) * ld(y, 3 * n + i) / parameters[1 + i // 3]
    for i in range(n):
        for j in range(i):
            x, y_, z = (
                ld(y, 3 * i) - ld(y, 3 * j),
                ld(y, 3 * i + 1) - ld(y, 3 * j + 1),
                ld(y, 3 * i + 2) - ld(y, 3 * j + 2),
            )
            energy = energy - parameters[0] * parameters[1 + i] * parameters[1 + j] / sqrt(x * x + (y_ * y_ + z * z))
    st(out, 0, energy)


def planets() -> Problem:
    """The outer solar system about its mass centre."""
    m, v = np.array(MASSES), np.array(VELOCITIES)
    v = v - m @ v / m.sum()
    start = np.concatenate([np.ravel(PLACES).astype(float), (m[:, None] * v).ravel()])
    return Problem(
        rn(36), start, planets_field, parameters=[GRAVITATION, *m], structure=[len(m)], invariants=planets_energy,
        invariant_names=("energy",), canonical=True, model="outer solar system",
    )  # fmt: skip
