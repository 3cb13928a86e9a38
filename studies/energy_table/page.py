"""The table and the picture of the page, from the summaries of finished runs.

    python -m studies.energy_table.page results/first results/second … --picture energy-table.png

Folders may hold different mechanisms, and different methods of one mechanism; of a method that is in several, the
longest run counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import matplotlib
import tyro

from studies.energy_drift.question import ROUNDING, SIGNIFICANT
from studies.energy_table.picture import drawn
from studies.energy_table.question import STEPS
from studies.study import STYLE, Record

NAMES = {
    "TREE_VARIATIONAL": "order 2",
    "TREE_VARIATIONAL_SUZUKI4": "order 4",
    "TREE_VARIATIONAL_SOFSPA6": "order 6",
    "SCIPY_DOP853": "DOP853",
    "MUJOCO_RK4": "MuJoCo RK4",
    "MUJOCO_IMPLICITFAST": "MuJoCo implicitfast",
    "PINOCCHIO_EULER": "Pinocchio + Euler",
}
HEADER = r"""| mechanism | method | run | steps | max \|ΔE\|/T* | slope per second | µs/step | µs/s at equal error |
|---|---|---|---|---|---|---|---|"""


def gathered(folders: Sequence[Path]) -> dict[str, dict[str, list[Record]]]:
    """Mechanism → method → its runs, the longest there are, in the order of the study."""
    found: dict[str, dict[str, list[Record]]] = {}
    for folder in folders:
        rows: dict[tuple[str, str], list[Record]] = {}
        for row in json.loads((folder / "summary.json").read_text(encoding="utf-8"))["runs"]:
            rows.setdefault((row["model"], row["method"]), []).append(row)
        for (model, method), runs in rows.items():
            known = found.setdefault(model, {})
            if method not in known or runs[0]["horizon"] > known[method][0]["horizon"]:
                known[method] = [{**row, "drifts": drifts(row)} for row in runs]
    order = [*NAMES, "RKMK4"]
    order.insert(3, order.pop())
    return {
        model: dict(
            sorted(found[model].items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
        )
        for model in sorted(found, key=list(STEPS).index)
    }


def drifts(row: Record) -> bool:
    """As `studies.energy_drift.question.Run.drifts`, also of runs that were judged by an older rule."""
    slope, sigma = row["energy_slope"], row["energy_slope_sigma"]
    return slope is not None and abs(slope) * row["horizon"] > ROUNDING and abs(slope) > SIGNIFICANT * sigma


def size(row: Record) -> str:
    """Step or tolerance."""
    return f"{1e3 * row['step']:g} ms" if row["step"] else f"{row['tolerance']:g}"


def line(method: str, runs: Sequence[Record]) -> str:
    """One row of the table: all runs of a method on one mechanism, without the mechanism's cell."""
    name, seconds, sizes = (
        NAMES.get(method, method),
        f"{runs[0]['horizon']:g} s",
        ", ".join(map(size, runs)).replace(" ms,", ","),
    )
    if all(r["status"] != "OK" for r in runs):
        return f"{name} | {seconds} | {sizes} | unstable | | | |"
    bands = ", ".join(f"{r['energy_band']:.1e}" if r["status"] == "OK" else "unstable" for r in runs)
    slopes = [
        f"{r['energy_slope']:.1e} ± {r['energy_slope_sigma']:.1e} ({size(r)})"
        for r in runs
        if r["status"] == "OK" and r["drifts"]
    ]
    said = "; ".join(slopes) or "none"
    momenta = [r["momentum_error"] for r in runs if r["momentum_error"] is not None]
    if momenta:
        said += f"; momentum {min(momenta):.1e} … {max(momenta):.1e}"
    cost = next((r["cost_said"] for r in runs if r["cost_said"]), "")
    return f"{name} | {seconds} | {sizes} | {bands} | {said} | {runs[-1]['microseconds_per_step']:.3g} | {cost} |"


def page(found: dict[str, dict[str, list[Record]]]) -> str:
    """The table."""
    lines = [HEADER]
    for model, methods in found.items():
        scale = next(iter(methods.values()))[0]["energy_scale"]
        cells = [f"{model}, T* = {scale:.3g} J", *[""] * (len(methods) - 1)]
        lines += [
            f"| {cell} | {line(method, runs)}" for cell, (method, runs) in zip(cells, methods.items(), strict=True)
        ]
    return "\n".join(lines)


def verdict(found: dict[str, dict[str, list[Record]]]) -> str:
    """How many runs of each method reached the end, and which of them show a slope."""
    of: dict[str, list[Record]] = {}
    for methods in found.values():
        for method, runs in methods.items():
            of.setdefault(method, []).extend(r for r in runs if r["status"] == "OK")
    lines = [f"slopes beyond {SIGNIFICANT:g} sigma that amount to more than {ROUNDING:g} T* over the run:"]
    for method, runs in of.items():
        drifting = [f"{r['model']} {r['size']}" for r in runs if r["drifts"]]
        lines.append(f"{NAMES.get(method, method)}: {len(drifting)} of {len(runs)}: {', '.join(drifting) or '–'}")
    return "\n".join(lines)


def main(
    folders: tyro.conf.Positional[list[Path]], picture: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
) -> None:
    """Print the table of the page; draw its picture."""
    found = gathered(folders)
    print(page(found), verdict(found), sep="\n\n")
    if picture is not None:
        with matplotlib.rc_context(STYLE):
            figure: Any = drawn([row for methods in found.values() for runs in methods.values() for row in runs])
            figure.savefig(picture)


if __name__ == "__main__":
    tyro.cli(main)
