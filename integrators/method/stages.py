"""Steps whose stages are evaluated in lanes: of which fields, in which form, and in what workspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.method.method import Method
from integrators.problem import Problem
from integrators.problem.fields import Field
from liegroup.compile import WIDTH, lane_array

Array = NDArray[np.float64]


def takes_stages(problem: Problem, field: Field) -> bool:
    """Whether a compiled field can be evaluated at eight stages in one call."""
    return problem.is_autonomous or field.compiled_timed is not None


def stages_form(problem: Problem, field: Field) -> Any:
    """The compiled form of such a field that is called with the states and times of eight stages."""
    return field.compiled_lanes if problem.is_autonomous else field.compiled_timed


def stages_workspaces(problem: Problem, method: Method) -> tuple[Array, Array]:
    """The method's, and the field's, which has a row more, for the times of the stages."""
    rows, columns = problem.work_shape_for(method.stepper.evaluates)
    return aligned(*method.work_shape(problem)), lane_array(rows + 1, columns)


def aligned(rows: int, columns: int) -> Array:
    """Zeros on the boundaries of lane registers; `columns` a multiple of their width."""
    return lane_array(rows, columns // WIDTH).reshape(rows, columns)
