"""What the pages take from the records: Panda for 100 s and 10 000 s (all methods) and 500 s, the chain of ten."""

from __future__ import annotations

from collections.abc import Sequence

from studies.energy_drift.question import ROUNDING, SIGNIFICANT
from studies.records import markdown, number
from studies.study import Record

NAMES = {
    "GAUSS8": "`GAUSS8`, order 16",
    "TREE_VARIATIONAL": "`TREE_VARIATIONAL`, order 2",
    "TREE_VARIATIONAL_SUZUKI4": "composed, order 4 (Suzuki)",
    "TREE_VARIATIONAL_SOFSPA6": "composed, order 6 (Sofroniou–Spaletta)",
    "RKMK4": "`RKMK4`",
    "MIDPOINT": "`MIDPOINT`",
    "SCIPY_DOP853": "SciPy's DOP853",
    "MUJOCO_RK4": "MuJoCo RK4",
    "MUJOCO_IMPLICITFAST": "MuJoCo implicitfast",
}
SYMPLECTIC = ("TREE_VARIATIONAL", "MIDPOINT")
"""Of low order."""
PANDA, CHAIN, LONG, PEERS = "panda-500", "chain-10", "long", "peers"


def drifts(row: Record) -> bool:
    """As `studies.energy_drift.question.Run.drifts`."""
    slope, sigma = row["energy_slope"], row["energy_slope_sigma"]
    return slope is not None and abs(slope) * row["horizon"] > ROUNDING and abs(slope) > SIGNIFICANT * sigma


def size(row: Record) -> str:
    """Step or tolerance."""
    return f"{1e3 * row['step']:g} ms" if row["step"] else f"rtol {row['tolerance']:g}"


def of(runs: Sequence[Record], method: str) -> list[Record]:
    """The runs of a method, from the largest step on."""
    return [r for r in runs if r["method"] == method]


def slope(row: Record) -> str:
    """A slope with its uncertainty where it counts as a drift, else "none"."""
    if row["status"] != "OK":
        return "–"
    return f"{number(row['energy_slope'])} ± {number(row['energy_slope_sigma'])}" if drifts(row) else "none"


def table(runs: Sequence[Record]) -> str:
    """Largest error and slope, run by run."""
    rows = []
    for method in dict.fromkeys(r["method"] for r in runs):
        for k, r in enumerate(of(runs, method)):
            band = number(r["energy_band"]) if r["status"] == "OK" else "unstable"
            rows.append(["" if k else NAMES.get(method, method), size(r), band, slope(r)])
    return markdown(["method", "h or tolerance", "largest error / T*", "slope per second"], rows)


def panda(runs: Sequence[Record]) -> str:
    """Panda by all methods."""
    return f"Panda, {runs[0]['horizon']:g} s, T* = {runs[0]['energy_scale']:.3g} J:\n\n{table(runs)}"


def chain(runs: Sequence[Record]) -> str:
    """The chain of ten, with composed methods and MuJoCo."""
    return f"Chain of ten, {runs[0]['horizon']:g} s, T* = {runs[0]['energy_scale']:.3g} J:\n\n{table(runs)}"


def divided(row: Record) -> str:
    """How many steps were divided."""
    share = row["substeps"] / row["steps"]
    return "none divided" if row["substeps"] == 0 else f"{100 * share:.2g} % more substeps by division"


def very_long(runs: Sequence[Record]) -> str:
    """The same methods for much longer."""
    fine = min(r["step"] for r in runs if r["step"])
    return f"{panda(runs)}\n\nThat is {number(runs[0]['horizon'] / fine, 1)} steps of {1e3 * fine:g} ms."


