"""A run is resumed with the model it was begun with: whatever a function reaches is noticed, or asked for."""

from __future__ import annotations

import abc
import enum
import sys
import threading
import types
from dataclasses import dataclass, field
from functools import cached_property, partial

import numba
import numpy as np
import pytest

from integrators import Problem, integrate, resume
from integrators.engine.checkpoint import function_fingerprint, problem_fingerprint
from integrators.events import Event
from integrators.problem import lagrangian_problem
from integrators.results.storage import StorageError
from liegroup.table import RN, table_of
from mechanics.systems import SYSTEMS

LINE = table_of([(RN, 1)])
K = 1.0
NUMBERS = {"k": 1.0, "more": {"l": [1.0, 2.0]}}
ARRAY = np.ones(3)
LOCK = threading.Lock()


def by_global(t, y):
    return -K * y


def by_dictionary(t, y):
    return -NUMBERS["k"] * NUMBERS["more"]["l"][0] * y


def by_array(t, y):
    return -ARRAY[0] * y


def called(y):
    return by_global(0.0, y)


def by_called_function(t, y):
    return called(y)


def within(t, y):
    return (lambda z: -K * z)(y)


def by_default(t, y, k=[1.0]):  # noqa: B006
    return -k[0] * y


class Spring:
    rate = 1.0

    def __init__(self, k):
        self.k = k

    def force(self, t, y):
        return -self.k * self.rate * y

    def __call__(self, t, y):
        return self.force(t, y)

    @cached_property
    def kept(self):
        return 3.0


SPRING = Spring(1.0)


def by_object(t, y):
    return SPRING(t, y)


def locked(t, y):
    with LOCK:
        return -y


def enclosing(k):
    def spring(t, y):
        return -k["k"] * y

    return spring


@pytest.fixture
def changes(monkeypatch):
    """By name: a function (or what has one), and what changes it."""
    module = types.ModuleType("numbers_of_mine")
    module.k = 1.0
    monkeypatch.setitem(sys.modules, "numbers_of_mine", module)
    space = {"numbers_of_mine": module}
    exec("def by_module(t, y):\n    return -numbers_of_mine.k * y", space)
    enclosed, spring = {"k": 1.0}, Spring(1.0)
    here = sys.modules[__name__]
    return {
        "global": (by_global, lambda: monkeypatch.setattr(here, "K", 2.0)),
        "global of a called function": (by_called_function, lambda: monkeypatch.setattr(here, "K", 2.0)),
        "global within a lambda": (within, lambda: monkeypatch.setattr(here, "K", 2.0)),
        "dictionary": (by_dictionary, lambda: monkeypatch.setitem(NUMBERS, "k", 2.0)),
        "nested list": (by_dictionary, lambda: monkeypatch.setitem(NUMBERS, "more", {"l": [2.0, 2.0]})),
        "array": (by_array, lambda: monkeypatch.setattr(here, "ARRAY", 2 * ARRAY)),
        "closure": (enclosing(enclosed), lambda: enclosed.update(k=2.0)),
        "object of a bound method": (spring.force, lambda: setattr(spring, "k", 2.0)),
        "callable object": (spring, lambda: setattr(spring, "k", 2.0)),
        "global object": (by_object, lambda: monkeypatch.setattr(SPRING, "k", 2.0)),
        "attribute of a class": (by_object, lambda: monkeypatch.setattr(Spring, "rate", 2.0)),
        "method of a class": (by_object, lambda: monkeypatch.setattr(Spring, "force", lambda self, t, y: y)),
        "default": (by_default, lambda: monkeypatch.setattr(by_default, "__defaults__", ([2.0],))),
        "partial": (partial(by_keyword, k=enclosed), lambda: enclosed.update(k=2.0)),
        "module": (space["by_module"], lambda: setattr(module, "k", 2.0)),
        "jitted": (numba.njit(by_global), lambda: monkeypatch.setattr(here, "K", 2.0)),
        "called function": (by_called_function, lambda: monkeypatch.setattr(here, "called", lambda y: y)),
    }


def by_keyword(t, y, *, k):
    return -k["k"] * y


