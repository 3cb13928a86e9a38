"""Draws trivialisation.svg: one element of the algebra se(2), taken as a body velocity (left) and as a space velocity
(right).

python docs/figures/trivialisation.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from liegroup import se2

POSES = np.array([[1.0, 0.4, 0.3], [-0.9, 1.3, 2.2], [-0.5, -1.2, -1.1]])
LABELS = ((-15, -9), (5, 5), (-16, -9))
VELOCITY = np.array([0.9, 0.0, 0.9])
TIMES = np.linspace(0.0, 1.2, 60)
INK, RED, BLUE, PATH = "0.2", "#c8442f", "#2f6fc8", "0.55"


def draw_axes(axes: Any, pose: Any, alpha: float = 1.0, length: float = 0.45) -> None:
    """The body axes at a pose."""
    tips = se2.act(pose, length * np.eye(2))
    for tip, colour in zip(tips, (RED, BLUE), strict=True):
        axes.annotate(
            "",
            tip,
            pose[:2],
            arrowprops={"arrowstyle": "-|>", "color": colour, "alpha": alpha, "lw": 1.8, "shrinkA": 0, "shrinkB": 0},
        )
    axes.plot(*pose[:2], "o", color=INK, ms=3.5, alpha=alpha)


def panel(axes: Any, title: str, formula: str, moved: Any) -> None:
    """Three bodies and where they go."""
    for k, pose in enumerate(POSES):
        path = moved(pose, se2.exp(TIMES[:, None] * VELOCITY))
        axes.plot(path[:, 0], path[:, 1], color=PATH, lw=1.4, zorder=0)
        for s, alpha in ((0, 1.0), (len(TIMES) // 2, 0.55), (-1, 0.4)):
            draw_axes(axes, path[s], alpha)
        axes.annotate(f"$g_{k + 1}$", pose[:2], xytext=LABELS[k], textcoords="offset points", color=INK)
    axes.set_title(f"{title}\n{formula}", fontsize=11)
    axes.set_aspect("equal")
    axes.set(xlim=(-2.9, 2.3), ylim=(-2.4, 2.9), xticks=[], yticks=[])
    axes.spines[:].set_color("0.8")
    draw_axes(axes, np.zeros(3), 1.0, 0.3)
    axes.annotate("$e$", (0, 0), xytext=(-10, -10), textcoords="offset points", color=INK)


def main() -> None:
    """Write the picture beside this file."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.9), layout="constrained")
    panel(left, "left trivialisation: body velocity", r"$g' = g\,\hat\xi,\qquad g(s) = g\,\exp(s\xi)$", se2.compose)
    panel(
        right,
        "right trivialisation: space velocity",
        r"$g' = \hat\eta\,g,\qquad g(s) = \exp(s\eta)\,g$",
        lambda g, step: se2.compose(step, g),
    )
    left.text(
        0.02, 0.02, "every body draws the same arc in its own axes", transform=left.transAxes, fontsize=9, color=INK
    )
    centre = np.array([-VELOCITY[1], VELOCITY[0]]) / VELOCITY[2]
    right.plot(*centre, "+", color=INK, ms=11, mew=1.6)
    right.text(
        0.02,
        0.02,
        "all turn about one point of space (+), the same for every $g$",
        transform=right.transAxes,
        fontsize=9,
        color=INK,
    )
    matplotlib.rcParams["svg.hashsalt"] = "liegroup"
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
