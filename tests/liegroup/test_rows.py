"""Large batches run through compiled loops: the same bits as NumPy, for every formula, shape and layout."""

import functools
import inspect

import numpy as np
import pytest

from liegroup import rows, se3, so3
from liegroup.arrays import call, check_function
from liegroup.compile import MODE, helper, is_formula
from liegroup.formulas import se2
from liegroup.formulas import se3 as space
from liegroup.formulas import so3 as rotations

RNG = np.random.default_rng(0)
FEW = 300
TAKES = {"a": "q", "b": "q", "q": "q", "d": "q", "x": "v", "y": "v", "mu": "v", "u": "p"}
NAMES = (
    "compose",
    "inverse",
    "act",
    "exp",
    "log",
    "cay",
    "ccsk",
    "ccsk_inverse",
    "adjoint",
    "dexp_right",
    "dexpinv_right",
    "matrix",
    "defect",
)
FORMULAS = [(file, name) for file in (rotations, space) for name in NAMES] + [(se2, "exp"), (se2, "log")]


def arguments(file, function, n=FEW):
    sizes = {"q": file.N_Q, "v": file.N_V, "p": file.N_POINT}
    for parameter in inspect.signature(function).parameters:
        kind = TAKES[parameter]
        a = RNG.normal(size=(n, sizes[kind]))
        a[:10] *= 10.0 ** -np.arange(0, 30, 3)[:, None]
        a[10] = 0.0
        yield np.stack(file.exp(tuple(RNG.normal(size=(file.N_V, n)))), axis=1) if kind == "q" else a


@pytest.mark.skipif(MODE != "strict", reason="contracted arithmetic differs in the last digit")
@pytest.mark.parametrize(("file", "name"), FORMULAS, ids=lambda x: getattr(x, "NAME", x))
def test_compiled_rows_have_the_bits_of_numpy(file, name):
    function = getattr(file, name)
    assert is_formula(function)
    parts = list(arguments(file, function))
    with np.errstate(all="ignore"):
        expected = call(function, parts)
        np.testing.assert_array_equal(rows.evaluate(function, parts, (FEW,)), expected)


@pytest.fixture
def any_size(monkeypatch):
    """Compiled loops also for small batches."""
    monkeypatch.setattr(rows, "MANY", 1)


def test_every_layout_gives_the_same_numbers(any_size):
    g, h = so3.random(1, (4, 6)), so3.random(2, (4, 6))
    expected = np.array(
        [[rotations.compose(tuple(a), tuple(b)) for a, b in zip(*two, strict=True)] for two in zip(g, h, strict=True)]
    )
    np.testing.assert_array_equal(so3.compose(g, h), expected)
    np.testing.assert_array_equal(so3.compose(np.asfortranarray(g), h[::1]), expected)
    np.testing.assert_array_equal(so3.compose(g[::-1], h[::-1])[::-1], expected)
    frozen = g.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(so3.compose(frozen, h), expected)


def test_single_elements_and_shorter_axes_broadcast(any_size):
    g, h = se3.random(1, (3, 1)), se3.random(2, (5,))
    assert se3.compose(g, h).shape == (3, 5, 7)
    np.testing.assert_array_equal(se3.compose(g, h)[2, 4], se3.compose(g[2, 0], h[4]))
    np.testing.assert_array_equal(se3.compose(g[0, 0], h)[3], se3.compose(g[0, 0], h[3]))
    assert se3.as_matrix(h).shape == (5, 4, 4)
    assert se3.adjoint(g).shape == (3, 1, 6, 6)


@pytest.fixture
def taken(monkeypatch):
    """The leading shapes that went to compiled loops, with no call counted before."""
    shapes = []
    monkeypatch.setattr(rows, "_served", {})
    monkeypatch.setattr(rows, "evaluate", lambda function, parts, lead: shapes.append(lead) or np.zeros((*lead, 4)))
    return shapes


def test_a_large_batch_takes_the_compiled_loop_at_once(taken):
    so3.exp(np.zeros((rows.MANY, 3)))
    assert taken == [(rows.MANY,)]


def test_small_batches_take_it_when_there_have_been_many(taken):
    few = rows.MANY // 10
    for _ in range(9):
        so3.exp(np.zeros((few, 3)))
    assert taken == []
    so3.exp(np.zeros((few, 3)))
    assert taken == [(few,)]
    so3.exp(np.zeros(3))
    assert taken == [(few,), ()]


def test_other_numbers_and_empty_batches_stay_with_numpy(taken):
    so3.exp(np.zeros((rows.MANY, 3), dtype=complex))
    assert so3.exp(np.zeros((rows.MANY, 0, 3))).shape == (rows.MANY, 0, 4)
    assert taken == []


@helper
def doubled(x):
    return (2.0 * x[0],)


def test_functions_from_elsewhere_stay_with_numpy():
    """Unregistered ones cannot be compiled, and the files of others are not followed by the cache."""
    parts = [np.ones((rows.MANY, 2))]
    for function in (doubled, lambda x: (2.0 * x[0],)):
        assert not rows.worthwhile(function, parts, (rows.MANY,))
        np.testing.assert_array_equal(call(function, parts), np.full((rows.MANY, 1), 2.0))


def test_arguments_of_a_decorated_function_are_those_that_it_is_called_with():
    def of_three(function):
        @functools.wraps(function)
        def given(t, q, parameters):
            return function(q)

        return given

    check_function(of_three(lambda q: q), "constraints", count=3)
    with pytest.raises(TypeError, match=r"constraints: a function of 3 arguments is called, this one has \(q\)"):
        check_function(lambda q: q, "constraints", count=3)