def after_long(runs: Sequence[Record]) -> str:
    """One sentence on them for other pages."""
    gauss, two, four = (of(runs, name) for name in ("GAUSS8", "TREE_VARIATIONAL", "RKMK4"))
    scipy = of(runs, "SCIPY_DOP853")[-1]
    kept = [r["energy_band"] for r in gauss]
    lost = [f"{number(r['energy_band'])} T* at {size(r)}" for r in four if r["status"] == "OK"]
    return (
        f"After {runs[0]['horizon']:g} s, {number(runs[0]['horizon'] / two[-1]['step'], 1)} steps of {size(two[-1])}, "
        f"`GAUSS8` has kept the energy to {number(min(kept))} to {number(max(kept))} T*, the variational step of order "
        f"2 to {number(two[-1]['energy_band'])} T* at {size(two[-1])}; RK4 has lost {', '.join(lost) or 'the motion'}, "
        f"DOP853 {number(scipy['energy_band'])} T* at {size(scipy)}."
    )


def panda_long(runs: Sequence[Record]) -> str:
    """Order 2 on Panda for longer: errors, slopes, divided steps."""
    said = [
        f"{size(r)}: error {number(r['energy_band'])} T*, slope {number(r['energy_slope'])} ± "
        f"{number(r['energy_slope_sigma'])} per second, {divided(r)}"
        for r in runs
    ]
    return f"Panda by order 2 over {runs[0]['horizon']:g} s. " + "; ".join(said) + "."


def panda_findings(runs: Sequence[Record]) -> str:
    """Who wins over the horizon of the first record."""
    rk4, variational = of(runs, "RKMK4"), of(runs, "TREE_VARIATIONAL")
    falling = [r for r in rk4 if drifts(r)]
    bounded = [r for name in SYMPLECTIC for r in of(runs, name)]
    smaller = [size(a) for a, b in zip(rk4, variational, strict=True) if a["energy_band"] < b["energy_band"]]
    shrink = variational[-2]["energy_band"] / variational[-1]["energy_band"]
    midpoint = ", ".join(number(r["energy_band"]) for r in of(runs, "MIDPOINT"))
    return "\n".join(
        [
            f"* {sixteen(runs)}",
            f"* RK4 drifts in {len(falling)} of {len(rk4)} runs, the symplectic methods of order 2 in "
            f"{sum(map(drifts, bounded))} of {len(bounded)}.",
            f"* Over {runs[0]['horizon']:g} s RK4 has the smaller error than the variational step of order 2 at "
            f"{', '.join(smaller) or 'no step'}: bounded is not the same as small.",
            "* The motion is chaotic: runs of order 2 with different steps part within seconds, so that their bands "
            "belong to different motions, and need not shrink by four when the step is halved (here by "
            f"{variational[0]['energy_band'] / variational[1]['energy_band']:.1f} and {shrink:.1f}; `MIDPOINT`: "
            f"{midpoint}).",
        ]
    )


def peers(runs: Sequence[Record]) -> str:
    """Cost and drift of each method at its finest step, the cheapest of `GAUSS8`."""
    rows = []
    for method in dict.fromkeys(r["method"] for r in runs):
        r = of(runs, method)[0 if method == "GAUSS8" else -1]
        ended = r["status"] != "OK"
        cost = "–" if ended else f"{r['microseconds_per_unit_time'] / 1e3:.2g} ms"
        band = "energy grows until the run breaks off" if ended else number(r["energy_band"])
        rows.append([NAMES.get(method, method), size(r), cost, band, slope(r)])
    heads = [
        "method",
        "step or tolerance",
        "computing per second of motion",
        "largest energy error / T*",
        "drift per second",
    ]
    said = f"Franka Panda, swinging without friction for {runs[0]['horizon']:g} s; T* is the largest kinetic energy"
    return f"{said}.\n\n{markdown(heads, rows)}"


