"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.study import Record

NAMES = {"SPLIT_STRANG_DKD": "order 2 (Strang)", "SPLIT_SUZUKI4": "order 4 (Suzuki)"}
PAIR = "RKMK_TSITOURAS54"


def own(runs: Sequence[Record], system: str, method: str, steering: str) -> list[Record]:
    """The runs of one way of choosing steps, from few to many."""
    return [r for r in runs if (r["system"], r["method"], r["steering"]) == (system, method, steering)]


def chain_name(runs: Sequence[Record]) -> str:
    """The mechanism that whirls."""
    return next(str(r["system"]) for r in runs if r["system"] != "Kepler")


def band(run: Record) -> str:
    """The error, with the slope where there is one."""
    if not run["drifts"]:
        return number(run["energy_band"])
    return f"{number(run['energy_band'])}, slope {number(run['energy_slope'])} ± {number(run['energy_slope_sigma'], 1)}"


def orbit(runs: Sequence[Record]) -> str:
    """Energy errors of the orbit by number of steps in a revolution."""
    rows = []
    for method, name in NAMES.items():
        for steering in ("fixed", "integrating", "logarithmic"):
            found = own(runs, "Kepler", method, steering)
            rows.append([f"{name}, {steering}" if steering == "fixed" else steering, *map(band, found)])
    counts = [f"{1 / r['mean_step']:.0f}" for r in own(runs, "Kepler", next(iter(NAMES)), "fixed")]
    return markdown(["orbit, energy error; steps a revolution:", *counts], rows)


def pair(runs: Sequence[Record]) -> str:
    """The Runge–Kutta pair by tolerance."""
    rows = [
        [f"{1 / r['mean_step']:.0f}", number(r["energy_band"]), number(r["energy_slope"]), number(r["gap"])]
        for r in own(runs, "Kepler", PAIR, "error")
    ]
    heads = [f"{PAIR}: steps a revolution", "energy error", "slope per revolution", "error of position"]
    return markdown(heads, rows)


def chain(runs: Sequence[Record]) -> str:
    """The chain, by mean step."""
    rows = []
    for steering in ("fixed", "integrating", "divided"):
        found = own(runs, chain_name(runs), "TREE_VARIATIONAL", steering)
        steps = ", ".join(f"{1e3 * r['mean_step']:.2g}" for r in found)
        rows.append([f"{steering} (mean {steps} ms)", *map(band, found)])
    fixed = own(runs, chain_name(runs), "TREE_VARIATIONAL", "fixed")
    return markdown(["chain, error/T*; asked mean step:", *(f"{1e3 * r['mean_step']:.3g} ms" for r in fixed)], rows)


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    orbits = {(m, s): own(runs, "Kepler", m, s) for m in NAMES for s in ("fixed", "integrating", "logarithmic")}
    gains = [orbits[m, "fixed"][-1]["energy_band"] / orbits[m, "integrating"][-1]["energy_band"] for m in NAMES]
    stretched = [r["steps_ratio"] for m in NAMES for r in orbits[m, "integrating"] if r["steps_ratio"] is not None]
    places = "; ".join(
        f"{s} {', '.join(number(orbits[m, s][-1]['gap']) for m in NAMES)}"
        for s in ("logarithmic", "integrating", "fixed")
    )
    controlled = own(runs, "Kepler", PAIR, "error")
    sloping = [
        f"{NAMES[m]}, {s}, {1 / r['mean_step']:.0f} steps a revolution"
        for (m, s), found in orbits.items()
        for r in found
        if r["drifts"]
    ]
    tree = {s: own(runs, chain_name(runs), "TREE_VARIATIONAL", s) for s in ("fixed", "integrating", "divided")}
    steered = [a["energy_band"] / b["energy_band"] for a, b in zip(tree["integrating"], tree["fixed"], strict=True)]
    worse = [a["energy_band"] / b["energy_band"] for a, b in zip(tree["divided"], tree["fixed"], strict=True)]
    drifting = {s: sum(r["drifts"] for r in found) for s, found in tree.items()}
    said = ", ".join(f"{s} in {n} of {len(tree[s])}" for s, n in drifting.items())
    horizon = orbits[next(iter(NAMES)), "fixed"][0]["horizon"]
    return "\n".join(
        [
            f"* On the orbit the integrating controller (longest step {number(max(stretched))} times the shortest) "
            f"lowers the energy error by {number(gains[0])} times at order 2 and {number(gains[1])} times at order 4, "
            "at equal numbers of steps.",
            "* The logarithmic Hamiltonian keeps the conic to rounding; what remains is an error in time. Errors of "
            f"position after {horizon:.0f} revolutions with the most steps, order 2 and order 4: {places}.",
            "* Slopes beyond three sigma on the orbit with fixed, integrating or logarithmic steps: "
            f"{'; '.join(sloping) or 'none'}. The Runge–Kutta pair drifts in {sum(r['drifts'] for r in controlled)} of "
            f"{len(controlled)} runs.",
            "* A whirling chain has no quiet stretches to save on: under the controller the error is "
            f"{min(steered):.2g} to {max(steered):.2g} times that of equal steps, and Q costs evaluations. Division "
            f"that depends on the state is {min(worse):.1f} to {max(worse):.1f} times worse than the nearest equal "
            "steps: it is a protection for rare moments, and a run that divides often wants a smaller fixed step. "
            f"Slopes: {said} runs.",
        ]
    )


BLOCKS = {"orbit": orbit, "pair": pair, "chain": chain, "findings": findings}
