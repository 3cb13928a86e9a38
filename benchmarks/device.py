"""Ensembles on a GPU beside the cores of its machine, JAX and MuJoCo's MJX: ``python -m benchmarks.device``.

A heavy top (one body on a ball joint), UR5 and a chain of ten, each from many states, by equal steps in double
precision.  Steps per second of the fastest of some runs, each after one that compiles:

* liemech, GPU: `on_gpu`, one trajectory a thread; the states come back at the end.  Of the first trajectories the
  states are compared with those of `integrate`.
* liemech, cores: `integrate`, lanes times threads, straight-line code where a step has it (`compile_step`).
* JAX, our step: printed for JAX (`generate_code`), mapped over the states; of the top alone, since XLA compiles
  the straight-line steps of the others for minutes.
* JAX, by hand: Runge and Kutta's method on quaternion and momentum of the top, written for it component by component,
  the loop unrolled as is best.
* MJX: MuJoCo's step in JAX with RK4, without contacts and limits.

Errors are those of the configurations at the end, beside `RKMK_DOP853` at the same step.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

import mechanics
from benchmarks.ensemble import TREES, starts
from benchmarks.machine import circumstances, save
from benchmarks.mujoco_trees import model_file
from integrators import Problem, compile_step, generate_code, integrate
from integrators.engine.crew import cores
from integrators.ensemble import on_gpu
from mechanics import Tree

SYSTEMS: dict[str, tuple[Callable[[], Tree], tuple[str, ...]]] = {
    "heavy top": (TREES["heavy top"], ("RKMK4", "TREE_VARIATIONAL")),
    "UR5": (lambda: mechanics.load_model("ur5"), ("RKMK4", "TREE_VARIATIONAL")),
    "chain of ten": (TREES["chain of ten"], ("RKMK4",)),
}
PROGRAMS, PACKAGES = ("ours", "JAX", "MJX"), {"JAX": "jax", "MJX": "mujoco-mjx"}
STEP, STEPS = 1e-3, 1000
SIZES = {"heavy top": (1_000, 10_000, 100_000, 1_000_000), "UR5": (10_000, 100_000), "chain of ten": (100_000,)}
"""Trajectories on the device."""
LONG = {"heavy top": 1_000_000, "UR5": 200_000, "chain of ten": 50_000}
"""Steps of runs on the cores."""
ON_CORES, CHECKED, DISTINCT = 16, 64, 1024
"""Trajectories of the cores, for each of them; compared; that differ in more than their velocity."""
ROWS = 100_000, 100
"""Trajectories and rows of a run that comes back more than once."""
UNROLLED, BATCHES = (1, 4), (131_072,)
"""Steps of a turn of JAX's loop; states of MJX."""


def ensemble(tree: Tree, count: int) -> tuple[Problem, Any, Any]:
    """Many starts: the problem, configurations and velocities."""
    q, v = (np.resize(x, (count, x.shape[1])) for x in starts(tree, min(count, DISTINCT)))
    v *= np.random.default_rng(8).uniform(0.5, 1.0, (count, 1))
    return mechanics.hamiltonian_problem(tree, q, v), q, v


def first(problem: Problem, count: int) -> Problem:
    """The problem with fewer trajectories."""
    return problem.with_start(np.asarray(problem.y0)[:count])


