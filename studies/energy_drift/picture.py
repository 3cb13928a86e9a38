"""The picture: size of the energy error against time, one panel per method, and the band against cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from studies.energy_drift.question import Result, Run
from studies.study import COLOURS, FILMED, FILMS

Array = NDArray[np.float64]
COLUMNS = 5
"""Panels beside each other."""
SLICES = 60
"""Slices of time, equal on a logarithmic axis, in which the largest error is shown."""


def figure(result: Result) -> Any:
    """Left to right: one panel per method with the envelopes of its runs; last: band against cost."""
    methods = list(dict.fromkeys(r.method for r in result.runs))
    lines = -(-(len(methods) + 1) // COLUMNS)
    columns = -(-(len(methods) + 1) // lines)
    fig = Figure(figsize=(2.9 * columns, 0.4 + 3.0 * lines), layout="constrained")
    axes = fig.subplots(lines, columns, squeeze=False).ravel()
    for ax in axes[len(methods) + 1 :]:
        ax.set_axis_off()
    fig.suptitle(
        f"{result.tree.name}, {result.tree.nv} degrees of freedom, {result.config.horizon:g} s: "
        f"energy error |E − E₀|/T*, T* = {result.scale:.3g} J",
        fontsize=10,
    )
    for k, (ax, method) in enumerate(zip(axes, methods, strict=False)):
        for colour, r in zip(COLOURS, [r for r in result.runs if r.method == method], strict=False):
            ax.loglog(*envelope(r), color=colour, label=_size(r))
        ax.set_title(method)
        ax.set_xlabel("t [s]")
        ax.legend(loc="best")
        if k:
            ax.sharey(axes[0])
            ax.tick_params(labelleft=k % columns == 0)
        if k % columns == 0:
            ax.set_ylabel("largest |E − E₀|/T*")
    _cost(axes[len(methods)], result, methods)
    return fig


def envelope(r: Run) -> tuple[Array, Array]:
    """End times of the slices, and the largest error of any step within."""
    size = np.maximum(np.abs(r.lower), np.abs(r.upper))[1:]
    edges = np.unique(np.geomspace(1, len(size) + 1, SLICES).round().astype(int)) - 1
    return r.solution.t[1:][edges[1:] - 1], np.array([np.nanmax(size[a:b]) for a, b in pairwise(edges)])


def _size(r: Run) -> str:
    return f"h = {1e3 * r.step:g} ms" if r.step else f"rtol = {r.tolerance:g}"


def _cost(ax: Any, result: Result, methods: list[str]) -> None:
    for k, method in enumerate(methods):
        runs = sorted((r for r in result.runs if r.method == method), key=lambda r: r.solution.seconds)
        ax.loglog(
            [r.solution.seconds / result.config.horizon for r in runs],
            [r.band for r in runs],
            marker="os^Dv"[k % 5],
            color=COLOURS[(k + 4) % len(COLOURS)],
            label=method,
        )
    ax.set_title("band against cost")
    ax.set_xlabel("computing time / simulated time")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(axis="x", labelsize="small")
    ax.set_ylabel("max |E − E₀|/T* over all steps")
    ax.legend(loc="best")


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The first seconds of the first run of each method."""
    first = {r.method: r for r in reversed(result.runs) if r.solution.scene is not None}
    shown = [r for r in result.runs if first.get(r.method) is r][:FILMS]
    return [(r.label, r.solution.film(span=(0.0, FILMED))) for r in shown]
