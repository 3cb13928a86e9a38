"""Cost of a step on the free rigid body and the heavy top against Exudyn, MuJoCo and SciPy: ``python -m
benchmarks.lie_rk``.

Nanoseconds per step and trajectory: ours for one trajectory and in lanes of eight, by the run loop as `integrate` uses
it (compensated summation, invariants watched at every step); Exudyn's explicit Lie-group RK44 and MuJoCo's RK4 on one
body by their own loops in C++ and C; SciPy's RK45 with a compiled right-hand side, per accepted step.  By the process
clock, in turns, best of all rounds.  What a step costs does not depend on its size.  Packages that are not installed
are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.machine import circumstances, save
from integrators.engine.run import Output, Plan
from integrators.integrate import start_runs
from integrators.methods import find
from integrators.problem import Problem
from liegroup.compile import WIDTH
from mechanics.systems import free_rigid_body, heavy_top

METHODS = ("RKMK4", "CF4", "SPLIT_SRKN4_6B", "SPLIT_SRKN6_11B", "ROTATIONS_SUZUKI4", "MIDPOINT")
STEP = 1e-4
SYSTEMS: dict[str, Callable[[], Problem]] = {"free rigid body": free_rigid_body, "heavy top": heavy_top}
STEPS = 5000
EXUDYN_STEPS = 20_000
"""Enough that starting its loop, which costs milliseconds, hardly counts."""
NOT_AVAILABLE = float("nan")


def ours(problem: Problem, method: str, lanes: bool) -> float:
    """Nanoseconds per step and trajectory in the compiled loop."""
    problem = problem.with_start(np.repeat(np.atleast_2d(problem.y0), WIDTH, 0)) if lanes else problem
    run = start_runs(problem, find(method), Output(save_every=2**60), Plan(0.0, STEP, 2**60))[0]

    def loop(steps: int) -> float:
        began = time.process_time()
        run.go(steps)
        return time.process_time() - began

    return _per_step(loop) / (WIDTH if lanes else 1)


def exudyn(problem: Problem) -> float:
    """Exudyn's explicit Lie-group RK44 on one body with rotation-vector coordinates, without a joint: the heavy top is
    a free body with its weight acting at a point, the cheapest problem of the kind it has.
    """
    try:
        import exudyn as exu
        from exudyn.utilities import LoadForceVector, MarkerBodyRigid, NodeRigidBodyRotVecLG, ObjectRigidBody
    except ImportError:
        return NOT_AVAILABLE
    system = exu.SystemContainer().AddSystem()
    inertia = (2.0, 1.0, 2.0 / 3.0) if problem.model == "free rigid body" else (15.234375, 0.46875, 15.234375)
    start = [0.0, 0.0, 0.0, 0.2, 0.5, 1.3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        node = system.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=[0.0] * 6, initialVelocities=start))
        body = system.AddObject(
            ObjectRigidBody(physicsMass=15.0, physicsInertia=[*inertia, 0.0, 0.0, 0.0], nodeNumber=node)
        )
        if problem.model != "free rigid body":
            marker = system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[0.0, 1.0, 0.0]))
            system.AddLoad(LoadForceVector(markerNumber=marker, loadVector=[0.0, 0.0, -15.0 * 9.81]))
        system.Assemble()
        settings = exu.SimulationSettings()
        settings.solutionSettings.writeSolutionToFile = False
        settings.timeIntegration.verboseMode = 0

        def loop(steps: int) -> float:
            settings.timeIntegration.numberOfSteps = steps
            settings.timeIntegration.endTime = steps * STEP
            began = time.process_time()
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
            return time.process_time() - began

        return _per_step(loop, EXUDYN_STEPS, start=True)


def mujoco(problem: Problem) -> float:
    """MuJoCo's RK4 on a single free body (the free rigid body only), contacts switched off."""
    if problem.model != "free rigid body":
        return NOT_AVAILABLE
    try:
        import mujoco as mj
    except ImportError:
        return NOT_AVAILABLE
    model = mj.MjModel.from_xml_string(
        f'<mujoco><option integrator="RK4" gravity="0 0 0" timestep="{STEP}"><flag contact="disable" '
        'constraint="disable"/></option>'
        '<worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="2 1.5 '
        '1"/></body></worldbody></mujoco>'
    )
    data = mj.MjData(model)
    data.qvel[3:] = 0.2, 0.5, 1.3

    def loop(steps: int) -> float:
        began = time.process_time()
        mj.mj_step(model, data, steps)
        return time.process_time() - began

    return _per_step(loop)


