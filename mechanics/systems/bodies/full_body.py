"""The full body problem: rigid bodies under their mutual gravity, each a cluster of point masses, on SE(3)ⁿ.

    x' = R v,  R' = R ω^,   l = m v,  k = J ω,    l' = l × ω + f,   k' = k × ω + τ         (l, k, f, τ in body axes)
    V = −G Σ m_a m_b/|P_a − P_b|  over pairs of points of different bodies,  P = x + R r

Sources: Maciejewski 1995; Lee, Leok and McClamroch 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, Variable
from integrators.problem.energy import with_energy_guard
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from liegroup.table import RN, SE3, load_components, store_components, table_of
from mechanics.scenes import system_scene
from mechanics.systems.checks import positive

Array = NDArray[np.float64]
DUMBBELLS = (
    ((0.5, 0.3, 0.0, 0.02), (0.5, -0.3, 0.05, 0.0), (0.2, 0.0, -0.1, 0.1)),
    ((0.4, 0.2, 0.0, 0.0), (0.3, -0.1, 0.15, 0.0), (0.3, -0.1, -0.1, 0.1)),
)
"""Points (mass, x, y, z) of the two default bodies."""
NUMBERS = 8
"""Parameters per body before its points: mass, J⁻¹ (xx, yy, zz, xy, xz, yz), number of points before it."""


def full_body(
    bodies: Sequence[ArrayLike] = DUMBBELLS,
    positions: ArrayLike = ((-0.9, 0.0, 0.0), (1.1, 0.0, 0.1)),
    velocities: ArrayLike = ((0.0, -0.48, 0.05), (0.05, 0.57, -0.05)),
    angular_velocities: ArrayLike = ((0.3, 0.1, 0.5), (-0.2, 0.4, 0.6)),
    orientations: ArrayLike | None = None,
    gravitation: float = 1.0,
) -> Problem:
    """Rigid bodies attracting each other.

    Invariants are the energy, the total momentum Σ R l and the total angular momentum Σ x × R l + R k.

    Parameters
    ----------
    bodies : sequence of arrays (points, 4)
        Mass (kg) and place (m) of the points of every body, at least three that are not on one line; the origin is
        moved to their mass centre.
    positions : array (n, 3)
        Mass centres at the start, m.
    velocities : array (n, 3)
        In space axes, m/s.
    angular_velocities : array (n, 3)
        In body axes, rad/s.
    orientations : array (n, 4), optional
        Unit quaternions (w, x, y, z) (dimensionless); default all 1.
    gravitation : float
        G, m³/(kg s²).

    Returns
    -------
    Problem
        State (positions and attitudes, momenta in body axes); watches energy and momenta.

    Raises
    ------
    ValueError
        Bodies without extent; sizes that do not fit.

    Examples
    --------
    >>> full_body().invariant_names[:2]
    ('energy', 'momentum_x')
    """
    clusters = [_centred(b, i) for i, b in enumerate(bodies)]
    positive(gravitation=gravitation)
    n = len(clusters)
    x, v, w = (np.array(a, dtype=np.float64) for a in (positions, velocities, angular_velocities))
    q = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if orientations is None else np.array(orientations, dtype=np.float64)
    for name, a, k in (("positions", x, 3), ("velocities", v, 3), ("angular_velocities", w, 3), ("orientations", q, 4)):
        if a.shape != (n, k):
            raise ValueError(f"{name}: shape {a.shape}, expected ({n}, {k}), a row per body")
    numbers, points, p, first = [], [], [], 0
    for i, c in enumerate(clusters):
        mass, J = c[:, 0].sum(), _tensor(c)
        K = np.linalg.inv(J)
        numbers += [mass, K[0, 0], K[1, 1], K[2, 2], K[0, 1], K[0, 2], K[1, 2], first]
        points += c.ravel().tolist()
        first += len(c)
        p += [*mass * np.array(so3.act_inverse(tuple(q[i]), tuple(v[i]))), *J @ w[i]]
    return with_energy_guard(
        Problem(
            table_of([(SE3, n), (RN, 6 * n)]),
            np.concatenate([np.hstack([x, q]).ravel(), p]),
            field,
            parameters=[gravitation, *numbers, *points],
            structure=[n, *(len(c) for c in clusters)],
            variables=[
                *(
                    Variable(f"body{i}", ("x", "y", "z", "qw", "qx", "qy", "qz"), "m, m, m, 1, 1, 1, 1", "pose")
                    for i in range(n)
                ),
                Variable(
                    "momentum",
                    tuple(f"{c}{i}" for i in range(n) for c in ("lx", "ly", "lz", "kx", "ky", "kz")),
                    "",
                    "body axes",
                ),
            ],
            invariants=invariants,
            invariant_names=("energy", *(f"{k}_{a}" for k in ("momentum", "angular_momentum") for a in "xyz")),
            invariant_units=("J", *["kg m/s"] * 3, *["kg m^2/s"] * 3),
            canonical=True,
            model=f"full body problem of {n}",
            scene=system_scene("clusters", tuple(clusters)),
        ),
        momenta=tuple(f"{k}_{a}" for k in ("momentum", "angular_momentum") for a in "xyz"),
    )


def _tensor(points: Array) -> Array:
    """Σ m (r² E − r rᵀ)."""
    m, r = points[:, 0], points[:, 1:]
    return np.asarray(np.sum(m * (r * r).sum(1)) * np.eye(3) - (r.T * m) @ r)


def _centred(body: ArrayLike, i: int) -> Array:
    c = np.array(body, dtype=np.float64)
    if c.ndim != 2 or c.shape[1] != 4 or not np.isfinite(c).all() or not (c[:, 0] > 0).all():
        raise ValueError(f"bodies[{i}]: expected rows (mass, x, y, z) with positive masses, got {c.tolist()}")
    c[:, 1:] -= c[:, 0] @ c[:, 1:] / c[:, 0].sum()
    J = _tensor(c)
    if np.linalg.eigvalsh(J)[0] <= 1e-12 * np.trace(J) or not np.trace(J) > 0:
        raise ValueError(f"bodies[{i}]: its points are on one line; give at least three that are not")
    return c


three, store = load_components(3), store_components(3)


@helper
def attitude(y: Any, i: Any) -> Any:
    """The quaternion of body i."""
    return ld(y, 7 * i + 3), ld(y, 7 * i + 4), ld(y, 7 * i + 5), ld(y, 7 * i + 6)


@helper
def point(parameters: Any, structure: Any, i: Any, k: Any) -> Any:
    """Mass and place of point k of body i."""
    n = structure[0]
    at = 1 + NUMBERS * n + 4 * (int(parameters[1 + NUMBERS * i + 7]) + k)
    return parameters[at], (parameters[at + 1], parameters[at + 2], parameters[at + 3])


@helper
def turning(parameters: Any, i: Any, k: Any) -> Any:
    """ω = J⁻¹ k of body i."""
    a = 2 + NUMBERS * i
    xx, yy, zz, xy, xz, yz = (
        parameters[a],
        parameters[a + 1],
        parameters[a + 2],
        parameters[a + 3],
        parameters[a + 4],
        parameters[a + 5],
    )
    return xx * k[0] + (xy * k[1] + xz * k[2]), yy * k[1] + (xy * k[0] + yz * k[2]), zz * k[2] + (xz * k[0] + yz * k[1])


@kernel
def attraction(y: Any, parameters: Any, structure: Any, i: Any, j: Any) -> Any:
    """Force and moment of body j on body i, in the axes of i; the potential energy of the pair."""
    R, S, x = attitude(y, i), attitude(y, j), subtract(three(y, 7 * j), three(y, 7 * i))
    f, moment, energy = scale(0.0, x), scale(0.0, x), 0.0 * x[0]
    for a in range(structure[1 + i]):
        m, r = point(parameters, structure, i, a)
        for b in range(structure[1 + j]):
            mass, s = point(parameters, structure, j, b)
            d = subtract(so3.act_inverse(R, add(x, so3.act(S, s))), r)
            square = dot(d, d)
            u = parameters[0] * m * mass / sqrt(square)
            pull = scale(u / square, d)
            f, moment, energy = add(f, pull), add(moment, cross(r, pull)), energy - u
    return f, moment, energy


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, ω; l × ω + f, k × ω + τ) of every body."""
    n = structure[0]
    for i in range(n):
        l, k = three(y, 7 * n + 6 * i), three(y, 7 * n + 6 * i + 3)
        w = turning(parameters, i, k)
        f, moment = cross(l, w), cross(k, w)
        for j in range(n):
            if j != i:
                pull, turn, _ = attraction(y, parameters, structure, i, j)
                f, moment = add(f, pull), add(moment, turn)
        store(out, 6 * i, scale(1.0 / parameters[1 + NUMBERS * i], l))
        store(out, 6 * i + 3, w)
        store(out, 6 * n + 6 * i, f)
        store(out, 6 * n + 6 * i + 3, moment)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Energy, Σ R l, Σ x × R l + R k."""
    n = structure[0]
    energy = 0.0 * ld(y, 0)
    linear, angular = (energy, energy, energy), (energy, energy, energy)
    for i in range(n):
        l, k, R = three(y, 7 * n + 6 * i), three(y, 7 * n + 6 * i + 3), attitude(y, i)
        energy = energy + 0.5 * (dot(l, l) / parameters[1 + NUMBERS * i] + dot(k, turning(parameters, i, k)))
        in_space = so3.act(R, l)
        linear, angular = add(linear, in_space), add(angular, add(cross(three(y, 7 * i), in_space), so3.act(R, k)))
        for j in range(i):
            _, _, u = attraction(y, parameters, structure, i, j)
            energy = energy + u
    st(out, 0, energy)
    store(out, 1, linear)
    store(out, 4, angular)
