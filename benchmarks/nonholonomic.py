"""Nonholonomic systems against SciPy and Exudyn's rolling disc: ``python -m benchmarks.nonholonomic``.

Two tables: nanoseconds per step, one trajectory and eight in lanes (per trajectory); and microseconds per simulated
second at equal error.  Costs are differences of a long and a short run (every step watches the invariants), so that
starting a run does not count for anybody, and with variable steps those of one run; of all of ours the seconds of the
steps alone, without the looks at a run that has ended; errors are those of the configuration after `HORIZON`, against
DOP853 at 1e-13.  At equal error: fixed steps, one trajectory and eight in lanes; variable steps; SciPy's DOP853 on the
same compiled right-hand side, without projections as the others; Exudyn's implicit solvers on its rolling-disc joint,
where Exudyn is installed.  The wheeled tree also in Hamiltonian variables, by the kernel of all mechanisms and by
straight-line code, for SciPy as well: there our steps are projected, which gives them their invariants and the first
evaluation of the next step.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import exudyn_disk
from benchmarks.machine import circumstances, save
from integrators import Problem, integrate
from liegroup.compile import WIDTH
from mechanics import compile_model
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.systems.rolling import two_wheeled_pendulum as pendulum
from mechanics.systems.rolling.chaplygin_sleigh import chaplygin_sleigh
from mechanics.systems.rolling.snakeboard import snakeboard
from mechanics.systems.rolling.tilting_disk import tilting_disk

HORIZON = 1.0
LONG = 20.0
"""Length of the long runs at equal error: where motions die out, arithmetic on what is left would be slower."""
TOLERANCES = 10.0 ** -np.arange(2, 12)
TARGETS = (1e-3, 1e-4, 1e-6, 1e-8, 1e-9)
COUNTS = {
    "RKMK4": [2**k for k in range(3, 12)],
    "RKMK_VERNER65": [2**k for k in range(2, 10)],
    "RKMK_DOP853": [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 256],
}
"""Methods at equal error, and their steps in a second."""
START = pendulum.TwoWheeledPendulum(), 0.1, 1.0, 0.0, 0.8
"""Of the wheeled tree: pitch, speed, rates of pitch and yaw."""
Line = tuple[list[float], list[float]]
"""Errors, and microseconds per simulated second."""


def wheeled() -> tuple[Problem, Problem]:
    """The two-wheeled pendulum as a tree, for Runge–Kutta methods (projected) and bare, for SciPy."""
    made = pendulum.mechanism()
    q, v = pendulum.state(*START)
    return multiplier_problem(made, q, v, projection="positions"), multiplier_problem(made, q, v)


def systems() -> dict[str, tuple[Problem, Problem, dict[str, Problem]]]:
    """Name → (problem, problem for SciPy, problems of methods that work with multipliers)."""
    found: dict[str, tuple[Problem, Problem, dict[str, Problem]]] = {}
    for name, system in (("disk", tilting_disk()), ("sleigh", chaplygin_sleigh()), ("snakeboard", snakeboard())):
        problem = system.problem()
        found[name] = problem, problem, {"DLA": system.constrained_problem()}
    return {**found, "wheeled tree": (*wheeled(), {})}


def eightfold(problem: Problem) -> Problem:
    """Eight starts elsewhere in the plane: the same motion."""
    starts = np.tile(problem.y0, (WIDTH, 1))
    starts[:, :2] += np.random.default_rng(0).normal(size=(WIDTH, 2))
    return problem.with_start(starts)


def seconds(problem: Problem, method: str, step: float, steps: int) -> float:
    """Of the steps alone: what `integrate` looks at afterwards takes milliseconds, whichever the steps."""
    return float(integrate(problem, method, (0.0, step * steps), step=step, save_every=steps).seconds)


def per_step(problem: Problem, method: str, step: float, rounds: int, short: int = 2000, long: int = 22000) -> float:
    """Nanoseconds per step."""
    seconds(problem, method, step, short)
    difference = best(lambda: seconds(problem, method, step, long), rounds) - best(
        lambda: seconds(problem, method, step, short), rounds
    )
    return 1e9 * difference / (long - short)


def best(call: Callable[[], float], rounds: int) -> float:
    return min(call() for _ in range(rounds))


def speeds(names: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Rows of the first table."""
    rows = []
    print(f"{'system':14s} {'method':14s} {'ns/step':>9s} {'lanes':>9s}")
    for name, (problem, _, others) in ((n, made) for n, made in systems().items() if n in names):
        for method, posed in {"RKMK4": problem, **others}.items():
            one, eight = per_step(posed, method, 1e-3, rounds), per_step(eightfold(posed), method, 1e-3, rounds) / WIDTH
            print(f"{name:14s} {method:14s} {one:9.0f} {eight:9.0f}", flush=True)
            rows.append(
                {"system": name, "method": method, "ns_per_step": round(one, 1), "ns_per_step_lanes": round(eight, 1)}
            )
    return rows


def at_equal_error(errors: Sequence[float], costs: Sequence[float], target: float) -> float:
    """Cost at an error, between measured points of a work–precision line; the cheapest point if all are better, NaN if
    none is.

    On a loaded machine the difference of two short runs may come out negative: such a point is no measurement.
    """
    measured = np.array(costs) > 0.0
    if not measured.any():
        return float("nan")
    x, y = np.log(np.maximum(errors, 1e-17))[measured], np.log(np.array(costs)[measured])
    order = np.argsort(x)
    return float(np.exp(np.interp(np.log(target), x[order], y[order]))) if x.min() <= np.log(target) else float("nan")


