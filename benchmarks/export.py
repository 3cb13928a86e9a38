"""Generated code against other ways to evaluate the same equations: ``python -m benchmarks.export --save export``.

The right-hand side (q, p) → (v, ṗ) of trees, per evaluation, on 16 states in turn:

* our kernel for all trees, and the code of `mechanics.compile_model` for one tree;
* C of `CompiledModel.export("c")`, by the C compiler at -O2, called in a C loop;
* C that CasADi writes of `CompiledModel.export("casadi")`, by the same compiler in the same loop; where Pinocchio comes
  with its bindings for CasADi, C that CasADi writes of Pinocchio's `aba` (q, v, τ) → v̇ as well;
* Pinocchio's `aba` in a C++ loop;
* JAX on the processor: `CompiledModel.export("jax")`, jitted and mapped over a batch, per state, beside our kernel and
  the code for one tree in lanes of eight (not for the trees of `LONG`, whose code XLA compiles for minutes).

Whole steps of Runge and Kutta's method on the processor, per state of a batch: `mjx.step` (MuJoCo's in JAX, with its
method RK4 and without contacts, where mujoco-mjx is installed), `CompiledModel.export("jax", "RKMK4")`, both jitted and
mapped, and our code for one tree in lanes.  XLA and MuJoCo take what cores they find: measure with ``taskset -c 0``.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mechanics
from benchmarks import pinocchio_cpp
from benchmarks.loops import seconds, seconds_in_lanes
from benchmarks.machine import best_time, circumstances, save
from benchmarks.mujoco_trees import model_file
from integrators import integrate
from liegroup.compile import WIDTH, Entry
from mechanics import Tree, compile_model, load_model
from mechanics.algorithms.era import era
from mechanics.problems import CompiledModel
from mechanics.testing import random_tree

STATES = 16
BATCH = 4096
STEP, STEPS = 1e-4, 50_000
LONG = ("Talos", "20-link arm")
"""Trees whose code is longer than `mechanics.compile_model` makes by default."""
STEPPED = ("double pendulum", "UR5")
"""Trees of which whole steps are measured."""
FLAGS = ("-O2", "-std=c99", "-fPIC", "-shared")
_LOOP = """
void loop(long calls, const double *states, double *out)
{{
    for (long k = 0; k < calls; k++) {{
        const double *y = states + (k % {states}) * {n};
        {call}
    }}
}}
"""
_CASADI = """const double t = 0.0, *arg[{arg} + 2] = {{&t, y}};
        double *res[{res} + 1] = {{out}};
        static long long int iw[{iw} + 1];
        static double w[{w} + 1];
        rhs(arg, res, iw, w, 0);"""


def models() -> dict[str, Tree]:
    """The trees of the table."""
    return {
        "double pendulum": load_model("double_pendulum"),
        "UR5": load_model("ur5"),
        "7-link arm": random_tree("chain", 7, np.random.default_rng(0)),
        "ANYmal": load_model("anymal"),
        "20-link arm": random_tree("chain", 20, np.random.default_rng(0)),
        "Talos": load_model("talos", damping=False),
    }


def states_of(tree: Tree, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    """States (16, nq + nv)."""
    generator = np.random.default_rng(seed)
    return np.array(
        [np.concatenate([tree.random_configuration(generator), generator.normal(size=tree.nv)]) for _ in range(STATES)]
    )


def library(text: str) -> ctypes.CDLL:
    """A C text, compiled."""
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        raise RuntimeError(f"no C compiler {compiler!r}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder) / "generated.c", Path(folder) / "generated.so"
        source.write_text(text, encoding="utf-8")
        subprocess.run([compiler, *FLAGS, "-o", target, source, "-lm"], check=True)
        return ctypes.CDLL(str(target))


def in_a_loop(text: str, call: str, tree: Tree) -> tuple[Callable[[int], None], np.ndarray[Any, Any]]:
    """What evaluates the states so many times, and where the values of the last one are."""
    loaded = library(text + _LOOP.format(states=STATES, n=tree.nq + tree.nv, call=call))
    states, out = states_of(tree), np.empty(2 * tree.nv)
    pointer = ctypes.POINTER(ctypes.c_double)

    def run(calls: int) -> None:
        loaded.loop(ctypes.c_long(calls), states.ctypes.data_as(pointer), out.ctypes.data_as(pointer))

    return run, out


def by_our_printer(model: CompiledModel) -> tuple[Callable[[int], None], np.ndarray[Any, Any]]:
    """C of our printer."""
    return in_a_loop(model.export("c"), "rhs(0.0, y, out);", model.tree)


def by_casadi(function: Any, tree: Tree) -> tuple[Callable[[int], None], np.ndarray[Any, Any]]:
    """C that CasADi writes of a function of (t, y)."""
    import casadi

    writer = casadi.CodeGenerator("generated")
    writer.add(function)
    sizes = {"arg": function.sz_arg(), "res": function.sz_res(), "iw": function.sz_iw(), "w": function.sz_w()}
    return in_a_loop(writer.dump(), _CASADI.format(**sizes), tree)


def pinocchio_by_casadi(tree: Tree) -> Any:
    """Pinocchio's `aba` as a function of CasADi, (t, (q, v)) → v̇; None where its bindings are not there."""
    try:
        import casadi
        import pinocchio.casadi as symbolic
    except ImportError:
        return None
    from mechanics import to_pinocchio

    model = symbolic.Model(to_pinocchio(tree).model)
    t, y = casadi.SX.sym("t"), casadi.SX.sym("y", model.nq + model.nv)
    acceleration = symbolic.aba(model, model.createData(), y[: model.nq], y[model.nq :], casadi.SX.zeros(model.nv))
    return casadi.Function("rhs", [t, y], [acceleration])


