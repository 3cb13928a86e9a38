"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.records import markdown, number
from studies.study import Record


def bar(runs: Sequence[Record]) -> str:
    """Cost and error of the bar."""
    rows = [
        [
            r["method"],
            number(r["safety"]),
            number(r["kicks_per_time"], 3),
            number(r["microseconds_per_time"], 3),
            number(r["energy_band"]),
            number(r["later_band"]),
            number(r["momentum_error"], 1),
        ]
        for r in runs
        if r["system"] == "bar"
    ]
    heads = ["method", "part of the stable step", "kicks per time", "µs per time", "max \\|E − E₀\\|/E₀", "second half"]
    return markdown([*heads, "momenta"], rows)


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    found = {(r["method"], r["safety"]): r for r in runs if r["system"] == "bar"}
    (resonances,) = [r for r in runs if r["system"] == "map"]
    safeties = sorted({s for _, s in found})
    middle = safeties[len(safeties) // 2]
    verlet, levels, free = (found[name, middle] for name in ("SPLIT_STRANG", "AVI", "AVI_FREE"))
    costs = [found["SPLIT_STRANG", s] for s in safeties]
    errors = np.log([r["energy_band"] for r in costs])
    equal = float(
        np.exp(np.interp(np.log(levels["energy_band"]), errors, np.log([r["kicks_per_time"] for r in costs])))
    )
    return "\n".join(
        [
            f"* At {number(middle)} of the stable steps, steps of their own need "
            f"{verlet['kicks_per_time'] / levels['kicks_per_time']:.2g} times fewer kicks than the smallest step for "
            f"all, and {verlet['microseconds_per_time'] / levels['microseconds_per_time']:.2g} times less time; the "
            f"energy stays in a band of {number(levels['energy_band'])} over {number(levels['updates'])} updates of "
            f"elements ({number(levels['later_band'])} in the second half).",
            f"* The smallest step for all is then {levels['energy_band'] / verlet['energy_band']:.2g} times more "
            "accurate, because it follows the coarse elements with steps far below theirs. At the error of the steps "
            f"of their own it needs {equal / levels['kicks_per_time']:.2g} times their kicks: that is the gain.",
            f"* With a queue a unit of time takes "
            f"{free['microseconds_per_time'] / levels['microseconds_per_time']:.2g} times as long as with levels, at "
            "about as many kicks.",
            f"* Two springs on a mass grow by up to {number(resonances['largest_growth'])} per unit of time; with soft "
            "steps below 0.8 of half the period of the stiff motion by at most "
            f"{number(resonances['largest_growth_below_half_period'])}.",
        ]
    )


BLOCKS = {"bar": bar, "findings": findings}
