r"""Do constraints restrict the configuration, or only the velocity?  Frobenius' theorem, by the growth vector.

With the columns S₁ … S_r of a basis of the admissible velocities, the growth vector at q lists the ranks of

    {Sᵢ},   {Sᵢ, [Sᵢ, Sⱼ]},   {Sᵢ, [Sᵢ, Sⱼ], [Sᵢ, [Sⱼ, S_k]]},   …       [X, Y] = DY·X − DX·Y + [X, Y]_algebra

It ends at n (completely nonholonomic: every configuration can be reached), stays at r (integrable: all rows restrict
the configuration), or ends in between: n − rank combinations of the rows are integrable. Derivatives are central
differences with many digits, so that every rank is certain. Source: Chow 1939; Montgomery 2002, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.nonholonomic.flat import bracket, coordinate_rate
from mechanics.nonholonomic.system import NonholonomicSystem

Array = NDArray[Any]
Field = Callable[[Array], Array]
DIGITS = 80
STEP = "1e-16"
RANK_TOLERANCE = 1e-9


def growth_vector(
    system: NonholonomicSystem, q: ArrayLike | None = None, depth: int = 5, patience: int = 1
) -> tuple[int, ...]:
    """Growth vector of the admissible velocities at q (default: the start), at most `depth` long.

    It stops after `patience` entries that repeat the one before.  At singular configurations the ranks may pause before
    they grow again (a tractor with two trailers and a hitch at 90° has (2, 3, 4, 4, 5)): give more patience there.

    Raises ImportError without mpmath (the numbers with many digits).
    """
    import mpmath
    from scipy.linalg import qr

    with mpmath.workdps(DIGITS):
        point = np.array([mpmath.mpf(float(x)) for x in np.asarray(system.q0 if q is None else q)], dtype=object)
        columns = _columns(system)
        if system.r == system.n:  # v is the nearest admissible velocity: some of the columns span them
            basis = np.array([column(point) for column in columns], dtype=np.float64).T
            heavy = np.sqrt(system.parts(point.astype(np.float64), np.zeros(system.n)).mass.diagonal())
            order = qr(heavy[:, None] * basis / heavy, pivoting=True)[2]
            columns = [columns[j] for j in order[: system.n - system.m]]
        return growth(system.group, columns, point, depth, patience)


def integrable_combinations(system: NonholonomicSystem, q: ArrayLike | None = None) -> int:
    """How many independent combinations of the rows restrict the configuration: n − the last entry of the growth
    vector.
    """
    return system.n - growth_vector(system, q)[-1]


def growth(group: NDArray[np.int64], fields: list[Field], q: Array, depth: int, patience: int = 1) -> tuple[int, ...]:
    """The growth vector of given fields, functions of q that return body velocities with many digits."""
    n = int(group[:, 4].sum())
    known, level, ranks = list(fields), list(fields), [_rank([f(q) for f in fields])]
    while len(ranks) < depth and ranks[-1] < n:
        level = [
            _bracket_of(group, s, y)
            for k, s in enumerate(fields)
            for i, y in enumerate(level)
            if len(ranks) > 1 or i > k
        ]
        known += level
        ranks.append(_rank([f(q) for f in known]))
        if len(ranks) > patience and ranks[-1] == ranks[-1 - patience]:
            break
    return tuple(ranks)


def _columns(system: NonholonomicSystem) -> list[Field]:
    """The columns of S; what they are at a place is found once."""
    posed = system.problem()
    field, size = posed.field.python, posed.work_shape
    known: dict[tuple[Any, ...], Array] = {}

    def velocity(q: Array, u: Array) -> Array:
        if system.lift is not None:
            return system.lift(q, u)
        zero = 0 * q[0]
        out, work = np.full(system.n + system.r, zero, dtype=object), np.full(size, zero, dtype=object)
        y = np.concatenate([q, np.array([zero + x for x in u], dtype=object)])
        field(zero, y, system.parameters, system.structure, work, out)
        return out[: system.n]

    def at(q: Array) -> Array:
        place = tuple(q)
        if place not in known:
            still = velocity(q, np.zeros(system.r))
            known[place] = np.array([velocity(q, e) - still for e in np.eye(system.r)], dtype=object)
        return known[place]

    def column(j: int) -> Field:
        return lambda q: at(q)[j]

    return [column(j) for j in range(system.r)]


def _bracket_of(group: NDArray[np.int64], x: Field, y: Field) -> Field:
    import mpmath

    def field(q: Array) -> Array:
        h = mpmath.mpf(STEP)
        a, b = x(q), y(q)
        along_a, along_b = h * coordinate_rate(group, q, a), h * coordinate_rate(group, q, b)
        derivative = (y(q + along_a) - y(q - along_a)) - (x(q + along_b) - x(q - along_b))
        return np.asarray(derivative / (2 * h) + bracket(group, a, b))

    return field


def _rank(vectors: list[Array]) -> int:
    matrix = np.array([[float(x) for x in v] for v in vectors])
    scale = np.linalg.norm(matrix, axis=1)
    matrix = matrix[scale > RANK_TOLERANCE] / scale[scale > RANK_TOLERANCE, None]
    return int(np.linalg.matrix_rank(matrix, tol=RANK_TOLERANCE)) if len(matrix) else 0
