"""How much memory a process can still have."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def free_memory() -> int | None:
    """Bytes that this process can still have; None where the system does not tell."""
    found = list(_limits())
    return min(found) if found else None


def _limits() -> Iterator[int]:
    with suppress(OSError, ValueError, KeyError):
        lines = (line.split() for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        known = {words[0]: 1024 * int(words[1]) for words in lines if len(words) > 1}
        yield known["MemAvailable:"] + known["SwapFree:"]
    of_containers = ("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")
    for most, used in of_containers:
        with suppress(OSError, ValueError):
            group = Path("/sys/fs/cgroup")
            yield max(0, int((group / most).read_text("ascii")) - int((group / used).read_text("ascii")))
    if sys.platform == "darwin":
        with suppress(OSError, ValueError):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield from _of_windows() if sys.platform == "win32" else _of_the_process()


def _of_the_process() -> Iterator[int]:
    """What ``ulimit -v`` leaves."""
    if sys.platform == "win32":
        return
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        with suppress(OSError, ValueError):
            yield max(
                0, limit - os.sysconf("SC_PAGE_SIZE") * int(Path("/proc/self/statm").read_text("ascii").split()[0])
            )


def _of_windows() -> Iterator[int]:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong) for name in ("total", "free", "page", "free_page", "own", "free_own", "more")
        ]

    status = Status(length=ctypes.sizeof(Status))
    if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined,unused-ignore]
        yield min(status.free_page, status.free_own)
