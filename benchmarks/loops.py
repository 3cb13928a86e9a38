"""Compiled loops that call a field many times, on a table of states in turn: what benchmarks and measured studies
time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.machine import best_time
from integrators.signatures import FIELD, FIELD_LANES
from liegroup.compile import (
    WIDTH,
    Entry,
    entry,
    integer,
    integers,
    lane_array,
    lane_matrix,
    lane_vector,
    matrix,
    nothing,
    real,
    vector,
)


@entry(nothing(FIELD, integer, real, matrix, vector, integers, matrix, vector))
def _loop(field: Any, calls: Any, t: Any, states: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    for k in range(calls):
        field(t, states[k % states.shape[0]], parameters, structure, work, out)


@entry(nothing(FIELD_LANES, integer, real, lane_matrix, vector, integers, lane_matrix, lane_vector))
def _loop_lanes(
    field: Any, calls: Any, t: Any, states: Any, parameters: Any, structure: Any, work: Any, out: Any
) -> None:
    for k in range(calls):
        field(t, states[k % states.shape[0]], parameters, structure, work, out)


def seconds(
    field: Entry, states: Any, parameters: Any, structure: Any, work_shape: Any, size: int, **options: Any
) -> float:
    """Time of one call on states (m, n); `options` of `best_time`."""
    work, out = np.zeros(work_shape), np.zeros(size)
    return best_time(
        lambda calls: _loop(field.compiled, calls, 0.0, states, parameters, structure, work, out), **options
    )


def seconds_in_lanes(
    field: Entry, states: Any, parameters: Any, structure: Any, work_shape: Any, size: int, **options: Any
) -> float:
    """Time per trajectory of one call on eight at a time, states (8, m, n)."""
    table, work, out = lane_array(*states.shape[1:]), lane_array(*work_shape), lane_array(size)
    table[...] = np.moveaxis(states, 0, -1)
    call = field.compiled_lanes
    return (
        best_time(lambda calls: _loop_lanes(call, calls, 0.0, table, parameters, structure, work, out), **options)
        / WIDTH
    )
