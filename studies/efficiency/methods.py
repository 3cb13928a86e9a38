"""The three methods as kernels: how many operations they do, and how long they take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.loops import seconds
from mechanics import Tree
from mechanics.algorithms.era import era
from mechanics.reference.counting import Tally
from mechanics.reference.osp import osp
from mechanics.reference.osp_plan import Plan, osp_plan
from mechanics.reference.tsp import tsp, tsp_size, tsp_structure

NAMES = ("TSP", "OSP", "ERA")


class Call(NamedTuple):
    """A kernel and what it is called with."""

    kernel: Any
    plan: Plan


def calls(tree: Tree) -> dict[str, Call]:
    """The three kernels on a tree."""
    return {
        "TSP": Call(tsp, Plan(tree.parameters, tsp_structure(tree), tree.work_shape, tsp_size(tree))),
        "OSP": Call(osp, osp_plan(tree)),
        "ERA": Call(era, Plan(tree.parameters, tree.structure, tree.work_shape, 2 * tree.nv)),
    }


def _state(tree: Tree) -> Any:
    generator = np.random.default_rng(0)
    return np.concatenate([tree.random_configuration(generator), generator.normal(size=tree.nv)])


def counted(tree: Tree) -> dict[str, int]:
    """Operations of one evaluation: the kernels' own source, interpreted on a counting scalar; sines and cosines not
    counted.
    """
    found = {}
    for name, (kernel, plan) in calls(tree).items():
        tally = Tally()
        out, work = tally.array(np.zeros(plan.size)), tally.array(np.zeros(plan.work_shape))
        kernel.python(0.0, tally.array(_state(tree)), tally.array(plan.parameters), plan.structure, work, out)
        found[name] = tally.total
    return found


def measured(tree: Tree, chunk: float, repeats: int, rounds: int = 3) -> dict[str, float]:
    """Seconds of one evaluation, one trajectory: the methods in turn, several rounds, the best of each counts."""
    states = _state(tree)[None, :]
    best = dict.fromkeys(NAMES, float("inf"))
    found = calls(tree)
    for _ in range(rounds):
        for name, (kernel, plan) in found.items():
            arrays = kernel, states, plan.parameters, plan.structure, plan.work_shape, plan.size
            best[name] = min(best[name], seconds(*arrays, chunk=chunk, repeats=repeats))
    return best
