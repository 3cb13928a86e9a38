"""Functions with branches and loops, gone through statement by statement, mean what they mean in Python."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from liegroup.compile import (
    entry,
    function,
    function_at,
    helper,
    integer,
    integers,
    kernel,
    ld,
    mark,
    matrix,
    nothing,
    real,
    select,
    st,
    vector,
)
from liegroup.compile.flow import Flow
from liegroup.compile.reading import read
from liegroup.compile.shared import SharedTable
from liegroup.compile.ways import NotPlainError

PRIMES = np.array([2, 3, 5, 7, 11])
SHARED = SharedTable("test_flow", 3)
SQUARE = function(real, real)
at_square = function_at(SQUARE)


class Pair(NamedTuple):
    """Two numbers by name."""

    first: Any
    second: Any


@helper
def bounded(x: Any, least: Any = -1.0, most: Any = 1.0) -> Any:
    """A formula with names that are left out."""
    if x < least:
        return least
    return most if x > most else x


@helper
def of_table(k: Any) -> Any:
    """A number that is read, even if its place is a constant."""
    return SHARED[k]


@kernel
def halved(n: Any) -> Any:
    """How often a number can be halved, and what is left: a pair."""
    times = 0
    while n % 2 == 0 and n != 0:
        n = n // 2
        times += 1
    return Pair(times, n)


@entry(nothing(integer, integer, vector))
def ways(n: int, k: int, out: Any) -> None:
    """Branches, and values that are one or another."""
    x = 1
    if n > 0:
        x = n
        y = 2.5
    elif n == 0:
        y = k
    else:
        x, y = -n, 0.5 * k
    out[0], out[1] = x, y
    out[2] = 1.0 if n < k < 3 else -1.0 if n == k else 0.0
    out[3] = (n and k) + (n or k)
    if not (n > 1 or k > 1) and n != k:
        out[4] = 1.0
    out[5] = 1.0 if n in (1, 2) or k not in (0, 1) else 0.0
    ready = n > 0 and k > 0
    out[6] = 2.0 if ready else 3.0
    if n:
        if k:
            return
        out[7] = 1.0
    out[8] = 1.0


@entry(nothing(integer, integer, vector))
def rounds(n: int, k: int, out: Any) -> None:
    """Loops in loops, with ends in between; what is an integer at first and a real number later."""
    total, found = 0, -1
    for i in range(n):
        if i == k:
            continue
        for j in range(i, n, 2):
            if j > 5:
                break
            total += i * j
        else_ = total
        if total > 100:
            found = i
            break
        total = else_ + 0.5
    out[0], out[1] = total, found
    pair, swaps = (n, 0.25 * k), 0
    while pair[0] > pair[1]:
        pair = pair[0] - 1, pair[1] + 1.5
        swaps += 1
    out[2], out[3], out[4] = pair[0], pair[1], swaps
    i = -7
    for i in range(k):
        if i > 3:
            break
    out[5] = i
    while True:
        n -= 1
        if n < k:
            break
        if n % 3 == 0:
            continue
        out[6] += n
    pairs = halved(48 + n)
    out[7], out[8] = Pair(*pairs).first, (*pairs, *pairs)[3]


@entry(real(integer, integer))
def returning(n: int, k: int) -> float:
    """A way out of two loops."""
    for i in range(n):
        for j in range(n):
            if i * j > k:
                return 10.0 * i + j
    return -1


@entry(nothing(vector, integers, integer, vector))
def arrays(a: Any, whole: Any, k: int, out: Any) -> None:
    """Entries, views, tables, and the bits of integers."""
    b = a[1:]
    out[0], out[1] = b[k], a[-1]
    out[2] = a[k : k + 2][0] + a[:-1].shape[0]
    out[3] = PRIMES[k] * SHARED[k % 3]
    out[4] = whole.view(np.float64)[k]
    a[k] += 0.5
    whole[k] *= 2
    n = 0
    for x in range(min(k, 3), max(k, 3)):
        n += len((x, n)) + abs(-x)
    out[5], out[6] = n, int(a[0]) + float(k)
    out[7] = bounded(a[0], most=0.25) + bounded(a[1], -3.0)
    out[8] = of_table(2)


@entry(real(real))
def square(x: float) -> float:
    """What is called by its address."""
    return x * x


@entry(real(integer, real))
def by_address(address: int, x: float) -> float:
    """Calls of functions that are arguments."""
    f = at_square(address)
    return f(x) + f(2) if x > 0.0 else f(x)


@helper
def applied(f: Any, x: Any) -> Any:
    """A formula of a formula."""
    return f(x) if x > 0.0 else f(-x)


@helper
def doubled(x: Any) -> Any:
    """What is passed on."""
    return 2.0 * x


def _made(by: float) -> Any:
    @helper
    def lower(x: Any) -> Any:
        return x - by if x > by else by

    return lower


LOWERED = _made(3.0)


@entry(real(real))
def of_a_closure(x: float) -> float:
    """What another function holds is known."""
    return LOWERED(x)


@entry(real(vector))
def refused(a: Any) -> float:
    """An exception: left to the compiler."""
    if a[0] > 1.0:
        raise ValueError("too large")
    return a[0]


@pytest.fixture
def gone_through(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of functions that have been gone through, none of which are in the cache."""
    names: list[str] = []
    original = Flow.write

    def noted(self: Any, *args: Any) -> None:
        names.append(self._function.__name__)
        original(self, *args)

    monkeypatch.setattr(Flow, "write", noted)
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    return names


