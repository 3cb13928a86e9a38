"""Driving runs to their end: chunks, progress, Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from integrators.run import FixedRun

CHUNK_SECONDS = 0.07
"""Between two looks at the clock, the progress bar and Ctrl-C."""


def drive(runs: Sequence[FixedRun], progress: bool | None) -> float:
    """Bring every run to its end in chunks; returns the seconds it took.  Ctrl-C marks what is unfinished as interrupted."""
    began = time.perf_counter()
    with interruptible() as interrupted, _bar(sum(run.plan.steps for run in runs), progress) as bar:
        chunk = 1
        for run in runs:
            while not run.done and not interrupted():
                before, start = run.steps_done, time.perf_counter()
                run.go(chunk)
                elapsed = time.perf_counter() - start
                chunk = max(1, min(8 * chunk, int(chunk * CHUNK_SECONDS / max(elapsed, 1e-6))))
                bar.update(run.steps_done - before)
            if not run.done:
                run.interrupt()
    return time.perf_counter() - began


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C sets a flag, which the yielded function reads; the second one raises KeyboardInterrupt."""
    asked = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def _bar(total: int, progress: bool | None) -> Any:
    return tqdm(total=total, unit="step", unit_scale=True, delay=1.0, leave=False, disable=None if progress is None else not progress)
