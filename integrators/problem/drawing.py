"""How the motion of a problem is drawn, as far as the problem says so."""

from __future__ import annotations

from typing import Any

from integrators.problem.problem import Problem
from integrators.scenes import of_group


def scene_of(problem: Problem) -> Any:
    """The scene of a problem or its maker; by default that of the group it moves on, None where that says nothing."""
    return of_group(problem.table) if problem.scene is None else problem.scene
