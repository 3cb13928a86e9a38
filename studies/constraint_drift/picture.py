"""The pictures: drift against time, energy against cost, and the experiment with imperfect lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from integrators import Solution
from studies.constraint_drift.question import IMPERFECT_HORIZON, IMPERFECT_STEP, PASSED, Result, Run, best
from studies.study import COLOURS, FILMED, FILMS

Array = NDArray[np.float64]
LOOK = {
    "Lagrange I": (COLOURS[7], "-", "x"),
    "Baumgarte": (COLOURS[1], "-", "o"),
    "Baumgarte 1/h": (COLOURS[1], ":", "."),
    "Ostermeyer": (COLOURS[4], "--", "v"),
    "augmented Lagrangian": (COLOURS[4], ":", "^"),
    "augmented Lagrangian index 3": (COLOURS[4], "-", ">"),
    "penalty": (COLOURS[7], ":", "1"),
    "Pinocchio": ("0.35", "--", "$P$"),
    "MuJoCo": ("0.35", ":", "$M$"),
    "velocity projection": (COLOURS[3], ":", "<"),
    "projection": (COLOURS[3], "-", "s"),
    "Hamiltonian": (COLOURS[5], ":", "."),
    "Hamiltonian re-based": (COLOURS[5], "--", "p"),
    "Hamiltonian closed": (COLOURS[5], "-", "P"),
    "GAUSS8": ("#B00020", "-", "8"),
    "generalised-α index 3": (COLOURS[6], "--", "d"),
    "generalised-α stabilised": (COLOURS[6], ":", "D"),
    "Radau IIA GGL": (COLOURS[6], "-", "*"),
    "RATTLE tree": (COLOURS[0], "--", "h"),
    "RATTLE body": (COLOURS[0], ":", "H"),
    "RATTLE order 4": (COLOURS[2], "-", "X"),
}
"""Colour, line and marker of every family."""
SLICES = 50
HIGHEST = 1e3
"""Errors beyond this (m, J, rad) are drawn here."""


def figure(result: Result) -> Any:
    """The first mechanism."""
    return _of_system(result, result.config.systems[0])


def extras(result: Result, folder: Path) -> Sequence[str]:
    """One figure per further mechanism, and the one of imperfect lengths."""
    files = []
    for name in result.config.systems[1:]:
        files.append(_save(_of_system(result, name), folder, name))
    if result.imperfect:
        files.append(_save(_imperfect(result), folder, "imperfect-lengths"))
    return files


def _save(fig: Figure, folder: Path, name: str) -> str:
    fig.savefig(folder / f"{name}.png")
    return f"{name}.png"


def _of_system(result: Result, name: str) -> Figure:
    runs = [r for r in result.runs if r.system == name]
    families = [f for f in LOOK if any(r.formulation.family == f for r in runs)]
    known = any(r.angle_error is not None for r in runs)
    fig = Figure(figsize=(11.5, 6.6), layout="constrained")
    axes = fig.subplots(2, 2)
    h = max(r.step for r in runs)
    at_h = [r for r in runs if r.step == h]
    fig.suptitle(
        f"{name}, {at_h[0].horizon:g} s; explicit formulations by RK4 unless named; every family at its best",
        fontsize=10,
    )
    _against_time(axes[0, 0], at_h, families, lambda r: r.gap, f"largest gap |φ| [m], h = {h:g} s")
    axes[0, 0].set_ylim(bottom=1e-17)
    _against_time(axes[0, 1], at_h, families, lambda r: r.energy_error, f"largest |E − E₀| [J], h = {h:g} s")
    _against_cost(axes[1, 0], runs, families, lambda r: r.band, "largest |E − E₀| [J]")
    if known:
        _against_cost(
            axes[1, 1], runs, families, lambda r: r.angle_error, "error of the crank's angle at the end [rad]"
        )
    else:
        _against_cost(axes[1, 1], runs, families, lambda r: float(np.nanmax(r.gap)), "largest gap |φ| [m]")
    handles = [h for h in axes[1, 0].lines if not str(h.get_label()).startswith("_")]
    fig.legend(handles=handles, loc="outside right center")
    return fig


def _against_time(
    ax: Any, runs: Sequence[Run], families: Sequence[str], values: Callable[[Run], Array], label: str
) -> None:
    for family in families:
        r = best(runs, family)
        if r is not None:
            colour, line, _ = LOOK[family]
            ax.loglog(*_envelope(r.solution.t, values(r)), color=colour, ls=line)
    ax.set_xlabel("t [s]")
    ax.set_title(label)


def _envelope(t: Array, values: Array) -> tuple[Array, Array]:
    """Greatest value in slices of time equal on a logarithmic axis, until a state is lost."""
    good = len(t) if np.isfinite(values).all() else int(np.argmin(np.isfinite(values)))
    edges = np.unique(np.geomspace(1, max(good - 1, 2), SLICES).astype(int))
    edges = np.append(edges[edges < good - 1], good)
    return t[edges[1:] - 1], np.array([np.clip(values[a:b], 1e-18, HIGHEST).max() for a, b in pairwise(edges)])


def _against_cost(
    ax: Any, runs: Sequence[Run], families: Sequence[str], value: Callable[[Run], float | None], label: str
) -> None:
    for family in families:
        chosen = [best([r for r in runs if r.step == h], family) for h in sorted({r.step for r in runs}, reverse=True)]
        arrived = [(r.cost, value(r)) for r in chosen if r is not None and r.arrived]
        shown = sorted((c, v) for c, v in arrived if v is not None and v < HIGHEST)
        colour, line, marker = LOOK[family]
        ax.loglog(
            [c for c, _ in shown], [v for _, v in shown], color=colour, ls=line, marker=marker, ms=5, label=family
        )
    ax.set_xlabel("processor time / simulated time")
    ax.set_title(label)


def _imperfect(result: Result) -> Figure:
    fig = Figure(figsize=(7.5, 4.2), layout="constrained")
    ax = fig.subplots()
    eps = result.config.imperfections
    for family in (f for f in LOOK if any(r.formulation.family == f for r in result.imperfect)):
        chosen = [
            best([r for r in result.imperfect if r.imperfection == e], family, "angle_error_or_more") for e in eps
        ]
        errors = [np.nan if r is None else min(r.angle_error_or_more, 10.0) for r in chosen]
        colour, line, marker = LOOK[family]
        ax.loglog(eps, errors, color=colour, ls=line, marker=marker, ms=5, label=family)
    ax.axhspan(PASSED, 20.0, color="0.9", zorder=0)
    ax.text(eps[0], 1.2 * PASSED, "another branch, or stopped", fontsize=8)
    ax.set_xlabel("error of the lengths [m]")
    ax.set_ylabel("error of the angle [rad]")
    ax.set_title(f"double four-bar through singular positions, {IMPERFECT_HORIZON:g} s, h = {IMPERFECT_STEP:g} s")
    fig.legend(loc="outside right center")
    return fig


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The first system in its formulations, one run of each."""
    runs = [r for r in result.runs if r.system == result.runs[0].system]
    found = {r.formulation.name: r.solution for r in reversed(runs) if isinstance(r.solution, Solution)}
    first = [(name, s) for name, s in reversed(found.items()) if s.scene is not None][:FILMS]
    return [(f"{runs[0].system}: {name}", s.film(span=(0.0, FILMED))) for name, s in first]
