"""Time of one evaluation against the number of bodies, to ten thousand: ``python -m benchmarks.tree_size --figure
docs/figures/tree_size``.

Chains and random trees of hinges: ERA, OSP, TSP, the composite-body mass matrix with SciPy's Cholesky, and Pinocchio's
`aba` from Python.  A method is left out beyond the size where its matrix would not fit or a call takes too long;
Pinocchio cannot allocate a chain of more than some hundred joints, which is caught and said.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core for everybody; set before numpy is imported

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import mechanics
from benchmarks.machine import circumstances, save
from mechanics import Tree, to_pinocchio
from mechanics.algorithms.era import era
from mechanics.reference.osp import osp
from mechanics.reference.osp_plan import osp_plan
from mechanics.reference.tsp import tsp, tsp_size, tsp_structure
from mechanics.testing import random_tree

SIZES = (3, 10, 30, 100, 300, 1000, 3000, 10000)
LARGEST = {"ERA": 10_000, "OSP": 10_000, "TSP": 1000, "CRBA + Cholesky": 3000, "Pinocchio aba": 300}
"""Bodies; dense matrices end where they would fill gigabytes, Pinocchio where its chains stop to allocate."""


def contenders(tree: Tree) -> dict[str, Callable[[], Any]]:
    """A call without arguments for every method that takes the tree."""
    generator = np.random.default_rng(0)
    q, p = tree.random_configuration(generator), generator.normal(size=tree.nv)
    y = np.concatenate([q, p])

    def kernel(field: Any, parameters: Any, structure: Any, work_shape: Any, size: int) -> Callable[[], Any]:
        work, out = np.zeros(work_shape), np.zeros(size)
        return lambda: field(0.0, y, parameters, structure, work, out)

    def cholesky() -> Any:
        M = mechanics.mass_matrix(tree, q)
        return cho_solve(cho_factor(M, check_finite=False), p, check_finite=False)

    plan = osp_plan(tree) if len(tree) <= LARGEST["OSP"] else None
    found: dict[str, Callable[[], Any]] = {
        "ERA": kernel(era, tree.parameters, tree.structure, tree.work_shape, 2 * tree.nv)
    }
    if plan is not None:
        found["OSP"] = kernel(osp, *plan)
    if len(tree) <= LARGEST["TSP"]:
        found["TSP"] = kernel(tsp, tree.parameters, tsp_structure(tree), tree.work_shape, tsp_size(tree))
    if len(tree) <= LARGEST["CRBA + Cholesky"]:
        found["CRBA + Cholesky"] = cholesky
    if len(tree) <= LARGEST["Pinocchio aba"]:
        import pinocchio as pin

        other = to_pinocchio(tree)
        model, data = other.model, other.model.createData()
        x, v = other.configuration(q), other.velocity(p)
        found["Pinocchio aba"] = lambda: pin.aba(model, data, x, v, v)
    return found


def best(call: Callable[[], Any], budget: float = 0.5) -> float:
    """Seconds of the fastest of the calls that fit into the budget (at least three)."""
    call()
    least, end, done = float("inf"), time.perf_counter() + budget, 0
    while done < 3 or (time.perf_counter() < end and done < 2000):
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
        done += 1
    return least


def measure(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """One row per shape, size and method."""
    rows = []
    for shape in ("chain", "random"):
        for N in sizes:
            tree = random_tree(shape, N, np.random.default_rng(N))
            for name, call in contenders(tree).items():
                seconds = best(call)
                rows.append({"shape": shape, "bodies": N, "method": name, "seconds": seconds})
                print(f"{shape:7s} {N:6d} {name:16s} {1e6 * seconds:12.2f} µs", flush=True)
            gc.collect()
    return rows


def figure(rows: list[dict[str, Any]], name: str) -> None:
    """Log-log curves for chains and random trees; NAME.svg."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=(8.5, 3.6), layout="constrained")
    axes = fig.subplots(1, 2, sharey=True)
    colours = dict(zip(LARGEST, ("#0072B2", "#009E73", "#E69F00", "#CC79A7", "#000000"), strict=True))
    for ax, shape in zip(axes, ("chain", "random"), strict=True):
        for method, colour in colours.items():
            found = [(r["bodies"], 1e6 * r["seconds"]) for r in rows if (r["shape"], r["method"]) == (shape, method)]
            ax.loglog(*zip(*found, strict=True), "o-", ms=3, lw=1.2, color=colour, label=method)
        ax.set_title("chain of hinges" if shape == "chain" else "random tree of hinges", fontsize=10, loc="left")
        ax.set_xlabel("bodies N")
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    x = np.array([100.0, 1e4])
    axes[0].loglog(x, 4.0 * x, ":", color="grey", lw=1)
    axes[0].text(1e4, 4.4e4, "N", color="grey", ha="right", va="bottom", fontsize=8)
    axes[0].set_ylabel("one evaluation [µs], called from Python")
    axes[0].legend(frameon=False, fontsize=8)
    fig.savefig(f"{name}.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", metavar="NAME", help="write NAME.svg")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    parser.add_argument("--largest", type=int, default=10_000, help="bodies of the largest tree")
    options = parser.parse_args()
    rows = measure(tuple(N for N in SIZES if options.largest >= N))
    if options.figure:
        figure(rows, options.figure)
    if options.save:
        print("saved", save(options.save, {**circumstances("pin", "scipy"), "rows": rows}))


if __name__ == "__main__":
    main()
