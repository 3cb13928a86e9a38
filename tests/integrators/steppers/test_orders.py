"""The order that every method of the catalogue claims is measured on Rⁿ, SO(3), SE(3) and a product."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from integrators import integrate
from integrators.method import Method
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.steppers.exponential import exponential
from integrators.steppers.implicit import implicit_rkmk
from integrators.steppers.rkmk import rkmk
from integrators.steppers.series import EXACT, inverse_differential, power_for
from integrators.tableaus import (
    CROUCH_GROSSMAN,
    DIAGONALLY_IMPLICIT,
    EXPLICIT,
    FAMILIES,
    GAUSS,
    LINEAR,
    ButcherTableau,
    ExponentialScheme,
)
from integrators.testing import (
    GROUPS,
    end_state,
    group_distance,
    linear,
    order_on,
    order_problem,
    reference_state,
    wavy,
)
from liegroup.table import EXP, increment, retract

GENERAL = [name for name, m in METHODS.items() if isinstance(m, Method) and m.needs in ("field", "time")]
COUNTS = {1: (128, 256, 512), 2: (32, 64, 128), 3: (24, 48, 96), 4: (16, 32, 64), 5: (8, 16, 32), 6: (4, 8, 16)}
FINE = {"RODAS4": (128, 256, 512), "BDF5": (64, 128, 256)}
"""Of methods whose errors at the usual steps are not yet those of their order: on R³ one changes its sign."""


def _counts(name: str) -> tuple[int, ...]:
    return FINE.get(name, COUNTS.get(METHODS[name].order, (1, 2, 4, 8)))


def field_of(name: str) -> Any:
    return linear if METHODS[name].needs == "time" else wavy


@pytest.mark.parametrize("name", [n for n in GENERAL if METHODS[n].order <= 4])
def test_order_is_the_claimed_one_on_every_group(name: str) -> None:
    method = METHODS[name]
    for group in GROUPS:
        counts, floor = _counts(name), 2e-14 if name in FINE else 2e-12
        measured = order_on(group, method, counts, field_of(name), floor)
        assert measured.order == pytest.approx(method.order, abs=0.25), (group, measured)


@pytest.mark.parametrize("name", [n for n in GENERAL if METHODS[n].order > 4])
def test_methods_of_high_order_converge_to_the_reference(name: str) -> None:
    """To SciPy's solution in ambient coordinates; the order itself shows in more digits only, in the next tests."""
    method = METHODS[name]
    for group in GROUPS:
        measured = order_on(group, method, _counts(name), field_of(name), floor=1e-11)
        assert measured.errors[-1] < 1e-8, (group, measured)
        if method.order <= 6:
            assert measured.order > method.order - 0.5, (group, measured)


@pytest.mark.parametrize("name", ["MAGNUS6", "CF_LINEAR_6_5"])
def test_order_of_linear_methods_of_order_six(name: str) -> None:
    for group in ("SO3", "SE3", "product"):
        assert order_on(group, METHODS[name], (8, 16, 32), linear, floor=2e-13).order == pytest.approx(6, abs=0.25), (
            group
        )


# --- in many digits ---------------------------------------------------------------------------------------------------


def exact(values: Any) -> Any:
    numbers = [
        mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.mpf(str(x))
        for x in _flat(values)
    ]
    return np.array(numbers, dtype=object)


def _flat(values: Any) -> list[Any]:
    return [x for v in values for x in _flat(v)] if isinstance(values, (list, tuple)) else [values]


def with_exact_coefficients(method: Method, t: ButcherTableau) -> Method:
    """The method with its leading coefficients (matrix, weights, times) to 40 digits in place of float64."""
    A, b = exact(t.A).reshape(t.stages, t.stages), exact(t.b)
    centred = not t.explicit and method.symmetric
    leading = np.concatenate([(A - b / 2 if centred else A).ravel(), b, exact(t.c)])
    assert np.allclose(leading.astype(float), method.coefficients[: len(leading)], rtol=0, atol=1e-16)
    numbers = np.array([mpmath.mpf(float(x)) for x in method.coefficients], dtype=object)
    numbers[: len(leading)] = leading
    new = implicit_rkmk(t, centred=centred) if not t.explicit else METHODS[method.name]
    new = Method(**{f: getattr(new, f) for f in ("name", "stepper", "order", "options", "symmetric", "compensated")})
    object.__setattr__(new, "coefficients", numbers)
    return new


