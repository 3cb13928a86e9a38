"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.stiff.question import JACOBIANS
from studies.study import Record


def _cell(row: Record) -> str:
    return f"{number(row['contraction'])} / {row['iterations'] or 'none'}"


def iterations(runs: Sequence[Record]) -> str:
    """Contraction and iterations by system and stiffness."""
    rows = []
    for system, k in dict.fromkeys((r["system"], r["stiffness"]) for r in runs):
        found = {r["jacobian"]: r for r in runs if (r["system"], r["stiffness"]) == (system, k)}
        steps = str(found["exact"]["cg_steps"])
        rows.append(
            [system, number(k), str(found["exact"]["iterations"]), *(_cell(found[j]) for j in JACOBIANS[1:]), steps]
        )
    heads = [
        "bushings",
        "k [N/m]",
        "exact: iterations",
        "approximate: ρ / iterations",
        "block-diagonal: ρ / iterations",
    ]
    return markdown([*heads, "CG steps"], rows)


BLOCKS = {"iterations": iterations}
