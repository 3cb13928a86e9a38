"""Rods at equal error against PyElastica and Exudyn, and implicit steps of thin ones: ``python -m benchmarks.rods``.

A cantilever of rubber, 1 m long and 20 mm thick in radius, falls from the horizontal: the place of its tip after half a
second against that of the continuous rod, by extrapolation of our finest meshes (order 2).  Every program over a ladder
of elements and steps; for each error the shortest time of the steps alone in which it is reached (of ours what
solutions say of it, of others by the process clock), the best of `ROUNDS`.  PyElastica has the same section (its shear
factor 27/28 is given to ours) and its position Verlet; Exudyn its geometrically exact beam in the plane, three numbers
per node instead of ours in space, with implicit trapezoidal steps.

Then a cantilever of steel wire, 1 m by 2 mm: what implicit steps of 1 ms take per element, beside explicit ones at
their limit, for short and for long chains.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import circumstances, save
from integrators import Problem, integrate
from integrators.methods import METHODS
from mechanics.elastic.rods import Rod, Section, step_limit

YOUNG, DENSITY, RADIUS, HORIZON, GRAVITY = 1e6, 1100.0, 0.02, 0.5, (0.0, 0.0, -9.81)
RUBBER = Section.round(RADIUS, YOUNG, density=DENSITY, poisson=0.5, shear_factor=27 / 28)
WIRE = Section.round(0.001, 2.1e11, density=7850.0)
IMPLICIT = "RKMK_RADAU_IIA3"
"""It damps what its steps do not follow, as thin rods want it."""
ERRORS = (2e-2, 5e-3, 1e-3)
"""Of the tip, m."""
ELEMENTS = (4, 8, 16, 32, 64, 128, 256, 512)
ROUNDS, SHORT, LIMIT = 2, 0.2, 1.0
"""Repetitions, at least; what they take together, at least, s; seconds of a run after which finer ones are not asked
for.
"""


class Point(NamedTuple):
    """One run: elements, step, seconds, tip."""

    n: int
    h: float
    seconds: float
    tip: Any


def cantilever(n: int, section: Section = RUBBER) -> Rod:
    return Rod.straight(1.0, n, section, supports={0: "clamped"}, gravity=GRAVITY)


def unwatched(problem: Problem) -> Problem:
    """Without invariants and guards, as the other programs."""
    return replace(problem, invariants=None, invariant_names=(), invariant_units=(), guards=())


def best(call: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest time of the steps of some runs, s, without what looks at them afterwards, and one of them."""
    times: list[float] = []
    while len(times) < ROUNDS or (sum(times) < SHORT and len(times) < 20):
        found = call()
        times.append(found.seconds)
    return min(times), found


def ours(name: str, n: int, h: float) -> Point:
    rod = cantilever(n)
    problem = unwatched(rod.problem())
    method = METHODS[name].plain()
    steps = max(1, round(HORIZON / h))
    h = HORIZON / steps

    def run(count: int) -> Any:
        return integrate(problem, method, (0.0, count * h), h, save_every=count, progress=False)

    (preparing, _), (seconds, found) = best(lambda: run(1)), best(lambda: run(steps))
    return Point(n, h, seconds - preparing, rod.node_poses(found.t[-1], found.y[-1])[-1, :3])


def pyelastica(n: int, h: float) -> Point:
    import elastica as ea

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing):  # type: ignore[misc]
        """One rod."""

    def run() -> Any:
        simulator = Simulator()
        rod = ea.CosseratRod.straight_rod(
            n_elements=n, start=np.zeros(3), direction=np.array([1.0, 0, 0]), normal=np.array([0, 1.0, 0]),
            base_length=1.0, base_radius=RADIUS, density=DENSITY, youngs_modulus=YOUNG, shear_modulus=YOUNG / 3,
        )  # fmt: skip
        simulator.append(rod)
        clamp = simulator.constrain(rod)
        clamp.using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
        simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array(GRAVITY))
        simulator.finalize()
        stepper, t = ea.PositionVerlet(), np.float64(0.0)
        start = time.process_time()
        for _ in range(steps):
            t = stepper.step(simulator, t, np.float64(HORIZON / steps))
        return time.process_time() - start, rod.position_collection[:, -1].copy()

    steps = max(1, round(HORIZON / h))
    found = [run() for _ in range(ROUNDS)]
    return Point(n, HORIZON / steps, min(seconds for seconds, _ in found), found[-1][1])


