"""SciPy marks its tests in ways of its own."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for mark in ("fail_slow(seconds)", "thread_unsafe"):
        config.addinivalue_line("markers", f"{mark}: a mark of SciPy's tests")