def many_states(tree: Tree) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The states again and again, (4096, nq + nv)."""
    return np.tile(states_of(tree), (BATCH // STATES, 1))


def mapped(function: Callable[[Any], Any], batch: Any) -> tuple[Callable[[int], None], Any]:
    """A function in JAX, jitted and mapped over a batch; the values of the first states of it."""
    import jax

    together = jax.jit(jax.vmap(function))
    found = jax.block_until_ready(together(batch))

    def run(calls: int) -> None:
        for _ in range(calls):
            jax.block_until_ready(together(batch))

    return run, jax.tree.map(lambda x: x[:STATES], found)


def by_jax(model: CompiledModel) -> tuple[Callable[[int], None], Any]:
    """JAX, jitted and mapped over a batch; per batch."""
    rhs = model.export("jax").load().rhs
    run, found = mapped(lambda y: rhs(0.0, y), jax_array(many_states(model.tree)))
    return run, found[-1]


def jax_array(values: Any) -> Any:
    """An array of JAX in double precision."""
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(values)


# --- whole steps ------------------------------------------------------------------------------------------------------


def by_mjx(made: CompiledModel) -> tuple[Callable[[int], None], Any]:
    """Steps of MuJoCo's RK4 in JAX; configurations after one.  ImportError where it is not installed."""
    import mujoco
    from mujoco import mjx

    tree = made.tree
    q = many_states(tree)[:, : tree.nq]
    v = np.array([made.rhs(*np.split(y, [tree.nq]))[0] for y in states_of(tree)])
    model = mujoco.MjModel.from_xml_string(model_file(tree, STEP, "RK4"))
    theirs, data = mjx.put_model(model), mjx.make_data(model)
    batch = jax_array(q), jax_array(np.tile(v, (BATCH // STATES, 1)))

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        end = mjx.step(theirs, data.replace(qpos=state[0], qvel=state[1]))
        return end.qpos, end.qvel

    run, found = mapped(step, batch)
    return run, found[0]


def measure_steps(tree: Tree) -> dict[str, float]:
    """Nanoseconds per step and state."""
    model, y = compile_model(tree), many_states(tree)
    one = model.export("jax", "RKMK4", step=STEP).load().one_step
    jax_run, found = mapped(lambda state: one(0.0, STEP, state)[0], jax_array(y))
    problem = model.problem(states_of(tree)[0, : tree.nq])

    def lanes(calls: int) -> None:
        for _ in range(calls):
            integrate(
                problem, "RKMK4", (0.0, STEPS * STEP), STEP, y0=y[:STATES], save_every=STEPS, workers=1, progress=False
            )

    ends = integrate(problem, "RKMK4", (0.0, STEP), STEP, y0=y[:STATES], progress=False).y[:, -1]
    assert np.allclose(found, ends, rtol=1e-9, atol=1e-9), "the step in JAX"
    runs = {"jax_step": jax_run}
    try:
        runs["mjx_step"], found = by_mjx(model)
        assert np.allclose(found, ends[:, : tree.nq], rtol=1e-5, atol=1e-5), "MJX has another model"
    except ImportError as reason:
        print(f"no MJX: {reason}")
    each = {name: best_time(run, chunk=2e-2, repeats=10) / BATCH for name, run in runs.items()}
    each["lanes_step"] = best_time(lanes, chunk=2e-2, repeats=5) / STATES / STEPS
    return {f"{name}_ns": round(1e9 * x, 1) for name, x in each.items()}


# --- everything -------------------------------------------------------------------------------------------------------


def measure(tree: Tree, in_jax: bool = True) -> dict[str, Any]:
    """Nanoseconds per evaluation, by what is evaluated."""
    model = compile_model(tree, limit=10**5)
    true = np.concatenate(model.rhs(*np.split(states_of(tree)[-1], [tree.nq])))
    written = by_casadi(model.export("casadi").load().rhs, tree)
    runs = {"c": by_our_printer(model), "casadi": written}
    if (theirs := pinocchio_by_casadi(tree)) is not None:
        runs["pinocchio_casadi"] = by_casadi(theirs, tree)
    for name, (run, out) in runs.items():
        run(STATES)
        if name != "pinocchio_casadi":
            assert np.allclose(out, true, rtol=1e-11, atol=1e-11), name
    assert np.array_equal(runs["c"][1], true), "C of our printer has other bits"

    def ours(field: Entry) -> float:
        return seconds(field, states_of(tree), tree.parameters, tree.structure, tree.work_shape, 2 * tree.nv)

    def in_lanes(field: Entry) -> float:
        states = np.array([states_of(tree, lane) for lane in range(WIDTH)])
        return seconds_in_lanes(field, states, tree.parameters, tree.structure, tree.work_shape, 2 * tree.nv)

    try:
        aba = 1e-9 * pinocchio_cpp.nanoseconds(tree)
    except pinocchio_cpp.NotAvailable as reason:
        print(f"no C++ comparison: {reason}")
        aba = float("nan")
    found = {
        "kernel": ours(era),
        "compiled": ours(model.field),
        **{name: best_time(run) for name, (run, _) in runs.items()},
        "pinocchio_cpp": aba,
        "kernel_lanes": in_lanes(era),
        "compiled_lanes": in_lanes(model.field),
    }
    if in_jax:
        batch, last = by_jax(model)
        assert np.allclose(last, true, rtol=1e-9, atol=1e-9), "jax"
        found["jax"] = best_time(batch, chunk=2e-2, repeats=20) / BATCH
    return {"operations": model.operations} | {f"{name}_ns": round(1e9 * x, 1) for name, x in found.items() if x == x}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="TREE", help="only these rows of the table")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    rows = []
    warnings.simplefilter("ignore", mechanics.ModelWarning)
    for name, tree in models().items():
        if options.only and name not in options.only:
            continue
        rows.append({"tree": name, "nv": tree.nv, **measure(tree, name not in LONG)})
        if name in STEPPED:
            rows[-1] |= measure_steps(tree)
        print(rows[-1], flush=True)
    if options.save:
        print("saved", save(options.save, {**circumstances("pin", "casadi", "jax", "mujoco-mjx"), "rows": rows}))


if __name__ == "__main__":
    main()
