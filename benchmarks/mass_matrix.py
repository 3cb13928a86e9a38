"""Mass matrices of trees against Pinocchio's `crba`: ``python -m benchmarks.mass_matrix``.

One trajectory and eight in lanes (per trajectory) here, `crba` from Python there; and for the chains the readable
algorithms on a batch, per configuration.  Best of many short chunks.
"""

from __future__ import annotations

import argparse

import numpy as np

import mechanics
from benchmarks.loops import seconds, seconds_in_lanes
from benchmarks.machine import best_time, circumstances, save
from benchmarks.tree_rhs import models
from liegroup.compile import WIDTH
from mechanics import ModelError, Tree, to_pinocchio
from mechanics.algorithms.crba import mass_matrix

STATES, BATCH = 16, 256


def configurations(tree: Tree, seed: int, count: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.array([tree.random_configuration(generator) for _ in range(count)])


def ours(tree: Tree) -> tuple[float, float]:
    """Nanoseconds for one trajectory, and per trajectory in lanes."""
    rest = tree.parameters, tree.structure, tree.work_shape, tree.nv**2
    lanes = np.array([configurations(tree, lane, STATES) for lane in range(WIDTH)])
    return 1e9 * seconds(mass_matrix, configurations(tree, 0, STATES), *rest), 1e9 * seconds_in_lanes(
        mass_matrix, lanes, *rest
    )


def pinocchio_from_python(tree: Tree) -> float:
    """Nanoseconds per call of `crba` from Python."""
    import pinocchio as pin

    other = to_pinocchio(tree)
    model, data = other.model, other.model.createData()
    q = other.configuration(configurations(tree, 0, 1)[0])

    def call(calls: int) -> None:
        for _ in range(calls):
            pin.crba(model, data, q)

    return 1e9 * best_time(call)


def on_a_batch(tree: Tree, algorithm: str) -> float:
    """Nanoseconds per configuration of `mechanics.mass_matrix` on many; NaN where the algorithm does not take the
    tree.
    """
    q = configurations(tree, 0, BATCH)
    try:
        mechanics.mass_matrix(tree, q, algorithm=algorithm)
    except ModelError:
        return float("nan")

    def call(calls: int) -> None:
        for _ in range(calls):
            mechanics.mass_matrix(tree, q, algorithm=algorithm)

    return 1e9 * best_time(call, chunk=1e-2, repeats=10) / BATCH


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--all-joints", action="store_true", help="more robots and every kind of joint that Pinocchio has"
    )
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    algorithms = ("crba", "yaskevich", "stepanenko", "kosynka")
    print("nanoseconds per matrix" + " " * 40 + "on a batch of arrays")
    print(
        f"{'tree':20s} {'nv':>4s} {'Python':>9s} {'scalar':>9s} {'lanes':>9s}  "
        + " ".join(f"{a:>10s}" for a in algorithms)
    )
    rows = []
    for name, tree in models(options.all_joints).items():
        (scalar, lanes), theirs = ours(tree), pinocchio_from_python(tree)
        batch = {a: on_a_batch(tree, a) for a in algorithms if tree.nv <= 30 or a == "crba"}
        numbers = " ".join(f"{batch.get(a, float('nan')):10.0f}" for a in algorithms)
        print(f"{name:20s} {tree.nv:4d} {theirs:9.0f} {scalar:9.0f} {lanes:9.0f}  {numbers}", flush=True)
        row = {"tree": name, "nv": tree.nv, "pinocchio_python_ns": theirs, "scalar_ns": scalar, "lanes_ns": lanes}
        rows.append(row | {f"batch_{a}_ns": x for a, x in batch.items() if x == x})
    if options.save:
        print("saved", save(options.save, {**circumstances("pin"), "rows": rows}))


if __name__ == "__main__":
    main()
