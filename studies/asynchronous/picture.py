"""The picture: energy error of the bar against what it costs, its course, and the map of resonances."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from studies.asynchronous.question import Answer
from studies.study import COLOURS


def figure(answer: Answer) -> Any:
    """Left error against kicks, middle its course with default steps, right the map; dashed where theory puts
    resonances.
    """
    fig = Figure(figsize=(11.5, 3.6), layout="constrained")
    cost, course, plane = fig.subplots(1, 3)
    methods = list(dict.fromkeys(r.method for r in answer.runs))
    middle = sorted({r.safety for r in answer.runs})[len({r.safety for r in answer.runs}) // 2]
    for colour, method in zip(COLOURS, methods, strict=False):
        own = [r for r in answer.runs if r.method == method]
        cost.loglog([r.kicks for r in own], [r.solution.error("energy") for r in own], "o-", color=colour, label=method)
        for r in own:
            if r.safety == middle:
                course.semilogy(r.solution.t[1:], np.maximum.accumulate(np.abs(r.deviation[1:])) + 1e-16, color=colour)
    cost.xaxis.set_minor_formatter(NullFormatter())
    cost.set_xlabel("kicks of elements per unit of time")
    cost.set_ylabel("max |E − E₀|/E₀")
    cost.set_title("Bar with a part 100 times finer")
    cost.legend(fontsize=7)
    course.set_xlabel("time (wave passages of a coarse element)")
    course.set_ylabel("max |E − E₀|/E₀ so far")
    course.set_title(f"The same, {middle:g} of the stable steps")
    image = plane.pcolormesh(
        answer.phases / np.pi, answer.ratios, np.maximum(np.nan_to_num(answer.growth), 1e-4), norm=LogNorm(1e-4, 1e-1),
        cmap="magma_r", shading="nearest", rasterized=True,
    )  # fmt: skip
    fig.colorbar(image, ax=plane, label="growth per unit of time")
    for n in (-1, 1):
        for m in range(-6, 8):
            phases = m - n * answer.ratios
            plane.plot(phases, answer.ratios, "--", color=COLOURS[0], linewidth=0.4)
    plane.set_xlim(answer.phases[0] / np.pi, answer.phases[-1] / np.pi)
    plane.set_ylim(answer.ratios[0], answer.ratios[-1])
    plane.set_xlabel("ω̂ h₂/π")
    plane.set_ylabel("h₂/h₁")
    plane.set_title("Resonances of two springs on a mass")
    return fig
