"""The picture: energy error of the orbit in time and against steps per revolution, and of the chain against the mean
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from studies.study import COLOURS, FILMS
from studies.variable_steps.question import Run

LOOKS = {"fixed": 0, "integrating": 1, "logarithmic": 2, "divided": 3, "error": 4}
LINES = ("-", "--", ":")
SMALLEST = 1e-16


def figure(runs: Sequence[Run]) -> Any:
    """Hollow marks: a slope beyond three sigma."""
    orbit, chain = [r for r in runs if r.system == "Kepler"], [r for r in runs if r.system != "Kepler"]
    fig = Figure(figsize=(11.5, 3.6), layout="constrained")
    time, steps, whirl = fig.subplots(1, 3)
    methods = list(dict.fromkeys(r.method for r in orbit))
    finest = {(r.method, r.steering): r for r in sorted(orbit, key=lambda r: -r.mean_step)}
    for (method, steering), r in finest.items():
        if method == methods[0] or steering == "error":
            size = np.maximum(np.maximum.accumulate(np.abs(r.deviation[1:])), SMALLEST)
            time.loglog(r.solution.t[1:] / r.unit, size, color=COLOURS[LOOKS[steering]], label=f"{method}, {steering}")
    time.set_title("Orbit, finest steps: error so far")
    time.set_xlabel("revolutions")
    time.set_ylabel("max |E − E₀|/|E₀|")
    time.set_ylim(1e-17)
    time.legend(fontsize=6, loc="upper left", bbox_to_anchor=(0.0, 0.42))
    for k, method in enumerate(methods):
        for steering in dict.fromkeys(r.steering for r in orbit if r.method == method):
            own = [r for r in orbit if (r.method, r.steering) == (method, steering)]
            _line(steps, [1 / r.mean_step for r in own], own, LINES[k % 3], f"{method}, {steering}")
    steps.set_title("Orbit: error against steps")
    steps.set_xlabel("steps per revolution")
    steps.set_ylim(1e-21)
    steps.set_ylabel("max |E − E₀|/|E₀|")
    steps.legend(fontsize=6, loc="lower left", ncols=2)
    for steering in dict.fromkeys(r.steering for r in chain):
        own = [r for r in chain if r.steering == steering]
        _line(whirl, [1e3 * r.mean_step for r in own], own, "-", steering)
    whirl.set_title(f"{chain[0].system}: error against mean step")
    whirl.set_xlabel("mean step [ms]")
    for axis in (whirl.xaxis, whirl.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    whirl.set_ylabel("max |E − E₀|/T*")
    whirl.legend(fontsize=7)
    return fig


def _line(ax: Any, x: list[float], runs: list[Run], line: str, label: str) -> None:
    colour = COLOURS[LOOKS[runs[0].steering]]
    ax.loglog(x, [max(r.band, SMALLEST) for r in runs], line, color=colour, label=label)
    for at, r in zip(x, runs, strict=True):
        ax.plot(
            at,
            max(r.band, SMALLEST),
            "o",
            markersize=4.5,
            color=colour,
            markerfacecolor="white" if r.drifts else colour,
        )


def motion(runs: Sequence[Run]) -> Sequence[tuple[str, Any]]:
    """The orbit with fixed steps and with those of each kind of steering, over some revolutions."""
    orbits = {r.steering: r for r in reversed(runs) if r.system == "Kepler"}
    shown = list(reversed(orbits.values()))[:FILMS]
    return [(f"{r.method}, {r.steering}", r.solution.film(span=(0.0, 5.0 * r.unit))) for r in shown]
