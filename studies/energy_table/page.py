"""What the pages take from the records: all methods over 1e5 of the smallest steps, long chains and Talos over 2e4, and
order 2 beside RK4 over 1e6.  Of a method that is in several records the longest run counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from studies.energy_drift.page import drifts
from studies.energy_drift.question import ROUNDING, SIGNIFICANT
from studies.energy_table.picture import drawn
from studies.energy_table.question import STEPS
from studies.records import EVERY, markdown, number
from studies.study import Record

NAMES = {
    "TREE_VARIATIONAL": "order 2",
    "TREE_VARIATIONAL_SUZUKI4": "order 4",
    "TREE_VARIATIONAL_SOFSPA6": "order 6",
    "GAUSS8": "`GAUSS8`",
    "RKMK4": "RKMK4",
    "SCIPY_DOP853": "DOP853",
    "MUJOCO_RK4": "MuJoCo RK4",
    "MUJOCO_IMPLICITFAST": "MuJoCo implicitfast",
    "PINOCCHIO_EULER": "Pinocchio + Euler",
}
VARIATIONAL = ("TREE_VARIATIONAL", "TREE_VARIATIONAL_SUZUKI4", "TREE_VARIATIONAL_SOFSPA6")
HEADS = ("mechanism", "method", "run", "steps", r"max \|ΔE\|/T*", "slope per second", "µs/step", "µs/s at equal error")
Table = dict[str, dict[str, list[Record]]]


def gathered(runs: Sequence[Record]) -> Table:
    """Mechanism → method → its runs, the longest there are, in the order of the study."""
    found: Table = {}
    for row in runs:
        known = found.setdefault(row["model"], {}).setdefault(row["method"], [])
        if known and row["horizon"] > known[0]["horizon"]:
            known.clear()
        if not known or row["horizon"] == known[0]["horizon"]:
            known.append({**row, "drifts": drifts(row)})
    order = [*NAMES, *(r["method"] for r in runs)]
    return {
        model: dict(sorted(found[model].items(), key=lambda item: order.index(item[0])))
        for model in sorted(found, key=list(STEPS).index)
    }


def chosen(runs: Sequence[Record]) -> list[Record]:
    """The runs of the table, one after another."""
    return [row for methods in gathered(runs).values() for rows in methods.values() for row in rows]


def ended(rows: Iterable[Record]) -> list[Record]:
    """Those that reached the end."""
    return [r for r in rows if r["status"] == "OK"]


def size(row: Record) -> str:
    """Step or tolerance."""
    return f"{1e3 * row['step']:g} ms" if row["step"] else f"{row['tolerance']:g}"


def line(method: str, runs: Sequence[Record]) -> list[str]:
    """One row of the table: all runs of a method on one mechanism, without the mechanism's cell."""
    sizes = ", ".join(map(size, runs)).replace(" ms,", ",")
    head = [NAMES.get(method, method), f"{runs[0]['horizon']:g} s", sizes]
    if not ended(runs):
        return [*head, "unstable", "", "", ""]
    bands = ", ".join(number(r["energy_band"]) if r["status"] == "OK" else "unstable" for r in runs)
    slopes = [
        f"{number(r['energy_slope'])} ± {number(r['energy_slope_sigma'])} ({size(r)})"
        for r in ended(runs)
        if r["drifts"]
    ]
    said = "; ".join(slopes) or "none"
    momenta = [r["momentum_error"] for r in runs if r["momentum_error"] is not None]
    if momenta:
        said += f"; momentum {number(min(momenta))} … {number(max(momenta))}"
    cost = next((r["cost_said"] for r in runs if r["cost_said"]), "")
    return [*head, bands, said, f"{runs[-1]['microseconds_per_step']:.3g}", cost]


def table(runs: Sequence[Record]) -> str:
    """The table."""
    rows = []
    for model, methods in gathered(runs).items():
        scale = next(iter(methods.values()))[0]["energy_scale"]
        cells = [f"{model}, T* = {scale:.3g} J", *[""] * (len(methods) - 1)]
        rows += [[cell, *line(method, own)] for cell, (method, own) in zip(cells, methods.items(), strict=True)]
    return markdown(HEADS, rows)


def named(rows: Iterable[Record]) -> str:
    """Mechanisms with the steps of the rows."""
    return ", ".join(f"{r['model']} at {size(r)}" for r in rows) or "none"


def verdicts(runs: Sequence[Record]) -> str:
    """How many runs of each method reached the end, and which of them show a slope."""
    rows = []
    for method in dict.fromkeys(r["method"] for r in chosen(runs)):
        own = [r for r in chosen(runs) if r["method"] == method]
        sloping = [r for r in ended(own) if r["drifts"]]
        rows.append([NAMES.get(method, method), str(len(own)), str(len(ended(own))), str(len(sloping)), named(sloping)])
    heads = ["method", "runs", "that reached the end", "with a slope", "which"]
    return (
        f"Slopes beyond {SIGNIFICANT:g} sigma that amount to more than {ROUNDING:g} T* over the run:\n\n"
        f"{markdown(heads, rows)}"
    )


