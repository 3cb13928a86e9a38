"""Ensembles on all cores at equal error, beside MuJoCo's rollout, JAX and SciPy: ``python -m benchmarks.ensemble``.

A heavy top (one body on a ball joint), the Panda arm and a chain of ten, each from many states.  Every program takes
the longest step, of a ladder by halves, or the loosest tolerance, by tens, with which the configurations at the end are
right to the error wanted; then its time for the whole ensemble is taken, with as many threads or processes as there
are cores.  The models are the same: MuJoCo's accelerations at the start are compared first.

* liemech: `integrate`, lanes times threads, by the faster of the methods named; and with a tolerance, where each lane
  has its own steps, beside the same trajectories one by one in the threads.
* MuJoCo: `mujoco.rollout`, threads, RK4; contacts and limits are off, damping of joints is on.
* JAX: our step printed for JAX (`generate_code`), jitted and mapped over all states with `vmap`, in double precision;
  of the top alone, since XLA compiles the straight-line steps of the others for minutes.
* SciPy: `solve_ivp`'s DOP853 in a pool of processes, on our compiled field.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from typing import Any
from unittest.mock import patch

import numpy as np

import mechanics
from benchmarks.machine import circumstances, save
from benchmarks.mujoco_trees import model_file
from integrators import Problem, generate_code, integrate
from integrators.engine import crew
from integrators.engine.crew import cores
from integrators.methods import find
from mechanics import Body, Inertia, Tree
from mechanics.joints import Spherical
from mechanics.testing import random_tree

METHODS = ("RKMK4", "RKMK_DOP853")
VARIABLE = "RKMK_DORMAND_PRINCE54"
HORIZONS = {"heavy top": 10.0, "Panda": 1.0, "chain of ten": 1.0}
"""Seconds: as long as starts next to each other stay so, and all programs can be right to the error wanted."""
ERROR, CHECKED = 1e-6, 8
"""Of the configurations at the end, rad and m; trajectories of which it is looked at."""
SAME = 1e-10
"""Of accelerations at the start, relative to the greatest."""
STEPS = tuple(0.1 / 2**k for k in range(14))
TOLERANCES = tuple(10.0**-k for k in range(3, 13))


def top() -> Tree:
    """A heavy symmetric top on a ball joint."""
    return Tree([Body("top", Spherical(), inertia=Inertia.about_com(1.0, (0.0, 0.0, 0.5), np.diag([0.1, 0.1, 0.15])))])


TREES: dict[str, Callable[[], Tree]] = {
    "heavy top": top,
    "Panda": lambda: mechanics.load_model("panda"),
    "chain of ten": lambda: random_tree("chain", 10, np.random.default_rng(1)),
}


def starts(tree: Tree, count: int) -> tuple[Any, Any]:
    """Configurations and velocities at the start."""
    generator = np.random.default_rng(7)
    q = np.array([tree.random_configuration(generator) for _ in range(count)])
    return q, 0.5 * generator.standard_normal((count, tree.nv))


def longest(run: Callable[[Any], Any], ladder: tuple[float, ...], exact: Any) -> tuple[float, float]:
    """The first of the ladder with which a run is right to the error wanted, and its error; RuntimeError: none is."""
    for value in ladder:
        error = float(np.abs(run(value) - exact).max())
        if error <= ERROR:
            return value, error
    raise RuntimeError(f"no step or tolerance down to {ladder[-1]:g} gives an error of {ERROR:g}; the last {error:g}")


def best(call: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest of some calls, the first of which is not counted."""
    call()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


# --- programs ---------------------------------------------------------------------------------------------------------


def ours(problem: Problem, nq: int, exact: Any, horizon: float, repeats: int) -> dict[str, Any]:
    """The fastest of our methods."""
    found = []
    for method in METHODS:

        def ends(step: float, method: str = method) -> Any:
            few = problem.with_start(np.asarray(problem.y0)[:CHECKED])
            return integrate(few, method, (0.0, horizon), step, save_every=10**9, progress=False).y[:, -1, :nq]

        step, error = longest(ends, STEPS, exact)
        given = (problem, method, (0.0, horizon), step)
        seconds = best(lambda given=given: integrate(*given, save_every=10**9, progress=False), repeats)  # type: ignore[misc]
        found.append({"program": "liemech", "method": method, "step": step, "error": error, "seconds": seconds})
    return min(found, key=lambda row: row["seconds"])


