"""One kernel on many states: eight at a time in lanes, the rest one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.signatures import FIELD, FIELD_LANES
from liegroup.compile import (
    WIDTH,
    Entry,
    entry,
    integers,
    lane_array,
    lane_matrix,
    lane_vector,
    matrix,
    nothing,
    real,
    vector,
)

Array = NDArray[np.float64]


@entry(nothing(FIELD, real, matrix, vector, integers, matrix, matrix))
def _one_by_one(field: Any, t: Any, states: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    for b in range(states.shape[0]):
        field(t, states[b], parameters, structure, work, out[b])


@entry(nothing(FIELD_LANES, real, matrix, vector, integers, lane_matrix, lane_vector, lane_vector, matrix))
def _in_lanes(
    field: Any, t: Any, states: Any, parameters: Any, structure: Any, work: Any, state: Any, values: Any, out: Any
) -> None:
    width = state.shape[1]
    for b in range(0, states.shape[0], width):
        for i in range(states.shape[1]):
            for lane in range(width):
                state[i, lane] = states[b + lane, i]
        field(t, state, parameters, structure, work, values)
        for i in range(out.shape[1]):
            for lane in range(width):
                out[b + lane, i] = values[i, lane]


def run(
    kernel: Entry, t: float, states: Array, parameters: Array, structure: Any, work_shape: tuple[int, int], size: int
) -> Array:
    """Values (m, size) of a kernel of the field signature on states (m, n)."""
    out = np.empty((len(states), size))
    whole = len(states) - len(states) % WIDTH
    if whole:
        lanes = lane_array(*work_shape), lane_array(states.shape[1]), lane_array(size)
        _in_lanes(kernel.compiled_lanes, t, states[:whole], parameters, structure, *lanes, out[:whole])
    if whole < len(states):
        _one_by_one(kernel.compiled, t, states[whole:], parameters, structure, np.zeros(work_shape), out[whole:])
    return out
