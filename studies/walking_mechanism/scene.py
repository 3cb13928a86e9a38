"""The mechanism in its plane, and the animation of its walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

from mechanics.constraints.equations import geometry
from mechanics.systems.loops import walking_mechanism as walker
from studies.study import COLOURS
from studies.walking_mechanism.question import Array, Run

RATE, SECONDS = 20, 10.4
"""Frames per second, and how much of the walk is shown: four periods."""
ARC = np.linspace(-0.35, 0.35, 15)
"""Angles of the arc of a foot, rad."""


def shapes(q: Array) -> dict[str, Array]:
    """Lines (y, z) of the bodies at one configuration."""
    at = geometry(_TREE, q)

    def line(body: int, points: Any) -> Array:
        local = np.column_stack([np.zeros(len(points)), np.asarray(points, dtype=float)])
        return np.asarray((at.x[body] + local @ at.R[body].T)[:, 1:])

    circle = walker.CRANK * np.column_stack([np.sin(_TURN), np.cos(_TURN)])
    found = {
        "hull": line(0, [(-0.25, -0.1), (0.25, -0.1), (0.25, 0.35), (-0.25, 0.35), (-0.25, -0.1)]),
        "disc": line(1, circle),
    }
    foot = np.column_stack([np.sin(ARC), -np.cos(ARC)]) * walker.LEG
    for k, body in ((1, 2), (2, 3)):
        found[f"leg{k}"] = line(body, [(0.0, 0.0), (0.0, -walker.LEG)])
        found[f"foot{k}"] = line(body, foot)
    found["pins"] = line(1, [(0.0, -walker.CRANK), (0.0, walker.CRANK)])
    return found


def animate(r: Run, path: Path) -> Path:
    """The walk, followed by the eye."""
    times = np.arange(0.0, min(SECONDS, r.solution.t[-1]), 1.0 / RATE)
    q = r.q[np.searchsorted(r.solution.t, times)]
    fig = Figure(figsize=(5.0, 4.4), layout="constrained")
    ax = fig.subplots()
    ax.set_aspect("equal")
    ax.grid(False)
    colours = {
        "hull": COLOURS[6],
        "disc": COLOURS[4],
        "leg1": COLOURS[0],
        "foot1": COLOURS[0],
        "leg2": COLOURS[1],
        "foot2": COLOURS[1],
    }
    lines = {
        name: ax.plot([], [], color=colours.get(name, COLOURS[3]), marker="o" if name == "pins" else "")[0]
        for name in shapes(q[0])
    }
    lines["pins"].set_linestyle("none")
    ax.axhline(0.0, color="0.3", lw=1.0)
    ax.plot(np.arange(-12.0, 3.0, 0.5), np.zeros(30), "|", color="0.3")
    ax.set_ylim(-0.15, 2.0)
    ax.set_xlabel("y [m]")

    def show(k: int) -> Any:
        for name, points in shapes(q[k]).items():
            lines[name].set_data(points[:, 0], points[:, 1])
        ax.set_xlim(q[k, 0] - 1.2, q[k, 0] + 1.2)
        ax.set_title(f"t = {times[k]:.2f} s")
        return list(lines.values())

    FuncAnimation(fig, show, frames=len(times), blit=False).save(path, writer=PillowWriter(fps=RATE), dpi=70)
    return path


_TREE = walker.tree()
_TURN = np.linspace(0.0, 2.0 * np.pi, 40)
