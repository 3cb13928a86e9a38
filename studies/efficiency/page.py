"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.efficiency.methods import NAMES
from studies.records import markdown, number
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


def _chains(runs: Sequence[Record]) -> list[Record]:
    return [r for r in runs if r["source"] == "energy error"]


def variables(runs: Sequence[Record]) -> str:
    """Energy errors in momenta and in velocities."""
    rows = [
        [
            str(r["links"]),
            r["method"],
            f"{1e3 * r['step']:g}",
            *(
                f"{number(r[f'energy_error_{name}'])} ({number(r[f'least_{name}'])} … {number(r[f'largest_{name}'])})"
                for name in ("momenta", "velocities")
            ),
            number(r["momenta_over_velocities"]),
        ]
        for r in _chains(runs)
    ]
    return markdown(
        ["links", "method", "step, ms", "(q, p): median (least … largest)", "(q, v)", "(q, p)/(q, v)"], rows
    )


def verdict_on_variables(runs: Sequence[Record]) -> str:
    """The ratios of the errors, method by method, and what an evaluation costs."""
    found = _chains(runs)
    said = []
    for method in dict.fromkeys(r["method"] for r in found):
        ratios = sorted(r["momenta_over_velocities"] for r in found if r["method"] == method)
        said.append(f"{method} {number(ratios[0])} … {number(ratios[-1])}")
    costs = sorted(r["microseconds_velocities"] / r["microseconds_momenta"] for r in found)
    return (
        f"Energy error in momenta over that in velocities: {', '.join(said)}. An evaluation in velocities takes "
        f"{number(costs[len(costs) // 2])} times as long as one in momenta."
    )


BLOCKS = {
    "variables": variables,
    "verdict-on-variables": verdict_on_variables,
    "formulas": formulas,
    "verdict": verdict,
    "kernels": kernels,
    "mass-matrix": mass_matrix,
}
