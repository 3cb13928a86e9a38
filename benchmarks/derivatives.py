"""Derivatives of the dynamics of trees against Pinocchio's: ``python -m benchmarks.derivatives``.

∂τ/∂(q, v, a) against `computeRNEADerivatives`, ∂v̇/∂(q, v, τ) against `computeABADerivatives` (both in a C++ loop, where
a compiler is found), and the derivative of Hamilton's equations, for which Pinocchio has nothing.  One trajectory, and
eight in lanes (per trajectory).  Best of many short chunks, on 16 states in turn; ours once more
with products and sums fused (`benchmarks.fused`).

Beside them what the processor allows: additions and multiplications of one evaluation, counted by the kernel itself on
numbers that count, over those that one core does in lanes (`rate_in_lanes`), and what writing the matrices takes by
itself; the larger of the two is the least time in lanes of this count.  (Inverse
dynamics do not write what is always zero, and Hamilton's equations leave out rows that stay zero when in lanes; forward
dynamics, and Hamilton's equations where ways to the base are long, are counted in blocks of eight columns of one
trajectory, in lanes they take fewer.)
"""

from __future__ import annotations

import argparse
import json
from typing import NamedTuple

import numpy as np

from benchmarks import pinocchio_cpp
from benchmarks.fused import fused
from benchmarks.loops import seconds, seconds_in_lanes
from benchmarks.machine import circumstances, save
from benchmarks.roof import operations, rate_in_lanes, writing_in_lanes
from benchmarks.tree_rhs import models
from liegroup.compile import WIDTH, Entry
from mechanics import Tree
from mechanics.algorithms.derivatives.canonical import chain_era_derivatives, has_way
from mechanics.algorithms.derivatives.chains import chain_derivatives
from mechanics.algorithms.derivatives.columns import work_shape
from mechanics.algorithms.derivatives.forward import forward_derivatives
from mechanics.algorithms.derivatives.hamiltonian import era_derivatives
from mechanics.algorithms.derivatives.inverse import inverse_derivatives
from mechanics.algorithms.derivatives.solve import work_of_solve
from mechanics.algorithms.derivatives.sweeps import work_of_sweeps

STATES = 16


def states(tree: Tree, seed: int, vectors: int) -> np.ndarray:
    """Inputs of a kernel: configuration and vectors of random numbers."""
    generator = np.random.default_rng(seed)
    return np.array(
        [
            np.concatenate([tree.random_configuration(generator), generator.normal(size=vectors * tree.nv)])
            for _ in range(STATES)
        ]
    )


def room_of(tree: Tree, kernel: Entry) -> tuple[int, int]:
    """Shape of the workspace."""
    if kernel in (chain_derivatives, chain_era_derivatives):
        return work_of_sweeps(tree.structure)
    return (work_of_solve if kernel is forward_derivatives else work_shape)(tree.structure)


def ours(tree: Tree, kernel: Entry, vectors: int, size: int) -> tuple[float, float]:
    """Nanoseconds for one trajectory, and per trajectory in lanes."""
    rest = tree.parameters, tree.structure, room_of(tree, kernel), size
    lanes = np.array([states(tree, lane, vectors) for lane in range(WIDTH)])
    return (
        1e9 * seconds(kernel, states(tree, 0, vectors), *rest),
        1e9 * seconds_in_lanes(kernel, lanes, *rest),
    )


def theirs(tree: Tree, algorithm: str) -> float:
    """Nanoseconds per call of Pinocchio; NaN where it has none, or cannot be compiled."""
    try:
        return pinocchio_cpp.nanoseconds(tree, algorithm) if algorithm else float("nan")
    except pinocchio_cpp.NotAvailable:
        return float("nan")


class Kind(NamedTuple):
    """A derivative: our kernel, how many vectors of velocities it reads beside q, how many numbers it writes, and
    Pinocchio's algorithm, if it has one.
    """

    kernel: Entry
    vectors: int
    size: int
    algorithm: str


def kinds(tree: Tree) -> dict[str, Kind]:
    """The derivatives of a tree, by name."""
    n = tree.nv
    forward = chain_derivatives if tree.has_long_ways else forward_derivatives
    hamiltonian = chain_era_derivatives if has_way(tree.structure) else era_derivatives
    return {
        "inverse": Kind(inverse_derivatives, 2, 3 * n * n, "rnea_derivatives"),
        "forward": Kind(forward, 2, 3 * n * n + n, "aba_derivatives"),
        "hamiltonian": Kind(hamiltonian, 1, 4 * n * n, ""),
    }


def measured(tree: Tree, kind: Kind, rounds: int) -> tuple[float, float]:
    """The best of some rounds of `ours`."""
    found = [ours(tree, kind.kernel, kind.vectors, kind.size) for _ in range(rounds)]
    return min(scalar for scalar, _ in found), min(lanes for _, lanes in found)


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
        tree = models(options.all_joints)[options.only[0]]
        print(json.dumps({name: measured(tree, kind, options.rounds) for name, kind in kinds(tree).items()}))
        return
    rows = []
    rate = rate_in_lanes()
    print(f"nanoseconds per evaluation and trajectory; {rate:.1f} operations per nanosecond in lanes")
    heads = ("C++", "scalar", "lanes", "C++/sc.", "C++/l.", "fused/sc", "fused/l.", "operat.", "writing", "least/l.")
    print(f"{'tree':20s} {'nv':>4s} {'of':12s} " + " ".join(f"{head:>8s}" for head in heads))
    for name, tree in models(options.all_joints).items():
        if options.only and name not in options.only:
            continue
        again = ("--only", name, "--rounds", str(options.rounds), *["--all-joints"] * options.all_joints)
        n, in_fused = tree.nv, fused("benchmarks.derivatives", *again)
        for of, kind in kinds(tree).items():
            kernel, vectors, size, algorithm = kind
            scalar, lanes = measured(tree, kind, options.rounds)
            fused_scalar, fused_lanes = in_fused[f"fused_{of}"]
            count, writing = (
                operations(tree, kernel, states(tree, 0, vectors)[0], room_of(tree, kernel), size),
                writing_in_lanes(size),
            )
            least = max(count / rate, writing)
            other = min(theirs(tree, algorithm) for _ in range(options.rounds))
            print(
                f"{name:20s} {n:4d} {of:12s} {other:8.0f} {scalar:8.0f} {lanes:8.0f} "
                f"{other / scalar:8.2f} {other / lanes:8.2f} "
                f"{other / fused_scalar:8.2f} {other / fused_lanes:8.2f} "
                f"{count:8d} {writing:8.0f} {least / lanes:8.2f}",
                flush=True,
            )
            row = {
                "tree": name,
                "nv": n,
                "of": of,
                "scalar_ns": round(scalar, 1),
                "lanes_ns": round(lanes, 1),
                "fused_scalar_ns": round(fused_scalar, 1),
                "fused_lanes_ns": round(fused_lanes, 1),
                "operations": count,
                "least_lanes_ns": round(least, 1),
            }
            rows.append(row | ({"pinocchio_cpp_ns": round(other, 1)} if other == other else {}))
    if options.save:
        print(
            "saved",
            save(options.save, {**circumstances("pin"), "operations_per_ns_in_lanes": round(rate, 1), "rows": rows}),
        )


if __name__ == "__main__":
    main()
