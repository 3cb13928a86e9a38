"""Variational steps of trees and of a heavy top, against MuJoCo's Runge–Kutta: ``python -m benchmarks.variational``.

Chains of links on hinges about x, y, z, x, … under gravity, which whirl when they are long.  One step from (q, p) to
(q, p): order 2, implicit, exact Newton; beside it the coordinate midpoint form (`MIDPOINT`, as in trep), which iterates
on the equations of motion; MuJoCo: one step of its explicit RK4, in its own C loop.  Best of many short runs from the
same start.  On a machine that others use (the record keeps its load) only ratios within one run count.

Published figures for the same kind of step, on other machines: 21.5 µs per degree of freedom (linear-time variational
integrator, Lee, Liu, Park and Srinivasa 2016).
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

from benchmarks.machine import best_time, circumstances, save
from integrators.layout import COUNTERS, ITERATIONS, STEPS
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Problem
from integrators.signatures import FIELD, FIELD_LANES, STEP, STEP_LANES
from integrators.status import OK
from integrators.steppers.common import clear, copy, pass_on_last
from liegroup.compile import (
    WIDTH,
    entry,
    integer,
    integer_table,
    integers,
    lane_array,
    lane_matrix,
    lane_vector,
    matrix,
    real,
    vector,
)
from liegroup.group import so3
from mechanics import Body, Inertia, Tree
from mechanics.joints import Revolute
from mechanics.problems.tree import hamiltonian_problem
from mechanics.systems.bodies.heavy_top import heavy_top

LINKS = (5, 10, 20, 40, 100, 1000, 10000)
COM, TENSOR = (0.02, 0.03, 0.15), ((0.02, 0.001, 0.002), (0.001, 0.025, 0.0015), (0.002, 0.0015, 0.015))
OFFSET, GRAVITY = (0.1, 0.05, 0.3), (-9.81, 0.0, 0.0)


@entry(
    integer(STEP, FIELD, integer, integer, real, vector, vector, vector, integer_table, vector, integers, vector,
    integers, matrix, matrix,
            integers),
    integer(STEP_LANES, FIELD_LANES, integer, integer, real, lane_vector, lane_vector, lane_vector, integer_table,
    vector, integers, vector,
            integers, lane_matrix, lane_matrix, integers),
)  # fmt: skip
def _loop(
    step: Any, field: Any, runs: Any, count: Any, h: Any, start: Any, y: Any, low: Any, table: Any, coefficients: Any,
    options: Any,
    parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """`runs` times `count` steps from the same start."""
    for _ in range(runs):
        copy(start, y)
        clear(low)
        counters[:] = 0
        for k in range(count):
            status = step(
                field, k * h, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
            )
            if status != OK:
                return status
            pass_on_last(work, counters)
            counters[STEPS] = k + 1
    return OK


def chain(n: int) -> Tree:
    """Links of 1 kg."""
    axes = np.eye(3)
    link = Inertia.about_com(1.0, COM, TENSOR)
    bodies = [
        Body(f"l{i}", Revolute(tuple(axes[i % 3])), f"l{i - 1}" if i else None, OFFSET, inertia=link) for i in range(n)
    ]
    return Tree(bodies, f"chain of {n}", gravity=GRAVITY)


def start(n: int) -> tuple[Any, Any]:
    """q = 0.4 sin(1 + i), v = 0.2 cos(0.7 i)."""
    i = np.arange(n)
    return 0.4 * np.sin(1 + i), 0.2 * np.cos(0.7 * i)


def measured(problem: Problem, method: Method, h: float, count: int, lanes: bool = False) -> tuple[float, float]:
    """(microseconds per step and trajectory, iterations per step) of `count` steps from the start; NaN if a step
    fails.
    """
    make = lane_array if lanes else (lambda *shape: np.zeros(shape))
    n = problem.n
    y, low, first = make(n), make(n), make(n)
    first[...] = problem.y0[:, None] if lanes else problem.y0
    work, field_work = make(*method.work_shape(problem)), make(*problem.work_shape)
    form, counters = "compiled_lanes" if lanes else "compiled", np.zeros(COUNTERS, dtype=np.int64)
    field, step, loop = (getattr(x, form) for x in (method.function(problem), method.step(problem), _loop))
    numbers = (
        problem.table,
        method.kernel_coefficients(problem),
        method.kernel_options(problem),
        problem.parameters,
        problem.structure,
    )
    status = OK

    def run(calls: int) -> None:
        nonlocal status
        status = loop(step, field, calls, count, h, first, y, low, *numbers, field_work, work, counters)

    run(1)
    if status != OK:
        return float("nan"), float("nan")
    seconds = best_time(run, chunk=1e-3, repeats=60)
    return 1e6 * seconds / count / (WIDTH if lanes else 1), counters[ITERATIONS] / count


def mujoco(n: int, h: float, integrator: str, count: int) -> float:
    """Microseconds per step of MuJoCo on the same chain from the same start, in its own loop."""
    import mujoco as mj
    from mujoco import rollout

    inertia = " ".join(
        str(x) for x in (TENSOR[0][0], TENSOR[1][1], TENSOR[2][2], TENSOR[0][1], TENSOR[0][2], TENSOR[1][2])
    )
    link = '<body pos="{}"><joint type="hinge" axis="{}"/><inertial pos="{}" mass="1" fullinertia="{}"/>'
    text = "".join(link.format(_words(OFFSET), _words(np.eye(3)[i % 3]), _words(COM), inertia) for i in range(n))
    xml = (
        f'<mujoco><option timestep="{h}" gravity="{_words(GRAVITY)}" integrator="{integrator}"><flag '
        'contact="disable"/></option>'
        f"<worldbody>{text}{'</body>' * n}</worldbody></mujoco>"
    )
    model = mj.MjModel.from_xml_string(xml)
    data = mj.MjData(model)
    data.qpos[:], data.qvel[:] = start(n)
    state = np.zeros(mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS))
    mj.mj_getState(model, data, state, mj.mjtState.mjSTATE_FULLPHYSICS)

    def run(calls: int) -> None:
        for _ in range(calls):
            rollout.rollout(model, data, state[None, :], nstep=count)

    return 1e6 * best_time(run, chunk=1e-3, repeats=60) / count


def _words(x: Any) -> str:
    return " ".join(repr(float(a)) for a in x)


def top() -> Problem:
    """The asymmetric heavy top of the accuracy tests."""
    axis = np.array([0.1, 0.2, 0.97])
    attitude = so3.exp(np.array([0.4, -0.3, 0.2]))
    return heavy_top(
        (1.0, 1.4, 0.6), 2.0, axis / np.linalg.norm(axis), 1.0, angular_velocity=(0.5, -0.8, 4.0), orientation=attitude
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=LINKS[-1], help="leave out longer chains")
    parser.add_argument("--lanes", action="store_true", help="eight trajectories at a time, too")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    rows, method, middle = [], find("TREE_VARIATIONAL"), find("MIDPOINT")
    assert isinstance(method, Method)
    assert isinstance(middle, Method)
    heads = (
        ("links", 6),
        ("h", 6),
        ("µs/step", 9),
        ("µs/dof", 7),
        ("iterations", 10),
        ("midpoint", 9),
        ("iterations", 10),
        ("lanes", 9),
    )
    print(" ".join(f"{name:>{width}s}" for name, width in (*heads, ("MuJoCo RK4", 11), ("ratio", 6))))
    for n in (n for n in LINKS if n <= options.largest):
        problem = hamiltonian_problem(chain(n), *start(n))
        for h in (1e-3, 1e-2):
            count = max(5, min(100, 20000 // n))
            scalar, iterations = measured(problem, method, h, count)
            lanes = measured(problem, method, h, count, lanes=True)[0] if options.lanes and n <= 1000 else float("nan")
            midpoint, turns = measured(problem, middle, h, count) if n <= 100 else (float("nan"), float("nan"))
            other = mujoco(n, h, "RK4", count) if n <= 100 else float("nan")
            print(
                f"{n:6d} {h:6g} {scalar:9.2f} {scalar / n:7.3f} {iterations:10.2f} {midpoint:9.2f} {turns:10.2f} "
                f"{lanes:9.2f} "
                f"{other:11.2f} {other / scalar:6.2f}",
                flush=True,
            )
            rows.append({"links": n, "h": h, "steps": count, "variational_us": scalar, "iterations": iterations,
                         "lanes_us": lanes,
                         "midpoint_us": midpoint, "midpoint_iterations": turns, "mujoco_rk4_us": other})  # fmt: skip
    for name in ("LGVI_CAYLEY", "LGVI_MOSER_VESELOV", "LGVI_EXP", "RKMK4"):
        chosen = find(name)
        assert isinstance(chosen, Method)
        for version in (chosen, chosen.plain()):
            us, iterations = measured(top(), version, 0.02, 1000)
            print(f"heavy top, {version.name}: {1e3 * us:.0f} ns a step, {iterations:.2f} iterations", flush=True)
            rows.append(
                {
                    "system": "heavy top",
                    "h": 0.02,
                    "method": version.name,
                    "step_ns": 1e3 * us,
                    "iterations": iterations,
                }
            )
    if options.save:
        print(
            "saved", save(options.save, {**circumstances("mujoco"), "load_average": os.getloadavg()[0], "rows": rows})
        )


if __name__ == "__main__":
    main()
