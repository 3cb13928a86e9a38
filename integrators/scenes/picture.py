"""Films drawn by matplotlib: a picture of one frame, and videos.

Triangles are projected, shaded and painted from back to front, which is enough for bodies that do not pierce one
another; the page (`integrators.scenes.page`) draws exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.scenes.film import Film
from integrators.scenes.gltf import PALETTE, colour_of
from integrators.scenes.shapes import Line, Surface, coarser, corners_of
from integrators.scenes.stage import Stage, stage

Array = NDArray[np.float64]
CURVES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
RATE = 25
"""Frames per second."""
SECONDS = 10.0
"""Length of a video of a motion that is much longer or shorter than that."""
TRIANGLES = 6000
"""Of all bodies of a film, at most; finer meshes are made coarser for a video."""
STILL = 45_000
"""Of a picture."""
FOV = 32.0
_SUN = np.array([-0.35, 0.55, 0.85])
"""Direction of the light in the axes of the eye: right, up, towards it."""
_PAPER, _RULE, _TIE, _CONTACT = "#f7f6f2", "#d3d0c6", "#8a8f98", "#d55e00"


def video(films: Sequence[Film], path: Path, title: str = "") -> None:
    """Films side by side, in real time if that takes 2 to 20 s, as .gif or, by ffmpeg, as .mp4; under a title, or under
    their own.

    Raises
    ------
    RuntimeError
        ffmpeg is not installed.
    """
    from matplotlib.animation import FFMpegWriter, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    is_gif = path.suffix.lower() == ".gif"
    if not is_gif and not FFMpegWriter.isAvailable():
        raise RuntimeError(
            f"path: {path.suffix} needs the program ffmpeg; install it, or give a name that ends in .gif"
        )
    curves = list(dict.fromkeys(c.name for f in films for c in f.curves))[:2]
    size = (min(4.6 * len(films) + 0.6, 14.0), 3.9 + 1.15 * len(curves))
    figure = Figure(figsize=size, dpi=100, facecolor=_PAPER, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(1 + len(curves), len(films), height_ratios=[3.6, *[1.0] * len(curves)])
    at = stage(films)
    views = [View(figure.add_subplot(grid[0, k]), film, at) for k, film in enumerate(films)]
    for view, film in zip(views, films, strict=True):
        view.ax.set_title((len(films) == 1 and title) or film.title, fontsize=11, fontweight="bold", loc="left")
    cursors = [_plot(figure.add_subplot(grid[1 + k, :]), films, name) for k, name in enumerate(curves)]
    clock = figure.suptitle("", x=0.99, ha="right", fontsize=10, color="0.35")
    if len(films) > 1:  # beside the clock
        figure.text(0.01, 0.985, title, ha="left", va="top", fontsize=11, fontweight="bold")
    longest = max(films, key=lambda f: abs(f.t[-1] - f.t[0]))
    whole = float(abs(longest.t[-1] - longest.t[0]))
    seconds = whole if 2.0 <= whole <= 20.0 else SECONDS
    count = 1 if whole == 0.0 else round(seconds * RATE * (0.6 if is_gif else 1.0))
    rate = round(count / seconds) or 1
    even = ["-pix_fmt", "yuv420p", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"]  # what players of .mp4 ask for
    writer = PillowWriter(fps=rate) if is_gif else FFMpegWriter(fps=rate, extra_args=even)
    with writer.saving(figure, str(path), dpi=100):
        for number, passed in enumerate(np.linspace(0.0, whole, count)):
            for view, film in zip(views, films, strict=True):
                view.seek(int(np.searchsorted(np.abs(film.t - film.t[0]), passed * (1 + 1e-12), side="right")) - 1)
            for cursor in cursors:
                cursor.set_xdata([passed])
            now = longest.t[0] + np.sign(longest.t[-1] - longest.t[0]) * passed
            clock.set_text(f"t = {now:.2f} s" if whole else "")
            writer.grab_frame(facecolor=_PAPER)
            if number == 0:
                figure.set_layout_engine("none")  # found once


def still(film: Film, ax: Any = None, lines: Sequence[tuple[Array, str]] = ()) -> Any:
    """The first frame of a film in matplotlib axes, with lines (k, 3) in the world and their colours.

    Without axes in those of a new figure.  Lines are drawn over the bodies.
    """
    from matplotlib import pyplot

    if ax is None:
        ax = pyplot.subplots(figsize=(5.0, 5.0), layout="constrained")[1]
    points = [film.low[None], film.high[None], *(line for line, _ in lines)]
    low, high = np.min([p.min(axis=0) for p in points], axis=0), np.max([p.max(axis=0) for p in points], axis=0)
    film = replace(film, low=low, high=high)
    view = View(ax, film, stage([film]), STILL)
    view.seek(0)
    for line, colour in lines:
        view.line(line, colour)
    return ax


def _plot(ax: Any, films: Sequence[Film], name: str) -> Any:
    """The change of a watched number; returns the cursor."""
    for film, colour in zip(films, CURVES * 2, strict=False):
        for curve in film.curves:
            if curve.name == name:
                x = np.abs(film.t - film.t[0])
                ax.fill_between(x, curve.least, curve.greatest, color=colour, alpha=0.2, lw=0)
                ax.plot(x, curve.change, color=colour, lw=1.0)
                ax.set_ylabel(f"Δ {name}\n{curve.units}".replace("_", " "), fontsize=8)
    ax.set_facecolor("white")
    ax.tick_params(labelsize=7)
    ax.grid(alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    return ax.axvline(0.0, color="0.3", lw=1.0)


class View:
    """One film in matplotlib axes, frame by frame."""

    def __init__(self, ax: Any, film: Film, at: Stage, triangles: int = TRIANGLES) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        self.ax, self.film, self.at = ax, film, at
        ax.set_axis_off()
        ax.set_aspect("equal")
        towards = at.direction
        right = np.cross(at.up, towards)
        right = right / np.linalg.norm(right)
        self._axes = np.stack([right, np.cross(towards, right), towards])
        reach = np.tan(np.radians(0.5 * FOV))
        corners = corners_of(at.low, at.high)
        seen = (corners - at.middle) @ self._axes.T
        self._distance = 1.05 * float(np.max(seen[:, 2] + np.abs(seen[:, :2]).max(axis=1) / reach))
        limits = self._seen(corners, np.zeros(3))
        low, high = limits[:, :2].min(axis=0), limits[:, :2].max(axis=0)
        pad = 0.06 * float((high - low).max())
        ax.set_xlim(low[0] - pad, high[0] + pad)
        ax.set_ylim(low[1] - pad, high[1] + pad)
        part = _coarseness(film, triangles)
        self._triangles = [
            _triangles(body.shapes, body.colour or PALETTE[k % len(PALETTE)], part)
            for k, body in enumerate(film.scene.bodies)
        ]
        self._still = _triangles(film.scene.still, "#9aa0a8", 1.0)
        self._grid = LineCollection([], colors=_RULE, linewidths=0.7, zorder=0)
        self._paths = LineCollection([], linewidths=1.3, zorder=1)
        self._faces = PolyCollection([], linewidths=0.25, zorder=2)
        self._ties = LineCollection([], colors=_TIE, linewidths=2.0, zorder=3)
        for collection in (self._grid, self._paths, self._faces, self._ties):
            ax.add_collection(collection, autolim=False)
        self._floor = _grid(at)

    def _seen(self, points: Array, shift: Array) -> Array:
        """Points (…, 3) as (right, up, depth) of the picture in perspective."""
        local = (points - self.at.middle - shift) @ self._axes.T
        depth = np.maximum(self._distance - local[..., 2], 1e-3 * self._distance)
        return np.concatenate([local[..., :2] / depth[..., None], -depth[..., None]], axis=-1)

    def seek(self, frame: int) -> None:
        """Draw a frame."""
        film, R, x = self.film, self.film.rotations[frame], self.film.positions[frame]
        shift = x.mean(axis=0) - film.positions[0].mean(axis=0) if self.at.travels else np.zeros(3)
        corners, paints = [], []
        for k, (triangles, paint) in enumerate(self._triangles):
            corners.append(triangles @ R[k].T + x[k])
            paints.append(paint)
        corners.append(self._still[0])
        paints.append(self._still[1])
        every, paint = np.concatenate(corners), np.concatenate(paints)
        seen = self._seen(every, shift)
        normal = np.cross(every[:, 1] - every[:, 0], every[:, 2] - every[:, 0]) @ self._axes.T
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True) + 1e-300
        normal *= np.where(normal[:, 2:] < 0.0, -1.0, 1.0)
        light = 0.5 + 0.5 * np.clip(normal @ (_SUN / np.linalg.norm(_SUN)), 0.0, 1.0)
        order = np.argsort(seen[..., 2].mean(axis=1))
        shaded = np.concatenate([paint[:, :3] * light[:, None], paint[:, 3:]], axis=1)[order]
        self._faces.set_verts(seen[order][..., :2])  # type: ignore[arg-type]
        self._faces.set_color(shaded)  # type: ignore[arg-type]
        self._grid.set_segments(list(self._seen(self._floor + self._whole(shift), shift)[..., :2]))
        lines = [self._seen(film.trails[: frame + 1, k], shift)[:, :2] for k in range(len(film.scene.trails))]
        self._paths.set_segments(lines)
        numbers = [film.scene.number(trail.body) % len(PALETTE) for trail in film.scene.trails]
        colours = [
            _CONTACT if trail.contact else PALETTE[k] for k, trail in zip(numbers, film.scene.trails, strict=True)
        ]
        self._paths.set_color(colours or "k")
        ends = [[self._end(tie.first, tie.at, R, x), self._end(tie.second, tie.on, R, x)] for tie in film.scene.ties]
        self._ties.set_segments(list(self._seen(np.array(ends), shift)[..., :2]) if ends else [])

    def line(self, points: Array, colour: str) -> None:
        """A line (k, 3) in the world, over everything."""
        seen = self._seen(points, np.zeros(3))
        self.ax.plot(seen[:, 0], seen[:, 1], color=colour, lw=1.6, zorder=4, scalex=False, scaley=False)

    def _whole(self, shift: Array) -> Array:
        """A shift by whole cells of the floor."""
        along = shift - (shift @ self.at.normal) * self.at.normal
        return np.asarray(np.round(along / self.at.cell) * self.at.cell)

    def _end(self, body: str | None, point: Any, R: Array, x: Array) -> Array:
        p = np.asarray(point, dtype=np.float64)
        k = self.film.scene.number(body)
        return p if body is None else np.asarray(R[k] @ p + x[k])


def _triangles(shapes: Sequence[Any], colour: str, part: float) -> tuple[Array, Array]:
    """Corners (m, 3, 3) and colours (m, 4) of shapes; lines are flat triangles."""
    corners, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 4))]
    for shape in shapes:
        if isinstance(shape, Surface):
            surface = coarser(shape, part * len(shape.faces)) if part < 1.0 else shape
            found = surface.vertices[surface.faces]
        else:
            assert isinstance(shape, Line)
            found = np.stack([shape.points[:-1], shape.points[1:], shape.points[1:]], axis=1)
        opacity = shape.opacity if isinstance(shape, Surface) else 1.0
        corners.append(found)
        colours.append(np.tile([*colour_of(shape.colour or colour), opacity], (len(found), 1)))
    return np.concatenate(corners), np.concatenate(colours)


def _coarseness(film: Film, triangles: int) -> float:
    """The part of the triangles that is kept."""
    count = sum(len(s.faces) for b in film.scene.bodies for s in b.shapes if isinstance(s, Surface))
    return min(1.0, triangles / max(count, 1))


def _grid(at: Stage) -> Array:
    """Lines (m, 2, 3) of the floor."""
    first = np.cross(at.normal, np.eye(3)[np.argmin(np.abs(at.normal))])
    first = first / np.linalg.norm(first)
    second = np.cross(at.normal, first)
    half = int(np.ceil(0.9 * at.size / at.cell))
    middle = at.middle + (at.height - at.middle @ at.normal) * at.normal
    rows = np.arange(-half, half + 1) * at.cell
    ends = half * at.cell * np.array([[-1.0], [1.0]])
    return np.array([middle + a * r + b * ends for a, b in ((first, second), (second, first)) for r in rows])
