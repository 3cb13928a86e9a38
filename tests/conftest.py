"""How many processes run the tests where `-n auto` asks for as many as there should be, which files come first, and
scripts that begin at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

LOADED = ("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.integrate", "matplotlib.pyplot", "h5py")
"""What scripts find loaded; nothing of the project, so that a script has to import what it uses of it."""

SECONDS = 3600
"""What a script may take."""
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


class Scripts:
    """Runs Python files in processes of their own, each forked, where processes are, from one that has loaded what most
    of them would spend their time on.
    """

    def __init__(self, folder: Path) -> None:
        self.out, self.err = folder / "out", folder / "err"
        self.parent: subprocess.Popen[str] | None = None

    def __call__(
        self, path: Path, *arguments: object, folder: Path, environment: Mapping[str, str], anew: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run a file; `anew`: in a process that loads everything itself."""
        command = [sys.executable, str(path), *map(str, arguments)]
        if anew or not hasattr(os, "fork"):
            return subprocess.run(
                command, cwd=folder, env=environment, timeout=SECONDS, capture_output=True, text=True, check=False
            )
        self.parent = self.parent or self.started()
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        order = [command[1:], str(folder), dict(environment), SECONDS, str(self.out), str(self.err)]
        print(json.dumps(order), file=self.parent.stdin, flush=True)
        code = int(self.parent.stdout.readline())
        return subprocess.CompletedProcess(command, code, self.out.read_text(), self.err.read_text())

    def started(self) -> subprocess.Popen[str]:
        root = Path(__file__).resolve().parents[1]
        parent = subprocess.Popen(
            [sys.executable, str(root / "tests" / "at_once.py"), *LOADED],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": str(root), "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"},  # threads are not forked
            text=True,
        )
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        return parent

    def close(self) -> None:
        if self.parent:
            self.parent.communicate()


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scripts]:
    """Runs a Python file in a process of its own: ``script(path, *arguments, folder=…, environment=…)``."""
    scripts = Scripts(tmp_path_factory.mktemp("script"))
    yield scripts
    scripts.close()