@pytest.mark.parametrize(("function", "size"), [(ways, 9), (rounds, 9)])
def test_branches_and_loops_are_those_of_python(function: Any, size: int, gone_through: list[str]) -> None:
    for n, k in itertools.product(range(-3, 12), range(-3, 8)):
        found, expected = np.zeros(size), np.zeros(size)
        function(n, k, found)
        function.python(n, k, expected)
        assert found.tolist() == expected.tolist(), (n, k)
    assert function.__name__ in gone_through


def test_ways_out_are_those_of_python(gone_through: list[str]) -> None:
    for n, k in itertools.product(range(-1, 7), range(-2, 30, 3)):
        assert returning(n, k) == returning.python(n, k)
    assert gone_through == ["returning"]


def test_arrays_are_those_of_python(gone_through: list[str]) -> None:
    for k in range(3):
        SHARED[k] = 10 + k
    for k in range(4):
        given = [(np.linspace(-2.0, 3.0, 6), np.arange(1, 7), np.zeros(9)) for _ in range(2)]
        arrays(*given[0][:2], k, given[0][2])
        arrays.python(*given[1][:2], k, given[1][2])
        for x, y in zip(*given, strict=True):
            assert x.tobytes() == y.tobytes(), k
    SHARED[1], SHARED[2] = 100, 200  # known to code that has been compiled before
    out = np.zeros(9)
    arrays(np.zeros(6), np.arange(6), 1, out)
    assert (out[3], out[8]) == (300.0, 200.0)
    assert {"arrays", "bounded"} <= {*gone_through}


def test_functions_are_called_by_address_and_passed_on(gone_through: list[str]) -> None:
    assert [by_address(square.address, x) for x in (3.0, -3.0)] == [13.0, 9.0]
    assert [of_a_closure(x) for x in (5.0, 1.0)] == [2.0, 3.0]
    assert {"by_address", "square", "of_a_closure", "lower"} <= {*gone_through}


def test_formulas_are_arguments_of_formulas() -> None:
    @entry(real(real))
    def twice(x: Any) -> Any:
        return applied(doubled, x)

    assert [twice(x) for x in (3.0, -3.0)] == [6.0, 6.0]


