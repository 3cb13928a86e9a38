"""Straight-line code of a function gives the numbers of the function, bit by bit, with fewer operations."""

import operator

import mpmath
import numpy as np
import pytest

from liegroup.compile.scalars import FORMULAS, arctan2, exp, log, select, sincos, sqrt, tanh
from liegroup.compile.tracing import NAMESPACE, Graph, Traced, lines, operand

CONSTANTS = (0.0, 1.0, -1.0, 2.0, -0.3, 0.7)


def traced(function, n):
    """The generated function of n numbers, and how many operations it has."""
    graph = Graph()
    values = [
        x.k if isinstance(x, Traced) else graph.constant(x)
        for x in function([graph.input(f"y[{i}]") for i in range(n)])
    ]
    body = [*lines(graph, values, set()), f"return [{', '.join(operand(graph, k) for k in values)}]"]
    namespace = dict(NAMESPACE)
    exec("def generated(y):\n    " + "\n    ".join(body), namespace)
    return namespace["generated"], sum(bool(graph.arguments(k)) for k in graph.needed(values))


def random_program(generator, n, length):
    """A function of n numbers that does `length` random operations, on constants, too, and gives all its numbers."""
    operations = (operator.add, operator.sub, operator.mul, lambda a, b: a / (b * b + 1.5), lambda a, b: -a)
    plan = [(operations[generator.integers(len(operations))], *generator.random(2)) for _ in range(length)]

    def program(y):
        values = [*CONSTANTS, *y]
        for operation, i, j in plan:
            values.append(operation(values[int(i * len(values))], values[int(j * len(values))]))
        return values

    return program


@pytest.mark.parametrize("seed", range(20))
def test_random_functions_keep_their_numbers(seed):
    generator = np.random.default_rng(seed)
    program = random_program(generator, 3, 60)
    generated, _ = traced(program, 3)
    y = [float(x) for x in generator.uniform(0.5, 2.0, size=3)]
    found, true = np.array(generated(y)), np.array(program([np.float64(x) for x in y]), dtype=float)
    fine = np.isfinite(true)
    assert fine.sum() > 20
    assert np.array_equal(found[fine], true[fine])


def test_what_is_trivial_costs_nothing():
    def f(y):
        a, b = y
        return [
            a * 0.0 + b,
            1.0 * a - 0.0,
            a - a,
            0.0 / b,
            (-a) * -1.0,
            (3.0 * 0.5) / 2.0,
            (2.0 - 1.0) * b,
            -1.0 * (-b),
        ]

    generated, operations = traced(f, 2)
    assert operations == 0
    assert generated([3.0, 5.0]) == [5.0, 3.0, 0.0, 0.0, 3.0, 0.75, 5.0, 5.0]


@pytest.mark.parametrize(
    ("f", "count"),
    [
        (lambda a, b: [a * b, b * a, a + b, b + a], 2),
        (lambda a, b: [a - (-b) * a, a + b * a], 2),
        (lambda a, b: [(-a) * (-b), a * b], 1),
        (lambda a, b: [(-a) / b + a, a - a / b], 2),
        (lambda a, b: [-0.3 * a + b, b - 0.3 * a], 2),
        (lambda a, b: [sincos(a)[0], sincos(a)[1], sincos(a)[0] * b], 3),
    ],
)
def test_what_is_equal_is_computed_once(f, count):
    generated, operations = traced(lambda y: f(*y), 2)
    assert operations == count
    assert generated([0.3, 0.7]) == f(0.3, 0.7)


def test_functions_of_scalars_and_other_numbers():
    def f(y):
        a, b = y
        less = select(a < b, a, b), select(b < a, a, b)
        return [*sincos(a), sqrt(b), exp(a), log(b), tanh(a), arctan2(a, b), *less, abs(-a), b**3, b**-0.5]

    generated, _ = traced(f, 2)
    assert np.allclose(generated([0.3, 0.7]), f([0.3, 0.7]), rtol=1e-15, atol=0)
    with mpmath.workdps(50):
        y = mpmath.mpf("0.3"), mpmath.mpf("0.7")
        assert all(abs(a - b) < 1e-48 for a, b in zip(generated(y), f(y), strict=True))


