"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.efficiency.methods import NAMES
from studies.records import markdown
from studies.study import Record


def _diagrams(runs: Sequence[Record], source: str, free_base: bool) -> list[Record]:
    """The rows of one source, by degrees of freedom."""
    found = [r for r in runs if r["source"] == source and r.get("free_base") is free_base]
    return sorted(found, key=lambda r: r["freedoms"])


def _shares(row: Record) -> str:
    """Which method is the cheapest in how many cells, per cent."""
    return " / ".join(f"{name} {100 * row[f'share_{name}']:.0f} %" for name in NAMES if row[f"share_{name}"] >= 0.005)


def formulas(runs: Sequence[Record]) -> str:
    """Regions of the cheapest method by the formulas, and how far TSP reaches in a single chain."""
    rows = []
    for fixed, free in zip(_diagrams(runs, "formula", False), _diagrams(runs, "formula", True), strict=True):
        reach = [str(r["last_length_of_TSP"] or "–") for r in (fixed, free)]
        rows.append([str(fixed["freedoms"]), _shares(fixed), reach[0], _shares(free), reach[1]])
    heads = ["freedoms", "fixed base: share of cells", "TSP up to", "free base: share of cells", "TSP up to"]
    return markdown(heads, rows)


def kernels(runs: Sequence[Record]) -> str:
    """How much more the next best costs than the recursion, by counts and by times."""
    freedoms = [r["freedoms"] for r in _diagrams(runs, "counted", False)]
    rows = []
    for source, said in (("counted", "operations"), ("measured", "time")):
        for free in (False, True):
            cells = [
                f"{r['next_over_ERA_least']:.1f} – {r['next_over_ERA_largest']:.1f}"
                for r in _diagrams(runs, source, free)
            ]
            rows.append([f"next best, {said}, times that of ERA{', free base' if free else ''}", *cells])
    return markdown(["degrees of freedom per joint", *map(str, freedoms)], rows)


def verdict(runs: Sequence[Record]) -> str:
    """In how many cells the recursion is the cheapest."""
    least = {
        source: min(r["share_ERA"] for free in (False, True) for r in _diagrams(runs, source, free))
        for source in ("counted", "measured")
    }
    return (
        "Share of the cells in which ERA is the cheapest, in the diagram where it is least: "
        f"{100 * least['counted']:.0f} % by counts, {100 * least['measured']:.0f} % by times."
    )


def mass_matrix(runs: Sequence[Record]) -> str:
    """Operations of the algorithms for the mass matrix of the manipulator."""
    rows = [
        [r["source"], *(f"{r[key]:.0f}" for key in ("multiplications", "additions", "operations"))]
        for r in runs
        if r["system"].startswith("space manipulator")
    ]
    return markdown(["six moving joints", "multiplications", "additions", "together"], rows)


BLOCKS = {"formulas": formulas, "verdict": verdict, "kernels": kernels, "mass-matrix": mass_matrix}
