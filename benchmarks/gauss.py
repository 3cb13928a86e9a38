"""What accuracy costs: GAUSS8 against explicit, splitting, variational and library methods: ``python -m
benchmarks.gauss``.

For every system and method a range of steps or tolerances; of each run the computing time per simulated second (µs, of
the steps, the better of two runs: neither compilation nor the 2 to 3 ms that every run needs before its first step)
and the largest change of the energy at any step, in units of T*, the largest kinetic energy.  The table says for three
levels of that error which of the runs was cheapest.  Compiled models where the method evaluates a field.  SciPy's
DOP853 calls the compiled field; its energies are looked at after every step, those of MuJoCo's RK4 (on trees, if it is
installed) at 2000 states.  Days are the seconds of the planets.

`PUBLISHED` has figures of IRKGaussLegendre.jl, the other Gauss method with stages in registers; not measured here.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import mechanics
from benchmarks import mujoco_trees
from benchmarks.machine import RESULTS, circumstances, save
from benchmarks.planets import planets
from integrators import Problem, integrate
from mechanics.joints import Free, Joint, Prismatic, Revolute, Spherical
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree

LEVELS = (1e-6, 1e-9, 1e-12)
Settings = dict[str, Any]
FIXED = ("RKMK4", "TREE_VARIATIONAL", "SPLIT_SRKN8_17A")
MUJOCO = "MUJOCO_RK4"
STATES = 2000
"""At so many the energies of MuJoCo are looked at."""
PUBLISHED = {
    "outer planets": {
        "method": "IRKGL16, stages in SIMD, of second order",
        "source": "SciML/IRKGaussLegendre.jl, Examples/Benchmarks SIMD vs Generic implementation (6-Body Solar System)",
        "circumstances": "their processor, 1e7 days in constant steps from their start of 1969, read off their picture",
        "runs": [
            {"setting": "400 d", "us_per_s": 0.0120, "relative error": 2.5e-14},
            {"setting": "600 d", "us_per_s": 0.0092, "relative error": 1e-13},
            {"setting": "800 d", "us_per_s": 0.0080, "relative error": 3e-11},
            {"setting": "1000 d", "us_per_s": 0.0068, "relative error": 5e-10},
        ],
    }
}
"""System → figures of others; µs per day."""


def robot(name: str) -> mechanics.Tree:
    """A robot from its file, without damping, slides and floating base locked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = mechanics.load_model(name, damping=False)
    return tree.with_locked([b.joint_name for b in tree.bodies if isinstance(b.joint, (Prismatic, Free))])


def chain(n: int, joint: type[Joint] = Revolute, root: Joint | None = None) -> mechanics.Tree:
    """A hanging chain, or one that falls from a free body."""
    return random_tree("chain", n, np.random.default_rng(5), (joint,), root)


def moving(tree: mechanics.Tree, v: float = 0.5) -> Problem:
    """Its motion from neutral configuration and random velocities; by the kernel for all models where code of its own
    would be too long.
    """
    velocities = v * np.random.default_rng(1).normal(size=tree.nv)
    try:
        return mechanics.compile_model(tree).problem(tree.neutral(), velocities)
    except ValueError:
        return mechanics.hamiltonian_problem(tree, tree.neutral(), velocities)


PROBLEMS: dict[str, tuple[Callable[[], mechanics.Tree | Problem], float]] = {
    "double pendulum": (lambda: chain(2), 0.02),
    "UR5": (lambda: robot("ur5"), 0.04),
    "Panda": (lambda: robot("panda"), 0.02),
    "ANYmal, hanging": (lambda: robot("anymal"), 0.04),
    "chain of ten": (lambda: chain(10), 0.02),
    "chain of ten balls": (lambda: chain(10, Spherical), 0.01),
    "floating chain of ten": (lambda: chain(10, Revolute, Free()).with_gravity(np.zeros(3)), 0.05),
    "Lagrange top": (SYSTEMS["lagrange-top"].problem, 0.2),
    "heavy top": (SYSTEMS["heavy-top"].problem, 0.01),
    "Kepler": (SYSTEMS["kepler"].problem, 0.1),
    "four-bar": (SYSTEMS["four-bar"].problem, 0.02),
    "outer planets": (planets, 800.0),
}
"""Name → a tree or a problem, and the step of GAUSS8, the grid of output."""
HORIZONS = {"outer planets": 2e4}
"""Longer for slow motions: in units of what is asked for."""


