"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.records import markdown, number
from studies.study import Record
from studies.walking_mechanism.question import FORMULATIONS, GAINS, VARIABLE_STEPS

NAMES = {
    "Hamiltonian closed": "Hamiltonian, closed after every step",
    "Hamiltonian re-based": "Hamiltonian, momenta re-based",
    "Hamiltonian": "Hamiltonian, as in the paper (corrected)",
    **{f"Baumgarte {gain:g}": f"Baumgarte, α = β = {gain:g} 1/s" for gain in GAINS},
    "Lagrange I": "Lagrange's equations of the first kind",
}


def _hard(runs: Sequence[Record]) -> dict[tuple[str, str], Record]:
    return {(r["formulation"], r["size"]): r for r in runs if r["ground"] == "hard"}


def _sizes(runs: Sequence[Record]) -> tuple[list[str], list[str]]:
    """Steps from the longest, tolerances from the coarsest."""
    hard = [r for r in runs if r["ground"] == "hard"]
    steps = sorted({r["step"] for r in hard if r["step"]}, reverse=True)
    tolerances = sorted({r["tolerance"] for r in hard if r["tolerance"]}, reverse=True)
    return [f"h = {h:g}" for h in steps], [f"tol {tolerance:g}" for tolerance in tolerances]


def pins(runs: Sequence[Record]) -> str:
    """Largest distance of the pins by formulation and step."""
    hard, (steps, tolerances) = _hard(runs), _sizes(runs)
    heads = ["formulation", *(f"{size} s" for size in steps), *(s.replace("tol", "LSODA") for s in tolerances)]
    rows = []
    for name in FORMULATIONS:
        found = [hard.get((name, size)) for size in (*steps, *tolerances)]
        rows.append([NAMES[name], *(number(r["pin_deviation"]) if r else "" for r in found)])
    return markdown(heads, rows)


def evaluations(runs: Sequence[Record]) -> str:
    """Evaluations of LSODA by formulation and tolerance."""
    hard, (_, tolerances) = _hard(runs), _sizes(runs)
    rows = [[NAMES[name], *(str(hard[name, size]["evaluations"]) for size in tolerances)] for name in VARIABLE_STEPS]
    return markdown(["evaluations in the whole run", *(s.replace("tol", "LSODA") for s in tolerances)], rows)


def walk(runs: Sequence[Record]) -> str:
    """Where it is after the run, and its swing."""
    first = _hard(runs)["Hamiltonian closed", _sizes(runs)[0][-1]]
    return (
        f"It walks towards −y, {abs(first['distance']) * first['period'] / first['horizon']:.1f} m per period, "
        f"{abs(first['distance']):.2f} m in {first['horizon']:g} s; the hull swings within "
        f"±{first['hull_amplitude']:.3f} rad. Largest distance of the pins, in metres:"
    )


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    hard, (steps, tolerances) = _hard(runs), _sizes(runs)
    low, middle, high = (f"Baumgarte {gain:g}" for gain in GAINS)

    def ratios(name: str, sizes: Sequence[str]) -> list[float]:
        return [hard[name, size]["pin_deviation"] / hard["Hamiltonian", size]["pin_deviation"] for size in sizes]

    against = "; ".join(
        f"{', '.join(number(x) for x in ratios(f'Baumgarte {gain:g}', steps))} with {gain:g} 1/s" for gain in GAINS
    )
    orders = np.log10(ratios("Lagrange I", (*steps, *tolerances)))
    fine = tolerances[-1]
    cost = {name: hard[name, fine]["evaluations"] / hard["Hamiltonian", fine]["evaluations"] for name in VARIABLE_STEPS}
    soft = sorted((r for r in runs if r["ground"] == "soft"), key=lambda r: r["hull_amplitude"])
    swings = ", ".join(f"{r['hull_amplitude']:.3f} rad at {r['period']:g} s" for r in (*soft[:2], soft[-1]))
    return "\n".join(
        [
            f"* Multipliers of momenta keep the pins together better than those of accelerations by "
            f"{orders.min():.1f} to {orders.max():.1f} orders of magnitude.",
            "* Baumgarte's pins are apart farther than those of the Hamiltonian form by the factors (h = "
            f"{', '.join(size[4:] for size in steps)} s) {against}. **Which form closes better is a question of "
            "the gain and of the step**, not of the form.",
            "* **The paper's remark on Baumgarte, stiffer equations and shorter steps, holds for large gains only.** "
            "LSODA "
            f"at {fine[4:]} needs {cost[low]:.2f} and {cost[middle]:.2f} times the evaluations of the Hamiltonian form "
            f"with {GAINS[0]:g} and {GAINS[1]:g} 1/s, and {cost[high]:.1f} times with {GAINS[2]:g} 1/s.",
            f"* The hull swings least at {soft[0]['period']:g} and {soft[1]['period']:g} s on the softer ground "
            f"({swings}), "
            "in line with the paper's choice of 2.6 s.",
        ]
    )


BLOCKS = {"walk": walk, "pins": pins, "evaluations": evaluations, "findings": findings}
