"""Gauss, Radau and Lobatto methods of any number of stages against tabulated and independent values."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

from integrators.tableaus import (
    COMPOSITIONS,
    CONTROLLERS,
    FAMILIES,
    GAUSS,
    LOBATTO_IIIA_IIIB,
    SYMPLECTIC_EULER,
    ButcherTableau,
)
from integrators.tableaus.numbers import number

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


def _close(found: Any, text: str, digits: int = 40) -> bool:
    return abs(Fraction(found) - Fraction(number(text))) <= Fraction(1, 10**digits)


@pytest.mark.parametrize("name", REFERENCE["collocation"])
def test_coefficients_and_properties_match_the_table(name: str) -> None:
    reference = REFERENCE["collocation"][name]
    t = FAMILIES[reference["family"]](reference["s"])
    assert all(
        _close(x, y) for found, row in zip(t.A, reference["A"], strict=True) for x, y in zip(found, row, strict=True)
    )
    assert all(_close(x, y) for x, y in zip(t.b + t.c, reference["b"] + reference["c"], strict=True))
    assert np.array_equal(t.rounded.A, [[float(Fraction(number(x))) for x in row] for row in reference["A"]])
    for claim in ("order", "stage_order", "symmetric", "symplectic", "stiffly_accurate"):
        assert getattr(t, claim) == reference[claim], claim
    if reference["R_infinity"] is not None:
        assert t.stability_at_infinity == pytest.approx(float(number(reference["R_infinity"])), abs=1e-14)


@pytest.mark.parametrize("name", REFERENCE["centred"])
def test_centred_matrix_is_the_exact_one_rounded_once(name: str) -> None:
    family, s = name[:-1].split("(")
    t = FAMILIES[family](int(s))
    expected = np.array([[float(Decimal(x)) for x in row] for row in REFERENCE["centred"][name]])
    assert np.array_equal(t.rounded.A_centred, expected + 0.0)


@pytest.mark.parametrize("s", [1, 2, 3, 5, 8, 13, 20])
def test_centred_matrix_of_symmetric_methods_is_bitwise_odd(s: int) -> None:
    for family in ("GAUSS", "LOBATTO_IIIA", "LOBATTO_IIIB", "LOBATTO_IIID", "LOBATTO_IIIE"):
        if s > 1 or family == "GAUSS":
            A = FAMILIES[family](s).rounded.A_centred
            assert np.array_equal(A, -A[::-1, ::-1])


@pytest.mark.parametrize("s", [7, 12, 25])
def test_gauss_of_many_stages_matches_other_libraries(s: int) -> None:
    t = GAUSS(s)
    assert (t.order, t.symmetric, t.symplectic) == (2 * s, True, True)
    x, w = scipy.special.roots_legendre(s)
    assert np.allclose(t.rounded.c, (x + 1) / 2, atol=1e-15)
    assert np.allclose(t.rounded.b, w / 2, atol=1e-15)
    with mpmath.workdps(60):
        node = mpmath.findroot(lambda y: mpmath.legendre(s, y), mpmath.mpf(float(x[0])))
        assert abs(mpmath.mpf(str(t.c[0])) - (node + 1) / 2) < 1e-39


@pytest.mark.parametrize("family", FAMILIES)
def test_families_keep_their_order_beyond_the_table(family: str) -> None:
    lost = {"GAUSS": 0, "RADAU_IA": 1, "RADAU_IIA": 1}.get(family, 2)
    for s in (6, 9):
        assert FAMILIES[family](s).order == 2 * s - lost


@pytest.mark.parametrize("family", FAMILIES)
def test_bad_numbers_of_stages_are_refused_by_name(family: str) -> None:
    for s in (0, -1, 2.0, True, 41):
        with pytest.raises(ValueError, match=family):
            FAMILIES[family](s)  # type: ignore[arg-type]


@pytest.mark.parametrize("s", [2, 3, 4, 5])
def test_lobatto_pairs_match_the_table(s: int) -> None:
    pair, reference = LOBATTO_IIIA_IIIB(s), REFERENCE["partitioned"][str(s)]
    for t, key in ((pair.q, "A_q"), (pair.p, "A_p")):
        assert all(
            _close(x, y)
            for found, row in zip(t.A, reference[key], strict=True)
            for x, y in zip(found, row, strict=True)
        )
    assert pair.order == reference["order"]
    assert pair.symplectic
    assert pair.symmetric


def test_pair_order_by_assumptions_agrees_with_trees_of_two_colours() -> None:
    from integrators.tableaus.conditions.order_conditions import partitioned_order

    for s in (3, 4, 5):
        pair = LOBATTO_IIIA_IIIB(s)
        assert partitioned_order(pair._A, pair._b, pair.uncertainty).order == pair.order == 2 * s - 2


def test_a_single_tableau_in_a_pair_is_not_symplectic_with_itself() -> None:
    lobatto = FAMILIES["LOBATTO_IIIA"](3)
    from integrators.tableaus import PartitionedTableau

    assert not PartitionedTableau(lobatto, lobatto).symplectic
    assert (SYMPLECTIC_EULER.order, SYMPLECTIC_EULER.symplectic, SYMPLECTIC_EULER.symmetric) == (1, True, False)
    with pytest.raises(ValueError, match="stages"):
        PartitionedTableau(lobatto, GAUSS(2), name="mixed")


def test_conjugate_of_gauss_is_gauss_and_needs_weights_without_zeros() -> None:
    assert np.array_equal(GAUSS(3).conjugate().rounded.A, GAUSS(3).rounded.A)
    with pytest.raises(ValueError, match="weights b without zeros"):
        ButcherTableau([[0, 0], ["1/2", 0]], [0, 1]).conjugate()


@pytest.mark.parametrize("name", REFERENCE["midpoint_compositions"])
def test_compositions_of_midpoint_rules_are_symplectic_tableaus(name: str) -> None:
    reference = REFERENCE["midpoint_compositions"][name]
    t = COMPOSITIONS[name].midpoint_tableau()
    assert (t.order, t.symplectic, t.symmetric) == (reference["order"], True, True)
    # published to 20 digits or more; beyond, the two sources continue them differently along the solutions of the
    # conditions
    assert all(_close(x, y, 20) for x, y in zip(t.b, reference["b"], strict=True))
    assert all(_close(t.A[i][i], y, 20) for i, y in enumerate(reference["diagonal"]))


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controller_radius_matches_the_table(name: str) -> None:
    assert CONTROLLERS[name].spectral_radius == pytest.approx(REFERENCE["controller_radius"][name], abs=6e-5)