def ours(problem: Problem, method: str, rows: int = 1) -> dict[str, Any]:
    """On the device, with so many rows of the run coming back."""
    given = {"method": method, "t_span": (0.0, STEPS * STEP), "step": STEP, "save_every": STEPS // rows}
    began = time.perf_counter()
    found = on_gpu(problem, **given)
    before = time.perf_counter() - began - found.seconds
    runs = [found, *(on_gpu(problem, **given) for _ in range(2))]
    true = integrate(first(problem, CHECKED), **given, progress=False).y
    ends = found.y[: len(true)]
    return {
        "program": "liemech, GPU", "seconds": min(run.seconds for run in runs), "before": before, "ends": ends[:, -1],
        "same_bits": bool(np.array_equal(ends, true)), "apart": float(np.abs(ends - true).max()),
        "repeats": all(np.array_equal(run.y, found.y) for run in runs), "finished": found.finished,
        "on_host": "on the host" in found.message, "rows": rows,
    }  # fmt: skip


def on_cores(problem: Problem, method: str, steps: int) -> dict[str, Any]:
    """In the lanes of all cores, by straight-line code where there is any; in long runs, since every trajectory costs
    some tenths of a millisecond besides its steps.
    """
    with suppress(ValueError):  # a step that iterates, or is too long
        compile_step(first(problem, 1), method, STEP)
    given = {"method": method, "step": STEP, "save_every": steps, "progress": False}
    ends = integrate(first(problem, CHECKED), t_span=(0.0, STEPS * STEP), **given).y[:, -1]
    runs = [integrate(problem, t_span=(0.0, steps * STEP), workers=cores(), **given) for _ in range(2)]
    return {
        "program": "liemech, cores", "seconds": min(run.seconds for run in runs), "ends": ends, "steps": steps,
        "finished": all(run.finished for run in runs),
    }  # fmt: skip


# --- JAX --------------------------------------------------------------------------------------------------------------


def jax_printed(problem: Problem, method: str) -> dict[str, Any]:
    """Our step printed for JAX."""
    import jax

    one_step = (
        generate_code(first(problem, 1).with_start(np.asarray(problem.y0)[0]), "jax", method, STEP).load().one_step
    )

    def run(y: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, lambda k, y: one_step(k * STEP, STEP, y)[0], y)

    return _timed_in_jax("JAX, our step", jax.jit(jax.vmap(run)), _in_jax(problem.y0))


def jax_by_hand(problem: Problem, unrolled: int) -> dict[str, Any]:
    """The heavy top of `TREES`, quaternion and momentum about the fixed point, by the classical method."""
    import jax

    def rate(s: Any) -> Any:
        w, x, y, z, a, b, c = s
        o, p, q = a / 0.35, b / 0.35, c / 0.15
        up_x, up_y = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)
        torque = 0.5 * 9.81
        return (
            -0.5 * (x * o + y * p + z * q), 0.5 * (w * o + y * q - z * p), 0.5 * (w * p + z * o - x * q),
            0.5 * (w * q + x * p - y * o), b * q - c * p + torque * up_y, c * o - a * q - torque * up_x, a * p - b * o,
        )  # fmt: skip

    def moved(s: Any, h: float, k: Any) -> Any:
        return tuple(x + h * y for x, y in zip(s, k, strict=True))

    def step(_: Any, s: Any) -> Any:
        k1 = rate(s)
        k2 = rate(moved(s, 0.5 * STEP, k1))
        k3 = rate(moved(s, 0.5 * STEP, k2))
        k4 = rate(moved(s, STEP, k3))
        return tuple(x + STEP / 6.0 * (a + 2.0 * (b + c) + d) for x, a, b, c, d in zip(s, k1, k2, k3, k4, strict=True))

    run = jax.jit(lambda s: jax.lax.fori_loop(0, STEPS, step, s, unroll=unrolled))
    states = tuple(_in_jax(x) for x in np.asarray(problem.y0).T)
    row = _timed_in_jax("JAX, by hand", run, states)
    return row | {"ends": np.stack(row["ends"], axis=1), "unrolled": unrolled}


