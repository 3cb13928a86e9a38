"""The picture: largest energy error against cost, one panel per mechanism, one line per method; drifting runs are
hollow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from studies.energy_drift.picture import motion as shown
from studies.energy_drift.question import Result
from studies.energy_table.question import records
from studies.study import COLOURS, Record

COLUMNS = 4
LOOK = {"GAUSS8": ("#B00020", "8")}
"""Colour and marker of methods beyond the list of colours; the others in their order."""


def figure(found: Sequence[tuple[str, Result]]) -> Any:
    """Of the study's result."""
    return drawn(records(found))


def drawn(rows: Sequence[Record]) -> Any:
    """Of its records: panels beside each other, one legend for all."""
    models, methods = (list(dict.fromkeys(row[key] for row in rows)) for key in ("model", "method"))
    others = [m for m in methods if m not in LOOK]
    looks = {**dict(zip(others, zip(COLOURS, "osD^vP*X", strict=True), strict=False)), **LOOK}
    looks = {m: looks[m] for m in methods if m in looks}
    columns = min(COLUMNS, len(models))
    lines = -(-len(models) // columns)
    fig = Figure(figsize=(3.0 * columns, 0.8 + 2.6 * lines), layout="constrained")
    axes = fig.subplots(lines, columns, squeeze=False).ravel()
    for ax in axes[len(models) :]:
        ax.set_axis_off()
    for k, (ax, model) in enumerate(zip(axes, models, strict=False)):
        for method, (colour, marker) in looks.items():
            runs = [r for r in rows if r["model"] == model and r["method"] == method and r["status"] == "OK"]
            runs.sort(key=lambda r: r["microseconds_per_unit_time"])
            cost, band = [1e-6 * r["microseconds_per_unit_time"] for r in runs], [r["energy_band"] for r in runs]
            ax.loglog(cost, band, color=colour, linewidth=1.0, label=method)
            for x, y, r in zip(cost, band, runs, strict=True):
                ax.plot(
                    x,
                    y,
                    marker=marker,
                    color=colour,
                    markersize=4.5,
                    markerfacecolor="white" if r["drifts"] else colour,
                )
        seconds = sorted({r["horizon"] for r in rows if r["model"] == model})
        ax.set_title(f"{model}, {' and '.join(f'{t:g}' for t in seconds)} s")
        if k % columns == 0:
            ax.set_ylabel("max |E − E₀|/T*")
        if k >= len(models) - columns:
            ax.set_xlabel("computing time / simulated time")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    fig.suptitle("Energy error over the whole run against cost; hollow: slope beyond 3 sigma", fontsize=10)
    return fig


def motion(found: Sequence[tuple[str, Result]]) -> Sequence[tuple[str, Any]]:
    """The first mechanism by the first methods."""
    name, result = found[0]
    return [(f"{name}: {label}", film) for label, film in shown(result)]