def variational(runs: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The variational runs that reached the end, and those of them with a slope."""
    own = ended(r for r in chosen(runs) if r["method"].startswith(VARIATIONAL[0]))
    return own, [r for r in own if r["drifts"]]


def order_sixteen(gauss: dict[str, list[Record]], found: Table) -> str:
    """What `GAUSS8` keeps, and where it is cheaper than RK4 at its smallest step."""
    rows = [r for own in gauss.values() for r in own]
    sloping = [r for r in rows if r["drifts"]]

    def cost(row: Record) -> float:
        return float(row["microseconds_per_unit_time"])

    cheaper = [model for model, own in gauss.items() if min(map(cost, own)) < cost(found[model]["RKMK4"][-1])]
    dearer = [
        f"{model} ({min(map(cost, own)) / cost(found[model]['RKMK4'][-1]):.1f} times)"
        for model, own in gauss.items()
        if model not in cheaper
    ]
    return (
        f"**`GAUSS8` reached the end in {len(ended(rows))} of {len(rows)} runs and kept the energy to "
        f"{spread([r['energy_band'] for r in ended(rows)])} T\\***, that is rounding. "
        f"It took less time than RK4 at its smallest step on {', '.join(cheaper) or 'none'}, "
        f"more on {', '.join(dearer) or 'none'}. Slopes: {named(sloping)}."
    )


def ratio(found: Table, model: str, method: str, key: str) -> float:
    """Of the smallest step of a method against that of order 2."""
    return float(found[model][method][-1][key] / found[model]["TREE_VARIATIONAL"][-1][key])


def spread(values: Sequence[float]) -> str:
    """Least and largest of some numbers."""
    return f"{number(min(values))} to {number(max(values))}"


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    found, (own, sloping) = gathered(runs), variational(runs)
    rk4 = ended(r for r in chosen(runs) if r["method"] == "RKMK4")
    cost = {
        method: [ratio(found, model, method, "microseconds_per_step") for model in found if method in found[model]]
        for method in VARIATIONAL[1:]
    }
    overtakes = [
        f"{model} {number(two['energy_band'] / abs(four['energy_slope']))} s at {size(two)}"
        for model in ("panda", "chain-10", "heavy-top")
        if model in found
        for two, four in zip(found[model]["TREE_VARIATIONAL"], found[model]["RKMK4"], strict=True)
        if four["drifts"] and four["status"] == "OK"
    ]
    smaller = [
        model
        for model, methods in found.items()
        if methods["RKMK4"][-1]["status"] != "OK"
        or methods["TREE_VARIATIONAL"][-1]["energy_band"] < methods["RKMK4"][-1]["energy_band"]
    ]
    floating = found["floating-chain-10"]
    gauss = {model: methods["GAUSS8"] for model, methods in found.items() if "GAUSS8" in methods}
    kept = [r["momentum_error"] for name in VARIATIONAL for r in ended(floating[name])]
    sixteen = [r["momentum_error"] for r in ended(floating.get("GAUSS8", []))]
    known = (*VARIATIONAL, "GAUSS8")
    lost = [r["momentum_error"] for name, rows in floating.items() if name not in known for r in ended(rows)]
    unstable = sum(
        r["status"] != "OK" for r in chosen(runs) if r["method"] in ("MUJOCO_IMPLICITFAST", "PINOCCHIO_EULER")
    )
    euler = sum(r["method"] in ("MUJOCO_IMPLICITFAST", "PINOCCHIO_EULER") for r in chosen(runs))
    return "\n".join(
        [
            f"* {order_sixteen(gauss, found)}",
            f"* **{len(sloping)} of {len(own)} variational runs show a slope beyond {SIGNIFICANT:g} sigma**: "
            f"{named(sloping)}. Among so many runs chance alone makes one of three sigma in every few hundred.",
            f"* RK4 drifts in {sum(r['drifts'] for r in rk4)} of the {len(rk4)} runs in which it reached the end.",
            "* Bounded is not small, but in time it wins. The error of RK4 overtakes the band of order 2 after a time "
            "that grows like h⁻³ (its drift is of order 5, the band of order 2). From the slopes and bands of the "
            f"table: {'; '.join(overtakes)}.",
            f"* At the smallest step order 2 has a smaller error than RK4 over these runs on: {', '.join(smaller)}.",
            f"* The compositions of orders 4 and 6 take {spread(cost[VARIATIONAL[1]])} and "
            f"{spread(cost[VARIATIONAL[2]])} times the time of a plain step (five and eleven substeps that cannot "
            "extrapolate). They pay where small errors are wanted.",
            f"* Momenta of the floating chain: variational runs change them by at most {number(max(kept))}, `GAUSS8` "
            f"by {spread(sixteen)}, the others by {spread(lost)}.",
            f"* Semi-implicit Euler, in MuJoCo (implicitfast: there is nothing to be implicit in) or around Pinocchio, "
            f"did not reach the end in {unstable} of {euler} runs: the kinetic energy of what whirls is not that of a "
            "separable system, and nothing is symplectic about it.",
        ]
    )


def slopes(runs: Sequence[Record]) -> str:
    """One sentence for other pages."""
    own, sloping = variational(runs)
    return (
        f"Where that ends is written down, too: {len(sloping)} of {len(own)} variational runs of "
        "[one table](studies/energy_table/README.md) show a slope of their energy; see the "
        "[known limits](docs/known_limits.md)."
    )


def picture(runs: Sequence[Record]) -> Any:
    """The picture of the page: all runs of the table."""
    return drawn(chosen(runs))


BLOCKS = {
    "verdicts": (EVERY, verdicts),
    "findings": (EVERY, findings),
    "table": (EVERY, table),
    "slopes": (EVERY, slopes),
}