def many_digits(problem: Any) -> Any:
    """The start in mpmath numbers, with quaternions of unit norm to all digits."""
    y = np.array([mpmath.mpf(float(x)) for x in problem.y0], dtype=object)
    for _ in range(3):
        moved = y * 0
        retract(problem.table, EXP, y, np.array([mpmath.mpf(0)] * problem.dimension), moved)
        y = moved
    return y


def local_order(method: Method, group: str, h: Any) -> float:
    """From the difference between one step and two halves, which falls like h^(order + 1)."""
    problem = order_problem(group)
    y = many_digits(problem)
    differences = []
    for size in (h, h / 2):
        one = step_map(problem, method, interpreted=True)(y, size)
        half = step_map(problem, method, interpreted=True)(y, size / 2)
        two = step_map(problem, method, t=size / 2, interpreted=True)(half, size / 2)
        differences.append(max(abs(a - b) for a, b in zip(one, two, strict=True)))
    return float(mpmath.log(differences[0] / differences[1], 2)) - 1


@pytest.mark.parametrize("name", [n for n in EXPLICIT if EXPLICIT[n].order > 4])
def test_order_of_explicit_methods_in_many_digits(name: str) -> None:
    with mpmath.workdps(80):
        method = with_exact_coefficients(METHODS[f"RKMK_{name}".upper()], EXPLICIT[name])
        for group in ("SO3", "SE3"):
            assert local_order(method, group, mpmath.mpf(1) / 4096) == pytest.approx(method.order, abs=0.25), group


IMPLICIT = [(f, s) for f in FAMILIES for s in (3, 4, 5) if (f, s) != ("RADAU_IIA", 3)] + [("GAUSS", 6)]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "s"), IMPLICIT)
def test_order_of_implicit_methods_in_many_digits(family: str, s: int) -> None:
    with mpmath.workdps(60):
        t = FAMILIES[family](s)
        method = with_exact_coefficients(implicit_rkmk(t), t)
        for group in ("SO3", "SE3"):
            assert local_order(method, group, mpmath.mpf(1) / 64) == pytest.approx(method.order, abs=0.25), group


@pytest.mark.parametrize(("family", "s"), [("GAUSS", 4), ("RADAU_IIA", 4), ("LOBATTO_IIIA", 5)])
def test_order_of_some_implicit_methods_in_many_digits(family: str, s: int) -> None:
    test_order_of_implicit_methods_in_many_digits(family, s)


# --- the tests can fail -----------------------------------------------------------------------------------------------


def test_wrong_signs_and_wrong_order_of_factors_show_as_order_two() -> None:
    magnus, cg3 = LINEAR["magnus4"], CROUCH_GROSSMAN["cg3"].scheme
    wrong_sign = ExponentialScheme(
        magnus.final, c=magnus.c, brackets=[(right, left) for left, right in magnus.brackets]
    )
    backwards = ExponentialScheme(cg3.final[::-1], [p[::-1] for p in cg3.points], cg3.c)
    for group in ("SO3", "SE3"):
        assert order_on(group, exponential(wrong_sign), (32, 64, 128), linear).order == pytest.approx(2, abs=0.25)
        assert order_on(group, exponential(backwards), (32, 64, 128)).order == pytest.approx(2, abs=0.25)


def test_linear_schemes_keep_their_order_only_for_fields_of_time_alone() -> None:
    """The same numbers, not known as a linear scheme, fall to order 1."""
    method = METHODS["MAGNUS4"]
    unchecked = replace(method, stepper=replace(method.stepper, needs="field"))
    assert order_on("SO3", unchecked, (32, 64, 128)).order < 2


@pytest.mark.parametrize("name", [n for n in GENERAL if METHODS[n].needs == "time"])
@pytest.mark.parametrize("group", GROUPS)
def test_linear_schemes_refuse_fields_that_depend_on_the_state(name: str, group: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is for linear equations.*CF4 or RKMK4"):
        integrate(order_problem(group), name, (0.0, 1.0), step=0.1)
    assert integrate(order_problem(group, linear), name, (0.0, 1.0), step=0.1).success


def test_the_linear_schemes_are_those_of_their_table() -> None:
    assert {n.upper() for n in LINEAR} == {n for n in GENERAL if METHODS[n].needs == "time"}


# --- the series of the inverse differential ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "power", "reached"),
    [
        ("heun2", 0, 2),
        ("kutta3", 1, 3),
        ("kutta3", 0, 2),
        ("rk4", 2, 4),
        ("rk4", 1, 3),
        ("butcher6", 4, 6),
        ("butcher6", 2, 5),
    ],
)
def test_powers_of_brackets_kept_decide_the_order(name: str, power: int, reached: int) -> None:
    method = rkmk(EXPLICIT[name], truncated=True)
    if reached == method.order:
        assert method.options[5] == power == power_for(method.order)
    else:
        method = replace(method, options=np.array([*method.options[:5], power]))
    counts = {2: (64, 128, 256), 3: (48, 96, 192), 4: (32, 64, 128), 5: (8, 16, 32), 6: (8, 12, 16, 24)}[reached]
    for group in ("SO3", "SE3"):
        assert order_on(group, method, counts).order == pytest.approx(reached, abs=0.3), group


