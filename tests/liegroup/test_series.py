"""Coefficient functions of the exponential map: few ulp everywhere, both sides of the switch, on every scalar."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy

from liegroup.compile.elementary_coefficients import SERIES_LIMIT
from liegroup.formulas.series import half_turn, stumpff, stumpff_derivatives, tangent, tangent_derivatives

EPSILON = np.finfo(np.float64).eps


def taylor(coefficient: Any, derivative: int) -> Any:
    """Σ coefficient(n) zⁿ, differentiated term by term."""
    return lambda z: mp.nsum(
        lambda n: coefficient(int(n) + derivative) * mp.rf(n + 1, derivative) * z ** int(n), [0, 200]
    )


def stumpff_series(k: int, derivative: int = 0) -> Any:
    return taylor(lambda n: (-1) ** n / mp.factorial(k + 2 * n), derivative)


def tangent_series(derivative: int = 0) -> Any:
    return taylor(lambda n: abs(mp.bernoulli(2 * n + 2)) / mp.factorial(2 * n + 2), derivative)


def single(z: Any) -> tuple[Any]:
    return (tangent(z),)


def half_series(k: int) -> Any:
    return lambda z: stumpff_series(k)(z / 4) / (4 if k == 2 else 2)


FUNCTIONS = {
    "half turn": (half_turn, [half_series(2), half_series(1)]),
    "c2, c3": (stumpff, [stumpff_series(2), stumpff_series(3)]),
    "c2', c3'": (stumpff_derivatives, [stumpff_series(2, 1), stumpff_series(3, 1)]),
    "D": (single, [tangent_series()]),
    "D', D''": (tangent_derivatives, [tangent_series(1), tangent_series(2)]),
}
ULPS = {"D', D''": 20}
"""Allowed error where it is not 4: the closed form of D'' loses a digit just beyond the switch."""
SWITCH = [SERIES_LIMIT * (1 + k * EPSILON) for k in (-2, -1, 0, 1, 2)]
SQUARES = [0.0, 5e-324, 1e-300, 1e-32, 1e-16, 1e-8, 1e-4, 1e-2, 0.5, 1.0, 3.0, 7.0, 9.87, *SWITCH, 12.0, 16.0, 20.0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_coefficients_are_exact_to_a_few_ulp(name: str) -> None:
    function, series = FUNCTIONS[name]
    with mp.workdps(40):
        for z in SQUARES:
            for value, reference in zip(function(z), series, strict=True):
                exact = reference(mp.mpf(z))
                assert abs(value - exact) <= ULPS.get(name, 4) * EPSILON * abs(exact), z


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_digits_are_exact_to_the_working_precision(name: str) -> None:
    function, series = FUNCTIONS[name]
    for digits in (30, 100):
        with mp.workdps(digits):
            for z in (mp.mpf(0), mp.mpf("1e-600"), mp.mpf("1e-30"), mp.mpf("0.3"), mp.mpf(9)):
                for value, reference in zip(function(z), series, strict=True):
                    with mp.workdps(digits + 20):
                        exact = reference(z)
                    assert abs(value - exact) <= 4 * mp.eps * abs(exact), (digits, z)


@pytest.mark.parametrize("z", [0.0, 1e-9, 1.0, 9.9, SERIES_LIMIT, 10.1, 30.0])
def test_complex_steps_give_the_derivatives(z: float) -> None:
    # an interpolating polynomial has 1e-17 of error, its slope 1e-14
    def slope(f: Any) -> Any:
        return np.array([v.imag / 1e-30 for v in f(complex(z, 1e-30))])

    np.testing.assert_allclose(slope(stumpff), stumpff_derivatives(z), rtol=1e-13)
    np.testing.assert_allclose(slope(single), tangent_derivatives(z)[:1], rtol=1e-13)


def test_batches_are_the_scalars() -> None:
    z = np.array([[0.0, 1e-5, 3.0], [9.99, 10.01, 80.0]])
    for function, _ in FUNCTIONS.values():
        for k, values in enumerate(function(z)):
            np.testing.assert_array_equal(values, [[function(float(v))[k] for v in row] for row in z])


def test_symbols_give_closed_forms() -> None:
    z = sympy.Symbol("z", positive=True)
    c2, _ = stumpff(z)
    assert sympy.simplify(sympy.nsimplify(c2) - (1 - sympy.cos(sympy.sqrt(z))) / z) == 0
    assert sympy.limit(sympy.nsimplify(tangent(z)), z, 0) == sympy.Rational(1, 12)


def test_next_to_its_poles_the_tangent_coefficient_is_large_and_right() -> None:
    for pole in (2 * np.pi, 4 * np.pi):
        for distance in (1e-3, -1e-3, 1e-9, -1e-9):
            t = pole + distance
            with mp.workdps(40):
                u = mp.mpf(t * t) ** 0.5 / 2
                exact = (1 - u * mp.cot(u)) / mp.mpf(t * t)
            assert tangent(t * t) == pytest.approx(float(exact), rel=4 * EPSILON * pole / abs(distance))
