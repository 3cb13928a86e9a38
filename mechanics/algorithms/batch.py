"""One kernel on many states in lanes, on few or the rest one by one; and on one state as fast as can be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.signatures import FIELD, FIELD_LANES
from liegroup.compile import (
    WIDTH,
    Entry,
    boolean,
    entry,
    function_at,
    helper,
    integer,
    integers,
    interpreted,
    lane_array,
    lane_matrix,
    lane_vector,
    ld,
    matrix,
    nothing,
    real,
    st,
    vector,
)
from mechanics.joints.element import BALL, FLOAT
from mechanics.model.layout import header_of, link_of

Array = NDArray[np.float64]
UNIT_TOLERANCE = 1e-6
"""Of the norms of quaternions."""
_field_at = function_at(FIELD)


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


SMALL = 2000
"""Parameters of trees for which a kernel is interpreted in some 10 ms."""
ENOUGH = 2000
"""States for which code for lanes is compiled: below, it takes less time to go without."""
_once = ContextVar("once", default=False)


@contextmanager
def once() -> Iterator[None]:
    """Within it kernels are asked for single states once, as where a problem is posed: of small trees they are
    interpreted, with the same bits, unless they are compiled already.
    """
    before = _once.set(True)
    try:
        yield
    finally:
        _once.reset(before)


def is_for_once(kernel: Entry, parameters: Array) -> bool:
    """Whether to interpret a kernel rather than to compile it."""
    if not _once.get() or parameters.size > SMALL:
        return False
    return not (kernel.is_at_hand and at_one_state.is_at_hand)


def _is_interpreted(kernel: Entry, t: float, state: Array, parameters: Array, structure: Any, *rest: Array) -> bool:
    """Whether the values have been written by the interpreted kernel."""
    wanted = is_for_once(kernel, parameters)
    return wanted and interpreted(kernel.python, t, state, parameters, structure, *rest)


_asked = dict[Entry, int]()
"""For how many states kernels have been asked so far, by which lanes can be filled."""


def _lanes_pay(kernel: Entry, count: int) -> bool:
    """Whether to take states in lanes: there are so many that lanes can be filled, and the code for lanes is there or
    has been asked for often enough.
    """
    if count < WIDTH:
        return False
    is_there = _asked.get(kernel, 0) >= ENOUGH or (kernel not in _asked and kernel.has(lanes=True))
    _asked[kernel] = ENOUGH if is_there else _asked.get(kernel, 0) + count
    return _asked[kernel] >= ENOUGH


def run(
    kernel: Entry, t: float, states: Array, parameters: Array, structure: Any, work_shape: tuple[int, int], size: int
) -> Array:
    """Values (m, size) of a kernel of the field signature on states (m, n); it is given zeros to write on, and is not
    asked where there is nothing to write: kernels count on one velocity at least.
    """
    out = np.zeros((len(states), size))
    if not size:
        return out
    if len(states) == 1 and _is_interpreted(kernel, t, states[0], parameters, structure, np.zeros(work_shape), out[0]):
        return out
    whole = len(states) - len(states) % WIDTH if _lanes_pay(kernel, len(states)) else 0
    if whole:
        lanes = lane_array(*work_shape), lane_array(states.shape[1]), lane_array(size)
        _in_lanes(kernel.compiled_lanes, t, states[:whole], parameters, structure, *lanes, out[:whole])
    if whole < len(states):
        _one_by_one(kernel.compiled, t, states[whole:], parameters, structure, np.zeros(work_shape), out[whole:])
    return out


@helper
def _finite(x: Any) -> bool:
    """Whether all numbers are finite."""
    total = 0.0
    for i in range(x.shape[0]):
        total = total + (x[i] - x[i])
    return bool(total == 0.0)


@helper
def _of_unit_norm(q: Any, structure: Any) -> bool:
    """Whether all quaternions are."""
    good = True
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        if link.kind in (BALL, FLOAT):
            k = link.q + (3 if link.kind == FLOAT else 0)
            w, x, y, z = ld(q, k), ld(q, k + 1), ld(q, k + 2), ld(q, k + 3)
            good = good and abs(np.sqrt(((w * w + x * x) + y * y) + z * z) - 1.0) <= UNIT_TOLERANCE
    return bool(good)


@entry(
    boolean(
        integer, real, vector, vector, vector, vector, integer, boolean, vector, integers, vector, integer, integer,
        integer, vector,
    )
)  # fmt: skip
def at_one_state(
    address: Any,
    t: Any,
    q: Any,
    first: Any,
    second: Any,
    wrenches: Any,
    blocks: Any,
    loaded: Any,
    parameters: Any,
    structure: Any,
    memory: Any,
    columns: Any,
    size: Any,
    start: Any,
    out: Any,
) -> bool:
    """out <- values[start : start + n] of the kernel at `address` on the state (q, `blocks` of n_v numbers, wrenches if
    `loaded`), and true; false, and `out` as it was, if an argument or a value is not as it should be: what is wrong is
    for others to say.

    `memory` is for the state, the `size` values and a workspace of so many `columns`.
    """
    tree = header_of(structure)
    n_q, n_1, n_2 = tree.n_q, tree.n_v * (blocks > 0), tree.n_v * (blocks > 1)
    n = n_q + n_1 + n_2 + 6 * tree.bodies * loaded
    if (
        q.shape[0] != n_q
        or first.shape[0] != n_1
        or second.shape[0] != n_2
        or wrenches.shape[0] != n - n_q - n_1 - n_2
        or start + out.shape[0] > size
        or t - t != 0.0
    ):
        return False
    state, values, work = memory[:n], memory[n : n + size], memory[n + size :].reshape((-1, columns))
    _copy(q, state, 0)
    _copy(first, state, n_q)
    _copy(second, state, n_q + n_1)
    _copy(wrenches, state, n_q + n_1 + n_2)
    if not (_finite(state) and _of_unit_norm(state, structure)):
        return False
    _field_at(address)(t, state, parameters, structure, work, values)
    values = values[start : start + out.shape[0]]
    if not _finite(values):
        return False
    _copy(values, out, 0)
    return True


@helper
def _copy(x: Any, out: Any, at: Any) -> None:
    """out[at …] <- x."""
    for i in range(x.shape[0]):
        st(out, at + i, x[i])
