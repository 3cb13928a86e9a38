"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.study import Record

SIGNIFICANT = 3.0


def pairs(runs: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Plain and compensated runs of the same case."""
    compensated = {(r["system"], r["method"]): r for r in runs if r["additions"] == "compensated"}
    return [(r, compensated[r["system"], r["method"]]) for r in runs if r["additions"] == "plain"]


def case(run: Record) -> str:
    """System, method and step."""
    return f"{run['system']}, `{run['method']}`, {run['step']:g} s"


def walks(run: Record) -> bool:
    """Whether the exponent is that of a random walk, as far as it is known."""
    return bool(abs(run["exponent"] - 0.5) <= 2 * run["exponent_sigma"])


def law(run: Record) -> str:
    """Exponent and final error."""
    return f"{run['exponent']:.2f} ± {run['exponent_sigma']:.2f}, {number(run['energy_error_rms'])}"


def setting(runs: Sequence[Record]) -> str:
    """How long, how many."""
    return f"{runs[0]['trajectories']} trajectories, {runs[0]['steps']} steps; exponent, rms of the error at the end:"


def table(runs: Sequence[Record]) -> str:
    """Plain beside compensated additions."""
    rows = [
        [
            case(plain),
            law(plain),
            law(compensated),
            number(plain["energy_error_rms"] / compensated["energy_error_rms"]),
            number(compensated["energy_slope_per_step"], 1),
            number(compensated["energy_ripple"], 1),
        ]
        for plain, compensated in pairs(runs)
    ]
    heads = ["system, method, h", "plain", "compensated", "lower by", "slope left per step", "ripple"]
    return markdown(heads, rows)


def findings(runs: Sequence[Record]) -> str:
    """Which cases walk, and which have a bias."""
    kept = [case(c) for _, c in pairs(runs) if walks(c)]
    lost = [case(c) for _, c in pairs(runs) if not walks(c)]
    biased = [
        f"{case(r)}, {r['additions']} ({r['mean_over_error']:+.1f})"
        for r in runs
        if abs(r["mean_over_error"]) > SIGNIFICANT
    ]
    gain = [p["energy_error_rms"] / c["energy_error_rms"] for p, c in pairs(runs)]
    spread = max(r["exponent_sigma"] for r in runs)
    return "\n".join(
        [
            "* With compensation the exponent is within two standard deviations of Brouwer's ½ for: "
            f"{'; '.join(kept) or 'none'}; it is not for: {'; '.join(lost) or 'none'}.",
            f"* Compensation lowers the error at the end by {number(min(gain))} to {number(max(gain))} times.",
            f"* A mean beyond {SIGNIFICANT:g} standard errors, a bias common to all trajectories: "
            f"{'; '.join(biased) or 'none'}.",
            f"* An exponent is known to ±{spread:.1f} at worst here: single trajectories differ by much.",
        ]
    )


def long(runs: Sequence[Record]) -> str:
    """Longer runs, with compensated additions alone."""
    rows = [
        [
            case(r),
            law(r),
            f"{r['mean_over_error']:+.1f}",
            number(r["energy_slope_per_step"], 1),
            number(r["energy_ripple"], 1),
        ]
        for r in runs
    ]
    heads = ["system, method, h", "compensated", "mean/sem", "slope left per step", "ripple"]
    return f"{setting(runs)}\n\n{markdown(heads, rows)}"


BLOCKS = {
    "setting": setting,
    "table": table,
    "findings": findings,
    "long": ("long", long),
    "longest": ("longest", long),
}
