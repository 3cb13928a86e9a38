"""What the page takes from the record of a run: the turning four-bar at the middle step."""

from __future__ import annotations

from collections.abc import Sequence

from studies.pages import markdown, number
from studies.study import Record

SIGNIFICANT = 3.0
SCANNED = {"Baumgarte β": "Baumgarte", "Ostermeyer": "Ostermeyer", "augmented Ω": "augmented Lagrangian"}
"""How the names of formulations with a gain begin → what they are."""


def family(run: Record) -> str:
    """The formulation without its gain."""
    found = [name for start, name in SCANNED.items() if run["formulation"].startswith(start)]
    return found[0] if found else str(run["formulation"])


def middle(runs: Sequence[Record]) -> list[Record]:
    """The runs of the middle step."""
    steps = sorted({r["step"] for r in runs})
    return [r for r in runs if r["step"] == steps[len(steps) // 2]]


def best(runs: Sequence[Record], name: str, key: str) -> Record:
    """The run of a family with the least `key`."""
    return min((r for r in runs if family(r) == name and r["status"] == "OK"), key=lambda r: r[key])


def gain(run: Record) -> float:
    """The frequency in the name of a formulation."""
    return float(str(run["formulation"]).split("=")[1].split(",")[0])


def slope(run: Record) -> str:
    """A slope of the energy beyond three sigma, else "none"."""
    if run["energy_slope"] is None:
        return "–"
    if abs(run["energy_slope"]) <= SIGNIFICANT * run["energy_slope_sigma"]:
        return "none"
    return number(run["energy_slope"])


def line(run: Record, name: str) -> list[str]:
    """A row of the table."""
    return [name, number(run["gap"]), number(run["energy_band"]), slope(run), number(run["angle_error"])]


def four_bar(runs: Sequence[Record]) -> str:
    """Formulation by formulation; those with a gain at the best one, by energy and by angle."""
    found, rows = middle(runs), []
    for name in dict.fromkeys(map(family, found)):
        if name not in SCANNED.values():
            rows.append(line(best(found, name, "energy_band"), name))
            continue
        scan = [r for r in found if family(r) == name]
        chosen = {key: best(found, name, key) for key in ("energy_band", "angle_error")}
        same = chosen["energy_band"] is chosen["angle_error"]
        for key, said in (("energy_band", "energy and angle" if same else "energy"), ("angle_error", "angle")):
            run = chosen[key]
            edge = ", at its edge" if gain(run) in (min(map(gain, scan)), max(map(gain, scan))) else ""
            if not (same and key == "angle_error"):
                rows.append(line(run, f"{run['formulation']} 1/s (best {said} of the scan{edge})"))
    return markdown(["formulation", "gap [m]", "max ΔE [J]", "slope of E [W]", "angle error [rad]"], rows)


def setting(runs: Sequence[Record]) -> str:
    """Length and step of the runs of the table."""
    r = middle(runs)[0]
    return f"Turning four-bar, {r['horizon']:g} s (about a hundred turns), h = {1e3 * r['step']:g} ms:"


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    found = middle(runs)
    named = {r["formulation"]: r for r in found}
    scans = {name: [r for r in found if family(r) == name] for name in SCANNED.values()}
    spread = "; ".join(
        f"{name} {number(min(r['angle_error'] for r in scan))} to {number(max(r['angle_error'] for r in scan))} rad"
        for name, scan in scans.items()
    )
    flat = [r["formulation"] for r in found if slope(r) == "none" and family(r) not in scans]
    rattle, textbook = named["RATTLE, tree"], named["Baumgarte 1/h"]
    bands = [best(found, name, "energy_band")["energy_band"] for name in scans]
    closed, rebased = named["projection"], named["Hamiltonian re-based"]
    return "\n".join(
        [
            f"* Without a slope of the energy beyond three sigma: {'; '.join(flat)}, and some gains of the stabilised "
            "forms.",
            f"* **The gain decides, more than the form.** Angle errors over the scanned gains: {spread}. The best "
            "energies of the "
            f"three forms lie between {number(min(bands))} and {number(max(bands))} J; the textbook gain 1/h has "
            f"{number(textbook['energy_band'])} J. Nothing becomes stiff.",
            f"* RATTLE of order 2 on the tree has an angle error of {number(rattle['angle_error'])} rad, in body "
            "coordinates "
            f"{number(named['RATTLE, body']['angle_error'])} rad; that of order 4 "
            f"{number(named['RATTLE order 4']['angle_error'])} "
            f"rad, at {named['RATTLE order 4']['microseconds_per_step'] / rattle['microseconds_per_step']:.1f} times "
            "the time per step.",
            "* **Multipliers of momenta need re-basing**: with p* never renewed, as printed in the paper, the gap is "
            f"{number(named['Hamiltonian']['gap'])} m and the energy off by "
            f"{number(named['Hamiltonian']['energy_band'])} J; "
            f"re-based after every step {number(rebased['gap'])} m and {number(rebased['energy_band'])} J. RK4 with "
            "projection is better "
            f"in energy by {rebased['energy_band'] / closed['energy_band']:.1f} times and in angle by "
            f"{rebased['angle_error'] / closed['angle_error']:.1f} times.",
        ]
    )


BLOCKS = {"setting": setting, "four-bar": four_bar, "findings": findings}
