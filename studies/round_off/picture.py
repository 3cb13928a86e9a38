"""The picture: root mean square energy error against the number of steps, a panel per case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from studies.round_off.question import Result, cases, problem_of
from studies.study import COLOURS, FILMED, FRAME

ACROSS = 4
"""Panels in a row."""


def figure(result: Result) -> Any:
    """Plain and compensated, single trajectories faint; dotted: slopes ½ and 1."""
    pairs = cases(result.walks)
    rows = -(-len(pairs) // ACROSS)
    across = -(-len(pairs) // rows)
    fig = Figure(figsize=(3.1 * across + 0.4, 3.6 * rows), layout="constrained")
    axes = fig.subplots(rows, across, sharey=True, squeeze=False).ravel()
    for ax in axes[len(pairs) :]:
        ax.remove()
    for ax, pair in zip(axes[: len(pairs)], pairs, strict=True):
        for w in pair:
            colour = COLOURS[int(w.compensated)]
            ax.loglog(w.steps, np.abs(w.errors).T, color=colour, lw=0.3, alpha=0.25)
            ax.loglog(w.steps, w.rms, color=colour, label=f"{w.additions}: n^{w.exponent:.2f} ± {w.exponent_sigma:.2f}")
            n = w.steps[[8, -1]]
            for power in (0.5, 1.0):
                ax.loglog(n, w.rms[-1] * (n / n[-1]) ** power, color="0.5", ls=":", lw=0.8)
        ax.set_title(f"{pair[0].method}\n{pair[0].system}, h = {pair[0].step:g} s", fontsize=8)
        ax.set_xlabel("steps")
        ax.set_ylim(1e-18, 1e-11)
        ax.legend(loc="upper left", fontsize=7)
    for ax in axes[: len(pairs) : across]:
        ax.set_ylabel(f"rms of ΔE/T, {len(result.walks[0].errors)} trajectories")
    return fig


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The first trajectory of the first case, by its method, over some seconds."""
    first = result.walks[0]
    problem = problem_of(first.system, 1, result.config.seed)
    problem = problem.with_start(np.atleast_2d(problem.y0)[0])
    every = max(1, round(FRAME / first.step))
    found = integrate(problem, first.method, (0.0, FILMED), step=first.step, save_every=every, progress=False)
    return [(f"{first.system}: {first.method}, h = {first.step:g} s", found)]
