"""How many processes run the tests where `-n auto` asks for as many as there should be, and which files come first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

WORKER = 2 * 2**30
"""Bytes that a process comes to need at its end: compiled code stays in it."""


LONG = Path(__file__).parent / "reliability"
"""Its files have few tests of minutes each; begun last, one of them would keep a single process busy at the end."""


def pytest_configure(config: pytest.Config) -> None:
    """Processes take files as they are ordered here, not those with the most tests first."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first."""
    items.sort(key=lambda item: not item.path.is_relative_to(LONG))


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
