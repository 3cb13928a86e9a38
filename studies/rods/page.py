"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.study import Record


def motions(runs: Sequence[Record]) -> str:
    """Energy, momenta, cost and feature of every run."""
    rows = []
    for r in runs:
        momenta = "–" if r["momentum_error"] is None else number(r["momentum_error"])
        per_node = r["microseconds_per_step"] / (r["elements"] + 1)
        rows.append([r["system"], str(r["elements"]), r["method"], number(r["step"]), number(r["energy_relative"]),
                     momenta, f"{per_node:.1f}", r["feature"]])  # fmt: skip
    heads = ["rod", "elements", "method", "h [s]", "energy band / at play", "change of momenta", "µs per node and step"]
    return markdown([*heads, "feature"], rows)


BLOCKS = {"motions": motions}