def mjx(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
    """Steps of MuJoCo's RK4."""
    import jax
    import mujoco
    from mujoco import mjx as theirs

    model = mujoco.MjModel.from_xml_string(model_file(tree, STEP, "RK4"))
    on_device, data = theirs.put_model(model), theirs.make_data(model)

    def run(q: Any, v: Any) -> Any:
        start = data.replace(qpos=q, qvel=v)
        return jax.lax.fori_loop(0, STEPS, lambda _, d: theirs.step(on_device, d), start).qpos

    return _timed_in_jax("MJX", jax.jit(jax.vmap(run)), _in_jax(q), _in_jax(v))


def _in_jax(values: Any) -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(values)


def _timed_in_jax(program: str, run: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    import jax

    began = time.perf_counter()
    compiled = run.lower(*arguments).compile()  # type: ignore[attr-defined]
    before = time.perf_counter() - began
    ends, seconds = [], float("inf")
    for _ in range(2):
        began = time.perf_counter()
        ends = jax.block_until_ready(compiled(*arguments))
        seconds = min(seconds, time.perf_counter() - began)
    ends = jax.tree.map(lambda x: np.asarray(x[:CHECKED]), ends)
    return {"program": program, "seconds": seconds, "before": before, "ends": ends}


# --- all of them ------------------------------------------------------------------------------------------------------


def measure(name: str, programs: str) -> Iterator[dict[str, Any]]:
    """Programs on one tree: ours, those in JAX, or MJX."""
    make, methods = SYSTEMS[name]
    tree, sizes = make(), SIZES[name]
    problem, q, v = ensemble(tree, sizes[-1])
    given = {"save_every": STEPS, "progress": False}
    exact = integrate(first(problem, CHECKED), "RKMK_DOP853", (0.0, STEPS * STEP), STEP, **given).y[:, -1, : tree.nq]
    few = ON_CORES * cores()

    def finished(count: int, method: str, row: dict[str, Any]) -> dict[str, Any]:
        error = float(np.abs(row.pop("ends")[:, : tree.nq] - exact[: min(count, CHECKED)]).max())
        row = {"system": name, "method": method, "trajectories": count, "error": error} | row
        row["steps_per_second"] = count * row.setdefault("steps", STEPS) / row["seconds"]
        print({key: f"{x:.3g}" if isinstance(x, float) else x for key, x in row.items()}, flush=True)
        return row

    size = sizes[-1]
    if programs == "ours":
        for method in methods:
            for count in sizes if method == methods[0] else sizes[-1:]:
                yield finished(count, method, ours(first(problem, count), method))
            yield finished(few, method, on_cores(first(problem, few), method, LONG[name]))
        yield finished(ROWS[0], methods[0], ours(first(problem, ROWS[0]), methods[0], ROWS[1]))
    elif programs == "JAX" and len(tree) == 1:
        yield finished(size, methods[0], jax_printed(problem, methods[0]))
        for unrolled in UNROLLED:
            yield finished(size, "RK4", jax_by_hand(problem, unrolled))
    elif programs == "MJX":
        for count in BATCHES:
            yield finished(count, "RK4", mjx(tree, q[:count], v[:count]))


def device() -> dict[str, Any]:
    """What the device says of itself; its clock is that after the runs."""
    import cupy  # type: ignore[import-not-found]

    number = cupy.cuda.Device().id
    asked = "name,driver_version,clocks.sm,clocks.max.sm,memory.total"
    call = ["nvidia-smi", f"--id={number}", f"--query-gpu={asked}", "--format=csv,noheader"]
    answer = subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip().split(", ")
    return dict(zip(asked.split(","), answer, strict=True)) | {
        "cupy": cupy.__version__,
        "cuda": cupy.cuda.runtime.runtimeGetVersion(),
    }


def main() -> None:
    """Measure, print, and keep the record."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    options.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    given = options.parse_args()
    facts = {"cores": cores(), "step": STEP, "steps": STEPS}
    packages = [PACKAGES[program] for program in given.programs if program in PACKAGES]
    rows = []
    for programs, name in product(given.programs, given.only):
        for row in measure(name, programs):
            rows.append(row)  # a record of what there is so far, if one of the programs takes too long
            save("device", circumstances(*packages) | facts | {"device": device(), "runs": rows})


if __name__ == "__main__":
    main()
