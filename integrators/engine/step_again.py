"""A run or one of its steps once more, of any size, from any state: what doubts and failures are looked into with."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from integrators.engine.ends import begun, reaches
from integrators.engine.interrupts import interruptible
from integrators.problem.jitted import take_raised
from integrators.status import Status

if TYPE_CHECKING:
    from integrators.engine.run import Run, Trajectory

Array = NDArray[np.float64]
Found = TypeVar("Found")
CHUNK, FIRST_CHUNK, HEARD = 1000, 50, 0.1
"""Steps between which Ctrl-C is heard, and that are repeated one by one where a lane fails: at most, at first, and the
seconds that they may take to become more.
"""


def looked(look: Callable[[], list[Found]], whether: str) -> list[Found]:
    """The doubts, or what else a look into a run finds.  What goes wrong in it, also of the user's (functions may raise
    at times and states of no step), and Ctrl-C, end it with a warning: the run is not lost with it.
    """
    try:
        return look()
    except KeyboardInterrupt:
        why = "interrupted"
    except Exception as error:
        why = str(error)
    warnings.warn(f"the run is over, but {whether} could not be looked at ({why})", RuntimeWarning, stacklevel=3)
    return []


def to_its_end(run: Run, enough: Callable[[Run], bool] | None = None) -> list[Trajectory]:
    """What a run comes to, or until after a step it has done enough; KeyboardInterrupt between two chunks of it, since
    functions that are called back lose it.
    """
    count = FIRST_CHUNK if enough is None else 1
    with interruptible() as interrupted:
        while not run.done and (enough is None or not enough(run)):
            began = time.perf_counter()
            run.go(count)
            if enough is None and time.perf_counter() - began < HEARD:
                count = min(2 * count, CHUNK)
            if interrupted():
                raise KeyboardInterrupt
    return run.trajectories()


def with_start(run: Run, found: Trajectory, number: int) -> tuple[Array, Array]:
    """Times and states that were saved, and those of the start."""
    if found.t[0] == run.t0:
        return found.t, found.y
    starts = np.atleast_2d(run.problem.y0)
    return np.append(run.t0, found.t), np.vstack([starts[min(number, len(starts) - 1)], found.y])


def stepped(run: Run, t: float, h: float, y: Array, aloud: bool = False) -> Array:
    """The state (n,) after a step of size h from y, without memory of earlier ones; not numbers if it fails.  `aloud`:
    what functions of the user's raise in it is raised.
    """
    if reaches(t + h, h, run.limit):
        t = begun(t, h, run.limit)
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
    raised = take_raised()
    if run.called_back is not None:
        raised = run.called_back.take_pending("in a step that is looked at once more") or raised
    failed = status != Status.OK or raised is not None
    if failed and run.one_by_one is not None:
        return stepped(run.one_by_one, t, h, y, aloud)
    if aloud and raised is not None:
        raise raised
    return np.full(len(y), np.nan) if failed else np.array(state.T.reshape(-1, len(y))[0])