def test_series_agree_with_the_closed_form_to_the_first_power_left_out() -> None:
    table = order_problem("SE3").table
    rng = np.random.default_rng(5)
    u, k = rng.normal(size=6), rng.normal(size=6)
    for power in (0, 1, 2, 4, 6, 8):
        left_out = {0: 1, 1: 2, 2: 4, 4: 6, 6: 8, 8: 10}[power]
        errors = []
        for h in (0.2, 0.1):
            exact, series, scratch = np.zeros(6), np.zeros(6), np.zeros(6)
            inverse_differential(table, EXP, EXACT, h * u, k, scratch, exact)
            inverse_differential(table, EXP, power, h * u, k, scratch, series)
            errors.append(np.abs(exact - series).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(left_out, abs=0.2)


def test_a_truncated_method_is_for_the_exponential_map() -> None:
    with pytest.raises(ValueError, match="expected one of exp"):
        rkmk(EXPLICIT["rk4"], truncated=True).with_map("cayley")


# --- estimates --------------------------------------------------------------------------------------------------------

EMBEDDED = [n for n in GENERAL if METHODS[n].embedded_order is not None and METHODS[n].family != "bdf"]
"""BDF with variable steps change their order: `test_bdf_variable`."""


def estimate(problem: Any, method: Method, h: float) -> Any:
    """What the stepper leaves as its error estimate after one step, with its equations solved to 1e-13."""
    from integrators.layout import COUNTERS, ERROR

    method = method.with_variable_steps()
    coefficients = method.kernel_coefficients(problem)
    if method.stepper.tolerances is not None:
        ones = np.ones(problem.dimension)
        coefficients = np.concatenate([coefficients, [1e-13], 0.0 * ones, ones])
    y, low = problem.y0.copy(), np.zeros(problem.n)
    work, counters = np.zeros(method.work_shape(problem)), np.zeros(COUNTERS, dtype=np.int64)
    status = method.stepper.step.compiled(
        problem.field.compiled, 0.0, h, y, low, problem.table, coefficients, method.kernel_options(problem),
        problem.parameters, problem.structure, np.zeros(problem.work_shape), work, counters,
    )  # fmt: skip
    assert status == 0
    return work[ERROR, : problem.dimension].copy()


@pytest.mark.parametrize("name", EMBEDDED)
def test_error_estimates_fall_with_the_order_of_the_lower_method(name: str) -> None:
    method = METHODS[name]
    lower = min(method.order, method.embedded_order)
    for group in ("SO3", "SE3", "product"):
        problem = order_problem(group)
        k = 5 if lower < 5 else 4 if lower < 7 else 3
        e = [np.abs(estimate(problem, method, h)).max() for h in (2.0**-k, 2.0 ** -(k + 1))]
        found = np.log2(e[0] / e[1]) - 1
        assert found > lower - 0.5, group
        assert found < lower + 0.3 or lower >= 5, group


@pytest.mark.parametrize(
    "name", [n for n in EMBEDDED if METHODS[n].embedded_order < METHODS[n].order and METHODS[n].order <= 4]
)
def test_estimates_are_the_error_of_the_embedded_method(name: str) -> None:
    method = METHODS[name]
    problem, h = order_problem("SE3"), 2.0**-5
    actual, truth = end_state(problem, method, 1, h), reference_state(problem, h)
    e = estimate(problem, method, h)
    embedded, error = np.zeros(problem.n), np.zeros(problem.dimension)
    retract(problem.table, EXP, actual, -e, embedded)
    increment(problem.table, EXP, truth, embedded, error)
    assert np.abs(error).max() == pytest.approx(np.abs(e).max(), rel=0.15)
    assert group_distance(problem.table, truth, actual) < 0.15 * np.abs(e).max()


def test_an_implicit_tableau_with_an_estimate_wants_the_chart_at_the_start() -> None:
    with pytest.raises(ValueError, match="centred=False"):
        implicit_rkmk(DIAGONALLY_IMPLICIT["kvaerno32"], centred=True)
    with pytest.raises(ValueError, match="must be at least 1"):
        implicit_rkmk(GAUSS(2), past=0)
