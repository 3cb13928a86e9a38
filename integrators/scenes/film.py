"""A motion as it is shown: bodies with their shapes, and their poses, paths and watched numbers frame by frame.

Viewers of any kind need no more than a `Film`.  Its frames are saved states: nothing is interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from integrators.scenes.scene import Scene, Trail, made
from integrators.scenes.shapes import bounds, corners_of
from liegroup.arrays import integer, numbers, spread

Array = NDArray[np.float64]
FRAMES = 1000
"""Frames of a film unless more are asked for."""
_LOOKS = 240
"""Frames at which the extent of a motion is looked at."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One watched number: its change since the start, and the least and the greatest change since the frame before.

    Attributes
    ----------
    name, units : str
    first : float
        Its value in the first of the states shown.
    change : array (k,)
        Value − `first` in the frames.
    least, greatest : array (k,)
        Over every step of the run since the frame before.
    """

    name: str
    units: str
    first: float
    change: Array
    least: Array
    greatest: Array


@dataclass(frozen=True, eq=False)
class Film:
    """Bodies and where they are, frame by frame.

    Attributes
    ----------
    scene : Scene
        Bodies with their shapes, ties, the floor.
    t : array (k,)
        Times of the frames, s.
    positions : array (k, N, 3)
        Origins of the bodies in the world, m.
    quaternions_wxyz : array (k, N, 4)
        Their orientations, body → world.
    trails : array (k, T, 3)
        Points of the paths, in the order of ``scene.trails``.
    curves : tuple of Curve
    title, subtitle : str
    notes : tuple of str
        What the viewer has to know: how many of the saved states are shown, how the run ended.
    warning : str
        What went wrong, or an empty text.
    low, high : array (3,)
        The corners of a box that holds the whole motion.
    """

    scene: Scene
    t: Array
    positions: Array
    quaternions_wxyz: Array
    trails: Array
    curves: tuple[Curve, ...] = ()
    title: str = ""
    subtitle: str = ""
    notes: tuple[str, ...] = ()
    warning: str = ""
    low: Any = None
    high: Any = None

    def __repr__(self) -> str:
        return f"<Film of {self.title!r}: {len(self.scene.bodies)} bodies, {len(self.t)} frames>"

    @property
    def rotations(self) -> Array:
        """Orientations as matrices (k, N, 3, 3)."""
        from liegroup.rotations import matrix_from_quaternion_wxyz

        return matrix_from_quaternion_wxyz(self.quaternions_wxyz)

    def named(self, title: str) -> Film:
        """The same film under another title."""
        return replace(self, title=title)


class Shows(Protocol):
    """A solution, or anything else with a method `film`."""

    def film(self, frames: int = ..., scene: Any = ..., span: Any = ...) -> Film: ...


@dataclass(frozen=True, eq=False)
class Watched:
    """The watched numbers of a run: names, units, and values, least and greatest (k, r) of the saved states."""

    names: Sequence[str] = ()
    units: Sequence[str] = ()
    values: Any = None
    least: Any = None
    greatest: Any = None

    def rows(self, chosen: slice) -> Watched:
        """Those of some of the saved states."""
        parts = {name: getattr(self, name)[chosen] for name in ("values", "least", "greatest")}
        return replace(self, **parts)


def record(
    scene: Any,
    t: Array,
    y: Array,
    watched: Watched | None = None,
    *,
    frames: int = FRAMES,
    span: Sequence[float] | None = None,
    title: str = "",
    subtitle: str = "",
    warning: str = "",
) -> Film:
    """A film of saved states, up to the first that is not finite, or whose poses are not.

    Parameters
    ----------
    scene : Scene, or callable ``(t, y) → Scene``
    t : array (k,)
    y : array (k, n)
    watched : Watched, optional
    frames : int
        At most so many of the states are shown: those nearest to evenly spaced times.
    span : (first, last), optional
        Only states between these times.

    Raises
    ------
    ValueError
        No state that is finite, or poses of a wrong shape, or not finite from the first on.
    """
    most = integer(frames, "frames", 1)
    t, y = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    within = _within(t, span)
    total, t, y, watched = len(t), t[within], y[within], watched and watched.rows(within)
    good = np.isfinite(y).all(axis=-1) & np.isfinite(t)
    saved = len(t) if good.all() else int(np.argmin(good))
    if saved == 0:
        raise ValueError("solution: it has no saved state to show; was it run with t_eval beyond its end?")
    rows = chosen(t[:saved], most)
    scene = made(scene, t[rows], y[rows])
    x, R = _poses(scene, t[rows], y[rows])
    notes = [_which(rows, saved, total if len(t) < total else saved), *scene.notes]
    if len(x) < len(rows):
        rows = rows[: len(x)]
        notes.append(f"The poses after t = {t[rows[-1]]:.6g} s are not finite and not shown.")
    paths = [_path(trail, x, R, scene.number(trail.body)) for trail in scene.trails]
    trails = np.stack(paths, axis=1) if paths else np.zeros((len(rows), 0, 3))
    if saved < len(good):
        notes.append(f"The states after t = {t[saved - 1]:.6g} s are not finite and not shown.")
    low, high = _extent(scene, x, R, trails)
    from liegroup.rotations import quaternion_wxyz_from_matrix

    return Film(
        scene,
        t[rows],
        x,
        quaternion_wxyz_from_matrix(R),
        trails,
        () if watched is None else _curves(watched, rows),
        title,
        subtitle,
        tuple(notes),
        warning,
        low,
        high,
    )


def chosen(t: Array, most: int) -> NDArray[np.int64]:
    """Numbers of at most so many states, nearest to evenly spaced times; the first and the last are among them."""
    if len(t) <= most:
        return np.arange(len(t))
    passed = np.abs(t - t[0])
    wanted = np.linspace(0.0, passed[-1], most)
    after = np.clip(np.searchsorted(passed, wanted), 1, len(t) - 1)
    nearer = np.where(wanted - passed[after - 1] < passed[after] - wanted, after - 1, after)
    return np.unique(nearer)


def _within(t: Array, span: Sequence[float] | None) -> slice:
    """The states between two times."""
    if span is None:
        return slice(None)
    ends = numbers(span, "span", (2,))
    among = np.flatnonzero((t >= ends.min()) & (t <= ends.max()))
    if not len(among):
        raise ValueError(f"span: {span}, no saved state is between these times")
    return slice(int(among[0]), int(among[-1]) + 1)


def _which(rows: NDArray[np.int64], saved: int, total: int) -> str:
    if saved < total:
        return f"{len(rows)} of {total} saved states are shown, of a part of the run."
    if saved == len(rows):
        return f"All {saved} saved states are shown." if saved > 1 else "One configuration is shown."
    return f"{len(rows)} of {saved} saved states are shown, those nearest to evenly spaced times."


def _poses(scene: Scene, t: Array, y: Array) -> tuple[Array, Array]:
    """Of the states up to the first in which they are not finite."""
    x, R = (np.asarray(part, dtype=np.float64) for part in scene.poses(t, y))
    k, n = len(t), len(scene.bodies)
    if x.shape != (k, n, 3) or R.shape != (k, n, 3, 3):
        raise ValueError(
            f"poses: shapes {x.shape} and {R.shape}, expected ({k}, {n}, 3) and ({k}, {n}, 3, 3): "
            "origins and rotations of every body in every state"
        )
    finite = np.asarray(np.isfinite(x).all(axis=-1) & np.isfinite(R).all(axis=(-2, -1)))
    if not finite[0].all():
        name = scene.bodies[int(np.argmin(finite[0]))].name
        raise ValueError(f"poses: that of {name!r} at t = {t[0]:.6g} s is not finite; look at the poses of the scene")
    good = k if finite.all() else int(np.argmin(finite.all(axis=-1)))
    return x[:good], R[:good]


def _path(trail: Trail, x: Array, R: Array, body: int) -> Array:
    x, R = x[:, body], R[:, body]
    if callable(trail.point):
        return np.asarray(trail.point(x, R), dtype=np.float64)
    return np.asarray(x + R @ np.asarray(trail.point, dtype=np.float64))


def _curves(watched: Watched, rows: NDArray[np.int64]) -> tuple[Curve, ...]:
    found = []
    for k, (name, units) in enumerate(zip(watched.names, watched.units, strict=True)):
        values, least, greatest = (np.asarray(x)[:, k] for x in (watched.values, watched.least, watched.greatest))
        first = float(values[0])
        starts = np.concatenate([[0], rows[:-1] + 1])
        low = np.minimum.reduceat(least[: rows[-1] + 1], starts)
        high = np.maximum.reduceat(greatest[: rows[-1] + 1], starts)
        found.append(Curve(name, units, first, values[rows] - first, low - first, high - first))
    return tuple(found)


def _extent(scene: Scene, x: Array, R: Array, trails: Array) -> tuple[Array, Array]:
    """A box around all shapes in some of the frames, and all paths."""
    rows = spread(len(x), _LOOKS)
    found = [trails.reshape(-1, 3)]
    if scene.still:
        found.append(bounds(scene.still))
    for k, body in enumerate(scene.bodies):
        corners = corners_of(*bounds(body.shapes))
        found.append((x[rows, k, None] + corners @ R[rows, k].transpose(0, 2, 1)).reshape(-1, 3))
    every = np.concatenate(found)
    return every.min(axis=0), every.max(axis=0)
