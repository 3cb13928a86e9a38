"""How many processes run the tests where `-n auto` asks for as many as there should be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

WORKER = 2 * 2**30
"""Bytes that a process comes to need at its end: compiled code stays in it."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One for each processor that may be used, if the memory is enough for that."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, available() // WORKER))


def available() -> int:
    """Bytes of memory that programs may still take, as far as the system tells."""
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return WORKER * (os.cpu_count() or 1)
