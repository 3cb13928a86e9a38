"""Where the eye stands and where the floor lies: of the box around a motion, the same for every picture of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from integrators.scenes.film import Film
from integrators.scenes.shapes import bounds, corners_of

Array = NDArray[np.float64]
THIN = 0.2
"""A motion that is thinner than this part of its largest extent is one of a plane."""
FAR = 9.0
"""So many sizes of the bodies a motion may be wide before the eye goes along."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The eye looks from `direction` at the middle of the box low … high; the floor is the plane of points x with
    normal·x = height, ruled in squares of `cell`.  Lengths in m.
    """

    low: Array
    high: Array
    direction: Array
    up: Array
    normal: Array
    height: float
    cell: float
    body: float
    travels: bool

    @property
    def middle(self) -> Array:
        return np.asarray(0.5 * (self.low + self.high))

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.high - self.low))


def stage(films: Sequence[Film]) -> Stage:
    """One stage for films that are shown side by side."""
    scene = films[0].scene
    low, high = np.min([f.low for f in films], axis=0), np.max([f.high for f in films], axis=0)
    body = max(float(np.linalg.norm(np.ptp(bounds(b.shapes), axis=0))) for f in films for b in f.scene.bodies)
    travels = _travel(films) > FAR * body > 0.0 and any(trail.contact for f in films for trail in f.scene.trails)
    if travels:  # the eye goes along: it is placed for the bodies and some way around them
        first = films[0].positions[0]
        around = 0.6 * (body + float(np.linalg.norm(np.ptp(first, axis=0))))
        level = np.abs(np.asarray(scene.up)) < 0.5
        low = np.where(level, first.mean(axis=0) - around, np.maximum(low, first.mean(axis=0) - around))
        high = np.where(level, first.mean(axis=0) + around, np.minimum(high, first.mean(axis=0) + around))
    least = 1e-3 * (float((high - low).max()) or 1.0)
    low, high = low - least, high + least
    up = np.asarray(scene.up, dtype=np.float64) / np.linalg.norm(scene.up)
    direction, normal = _direction(scene.view, up, high - low, scene.floor is not None)
    floor = scene.floor if normal is up else None
    corners = corners_of(low, high)
    size = float(np.linalg.norm(high - low))
    height = float((corners @ normal).min() - 0.01 * size) if floor is None else float(floor)
    return Stage(low, high, direction, up, normal, height, _round(0.09 * size), body or 0.1 * size, travels)


def _travel(films: Sequence[Film]) -> float:
    places = [f.positions.mean(axis=1) for f in films]
    return max(float(np.linalg.norm(np.ptp(x, axis=0))) for x in places)


def _direction(view: object, up: Array, extent: Array, has_floor: bool) -> tuple[Array, Array]:
    """Where the eye is, and the normal of the ruled plane: behind a plane motion without a floor, else below."""
    right = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    right = right - (right @ up) * up
    right = right / np.linalg.norm(right)
    ahead = np.cross(up, right)
    usual = 0.62 * right - ahead + 0.48 * up
    if view is not None:
        given = np.asarray(view, dtype=np.float64)
        given = given / np.linalg.norm(given)
        return given, (given if abs(given @ up) < 0.5 else up)
    thin = int(np.argmin(extent))
    axis = np.eye(3)[thin]
    if extent[thin] < THIN * extent.max() and abs(axis @ up) < 0.5 and not has_floor:
        axis = axis * np.sign(axis @ usual or 1.0)
        towards = axis + 0.22 * up + 0.28 * np.cross(up, axis)
        return towards / np.linalg.norm(towards), axis
    if extent @ np.abs(up) < THIN * extent.max():
        usual = usual + 0.35 * up
    return usual / np.linalg.norm(usual), up


def _round(length: float) -> float:
    """1, 2 or 5 times a power of ten, near to a length."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(min((1.0, 2.0, 5.0, 10.0), key=lambda d: abs(np.log(d * power / length))) * power)
