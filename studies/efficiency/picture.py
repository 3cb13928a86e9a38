"""The picture: regions of the cheapest method from four sources, and curves of counts and times."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from mechanics.reference.operation_counts import mass_matrix_operations
from studies.efficiency.methods import NAMES
from studies.efficiency.question import SPACE_MANIPULATOR, Cells, Result
from studies.study import COLOURS

METHOD_COLOURS = dict(zip(NAMES, (COLOURS[4], COLOURS[2], COLOURS[0]), strict=True))
ROWS = (
    ("formula", False, "formulas\n(corrected Table 1)"),
    ("formula", True, "formulas,\nfree base"),
    ("counted", False, "counted:\nthese kernels"),
    ("counted", True, "counted,\nfree base"),
    ("measured", False, "measured:\nthese kernels"),
    ("measured", True, "measured,\nfree base"),
)
SAID = {"momenta": "(q, p)", "velocities": "(q, v)"}
MASS_MATRIX = (
    ("Yaskevich, printed", COLOURS[1], "--"),
    ("Yaskevich corrected, counted", COLOURS[1], "-"),
    ("Stepanenko, printed", COLOURS[3], "--"),
    ("Stepanenko, counted", COLOURS[3], "-"),
    ("kosynka, printed", COLOURS[6], "--"),
    ("kosynka (block-triangular), counted", COLOURS[6], "-"),
    ("composite rigid body, counted", COLOURS[0], "-"),
)


def figure(result: Result) -> Any:
    """Six rows of regions, one column per number of degrees of freedom; below, three panels of curves."""
    freedoms = result.config.freedoms
    fig = Figure(figsize=(max(11.0, 1.9 * len(freedoms)), 20.0), layout="constrained")
    upper, lower, lowest = fig.subfigures(3, 1, height_ratios=(3.7, 1.0, 1.0))
    axes = upper.subplots(len(ROWS), len(freedoms), squeeze=False)
    for row, (source, free_base, label) in enumerate(ROWS):
        for column, n in enumerate(freedoms):
            ax = axes[row][column]
            _regions(ax, result.find(source, n, free_base))
            if row == 0:
                ax.set_title(f"{n} per joint")
            if row == len(ROWS) - 1:
                ax.set_xlabel("bodies in a chain")
            if column == 0:
                ax.set_ylabel(f"{label}\n\nchains")
    upper.legend(
        handles=[Patch(color=METHOD_COLOURS[name], label=name) for name in NAMES],
        loc="outside upper center",
        ncols=3,
        title="cheapest",
    )
    curves = lower.subplots(1, 3)
    _chain(curves[0], result, "counted", "operations of one evaluation")
    _chain(curves[1], result, "measured", "time of one evaluation [µs]")
    _mass_matrix(curves[2])
    for ax, links in zip(
        lowest.subplots(1, len(result.config.links), squeeze=False)[0], result.config.links, strict=True
    ):
        _energy_errors(ax, result, links)
    return fig


def _energy_errors(ax: Any, result: Result, links: int) -> None:
    """Median energy error against the step, with all starts between the least and the largest."""
    for method, colour in zip(result.config.methods, COLOURS, strict=False):
        found = [x for x in result.variables if x.links == links and x.method == method]
        h = [1e3 * x.step for x in found]
        for name, style in (("momenta", "o-"), ("velocities", "s--")):
            ax.fill_between(
                h,
                [x.errors[name].min() for x in found],
                [x.errors[name].max() for x in found],
                color=colour,
                alpha=0.12,
            )
            ax.loglog(h, [x.median(name) for x in found], style, ms=4, color=colour, label=f"{method}, {SAID[name]}")
    steps = [1e3 * step for step in result.config.steps]
    ax.set_xticks(steps, [f"{step:g}" for step in steps])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("step [ms]")
    ax.set_ylabel("relative energy error")
    ax.set_title(f"chain of {links} links, {result.config.horizon:g} s")
    ax.legend()


def _edges(values: tuple[int, ...]) -> Any:
    x = np.array(values, dtype=float)
    middle = (x[1:] + x[:-1]) / 2
    return np.concatenate([[max(x[0] - 0.5, 0.5)], middle, [x[-1] + 0.5]])


def _regions(ax: Any, cells: Cells) -> None:
    colours = ListedColormap([METHOD_COLOURS[name] for name in NAMES])
    ax.pcolormesh(_edges(cells.lengths), _edges(cells.branches), cells.best, cmap=colours, vmin=-0.5, vmax=2.5)
    ax.grid(False)
    if cells.source != "formula" and (cells.best == cells.best.flat[0]).all():  # one method everywhere: by how much
        costs = np.sort(cells.costs, axis=-1)
        ratio = costs[..., 1] / costs[..., 0]
        text = f"{NAMES[cells.best.flat[0]]} everywhere;\nnext best costs\n{ratio.min():.2g} … {ratio.max():.2g} times"
        ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="white", fontsize=8)


def _chain(ax: Any, result: Result, source: str, label: str) -> None:
    """Cost of single chains of one degree of freedom per joint: kernels, and for counts the formulas."""
    n = result.config.freedoms[0]
    scale = 1e6 if source == "measured" else 1.0
    cells, formula = result.find(source, n), result.find("formula", n)
    for k, name in enumerate(NAMES):
        bodies = np.array(cells.lengths) * cells.branches[0] + 1
        ax.loglog(bodies, scale * cells.costs[0, :, k], "o-", ms=3, color=METHOD_COLOURS[name], label=f"{name}, kernel")
        if source == "counted":
            ax.loglog(
                np.array(formula.lengths) + 1,
                formula.costs[0, :, k],
                ":",
                color=METHOD_COLOURS[name],
                label=f"{name}, formula",
            )
    ax.set_xticks([2, 5, 10, 20, 30], ["2", "5", "10", "20", "30"])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("bodies N")
    ax.set_ylabel(label)
    ax.set_title(f"one chain, {n} per joint")
    ax.legend()


def _mass_matrix(ax: Any) -> None:
    N = np.arange(2, 31)
    for name, colour, style in MASS_MATRIX:
        total = [sum(mass_matrix_operations(name, int(k))) for k in N]
        ax.semilogy(N, total, style, color=colour, label=name)
    ax.axvline(SPACE_MANIPULATOR, color="grey", lw=0.8)
    ax.text(SPACE_MANIPULATOR + 0.3, ax.get_ylim()[0] * 1.2, "space manipulator", fontsize=7, color="grey")
    ax.set_xlabel("joints N")
    ax.set_ylabel("operations of the mass matrix")
    ax.set_title("mass matrix of a serial chain")
    ax.legend(fontsize=6)
