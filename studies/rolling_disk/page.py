"""What the page takes from the record of a run."""

from __future__ import annotations

from collections.abc import Sequence

from studies.records import markdown, number
from studies.rolling_disk.question import LOST
from studies.rolling_disk.runs import SIGNIFICANT
from studies.study import Record

ENERGY = 845.2609853844364
"""E₀ of the benchmark disk, J."""


def _part(runs: Sequence[Record], part: str) -> list[Record]:
    return [r for r in runs if r["part"] == part]


def _finest(runs: Sequence[Record]) -> dict[str, Record]:
    """Method → its run of the sweep with the smallest step."""
    return {r["method"]: r for r in _part(runs, "sweep") if r["step"]}


def _lost(run: Record) -> bool:
    return bool(run["energy_band"] is None or run["energy_band"] > LOST * ENERGY)


def slope(run: Record) -> str:
    """A slope of the energy with its sigma where it is beyond three sigma, else "none"."""
    if run["energy_slope"] is None or _lost(run):
        return "–"
    if abs(run["energy_slope"]) <= SIGNIFICANT * run["energy_slope_sigma"]:
        return "none"
    return f"{number(run['energy_slope'])} ± {number(run['energy_slope_sigma'], 1)}"


def methods(runs: Sequence[Record]) -> str:
    """Order, path error and long run, method by method."""
    finest = _finest(runs)
    rows = [
        [
            long["method"],
            number(finest[long["method"]]["measured_order"], 3),
            number(finest[long["method"]]["path_error"]),
            number(long["energy_band"]) + (f", lost; ends at {long['horizon']:.0f} s" if _lost(long) else ""),
            slope(long),
            number(long["gap"]),
        ]
        for long in _part(runs, "long run")
    ]
    h = min(r["step"] for r in finest.values())
    heads = ["method", "order", f"path error at {1e3 * h:g} ms [m]", "largest energy error [J]", "slope [J/s]"]
    return markdown([*heads, "height [m]"], rows)


def findings(runs: Sequence[Record]) -> str:
    """The sentences with numbers."""
    finest, long = _finest(runs), {r["method"]: r for r in _part(runs, "long run")}
    rk4 = finest["RKMK4"]["path_error"]
    second = [
        r["path_error"] / rk4 for r in finest.values() if r["claimed_order"] == 2 and not _lost(long[r["method"]])
    ]
    passes = long["DLA"]["energy_band"] / abs(long["RKMK4"]["energy_slope"])
    exact, gni = finest["ENERGY_EXACT"]["path_error"], long["GNI"]
    others = [finest[name]["path_error"] for name in ("DLA", "DLA_TRAPEZOID", "MP")]
    limits = "; ".join(
        f"{r['method']} {r['found']:.4f} against {r['expected']:.4f} rad/s" for r in _part(runs, "stability")
    )
    off = max(r["constraint_residual"] for r in runs if r.get("constraint_residual") is not None)
    (coin,) = _part(runs, "coin")
    return "\n".join(
        [
            f"* Over the first seconds RK4 is {min(second):.0f} to {max(second):.0f} times more accurate than the "
            "methods of second "
            "order that keep the disk, at the same step and at less cost. Bounded energy is worth its price on long "
            "runs only: RK4's drift passes the band "
            f"of `DLA` after about {passes:.0f} s.",
            f"* `ENERGY_EXACT` keeps the energy to rounding, and its path is {exact / max(others):.1f} to "
            f"{exact / min(others):.1f} times farther off than those of `DLA`, `DLA_TRAPEZOID` and `MP`: exact energy "
            "is not accuracy.",
            f"* |A v| of the methods with multipliers is at most {number(off)} m/s at the saved states.",
            "* GNI does not hold the height and carries a velocity off the constraints; it loses this disk, which "
            "falls flat after "
            f"{gni['horizon']:.0f} s.",
            f"* Limits of upright motion, found and in theory, √(g/(3r)) and √(4g/(5r)): {limits}.",
            f"* Euler's disk: energy ~ (t₀ − t)^{coin['found']:.3f}; the exponent of viscous friction is "
            f"{coin['expected']:g}.",
        ]
    )


BLOCKS = {"methods": methods, "findings": findings}
