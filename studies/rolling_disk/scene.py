"""The disk in space: its rim, its spokes, the path on the plane; a still picture and an animation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from numpy.typing import NDArray

from liegroup.formulas import so3
from studies.rolling_disk.runs import Reference

Array = NDArray[np.float64]
POINTS = 72
SPOKES = 3
FACE, EDGE, PATH, FLOOR = "#56B4E9", "#0B3C5D", "#D55E00", "#F4F1EA"


def rim(y: Array, radius: float) -> Array:
    """Points (POINTS, 3) of the rim of the disk in the state y = (x, y, z, quaternion, …)."""
    angle = np.linspace(0.0, 2 * np.pi, POINTS)
    circle = (radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle)
    q = tuple(np.full_like(angle, c) for c in y[3:7])
    return np.stack(so3.act(q, circle), axis=-1) + y[:3]


def spokes(y: Array, radius: float) -> list[Array]:
    """Diameters that turn with the disk."""
    points = rim(y, radius)
    half = (POINTS - 1) // 2
    return [points[[k, (k + half) % (POINTS - 1)]] for k in range(0, half, half // SPOKES)]


def draw_disk(ax: Any, y: Array, radius: float, alpha: float = 1.0) -> list[Any]:
    """The disk as a face, a rim and its spokes; returns the artists."""
    points = rim(y, radius)
    face = Poly3DCollection([points], facecolor=FACE, alpha=0.55 * alpha, edgecolor="none", zorder=3)
    edge = Line3DCollection([points], colors=[EDGE], linewidths=1.4, alpha=alpha, zorder=4)
    inner = Line3DCollection(spokes(y, radius), colors=[EDGE], linewidths=0.5, alpha=0.7 * alpha, zorder=4)
    for artist in (face, edge, inner):
        ax.add_collection3d(artist)
    return [face, edge, inner]


def stage(ax: Any, known: Reference, radius: float) -> None:
    """Limits that hold the whole path, equal scales, and the floor."""
    low, high = known.contact.min(axis=0) - 1.1 * radius, known.contact.max(axis=0) + 1.1 * radius
    middle, half = 0.5 * (low + high), max(0.5 * (high - low).max(), 1.5 * radius)
    ax.set_xlim(middle[0] - half, middle[0] + half)
    ax.set_ylim(middle[1] - half, middle[1] + half)
    height = 2.2 * radius
    ax.set_zlim(0.0, height)
    ax.set_box_aspect((1, 1, 0.5 * height / half), zoom=1.6)
    ax.view_init(elev=32, azim=-60)
    corners = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    floor = Poly3DCollection([np.column_stack([corners, np.zeros(4)])], facecolor=FLOOR, edgecolor="0.8", zorder=0)
    ax.add_collection3d(floor)
    ax.set_axis_off()
    ax.computed_zorder = False  # the floor is below everything, the path below the disks


def still(ax: Any, known: Reference, radius: float, disks: int = 9) -> None:
    """The path, and the disk at several times, fainter in the past."""
    stage(ax, known, radius)
    ax.plot(known.contact[:, 0], known.contact[:, 1], 0.0 * known.t, color=PATH, linewidth=1.3, zorder=1)
    ax.plot(known.y[:, 0], known.y[:, 1], known.y[:, 2], color="0.5", linewidth=0.7, zorder=2)
    for k, index in enumerate(np.linspace(0, len(known.t) - 1, disks).astype(int)):
        draw_disk(ax, known.y[index], radius, alpha=0.25 + 0.75 * k / (disks - 1))


def animate(known: Reference, radius: float, path: Path, frames: int = 120, rate: int = 25) -> Path:
    """A GIF of the disk and the line it draws on the plane."""
    fig = Figure(figsize=(5.6, 4.2), dpi=90, layout="none")
    ax = fig.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    stage(ax, known, radius)
    (line,) = ax.plot([], [], [], color=PATH, linewidth=1.6, zorder=1)
    clock = ax.text2D(0.03, 0.94, "", transform=ax.transAxes, fontsize=10, color="0.3")
    artists: list[Any] = []

    def show(frame: int) -> list[Any]:
        index = round(frame * (len(known.t) - 1) / (frames - 1))
        for artist in artists:
            artist.remove()
        artists[:] = draw_disk(ax, known.y[index], radius)
        past = known.contact[: index + 1]
        line.set_data_3d(past[:, 0], past[:, 1], np.zeros(len(past)))
        clock.set_text(f"t = {known.t[index]:.2f} s")
        return [line, clock, *artists]

    FigureCanvasAgg(fig)
    with rc_context({"figure.constrained_layout.use": False}):
        FuncAnimation(fig, show, frames=frames, blit=False).save(path, writer=PillowWriter(fps=rate))
    return path