def variable(problem: Problem, nq: int, exact: Any, horizon: float, repeats: int) -> dict[str, Any]:
    """Our steps of variable size, each lane with its own; the seconds of the same trajectories one by one, too."""

    def run(some: Problem, tolerance: float) -> Any:
        given = {"rtol": tolerance, "atol": 1e-2 * tolerance, "save_every": 10**9, "progress": False}
        return integrate(some, VARIABLE, (0.0, horizon), **given)

    few = problem.with_start(np.asarray(problem.y0)[:CHECKED])
    tolerance, error = longest(lambda x: run(few, x).y[:, -1, :nq], TOLERANCES, exact)
    seconds = best(lambda: run(problem, tolerance), repeats)
    with patch.object(crew, "goes_in_lanes", return_value=False):
        alone, found = best(lambda: run(problem, tolerance), repeats), run(problem, tolerance)
    steps = round((found.evaluations - len(found.y)) / find(VARIABLE).evaluations) - found.rejected
    row = {"program": "liemech, variable steps", "method": VARIABLE, "rtol": tolerance, "error": error}
    return row | {"seconds": seconds, "one_by_one_seconds": alone, "steps": steps}


def mujoco(tree: Tree, q: Any, v: Any, exact: Any, horizon: float, repeats: int) -> dict[str, Any]:
    """MuJoCo's rollout, whose states are time, qpos, qvel; RuntimeError if its model is another one."""
    import mujoco as mj
    from mujoco import rollout

    mj.set_mju_user_warning(lambda message: None)  # of steps that are too long: the error says it
    joints = [b for b in tree.bodies if b.joint.n_q]

    def prepared(step: float, count: int) -> tuple[Any, Any, Any]:
        model = mj.MjModel.from_xml_string(model_file(tree, step, "RK4"))
        state = np.zeros((count, 1 + model.nq + model.nv))
        for b in joints:
            joint = model.joint(b.joint_name)
            at, rate = tree.q_slice(b.joint_name), tree.v_slice(b.joint_name)
            state[:, 1 + joint.qposadr[0] :][:, : at.stop - at.start] = q[:count, at]
            state[:, 1 + model.nq + joint.dofadr[0] :][:, : rate.stop - rate.start] = v[:count, rate]
        return model, [mj.MjData(model) for _ in range(cores())], state

    def ends(step: float) -> Any:
        model, data, state = prepared(step, CHECKED)
        states, _ = rollout.rollout(model, data, state, nstep=round(horizon / step))
        found = np.zeros((CHECKED, tree.nq))
        for b in joints:
            at = tree.q_slice(b.joint_name)
            place = 1 + model.joint(b.joint_name).qposadr[0]
            found[:, at] = states[:, -1, place : place + at.stop - at.start]
        return found

    model, (data, *_), state = prepared(STEPS[-1], 1)
    mj.mj_setState(model, data, state[0], mj.mjtState.mjSTATE_FULLPHYSICS)
    mj.mj_forward(model, data)
    wanted = mechanics.forward_dynamics(tree, q[0], v[0])
    theirs = np.concatenate([data.qacc[model.joint(b.joint_name).dofadr[0] :][: b.joint.n_v] for b in joints])
    apart = float(np.abs(theirs - wanted).max() / np.abs(wanted).max())
    if apart > SAME:
        raise RuntimeError(f"MuJoCo's accelerations of {tree.name} differ by {apart:.2g}: it is another model")
    step, error = longest(ends, STEPS, exact)
    model, datas, state = prepared(step, len(q))
    pool = rollout.Rollout(nthread=cores())
    try:
        seconds = best(lambda: pool.rollout(model, datas, state, nstep=round(horizon / step)), repeats)
    finally:
        pool.close()
    row = {"program": "MuJoCo rollout", "method": "RK4", "step": step, "error": error, "seconds": seconds}
    return row | {"acceleration_apart": apart}


