"""Elementary functions: 2 ulp against mpmath, at the ends of every range, on every scalar; their table is what its
program prints.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy

from liegroup.compile import MODE, elementary_coefficients, entry, lane_array, lane_vector, ld, nothing, st, vector
from liegroup.compile.logarithm import log as log_of_elements
from liegroup.compile.scalars import (
    absolute,
    acosh,
    arctan,
    arctan2,
    atanh,
    exp,
    floor,
    horner,
    is_machine_real,
    less,
    log,
    log1p,
    maximum,
    minimum,
    select,
    sincos,
    sinh,
    sqrt,
    tanh,
)

EPSILON = np.finfo(np.float64).eps
LIMIT = 1e6
ANGLES = np.concatenate(
    [
        [0.0, -0.0, 5e-324, 1e-310, 1e-160, 1e-16, 1e-8, -1e-8],
        np.random.default_rng(0).uniform(-10, 10, 300),
        np.random.default_rng(1).uniform(-1e5, 1e5, 300),
        np.arange(1, 200) * (np.pi / 4),
        np.pi * np.array([1e4 + 1, 1e5, 3e5]),
        [LIMIT, -LIMIT, np.nextafter(LIMIT, 0), np.nextafter(LIMIT, 2 * LIMIT), 1e5, 1e9, 1e22, 1e300, -1.7e308],
    ]
)


def ulp_error(value: Any, exact: Any, floor: float = 0.0) -> float:
    return float(abs(mp.mpf(float(value)) - exact) / (EPSILON * max(abs(exact), mp.mpf(floor), mp.mpf(2) ** -1022)))


@mp.workdps(400)
def test_sine_and_cosine_are_exact_to_two_ulp() -> None:
    for x in ANGLES:
        s, c = sincos(float(x))
        # relative to the value, except within 1e-16·|x| of a zero, where the argument itself is not known better
        floor = 1e-16 * abs(x) if abs(x) < LIMIT else 0.0
        assert ulp_error(s, mp.sin(mp.mpf(x)), floor) <= 2.0, x
        assert ulp_error(c, mp.cos(mp.mpf(x)), floor) <= 2.0, x


@mp.workdps(40)
@pytest.mark.parametrize("turns", [-1, 0, 3])
def test_over_a_turn_sine_and_cosine_have_no_bias(turns: int) -> None:
    """The mean of errors of 3e-17 over n places scatters by 3e-17/√n: four times that, here 7e-19; with a reduction to
    one word it is 5e-18."""
    n = 30000
    x = 2 * np.pi * (turns - 0.5 + (np.arange(n) + np.random.default_rng(4).random(n)) / n)
    s, c = sincos(x)
    errors = [(mp.mpf(s[k]) - mp.sin(x[k]), mp.mpf(c[k]) - mp.cos(x[k])) for k in range(n)]
    assert np.abs(np.mean(np.array(errors, dtype=np.float64), axis=0)).max() < 4 * 3e-17 / np.sqrt(n)


def test_sine_of_what_has_no_sine_is_nan() -> None:
    for x in (np.nan, np.inf, -np.inf):
        assert np.isnan(sincos(float(x))).all()
    s, c = sincos(np.array([0.0, np.nan]))
    assert (s[0], c[0]) == (0.0, 1.0)
    assert np.isnan(s[1])
    assert np.isnan(c[1])


@mp.workdps(60)
def test_arctan2_is_exact_to_two_ulp_in_all_quadrants() -> None:
    rng = np.random.default_rng(3)
    sizes = 10.0 ** rng.uniform(-20, 20, size=(400, 2))
    points = [*(sizes * rng.choice([-1, 1], size=(400, 2))).tolist(), *rng.normal(size=(400, 2)).tolist()]
    points += [(y, x) for y in (0.0, 1.0, -1.0, 1e-300, -1e-17) for x in (0.0, 1.0, -1.0, 1e-300)]
    for y, x in points:
        assert ulp_error(arctan2(y, x), mp.atan2(mp.mpf(y), mp.mpf(x))) <= 2.0, (y, x)
    tangents = np.tan(np.pi / 8) * (1 + EPSILON * np.arange(-3, 4))
    for t in tangents:
        assert ulp_error(arctan2(float(t), 1.0), mp.atan(mp.mpf(t))) <= 2.0


@mp.workdps(60)
def test_arctan_is_arctan2_beside_one_and_exact_to_two_ulp() -> None:
    """On both sides of the limit below which nothing is divided, and at what has no tangent."""
    x = np.concatenate([ANGLES, np.tan(np.pi / 8) * (1 + EPSILON * np.arange(-3, 4)), [np.inf, -np.inf]])
    np.testing.assert_array_equal(arctan(x), arctan2(x, np.ones_like(x)))
    np.testing.assert_array_equal(arctan(x), [arctan(float(a)) for a in x])
    for a in x:
        assert ulp_error(arctan(float(a)), mp.atan(mp.mpf(float(a)))) <= 2.0, a
    assert np.isnan(arctan(np.nan))
    assert arctan(complex(0.3, 1e-30)).imag / 1e-30 == pytest.approx(1 / 1.09)
    assert abs(arctan(mp.mpf(1) / 3) - mp.atan(mp.mpf(1) / 3)) < mp.mpf(10) ** -55


def test_batches_are_the_scalars() -> None:
    s, c = sincos(ANGLES)
    np.testing.assert_array_equal(s, [sincos(float(x))[0] for x in ANGLES])
    np.testing.assert_array_equal(c, [sincos(float(x))[1] for x in ANGLES])
    np.testing.assert_array_equal(
        arctan2(ANGLES, ANGLES[::-1]), [arctan2(*p) for p in zip(ANGLES.tolist(), ANGLES[::-1].tolist(), strict=True)]
    )


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def evaluate(x, out):
    s, c = sincos(ld(x, 0))
    st(out, 0, s)
    st(out, 1, c)
    st(out, 2, arctan2(ld(x, 0), ld(x, 1)))
    st(out, 3, sqrt(absolute(ld(x, 1))))
    st(out, 4, maximum(ld(x, 0), ld(x, 1)) - minimum(ld(x, 0), 0.25))
    st(out, 5, arctan(ld(x, 1)))


@pytest.mark.skipif(MODE != "strict", reason="the compiler may fuse products and sums in this mode")
def test_scalars_lanes_and_interpreter_agree_bitwise() -> None:
    x = np.stack([ANGLES[: len(ANGLES) // 8 * 8], np.random.default_rng(0).permutation(ANGLES)[: len(ANGLES) // 8 * 8]])
    for k in range(0, x.shape[1], 8):
        lanes, out = lane_array(2), lane_array(6)
        lanes[:] = x[:, k : k + 8]
        evaluate(lanes, out)
        for lane in range(8):
            column = x[:, k + lane].copy()
            compiled, interpreted = np.zeros(6), np.zeros(6)
            evaluate(column, compiled)
            evaluate.python(column.tolist(), interpreted)
            np.testing.assert_array_equal(compiled, interpreted)
            np.testing.assert_array_equal(compiled, out[:, lane])


def test_complex_steps_give_derivatives() -> None:
    for x in (0.0, 0.3, -2.0, 100.0):
        s, c = sincos(complex(x, 1e-30))
        assert s.imag / 1e-30 == pytest.approx(np.cos(x))
        assert c.imag / 1e-30 == pytest.approx(-np.sin(x))
    for y, x in ((0.3, 0.4), (-1.0, 0.2), (0.5, -2.0), (-0.5, -2.0)):
        n = x * x + y * y
        assert arctan2(complex(y, 1e-30), x).imag / 1e-30 == pytest.approx(x / n)
        assert arctan2(y, complex(x, 1e-30)).imag / 1e-30 == pytest.approx(-y / n)
        assert arctan2(complex(y, 1e-30), x).real == arctan2(y, x)
    assert absolute(complex(-2.0, 1e-30)) == complex(2.0, -1e-30)
    assert less(complex(1.0, 5.0), 2.0)
    assert sqrt(complex(4.0, 1e-30)).imag / 1e-30 == pytest.approx(0.25)
    assert maximum(complex(1.0, 1.0), 0.5) == complex(1.0, 1.0)


@pytest.mark.parametrize(
    ("function", "outside", "inside"),
    [
        (sqrt, -0.3, 0.3), (log, -0.3, 0.3), (log_of_elements, -0.3, 0.3), (acosh, 0.5, 1.5), (atanh, 1.5, -0.5),
        (atanh, -1.5, 0.5), (log1p, -1.5, -0.5),
    ],
)  # fmt: skip
def test_complex_steps_have_values_where_real_numbers_have(function, outside, inside) -> None:
    """Numbers that carry a derivative do not leave the real line, in compiled code or here: no √−0.3 = 0.55 i."""
    for z in (complex(outside, 1e-30), np.complex128(complex(outside, 1e-30))):
        with np.errstate(all="ignore"):
            assert np.isnan(function(z))
    with np.errstate(all="ignore"):
        found = function(np.array([complex(outside, 1e-30), complex(inside, 1e-30)]))
    assert np.isnan(found).tolist() == [True, False]
    assert found[1].real == pytest.approx(function(inside))


def test_many_digits_and_symbols_use_their_libraries() -> None:
    with mp.workdps(50):
        s, c = sincos(mp.mpf(1) / 3)
        assert abs(s * s + c * c - 1) < mp.mpf(10) ** -49
        assert abs(arctan2(s, c) - mp.mpf(1) / 3) < mp.mpf(10) ** -49
        assert abs(sqrt(mp.mpf(2)) ** 2 - 2) < mp.mpf(10) ** -49
    x = sympy.Symbol("x", positive=True)
    assert sincos(x) == (sympy.sin(x), sympy.cos(x))
    assert sqrt(x) == sympy.sqrt(x)


def test_selection_works_on_numbers_and_batches() -> None:
    assert select(less(1.0, 2.0), "a", "b") == "a"
    np.testing.assert_array_equal(select(np.array([True, False]), 1.0, np.array([5.0, 6.0])), [1.0, 6.0])
    np.testing.assert_array_equal(minimum(np.array([1.0, 5.0]), 2.0), [1.0, 2.0])
    assert horner((1.0, 2.0, 3.0), 2.0) == 17.0
    assert is_machine_real(np.zeros(2))
    assert not is_machine_real(np.zeros(2, dtype=complex))
    assert not is_machine_real(mp.mpf(1))


def test_table_is_what_its_program_computes() -> None:
    computed = elementary_coefficients.generate()
    stored = {name: getattr(elementary_coefficients, name) for name in computed}
    assert stored == computed
    assert {n for n in vars(elementary_coefficients) if n.isupper()} == {*computed, "SERIES_LIMIT"}


@pytest.mark.parametrize("name", ["SIN", "COS", "ATAN"])
def test_a_mistyped_digit_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from liegroup.compile import scalars

    quadrants = test_arctan2_is_exact_to_two_ulp_in_all_quadrants
    exact = quadrants if name == "ATAN" else test_sine_and_cosine_are_exact_to_two_ulp
    for k in range(3):
        wrong = list(getattr(scalars, name))
        wrong[k] *= 1.0 + 10.0 ** (k - 12)
        monkeypatch.setattr(scalars, name, tuple(wrong))
        with pytest.raises(AssertionError):
            exact()
        monkeypatch.undo()


@entry(nothing(vector, vector))
def _by_a_step(x: Any, out: Any) -> None:
    """Derivatives of formulas of x, as imaginary parts."""
    a, b = ld(x, 0) + 1e-30j, ld(x, 1) + 2e-30j
    s, c = sincos(a)
    values = (
        s,
        c,
        sqrt(b),
        absolute(-a),
        arctan2(a, b),
        exp(a),
        log(b),
        tanh(a),
        maximum(a, b),
        select(less(b, a), a, b) + floor(a) + sinh(a),
    )
    for k in range(10):
        st(out, k, values[k].imag * 1e30)


def test_compiled_formulas_of_complex_numbers_carry_derivatives() -> None:
    a, b = 0.7, 1.3
    found = np.zeros(10)
    _by_a_step(np.array([a, b]), found)
    turned = (b - 2.0 * a) / (a * a + b * b)
    true = [
        np.cos(a),
        -np.sin(a),
        1.0 / np.sqrt(b),
        1.0,
        turned,
        np.exp(a),
        2.0 / b,
        1.0 - np.tanh(a) ** 2,
        2.0,
        2.0 + np.cosh(a),
    ]
    assert np.abs(found / true - 1.0).max() < 1e-15
