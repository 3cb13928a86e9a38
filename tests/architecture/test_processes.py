"""`-n auto` takes as many processes as the memory is enough for."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"


def conftest() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conftest_of_all", CONFTEST)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("free", "processors", "expected"),
    [(64, 8, 8), (9, 8, 4), (3, 8, 1), (0.5, 8, 1), (64, 1, 1), (None, 3, 3)],
)
def test_processes_fit_into_the_memory(
    free: float | None, processors: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GiB free by a made-up account of the system's; where there is none, one process for each processor."""
    module, read = conftest(), Path.read_text

    def made_up(path: Path, *arguments: object, **named: object) -> str:
        if str(path) != "/proc/meminfo":
            return read(path, *arguments, **named)  # type: ignore[arg-type]
        if free is None:
            raise FileNotFoundError(path)
        return f"MemTotal:  99999999 kB\nMemAvailable:   {int(free * 2**20)} kB\nHugePages_Total:  0\n"

    monkeypatch.setattr(Path, "read_text", made_up)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(processors)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert module.WORKER == 2 * 2**30
    if free is not None:
        assert module.available() == int(free * 2**20) * 1024
    assert module.pytest_xdist_auto_num_workers() == expected