def chain_findings(runs: Sequence[Record]) -> str:
    """Orders 4 and 6 beside RK4."""
    rk4, orders = of(runs, "RKMK4"), ("TREE_VARIATIONAL", "TREE_VARIATIONAL_SUZUKI4", "TREE_VARIATIONAL_SOFSPA6")
    two, four, six = (of(runs, name) for name in orders)
    smaller = [size(a) for a, b in zip(rk4, two, strict=True) if a["energy_band"] < b["energy_band"]]
    gains = [[a["energy_band"] / b["energy_band"] for a, b in zip(rk4, found, strict=True)] for found in (four, six)]
    cost = [found[-1]["microseconds_per_step"] / two[-1]["microseconds_per_step"] for found in (four, six)]
    sloping = [f"{NAMES[r['method']]} at {size(r)}" for found in (two, four, six) for r in found if drifts(r)]
    return "\n".join(
        [
            f"* RK4 has a smaller error than order 2 at the same step at {', '.join(smaller) or 'no step'}.",
            f"* Order 4 is {number(min(gains[0]))} to {number(max(gains[0]))} times, order 6 {number(min(gains[1]))} "
            f"to {number(max(gains[1]))} times more accurate than RK4 at equal steps; they take {cost[0]:.0f} and "
            f"{cost[1]:.0f} times the time of a step of order 2, for their five and eleven substeps cannot "
            "extrapolate.",
            f"* Slopes beyond three sigma among the variational runs: {'; '.join(sloping) or 'none'}.",
        ]
    )


def sixteen(runs: Sequence[Record]) -> str:
    """`GAUSS8` beside the best of the others."""
    cheap = min(of(runs, "GAUSS8"), key=lambda r: r["microseconds_per_unit_time"])
    fine, scipy = of(runs, "RKMK4")[-1], of(runs, "SCIPY_DOP853")[-1]
    saved = [r["microseconds_per_unit_time"] / cheap["microseconds_per_unit_time"] for r in (fine, scipy)]
    return (
        f"`GAUSS8` at {size(cheap)} keeps the energy to {number(cheap['energy_band'])} T* for "
        f"{number(cheap['microseconds_per_unit_time'])} µs of computing per second of motion: {saved[0]:.1f} times "
        f"less than RK4 at {size(fine)}, which keeps it to {number(fine['energy_band'])} T*, and {saved[1]:.0f} times "
        f"less than SciPy's DOP853 at {size(scipy)}, {number(scipy['energy_band'])} T*."
    )


def short(runs: Sequence[Record]) -> str:
    """Two sentences for other pages."""
    rk4 = of(runs, "RKMK4")
    bounded = [r for name in SYMPLECTIC for r in of(runs, name)]
    least = min(r["energy_band"] for r in bounded)
    cheap = [r for r in rk4 if r["energy_band"] < least]
    best = (
        f"at {size(cheap[0])} its error, {number(cheap[0]['energy_band'])} T*, is below that of all of them"
        if cheap
        else f"its error at {size(rk4[-1])} is {number(rk4[-1]['energy_band'])} T*"
    )
    return (
        f"{sixteen(runs)}\n\n"
        f"Of {len(bounded)} runs of symplectic methods of order 2, {sum(map(drifts, bounded))} show a slope of the "
        f"energy, of {len(rk4)} runs of RK4 {sum(map(drifts, rk4))}; yet over these "
        f"{runs[0]['horizon']:g} s {best} (T* is the largest kinetic energy). [The study]"
        "(studies/energy_drift/README.md) says when which of them wins."
    )


def division(runs: Sequence[Record]) -> str:
    """What division of steps does to Panda, for the choice of a method."""
    coarse = max(runs, key=lambda r: r["step"])
    rest = [r for r in runs if r is not coarse]
    undivided = [size(r) for r in rest if r["substeps"] == 0]
    sloping = [size(r) for r in runs if drifts(r)]
    return (
        f"Panda at h = {size(coarse)} takes {100 * coarse['substeps'] / coarse['steps']:.2g} % more substeps by "
        f"division, and its energy error reaches {number(coarse['energy_band'])} T* in {coarse['horizon']:g} s; at "
        f"{', '.join(undivided)} no step is divided, and the errors are "
        f"{', '.join(number(r['energy_band']) for r in rest)} T*. Slopes beyond three sigma: "
        f"{', '.join(sloping) or 'none'} ([record](../studies/energy_drift/README.md))."
    )


BLOCKS = {
    "panda": panda,
    "panda-findings": panda_findings,
    "panda-long": (PANDA, panda_long),
    "chain": (CHAIN, chain),
    "chain-findings": (CHAIN, chain_findings),
    "short": short,
    "division": (PANDA, division),
    "very-long": (LONG, very_long),
    "after-long": (LONG, after_long),
    "peers": (PEERS, peers),
    "every-peer": (PEERS, panda),
}
