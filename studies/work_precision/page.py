"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.study import Record
from studies.work_precision.question import LEVELS, SCIPY, Point, cost_at


def points(runs: Sequence[Record], system: str) -> dict[str, list[Point]]:
    """Solver → its runs on one system."""
    found: dict[str, list[Point]] = {}
    for r in runs:
        if r["system"] == system and r["error"] is not None:
            point = Point(
                system, r["method"], r["step"], r["tolerance"], r["error"], 1e-3 * r["milliseconds"], r["evaluations"]
            )
            found.setdefault(r["method"], []).append(point)
    return found


def cheapest(runs: Sequence[Record], system: str, error: float) -> tuple[str, str, float] | None:
    """The cheapest of ours and of SciPy's solvers at an error, and how much more the second one costs."""
    costs = {name: cost_at(found, error) for name, found in points(runs, system).items()}
    reached = {name: cost for name, cost in costs.items() if cost is not None}
    ours = [name for name in reached if not name.startswith(SCIPY)]
    theirs = [name for name in reached if name.startswith(SCIPY)]
    if not ours or not theirs:
        return None
    a, b = min(ours, key=reached.__getitem__), min(theirs, key=reached.__getitem__)
    return a, b, reached[b] / reached[a]


def gaps(runs: Sequence[Record]) -> dict[str, float]:
    """Distance of the two references, by system."""
    return {r["system"]: r["reference_gap"] for r in runs}


def table(runs: Sequence[Record]) -> str:
    """Who is the cheapest, by system and error."""
    rows = []
    for system, gap in gaps(runs).items():
        cells = []
        for level in LEVELS:
            found = cheapest(runs, system, level)
            said = f"`{found[0]}`, {found[2]:.2g} times ({found[1].removeprefix(SCIPY)})" if found else "–"
            cells.append(said if level > gap else "below the references")
        rows.append([system, *cells])
    return markdown(["system", *(f"error {number(level, 1)}" for level in LEVELS)], rows)


def least(runs: Sequence[Record]) -> str:
    """How close each solver comes, and the distance of the references."""
    said = []
    for system, gap in gaps(runs).items():
        errors = {name: min(p.error for p in found) for name, found in points(runs, system).items()}
        best = sorted(errors, key=errors.__getitem__)[:3]
        said.append(
            f"* {system}: the two references differ by {number(gap)}; closest to ours come "
            + ", ".join(f"`{name}` ({number(errors[name])})" for name in best)
            + "."
        )
    return "\n".join(said)


def evaluations(runs: Sequence[Record]) -> str:
    """Evaluations at the loosest run of each solver below 1e-7, which no load of a machine changes."""
    systems = list(gaps(runs))
    names = list(dict.fromkeys(r["method"] for r in runs))
    rows = []
    for name in names:
        cells = []
        for system in systems:
            good = [p for p in points(runs, system).get(name, []) if p.error < 1e-7]
            cells.append(str(min(p.evaluations for p in good)) if good else "–")
        if set(cells) != {"–"}:
            rows.append([f"`{name}`" if not name.startswith(SCIPY) else f"SciPy {name.removeprefix(SCIPY)}", *cells])
    return markdown(["evaluations for an error below 1e-7", *systems], rows)


BLOCKS = {"table": table, "least": least, "evaluations": evaluations}
