"""Whether a run fits into memory: asked before it starts, since systems promise more than they have and then end it."""

from __future__ import annotations

from integrators.engine.adaptive_run import Steering
from integrators.engine.memory import free_memory
from integrators.engine.observe import STATISTICS
from integrators.engine.run import Output, Plan
from integrators.problem import Problem

_DOUBLE = 8
_SMALL = 2**20
"""Bytes that any process has."""


def check_room(problem: Problem, output: Output, way: Plan | Steering, trajectories: int) -> None:
    """ValueError with the number of bytes and the remedy if what a run keeps does not fit into memory, once in its
    tables and once in its results.
    """
    rows = min(rows_of(output, way), output.window) if output.window else rows_of(output, way)
    needed = 2 * trajectories * bytes_of(problem, rows)
    free = free_memory() if needed > _SMALL else None
    if free is not None and needed > free:
        remedy = (
            "give fewer times in t_eval"
            if len(output.times)
            else f"save_every: at least {-(-output.save_every * needed // max(1, free))} instead of {output.save_every}"
        )
        many = f" for each of {trajectories} trajectories" if trajectories > 1 else ""
        raise ValueError(
            f"{remedy}; {rows} states of {problem.n} numbers{many} do not fit into memory: {needed} bytes are needed, "
            f"{free} are free"
        )


def rows_of(output: Output, way: Plan | Steering) -> int:
    """States that a run will keep, as far as that is known."""
    if len(output.times) or isinstance(way, Steering):
        return len(output.times)
    return 1 + -(-way.steps // output.save_every)


def bytes_of(problem: Problem, rows: int) -> int:
    """What so many states take, with their times, invariants and statistics."""
    return _DOUBLE * rows * (2 + problem.n + (1 + STATISTICS) * problem.invariant_count)
