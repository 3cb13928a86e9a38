"""Tables that users write themselves: one line each, and errors that name what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from integrators.tableaus import (
    COMMUTATOR_FREE,
    CROUCH_GROSSMAN,
    LINEAR,
    TWO_REGISTER,
    ButcherTableau,
    Composition,
    CrouchGrossman,
    ExponentialScheme,
    RosenbrockTableau,
    Splitting,
    TwoRegister,
)
from integrators.tableaus.numbers import number, total, uncertainty

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    "heun",
    [[["1/3", "0"]], [[THIRD, 0]], [[1 / 3, 0]], [[np.float64(1 / 3), np.int64(0)]], [["0.33333333333333333333", 0]]],
)
def test_coefficients_may_be_text_fractions_or_floats(heun: list[list[object]]) -> None:
    t = ButcherTableau([[0, 0, 0], [*heun[0], 0], [0, 2 / 3, 0]], ["1/4", 0, 0.75], name="Heun")
    assert t.order == 3
    assert t.c[0] == 0
    assert float(t.c[1]) == 1 / 3


def test_numbers_know_their_accuracy() -> None:
    assert number("1/3") == THIRD
    assert number(0.1) == Fraction(1, 10)
    assert number("0.5") == Fraction(1, 2)
    assert number("0.2113248654051871177454") == Decimal("0.2113248654051871177454")
    assert uncertainty(number("0.2113248654051871177454")) == pytest.approx(0.5e-22 / 0.2113, rel=1e-3)
    assert uncertainty(number(1 / 3)) == 2.0**-52
    assert uncertainty(THIRD) < 1e-60
    assert total((number(0.1 + 0.2), number("-3/10"))) == 0
    for wrong in (float("nan"), "1/0", "abc", None, True, 1j, float("inf")):
        with pytest.raises((TypeError, ValueError), match="coefficient"):
            number(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"A": [[0, 0], [0.5, 0]], "b": [0, 1], "claims": {"order": 3}},
            r"mine: order = 3 is claimed, .* give 2 \(order 3: tree",
        ),
        ({"A": [[0, 0], [0.5, 0]], "b": [0, 1], "c": [0, 0.4]}, r"mine: row 1 of A sums to 0.5, but c\[1\] = 0.4"),
        ({"A": [[0, 0], [0.5, 0, 1]], "b": [0, 1]}, r"mine: A has 2 rows of \[2, 3\] numbers"),
        ({"A": [[0]], "b": []}, "mine: b is empty"),
        ({"A": [[0]], "b": [1], "b_hat": [1, 0]}, "mine: b_hat has 2 numbers, expected 1"),
        ({"A": [[0]], "b": [1], "claims": {"ordre": 1}}, "mine: claim 'ordre' is not a property"),
        ({"A": [[0]], "b": [1], "claims": {"explicit": False}}, "mine: explicit = False is claimed"),
        ({"A": [[0]], "b": [1], "dense": [["1/2", "1/4"]]}, r"mine: dense row 0 sums to 0.75, but b\[0\] = 1.0"),
        ({"A": [["1/2"]], "b": [1], "claims": {"order": 2, "explicit": True}}, "mine: explicit = True is claimed"),
    ],
)
def test_wrong_tableaus_are_refused_with_the_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ButcherTableau(name="mine", **arguments)  # type: ignore[arg-type]


def test_float64_tables_are_held_to_float64_accuracy() -> None:
    root = 15**0.5
    A = np.array(
        [
            [5 / 36, 2 / 9 - root / 15, 5 / 36 - root / 30],
            [5 / 36 + root / 24, 2 / 9, 5 / 36 - root / 24],
            [5 / 36 + root / 30, 2 / 9 + root / 15, 5 / 36],
        ]
    )
    t = ButcherTableau(A, [5 / 18, 4 / 9, 5 / 18])
    assert (t.order, t.stage_order, t.symmetric, t.symplectic) == (6, 3, True, True)
    A[0, 0] += 1e-12
    spoilt = ButcherTableau(A, [5 / 18, 4 / 9, 5 / 18])
    assert (spoilt.order, spoilt.stage_order, spoilt.symmetric, spoilt.symplectic) == (1, 1, False, False)


@pytest.mark.parametrize(
    ("make", "total"),
    [
        (lambda: ButcherTableau([[0, 0], ["1/2", 0]], [0, "9/10"], name="mine"), "0.9"),
        (lambda: ButcherTableau([[0]], [0.999999999999], name="mine"), "0.999999999999.*give fractions as text"),
        (lambda: RosenbrockTableau([[0]], [["1/2"]], ["1/2"], name="mine"), "0.5"),
        (lambda: CrouchGrossman([[0]], ["1/2"], name="mine"), "0.5"),
        (lambda: TwoRegister([0], [2], name="mine"), "2"),
        (lambda: ExponentialScheme([["1/2"]], points=[[]], name="mine"), "0.5"),
        (lambda: ExponentialScheme([["1/2"]], c=["1/2"], name="mine"), "0.5"),
        (lambda: Composition(["1/2", "1/4"], name="mine"), "0.75"),
    ],
)
def test_weights_that_do_not_sum_to_one_are_those_of_no_method(make: Callable[[], object], total: str) -> None:
    with pytest.raises(ValueError, match=rf"mine: the weights must sum to 1 \(order 1: .* gives {total}"):
        make()


@pytest.mark.parametrize(
    ("make", "b"),
    [
        (lambda b: ButcherTableau([[0, 0], [1, 0]], ["1/2", "1/2"], b_hat=b, name="mine"), ["1/2", "1/2"]),
        (lambda b: RosenbrockTableau([[0, 0], [1, 0]], [[1, 0], [-2, 1]], ["1/2", "1/2"], b, name="mine"), ["1/2"] * 2),
        (lambda b: CrouchGrossman([[0, 0], ["1/2", 0]], [0, 1], b_hat=b, name="mine"), [0, 1, 0]),
        (lambda b: ExponentialScheme([["1/2", "1/2"]], points=[[], [[1]]], final_hat=[b], name="mine"), ["1/2"] * 2),
    ],
)
def test_an_embedded_method_is_another_one(make: Callable[..., object], b: list[object]) -> None:
    """A mistyped weight made thousands of steps, and with those of the method no tolerance was kept, with success."""
    with pytest.raises(ValueError, match=r"mine: the weights of the embedded method must sum to 1 \(.* gives 0\.75"):
        make(["1/2", "1/4"])
    with pytest.raises(ValueError, match="mine: the weights of the embedded method are those of the method"):
        make(b)
    make([1, 0])


def test_the_weights_of_each_flow_sum_to_one() -> None:
    with pytest.raises(ValueError, match="mine: the coefficients of each flow must sum to 1"):
        Splitting(T=[1], V=["1/2", "1/4"], first="V", name="mine")


def test_splittings_must_alternate() -> None:
    with pytest.raises(ValueError, match="do not alternate"):
        Splitting(T=[1], V=["1/2", "1/2"], first="T", name="mine")
    with pytest.raises(ValueError, match="expected 'T' or 'V'"):
        Splitting(T=[1], V=[1], first="A", name="mine")
    lie_trotter = Splitting(T=[1], V=[1], first="T", name="Lie-Trotter")
    assert (lie_trotter.order, lie_trotter.symmetric, lie_trotter.stages) == (1, False, 1)


def test_exponential_schemes_share_common_exponentials() -> None:
    assert COMMUTATOR_FREE["cf3"].starts == (-1, -1, -1, 1)
    assert COMMUTATOR_FREE["cf4"].starts == (-1, -1, -1, 1, -1)
    assert [COMMUTATOR_FREE[n].exponentials for n in COMMUTATOR_FREE] == [2, 2, 3, 5]
    assert [TWO_REGISTER[n].exponentials for n in TWO_REGISTER] == [3, 3, 5]
    assert [CROUCH_GROSSMAN[n].exponentials for n in CROUCH_GROSSMAN] == [1, 2, 6, 6, 15]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"final": [[1]]}, "give the points of the stages"),
        ({"final": [[1, 0, 0]], "points": [[], [[1]]]}, "a row of final has 3 numbers, at most 2"),
        ({"final": [[0, 1]], "points": [[], [[0, "1/2"]]]}, "stage 1 uses a field value that is not known yet"),
        ({"final": [[0, 1]], "points": [[], [["1/2"]]], "c": [0, "1/3"]}, r"stage 1 sum to 0.5, but c\[1\]"),
        ({"final": [["1/2", "1/2"]], "c": [0, 1], "brackets": [[[0, 0, 1], [1]]]}, "a bracket uses itself"),
        ({"final": [[0, 1]], "points": [[], [["1/2"]]], "claims": {"order": 3}}, "order = 3 is claimed"),
    ],
)
def test_wrong_schemes_are_refused_with_the_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExponentialScheme(name="mine", **arguments)  # type: ignore[arg-type]


def test_reversing_the_factors_of_crouch_grossman_costs_the_order() -> None:
    scheme = CROUCH_GROSSMAN["cg3"].scheme
    backwards = ExponentialScheme(scheme.final[::-1], [point[::-1] for point in scheme.points], scheme.c)
    assert (scheme.order, backwards.order) == (3, 2)


@pytest.mark.parametrize(("name", "order"), [("magnus4", 4), ("magnus6", 6)])
def test_the_sign_of_the_bracket_matters(name: str, order: int) -> None:
    scheme = LINEAR[name]
    wrong = ExponentialScheme(scheme.final, c=scheme.c, brackets=[(right, left) for left, right in scheme.brackets])
    assert (scheme.order, wrong.order) == (order, 2)


def test_crouch_grossman_and_two_register_tables_check_their_shapes() -> None:
    with pytest.raises(ValueError, match="A must be 2 by 2"):
        CrouchGrossman([[0]], [0, 1], name="mine")
    with pytest.raises(ValueError, match="A must begin with 0"):
        TwoRegister([1], [1], name="mine")
    assert TwoRegister([0], [1]).order == 1
    assert CrouchGrossman([[0, 0], ["1/2", 0]], [0, 1]).order == 2


def test_embedded_estimate_of_cf4_is_the_leading_error() -> None:
    cf4 = COMMUTATOR_FREE["cf4"]
    assert cf4.uses_new_point
    assert cf4.estimate_is_leading_error
    wrong = ExponentialScheme(cf4.final, cf4.points, final_hat=cf4.final_hat, estimate=[0, 0, 0, "1/5", "-1/5"])
    assert not wrong.estimate_is_leading_error
