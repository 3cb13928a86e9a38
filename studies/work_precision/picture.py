"""The picture: error against computing time, a panel per system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from integrators import integrate
from studies.study import COLOURS, FILMED, FRAME
from studies.work_precision.problems import PROBLEMS
from studies.work_precision.question import SCIPY, Result


def figure(result: Result) -> Any:
    """Solid with dots: ours; dashed with open marks: SciPy's; grey: where the references differ."""
    fig = Figure(figsize=(4.0 * len(result.gaps) + 1.6, 4.4), layout="constrained")
    axes = fig.subplots(1, len(result.gaps), sharey=True, squeeze=False)[0]
    solvers = list(dict.fromkeys(p.solver for p in result.points))
    ours, theirs = [s for s in solvers if not s.startswith(SCIPY)], [s for s in solvers if s.startswith(SCIPY)]
    for ax, (system, gap) in zip(axes, result.gaps.items(), strict=True):
        for solver in ours + theirs:
            points = [p for p in result.points if p.system == system and p.solver == solver]
            foreign = solver in theirs
            k = theirs.index(solver) if foreign else ours.index(solver)
            ax.loglog(
                [1e3 * p.seconds for p in points],
                [p.error for p in points],
                color=COLOURS[k % len(COLOURS)],
                ls="--" if foreign else "-",
                marker="s^Dv"[k % 4] if foreign else ".",
                mfc="none" if foreign else None,
                ms=4 if foreign else 6,
                lw=1.0,
                label=solver.replace(SCIPY, "SciPy "),
            )
        ax.axhspan(1e-16, max(gap, 1e-15), color="0.9", lw=0)
        ax.set_ylim(1e-14, 10)
        ax.set_title(f"{system}, {PROBLEMS[system][1]:g} s")
        ax.set_xlabel("computing time [ms]")
    axes[0].set_ylabel("error at the end (distance on the group)")
    handles: dict[str, Any] = {}
    for ax in axes:
        handles |= {label: h for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    fig.legend(handles.values(), handles.keys(), loc="outside right upper")
    return fig


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The first of the systems, by the method that is most accurate."""
    build, horizon = PROBLEMS[result.config.systems[0]]
    span = (0.0, min(horizon, FILMED))
    return [(result.config.systems[0], integrate(build(), "RKMK_FEAGIN10", span, step=FRAME, progress=False))]
