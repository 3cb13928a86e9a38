"""Hamiltonian right-hand side of trees against Pinocchio's `aba`: ``python -m benchmarks.tree_rhs``.

Both give the rates of a state under gravity: (q, p) → (v, ṗ) here, (q, v) → v̇ there.  One trajectory, eight in lanes
(per trajectory), and both again with straight-line code for the tree (`mechanics.compile_model`); Pinocchio from Python
and, where a compiler is found, in a C++ loop, compiled for any x86-64 as its wheel is and for the processor at hand.
Best of many short chunks, on 16 states in turn; ours once more with products and sums fused (`benchmarks.fused`).
Beside them the operations of one evaluation, and the least time in
lanes that the processor allows for them (`benchmarks.roof`).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks import pinocchio_cpp
from benchmarks.fused import PREFIX, fused
from benchmarks.loops import seconds, seconds_in_lanes
from benchmarks.machine import best_time, circumstances, save
from benchmarks.roof import operations, rate_in_lanes
from liegroup.compile import WIDTH, Entry
from mechanics import ModelWarning, Tree, compile_model, load_model, to_pinocchio
from mechanics.algorithms.era import era
from mechanics.joints import Free, Planar, Prismatic, Revolute, Spherical
from mechanics.testing import random_tree

STATES = 16


def models(all_joints: bool) -> dict[str, Tree]:
    """The trees of the table; all numbered depth first."""
    generator = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robots = {name: load_model(model) for name, model in (("ANYmal", "anymal"), ("Talos", "talos"))}
    found = {
        "7-link arm": random_tree("chain", 7, generator),
        **robots,
        "30-body tree": _depth_first(random_tree("random", 30, generator)),
        "100-chain": random_tree("chain", 100, generator),
    }
    if all_joints:
        found |= {
            "Panda": load_model("panda"),
            "UR5": load_model("ur5"),
            "Talos, with hands": load_model("talos_full"),
            "free 30-body tree": _depth_first(random_tree("random", 30, generator, root=Free())),
            "prismatic 10-chain": random_tree("chain", 10, generator, (Prismatic,)),
            "ball 10-chain": random_tree("chain", 10, generator, (Spherical,)),
            "planar 10-chain": random_tree("chain", 10, generator, (Planar,)),
            "free 10-chain": random_tree("chain", 10, generator, (Free,)),
            "mixed 30-body tree": _depth_first(
                random_tree("random", 30, generator, (Revolute, Prismatic, Spherical, Planar), Free())
            ),
        }
    return found


def _depth_first(tree: Tree) -> Tree:
    order, todo = [], list(reversed(tree.roots))
    while todo:
        order.append(todo.pop())
        todo += reversed(tree.children[order[-1]])
    return Tree([tree.bodies[i] for i in order], tree.name, tree.gravity)


def _states(tree: Tree, generator: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(
        [np.concatenate([tree.random_configuration(generator), generator.normal(size=tree.nv)]) for _ in range(STATES)]
    )


def ours(tree: Tree, field: Entry = era) -> float:
    """Nanoseconds for one trajectory."""
    states = _states(tree, np.random.default_rng(0))
    return 1e9 * seconds(field, states, tree.parameters, tree.structure, tree.work_shape, 2 * tree.nv)


def ours_in_lanes(tree: Tree, field: Entry = era) -> float:
    """Nanoseconds per trajectory, eight at a time."""
    states = np.array([_states(tree, np.random.default_rng(lane)) for lane in range(WIDTH)])
    return 1e9 * seconds_in_lanes(field, states, tree.parameters, tree.structure, tree.work_shape, 2 * tree.nv)


def compiled(tree: Tree, measure: Callable[[Tree, Entry], float] = ours) -> float:
    """The same with straight-line code for this tree; NaN for trees that are too large for it."""
    try:
        return measure(tree, compile_model(tree).field)
    except ValueError:
        return float("nan")


def compiled_in_lanes(tree: Tree) -> float:
    return compiled(tree, ours_in_lanes)


def pinocchio_from_python(tree: Tree) -> float:
    """Nanoseconds per call of `aba` from Python."""
    import pinocchio as pin

    other, generator = to_pinocchio(tree), np.random.default_rng(0)
    model, data = other.model, other.model.createData()
    q, (v, tau) = other.configuration(tree.random_configuration(generator)), generator.normal(size=(2, tree.nv))

    def call(calls: int) -> None:
        for _ in range(calls):
            pin.aba(model, data, q, v, tau)

    return 1e9 * best_time(call)


def pinocchio_in_cpp(tree: Tree, native: bool = False) -> float:
    """Nanoseconds per call of `aba` in a C++ loop; NaN where it cannot be compiled."""
    try:
        return pinocchio_cpp.nanoseconds(tree, native=native)
    except pinocchio_cpp.NotAvailable:
        return float("nan")


def pinocchio_native(tree: Tree) -> float:
    """The same, compiled for the processor at hand."""
    return pinocchio_in_cpp(tree, native=True)


COLUMNS = {
    "lanes": ours_in_lanes,
    "scalar": ours,
    "compiled_lanes": compiled_in_lanes,
    "compiled": compiled,
    "pinocchio_cpp": pinocchio_in_cpp,
    "pinocchio_cpp_native": pinocchio_native,
    "pinocchio_python": pinocchio_from_python,
}

OURS = ("scalar", "lanes", "compiled", "compiled_lanes")
SHOWN = (*OURS, f"{PREFIX}scalar", f"{PREFIX}lanes")


def measured(tree: Tree, columns: Iterable[str], rounds: int) -> dict[str, float]:
    """The best of every column, in ns."""
    return {column: min(COLUMNS[column](tree) for _ in range(rounds)) for column in columns}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--all-joints", action="store_true", help="more robots and every kind of joint that Pinocchio has"
    )
    parser.add_argument("--only", nargs="+", metavar="TREE", help="only these rows of the table")
    parser.add_argument("--rounds", type=int, default=2, help="measure every number so many times, the best counts")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    parser.add_argument("--ours", action="store_true", help="only our times of one tree, as JSON")
    options = parser.parse_args()
    if options.ours:
        print(json.dumps(measured(models(options.all_joints)[options.only[0]], OURS, options.rounds)))
        return
    try:
        pinocchio_cpp.binary()
    except pinocchio_cpp.NotAvailable as reason:
        print(f"no C++ comparison: {reason}")
    rows, rate = [], rate_in_lanes()
    print(
        "nanoseconds per evaluation and trajectory"
        + " " * 38
        + "compiled model"
        + " " * 6
        + "Pinocchio C++ / ours, compiled, fused"
    )
    print(
        f"{'tree':20s} {'nv':>4s} {'C++':>8s} {'native':>8s} {'Python':>8s}"
        + f" {'scalar':>8s} {'lanes':>8s}" * 5
        + f" {'least':>8s}"
    )
    for name, tree in models(options.all_joints).items():
        if options.only and name not in options.only:
            continue
        best = measured(tree, COLUMNS, options.rounds)
        again = ("--only", name, "--rounds", str(options.rounds), *["--all-joints"] * options.all_joints)
        best |= fused("benchmarks.tree_rhs", *again)
        ratios = [min(best["pinocchio_cpp"], best["pinocchio_cpp_native"]) / best[c] for c in SHOWN]
        peers = ("pinocchio_cpp", "pinocchio_cpp_native", "pinocchio_python")
        numbers = " ".join(f"{best[c]:8.0f}" for c in (*peers, *OURS))
        count = operations(tree, era, _states(tree, np.random.default_rng(0))[0], tree.work_shape, 2 * tree.nv)
        shown = " ".join(f"{x:8.2f}" for x in ratios)
        print(f"{name:20s} {tree.nv:4d} {numbers} {shown} {count / rate:8.0f}", flush=True)
        rows.append(
            {
                "tree": name,
                "bodies": len(tree),
                "nv": tree.nv,
                **{f"{c}_ns": round(x, 1) for c, x in best.items() if x == x},
                "operations": count,
                "least_lanes_ns": round(count / rate, 1),
            }
        )
    if options.save:
        print(
            "saved",
            save(options.save, {**circumstances("pin"), "operations_per_ns_in_lanes": round(rate, 1), "rows": rows}),
        )


if __name__ == "__main__":
    main()
