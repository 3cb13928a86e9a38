"""Driving runs to their end: chunks, progress, callbacks, checkpoints, Ctrl-C."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from integrators.engine.crew import Crew, Here
from integrators.engine.interrupts import interruptible
from integrators.engine.run import Run
from integrators.status import Status
from liegroup.compile import WIDTH, seconds_waited
from liegroup.display import bar

_TICKS = 1000


class Keeper(Protocol):
    """Whoever keeps checkpoints."""

    @property
    def is_due(self) -> bool:
        """Whether it is time for the next one."""

    def write(self) -> None:
        """Write one."""


def drive(
    runs: Sequence[Run],
    progress: bool | None,
    callback: Callable[..., Any] | None = None,
    keeper: Keeper | None = None,
    crew: Crew | None = None,
) -> float:
    """Bring every run to its end in chunks; returns the seconds it took, without those of compilation.

    `crew` (`integrators.engine.crew`; default: this thread) takes the steps.  Everything else, the callback and
    checkpoints too, is done in this thread, for a checkpoint while all runs stand still.

    Ctrl-C and the callback stop all of them, and so does SIGTERM if there are checkpoints; the checkpoint is written
    before they are marked as ended, so that they can go on.
    """
    began, call, crew = time.perf_counter() - seconds_waited(), _Call(callback, runs), crew or Here()
    with _ended(runs), interruptible(keeper is not None) as interrupted, _bar(progress) as bar:
        waiting, reason = deque(run for run in runs if not run.done), Status.OK
        ticks = {run: _ticks(run) for run in runs}
        together = sum(ticks.values())  # kept up: summed over all after every chunk it costs the square of their number
        with crew:
            while reason is Status.OK and (waiting or crew.busy):
                size = crew.size
                if keeper is not None and keeper.is_due:
                    if crew.busy:
                        size = 0  # until all stand still
                    else:
                        keeper.write()
                while waiting and crew.busy < size:
                    crew.take(waiting)
                for run in crew.finished():
                    if not run.done:
                        waiting.appendleft(run)
                    now = _ticks(run)
                    together, ticks[run] = together + now - ticks[run], now
                    if call(run):
                        reason = Status.STOPPED
                bar.update(together // len(runs) - bar.n)
                if interrupted():
                    reason = Status.INTERRUPTED
        if keeper is not None:
            keeper.write()
        for run in runs:
            if not run.done:
                run.end(reason, interrupted() if reason is Status.INTERRUPTED else "")
    return time.perf_counter() - seconds_waited() - crew.waited - began


class _Call:
    """The callback between chunks: ``callback(t, y)``, of one trajectory after the other, or
    ``callback.look(stretch)`` with all that was saved since, also at the end.
    """

    def __init__(self, callback: Any, runs: Sequence[Run]) -> None:
        self.callback, self.look = callback, getattr(callback, "look", None)
        self.rows: dict[Run, int] = {}
        left = len(np.atleast_2d(runs[0].problem.y0)) if runs else 0
        self.lanes: dict[Run, int] = {}
        """Trajectories of runs in lanes, without the copies that fill the last."""
        for run in runs:
            if run.y.ndim == 2:
                self.lanes[run], left = min(left, WIDTH), left - WIDTH

    def __call__(self, run: Run) -> bool:
        if self.look is None:
            if self.callback is None or run.done:
                return False
            states = run.shown()
            if states.ndim == 1:
                return bool(self.callback(run.t, states.copy()))
            alive = [k for k in range(self.lanes[run]) if run.alive[k]]  # type: ignore[attr-defined]
            return any(bool(self.callback(run.t, states[:, k].copy())) for k in alive)
        stretch, self.rows[run] = run.since(self.rows.get(run, 0)), run.rows_saved
        return bool(self.look(stretch)) and not run.done


@contextmanager
def _ended(runs: Sequence[Run]) -> Iterator[None]:
    """If a function of the user's raises, the runs end with the last state that was saved, and say why."""
    try:
        yield
    except BaseException as error:
        for run in runs:
            if not run.done:
                run.end(Status.INTERRUPTED, repr(error))
        raise


def _ticks(run: Run) -> int:
    return int(_TICKS * run.progress)


def _bar(progress: bool | None) -> Any:
    layout = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    return bar(total=_TICKS, bar_format=layout, delay=1.0, shown=progress)
