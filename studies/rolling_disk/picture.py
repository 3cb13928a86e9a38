"""The picture: the disk on its way, paths and errors of the methods, energies over long runs, limits of stability, the
coin.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from studies.rolling_disk.question import Result
from studies.rolling_disk.scene import animate, still
from studies.study import COLOURS, FILMS

MARKERS = "os^Dv<>PXphd*"
MORE_COLOURS = (*COLOURS, "#888888", "#AA4499", "#999933", "#882255", "#44AA99")


def figure(result: Result) -> Any:
    """Above: the disk in space and its path seen from above.  Below: errors, energies, limits, coin."""
    fig = Figure(figsize=(14.5, 8.6), layout="constrained")
    above, below = fig.subfigures(2, 1, height_ratios=[1.15, 1.0])
    scene, plan = above.subfigures(1, 2, width_ratios=[0.9, 1.0])
    c = result.config
    ax = scene.add_subplot(projection="3d")
    still(ax, result.reference, c.radius)
    start = f"tilt {np.degrees(c.angle):.4g}°, spin {c.spin:g}, roll {c.roll:g} rad/s"
    ax.set_title(f"{c.shape}, r = {c.radius:g} m, {start}: {result.reference.t[-1]:.4g} s")
    _plan(plan.subplots(), result)
    panels = [_sweep, _energy] + [_limits] * bool(result.boundaries) + [_coin] * bool(result.coin)
    for draw, axis in zip(panels, np.atleast_1d(below.subplots(1, len(panels))), strict=True):
        draw(axis, result)
    return fig


def extras(result: Result, out: Path) -> list[str]:
    """The animation."""
    if not result.config.animation:
        return []
    frames = 24 if result.config.quick else 120
    return [animate(result.reference, result.config.radius, out / "rolling-disk.gif", frames).name]


def _colour(result: Result, method: str) -> str:
    return MORE_COLOURS[list(result.config.methods).index(method) % len(MORE_COLOURS)]


def _plan(ax: Any, result: Result) -> None:
    coarsest = result.config.steps[0]
    for r in result.sweep:
        if r.step in (coarsest, None):
            kept = r.path_error is not None
            path = r.contact.T if kept else ([], [])
            name = r.method if kept else f"{r.method}: lost"
            ax.plot(*path, color=_colour(result, r.method), linewidth=1.0, label=name)
    ax.plot(*result.reference.contact.T, color="black", linewidth=1.6, linestyle=(0, (1, 2)), label="reference")
    ax.plot(*result.reference.contact[0], "ko", markersize=4)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(f"path of the contact point, h = {coarsest:g} s")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _sweep(ax: Any, result: Result) -> None:
    for k, method in enumerate(result.config.methods):
        runs = [r for r in result.sweep if r.method == method and r.path_error and r.step]
        if runs:
            ax.loglog(
                [r.step for r in runs], [r.path_error for r in runs], marker=MARKERS[k % len(MARKERS)], markersize=4,
                color=_colour(result, method), label=method,
            )  # fmt: skip
    ax.set_title(f"error of the path in {result.reference.t[-1]:.4g} s")
    ax.set_xlabel("step h [s]")
    ax.set_ylabel("largest distance [m]")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xticks(result.config.steps, [f"{h:g}" for h in result.config.steps])


def _energy(ax: Any, result: Result) -> None:
    for r in result.long:
        s = r.solution
        first = s.invariants[0, 0]
        size = np.maximum.accumulate(np.maximum(np.abs(s.least[1:, 0] - first), np.abs(s.greatest[1:, 0] - first)))
        shown = np.unique(np.geomspace(1, len(size), 150).astype(int)) - 1
        ax.loglog(s.t[1:][shown], np.maximum(size[shown], 1e-16), color=_colour(result, r.method), label=r.method)
    ax.set_title(f"energy error, {result.config.long_steps:g} steps of {result.config.steps[-1]:g} s")
    ax.set_xlabel("t [s]")
    ax.set_ylabel("largest |E − E₀| so far [J]")


def _limits(ax: Any, result: Result) -> None:
    for b, colour in zip(result.boundaries, COLOURS, strict=False):
        shown = np.isfinite(b.largest)
        ax.semilogy(
            b.ratios[shown], b.largest[shown], color=colour, marker=".", label=f"upright {b.kind}: {b.found:.4g} rad/s"
        )
    ax.axvline(1.0, color="0.3", linestyle=":", linewidth=1)
    ax.set_title("does a pushed disk fall?")
    ax.set_xlabel("rate / theoretical limit")
    ax.set_ylabel("largest tilt / push")
    ax.legend(fontsize=7)


def _coin(ax: Any, result: Result) -> None:
    coin = result.coin
    left = coin.end - coin.t
    ax.loglog(left, coin.energy, color=COLOURS[0], label=f"energy, exponent {coin.exponent:.3f}")
    ax.loglog(
        left,
        coin.energy[0] * (left / left[0]) ** coin.expected,
        color="0.4",
        linestyle=":",
        label=f"theory {coin.expected:.3f}",
    )
    ax.invert_xaxis()
    ax.set_title("Euler's disk: the last seconds")
    ax.set_xlabel("t₀ − t [s]")
    ax.set_ylabel("E/(3/2 m g r)")
    twin = ax.twinx()
    twin.loglog(left, coin.precession / (2 * np.pi), color=COLOURS[1], linewidth=0.9)
    twin.set_ylabel("precession [Hz]", color=COLOURS[1])
    twin.grid(False)
    ax.xaxis.set_minor_formatter(NullFormatter())  # after the twin, which sets that of both
    ax.legend(fontsize=7, loc="lower left")


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The disk by the first methods, each with its longest step."""
    first = {r.method: r for r in reversed(result.sweep)}
    shown = [r for r in result.sweep if first[r.method] is r][:FILMS]
    return [(f"{r.method}, h = {r.step:g} s" if r.step else r.method, r.solution) for r in shown]
