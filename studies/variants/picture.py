"""The picture: the family by the reference, and where other methods give other verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from studies.study import COLOURS
from studies.variants.question import Answer, lost


def figure(answer: Answer) -> Any:
    """Left who turns over and where methods disagree, middle the error of the energy of one method, right counts."""
    fig = Figure(figsize=(11.5, 3.8), layout="constrained")
    verdict, error, counts = fig.subplots(1, 3)
    reference, finest = answer.runs[-1], min(h for _, h in answer.runs)
    verdict.pcolormesh(answer.lengths, answer.masses, answer.turns[-1], cmap="Blues", vmin=0, vmax=1.6, rasterized=True)
    methods = list(dict.fromkeys(m for m, _ in answer.runs[:-1]))
    for colour, marker, method in zip(COLOURS[1:], "x+.", methods, strict=False):
        k = answer.runs.index((method, finest))
        i, j = np.nonzero(answer.turns[k] != answer.turns[-1])
        verdict.plot(answer.lengths[j], answer.masses[i], marker, color=colour, ms=4, label=f"otherwise by {method}")
    verdict.set(yscale="log", xlabel="length of the second bar (m)", ylabel="its mass (kg)")
    verdict.set_title(f"Blue: turns over ({reference[0]})")
    verdict.legend(fontsize=7, loc="lower right", framealpha=1.0)
    k = answer.runs.index((methods[0], finest))
    shown = error.pcolormesh(
        answer.lengths, answer.masses, np.maximum(answer.errors[k], 1e-16), norm=LogNorm(), cmap="viridis",
        rasterized=True,
    )  # fmt: skip
    error.set(yscale="log", xlabel="length of the second bar (m)", title=f"{methods[0]}, step {finest:g} s")
    fig.colorbar(shown, ax=error, label="largest |E − E₀| over what is at stake")
    other = lost(answer)
    for colour, method in zip(COLOURS[1:], methods, strict=False):
        own = [k for k, (name, _) in enumerate(answer.runs[:-1]) if name == method]
        steps = [answer.runs[k][1] for k in own]
        size = answer.turns[0].size
        part = [100 * other[k].sum() / size for k in own]
        counts.semilogx(steps, part, "o--", color=colour, label=f"{method}: another end")
        part = [100 * (answer.turns[k] != answer.turns[-1]).sum() / size for k in own]
        counts.semilogx(steps, part, "o-", color=colour, label=f"{method}: another verdict")
    counts.set(xlabel="step (s)", ylabel="cells (%)", title="Others than by the reference")
    steps = sorted({h for _, h in answer.runs[:-1]})
    counts.set_xticks(steps, [f"{h:g}" for h in steps])
    counts.xaxis.set_minor_formatter(NullFormatter())
    counts.legend(fontsize=7, handlelength=3.5)
    return fig
