"""How long threads wait for compilation: what runs leave out of the seconds that they took."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Waited(threading.local):
    """Of one thread: seconds so far; whether it is waiting now."""

    seconds = 0.0
    now = False


_waited = _Waited()


@contextmanager
def waiting() -> Iterator[None]:
    """Around compilation, and around waiting for that of other threads."""
    if _waited.now:
        yield
        return
    _waited.now, began = True, time.perf_counter()
    try:
        yield
    finally:
        _waited.now = False
        _waited.seconds += time.perf_counter() - began


def seconds_waited() -> float:
    """Seconds for which this thread has waited for compilation since it began."""
    return _waited.seconds