def settings(h: float) -> Iterator[tuple[str, str, Settings]]:
    """(method, what is varied, how `integrate` is called)."""
    for divisor in (1, 2, 4):
        yield "GAUSS8", f"{h / divisor:g} s", {"step": h / divisor}
    yield "GAUSS8", f"{h:g} s, fast", {"step": h, "fast": True}
    for method in FIXED:
        for divisor in (1, 2, 4, 8, 16, 32, 64, 128):
            yield method, f"{h / divisor:g} s", {"step": h / divisor}
    for method in ("RKMK_DOP853", "SCIPY_DOP853"):
        for digits in (5, 7, 9, 11, 13):
            yield method, f"rtol 1e-{digits}", {"rtol": 10.0**-digits, "atol": 10.0 ** -(digits + 2)}
    for divisor in (4, 8, 16, 32, 64):
        yield MUJOCO, f"{h / divisor:g} s", {"step": h / divisor}


def run(problem: Problem, method: str, options: Settings, end: float) -> tuple[float, float] | None:
    """(µs per simulated second, largest change of the energy); None if the method does not fit or did not finish."""
    try:
        runs = [integrate(problem, method, (0.0, end), **options, progress=False) for _ in range(2)]
    except (ValueError, TypeError, ArithmeticError):
        return None
    seconds, last = min(run.seconds for run in runs), runs[-1]
    return (1e6 * seconds / end, float(last.error("energy", relative=False))) if last.finished else None


def run_mujoco(tree: mechanics.Tree | None, problem: Problem, step: float, end: float) -> tuple[float, float] | None:
    """The same of MuJoCo; None without it, or where it has not such joints."""
    if tree is None:
        return None
    try:
        found = mujoco_trees.simulate(tree, problem, MUJOCO, step, end, max(1, round(end / step / STATES)))
    except (ImportError, ValueError):
        return None
    energy = found.invariants[:, 0]
    return (1e6 * found.seconds / end, float(np.abs(energy - energy[0]).max())) if found.finished else None


def kinetic(problem: Problem, end: float) -> float:
    """T*, the largest ½ v·p of saved states."""
    half = problem.dimension // 2
    y = integrate(problem, "GAUSS8", (0.0, end), end / 200, progress=False).y
    return max(0.5 * float(problem.velocity(0.0, row)[:half] @ row[problem.n - half :]) for row in y)


def measure(
    name: str, seconds: float, methods: Sequence[str] = (), known: dict[str, float] | None = None
) -> dict[str, Any]:
    """All runs of one system, or those of some methods, and the cheapest for each level; T* may be `known`."""
    build, h = PROBLEMS[name]
    made, end = build(), seconds * HORIZONS.get(name, 1.0)
    tree = made if isinstance(made, mechanics.Tree) else None
    problem = moving(made) if isinstance(made, mechanics.Tree) else made
    scale, rows = (known or {}).get(name) or kinetic(problem, end), []
    for method, setting, options in settings(h):
        if methods and method not in methods:
            continue
        found = (
            run_mujoco(tree, problem, options["step"], end) if method == MUJOCO else run(problem, method, options, end)
        )
        if found is not None:
            rows.append({"method": method, "setting": setting, "us_per_s": found[0], "error": found[1] / scale})
    said = {"published": PUBLISHED[name]} if name in PUBLISHED else {}
    return {"system": name, "horizon": end, "T*": scale, "runs": rows, "cheapest": cheapest(rows), **said}


def together(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """A record with the systems and methods of a newer one; where the rest was made stands in `earlier`."""
    systems = {s["system"]: s for s in old["systems"]}
    for system in new["systems"]:
        measured = {row["method"] for row in system["runs"]}
        kept = systems.get(system["system"], {"runs": []})["runs"]
        rows = [*(row for row in kept if row["method"] not in measured), *system["runs"]]
        systems[system["system"]] = {**system, "runs": rows, "cheapest": cheapest(rows)}
    earlier = [*old.get("earlier", []), {key: old[key] for key in ("commit", "date") if key in old}]
    order = [name for name in PROBLEMS if name in systems]
    return {**new, "systems": [systems[name] for name in order], "earlier": earlier}


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
    parser.add_argument("--methods", nargs="*", default=[], help="only these")
    parser.add_argument("--save", action="store_true", help="keep the record; of what is left out the old one stays")
    chosen = parser.parse_args()
    kept = RESULTS / "gauss.json"
    old = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {"systems": []}
    known = {s["system"]: s["T*"] for s in old["systems"] if s["horizon"] == chosen.seconds} if chosen.methods else {}
    systems = [measure(name, chosen.seconds, chosen.methods, known) for name in chosen.systems]
    record = {"systems": systems} | circumstances("scipy")
    for system in record["systems"]:
        print(f"{system['system']}: T* = {system['T*']:.3g}")
        for level, costs in system["cheapest"].items():
            print(f"  {level}: " + ", ".join(f"{m} {c:.3g}" for m, c in sorted(costs.items(), key=lambda x: x[1])))
    if chosen.save:
        print(save("gauss", together(old, record)))


if __name__ == "__main__":
    main()
