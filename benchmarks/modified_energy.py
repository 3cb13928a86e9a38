"""Slopes of the energy and of the modified energy of a whirling chain of ten: ``python -m benchmarks.modified_energy``.

A chain of ten links at h = 2 ms over 20 s, by the variational step and by RK4.  ``--save NAME`` writes the slopes with
their uncertainties as a record, ``--figure FILE`` the picture of the how-to.
"""

from __future__ import annotations

import argparse
from typing import Any

import matplotlib
import numpy as np

from benchmarks.machine import circumstances, save
from benchmarks.variational import chain, start
from integrators.analysis.figures import modified_energy_figure
from integrators.analysis.modified_energy import modified_energy
from integrators.integrate import integrate
from integrators.statistics.drift import energy_drift
from mechanics import hamiltonian_problem

LINKS, STEP, HORIZON, ORDER = 10, 2e-3, 20.0, 8
METHODS = ("TREE_VARIATIONAL", "RKMK4")
STYLE = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25,
    "legend.frameon": False, "legend.fontsize": 8,
}  # fmt: skip


def row(problem: Any, solution: Any, method: str) -> dict[str, Any]:
    """Slopes in J/s with sigma and ranges in J, of the energy and of the modified energy."""
    found: dict[str, Any] = {"method": method, "step": STEP, "horizon": HORIZON, "order": ORDER}
    for name, (t, energy) in {
        "energy": (solution.t, solution["energy"]),
        "modified": modified_energy(problem, solution, order=ORDER),
    }.items():
        drift = energy_drift(t, energy)
        found |= {f"{name}_slope": float(drift.slope), f"{name}_slope_sigma": float(drift.sigma)}
        found[f"{name}_range"] = float(np.ptp(energy))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    parser.add_argument("--figure", metavar="FILE", help="write the picture")
    options = parser.parse_args()
    problem = hamiltonian_problem(chain(LINKS), *start(LINKS))
    solutions = [integrate(problem, method, (0.0, HORIZON), step=STEP, save_every=1) for method in METHODS]
    rows = [row(problem, *run) for run in zip(solutions, METHODS, strict=True)]
    print(*rows, sep="\n")
    if options.figure:
        with matplotlib.rc_context(STYLE):
            modified_energy_figure(problem, solutions, orders=(4, ORDER, 12)).savefig(options.figure, dpi=130)
    if options.save:
        print("saved", save(options.save, {**circumstances(), "rows": rows}))


if __name__ == "__main__":
    main()