def scipy(problem: Problem) -> float:
    """SciPy's RK45 on the ambient coordinates with a compiled right-hand side, per accepted step."""
    from scipy.integrate import RK45

    from liegroup.compile import compile_field, constants, nothing, real, vector

    J = np.array([1.0 / 2.0, 1.0, 1.5])

    def rate(t: Any, y: Any, c: Any, out: Any) -> None:
        w1, w2, w3 = c[0] * y[4], c[1] * y[5], c[2] * y[6]
        out[0] = -0.5 * (y[1] * w1 + y[2] * w2 + y[3] * w3)
        out[1] = 0.5 * (y[0] * w1 + y[2] * w3 - y[3] * w2)
        out[2] = 0.5 * (y[0] * w2 + y[3] * w1 - y[1] * w3)
        out[3] = 0.5 * (y[0] * w3 + y[1] * w2 - y[2] * w1)
        x, z, g = 2.0 * (y[1] * y[3] - y[0] * y[2]), 1.0 - 2.0 * (y[1] * y[1] + y[2] * y[2]), c[3]
        out[4] = y[5] * w3 - y[6] * w2 + g * z
        out[5] = y[6] * w1 - y[4] * w3
        out[6] = y[4] * w2 - y[5] * w1 - g * x

    compiled = compile_field(rate, nothing(real, vector, constants, vector))
    numbers = np.append(J, 0.0 if problem.model == "free rigid body" else 1.0)

    def fun(t: float, y: Any) -> Any:
        out = np.empty(7)
        compiled(t, y, numbers, out)
        return out

    def loop(steps: int) -> float:
        solver = RK45(fun, 0.0, np.array([1.0, 0, 0, 0, 0.4, 0.5, 0.9]), 1e9, max_step=1e-2)
        began = time.process_time()
        for _ in range(steps):
            solver.step()
        return time.process_time() - began

    return _per_step(loop, 200)


def _per_step(loop: Callable[[int], float], steps: int = STEPS, repeats: int = 12, start: bool = False) -> float:
    """Best nanoseconds per step; `start`: starting the loop costs milliseconds, which a loop of one step takes off."""
    times = [(loop(steps), loop(1) if start else 0.0) for _ in range(repeats)]
    long, short = map(min, zip(*times, strict=True))
    return 1e9 * (long - short) / (steps - start)


PEERS = {"Exudyn RK44": exudyn, "MuJoCo RK4": mujoco, "SciPy RK45": scipy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=3, help="measure every number so many times, in turns; the best counts"
    )
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    rows = []
    print(f"{'ns per step and trajectory':32s} {'single':>8s} {'lanes':>8s}    Exudyn / single, lanes")
    for system, build in SYSTEMS.items():
        problem, best = (
            build(),
            dict.fromkeys([*PEERS, *((m, way) for m in METHODS for way in (False, True))], float("inf")),
        )
        for _ in range(options.rounds):
            for peer, measure in PEERS.items():
                best[peer] = min(best[peer], measure(problem))
            for method in METHODS:
                for lanes in (False, True):
                    best[method, lanes] = min(best[method, lanes], ours(problem, method, lanes))
        print(system)
        for peer in PEERS:
            if best[peer] == float("inf"):  # not installed, or not its kind of problem
                continue
            print(f"  {peer:30s} {best[peer]:8.0f}")
            rows.append({"system": system, "method": peer, "single_ns": best[peer]})
        for method in METHODS:
            single, lanes = best[method, False], best[method, True]
            ratios = [best["Exudyn RK44"] / x for x in (single, lanes)]
            print(f"  {method:30s} {single:8.0f} {lanes:8.0f}    {ratios[0]:8.2f} {ratios[1]:6.1f}", flush=True)
            rows.append(
                {"system": system, "method": method, "single_ns": single, "lanes_ns": lanes, "exudyn_over": ratios}
            )
    if options.save:
        print("saved", save(options.save, {**circumstances("scipy", "exudyn", "mujoco"), "rows": rows}))


if __name__ == "__main__":
    main()
