"""Stiff mechanisms at equal error against SciPy's Radau, BDF, LSODA and DOP853: ``python -m benchmarks.stiff``.

For each system the shortest time in which a solver reaches an error of the state: ours over a ladder of steps, SciPy's
over a ladder of tolerances, with our compiled field as their right-hand side (each call through Python, as SciPy
calls it).  The error is that of the last state, relative to the size
of its part, against our own solution with half the smallest step, which Radau IIA of order 9 and Gauss of order 12
agree on.  By the process clock, once each: the runs last longer than what disturbs them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.machine import circumstances, save
from integrators import Problem, integrate
from integrators.problem.ambient import ambient_velocity
from mechanics.forces import joint_spring
from mechanics.joints import Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops import flyball_governor

STIFFNESS = 1e6
"""N·m/rad, of the springs of the chains."""
ERRORS = (1e-4, 1e-6, 1e-8)
TOLERANCES = (1e-5, 1e-7, 1e-9, 1e-10)
OURS = ("RKMK_RADAU_IIA3", "RKMK_RADAU_IIA5", "RKMK_GAUSS3", "RKMK_GAUSS4", "RODAS4", "BDF5", "RKMK_DOP853", "GAUSS8")
PEERS = ("Radau", "BDF", "LSODA", "DOP853")
LIMIT = 5.0
"""Seconds; a solver that takes longer for one run is not asked for more."""


def chain(links: int) -> Problem:
    """Rods of 1 kg and 0.5 m in a row, joined by springs, the first one free to turn."""
    bodies: list[Body] = []
    inertia = Inertia.about_com(1.0, (0.25, 0.0, 0.0), np.diag([1e-3, 0.02, 0.02]))
    for i in range(links):
        place: tuple[Any, ...] = (f"link{i - 1}", (0.5, 0.0, 0.0)) if i else ()
        bodies.append(Body(f"link{i}", Revolute((0.0, 1.0, 0.0)), *place, inertia=inertia))
    start = np.zeros(links)
    start[0] = 0.3
    springs = [joint_spring(f"link{i}_joint", STIFFNESS) for i in range(1, links)]
    return Mechanism(Tree(bodies, name=f"chain of {links}"), [], start, springs).problem()


SYSTEMS: dict[str, tuple[Callable[[], Problem], float, tuple[float, ...]]] = {
    "chain of 6": (lambda: chain(6), 0.05, (1e-3, 5e-4, 2.5e-4, 2e-4, 1.25e-4, 6.25e-5)),
    "chain of 20": (lambda: chain(20), 0.05, (1e-3, 5e-4, 2.5e-4, 2e-4, 1.25e-4)),
    "flyball governor": (flyball_governor.problem, 10.0, (1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3)),
}
"""How a system is posed, for how long it moves, and the ladder of steps."""


def ours(problem: Problem, method: str, end: float, step: float) -> tuple[float, Any]:
    """Seconds, and the last state."""
    began = time.process_time()
    run = integrate(problem, method, (0.0, end), step, save_every=2**40, progress=False)
    return time.process_time() - began, run.y[-1] if run.status == 0 else np.full(problem.n, np.nan)


def scipy(problem: Problem, method: str, end: float, tolerance: float) -> tuple[float, Any]:
    """Seconds, and the last state."""
    from scipy.integrate import solve_ivp

    field, v, work = problem.field.compiled, np.zeros(problem.dimension), np.zeros(problem.work_shape)

    def rate(t: float, y: Any) -> Any:
        field(t, np.ascontiguousarray(y), problem.parameters, problem.structure, work, v)
        return ambient_velocity(problem.table, y, v)

    began = time.process_time()
    try:
        run = solve_ivp(rate, (0.0, end), problem.y0, method=method, rtol=tolerance, atol=tolerance)
    except ValueError:  # its iteration has left the numbers
        return time.process_time() - began, np.full(problem.n, np.nan)
    return time.process_time() - began, run.y[:, -1] if run.success else np.full(problem.n, np.nan)


def ladder(problem: Problem, end: float, steps: tuple[float, ...]) -> Iterator[tuple[str, list[tuple[float, Any]]]]:
    """Every solver with its (seconds, last state) over its ladder."""
    for method in OURS:
        ours(problem, method, 2 * steps[0], steps[0])
        yield method, [ours(problem, method, end, step) for step in steps]
    for method in PEERS:
        runs: list[tuple[float, Any]] = []
        for tolerance in TOLERANCES:
            if not runs or runs[-1][0] < LIMIT:
                runs.append(scipy(problem, method, end, tolerance))
        yield f"SciPy {method}", runs


def size_of(problem: Problem) -> Any:
    """The sizes of the state by which errors are divided: of configuration and momenta."""
    y, n = np.atleast_2d(problem.y0)[0], problem.n // 2
    return np.concatenate(
        [np.full(n, max(1.0, np.abs(y[:n]).max())), np.full(problem.n - n, max(1.0, np.abs(y[n:]).max()))]
    )


def _fastest(rows: list[dict[str, Any]], theirs: bool, k: int) -> float | None:
    """The least seconds to an error, of SciPy's solvers or of ours."""
    seconds = [row["seconds"][k] for row in rows if row["method"].startswith("SciPy") == theirs]
    return min((x for x in seconds if x), default=None)


def measured(name: str) -> list[dict[str, Any]]:
    """The rows of a system."""
    build, end, steps = SYSTEMS[name]
    problem = build()
    references = [ours(problem, m, end, steps[-1] / 2)[1] for m in ("RKMK_RADAU_IIA5", "RKMK_GAUSS6")]
    size = size_of(problem)
    doubt = float(np.abs((references[0] - references[1]) / size).max())
    print(f"{name}, {end} s (references agree to {doubt:.1e}); seconds to an error of {ERRORS}")
    rows = []
    for method, runs in ladder(problem, end, steps):
        errors = [float(np.abs((y - references[1]) / size).max()) for _, y in runs]
        best = [
            min((t for (t, _), e in zip(runs, errors, strict=True) if e <= wanted), default=None) for wanted in ERRORS
        ]
        rows.append({"system": name, "method": method, "errors": list(ERRORS), "seconds": best})
        print(f"  {method:18s}", *(f"{x:10.4f}" if x is not None else "         -" for x in best), flush=True)
    fastest = [[_fastest(rows, theirs, k) for k in range(len(ERRORS))] for theirs in (True, False)]
    ratios = [a / b if a and b else None for a, b in zip(*fastest, strict=True)]
    print("  fastest of SciPy / ours", *(f"{x:10.1f}" if x else "         -" for x in ratios))
    return [
        *rows,
        {"system": name, "method": "SciPy over ours", "errors": list(ERRORS), "ratio": ratios, "references": doubt},
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    rows = [row for name in options.systems for row in measured(name)]
    if options.save:
        print("saved", save(options.save, {**circumstances("scipy"), "rows": rows}))


if __name__ == "__main__":
    main()
