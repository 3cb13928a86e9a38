"""The picture: error against step, a row per group, a column per family, a colour per order."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.convergence.question import TOP, Result, positive
from studies.study import COLOURS

TITLES = {
    "rkmk": "explicit RKMK",
    "exponential": "exponentials",
    "two_register": "exponentials",
    "implicit_rkmk": "implicit RKMK",
    "implicit_rkmk_newton": "implicit RKMK by Newton",
    "midpoint": "implicit RKMK",
    "composition": "compositions",
}
ORDERS = {1: 6, 2: 0, 3: 1, 4: 2, 5: 3, 6: 4, 7: 5, 8: 5, 9: 7, 10: 7, 12: 7}
"""Order → colour."""


def figure(result: Result) -> Any:
    """Lines through the errors; dashed: the claimed orders as slopes."""
    groups = [g for g in result.config.groups if g != TOP and any(line.group == g for line in result.lines)]
    columns = list(dict.fromkeys(TITLES.get(line.family, line.family) for line in result.lines if line.group != TOP))
    tops = [line for line in result.lines if line.group == TOP]
    rows = len(groups) + bool(tops)
    fig = Figure(figsize=(2.7 * max(len(columns), 2), 2.3 * rows), layout="constrained")
    axes = fig.subplots(rows, max(len(columns), 2), sharex=True, sharey=True, squeeze=False)
    for i, group in enumerate(groups):
        for j, column in enumerate(columns):
            chosen = [
                line for line in result.lines if line.group == group and TITLES.get(line.family, line.family) == column
            ]
            _panel(axes[i, j], chosen, f"{column}, {group}")
    if tops:
        for j, (title, chosen) in enumerate(_families(tops).items()):
            _panel(axes[-1, j], chosen, f"{title}, {TOP}")
    for ax in axes.ravel():
        if not ax.lines:
            ax.set_axis_off()
    for ax in axes[:, 0]:
        ax.set_ylabel("error at t = 1")
    for ax in axes[-1]:
        ax.set_xlabel("h")
    shown = sorted({line.claimed for line in result.lines})
    handles = [axes[0, 0].plot([], [], color=COLOURS[ORDERS[p]], label=f"order {p}")[0] for p in shown]
    fig.legend(handles=handles, loc="outside lower center", ncols=len(shown))
    return fig


def _families(lines: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for line in lines:
        found.setdefault(line.family.replace("_", " "), []).append(line)
    return found


def _panel(ax: Any, lines: list[Any], title: str) -> None:
    for line in lines:
        ax.loglog(
            line.steps,
            positive(line.errors),
            color=COLOURS[ORDERS[line.claimed]],
            lw=0.9,
            marker=".",
            ms=2.5,
            alpha=0.8,
        )
    for p in sorted({line.claimed for line in lines}):
        h = np.array([0.5**6, 0.5**2])
        ax.loglog(h, 0.3 * h**p, color=COLOURS[ORDERS[p]], ls=":", lw=0.8)
    ax.set_title(title, fontsize=8)
    ax.set_ylim(1e-15, 10)
