"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from studies.nonholonomic_truth.question import COLUMNS, RATES
from studies.records import markdown, number
from studies.study import Record

LETTERS = {"exact": "", "bounded": " B", "linear": " L", "grows": " G", "decays": " D", "fails": " F"}
KEPT = ("exact", "bounded")
SIGNIFICANT = 5.0
"""Growth rates below so many sigma have no slope."""


def _table(runs: Sequence[Record]) -> list[Record]:
    return [r for r in runs if r["part"] == "table"]


def verdicts(runs: Sequence[Record]) -> str:
    """max |E − E₀| and a letter, problem by method."""
    table = _table(runs)
    found = {(r["system"], r["method"]): r for r in table}
    problems = list(dict.fromkeys(r["system"] for r in table))
    rows = [
        [
            name + ("" if found[name, next(iter(COLUMNS))]["reversible"] else " *"),
            *(number(found[name, m]["energy_error"]) + LETTERS[found[name, m]["verdict"]] for m in COLUMNS),
        ]
        for name in problems
    ]
    return markdown(["", *COLUMNS], rows)


def setting(runs: Sequence[Record]) -> str:
    """Step and length of the run."""
    r = _table(runs)[0]
    return f"h = {r['step']:g}, {r['steps']} steps (T = {r['horizon']:g}), max |E − E₀|; B bounded, L linear, G grows, D decays, no letter: exact; * no reversal."  # noqa: E501


def slopes(runs: Sequence[Record]) -> dict[str, list[float]]:
    """Orders of the growth rate between neighbouring steps, by method."""
    found = {}
    for label in RATES:
        rates = sorted(
            (
                (r["step"], abs(r["growth_rate"]))
                for r in runs
                if r["part"] == "growth rates"
                and r["method"] == label
                and r["growth_rate"] is not None
                and abs(r["growth_rate"]) > SIGNIFICANT * r["growth_rate_sigma"]
            ),
            reverse=True,
        )
        found[label] = [float(np.log(b / d) / np.log(a / c)) for (a, b), (c, d) in pairwise(rates)]
    return found


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    table = _table(runs)
    kept = [m for m in COLUMNS if all(r["verdict"] in KEPT for r in table if r["method"] == m)]
    reversible = [
        m for m in COLUMNS if all(r["verdict"] in KEPT for r in table if r["method"] == m and r["reversible"])
    ]
    without = [
        f"{m} on "
        f"{', '.join(r['system'] for r in table if r['method'] == m and not r['reversible'] and r['verdict'] in KEPT)}"
        for m in COLUMNS
        if m not in kept and any(r["method"] == m and not r["reversible"] and r["verdict"] in KEPT for r in table)
    ]
    orders = "; ".join(f"{m} {', '.join(f'{x:.2f}' for x in found)}" for m, found in slopes(runs).items() if found)
    steps = sorted({r["step"] for r in runs if r["part"] == "growth rates"}, reverse=True)
    off = {r["system"]: r["parasitic_velocity"] for r in table if r["parasitic_velocity"] is not None}
    swinging = [off[name] for name in ("CO0", "CO3", "L0", "L3") if name in off]
    return "\n".join(
        [
            f"* Bounded or exact on every problem with a reversal: {'; '.join(reversible)}.",
            f"* Bounded or exact on every problem, with a reversal or without: {'; '.join(kept)}; some more without "
            "one: "
            f"{'; '.join(without)}. A reversal is enough for a symmetric method, and not needed.",
            f"* Orders of the growth rate on RVF between h = {', '.join(f'{h:g}' for h in steps)}: {orders}. A higher "
            "order buys "
            "time, nothing more.",
            f"* GNI's half-step velocity leaves the constraint by {number(off['RVF'])} on RVF, against "
            f"{number(min(swinging))} to "
            f"{number(max(swinging))} on problems with a swinging driver.",
        ]
    )


BLOCKS = {"setting": setting, "verdicts": verdicts, "findings": findings}
