"""How the motion of a problem is drawn, as far as the problem says so."""

from __future__ import annotations

from functools import partial
from typing import Any

from integrators.problem.problem import Problem
from liegroup.table import KIND, SE2, SE3, SO3


def scene_of(problem: Problem) -> Any:
    """The scene of a problem or its maker; by default that of the group it moves on, None where that says nothing."""
    if problem.scene is not None:
        return problem.scene
    says = {int(row[KIND]) for row in problem.table} & {SE2, SE3, SO3}
    return partial(_of_group, problem.table) if says else None


def _of_group(table: Any, t: Any, y: Any) -> Any:
    from integrators.scenes import of_group

    return of_group(table)(t, y)
