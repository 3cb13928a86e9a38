"""How many processes run the tests where `-n auto` asks for as many as there should be, which files each of them takes,
and scripts that begin at once.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""As many processes as processors are testing: threads within them would wait for each other, and not idly.  Said
before NumPy is loaded, here and in what is started from here.
"""
READS_MJCF = sys.platform == "linux" and find_spec("mujoco") is not None
"""Whether scripts find MuJoCo loaded; what it loads elsewhere is not made to be forked."""
LOADED = (
    *("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.integrate", "matplotlib.pyplot", "h5py"),
    *(("mujoco",) if READS_MJCF else ()),
)
"""What scripts find loaded; nothing of the project, so that a script has to import what it uses of it."""

SECONDS = 3600
"""What a script may take."""
WORKER = 2 * 2**30
"""Bytes that a process comes to need at its end: compiled code stays in it."""


UNTIL = float(os.environ.get("LIEMECH_SLOW_TESTS_UNTIL", "inf"))
"""Seconds since 1970 after which no slow test begins: on a processor that others keep busy, what has passed is better
than a run that is cut off.
"""

LONG = Path(__file__).parent / "reliability"
"""Its files have few tests of minutes each; begun last, one of them would keep a single process busy at the end."""


def pytest_configure(config: pytest.Config) -> None:
    """Processes take files as they are ordered here, not those with the most tests first."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """While tests are collected nobody looks for garbage, and later not in what stays to the end: modules and ten
    thousand tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; of tests for one method of each family, those of the others are slow."""
    items.sort(key=lambda item: not item.path.is_relative_to(LONG))
    seen: set[tuple[object, ...]] = set()
    for item in items:
        if item.get_closest_marker("one_per_family"):
            case = family_case(item)
            if case in seen:
                item.add_marker("slow")
            seen.add(case)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("slow") and time.time() > UNTIL:
        pytest.skip("not run: no slow test begins after LIEMECH_SLOW_TESTS_UNTIL")


def family_case(item: Any) -> tuple[object, ...]:
    """A test, what it is given besides the method, and of the method its family and what is claimed of it."""
    from integrators.methods import find

    given = dict(item.callspec.params)
    method = find(given.pop("name"))
    return item.path, item.originalname, *given.items(), method.family, method.claims


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One for each processor that may be used, if the memory is enough for that."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, available() // WORKER))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadfile``: processes that go through the files in order, each a stretch of its own.

    Files of a folder compile the same kernels and load the same peers: side by side in two processes, both would.
    """
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Stretches(LoadFileScheduling):  # type: ignore[misc]
        def remove_node(self, node: Any) -> Any:
            """Of a process that ended, what it has done is not for others: a file without tests left gives them nothing
            to report, and nobody asks for the next.
            """
            done = [name for name, tests in self.assigned_work[node].items() if all(tests.values())]
            for name in done:
                del self.assigned_work[node][name]
            return super().remove_node(node)

        def schedule(self) -> None:
            """A process runs a test once it knows the next: one that replaces another gets two files, too."""
            super().schedule()
            for node in self.nodes:
                self._reschedule(node)

        def _assign_work_unit(self, node: Any) -> None:
            names = list(dict.fromkeys(self._split_scope(test) for test in self.collection))
            last = {other: names.index(next(reversed(done))) for other, done in self.assigned_work.items() if done}
            taken = taken_next([names.index(name) for name in self.workqueue], last.get(node), set(last.values()))
            self.workqueue.move_to_end(names[taken], last=False)
            super()._assign_work_unit(node)

    return Stretches(config, log)


def taken_next(left: Iterable[int], before: int | None, last: Collection[int]) -> int:
    """The file for a process that has taken file `before`: the one behind it; else, in the longest stretch that is
    left, the first, or the one in the middle if another process is coming from the front.  `last`: what each has taken.
    """
    stretches: list[list[int]] = []
    for k in sorted(left):
        if stretches and k == stretches[-1][-1] + 1:
            stretches[-1].append(k)
        else:
            stretches.append([k])
    if before is not None and any(before + 1 == stretch[0] for stretch in stretches):
        return before + 1
    longest = max(stretches, key=len)
    return longest[len(longest) // 2 if longest[0] - 1 in last else 0]


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
        self.given, self.out, self.err = folder / "in", folder / "out", folder / "err"
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
        code = self.forked(command[1:], folder, environment)
        return subprocess.CompletedProcess(command, code, self.out.read_text(), self.err.read_text())

    def forked(self, command: list[str], folder: Path, environment: Mapping[str, str], given: bytes = b"") -> int:
        """How a file ended that reads `given`; what it printed is in `out` and `err`."""
        self.parent = self.parent or self.started()
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        self.given.write_bytes(given)
        files = [str(file) for file in (self.given, self.out, self.err)]
        order = [command, str(folder), dict(environment), SECONDS, *files]
        print(json.dumps(order), file=self.parent.stdin, flush=True)
        return int(self.parent.stdout.readline())

    def compiler(self, command: list[str], *, input: bytes, **_: object) -> subprocess.CompletedProcess[bytes]:
        """`subprocess.run` for the compiler of MJCF files."""
        code = self.forked(command[2:], Path.cwd(), os.environ, input)
        return subprocess.CompletedProcess(command, code, self.out.read_bytes(), self.err.read_bytes())

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


@pytest.fixture(scope="module", autouse=True)
def given_back() -> Iterator[None]:
    """What the tests of a file were compiled with goes back to the system: compilers leave holes of a hundred megabytes
    behind, and JAX keeps what it has compiled.
    """
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


@pytest.fixture(scope="module", autouse=True)
def mjcf_at_once(script: Scripts) -> Iterator[None]:
    """MJCF files are compiled in processes forked from one that has loaded MuJoCo: that is what takes the time."""
    if "mechanics" not in sys.modules or not READS_MJCF:
        yield
        return
    from mechanics.adapters import mjcf_model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mjcf_model, "subprocess", SimpleNamespace(**vars(subprocess) | {"run": script.compiler}))
        yield
