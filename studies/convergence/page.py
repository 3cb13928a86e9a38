"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.convergence.question import AGREES
from studies.records import markdown
from studies.study import Record


def measured(runs: Sequence[Record]) -> list[Record]:
    """Pairs of method and group with a slope."""
    return [r for r in runs if r["measured_order"] is not None]


def by_order(runs: Sequence[Record]) -> str:
    """Slopes by claimed order."""
    rows = []
    for claim in sorted({r["claimed_order"] for r in measured(runs)}):
        found = [r for r in measured(runs) if r["claimed_order"] == claim]
        slopes = sorted(r["measured_order"] for r in found)
        agree = sum(r["agrees"] for r in found)
        counts = (claim, len({r["method"] for r in found}), len(found), agree)
        rows.append([*map(str, counts), *(f"{x:.2f}" for x in (slopes[0], slopes[len(slopes) // 2], slopes[-1]))])
    heads = ["claimed order", "methods", "slopes", "that reach the claim", "least", "median", "largest"]
    return markdown(heads, rows)


def listed(rows: Sequence[Record]) -> str:
    """Methods, each with its groups and slopes."""
    found: dict[str, list[str]] = {}
    for r in rows:
        found.setdefault(f"`{r['method']}` ({r['claimed_order']})", []).append(
            f"{r['measured_order']:.2f} on {r['system']}"
        )
    return "; ".join(f"{name} {', '.join(slopes)}" for name, slopes in found.items()) or "none"


def findings(runs: Sequence[Record]) -> str:
    """How many agree, and which do not."""
    found = measured(runs)
    below = [r for r in found if not r["agrees"]]
    above = [r for r in found if r["measured_order"] > r["claimed_order"] + AGREES]
    whole = min((r["claimed_order"] for r in below), default=None)
    first = (
        "Every method has its order on every group."
        if whole is None
        else f"Every method with a claim below {whole} has its order on every group."
    )
    return "\n".join(
        [
            f"* {first}",
            f"* {len(found) - len(below)} of {len(found)} slopes reach the claim less {AGREES:g}. Pairs at "
            f"rounding before an order shows: {len(runs) - len(found)}.",
            f"* The others, with two or three usable steps between their first error and 1e-12: {listed(below)}. In "
            "many digits the tableaus among them show their orders (tests).",
            f"* {len(above)} slopes exceed their claim by more than {AGREES:g}, those of the methods "
            f"{', '.join(f'`{name}`' for name in dict.fromkeys(r['method'] for r in above))}: a small leading error "
            "term lets the next ones rule as long as the error is above rounding.",
        ]
    )


BLOCKS = {"by-order": by_order, "findings": findings}
