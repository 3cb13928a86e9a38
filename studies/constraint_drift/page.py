"""What the page takes from the records: the turning four-bar at the middle step, and longer runs, other mechanisms."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
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
    closed, rebased, closed_form = named["projection"], named["Hamiltonian re-based"], named["Hamiltonian closed"]
    gauss, order4 = named["GAUSS8, closed"], named["RATTLE order 4"]
    return "\n".join(
        [
            f"* **`GAUSS8` on the closed Hamiltonian form**: energy to {number(gauss['energy_band'])} J, angle to "
            f"{number(gauss['angle_error'])} rad, gap {number(gauss['gap'])} m, for "
            f"{number(gauss['microseconds_per_unit_time'])} µs per second of motion; RATTLE order 4 takes "
            f"{number(order4['microseconds_per_unit_time'])} µs, RK4 on the same form "
            f"{number(closed_form['microseconds_per_unit_time'])} µs.",
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


# --- longer runs, other mechanisms ------------------------------------------------------------------------------------

LOST = 1.0
"""rad: a larger error of the angle is no answer any more."""
PASSED = 0.1
"""rad: a larger error after the singular positions means another branch."""


def angle(run: Record) -> str:
    """The error of the angle, or that it is lost."""
    return "lost" if run["angle_error"] is None or run["angle_error"] > LOST else number(run["angle_error"])


def stopped(run: Record) -> str:
    """Where a run that did not arrive ended."""
    return f"stops at {run['reached']:.3g} s"


def long_run(runs: Sequence[Record]) -> str:
    """Every formulation of a long run of the four-bar, with its time per step."""
    rows = []
    for r in runs:
        arrived = [number(r["gap"]), number(r["energy_band"]), slope(r), angle(r)]
        cells = arrived if r["status"] == "OK" else [stopped(r), "", "", ""]
        rows.append([r["formulation"], *cells, number(r["microseconds_per_step"])])
    heads = ["formulation", "gap [m]", "max ΔE [J]", "slope of E [W]", "angle error [rad]", "µs per step"]
    return (
        f"Turning four-bar, {runs[0]['horizon']:g} s, h = {1e3 * runs[0]['step']:g} ms; "
        f"angles that are off by more than {LOST:g} rad are lost:\n\n{markdown(heads, rows)}"
    )


def long_findings(runs: Sequence[Record]) -> str:
    """Who has the angle after a thousand turns."""
    arrived = [r for r in runs if r["status"] == "OK"]
    held = [f"{r['formulation']} ({number(r['angle_error'])} rad)" for r in arrived if angle(r) != "lost"]
    level = [r["formulation"] for r in arrived if slope(r) == "none"]
    baumgarte = best(runs, "Baumgarte", "energy_band")
    closed = next(r for r in runs if r["formulation"] == "projection")
    momenta = next(r for r in runs if r["formulation"] == "Hamiltonian closed")
    return "\n".join(
        [
            f"* The angle is known to better than a radian by: {'; '.join(held) or 'none'}.",
            f"* Without a slope of the energy beyond three sigma: {'; '.join(level) or 'none'}.",
            f"* The best of Baumgarte's gains here ({baumgarte['formulation']} 1/s) has "
            f"{number(baumgarte['energy_band'] / closed['energy_band'])} times the energy error of projection and "
            f"{number(baumgarte['energy_band'] / momenta['energy_band'])} times that of the closed Hamiltonian form, "
            "with the same RK4. Closing loops is not keeping motions.",
        ]
    )


def very_long(runs: Sequence[Record]) -> str:
    """Two mechanisms for ten thousand seconds."""
    rows = [
        [
            r["system"],
            r["formulation"],
            *(
                [number(r["gap"]), number(r["energy_band"]), slope(r), angle(r)]
                if r["status"] == "OK"
                else [stopped(r), "", "", ""]
            ),
            number(r["microseconds_per_step"]),
        ]
        for r in runs
    ]
    heads = ["mechanism", "formulation", "gap [m]", "max ΔE [J]", "slope of E [W]", "angle error [rad]", "µs per step"]
    r = runs[0]
    return (
        f"{r['horizon']:g} s, h = {1e3 * r['step']:g} ms; angles that are off by more than {LOST:g} rad are lost:\n\n"
        f"{markdown(heads, rows)}"
    )


def kind(run: Record) -> str:
    """The formulation without its gain, that of other programs included."""
    name = family(run)
    return name.split(" β")[0] if " β" in name else name


def several(runs: Sequence[Record]) -> str:
    """Energy error and gap of every formulation on several mechanisms, with the best gain for the energy."""
    systems = list(dict.fromkeys(r["system"] for r in runs))
    rows = []
    for name in dict.fromkeys(map(kind, runs)):
        if name.startswith("penalty"):
            continue
        cells = []
        for system in systems:
            found = [r for r in runs if r["system"] == system and kind(r) == name]
            arrived = [r for r in found if r["status"] == "OK" and r["energy_band"] is not None]
            if not found:
                cells.append("–")
            elif not arrived:
                cells.append(stopped(found[0]))
            else:
                run = min(arrived, key=lambda r: r["energy_band"])
                gained = f" (gain {gain(run):g})" if "=" in str(run["formulation"]) else ""
                cells.append(f"{number(run['energy_band'])} J, {number(run['gap'])} m{gained}")
        rows.append([name, *cells])
    sizes = {r["system"]: f"{r['system']}, {1e3 * r['step']:g} ms, {r['horizon']:g} s" for r in runs}
    return markdown(["max ΔE, gap", *(sizes[name] for name in systems)], rows)


def cassie(runs: Sequence[Record]) -> str:
    """Cassie released at rest, by step."""
    steps = sorted({r["step"] for r in runs}, reverse=True)
    rows = []
    for name in dict.fromkeys(r["formulation"] for r in runs):
        found = {r["step"]: r for r in runs if r["formulation"] == name}
        cells = [
            f"{number(found[h]['energy_band'])} J, {number(found[h]['gap'])} m"
            if h in found and found[h]["status"] == "OK"
            else stopped(found[h])
            if h in found
            else "–"
            for h in steps
        ]
        if not name.startswith(("penalty", "Baumgarte 1/h")):
            rows.append([name, *cells])
    head = f"Cassie, {runs[0]['horizon']:g} s from rest: max ΔE, gap"
    return markdown([head, *(f"h = {1e3 * h:g} ms" for h in steps)], rows)


def imperfect(runs: Sequence[Record]) -> str:
    """Error of the angle by the error of the lengths; the best of the scan for formulations with a gain."""
    found = [r for r in runs if not r["formulation"].startswith("penalty")]
    errors = sorted({r["imperfection"] for r in found})
    rows = []
    for name in dict.fromkeys(map(family, found)):
        cells = []
        for eps in errors:
            own = [r for r in found if r["imperfection"] == eps and family(r) == name]
            arrived = [r["angle_error"] for r in own if r["status"] == "OK" and r["angle_error"] is not None]
            least = min(arrived, default=None)
            cells.append("stops" if least is None else "lost" if least > PASSED else number(least, 1))
        rows.append([name, *cells])
    r = found[0]
    head = f"angle error [rad] after {r['horizon']:g} s, h = {1e3 * r['step']:g} ms; lengths off by"
    return markdown([head, *(f"{number(eps, 1)} m" if eps else "0" for eps in errors)], rows)


def imperfect_findings(runs: Sequence[Record]) -> str:
    """How far each formulation passes, and which gains do."""
    found = [r for r in runs if not r["formulation"].startswith("penalty")]
    passed = [r for r in found if r["status"] == "OK" and r["angle_error"] is not None and r["angle_error"] < PASSED]
    far: dict[float, list[str]] = {}
    for name in dict.fromkeys(map(family, found)):
        far.setdefault(max((r["imperfection"] for r in passed if family(r) == name), default=-1.0), []).append(name)
    lines = []
    for eps in sorted(far, reverse=True):
        said = "at no length, not even the right one" if eps < 0 else f"up to {number(eps, 1)} m" if eps else "0 m only"
        lines.append(f"* Through the singular positions {said}: {', '.join(far[eps])}.")
    gains = sorted({gain(r) for r in found if family(r) == "Baumgarte"})
    good = [g for g in gains if any(gain(r) == g and r["imperfection"] > 0 for r in passed if family(r) == "Baumgarte")]
    return "\n".join(
        [
            *lines,
            f"* **The gain decides for Baumgarte**: of {', '.join(f'{g:g}' for g in gains)} 1/s those that pass with "
            f"lengths that are not perfect are {', '.join(f'{g:g}' for g in good) or 'none'}. The gains that are best "
            "on the four-bar are slower: there is no one good gain.",
        ]
    )


BLOCKS = {
    "setting": setting,
    "four-bar": four_bar,
    "findings": findings,
    "thousand": ("thousand", long_run),
    "thousand-findings": ("thousand", long_findings),
    "ten-thousand": ("ten-thousand", very_long),
    "others": ("others", several),
    "cassie": ("cassie", cassie),
    "imperfect": ("imperfect", imperfect),
    "imperfect-findings": ("imperfect", imperfect_findings),
}
