"""Every row of every table of coefficients: what it claims is what its numbers say."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from integrators import tableaus
from integrators.tableaus import COMPOSITIONS, CONTROLLERS, EXPLICIT, SPLITTINGS, ButcherTableau, Table
from integrators.tableaus.catalogue import read
from integrators.tableaus.conditions.order_conditions import classical_order
from integrators.tableaus.numbers import number

TABLES = {name: table for name, table in vars(tableaus).items() if isinstance(table, Table)}
ROWS = [pytest.param(table, name, id=f"{title}-{name}") for title, table in TABLES.items() for name in table]
CONDITIONED = [p for p in ROWS if p.values[0] is not CONTROLLERS]
"""Rows whose coefficients satisfy conditions; those of controllers are choices."""
TABLEAUS = [
    pytest.param(table[name], id=name)
    for table in TABLES.values()
    for name in table
    if isinstance(table[name], ButcherTableau)
]
NUMBERS = (
    "A",
    "b",
    "b_hat",
    "dense",
    "extra_A",
    "points",
    "final",
    "final_hat",
    "estimate",
    "brackets",
    "B",
    "weights",
    "T",
    "V",
    "beta",
    "alpha",
    "gamma",
)


def test_every_data_file_is_read_by_a_table() -> None:
    present = {
        path.name for path in files("integrators.tableaus").joinpath("data").iterdir() if path.name.endswith(".json")
    }
    assert present == {table._file for table in TABLES.values()}


@pytest.mark.parametrize(("table", "name"), ROWS)
def test_row_is_what_it_claims_and_says_who_found_it(table: Table[Any], name: str) -> None:
    row = table[name]
    claims = read(table._file)[name]["claims"]
    assert row.name == name
    assert row.source
    assert {"order", "nystrom_order", "perturbation_orders", "filter_order"} & set(claims)
    row.check(claims)


@pytest.mark.parametrize(("table", "name"), ROWS)
def test_an_order_above_the_claimed_one_is_refused(table: Table[Any], name: str) -> None:
    given = read(table._file)[name]
    for claim in ("order", "embedded_order", "dense_order", "nystrom_order", "stages", "filter_order"):
        if given["claims"].get(claim) is not None:
            with pytest.raises(ValueError, match=f"{name}: {claim}"):
                table[name].check({claim: given["claims"][claim] + 1})


@pytest.mark.parametrize(("table", "name"), CONDITIONED)
def test_a_coefficient_changed_in_the_twelfth_digit_fails(table: Table[Any], name: str) -> None:
    for field in NUMBERS:
        _assert_change_fails(table, name, field, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "name"), CONDITIONED)
def test_any_coefficient_changed_in_the_twelfth_digit_fails(table: Table[Any], name: str) -> None:
    for field in NUMBERS:
        for k in range(len(_flat(read(table._file)[name].get(field, [])))):
            _assert_change_fails(table, name, field, k)


def _assert_change_fails(table: Table[Any], name: str, field: str, k: int) -> None:
    given = read(table._file)[name]
    if field in given:
        changed = {**given, field: _changed(given[field], k)}
        if changed[field] != given[field]:
            with pytest.raises(ValueError, match=name):
                table._build(name=name, **changed)


def _changed(values: Any, k: int) -> Any:
    """The k-th coefficient that is not a plain 0 or 1, changed in its 12th digit."""
    left = k

    def change(x: Any) -> Any:
        nonlocal left
        if isinstance(x, list):
            return [change(y) for y in x]
        value = number(x)
        left -= value not in (0, 1, -1)
        if left != -1 or value in (0, 1, -1):
            return x
        return (
            str(value * (1 + Fraction(1, 10**12)))
            if isinstance(value, Fraction)
            else str(value * (1 + Decimal(10) ** -12))
        )

    return change(values)


@pytest.mark.parametrize(("table", "name"), ROWS)
def test_numbers_survive_reading_and_building(table: Table[Any], name: str) -> None:
    """Every number in the file is the number in the table, exactly; a table rebuilt from its own fields is equal."""
    given, row = read(table._file)[name], table[name]
    for field in ("A", "b", "c", "b_hat", "B", "T", "V", "extra_c", "dense"):
        if field in given:
            assert _flat(getattr(row, field)) == [number(x) for x in _flat(given[field])]
    assert replace(row, claims={}) == row if table is not COMPOSITIONS else replace(row, claims={}, half=False) == row


def _flat(values: Any) -> list[Any]:
    return [x for y in values for x in _flat(y)] if isinstance(values, (list, tuple)) else [values]


def test_rational_tables_satisfy_their_conditions_with_no_residual_at_all() -> None:
    rational = [t for t in EXPLICIT.values() if all(isinstance(x, Fraction) for x in _flat((t.A, t.b)))]
    assert len(rational) >= 16
    for t in rational:
        A, b = np.array(t.A, dtype=object).reshape(t.stages, t.stages), np.array(t.b, dtype=object)
        assert classical_order(A, b, 0.0).order == t.order, t.name


@pytest.mark.parametrize("tableau", TABLEAUS)
def test_float64_arrays_are_rounded_once(tableau: ButcherTableau) -> None:
    r = tableau.rounded
    with mpmath.workdps(60):
        exact = lambda x: mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.mpf(str(x))  # noqa: E731
        for i in range(tableau.stages):
            assert r.b[i] == float(exact(tableau.b[i]))
            if tableau.b_hat:
                assert r.error[i] == float(exact(tableau.b[i]) - exact(tableau.b_hat[i]))
            for j in range(tableau.stages):
                assert r.A[i, j] == float(exact(tableau.A[i][j]))
                if not tableau.symmetric:
                    assert r.A_centred[i, j] == float(exact(tableau.A[i][j]) - exact(tableau.b[j]) / 2)
    for array in r:
        assert not array.flags.writeable


@pytest.mark.parametrize("name", list(EXPLICIT))
def test_error_of_one_step_falls_as_the_conditions_say(name: str) -> None:
    """Independent of the order conditions: one step of a nonlinear, non-autonomous system in 80 digits."""
    t = EXPLICIT[name]
    with mpmath.workdps(80):
        A, b, c = (np.vectorize(_mpf, otypes=[object])(np.array(x, dtype=object)) for x in (t.A, t.b, t.c))
        k = {h: _stages(A, c, h) for h in (mpmath.mpf(1) / 256, mpmath.mpf(1) / 512)}
        cases = [(b, t.order)] + (
            [(np.vectorize(_mpf, otypes=[object])(np.array(t.b_hat, dtype=object)), t.embedded_order)]
            if t.b_hat
            else []
        )
        for weights, order in cases:
            errors = [max(abs(x) for x in (weights @ k[h]) * h + START - _taylor(h)) for h in k]
            assert order - 0.25 < float(mpmath.log(errors[0] / errors[1], 2)) - 1 < order + 0.6


def _mpf(x: Any) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.mpf(str(x))


START = np.array([mpmath.mpf(1), mpmath.mpf("0.5")], dtype=object)


def _field(t: Any, y: Any) -> Any:
    """y₀' = y₁² + t y₀, y₁' = −y₀ y₁ + t²: polynomial, so that its Taylor series is a recurrence."""
    return np.array([y[1] * y[1] + t * y[0], -y[0] * y[1] + t * t], dtype=object)


def _stages(A: Any, c: Any, h: Any) -> Any:
    k: list[Any] = []
    for i in range(len(c)):
        k.append(
            _field(
                c[i] * h,
                START + h * sum((A[i, j] * k[j] for j in range(i)), start=np.array([mpmath.mpf(0)] * 2, dtype=object)),
            )
        )
    return np.array(k, dtype=object)


def _taylor(h: Any, terms: int = 40) -> Any:
    a, b = [START[0]], [START[1]]
    for n in range(terms):
        square = sum(b[i] * b[n - i] for i in range(n + 1))
        mixed = sum(a[i] * b[n - i] for i in range(n + 1))
        a.append((square + (a[n - 1] if n else 0)) / (n + 1))
        b.append((-mixed + (1 if n == 2 else 0)) / (n + 1))
    return np.array([mpmath.polyval(x[::-1], h) for x in (a, b)], dtype=object)


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(KeyError, match="did you mean"):
        EXPLICIT["rk5"]


def third(b: list[str]) -> dict[str, Any]:
    return {"A": [["0", "0"], ["1", "0"]], "b": b}


def test_a_file_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"rows": {"heun": third(["1/3", "2/3"]), "other": third(["1", "0"])}}), encoding="utf-8")
    table = Table("tableau of mine", file, ButcherTableau)
    first = table["heun"]
    assert table["heun"] is first
    assert first.order == 1
    file.write_text(json.dumps({"rows": {"heun": third(["1/2", "1/2"])}}), encoding="utf-8")
    assert table["heun"].order == Table("the same", str(file), ButcherTableau)["heun"].order == 2
    assert list(table) == ["heun"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{not json", "Expecting property name.*expected a JSON object"),
        ('"über"'.encode("latin-1"), ".*can't decode.*expected a JSON object"),
        ("[]", '"rows" is None, expected a JSON object'),
        ('{"about": "x"}', '"rows" is None, expected a JSON object'),
        ('{"rows": [1]}', r'"rows" is \[1\], expected'),
        ('{"rows": {"a": [1]}}', r"row 'a' is \[1\], expected"),
        ('{"rows": {"a": {}, "a": {}}}', "'a' is there twice"),
        ('{"rows": {"a": {"A": [[0]], "b": [1], "b": [1]}}}', "'b' is there twice"),
        ('{"rows": {"a": {"A": [[0]]}}}', "row 'a': .*missing.*'b'"),
        ('{"rows": {"a": {"A": [[0]], "b": [1], "B": [1]}}}', "row 'a': .*unexpected.*'B'"),
        ('{"rows": {"a": {"A": [[0]], "b": ["9/10"]}}}', "row 'a': a: the weights must sum to 1"),
        ('{"rows": {"a": {"A": [[0]], "b": ["x"]}}}', "row 'a': b: coefficient 'x'"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_file_and_row(tmp_path: Path, text: str | bytes, said: str) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises((TypeError, ValueError), match=rf"mine\.json: {said}"):
        _ = Table("tableau of mine", file, ButcherTableau)["a"]


def test_splittings_give_the_same_order_as_partitioned_tableaus() -> None:
    """Words in T and V against trees with two colours: two independent sets of conditions."""
    for name in SPLITTINGS:
        pair = SPLITTINGS[name].partitioned()
        assert pair.separable_order == SPLITTINGS[name].order
        assert pair.separable_symplectic


def test_controllers_have_the_tabulated_radius_and_reject_unstable_ones() -> None:
    reference = json.loads((files("integrators.tableaus").joinpath("data", "controllers.json")).read_text("utf-8"))[
        "rows"
    ]
    assert set(reference) == set(CONTROLLERS)
    with pytest.raises(ValueError, match="unstable"):
        tableaus.Controller(beta=["5/2"], name="wild")
    with pytest.raises(ValueError, match="beta has 4 numbers"):
        tableaus.Controller(beta=[1, 1, 1, 1])
