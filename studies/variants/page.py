"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.study import Record


def tables(runs: Sequence[Record]) -> str:
    """One row for each method and step."""
    heads = ["method", "step (s)", "stopped", "stopped or doubtful", "turn over", "other verdicts", "of them not named"]
    rows = [
        [
            r["method"],
            f"{r['step']:g}",
            str(r["stopped"]),
            str(r["named"]),
            f"{100 * r['turning_part']:.1f} %",
            str(r["other_verdicts"]),
            str(r["other_verdicts_unnamed"]),
            f"{100 * r['other_ends'] / r['cells']:.0f} %",
            number(r["median_error"]),
            f"{r['seconds']:.0f}",
        ]
        for r in runs
    ]
    return markdown([*heads, "other ends", "median error of the energy", "s"], rows)


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    *others, reference = runs
    finest = [r for r in others if r["step"] == min(r["step"] for r in others)]
    worst = max(others, key=lambda r: r["other_verdicts"])
    unnamed = sum(r["other_verdicts_unnamed"] for r in others)
    ends = [100 * r["other_ends"] / r["cells"] for r in finest]
    verdicts = [100 * r["other_verdicts"] / r["cells"] for r in finest]
    return "\n".join(
        [
            f"* Where a trajectory ends is not to be had: with the finest step {min(ends):.0f} to {max(ends):.0f} % of "
            f"the cells end elsewhere than by `{reference['method']}`. What the family does is: "
            f"{min(verdicts):.1f} to {max(verdicts):.1f} % of the verdicts differ, those at the borders.",
            f"* At {worst['step']:g} s `{worst['method']}` gives {worst['other_verdicts']} of {worst['cells']} cells "
            f"another verdict; {worst['stopped']} runs stop, {worst['named']} stop or are doubtful.",
            f"* Over all methods and steps {unnamed} of {sum(r['other_verdicts'] for r in others)} other verdicts are "
            "not named by a status or a doubt.",
        ]
    )


BLOCKS = {"tables": tables, "findings": findings}
