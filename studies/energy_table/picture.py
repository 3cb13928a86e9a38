"""The picture: largest energy error against cost, one panel per mechanism, one line per method; drifting runs are hollow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from studies.energy_drift.question import Result
from studies.energy_table.question import whole
from studies.study import COLOURS

COLUMNS = 4


def figure(found: Sequence[tuple[str, Result]]) -> Any:
    """Panels beside each other; one legend for all."""
    columns = min(COLUMNS, len(found))
    lines = -(-len(found) // columns)
    fig = Figure(figsize=(3.0 * columns, 0.8 + 2.6 * lines), layout="constrained")
    axes = fig.subplots(lines, columns, squeeze=False).ravel()
    methods = list(dict.fromkeys(r.method for _, result in found for r in result.runs))
    for ax in axes[len(found) :]:
        ax.set_axis_off()
    for k, (ax, (name, result)) in enumerate(zip(axes, found, strict=False)):
        for colour, marker, method in zip(COLOURS, "osD^vP*X", methods, strict=False):
            runs = whole(result, method)
            cost, band = [r.solution.seconds / result.config.horizon for r in runs], [r.band for r in runs]
            ax.loglog(cost, band, color=colour, linewidth=1.0, label=method)
            for x, y, r in zip(cost, band, runs, strict=True):
                ax.plot(x, y, marker=marker, color=colour, markersize=4.5, markerfacecolor="white" if r.drifts else colour)
        ax.set_title(f"{name}, {result.tree.nv} dof, {result.config.horizon:g} s")
        if k % columns == 0:
            ax.set_ylabel("max |E − E₀|/T*")
        if k >= len(found) - columns:
            ax.set_xlabel("computing time / simulated time")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    fig.suptitle("Energy error over the whole run against cost; hollow: slope beyond 3 sigma", fontsize=10)
    return fig
