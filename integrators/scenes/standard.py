"""Scenes of problems that say nothing of bodies: points of a function of the state, and the factors of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.scenes.scene import Body, Scene, Tie, Trail
from integrators.scenes.shapes import box, ellipsoid
from liegroup.arrays import check_function, sequence
from liegroup.table import KIND, N_Q, Q_OFFSET, SE2, SE3, SO3

Array = NDArray[np.float64]
POINT = 0.022
"""Radius of a point, relative to the extent of its motion."""
SOLID = (0.5, 0.32, 0.18)
"""Edges of the box that stands for a body of which only the group is known."""


@dataclass(frozen=True)
class Points:
    """Makes the scene of `points`."""

    function: Callable[[Array], Any]
    names: tuple[str, ...] = ()
    joined: bool = False
    anchored: bool = False
    radius: float | None = None

    def __call__(self, t: Array, y: Array) -> Scene:
        found = self.places(t, y)[0]
        count, flat = found.shape[1], not found[..., 2].any()
        if self.names and len(self.names) != count:
            raise ValueError(f"names: {len(self.names)} names, expected one for each of the {count} points")
        names = self.names or tuple(f"point {k + 1}" for k in range(count))
        every = found.reshape(-1, 3)
        every = every[np.isfinite(every).all(axis=1)]
        extent = float(np.linalg.norm(np.ptp(np.concatenate([every, np.zeros((1, 3))]), axis=0))) or 1.0
        radius = POINT * extent if self.radius is None else self.radius
        chain: list[str | None] = [None, *names] if self.anchored else list(names)
        ties = [Tie(a, b) for a, b in pairwise(chain)] if self.joined or self.anchored else []
        return Scene(
            [Body(name, [ellipsoid([radius] * 3)]) for name in names],
            self.places,
            ties=ties,
            trails=[Trail(name, name=name) for name in names],
            up=(0.0, 1.0, 0.0) if flat else (0.0, 0.0, 1.0),
            view=(0.0, 0.0, 1.0) if flat else None,
            notes=("The size of the points is not part of the problem.",),
        )

    def places(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Points of the plane lie in z = 0."""
        rows = [np.asarray(self.function(row), dtype=np.float64) for row in y]
        first = rows[0].shape if rows else ()
        if len(first) != 2 or first[1] not in (2, 3) or any(row.shape != first for row in rows):
            raise ValueError(f"points: the function returned an array of shape {first}, expected (points, 2 or 3)")
        found = np.stack(rows)
        full = np.zeros((*found.shape[:2], 3))
        full[..., : found.shape[2]] = found
        return full, np.broadcast_to(np.eye(3), (*full.shape[:2], 3, 3))


def points(
    function: Callable[[Array], Any],
    names: Sequence[str] = (),
    *,
    joined: bool = False,
    anchored: bool = False,
    radius: float | None = None,
) -> Points:
    """The scene of points that are functions of the state: particles, the bobs of a pendulum, planets.

    Parameters
    ----------
    function : callable
        ``function(y)`` → places (points, 3), or (points, 2) in the plane x-y with y upwards, m; of one state (n,).
    names : sequence of str, optional
        One for each point.
    joined, anchored : bool
        Lines between each point and the next one; with `anchored` also from the origin to the first.
    radius : float, optional
        Of the balls, m; default 2 % of the extent of the motion.

    Returns
    -------
    Points
        For ``Problem(…, scene=points(f))`` or ``solution.animate(path, scene=points(f))``.

    Examples
    --------
    >>> import numpy as np
    >>> pendulum = points(lambda y: [[np.sin(y[0]), -np.cos(y[0])]], ["bob"], anchored=True)
    """
    check_function(function, "function")
    return Points(function, sequence(names, "names", "texts"), joined, anchored, radius)


@dataclass(frozen=True)
class Factors:
    """Makes the scene of the factors SE(3), SO(3) and SE(2) of a group, each a box with the axes of its body.

    Factors SO(3) stand beside one another, each about a point of its own.
    """

    table: Any

    def __call__(self, t: Array, y: Array) -> Scene:
        rows = [row for row in np.asarray(self.table).tolist() if row[KIND] in (SE3, SO3, SE2)]
        names = [f"{ {SE3: 'SE(3)', SO3: 'SO(3)', SE2: 'SE(2)'}[row[KIND]] } {k + 1}" for k, row in enumerate(rows)]
        size = np.array(SOLID)
        if any(row[KIND] != SO3 for row in rows):
            moving = [(row[Q_OFFSET], 3 if row[KIND] == SE3 else 2) for row in rows if row[KIND] != SO3]
            places = np.concatenate([y[:, start : start + count] for start, count in moving], axis=1)
            size = size * (0.2 * float(np.ptp(places, axis=0).max()) or 1.0)
        flat = all(row[KIND] == SE2 for row in rows)
        return Scene(
            [Body(name, [box(size)]) for name in names],
            FactorPoses(tuple(map(tuple, rows))),
            trails=[Trail(name, name=name) for name, row in zip(names, rows, strict=True) if row[KIND] != SO3],
            floor=-0.5 * float(size[2]) if flat else None,
            notes=("Only the group of the problem is known: every factor is drawn as a box with its axes.",),
        )


@dataclass(frozen=True)
class FactorPoses:
    """Origins and rotations of the factors SE(3), SO(3) and SE(2) of a state."""

    rows: tuple[tuple[int, ...], ...]

    def __call__(self, t: Array, y: Array) -> tuple[Array, Array]:
        from liegroup.rotations import matrix_from_quaternion_wxyz

        x, R, fixed = np.zeros((len(y), len(self.rows), 3)), np.zeros((len(y), len(self.rows), 3, 3)), 0
        for k, row in enumerate(self.rows):
            q = y[:, row[Q_OFFSET] : row[Q_OFFSET] + row[N_Q]]
            if row[KIND] == SE2:
                x[:, k, :2], R[:, k] = q[:, :2], turn_about_z(q[:, 2])
            elif row[KIND] == SE3:
                x[:, k], R[:, k] = q[:, :3], matrix_from_quaternion_wxyz(unit(q[:, 3:7]))
            else:
                x[:, k, 0], R[:, k] = 1.2 * fixed, matrix_from_quaternion_wxyz(unit(q[:, :4]))
                fixed += 1
        return x, R


def of_group(table: Any) -> Factors:
    """The scene of a group with a factor SE(3), SO(3) or SE(2), by its table (factors, 5)."""
    return Factors(np.asarray(table))


def turn_about_z(angle: ArrayLike) -> Array:
    """Rotations (…, 3, 3) about z."""
    a = np.asarray(angle, dtype=np.float64)
    c, s, zero = np.cos(a), np.sin(a), np.zeros_like(a)
    rows = ((c, -s, zero), (s, c, zero), (zero, zero, zero + 1.0))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def unit(quaternions: Array) -> Array:
    """Quaternions (…, 4) divided by their norms: methods that leave the group are drawn, too."""
    return np.asarray(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True))


__all__ = ["Factors", "Points", "of_group", "points", "turn_about_z", "unit"]
