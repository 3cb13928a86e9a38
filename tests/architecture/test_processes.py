"""`-n auto` takes as many processes as the memory is enough for; each goes through a stretch of the files in order."""

import importlib.util
import itertools
import os
from pathlib import Path
from types import ModuleType, SimpleNamespace

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


@pytest.mark.parametrize(("processes", "neighbours"), [(1, 11), (2, 10), (3, 7)])
def test_each_process_goes_through_files_in_order(processes: int, neighbours: int) -> None:
    """By turns: every file once, and mostly the one behind that before it."""
    left, taken = set(range(12)), [list[int]() for _ in range(processes)]
    while left:
        for own in taken[: len(left)]:
            last = {files[-1] for files in taken if files}
            own.append(conftest().taken_next(left, own[-1] if own else None, last))
            left.remove(own[-1])
    assert sorted(k for files in taken for k in files) == list(range(12))
    assert sum(b == a + 1 for files in taken for a, b in itertools.pairwise(files)) >= neighbours
    if processes == 2:
        assert taken == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


def test_who_is_done_takes_the_second_half_of_what_another_has_before_it() -> None:
    assert conftest().taken_next(range(3, 9), 11, {2, 11}) == 6
    assert conftest().taken_next(range(3, 9), 2, {2, 11}) == 3
    assert conftest().taken_next([8], 11, {7, 11}) == 8


class Process:
    """What the scheduler sees of one: it runs a test once it knows the next, or that there is none."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, tests: list[int]) -> None:
        self.given += tests

    def shutdown(self) -> None:
        self.shutting_down = True


def test_a_process_in_the_place_of_one_that_ended_runs_what_that_had_left() -> None:
    """Files of one test each: the first process does three and ends within the fourth."""
    pytest.importorskip("xdist")
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(option=option, getoption={"dist": "loadfile"}.get, getvalue={"tx": ["popen"]}.get)
    log = SimpleNamespace(**dict.fromkeys(("loadscopesched", "loadfilesched"), lambda *said: None))
    scheduler = conftest().pytest_xdist_make_scheduler(config, log)
    tests = [f"tests/test_{k}.py::test" for k in range(8)]

    def begin() -> Process:
        process = Process()
        scheduler.add_node(process)
        scheduler.add_node_collection(process, tests)
        scheduler.schedule()
        return process

    def go_on(process: Process, ran: list[int]) -> None:
        assert len(process.given) > 1 or process.shutting_down
        ran.append(process.given.pop(0))
        scheduler.mark_test_complete(process, ran[-1])

    ran: list[int] = []
    first = begin()
    for _ in range(3):
        go_on(first, ran)
    assert scheduler.remove_node(first) == tests[3]
    second = begin()
    while second.given:
        go_on(second, ran)
    assert ran == list(range(8))
    assert scheduler.tests_finished


def test_one_method_of_each_family_and_with_each_claim_is_in_the_default(tmp_path: Path) -> None:
    slow: list[str] = []

    def item(name: str, group: str) -> SimpleNamespace:
        given = SimpleNamespace(params={"name": name, "group": group})
        return SimpleNamespace(
            path=tmp_path,
            originalname="test",
            callspec=given,
            get_closest_marker=lambda mark: mark == "one_per_family",
            add_marker=lambda mark: slow.append(f"{name} {group} {mark}"),
        )

    names = ("RKMK4", "RKMK_GAUSS2", "RKMK_RK4_38", "RKMK_RADAU_IIA3", "RKMK_GAUSS3", "MIDPOINT")
    conftest().pytest_collection_modifyitems([item(name, group) for name in names for group in ("SO3", "SE3")])
    assert slow == [f"{name} {group} slow" for name in ("RKMK_RK4_38", "RKMK_GAUSS3") for group in ("SO3", "SE3")]
