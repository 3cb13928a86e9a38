"""Plain functions of users on traced scalars: what they ask ``math`` and ``np`` for is noted, and keeps its numbers."""

import functools
import math
from math import atan2 as angle_of

import numba
import numpy as np
import pytest

from liegroup.compile.traceable import traceable
from liegroup.compile.tracing import Graph, evaluated

Y = 0.7, 0.4, -0.9


def value(function, y=Y):
    """The numbers of a traced function, evaluated."""
    graph = Graph()
    inputs = [graph.input(f"y[{k}]") for k in range(len(y))]
    found = traceable(function)(inputs)
    numbers = {x.k: a for x, a in zip(inputs, y, strict=True)}
    return [float(evaluated(graph, x.k, numbers)) if hasattr(x, "k") else float(x) for x in np.ravel(found)]


def of_math(y):
    a, b, c = y
    return [
        math.sin(a), math.cos(b), math.tan(c), math.asin(0.3 * a), math.acos(b), math.atan(c), angle_of(a, c),
        math.sinh(a), math.cosh(b), math.tanh(c), math.asinh(a), math.acosh(2.0 + b), math.atanh(0.3 * c), math.exp(a),
        math.expm1(b), math.log(a), math.log(b, 3.0), math.log2(a), math.log10(b), math.log1p(a), math.sqrt(a),
        math.pow(a, 2.5), math.hypot(a, b, c), math.dist([a, b], [c, 1.0]), math.fabs(c), math.floor(9.0 * c),
        math.ceil(9.0 * c), math.trunc(9.0 * c), math.fmod(7.0 * c, 2.0), math.copysign(a, c), math.radians(a),
        math.degrees(b), math.fsum([a, b, c]), math.prod([a, b, c]), max(a, b, c), min(a, 0.5), math.pi * a,
    ]  # fmt: skip


def of_arrays(y):
    """What arrays of scalars are asked for."""
    v = np.array(y)
    out = np.zeros((2, 3))
    out[0] = v * v
    out[1, 2] = np.hypot(v[0], v[1])
    matrix = np.eye(3)
    matrix[0, 1] = y[0]
    filled = np.full(2, 1.5)
    filled[0] = y[2]
    return [
        *out.ravel(), *(matrix @ v), *filled, *np.where(v < 0.5, v, 0.0), *np.clip(v, -0.5, 0.5), *np.maximum(v, 0.1),
        *np.minimum(v, v[::-1]), *np.sign(v), *np.abs(v), *np.arctan2(v, 2.0), *np.cbrt(v), *np.trunc(3.0 * v),
        *np.ceil(3.0 * v), np.linalg.norm(v), np.linalg.norm(v, 2), np.max(v), np.min(v),
        np.interp(y[0], [0.0, 0.5, 1.0], [1.0, 3.0, -1.0]), np.interp(y[2], [0.0, 1.0], [2.0, 5.0]),
        *np.select([v < 0.0, v < 0.5], [v, 2.0 * v], 3.0), np.dot(v, v),
        np.einsum("i,i", v, v), *np.cross(v, [1.0, 2.0, y[1]]), np.log10(abs(y[0])), np.exp2(y[1]),
        np.copysign(y[0], y[2]), np.fmod(5.0 * y[2], 2.0), np.reciprocal(y[0]), *np.sin(np.array([0.5, y[0]])),
        np.sqrt(np.float64(2.0)),
    ]  # fmt: skip


def of_conditions(y):
    """What is counted, multiplied, chosen by; powers of either sign; branches on what kind of thing a number is."""
    v, (a, b, c) = np.array(y), y
    return [
        np.sum(v > 0.5), np.mean(v < 0.5), *((v > 0.0) * v), *(2.0 - (v > 0.0)), 1.0 * (a > 0.5) + 1.0 * (b > 0.0),
        -1.0 * (c < 0.0), *np.where(v, 1.0, 2.0), np.where(0.0 * a, 1.0, 2.0), np.where(a > b, b > c, c > a),
        *np.max(np.reshape([*v, a, 1.0, b], (2, 3)), axis=0), *np.min(np.reshape([*v, a, 1.0, b], (2, 3)), 1),
        *np.clip(v, a_min=-0.5, a_max=0.5), *np.clip(v, min=0.0), *np.clip(v, None, 0.1), max(y), min([a, b, c]),
        *np.interp(v, [0.0, 0.5], [1.0, 3.0], left=-1.0, right=7.0), np.interp(0.3, [0.0, 1.0], v[:2]),
        c**100, c**65, c**-70, c**70000, c ** (a + 1.3), c ** (a + 2.3), a**b, a ** (b - b), 2.0**c, 1.0 // 0.3 * a,
        (a if isinstance(a, float) else 0.0), (b if np.isscalar(b) else 0.0), (0.0 if isinstance(c, np.ndarray) else c),
    ]  # fmt: skip


def _square(x):
    return math.pow(x, 2)


class Spring:
    def energy(self, y):
        return [0.5 * _square(math.sin(y[0])), functools.partial(of_math)(y)[3]]


def falling(n, x):
    return x if n == 0 else math.sin(falling(n - 1, x))


@pytest.mark.parametrize(
    "function",
    [
        of_math,
        of_arrays,
        of_conditions,
        Spring().energy,
        numba.njit(lambda y: math.sin(y[0]) + y[1]),
        lambda y: [falling(3, y[0])],
    ],
    ids=["math", "arrays", "conditions", "methods and partial", "jitted", "recursive"],
)
def test_functions_of_users_keep_their_numbers(function):
    true = getattr(function, "py_func", function)(Y)
    assert np.allclose(value(function), np.ravel(np.array(true, dtype=float)), rtol=4e-15, atol=4e-16)


def test_functions_that_need_nothing_else_stay_themselves():
    def plain(y):
        return y[0] * y[1]

    assert traceable(plain) is plain
    assert traceable(of_math) is not of_math
    assert traceable(of_math)([0.7, 0.4, -0.9]) == of_math(Y)  # on numbers: the same functions


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda y: math.erf(y[0]), r"math\.erf cannot be traced; write it with one of .*atan2"),
        (lambda y: np.gcd(y[0], 2), r"np\.gcd cannot be traced; write it with one of .*arctan2"),
        (lambda y: np.linalg.solve(np.eye(2), [y[0], 1.0]), r"np\.linalg\.solve cannot be traced; write it with"),
        (lambda y: np.linalg.norm(y, 1), r"ord=1 cannot be traced; write it with one of np\.sqrt"),
        (lambda y: y[0] if y[0] > 0.0 else 0.0, r"an `if` on a value cannot be traced; use np\.where"),
        (lambda y: (y[0] > 0.0) + (y[1] > 0.0), r"sum of two conditions cannot be traced.*write a \| b"),
        (lambda y: float(y[0]), r"has no value.*use np\.where"),
    ],
)
def test_what_cannot_be_traced_is_named_with_what_to_write(function, said):
    with pytest.raises(TypeError, match=said):
        value(function)
