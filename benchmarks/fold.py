"""How large a step the variational step of a tree can solve, map by map: ``python -m benchmarks.fold``.

From one state the solution is followed from h = 0 on in small changes of h, each from the increments of the one
before.  It ends in a fold, where no solution is near any more, or where a joint or body turns by π.  Two families: one
free body with random inertia and momentum, and a whirling chain of ten links at moments of its motion.  Printed: the
least and the median of h|ω| where the solution ended (or of the limit where it did not), |ω| the angular velocity of
the body, or the largest rate of a joint of the chain.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import circumstances, save
from benchmarks.variational import chain, start
from integrators.integrate import integrate
from integrators.layout import COUNTERS, HISTORY, OWN_ROWS
from integrators.status import OK
from integrators.steppers.tree_variational import tree_variational
from mechanics import Body, Inertia, Tree, hamiltonian_problem, hamiltonian_rhs
from mechanics.joints import Free
from mechanics.variational.step import STEP
from mechanics.variational.workspace import PAST

MAPS = ("split", "splitexp", "cayley", "exp")
LIMIT, STEPS = 3.1, 124
"""Largest h|ω|, and how many values up to it are tried."""
JUMP = 0.2
"""A solution that differs by more from the one before, scaled to the new h, belongs to another branch."""


def body(g: np.random.Generator) -> Any:
    """One free body: principal moments as of a cloud of points, mass centre off the origin, random velocities."""
    spread = g.uniform(0.05, 1.0, 3)
    J = np.diag(spread.sum() - spread)
    tree = Tree(
        [Body("body", Free(), inertia=Inertia.about_com(1.0, g.normal(size=3), J))], "body", gravity=(0.0, 0.0, 0.0)
    )
    return hamiltonian_problem(tree, tree.neutral(), g.normal(size=6)), tree


def reached(problem: Any, tree: Tree, y: NDArray[np.float64], map_name: str) -> float:
    """h|ω| of the last step on the branch of solutions that begins at h = 0."""
    method = tree_variational(map=map_name, turn=3.1, divisions=0)
    call, field = method.step(problem).compiled, problem.field.compiled
    work, field_work, counters = (
        np.zeros(method.work_shape(problem)),
        np.zeros(problem.work_shape),
        np.zeros(COUNTERS, dtype=np.int64),
    )
    v = hamiltonian_rhs(tree, y[: tree.nq], y[tree.nq :])[0]
    speed = float(np.linalg.norm(v[3:])) if tree.nq != tree.nv else float(np.abs(v).max())
    past = work[OWN_ROWS : OWN_ROWS + len(tree.bodies), PAST : PAST + 6]
    for k in range(1, STEPS + 1):
        h = LIMIT * k / STEPS / speed
        work[STEP, 0], counters[:] = h, 0
        if k > 1:  # the engine's extrapolation from one past step, which is the last solution scaled to the new h
            past *= k / (k - 1)
            counters[HISTORY] = 1
        guess = past.copy()
        status = call(
            field, 0.0, h, y.copy(), 0 * y, problem.table, method.kernel_coefficients(problem),
            method.kernel_options(problem),
            problem.parameters, problem.structure, field_work, work, counters,
        )  # fmt: skip
        if status != OK or (k > 1 and np.abs(past - guess).max() > JUMP * np.abs(past).max()):
            return LIMIT * (k - 1) / STEPS
    return LIMIT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="states of each family")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    count, g, rows = options.count, np.random.default_rng(1), []
    links = chain(10)
    whirling = hamiltonian_problem(links, *start(10))
    moments = integrate(whirling, "TREE_VARIATIONAL", (0, 20), 1e-3, save_every=20000 // count).y[1:]
    bodies = [body(g) for _ in range(count)]
    print(f"{'map':9s} {'one body: least':>16s} {'median':>7s} {'chain of 10: least':>19s} {'median':>7s}")
    for name in MAPS:
        one = np.array([reached(p, tree, np.asarray(p.y0), name) for p, tree in bodies])
        many = np.array([reached(whirling, links, y, name) for y in moments])
        found = {"body_least": one.min(), "body_median": np.median(one)}
        found |= {"chain_least": many.min(), "chain_median": np.median(many)}
        rows.append({"map": name, "count": count, "limit": LIMIT, **{key: float(x) for key, x in found.items()}})
        print(
            f"{name:9s} {one.min():16.2f} {np.median(one):7.2f} {many.min():19.2f} {np.median(many):7.2f}", flush=True
        )
    print(f"(limit {LIMIT}, of {math.pi:.4f})")
    if options.save:
        print("saved", save(options.save, {**circumstances(), "rows": rows}))


if __name__ == "__main__":
    main()
