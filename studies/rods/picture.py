"""The picture: the three motions, and the energy of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.rods.question import Result, Run, at_play
from studies.study import COLOURS

SHOWN = {"spaghetti": (0, 1, np.arange(0.0, 9.1, 0.5)), "whip": (0, 2, np.arange(0.0, 0.37, 0.02)),
         "cable": (0, 2, np.arange(0.0, 0.57, 0.03))}  # fmt: skip
"""Axes, and times s."""


def figure(result: Result) -> Any:
    fig = Figure(figsize=(11, 6.0), layout="constrained")
    axes = fig.subplots(2, 3, height_ratios=(1.6, 1.0))
    for column, system in enumerate(SHOWN):
        runs = [r for r in result.runs if r.system == system]
        _snapshots(axes[0, column], runs[min(1, len(runs) // 2)] if system == "spaghetti" else runs[0])
        for k, found in enumerate(runs):
            energy = found.solution["energy"]
            error = np.abs(energy - energy[found.kept][0])[found.kept] / at_play(found)
            label = f"{found.method}, n = {found.rod.n_elements}"
            axes[1, column].semilogy(
                found.solution.t[found.kept], np.maximum(error, 1e-17), color=COLOURS[k], lw=0.8, label=label
            )
        axes[1, column].set(xlabel="t [s]", ylabel="|ΔE| / E at play")
        axes[1, column].legend(fontsize=6)
    return fig


def _snapshots(ax: Any, found: Run) -> None:
    first, second, times = SHOWN[found.system]
    poses, t = found.poses, found.solution.t
    for k, when in enumerate(times[times <= t[-1] + 1e-9]):
        x = poses[int(np.argmin(np.abs(t - when))), :, :3]
        ax.plot(x[:, first], x[:, second], color=COLOURS[0], alpha=0.25 + 0.75 * k / len(times), lw=1.2)
        ax.plot(*x[-1, [first, second]], ".", color=COLOURS[1], ms=3)
    ax.set(xlabel=f"{'xyz'[first]} [m]", ylabel=f"{'xyz'[second]} [m]", aspect="equal",
           title=f"{found.system}, every {times[1] - times[0]:g} s")  # fmt: skip
