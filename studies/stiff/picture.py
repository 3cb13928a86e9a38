"""The picture: where the block-diagonal iteration is fast, and how many iterations each Jacobian takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from studies.stiff.arms import joined
from studies.stiff.question import JACOBIANS, MOST, SYSTEMS, Result
from studies.study import COLOURS, FRAME

LEVELS = (0.01, 0.1, 0.3, 0.6, 0.9, 0.99)


def figure(result: Result) -> Any:
    """Left: two masses, by formula; middle: the arms, measured; right: iterations."""
    fig = Figure(figsize=(11, 3.6), layout="constrained")
    left, middle, right = fig.subplots(1, 3)
    ratio, mass = np.meshgrid(np.logspace(-3, 4, 80), np.logspace(0, 5, 80))
    _map(left, ratio, mass, ratio / np.sqrt((1 + ratio) * (mass + ratio)))
    left.set(xlabel="k / (β² m₁)", ylabel="m₂ / m₁", title="two masses on a spring")
    shown = _map(middle, result.steps, result.stiffness, result.contraction)
    middle.set(xlabel="h [s]", ylabel="k [N/m]", title="two arms, four bushings")
    fig.colorbar(shown, ax=middle, label="contraction per iteration")
    for colour, name in enumerate(JACOBIANS):
        for system, line in (("between arms", "-"), ("on the base", ":")):
            rows = [r for r in result.rows if r.jacobian == name and r.system == system]
            counts = [r.iterations or MOST for r in rows]
            label = name if line == "-" else None
            right.loglog(
                [r.stiffness for r in rows], counts, line, marker="o", ms=3, color=COLOURS[colour], label=label
            )
    rows = [r for r in result.rows if r.jacobian == JACOBIANS[0] and r.system == "between arms"]
    right.loglog(
        [r.stiffness for r in rows],
        [r.cg_steps for r in rows],
        "--",
        marker="s",
        ms=3,
        color=COLOURS[3],
        label="CG steps",
    )
    right.set(xlabel="k [N/m]", ylabel="iterations", title=f"h = {result.config.step:g} s (dotted: on the base)")
    right.legend(fontsize=7)
    return fig


def _map(ax: Any, x: Any, y: Any, z: Any) -> Any:
    ax.set(xscale="log", yscale="log")
    shown = ax.contourf(x, y, z, levels=np.linspace(0, 1, 21), cmap="viridis")
    lines = ax.contour(x, y, z, levels=LEVELS, colors="white", linewidths=0.8)
    ax.clabel(lines, fontsize=7)
    return shown


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The two arms with the softest bushings, between them and to the base."""
    soft = min(result.config.stiffness)
    made = [(system, joined(soft, on_base)) for system, on_base in SYSTEMS.items()]
    start = 0.5 * np.cos(np.arange(float(made[0][1].tree.nv)))
    runs = [(name, mechanism.problem(v=start)) for name, mechanism in made]
    return [
        (f"{name}, k = {soft:g} N/m", integrate(problem, "MIDPOINT", (0.0, 2.0), step=FRAME / 10, progress=False))
        for name, problem in runs
    ]
