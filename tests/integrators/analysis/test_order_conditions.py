"""Counts and values of the order conditions against the literature and against independent formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from integrators.tableaus import COMMUTATOR_FREE, COMPOSITIONS, EXPLICIT, GAUSS, LINEAR, SPLITTINGS
from integrators.tableaus.conditions import lie_conditions, splitting_conditions, trees, words
from integrators.tableaus.conditions.order_conditions import classical_order, dense_order, simplifying_assumptions
from integrators.tableaus.conditions.precision import precise

ROOTED = [1, 1, 2, 4, 9, 20, 48, 115, 286, 719]


def test_numbers_of_trees_are_the_known_ones() -> None:
    assert [len(trees.rooted_trees(n)) for n in range(1, 11)] == ROOTED
    assert [len(trees.rooted_trees(n, 2)) for n in range(1, 7)] == [2, 4, 14, 52, 214, 916]
    assert trees.count(range(1, 9)) == 200


def test_trees_are_all_different() -> None:
    for colours in (1, 2):
        for n in range(1, 7):
            found = trees.rooted_trees(n, colours)
            assert len({_unordered(t) for t in found}) == len(found)
            assert all(trees.size(t) == n for t in found)


def _unordered(tree: Any) -> Any:
    root = tree[0] if tree and isinstance(tree[0], int) else ""
    return root, tuple(sorted(map(_unordered, trees.children(tree)), key=repr))


def test_monotonic_labellings_count_the_factorial() -> None:
    """Σ over trees of n!/(γ σ) = (n − 1)!, with σ the order of the symmetry group (Butcher)."""
    for n in range(1, 9):
        total = sum(Fraction(math.factorial(n), trees.density(t) * _symmetry(t)) for t in trees.rooted_trees(n))
        assert total == math.factorial(n - 1)


def _symmetry(tree: Any) -> int:
    counts = {t: tree.count(t) for t in tree}
    return math.prod(math.factorial(k) * _symmetry(t) ** k for t, k in counts.items())


def test_numbers_of_forests_are_catalan_numbers() -> None:
    counts = [sum(lie_conditions.nodes(w) == n for w in lie_conditions.forests(6)) for n in range(1, 7)]
    assert counts == [1, 2, 5, 14, 42, 132]


def test_numbers_of_lyndon_words_and_of_the_nystrom_quotient_are_the_known_ones() -> None:
    free = [len(splitting_conditions.lyndon_words(n)) for n in range(1, 9)]
    assert free == [2, 1, 2, 3, 6, 9, 18, 30]
    assert [f - len(splitting_conditions.ideal(n)) for n, f in enumerate(free, 1)] == [2, 1, 2, 2, 4, 5, 10, 14]


@pytest.mark.slow
def test_the_nystrom_quotient_of_grade_nine_is_the_known_one() -> None:
    assert len(splitting_conditions.lyndon_words(9)) - len(splitting_conditions.ideal(9)) == 25


def test_brackets_of_lyndon_words_are_independent_lie_elements() -> None:
    for n in range(2, 7):
        rows = [splitting_conditions.bracket(w) for w in splitting_conditions.lyndon_words(n)]
        letters = [w for w in words.words({"T": 1, "V": 1}, n) if len(w) == n]
        matrix = np.array([[float(r.get(w, 0)) for w in letters] for r in rows])
        assert np.linalg.matrix_rank(matrix) == len(rows)
        assert np.all(matrix.sum(axis=1) == 0.0)


def test_exponential_and_logarithm_of_series_are_inverse_and_agree_with_matrices() -> None:
    kept = words.words({"x": 1, "y": 1}, 6)
    p = {("x",): Decimal("0.3"), ("y",): Decimal("-0.7"), ("x", "y"): Decimal("0.2")}
    back = words.logarithm(words.exponential(p, kept), kept)
    assert max(abs(back.get(w, Decimal(0)) - p.get(w, Decimal(0))) for w in kept) < Decimal("1e-25")
    X, Y = np.zeros((7, 7)), np.zeros((7, 7))  # strictly upper triangular: words longer than 6 vanish
    rng = np.random.default_rng(3)
    for k in range(6):
        X[k, k + 1 :], Y[k, k + 1 :] = rng.normal(size=6 - k), rng.normal(size=6 - k)
    series = words.exponential(p, kept)
    value = sum(float(a) * _word_product(w, {"x": X, "y": Y}) for w, a in series.items())
    from scipy.linalg import expm

    assert np.allclose(value, expm(0.3 * X - 0.7 * Y + 0.2 * X @ Y), atol=1e-12)


def _word_product(word: Sequence[str], letters: dict[str, Any]) -> Any:
    product = np.eye(7)
    for a in word:
        product = product @ letters[a]
    return product


def test_forest_conditions_of_single_trees_are_the_classical_ones() -> None:
    """On commuting flows only the forests with one tree per factor matter: a Lie scheme has at most its tableau's
    order.
    """
    for name in COMMUTATOR_FREE:
        scheme = COMMUTATOR_FREE[name]
        s = scheme.stages
        A = [[sum((r[j] for r in point), start=Fraction(0)) for j in range(s)] for point in scheme.points]
        b = [sum((r[j] for r in scheme.final), start=Fraction(0)) for j in range(s)]
        assert (
            classical_order(np.array(A, dtype=object).reshape(s, s), np.array(b, dtype=object), 0.0).order
            >= scheme.order
        )


@precise
def test_gauss_satisfies_the_simplifying_assumptions_and_all_trees() -> None:
    for s in (1, 2, 3, 4, 5):
        t = GAUSS(s)
        assert simplifying_assumptions(*t._decimals, t.uncertainty) == (2 * s, s, s)
        assert classical_order(*t._decimals[:2], t.uncertainty).order == 2 * s  # from the trees alone


def test_a_dense_output_of_too_low_degree_says_which_power_is_missing() -> None:
    t = EXPLICIT["rk4"]
    A, b = np.array(t.A, dtype=object), np.array(t.b, dtype=object)
    verdict = dense_order(A, b[:, None], 0.0)
    assert verdict.order == 1
    assert "θ^1" in verdict.failure or "missing" in verdict.failure


def test_a_composition_that_is_not_symmetric_loses_the_even_order() -> None:
    weights = list(map(float, COMPOSITIONS["SUZUKI4"].weights))
    exact = [Decimal(str(x)) for x in weights]
    assert splitting_conditions.composition_order(exact, 1e-15).order == 4
    assert splitting_conditions.composition_order([exact[2], *exact[:2], *exact[3:]], 1e-15).order == 3


def test_nystrom_splittings_owe_their_order_to_the_quotient() -> None:
    found = {
        n: (SPLITTINGS[n].order, SPLITTINGS[n].nystrom_order) for n in ("BM6_S10", "SRKN4_6B", "SRKN6_11B", "SRKN6_14A")
    }
    assert found == {"BM6_S10": (6, 6), "SRKN4_6B": (4, 4), "SRKN6_11B": (4, 6), "SRKN6_14A": (4, 6)}


def test_vanishing_brackets_vanish_for_a_mechanical_system() -> None:
    """[V, [V, [V, T]]] as Poisson brackets of T = p² m(q)/2 and V(q); [V, [V, T]] does not vanish."""
    q, p = sympy.symbols("q p")
    T, V = p**2 * (1 + q**2) / 2, q**4 + q

    def poisson(f: Any, g: Any) -> Any:
        return sympy.expand(sympy.diff(f, q) * sympy.diff(g, p) - sympy.diff(f, p) * sympy.diff(g, q))

    inner = poisson(V, poisson(V, T))
    assert inner != 0
    assert poisson(V, inner) == 0


def test_magnus_conditions_agree_with_a_matrix_problem() -> None:
    """The words decide: a scheme whose word conditions hold to order 6 has an error of order h⁷ on matrices."""
    from scipy.linalg import expm

    rng = np.random.default_rng(1)
    coefficients = rng.normal(size=(4, 3, 3)) / 2

    def A(t: float) -> Any:
        return sum(c * t**k for k, c in enumerate(coefficients))

    def step(name: str, h: float) -> Any:
        scheme = LINEAR[name]
        fields = [h * A(float(c) * h) for c in scheme.c]
        for left, right in scheme.brackets:
            x, y = (sum(float(a) * f for a, f in zip(side, fields, strict=False)) for side in (left, right))
            fields.append(x @ y - y @ x)
        result = np.eye(3)
        for r in scheme.final:
            result = result @ expm(sum(float(a) * f for a, f in zip(r, fields, strict=True)))
        return result

    def exact(h: float, terms: int = 30) -> Any:
        series = [np.eye(3)]
        for n in range(terms):
            series.append(sum(series[n - k] @ c for k, c in enumerate(coefficients) if k <= n) / (n + 1))
        return sum(x * h**n for n, x in enumerate(series))

    for name in LINEAR:
        errors = [np.abs(step(name, h) - exact(h)).max() for h in (1 / 4, 1 / 8)]
        assert math.log2(errors[0] / errors[1]) == pytest.approx(LINEAR[name].order + 1, abs=0.35)
