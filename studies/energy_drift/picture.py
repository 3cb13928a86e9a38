"""The picture: energy deviation against time, one panel per method, and its size against cost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.energy_drift.question import Result, Run
from studies.study import COLOURS

BINS = 160
"""Columns of the band in each panel."""


def figure(result: Result) -> Any:
    """Left to right: one panel per method with the bands of its runs; last: band against cost."""
    methods = list(dict.fromkeys(r.method for r in result.runs))
    fig = Figure(figsize=(3.1 * (len(methods) + 1), 3.3), layout="constrained")
    axes = fig.subplots(1, len(methods) + 1, squeeze=False)[0]
    fig.suptitle(
        f"{result.tree.name}, {result.tree.nv} degrees of freedom, {result.config.horizon:g} s: "
        f"energy error (E − E₀)/T*, T* = {result.scale:.3g} J",
        fontsize=10,
    )
    floor = 10.0 ** np.floor(np.log10(max(min(r.band for r in result.runs), 1e-17)))
    for ax, method in zip(axes, methods, strict=False):
        for colour, r in zip(COLOURS, [r for r in result.runs if r.method == method], strict=False):
            _band(ax, r, colour)
        ax.set_yscale("symlog", linthresh=floor, linscale=0.3)
        ax.set_title(method)
        ax.set_xlabel("t [s]")
        ax.legend(loc="lower left")
    limit = 2.0 * max(r.band for r in result.runs)
    for ax in axes[:-1]:
        ax.set_ylim(-limit, limit)
        ax.label_outer()
    axes[0].set_ylabel("(E − E₀)/T*")
    _cost(axes[-1], result, methods)
    return fig


def _band(ax: Any, r: Run, colour: str) -> None:
    """Least and greatest deviation in equal slices of time."""
    edges = np.linspace(0, len(r.deviation), min(BINS, len(r.deviation)) + 1).astype(int)
    t = r.solution.t[edges[1:] - 1]
    lower, upper = (np.array([f(x[a:b]) for a, b in pairwise(edges)]) for f, x in ((np.nanmin, r.lower), (np.nanmax, r.upper)))
    ax.fill_between(
        t, lower, upper, color=colour, alpha=0.55, linewidth=0.6, label=f"h = {1e3 * r.step:g} ms" if r.step else f"rtol = {r.tolerance:g}"
    )


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
    ax.set_xlabel("seconds of computing per second of motion")
    ax.set_ylabel("max |E − E₀|/T*")
    ax.legend()
