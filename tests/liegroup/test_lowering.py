"""Entries and views of arrays, and loops over ranges, as kernels take them: as NumPy and Python do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from liegroup.compile import (
    ALIGNMENT,
    entry,
    helper,
    integer,
    integers,
    kernel,
    lane_array,
    lane_matrix,
    lane_vector,
    ld,
    lines_from,
    matrix,
    nothing,
    real,
    st,
    st2,
    vector,
)
from liegroup.compile.contiguous import Known
from liegroup.compile.lowering import KernelLower


@entry(nothing(vector, integer, integer, integers))
def views(a, i, k, out):
    """Of views from i, up to k, of both, and constant ones: how many entries, and which is the first."""
    b, c, d, e, f = a[i:], a[:k], a[i:k], a[1:3], a[-2:]
    out[0], out[2], out[4], out[6], out[8] = b.shape[0], c.shape[0], d.shape[0], e.shape[0], f.shape[0]
    out[1] = int(b[0]) if b.shape[0] > 0 else -1
    out[3] = int(c[0]) if c.shape[0] > 0 else -1
    out[5] = int(d[0]) if d.shape[0] > 0 else -1
    out[7], out[9] = int(e[0]), int(f[0])
    out[10] = b.size + c.size + d.size


@entry(nothing(matrix, integer, integer, vector))
def entries(a, i, k, out):
    """Rows, entries and rows of rows; they are read and written, from the beginning and from the end."""
    row, some = a[i], a[i:][1]
    out[0], out[1], out[2], out[3], out[4] = row[k], a[i, k], a[-1, k], a[1][-2], some[k]
    row[k], a[0, 0] = 10.0 * row[k], -1.0
    out[5], out[6], out[7] = a[i, k], a[0, 0], row.shape[0] + a[i:].shape[0] + row.size


@entry(nothing(integers, integer, vector))
def words(a, i, out):
    """The bits of integers as real numbers: from i on, their count and their first; one is written, too."""
    x = a[i:].view(np.float64)
    out[0], out[1], x[1] = x.size, x[0], -x[0]


@entry(nothing(lane_vector, integer, lane_vector))
def of_lanes(y, i, out):
    """The first of a view of lanes."""
    st(out, 0, ld(y[i:], 0) + ld(y[:2], 1))


@entry(nothing(integer, integer, integer, integers))
def loops(i, k, step, out):
    """How many numbers ranges have, and their sums."""
    for m in range(k):
        out[0] += 1
        out[1] += m
    for m in range(i, k):
        out[2] += 1
        out[3] += m
    for m in range(k, i, -1):
        out[4] += 1
        out[5] += m
    for m in range(i, k, 3):
        out[6] += 1
        out[7] += m
    for m in range(k, i, -4):
        out[8] += 1
        out[9] += m
    for m in range(i, k, step):
        out[10] += 1
        out[11] += m
        if m > 4:
            break
    for m in range(i, k):
        for n in range(m, k, 2):
            out[12] += n


def test_views_are_those_of_numpy():
    a = np.arange(1.0, 6.0)
    for i, k in itertools.product(range(-7, 8), repeat=2):
        found, expected = np.zeros(11, dtype=np.int64), np.zeros(11, dtype=np.int64)
        views(a, i, k, found)
        views.python(a, i, k, expected)
        assert found.tolist() == expected.tolist(), (i, k)


def test_entries_are_those_of_numpy():
    for i, k in itertools.product(range(-2, 2), range(-4, 4)):
        given = [np.arange(12.0).reshape(3, 4) for _ in range(2)]
        found, expected = np.zeros(8), np.zeros(8)
        i += i == -1  # it has no second row
        entries(given[0], i, k, found)
        entries.python(given[1], i, k, expected)
        assert found.tolist() == expected.tolist(), (i, k)
        assert np.array_equal(*given)


@entry(nothing(matrix, integer), nothing(lane_matrix, integer))
def numbered(a, first):
    """The number of every entry of the lines from `first` on."""
    lines = lines_from(a, first)
    for i in range(lines.shape[0]):
        for k in range(lines.shape[1]):
            st2(lines, i, k, 1.0 + i * lines.shape[1] + k)


@pytest.mark.parametrize("shift", range(9))
@pytest.mark.parametrize("first", [0, 1, 3])
def test_lines_begin_where_the_processor_fetches(shift, first):
    """Of one trajectory behind the asked one by less than 64 bytes, and one is left out; of lanes where they are."""
    memory = np.zeros(5 * 16 + 16)
    a = memory[shift : shift + 5 * 16].reshape(5, 16)
    numbered(a, first)
    (found,) = np.flatnonzero(memory == 1.0)
    assert (memory.ctypes.data + 8 * found) % ALIGNMENT == 0
    assert 0 <= found - shift - 16 * first < ALIGNMENT // 8
    lines = np.arange(1.0, 16 * (4 - first) + 1)
    assert np.array_equal(memory[found : found + len(lines)], lines)
    assert np.count_nonzero(memory) == len(lines)
    lanes, one = lane_array(5, 16), np.zeros((5, 16))
    numbered(lanes, first)
    numbered.python(one, first)
    assert np.array_equal(lanes[..., 3], one)
    assert np.array_equal(one[first:].ravel(), np.arange(1.0, 16 * (5 - first) + 1))


def test_views_of_lanes_begin_with_a_register():
    y, out = lane_array(3), lane_array(1)
    y[...] = np.arange(24.0).reshape(3, 8)
    of_lanes(y, 2, out)
    assert out[0].tolist() == (y[2] + y[1]).tolist()


def test_loops_count_as_python_does():
    for i, k, step in itertools.product(range(-3, 9), range(-3, 9), (-3, -1, 1, 2)):
        found, expected = np.zeros(13, dtype=np.int64), np.zeros(13, dtype=np.int64)
        loops(i, k, step, found)
        loops.python(i, k, step, expected)
        assert found.tolist() == expected.tolist(), (i, k, step)


def test_a_step_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="must not be zero"):
        loops(0, 3, 0, np.zeros(13, dtype=np.int64))


def test_the_shorter_way_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    taken = []
    ways = dict.fromkeys(("_range", "_slice", "_begin", "_next"), KernelLower)
    ways |= dict.fromkeys(("at", "place"), Known)
    for name, owner in ways.items():
        original = getattr(owner, name)

        def noted(self, *args, _name=name, _original=original):
            taken.append(_name)
            return _original(self, *args)

        monkeypatch.setattr(owner, name, noted)

    @entry(nothing(matrix, integers))
    def last(a, out):
        for i in range(a.shape[0]):
            out[0] = int(a[i][:2][1])
        if a.shape[0] > 100:
            raise ValueError("not gone through statement by statement")

    assert last.compiled.overloads
    assert {*taken} == {*ways}


def test_the_bits_of_integers_are_real_numbers_in_the_same_memory() -> None:
    given, out = np.array([0.5, -2.0, 1e300]).view(np.int64), np.zeros(2)
    words(given, 1, out)
    np.testing.assert_array_equal(out, [2.0, -2.0])
    np.testing.assert_array_equal(given.view(np.float64), [0.5, -2.0, 2.0])


@kernel
def third(a, k):
    """An array of two axes is passed on: as a pointer and a shape."""
    return a[k, 0] + 1000.0 * a.shape[0] + 100.0 * a.shape[1] + 10.0 * a[k].size


@kernel
def refused(a):
    if a[0] > 1.0:
        raise ValueError("too large")
    return a[0]


@entry(real(matrix, vector, integer))
def calls(a, b, k):
    """Kernels and helpers on arrays, on views of them, with what is left out."""
    return third(a, k) + third(a[1:], k - 1) + refused(b) + two_of(b, a)[1][0] + given_or(b)


@helper
def two_of(a, b):
    return a.shape[0], (b[1, 1], a[-1])


@helper
def given_or(a, scale=0.5):
    return a[0] * scale


def test_kernels_take_arrays_as_pointers_and_shapes():
    a, b = np.arange(12.0).reshape(4, 3), np.array([0.25, 2.0])
    assert calls(a, b, 2) == calls.python(a, b, 2)
    assert {x.library.takes_bare_arrays for x in calls.compiled.overloads.values()} == {False}


def test_an_error_of_a_kernel_is_that_of_its_callers():
    with pytest.raises(ValueError, match="too large"):
        calls(np.zeros((4, 3)), np.array([2.0, 1.0]), 2)


@kernel
def scaled(a, x):
    for i in range(a.shape[0]):
        a[i] = a[i] * x


scaled_by_python = entry(nothing(vector, real))(scaled)


@entry(nothing(vector, real))
def scaled_twice(a, x):
    scaled(a, x)
    scaled(a, x)


def test_one_source_is_a_kernel_and_an_entry(tmp_path, monkeypatch):
    """Kept on disk under two names: what Python calls takes arrays as Python has them."""
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    for function, expected in ((scaled_twice, 9.0), (scaled_by_python, 3.0)):
        a = np.ones(3)
        function(a, 3.0)
        assert a.tolist() == [expected] * 3


@entry(real(vector, integer))
def kept(a, n):
    """What is assigned once and read in other blocks; what is assigned in two; what is read where nothing was."""
    b = a[1:]
    first, total, odd = b[0], 0.0, 0.0
    for i in range(n):
        if i % 2:
            odd = first + i
            total += odd
        else:
            total += b[i] * first
    return total + odd + first


def test_values_are_those_of_the_last_assignment():
    a = np.linspace(0.5, 3.0, 9)
    for n in range(7):
        assert kept(a, n) == kept.python(a, n)
