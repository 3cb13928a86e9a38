"""Straight-line formulas are written into what calls them; what needs to know a value is compiled by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from liegroup.compile import (
    entry,
    helper,
    kernel,
    lane_array,
    lane_vector,
    ld,
    nothing,
    real,
    select,
    sqrt,
    st,
    straight_line,
    vector,
)
from liegroup.compile.scalars import horner, sincos
from liegroup.compile.stages import KernelCompiler
from liegroup.compile.straight import LONGEST

COEFFICIENTS = 0.3, -0.7, 1.0 / 3.0, 0.2


class Pair(NamedTuple):
    """Two numbers by name."""

    first: Any
    second: Any


@helper
def pair(x: Any, factor: Any = 2) -> Any:
    """A formula with a name that is left out."""
    return Pair(x, factor * x)


@helper
def product(a: Any, b: Any) -> Any:
    """Tuples, parts of tuples, loops of known length."""
    s, c = sincos(b[0])
    total = horner(COEFFICIENTS, a[0]) - 1 / b[1]
    for k in range(len(a)):
        total = total + a[k] * b[k]
    return s * total, -c, *a[1:]


@helper
def mixed(x: Any, y: Any) -> Any:
    """Formulas of formulas, with names."""
    p = pair(x, factor=3)
    q = pair(y)
    return product((p.first, p.second), (q.second, abs(q.first)))


@helper
def bounded(x: Any, y: Any) -> Any:
    """A formula of one that must know a value."""
    return clipped(x) + sqrt(absolute_sum(x, y))


@helper
def clipped(x: Any) -> Any:
    """A choice between values."""
    return 1.0 if x > 1.0 else x


@helper
def absolute_sum(x: Any, y: Any) -> Any:
    """Both sides of a choice."""
    return select(x < 0.0, -x, x) + y * y


@helper
def first_two(y: Any) -> Any:
    """Components of a state."""
    return ld(y, 0), ld(y, 1)


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def straight(y: Any, out: Any) -> None:
    """What is a straight line for numbers and lanes."""
    x, z = first_two(y)
    u, v, w = mixed_of(x, z)
    st(out, 0, u)
    st(out, 1, v)
    st(out, 2, w)


@helper
def mixed_of(x: Any, z: Any) -> Any:
    """Formulas without an absolute value, which lanes have by another name."""
    p, q = pair(x, factor=3), pair(z)
    return product((p.first, p.second), (q.second, q.first))


@entry(real(real, real))
def with_names(x: float, y: float) -> float:
    """Formulas of numbers."""
    u, v, w = mixed(x, y)
    return u + v * w


@entry(real(real, real))
def with_choice(x: float, y: float) -> float:
    """A formula that is no straight line."""
    return bounded(x, y)


@kernel
def turned(x: Any) -> Any:
    """A kernel, which long lines call."""
    return sincos(x)


@straight_line
def long_line(y: Any, out: Any) -> Any:
    """More operations than a helper may have."""
    a, b = ld(y, 0), ld(y, 1)
    for _ in range(LONGEST // 4):
        s, c = turned(a)
        a, b = a + 0.1 * b * c, b - 0.1 * a * s
    st(out, 0, a)
    return b, (a, 0.5)


@straight_line
def no_line(y: Any, out: Any) -> Any:
    """A choice after all."""
    if ld(y, 0) > 0.0:
        st(out, 0, 1.0)


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def long_lines(y: Any, out: Any) -> None:
    """A long line, and what comes after it."""
    b, (a, half) = long_line(y, out)
    st(out, 1, a * half)
    st(out, 2, b)


@entry(nothing(vector, vector))
def with_no_line(y: Any, out: Any) -> None:
    """A choice in what was said to be a line."""
    no_line(y, out)


POINTS = np.random.default_rng(3).normal(size=(8, 2))


def test_numbers_lanes_and_python_agree_bitwise() -> None:
    expected = np.array([mixed_of(x, z) for x, z in POINTS])
    found, lanes, out = np.zeros_like(expected), lane_array(2), lane_array(3)
    lanes[:] = POINTS.T
    for y, row in zip(POINTS, found, strict=True):
        straight(y, row)
    straight(lanes, out)
    assert found.tobytes() == expected.tobytes() == np.ascontiguousarray(out.T).tobytes()


def test_long_lines_are_not_compiled_one_by_one(compiled: list[str]) -> None:
    found, expected, lanes, out = np.zeros((8, 3)), np.zeros((8, 3)), lane_array(2), lane_array(3)
    lanes[:] = POINTS.T
    for y, row, python in zip(POINTS, found, expected, strict=True):
        long_lines(y, row)
        long_lines.python(y, python)
    long_lines(lanes, out)
    assert found.tobytes() == expected.tobytes() == np.ascontiguousarray(out.T).tobytes()
    assert "long_line" not in compiled
    out = np.zeros(1)
    with_no_line(POINTS[0] ** 2, out)
    assert out[0] == 1.0


@pytest.mark.parametrize("function", [with_names, with_choice])
def test_formulas_mean_what_they_mean_in_python(function: Any) -> None:
    for x, y in POINTS:
        assert function(x, y) == function.python(x, y)


def test_only_what_needs_a_value_is_compiled_by_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled: list[str] = []
    original = KernelCompiler._compile_bytecode

    def noted(self: Any) -> Any:
        compiled.append(self.state.func_id.func_name)
        return original(self)

    @helper
    def doubled(x: Any) -> Any:
        return x + x

    @helper
    def smaller(x: Any) -> Any:
        return x if x < 1.0 else doubled(x)

    @entry(real(real))
    def outer(x: Any) -> Any:
        return doubled(x) * smaller(doubled(x))

    monkeypatch.setattr(KernelCompiler, "_compile_bytecode", noted)
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    assert outer(1.5) == 18.0
    assert sorted(compiled) == ["outer", "smaller"]


def test_names_that_are_left_out_keep_what_follows() -> None:
    @helper
    def weighed(x: Any, first: Any = 1.0, second: Any = 2.0) -> Any:
        return x + 10.0 * first + 100.0 * second

    @helper
    def named(x: Any) -> Any:
        return weighed(x, second=3.0)

    @entry(real(real))
    def outer(x: Any) -> Any:
        return named(x)

    assert outer(0.5) == outer.python(0.5) == 310.5