def lines(name: str, rounds: int) -> dict[str, Line]:
    """Work–precision lines: who → (errors, microseconds per simulated second)."""
    problem = systems()[name][1]
    reference = integrate(problem, "SCIPY_DOP853", (0.0, HORIZON), step=HORIZON, rtol=1e-13, atol=1e-13).y[-1]
    size = int(problem.table[:-1, 3].sum())

    def error(y: Any) -> float:
        return float(
            np.abs(y[: len(y) if len(y) < size else size] - reference[: len(y) if len(y) < size else size]).max()
        )

    found: dict[str, Line] = {}
    for method, counts in COUNTS.items():
        found |= _fixed(problem, method, counts, error, rounds)
    found["RKMK_DOP853, variable steps"] = _tolerances(problem, "RKMK_DOP853", None, error, rounds)
    found["SciPy DOP853"] = _tolerances(problem, "SCIPY_DOP853", HORIZON, error, rounds)
    if name == "wheeled tree":
        made = pendulum.mechanism()
        for form, posed in {"Hamiltonian": made, "straight-line code": compile_model(made)}.items():
            momenta, bare = (posed.problem(*pendulum.state(*START), projection=p) for p in ("positions", "none"))
            fixed = _fixed(momenta, "RKMK_DOP853", COUNTS["RKMK_DOP853"], error, rounds)
            found |= {f"{who}, {form}": line for who, line in fixed.items()}
            found[f"RKMK_DOP853, variable steps, {form}"] = _tolerances(momenta, "RKMK_DOP853", None, error, rounds)
            found[f"SciPy DOP853, {form}"] = _tolerances(bare, "SCIPY_DOP853", HORIZON, error, rounds)
    if name == "disk" and exudyn_disk.available():
        found |= _exudyn(error, rounds)
    return found


def _fixed(
    problem: Problem, method: str, counts: Sequence[int], error: Callable[[Any], float], rounds: int
) -> dict[str, Line]:
    """Fixed steps, one trajectory and in lanes."""
    line: Line = ([], [])
    lanes: Line = ([], [])
    for n in counts:
        solution = integrate(problem, method, (0.0, HORIZON), step=HORIZON / n)
        if not solution.success:
            continue
        for to, posed, width in ((line, problem, 1), (lanes, eightfold(problem), WIDTH)):
            to[0].append(error(solution.y[-1]))
            to[1].append(
                1e-3 * n * per_step(posed, method, HORIZON / n, rounds, n, round(n * LONG / HORIZON)) / HORIZON / width
            )
    return {method: line, f"{method}, lanes": lanes}


def _tolerances(problem: Problem, method: str, step: float | None, error: Callable[[Any], float], rounds: int) -> Line:
    line: Line = ([], [])
    for tolerance in TOLERANCES:

        def run(tolerance: float = tolerance) -> Any:
            return integrate(
                problem, method, (0.0, HORIZON), step=step and HORIZON, rtol=tolerance, atol=tolerance, save_every=1000
            )

        line[0].append(error(run().y[-1]))
        line[1].append(1e6 * best(lambda: run().seconds, rounds) / HORIZON)
    return line


def _exudyn(error: Callable[[Any], float], rounds: int) -> dict[str, Line]:
    found: dict[str, Line] = {}
    system = tilting_disk()
    for solver in exudyn_disk.SOLVERS:
        line: Line = ([], [])
        for n in (200, 400, 800, 1600, 3200, 6400):
            line[0].append(error(exudyn_disk.solve(solver, HORIZON / n, HORIZON, system)[0]))
            costs = [
                best(lambda h=h: exudyn_disk.solve(solver, HORIZON / n, h, system)[1], rounds)
                for h in (HORIZON, 2 * HORIZON)
            ]  # type: ignore[misc]
            line[1].append(1e6 * (costs[1] - costs[0]) / HORIZON)
        found[f"Exudyn, {solver}"] = line
    return found


def comparison(names: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Rows of the second table."""
    rows: list[dict[str, Any]] = []
    print(
        f"\nmicroseconds per simulated second at equal error\n{'system':14s} {'who':50s}"
        + "".join(f"{t:>10.0e}" for t in TARGETS)
    )
    for name in names:
        for who, (errors, costs) in lines(name, rounds).items():
            at = [at_equal_error(errors, costs, target) for target in TARGETS]
            print(f"{name:14s} {who:50s}" + "".join(f"{x:10.1f}" if x == x else f"{'–':>10s}" for x in at), flush=True)
            rows.append(
                {
                    "system": name,
                    "who": who,
                    "errors": errors,
                    "microseconds_per_second": costs,
                    "at_targets": [x if x == x else None for x in at],
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="measure every number so many times, the best counts")
    parser.add_argument("--systems", nargs="+", default=list(systems()), help="some of the systems; default all")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    if not exudyn_disk.available():
        print("no comparison with Exudyn: it is not installed")
    record = {
        "speeds": speeds(options.systems, options.rounds),
        "targets": TARGETS,
        "rows": comparison(options.systems, options.rounds),
    }
    if options.save:
        packages = ("scipy", "exudyn") if exudyn_disk.available() else ("scipy",)
        print("saved", save(options.save, {**circumstances(*packages), **record}))


if __name__ == "__main__":
    main()
