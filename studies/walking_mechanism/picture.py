"""The pictures: the paper's figures 7, 8 and 9, the deviations by step, and the swing of the hull by speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from studies.study import COLOURS, FILMED
from studies.walking_mechanism.question import FORMULATIONS, Result, Run
from studies.walking_mechanism.scene import animate

LEAST = 1e-17
"""Deviations of zero are drawn here, m."""
LOOK = dict(zip(FORMULATIONS, zip(COLOURS, "o^sDvPx", strict=False), strict=False))


def figure(result: Result) -> Any:
    """Above: coordinates (figure 7); below: deviations against time (figures 8, 9), by step, and the hull by period."""
    config, first = result.config, result.runs[0]
    fig = Figure(figsize=(12.0, 6.8), layout="constrained")
    (a, b, c), (d, e, f) = fig.subplots(2, 3)
    t, q = first.solution.t, first.q
    fig.suptitle(
        f"walking mechanism (Ivanov 2022), {config.horizon:g} s, T = 2.6 s, {first.ground} ground, RK4, h = "
        f"{first.step:g} s",
        fontsize=10,
    )
    _curves(a, t, q[:, :2], ("y", "z"), "figure 7: hull [m]")
    _curves(b, t, np.column_stack([q[:, 2], q[:, 5], q[:, 7]]), ("φ", "γ₁", "γ₂"), "figure 7: angles [rad]")
    _curves(c, t, q[:, [4, 6]], ("z₁", "z₂"), "figure 7: slides of the legs [m]")
    coarse = config.steps[min(1, len(config.steps) - 1)]
    for name, (colour, _) in LOOK.items():
        for r in result.runs:
            if r.formulation == name and r.step == coarse:
                d.semilogy(r.solution.t, np.maximum(r.deviation, LEAST), color=colour, lw=0.7, label=name)
    d.set_title(f"figures 8, 9: pins apart [m], h = {coarse:g} s")
    d.set_xlabel("t [s]")
    fig.legend(handles=d.lines, loc="outside lower center", ncols=len(d.lines))
    _by_step(e, result.runs)
    f.plot([r.period for r in result.walks], [r.amplitude for r in result.walks], "o-", color=COLOURS[0])
    f.set_title("max |φ| [rad], soft ground")
    f.set_xlabel("period of the disc [s]")
    f.set_ylim(bottom=0.0)
    return fig


def _curves(ax: Any, t: Any, values: Any, names: Sequence[str], title: str) -> None:
    for k, name in enumerate(names):
        ax.plot(t, values[:, k], color=COLOURS[k], lw=0.9, label=name)
    ax.set_title(title)
    ax.set_xlabel("t [s]")
    ax.legend(loc="lower left", facecolor="white", framealpha=0.8, frameon=True)


def _by_step(ax: Any, runs: Sequence[Run]) -> None:
    for name, (colour, marker) in LOOK.items():
        for style, chosen in (("-", [r for r in runs if r.step]), ("--", [r for r in runs if r.tolerance])):
            found = sorted((r for r in chosen if r.formulation == name), key=lambda r: r.solution.evaluations)
            if found:
                cost = [r.solution.evaluations / float(r.solution.t[-1]) for r in found]
                worst = [max(float(r.deviation.max()), LEAST) for r in found]
                ax.loglog(cost, worst, color=colour, marker=marker, ms=5, ls=style)
    ax.set_title("pins apart, largest [m]")
    ax.set_xlabel("evaluations per simulated second; RK4 full, LSODA dashed")
    ax.xaxis.set_minor_formatter(NullFormatter())


def extras(result: Result, folder: Path) -> Sequence[str]:
    """The animation."""
    return [animate(result.runs[0], folder / "walk.gif").name] if result.config.animation else []


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The walk in the first formulation."""
    first = result.runs[0]
    return [(f"{first.formulation}, {first.solution.method}", first.solution.film(span=(0.0, FILMED)))]