NAMES = (
    "global", "global of a called function", "global within a lambda", "dictionary", "nested list", "array", "closure",
    "object of a bound method", "callable object", "global object", "attribute of a class", "method of a class",
    "default", "partial", "module", "jitted", "called function",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_a_function_reaches_belongs_to_it(changes, name):
    function, change = changes[name]
    before = function_fingerprint(function)
    assert function_fingerprint(function) == before
    change()
    assert function_fingerprint(function) != before


@pytest.mark.parametrize("name", ["global of a called function", "dictionary", "closure", "object of a bound method"])
def test_a_run_of_a_changed_model_is_not_resumed(tmp_path, changes, name):
    function, change = changes[name]
    problem, path = Problem(LINE, [1.0], function), tmp_path / "run.check"
    whole = integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path)
    assert np.array_equal(resume(path, problem).y, whole.y)
    change()
    with pytest.raises(StorageError, match="has other field"):
        resume(path, problem)
    resume(path, problem, unchecked=["field"])


def test_the_message_names_what_has_changed(tmp_path, monkeypatch):
    problem, path = Problem(LINE, [1.0], by_called_function), tmp_path / "run.check"
    integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path)
    monkeypatch.setattr(sys.modules[__name__], "K", 2.0)
    with pytest.raises(StorageError, match="'K' of by_global"):
        resume(path, problem)


def test_changed_invariants_and_events_are_noticed(tmp_path, monkeypatch):
    path = tmp_path / "run.check"
    problem = Problem(LINE, [1.0], by_array, invariants={"a": lambda t, y: K * y[0]})
    events = {"half": Event(lambda t, y: y[0] - 0.5 * ARRAY[0])}
    integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path, events=events)
    resume(path, problem, events=events)
    with pytest.raises(StorageError, match="other events"):
        resume(path, problem, events={"half": Event(lambda t, y: y[0] - 0.25)})
    monkeypatch.setattr(sys.modules[__name__], "K", 2.0)
    with pytest.raises(StorageError, match="other invariants"):
        resume(path, problem, events=events)


def test_what_cannot_be_told_is_said_and_asked_for(tmp_path):
    problem, path = Problem(LINE, [1.0], locked), tmp_path / "run.check"
    with pytest.warns(RuntimeWarning, match=r"global 'LOCK' of locked \(an object of type _thread.lock\)"):
        whole = integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path)
    with pytest.raises(StorageError, match=r"unchecked=.*LOCK"):
        resume(path, problem)
    assert np.array_equal(resume(path, problem, unchecked=["field: global 'LOCK' of locked"]).y, whole.y)


def test_what_a_run_changes_itself_can_be_left_out(tmp_path):
    calls = [0]

    def counted(t, y):
        calls[0] += 1
        return -y

    problem, path = Problem(LINE, [1.0], counted), tmp_path / "run.check"
    integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path)
    with pytest.raises(StorageError, match="'calls' enclosed by"):
        resume(path, problem)
    resume(path, problem, unchecked=["field: 'calls'"])


@dataclass
class Loop:
    name: str
    other: list = field(default_factory=list)


def test_objects_that_contain_themselves_and_what_is_kept_do_not_count():
    a = Loop("a")
    a.other.append(a)
    before = function_fingerprint(partial(by_keyword, k=a))
    assert before == function_fingerprint(partial(by_keyword, k=a))
    spring = Spring(1.0)
    before = function_fingerprint(spring.force)
    assert spring.kept == 3.0
    assert function_fingerprint(spring.force) == before


class Kind(enum.Enum):
    SOFT, HARD = "soft", "hard"


class Law(abc.ABC):
    @abc.abstractmethod
    def __call__(self, t, y): ...


@dataclass(frozen=True, slots=True)
class Linear(Law):
    k: float
    kind: Kind = Kind.SOFT

    def __call__(self, t, y):
        return -self.k * y


def test_classes_of_all_kinds_are_followed():
    digests = {function_fingerprint(Linear(k, kind)) for k in (1.0, 2.0) for kind in Kind for _ in range(2)}
    assert len(digests) == 4
    found = problem_fingerprint(Problem(LINE, [1.0], Linear(1.0)))
    assert not found.unknown


def swinging(t, q, v, p):
    return 0.5 * v[0] ** 2 + K * np.cos(q[0])


def test_problems_made_of_functions_are_known_by_them(monkeypatch):
    def digests():
        return problem_fingerprint(lagrangian_problem(swinging, q=[2.0])).places

    before = digests()
    assert digests() == before
    monkeypatch.setattr(sys.modules[__name__], "K", 2.0)
    assert digests() != before


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_a_fingerprint_that_says_all(name):
    found = problem_fingerprint(SYSTEMS[name].problem())
    assert not found.unknown
    assert problem_fingerprint(SYSTEMS[name].problem()).places == found.places
