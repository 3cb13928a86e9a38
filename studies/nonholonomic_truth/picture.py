"""The picture: verdicts as a table of colours, the driven energy of one problem, and growth rates against the step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from integrators.scenes import points
from mechanics.systems.rolling.driven_pair import MEMBERS
from studies.nonholonomic_truth.question import COLUMNS, RATES, Result, Run
from studies.study import COLOURS, FILMS

LINES = dict(
    zip(dict.fromkeys((*COLUMNS, *RATES)), (*COLOURS, "#888888", "#AA4499", "#332288", "#882255"), strict=False)
)
"""One colour for each method in both pictures on the right."""
SHADES = {
    "exact": "#009E73",
    "bounded": "#8FD3BC",
    "linear": "#F0E442",
    "decays": "#E69F00",
    "grows": "#D55E00",
    "fails": "#BBBBBB",
}


def figure(result: Result) -> Any:
    """Left: what every method does to every problem.  Right: driven energy on the hardest problem; growth rates."""
    fig = Figure(figsize=(13.5, 6.4), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=[1.25, 1.0])
    _verdicts(left.subplots(), result)
    top, bottom = right.subplots(2, 1)
    _driven(top, result)
    _rates(bottom, result)
    return fig


def _verdicts(ax: Any, result: Result) -> None:
    problems = list(dict.fromkeys(r.problem for r in result.table))
    for r in result.table:
        x, y = list(COLUMNS).index(r.label), problems.index(r.problem)
        ax.add_patch(Rectangle((x, y), 1, 1, facecolor=SHADES[r.verdict], edgecolor="white", linewidth=2))
        ax.text(x + 0.5, y + 0.5, _number(r), ha="center", va="center", fontsize=7.5)
    ax.set_xlim(0, len(COLUMNS))
    ax.set_ylim(len(problems), 0)
    ax.set_xticks(np.arange(len(COLUMNS)) + 0.5, list(COLUMNS), rotation=35, ha="right")
    ax.set_yticks(
        np.arange(len(problems)) + 0.5, [f"{p}{'' if MEMBERS[p].symmetric_driver else ' *'}" for p in problems]
    )
    ax.grid(False)
    ax.set_title(
        f"max |E − E₀|, h = {result.config.step:g}, {result.config.steps:g} steps      * no reversal maps the driver "
        "to itself"
    )
    for k, (verdict, colour) in enumerate(SHADES.items()):
        ax.text(
            0.02 + 0.165 * k,
            -0.235,
            f"■ {verdict}",
            color=colour,
            transform=ax.transAxes,
            fontsize=9,
            fontweight="bold",
        )


def _number(r: Run) -> str:
    if not r.solution.finished:
        return r.solution.status.name.lower().replace("_", "\n")
    text = f"{r.error:.1e}"
    return f"{text}\n|Av| {r.parasitic:.1g}" if r.parasitic and r.parasitic > 0.3 else text


def _driven(ax: Any, result: Result) -> None:
    name = result.config.rate_problem
    runs = [r for r in result.table if r.problem == name] or [
        r for r in result.rates if r.step == result.config.rate_steps[0]
    ]
    for r in runs:
        values = r.solution.mean_since[1:, 2]
        ax.semilogy(
            r.solution.t[1:][:: max(1, len(values) // 1000)],
            values[:: max(1, len(values) // 1000)],
            color=LINES[r.label],
            label=r.label,
        )
    ax.set_ylim(1e-3, 1e3)
    ax.set_title(f"driven energy of {name}")
    ax.set_xlabel("t")
    ax.set_ylabel("½ u² + U")
    ax.legend(ncols=2, fontsize=6.5)


def _rates(ax: Any, result: Result) -> None:
    for k, label in enumerate(RATES):
        runs = [
            r
            for r in result.rates
            if r.label == label and label != "energy-exact" and r.drift and r.drift.significance > 5
        ]
        if runs:
            ax.loglog(
                [r.step for r in runs], [abs(r.drift.slope) for r in runs if r.drift], marker="osv^D<>P"[k % 8],
                color=LINES[label], label=label,
            )  # fmt: skip
    h = np.array([min(result.config.rate_steps), max(result.config.rate_steps)])
    for order, height in ((2, 6e-2), (4, 3e-3), (6, 6e-3)):
        ax.loglog(h, height * h**order, color="0.6", linestyle=":", linewidth=1)
        ax.text(h[0], height * h[0] ** order, f" h{'²⁴⁶'[order // 2 - 1]}", color="0.4", fontsize=8, va="bottom")
    ax.set_title(f"exponential growth or decay of the driven energy of {result.config.rate_problem}")
    ax.set_xlabel("step h")
    ax.set_ylabel("|rate|")
    ax.legend(fontsize=7, loc="lower right")


def pair(y: Any) -> list[list[float]]:
    """The driven pair in its plane; the driver, below it."""
    return [[float(y[0]), float(y[1])], [float(np.cos(y[2])) - 2.0, float(np.sin(y[2]))]]


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The first runs of the table, the driver as the angle of a hand."""
    scene = points(pair, ["driven pair", "driver"])
    return [(f"{r.problem}: {r.label}", r.solution.film(scene=scene, span=(0.0, 50.0))) for r in result.table[:FILMS]]
