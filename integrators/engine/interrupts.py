"""Ctrl-C while compiled code runs, and while it calls back functions in Python, in which an exception would be lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible(also_terminated: bool = False) -> Iterator[Callable[[], str]]:
    """Ctrl-C sets a flag, the name of the signal, which the yielded function reads; the second one raises
    KeyboardInterrupt.  SIGTERM does the same where that is wanted and the program does not handle it; a second one ends
    the process.  Within another of these contexts the outer one hears of it at the end of the inner, and what the outer
    one has heard the inner says, too.
    """
    asked = ""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: ""
        return

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if told() and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked = signal.Signals(number).name
        if number == signal.SIGTERM:
            signal.signal(number, signal.SIG_DFL)

    outer = getattr(signal.getsignal(signal.SIGINT), "told", lambda: "")

    def told() -> str:
        return asked or outer()

    ask.told = told  # type: ignore[attr-defined]
    before: dict[Any, Any] = {signal.SIGINT: signal.signal(signal.SIGINT, ask)}
    if also_terminated and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, ask)
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if asked == signal.SIGINT.name and hasattr(before[signal.SIGINT], "told"):
            before[signal.SIGINT](signal.SIGINT, None)


@contextmanager
def hearing() -> Iterator[Callable[[], bool]]:
    """For programs of many runs: the yielded function says whether Ctrl-C has ended one of them early.  The others are
    not ended by it; outside of runs it raises KeyboardInterrupt, as ever.
    """
    heard = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def hear(number: int, frame: Any) -> None:
        nonlocal heard
        heard = True
        if frame is not None:  # else a run says at its end that it has taken it
            raise KeyboardInterrupt

    hear.told = lambda: ""  # type: ignore[attr-defined]
    before = signal.signal(signal.SIGINT, hear)
    try:
        yield lambda: heard
    finally:
        signal.signal(signal.SIGINT, before)