def test_numbers_times_arrays_go_element_by_element():
    x = Graph().input("x")
    for product in (x * np.array([2.0, 0.0]), np.array([2.0, 0.0]) * x):
        assert product.shape == (2,)
        assert product[0].k == (2.0 * x).k
        assert product[1].k == (0.0 * x).k


def test_what_cannot_be_noted_is_refused():
    x = Graph().input("x")
    with pytest.raises(TypeError, match="select"):
        max(x, 0.0)
    with pytest.raises(TypeError, match="no value"):
        float(x)
    with pytest.raises(TypeError, match=r"np\.where"):
        bool(x == 0.0)
    with pytest.raises(TypeError, match=r"np\.gcd cannot be traced; expected one of .*arctan2"):
        np.gcd(x, 2)
    with pytest.raises(TypeError, match="Cannot cast"):
        np.interp(x, [0.0, 1.0], [0.0, 1.0])


def numpy_functions(y):
    a, b, c = y
    rotation = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    v, w = np.array([a, b, c]), np.array([b, -c, 2.0 * a])
    return [
        np.arcsin(0.3 * a), np.arccos(0.3 * b), np.arctan(a), np.arctan2(a, -b), np.hypot(a, b), np.sinh(a), np.cosh(b),
        np.tanh(c), np.arcsinh(a), np.arccosh(1.0 + b * b), np.arctanh(0.3 * c), np.expm1(a), np.log1p(b * b),
        np.floor(7.0 * a), np.sign(-b), np.abs(-a), np.square(c), a**b, 2.0**c, np.power(a, 2.5), (5.0 * a) % 1.0,
        np.maximum(a, b), np.minimum(a, b), np.clip(a, 0.5, 0.6), np.clip(b, None, 0.1), np.radians(a), np.degrees(b),
        np.where(a <= b, a, b), np.where((a > 0.0) & (b < 0.1), 1.0, 2.0),
        np.where((a < 0.0) | ~np.less(b, 0.1), 1.0, 2.0),
        np.where(a == b, 1.0, 2.0), np.where(a != a, 1.0, 2.0), np.where(a >= a, 1.0, 2.0), np.heaviside(a, 0.5),
        v @ w, np.dot(v, w), *np.cross(v, w), *(rotation @ v), np.einsum("i,ij,j", v, rotation, w), np.sum(v),
        np.prod(w), *np.stack([a, b]), np.linalg.norm(v), np.shape(a)[:0] == (),
        np.float64(2.0) * a + np.float64(1.0),
        *np.sin(v), np.trace(rotation), *(2.0 * v / np.float64(3.0)), *np.outer(v, w).ravel()[:4],
    ]  # fmt: skip


@pytest.mark.parametrize("y", [(0.7, 0.4, 0.9), (0.3, -0.2, 1.1), (0.55, 0.55, -0.3)])
def test_functions_of_numpy(y):
    generated, _ = traced(numpy_functions, 3)
    assert np.allclose(generated(list(y)), np.array(numpy_functions(y), dtype=float), rtol=4e-15, atol=4e-16)


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_formulas_to_some_units_also_near_zero(name):
    x = np.concatenate([10.0 ** np.linspace(-12.0, 0.6, 150), -(10.0 ** np.linspace(-12.0, -0.01, 100))])
    x = {"acosh": 1.0 + np.abs(x), "atanh": np.clip(x, -0.99, 0.99), "floor": 1e3 * x}.get(name, x)
    with mpmath.workdps(40):
        true = np.array([float(getattr(mpmath, name)(mpmath.mpf(float(a)))) for a in x])
    found = np.array([NAMESPACE[name](float(a)) for a in x])
    assert np.abs(found - true).max() == 0.0 if name == "floor" else np.abs(found / true - 1.0).max() < 6e-16
    assert np.array_equal(NAMESPACE[name](x), found)
