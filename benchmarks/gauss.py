"""What accuracy costs: GAUSS8 against explicit, splitting, variational and library methods: ``python -m
benchmarks.gauss``.

For every system and method a range of steps or tolerances; of each run the computing time per simulated second (µs, of
the steps, the better of two runs: neither compilation nor the 2 to 3 ms that every run needs before its first step)
and the largest change of the energy at any step, in units of T*, the largest kinetic energy.  The table says for three
levels of that error which of the runs was cheapest.  Compiled models where the method evaluates a field.  SciPy's
DOP853 calls the compiled field; its energies are looked at after every step.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mechanics
from benchmarks.machine import circumstances, save
from integrators import Problem, integrate
from mechanics.joints import Free, Prismatic, Revolute
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree

LEVELS = (1e-6, 1e-9, 1e-12)
Settings = dict[str, Any]
FIXED = ("RKMK4", "TREE_VARIATIONAL", "SPLIT_SRKN8_17A")


def robot(name: str, v: float = 0.5) -> Problem:
    """A robot from its file, without damping, slides and floating base locked, from its neutral configuration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = mechanics.load_model(name, damping=False)
    tree = tree.with_locked([b.joint_name for b in tree.bodies if isinstance(b.joint, (Prismatic, Free))])
    return moving(tree, v)


def chain(n: int) -> Problem:
    """A hanging chain of hinges."""
    return moving(random_tree("chain", n, np.random.default_rng(5), (Revolute,)), 0.5)


def moving(tree: mechanics.Tree, v: float) -> Problem:
    """Its motion from random velocities."""
    velocities = v * np.random.default_rng(1).normal(size=tree.nv)
    return mechanics.compile_model(tree).problem(tree.neutral(), velocities)


PROBLEMS: dict[str, tuple[Callable[[], Problem], float]] = {
    "double pendulum": (lambda: chain(2), 0.02),
    "UR5": (lambda: robot("ur5"), 0.04),
    "Panda": (lambda: robot("panda"), 0.02),
    "ANYmal, hanging": (lambda: robot("anymal"), 0.04),
    "chain of ten": (lambda: chain(10), 0.02),
    "Lagrange top": (SYSTEMS["lagrange-top"].problem, 0.2),
    "heavy top": (SYSTEMS["heavy-top"].problem, 0.01),
    "Kepler": (SYSTEMS["kepler"].problem, 0.1),
    "four-bar": (SYSTEMS["four-bar"].problem, 0.02),
}
"""Name → its problem and the step of GAUSS8, the grid of output."""


def settings(h: float) -> Iterator[tuple[str, str, Settings]]:
    """(method, what is varied, how `integrate` is called)."""
    for divisor in (1, 2, 4):
        yield "GAUSS8", f"{h / divisor:g} s", {"step": h / divisor}
    yield "GAUSS8", f"{h:g} s, fast", {"step": h, "fast": True}
    for method in FIXED:
        for divisor in (4, 8, 16, 32, 64, 128):
            yield method, f"{h / divisor:g} s", {"step": h / divisor}
    for method in ("RKMK_DOP853", "SCIPY_DOP853"):
        for digits in (5, 7, 9, 11, 13):
            yield method, f"rtol 1e-{digits}", {"rtol": 10.0**-digits, "atol": 10.0 ** -(digits + 2)}


def run(problem: Problem, method: str, options: Settings, end: float) -> tuple[float, float] | None:
    """(µs per simulated second, largest change of the energy); None if the method does not fit or did not finish."""
    try:
        runs = [integrate(problem, method, (0.0, end), **options, progress=False) for _ in range(2)]
    except (ValueError, TypeError, ArithmeticError):
        return None
    seconds, last = min(run.seconds for run in runs), runs[-1]
    return (1e6 * seconds / end, float(last.error("energy", relative=False))) if last.finished else None


def kinetic(problem: Problem, end: float) -> float:
    """T*, the largest ½ v·p of saved states."""
    half = problem.dimension // 2
    y = integrate(problem, "GAUSS8", (0.0, end), end / 200, progress=False).y
    return max(0.5 * float(problem.velocity(0.0, row)[:half] @ row[problem.n - half :]) for row in y)


def measure(name: str, end: float) -> dict[str, Any]:
    """All runs of one system, and the cheapest for each level."""
    build, h = PROBLEMS[name]
    problem = build()
    scale, rows = kinetic(problem, end), []
    for method, setting, options in settings(h):
        if (found := run(problem, method, options, end)) is not None:
            rows.append({"method": method, "setting": setting, "us_per_s": found[0], "error": found[1] / scale})
    return {"system": name, "horizon": end, "T*": scale, "runs": rows, "cheapest": cheapest(rows)}


def cheapest(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Level → method → µs per simulated second."""
    found: dict[str, dict[str, float]] = {}
    for level in LEVELS:
        costs: dict[str, float] = {}
        for row in rows:
            if row["error"] <= level:
                costs[row["method"]] = min(costs.get(row["method"], math.inf), row["us_per_s"])
        found[f"{level:g}"] = costs
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=50.0, help="simulated seconds of every run")
    parser.add_argument("--systems", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--save", action="store_true", help="keep the record")
    chosen = parser.parse_args()
    record = {"systems": [measure(name, chosen.seconds) for name in chosen.systems]} | circumstances("scipy")
    for system in record["systems"]:
        print(f"{system['system']}: T* = {system['T*']:.3g}")
        for level, costs in system["cheapest"].items():
            print(f"  {level}: " + ", ".join(f"{m} {c:.0f}" for m, c in sorted(costs.items(), key=lambda x: x[1])))
    if chosen.save:
        print(save("gauss", record))


if __name__ == "__main__":
    main()