def jax(problem: Problem, nq: int, exact: Any, horizon: float) -> dict[str, Any]:
    """Our step printed for JAX, mapped over the states."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    method, y0 = METHODS[0], np.asarray(problem.y0)
    one_step = generate_code(problem.with_start(y0[0]), "jax", method, STEPS[0]).load().one_step

    def run(y: Any, h: Any, steps: Any) -> Any:
        return jax.lax.fori_loop(0, steps, lambda k, y: one_step(k * h, h, y)[0], y)

    runs = jax.jit(jax.vmap(run, (0, None, None)))
    step, error = longest(lambda h: runs(jnp.asarray(y0[:CHECKED]), h, round(horizon / h))[:, :nq], STEPS, exact)
    runs(jnp.asarray(y0), step, 1).block_until_ready()  # compiles for so many states
    began = time.perf_counter()
    runs(jnp.asarray(y0), step, round(horizon / step)).block_until_ready()
    seconds = time.perf_counter() - began
    return {"program": "JAX vmap", "method": method, "step": step, "error": error, "seconds": seconds}


def _scipy_ends(problem: Problem, starts: Any, tolerance: float, horizon: float) -> tuple[Any, int]:
    found = [
        integrate(problem.with_start(y), "SCIPY_DOP853", (0.0, horizon), horizon, rtol=tolerance, atol=1e-3 * tolerance)
        for y in starts
    ]
    return np.array([solution.y[-1] for solution in found]), sum(solution.steps for solution in found)


def scipy(problem: Problem, nq: int, exact: Any, horizon: float, repeats: int) -> dict[str, Any]:
    """SciPy's DOP853 in a pool of processes that are already there."""
    y0 = np.asarray(problem.y0)
    tolerance, error = longest(lambda x: _scipy_ends(problem, y0[:CHECKED], x, horizon)[0][:, :nq], TOLERANCES, exact)
    parts = np.array_split(y0, cores())
    with ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn")) as pool:

        def all_parts() -> int:
            found = pool.map(
                _scipy_ends, [problem] * len(parts), parts, [tolerance] * len(parts), [horizon] * len(parts)
            )
            return sum(steps for _, steps in found)

        steps = all_parts()
        seconds = best(all_parts, repeats)
    row = {"program": "SciPy in processes", "method": "DOP853", "rtol": tolerance, "error": error}
    return row | {"seconds": seconds, "steps": steps}


# --- all of them ------------------------------------------------------------------------------------------------------


def measure(name: str, count: int, repeats: int) -> list[dict[str, Any]]:
    """All programs on one tree."""
    tree, horizon = TREES[name](), HORIZONS[name]
    q, v = starts(tree, count)
    problem = mechanics.hamiltonian_problem(tree, q, v)
    few = problem.with_start(np.asarray(problem.y0)[:CHECKED])
    exact = integrate(few, "RKMK_DOP853", (0.0, horizon), STEPS[-1], save_every=10**9, progress=False).y[:, -1]
    exact = exact[:, : tree.nq]
    programs = [
        lambda: ours(problem, tree.nq, exact, horizon, repeats),
        lambda: variable(problem, tree.nq, exact, horizon, repeats),
        lambda: mujoco(tree, q, v, exact, horizon, repeats),
    ]
    programs += [lambda: jax(problem, tree.nq, exact, horizon)] if len(tree) == 1 else []
    programs += [lambda: scipy(problem, tree.nq, exact, horizon, 1)]
    rows = []
    for program in programs:
        row = program()
        steps = row.get("steps") or count * round(horizon / row["step"])
        row |= {"system": name, "trajectories": count, "steps": steps, "steps_per_second": steps / row["seconds"]}
        row["trajectories_per_second"] = count / row["seconds"]
        print(
            f"{name:13} {row['program']:19} {row['method']:12} error {row['error']:.1e}  "
            f"{row['trajectories_per_second']:10.0f} trajectories/s  {row['steps_per_second']:12.0f} steps/s",
            flush=True,
        )
        rows.append(row)
    return rows


def main() -> None:
    """Measure, print, and keep the record."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trajectories", type=int, default=128)
    options.add_argument("--repeats", type=int, default=3)
    given = options.parse_args()
    runs = list(chain(*(measure(name, given.trajectories, given.repeats) for name in TREES)))
    facts = {"cores": cores(), "horizons": HORIZONS, "error": ERROR}
    print(save("ensemble", circumstances("mujoco", "scipy", "jax") | facts | {"runs": runs}))


if __name__ == "__main__":
    main()