def exudyn(n: int, h: float) -> Point:
    import exudyn as exu
    from exudyn.itemInterface import (
        LoadMassProportional,
        MarkerBodyMass,
        MarkerNodeCoordinate,
        NodePointGround,
        NodeRigidBody2D,
        ObjectBeamGeometricallyExact2D,
        ObjectConnectorCoordinate,
    )

    def run() -> Any:
        system = exu.SystemContainer()
        mbs = system.AddSystem()
        nodes = [mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[k / n, 0, 0])) for k in range(n + 1)]
        for k in range(n):
            beam = mbs.AddObject(
                ObjectBeamGeometricallyExact2D(
                    nodeNumbers=nodes[k : k + 2], length=1 / n, massPerLength=RUBBER.mass,
                    crossSectionInertia=RUBBER.inertia[1], bendingStiffness=RUBBER.EI2, axialStiffness=RUBBER.EA,
                    shearStiffness=RUBBER.GA2,
                )
            )  # fmt: skip
            mass = mbs.AddMarker(MarkerBodyMass(bodyNumber=beam))
            mbs.AddLoad(LoadMassProportional(markerNumber=mass, loadVector=[0, GRAVITY[2], 0]))
        ground = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
        for k in range(3):
            held = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
            mbs.AddObject(ObjectConnectorCoordinate(markerNumbers=[ground, held]))
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, HORIZON
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
        settings.solution.file.write = False
        settings.timeIntegration.verboseMode = 0
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        start = time.process_time()
        mbs.SolveDynamic(settings)
        seconds = time.process_time() - start
        x, z, _ = mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position)
        return seconds, np.array([x, 0.0, z])

    steps = max(1, round(HORIZON / h))
    found = [run() for _ in range(ROUNDS)]
    return Point(n, HORIZON / steps, min(seconds for seconds, _ in found), found[-1][1])


def reference() -> Any:
    """The tip of the continuous rod."""
    tips = [ours("SPLIT_SRKN6_11B", n, 2.0 * step_limit(cantilever(n)).step).tip for n in (32, 64)]
    return tips[1] + (tips[1] - tips[0]) / 3.0


def ladder(program: Callable[[int, float], Point], steps: Callable[[int], list[float]], most: int) -> Iterator[Point]:
    """Runs of ever more elements, until one takes too long."""
    for n in (n for n in ELEMENTS if n <= most):
        slow = False
        for h in steps(n):
            point = program(n, h)
            slow = slow or point.seconds > LIMIT
            if np.isfinite(point.tip).all():
                yield point
        if slow:
            return


def at_equal_error(quick: bool) -> list[dict[str, Any]]:
    """For each program and error, the shortest time, and what of it is a step of an element."""
    exact, most = reference(), 8 if quick else 64

    def shares(parts: tuple[float, ...], n: int) -> list[float]:
        return [part * step_limit(cantilever(n)).step for part in parts]

    programs: dict[str, Iterator[Point]] = {
        name: ladder(partial(ours, name), partial(shares, parts), most)
        for name, parts in (("SPLIT_STRANG", (0.5, 0.25, 0.12)), ("SPLIT_SRKN4_6B", (2.0, 1.0)))
    }
    programs[IMPLICIT] = ladder(partial(ours, IMPLICIT), lambda n: [0.02, 0.01, 5e-3, 2.5e-3], min(most, 32))
    if find_spec("elastica"):
        programs["PyElastica"] = ladder(pyelastica, partial(shares, (0.8, 0.3)), 8 * most)
    if find_spec("exudyn"):
        programs["Exudyn"] = ladder(exudyn, lambda n: [0.01, 5e-3, 2.5e-3, 1.25e-3], most)
    rows = []
    for name, points in programs.items():
        found = [(float(np.linalg.norm(p.tip - exact)), p) for p in points]
        for wanted in ERRORS:
            reached = [p for error, p in found if error <= wanted]
            row: dict[str, Any] = {"program": name, "error": wanted, "least_error": min(error for error, _ in found)}
            if reached:
                p = min(reached, key=lambda p: p.seconds)
                ns = 1e9 * p.seconds / (p.n * round(HORIZON / p.h))
                row |= {"elements": p.n, "h": p.h, "ms": 1e3 * p.seconds, "ns_per_element_and_step": ns}
            rows.append(row)
    return rows


def thin(quick: bool) -> list[dict[str, Any]]:
    """A wire of steel: µs of computing per element and ms of motion, and evaluations per step."""
    rows = []
    for n in (10, 40) if quick else (25, 100, 400):
        rod = cantilever(n, WIRE)
        limit, problem = step_limit(rod), unwatched(rod.problem())
        for name, h, count in ((IMPLICIT, 1e-3, 20), ("SPLIT_STRANG", 0.9 * limit.step, 4000)):
            method = METHODS[name].plain()

            def run(steps: int, h: float = h, method: Any = method) -> Any:
                return integrate(problem, method, (0.0, steps * h), h, save_every=steps, progress=False)

            run(2)
            (short, first), (long, last) = best(lambda: run(count // 4)), best(lambda: run(count))
            steps = count - count // 4
            rows.append({
                "elements": n, "method": name, "h": h, "limit": limit.step, "cause": limit.cause,
                "us_per_element_and_step": 1e6 * (long - short) / steps / n,
                "us_per_element_and_ms": 1e3 * (long - short) / steps / n / h,
                "evaluations_per_step": float(last.evaluations - first.evaluations) / steps,
            })  # fmt: skip
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short ladders; nothing is kept")
    quick = parser.parse_args(arguments).quick
    rows = [*at_equal_error(quick), *thin(quick)]
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))
    if not quick:
        others = {"elastica": "pyelastica", "exudyn": "exudyn"}
        save("rods", circumstances(*(name for module, name in others.items() if find_spec(module))) | {"rows": rows})


if __name__ == "__main__":
    main()