def test_what_is_not_plain_is_left_to_the_compiler(gone_through: list[str]) -> None:
    assert refused(np.array([0.5])) == 0.5
    with pytest.raises(ValueError, match="too large"):
        refused(np.array([2.0]))
    assert gone_through == []


@pytest.mark.parametrize("stage", ["__init__", "write"])
def test_where_nothing_comes_of_it_the_compiler_goes_its_own_way(
    stage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of every second function, so that those of both kinds call each other."""
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    original, count = getattr(Flow, stage), itertools.count()

    def fails(self: Any, *args: Any) -> None:
        original(self, *args)
        if next(count) % 2 == 0:
            raise TypeError("on purpose")

    monkeypatch.setattr(Flow, stage, fails)

    @kernel
    def inner(x: Any, n: Any) -> Any:
        for i in range(n):
            x = bounded(x, most=2.0) * select(x > i, 1.5, 1.0)
        return x

    @entry(nothing(vector, integer, vector))
    def outer(a: Any, n: Any, out: Any) -> None:
        for i in range(a.shape[0]):
            st(out, i, inner(ld(a, i), n) + bounded(ld(a, i)))

    a, found, expected = np.linspace(-3.0, 3.0, 7), np.zeros(7), np.zeros(7)
    outer(a, 3, found)
    outer.python(a, 3, expected)
    assert found.tobytes() == expected.tobytes()
    assert next(count) > 1


def _module(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("old", "new"), [("0.0", "0"), ("x + 1", "x + 2"), ("x > 0", "y > 0"), ("x + 1", "x - 1")])
def test_a_source_that_has_been_edited_is_not_taken(old: str, new: str, tmp_path: Path) -> None:
    text = "def f(x, y):\n    if x > 0:\n        return x + 1\n    return 0.0\n"
    path = tmp_path / f"edited_{abs(hash((old, new)))}.py"
    f = _module(path, text).f
    assert read(f) is not None
    path.write_text(text.replace(old, new))
    assert read(f) is None
    with pytest.raises(NotPlainError):
        Flow(f, (), None)


with_sign, has_sign = mark("signed")


@helper
def size(a: Any) -> Any:
    """The first number, or its absolute value where nothing is known."""
    if has_sign(a):
        return a[0]
    return a[0] if a[0] > 0.0 else -a[0]


@entry(real(vector, integer))
def sizes(a: Any, n: int) -> float:
    """With a mark and without, through views and calls."""
    if n > 0:
        return size(with_sign(a)) + second(with_sign(a), n)
    return size(a) + second(a, n)


@kernel
def second(a: Any, n: Any) -> Any:
    """A kernel of an array with a mark; views have none."""
    return size(a) + size(a[1:]) if n < 2 else 0.0


def test_a_mark_is_known_while_functions_are_compiled() -> None:
    a = np.array([-1.0, -2.0])
    assert (sizes(a, 1), sizes(a, 2), sizes(a, 0)) == (0.0, -1.0, 4.0)
    assert (has_sign(a), with_sign(a)) == (False, a)


@entry(nothing(matrix, integer))
def counted(a: Any, step: int) -> None:
    """A range whose step is known when it begins."""
    for i in range(0, a.shape[0], step):
        a[i, 0] = i


def test_a_range_has_to_go_on(gone_through: list[str]) -> None:
    a = np.full((5, 1), -1.0)
    counted(a, 2)
    assert a[:, 0].tolist() == [0.0, -1.0, 2.0, -1.0, 4.0]
    with pytest.raises(ValueError, match="must not be zero"):
        counted(a, 0)
    assert gone_through == ["counted"]


def test_most_of_a_step_is_gone_through(gone_through: list[str], compiled: list[str]) -> None:
    """Nothing that an implicit step on a tree consists of is left to the compiler."""
    from integrators.steppers.implicit import step

    fresh = entry(*step._signatures[:1])(step.python)
    assert fresh.compiled.overloads
    assert sorted(gone_through) == sorted(compiled) != []
