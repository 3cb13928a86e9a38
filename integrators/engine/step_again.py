"""One step of a run once more, of any size and from any state: what doubts and failures are looked into with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from integrators.problem.jitted import take_raised
from integrators.status import Status

if TYPE_CHECKING:
    from integrators.engine.run import Run

Array = NDArray[np.float64]


def stepped(run: Run, t: float, h: float, y: Array) -> Array:
    """The state (n,) after a step of size h from y, without memory of earlier ones; not numbers if it fails."""
    state, low, projected, work, field_work, counters = run.scratch()
    state.T[...] = y  # the same in every lane
    with np.errstate(all="ignore"):
        status = run.step(
            run.field, t, h, state, low, run.table, run.coefficients, run.options, run.parameters, run.structure,
            field_work, work, counters,
        )  # fmt: skip
        if status == Status.OK and run.problem.projection is not None:
            run.projection(t + h, state, run.parameters, run.structure, run.field_work, projected)
            state = projected
    failed = status != Status.OK or take_raised() is not None
    if failed and run.one_by_one is not None:
        return stepped(run.one_by_one, t, h, y)
    return np.full(len(y), np.nan) if failed else np.array(state.T.reshape(-1, len(y))[0])
