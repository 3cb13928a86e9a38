"""Driving runs to their end: chunks, progress, callbacks, checkpoints, Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from integrators.engine.run import Run
from integrators.status import Status
from liegroup.display import bar

CHUNK_SECONDS = 0.07
"""Between two looks at the clock, the progress bar and Ctrl-C."""
_TICKS = 1000


class Keeper(Protocol):
    """Whoever keeps checkpoints."""

    def now_and_then(self) -> None:
        """Write one if it is time."""

    def write(self) -> None:
        """Write one."""


def drive(
    runs: Sequence[Run], progress: bool | None, callback: Callable[..., Any] | None = None, keeper: Keeper | None = None
) -> float:
    """Bring every run to its end in chunks; returns the seconds it took.

    Ctrl-C and the callback stop all of them, and so does SIGTERM if there are checkpoints; the checkpoint is written
    before they are marked as ended, so that they can go on.
    """
    began, call = time.perf_counter(), _Call(callback)
    with _ended(runs), interruptible(keeper is not None) as interrupted, _bar(progress) as bar:
        chunk, reason = 1, Status.OK
        for number, run in enumerate(runs):
            while not run.done and reason is Status.OK:
                start, before = time.perf_counter(), run.steps_done
                run.go(chunk)
                elapsed, done = time.perf_counter() - start, run.steps_done - before  # events end a chunk early
                chunk = max(1, min(8 * chunk, int(done * CHUNK_SECONDS / max(elapsed, 1e-6))))
                bar.update(int(_TICKS * (number + run.progress) / len(runs)) - bar.n)
                if call(run):
                    reason = Status.STOPPED
                if keeper is not None:  # which may take away what the callback is to see
                    keeper.now_and_then()
                if interrupted():
                    reason = Status.INTERRUPTED
        if keeper is not None:
            keeper.write()
        for run in runs:
            if not run.done:
                run.end(reason, interrupted() if reason is Status.INTERRUPTED else "")
    return time.perf_counter() - began


class _Call:
    """The callback between chunks: ``callback(t, y)``, or ``callback.look(stretch)`` with all that was saved since,
    also at the end.
    """

    def __init__(self, callback: Any) -> None:
        self.callback, self.look = callback, getattr(callback, "look", None)
        self.run: Run | None = None
        self.row = 0

    def __call__(self, run: Run) -> bool:
        if self.look is None:
            return self.callback is not None and not run.done and bool(self.callback(run.t, run.shown().T.copy()))
        if run is not self.run:
            self.run, self.row = run, 0
        stretch, self.row = run.since(self.row), run.rows_saved
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


@contextmanager
def interruptible(also_terminated: bool = False) -> Iterator[Callable[[], str]]:
    """Ctrl-C sets a flag, the name of the signal, which the yielded function reads; the second one raises
    KeyboardInterrupt.  SIGTERM does the same where that is wanted and the program does not handle it; a second one ends
    the process.
    """
    asked = ""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: ""
        return

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked = signal.Signals(number).name
        if number == signal.SIGTERM:
            signal.signal(number, signal.SIG_DFL)

    before = {signal.SIGINT: signal.signal(signal.SIGINT, ask)}
    if also_terminated and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, ask)
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _bar(progress: bool | None) -> Any:
    layout = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    return bar(total=_TICKS, bar_format=layout, delay=1.0, shown=progress)
