"""Stiff mechanisms at equal error against SciPy's solvers and Exudyn's generalised-α: ``python -m benchmarks.stiff``.

For each system the shortest time in which a solver reaches an error of the state: ours and Exudyn's over a ladder of
steps, SciPy's and our variable steps over one of tolerances, coarse to fine, until the smallest error is reached or a
run takes longer than `LIMIT`.  SciPy's right-hand side is our compiled field (each call through Python, as SciPy calls
it), with its differences and with our exact Jacobian; Exudyn has the same tree in minimal coordinates.  The error is
that of the last state (q, p), relative to the size of its part, against Gauss of order 12 at a step at which Radau IIA
of order 9 agrees.  By the process clock, the best of `ROUNDS`; of ours also the run alone, without what `integrate`
looks at before and behind it, whether other steps or tolerances give the same motion above all, which no other does.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks import exudyn_trees
from benchmarks.machine import circumstances, save
from integrators import Problem, integrate
from integrators.methods import find
from integrators.problem.ambient import ambient_velocity
from mechanics import momentum
from mechanics.forces import joint_spring
from mechanics.joints import Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops import flyball_governor

STIFFNESS, DAMPING = 1e6, 1e3
"""N·m/rad and N·m·s/rad, of the joints of the chains."""
ERRORS = (1e-4, 1e-6, 1e-8)
STEPS = (0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
OURS = ("RKMK_RADAU_IIA3", "RKMK_RADAU_IIA5", "RKMK_GAUSS3", "RKMK_GAUSS4", "RODAS4", "BDF5", "RKMK_DOP853", "GAUSS8")
ADAPTIVE = ("RKMK_RADAU_IIA3", "RKMK_RADAU_IIA5", "RKMK_KVAERNO54", "BDF5", "RODAS4", "RKMK_DOP853")
"""Of ours, also over the tolerances."""
SCIPY = ("Radau", "BDF", "LSODA", "DOP853")
LIMIT = 5.0
"""Seconds; a solver that takes longer for one run is not asked for more."""
ROUNDS, LONG = 3, 0.3
"""How often a run is repeated; those longer than so many seconds are not."""


class System(NamedTuple):
    """How a system is built, for how long it moves, and the step of the reference."""

    build: Callable[[], Mechanism]
    horizon: float
    fine: float


class Point(NamedTuple):
    """One run of a solver: its step or tolerance, seconds, the last state; seconds of the run alone, of ours."""

    setting: float
    seconds: float
    state: Any
    alone: float = np.nan


def chain(links: int, damping: float = 0.0) -> Mechanism:
    """Rods of 1 kg and 0.5 m in a row, joined by springs, the first one free to turn."""
    bodies: list[Body] = []
    inertia = Inertia.about_com(1.0, (0.25, 0.0, 0.0), np.diag([1e-3, 0.02, 0.02]))
    for i in range(links):
        place: tuple[Any, ...] = (f"link{i - 1}", (0.5, 0.0, 0.0)) if i else ()
        bodies.append(Body(f"link{i}", Revolute((0.0, 1.0, 0.0)), *place, inertia=inertia))
    start = np.zeros(links)
    start[0] = 0.3
    springs = [joint_spring(f"link{i}_joint", STIFFNESS, damping=damping) for i in range(1, links)]
    return Mechanism(Tree(bodies, name=f"chain of {links}"), [], start, springs).with_start()


SYSTEMS = {
    "chain of 6": System(partial(chain, 6), 0.5, 5e-5),
    "chain of 20": System(partial(chain, 20), 0.2, 5e-5),
    "damped chain of 20": System(partial(chain, 20, DAMPING), 1.0, 5e-4),
    "flyball governor": System(flyball_governor.started, 10.0, 2e-3),
}


# --- solvers: the last state of a run at a step or tolerance ----------------------------------------------------------


def run_of_ours(problem: Problem, method: str, adaptive: bool, end: float, setting: float) -> tuple[Any, float]:
    """At a step, or `adaptive` at a tolerance, and seconds of the run alone; NaN where it did not reach its end."""
    steps = {"rtol": setting, "atol": setting} if adaptive else {"step": setting}
    run = integrate(problem, method, (0.0, end), save_every=2**40, progress=False, **steps)
    return run.y[-1] if run.status == 0 else np.full(problem.n, np.nan), run.seconds


def ours(problem: Problem, method: str, adaptive: bool, end: float, setting: float) -> Any:
    """The state alone."""
    return run_of_ours(problem, method, adaptive, end, setting)[0]


def scipy(problem: Problem, method: str, exact: bool, end: float, tolerance: float) -> tuple[Any, float]:
    """NaN where it has given up, and nothing of seconds; `exact`: with our Jacobian instead of differences."""
    from scipy.integrate import solve_ivp

    field, v, work = problem.field.compiled, np.zeros(problem.dimension), np.zeros(problem.work_shape)

    def rate(t: float, y: Any) -> Any:
        field(t, np.ascontiguousarray(y), problem.parameters, problem.structure, work, v)
        return ambient_velocity(problem.table, y, v)

    d = problem.dimension
    both = np.zeros(d + d * d)

    def derivatives(t: float, y: Any) -> Any:
        field(t, np.ascontiguousarray(y), problem.parameters, problem.structure, work, both)
        return both[d:].reshape(d, d)

    known = {"jac": derivatives} if exact else {}
    try:
        run = solve_ivp(rate, (0.0, end), problem.y0, method=method, rtol=tolerance, atol=tolerance, **known)
    except ValueError:  # its iteration has left the numbers
        return np.full(problem.n, np.nan), np.nan
    return run.y[:, -1] if run.success else np.full(problem.n, np.nan), np.nan


def timed(run: Callable[[float], tuple[Any, float]], setting: float) -> Point:
    """One run, repeated where it is short."""
    best, alone, state = np.inf, np.inf, None
    for _ in range(ROUNDS):
        began = time.process_time()
        state, own = run(setting)
        seconds = time.process_time() - began
        best, alone = min(best, seconds), min(alone, own)
        if seconds > LONG:
            break
    return Point(setting, best, state, alone)


def of_exudyn(mechanism: Mechanism, solver: str, end: float, step: float) -> Point:
    """Its solver alone is timed."""
    runs = [exudyn_trees.solve(mechanism, solver, step, end)]
    while len(runs) < ROUNDS and runs[-1].seconds < LONG:
        runs.append(exudyn_trees.solve(mechanism, solver, step, end))
    q, v = runs[-1].q, runs[-1].v
    p = momentum(mechanism.tree, q, v) if np.isfinite(q).all() else v
    return Point(step, min(run.seconds for run in runs), np.concatenate([q, p]))


# --- ladders ----------------------------------------------------------------------------------------------------------


def ladder(
    run: Callable[[float], Point],
    settings: Sequence[float],
    error: Callable[[Any], float],
    errors: Sequence[float] = ERRORS,
    limit: float = LIMIT,
) -> dict[str, Any]:
    """Runs from coarse to fine, and the least seconds to every error."""
    points: list[tuple[float, float, float, float]] = []
    for setting in settings:
        point = run(setting)
        points.append((setting, point.seconds, error(point.state), point.alone))
        if points[-1][2] <= min(errors) or point.seconds > limit:
            break
    best = [min((t for _, t, e, _ in points if e <= wanted), default=None) for wanted in errors]
    alone = [min((own for *_, e, own in points if e <= wanted), default=None) for wanted in errors]
    is_known = all(own == own for *_, own in points)
    runs = [[x, round(t, 6), e if e == e else None] for x, t, e, _ in points]
    return {"seconds": best, **({"alone": alone} if is_known else {}), "runs": runs}


def size_of(problem: Problem) -> Any:
    """The sizes of the state by which errors are divided: of configuration and momenta."""
    y, n = np.atleast_2d(problem.y0)[0], problem.n // 2
    return np.concatenate(
        [np.full(n, max(1.0, np.abs(y[:n]).max())), np.full(problem.n - n, max(1.0, np.abs(y[n:]).max()))]
    )


def fastest(rows: list[dict[str, Any]], whose: str, k: int, which: str = "seconds") -> float | None:
    """The least seconds to an error."""
    return min((x for row in rows if row["of"] == whose and (x := row[which][k])), default=None)


def measured(name: str) -> list[dict[str, Any]]:
    """The rows of a system."""
    system = SYSTEMS[name]
    mechanism, end = system.build(), system.horizon
    problem, steps = mechanism.problem(), [step for step in STEPS if step <= end / 2]
    references = [ours(problem, m, False, end, system.fine) for m in ("RKMK_RADAU_IIA5", "RKMK_GAUSS6")]
    size = size_of(problem)
    doubt = float(np.abs((references[0] - references[1]) / size).max())
    print(f"{name}, {end} s (references agree to {doubt:.1e}); seconds to an error of {ERRORS}")

    def error(state: Any) -> float:
        return float(np.abs((state - references[1]) / size).max())

    rows: list[dict[str, Any]] = []

    def add(whose: str, method: str, run: Callable[[float], Point], settings: Sequence[float]) -> None:
        rows.append({"system": name, "of": whose, "method": method} | ladder(run, settings, error))
        said = [f"{x:10.4f}" if x else "         -" for x in rows[-1]["seconds"]]
        print(f"  {whose:8s} {method:28s}", *said, flush=True)

    taken = {m for m in (*OURS, *ADAPTIVE) if not (find(m).stepper.multistep and problem.re_bases)}  # else refused
    for method in (m for m in OURS if m in taken):
        ours(problem, method, False, 2 * steps[0], steps[0])  # compiles
        add("liemech", method, partial(timed, partial(run_of_ours, problem, method, False, end)), steps)
    for method in (m for m in ADAPTIVE if m in taken):
        ours(problem, method, True, end, TOLERANCES[0])
        run = partial(timed, partial(run_of_ours, problem, method, True, end))
        add("liemech", f"{method}, variable steps", run, TOLERANCES)
    for method in SCIPY:
        add("SciPy", method, partial(timed, partial(scipy, problem, method, False, end)), TOLERANCES)
        if method != "DOP853":
            run = partial(timed, partial(scipy, problem, method, True, end))
            add("SciPy", f"{method}, exact Jacobian", run, TOLERANCES)
    if exudyn_trees.available():
        for solver in exudyn_trees.SOLVERS:
            add("Exudyn", solver, partial(of_exudyn, mechanism, solver, end), steps)
    for whose in ("SciPy", "Exudyn"):
        for which, said in (("seconds", "liemech"), ("alone", "the run alone")):
            pairs = [(fastest(rows, whose, k), fastest(rows, "liemech", k, which)) for k in range(len(ERRORS))]
            ratios = [a / b if a and b else None for a, b in pairs]
            print(
                f"  {whose + ' over ' + said:37s}", *(f"{x:10.1f}" if x else "         -" for x in ratios), flush=True
            )
    return [*rows, {"system": name, "of": "references", "agreement": doubt, "horizon": end}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    rows = [row for name in options.systems for row in measured(name)]
    if options.save:
        packages = ("scipy", "exudyn") if exudyn_trees.available() else ("scipy",)
        print("saved", save(options.save, {**circumstances(*packages), "errors": list(ERRORS), "rows": rows}))


if __name__ == "__main__":
    main()
