"""The loop that many write around Pinocchio: its `aba` and semi-implicit Euler, v += h v̇(q, v), then q moves by h v.

A loop in Python around a function in C++: about 2 µs of a step are Python's.
"""

from __future__ import annotations

import time

import numpy as np

import mechanics
from benchmarks.mujoco_trees import solution_of
from integrators import Solution
from integrators.problem import Problem
from mechanics import Tree, to_pinocchio

NAME = "PINOCCHIO_EULER"


def simulate(tree: Tree, problem: Problem, step: float, horizon: float, save_every: int) -> Solution:
    """Integrate the mechanism from the start of the problem; it ends where numbers are no longer finite."""
    import pinocchio as pin

    other, rows = to_pinocchio(tree), round(horizon / step / save_every)
    model, data, zero = other.model, other.model.createData(), np.zeros(tree.nv)
    q0, p0 = np.split(np.asarray(problem.y0), [tree.nq])
    q, v = other.configuration(q0), other.velocity(mechanics.hamiltonian_rhs(tree, q0, p0)[0])
    saved_q, saved_v, seconds = [q], [v], 0.0
    for _ in range(rows):
        began = time.perf_counter()
        for _ in range(save_every):
            v = v + step * pin.aba(model, data, q, v, zero)
            q = pin.integrate(model, q, step * v)
        seconds += time.perf_counter() - began
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.abs(v).max() < 1e6):
            break
        saved_q.append(q)
        saved_v.append(v)
    at, rates = other.tree_configuration(np.array(saved_q)), other.tree_velocity(np.array(saved_v))
    return solution_of(tree, problem, NAME, step, save_every, rows, at, rates, seconds)
