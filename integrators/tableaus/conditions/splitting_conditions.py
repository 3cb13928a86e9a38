"""Order conditions of compositions and splittings.

Compositions: a symmetric second-order map is exp(hY₁ + h³Y₃ + h⁵Y₅ + …); splittings: exp(a₁hT) exp(b₁hV) ….
The order is p if the product agrees with exp(h(Y₁)) or exp(h(T + V)) on all words of weight at most p.

Runge-Kutta-Nyström splittings need less.  T is quadratic in the momenta and V a function of the configuration, so a
bracket of m letters T and n letters V has degree m − n + 1 in the momenta and vanishes for n > m + 1, on every
cotangent bundle T*G. Then the logarithm of the product may differ from T + V by the ideal that these brackets span.

Sources: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, III.3-5; S. Blanes, P. C. Moan,
J. Comput. Appl. Math. 142 (2002).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import factorial
from typing import Any

from integrators.tableaus.conditions.order_conditions import Condition, Verdict, order_by
from integrators.tableaus.conditions.precision import precise
from integrators.tableaus.conditions.words import (
    ONE,
    Series,
    Word,
    commutator,
    followed,
    logarithm,
    product,
    words,
)

HIGHEST_COMPOSITION = 10
"""Highest order examined for compositions."""
HIGHEST_SPLITTING = 8
"""Highest order examined for splittings."""
HIGHEST_PERTURBATION = 12
"""Highest order in h examined for near-integrable splittings."""
Flow = tuple[str, Any]
"""A letter and how long to follow its flow."""


@precise
def composition_order(weights: Sequence[Any], u: float) -> Verdict:
    """Order of S(g₁h) S(g₂h) … for any symmetric second-order map S."""

    def conditions(n: int) -> Iterator[Condition]:
        kept = words({k: k for k in range(1, n + 1, 2)}, n)
        value, size = (_composed(kept, g) for g in (weights, [abs(x) for x in weights]))
        for w in (w for w in kept if sum(w) == n):
            yield (
                f"word {w}",
                value[w],
                Decimal(1) / factorial(n) if len(w) == n else Decimal(0),
                2 * n * u * float(size[w]),
            )

    return order_by(conditions, HIGHEST_COMPOSITION)


def _composed(kept: Sequence[Word], weights: Sequence[Any]) -> Series:
    result = ONE
    for g in weights:
        result = product(result, {w: g ** sum(w) / factorial(len(w)) for w in kept}, kept)
    return result


@precise
def splitting_order(flows: Sequence[Flow], u: float, highest: int = HIGHEST_SPLITTING) -> Verdict:
    """Order of a product of flows of T and V, whatever T and V are."""

    def conditions(n: int) -> Iterator[Condition]:
        kept = words({"T": 1, "V": 1}, n)
        yield from _exact_conditions(flows, kept, [w for w in kept if len(w) == n], u)

    return order_by(conditions, highest)


@precise
def perturbation_orders(flows: Sequence[Flow], u: float) -> tuple[int, ...]:
    """Orders (n₁, n₂, …) for V of size ε: the error is O(ε hⁿ¹ + ε² hⁿ² + …) per unit of time, falling until they
    settle.
    """
    orders = [HIGHEST_PERTURBATION]
    while len(orders) < 2 or orders[-1] < orders[-2]:
        k = len(orders)

        def conditions(n: int, k: int = k) -> Iterator[Condition]:
            kept = words({"T": 1, "V": 1}, n, lambda w: w.count("V") <= k)
            yield from _exact_conditions(flows, kept, [w for w in kept if len(w) == n and w.count("V") in (0, k)], u)

        orders.append(order_by(conditions, orders[-1]).order)
    return tuple(orders[1:-1]) or (orders[-1],)


def _exact_conditions(
    flows: Sequence[Flow], kept: Sequence[Word], asked: Sequence[Word], u: float
) -> Iterator[Condition]:
    """The product agrees with exp(T + V), whose coefficient is 1/length! on every word."""
    value, size = _flown(flows, kept)
    for w in asked:
        n = len(w)
        yield (
            f"word {''.join(w)}",
            value.get(w, Decimal(0)),
            Decimal(1) / factorial(n),
            2 * n * u * float(size.get(w, 0)),
        )


def _flown(flows: Sequence[Flow], kept: Sequence[Word]) -> tuple[Series, Series]:
    """The product of the flows, and the size of its terms."""
    value, size = ONE, ONE
    for letter, a in flows:
        value, size = followed(value, letter, a, kept), followed(size, letter, abs(a), kept)
    return value, size


@precise
def nystrom_order(flows: Sequence[Flow], u: float) -> Verdict:
    """Order of a product of flows for T quadratic in the momenta and V a function of the configuration."""

    def conditions(n: int) -> Iterator[Condition]:
        kept = words({"T": 1, "V": 1}, n)
        value, size = _flown(flows, kept)
        logarithms = logarithm(value, kept), logarithm(size, kept, sign=1)
        rest, rest_size = (_modulo_ideal(series, n, sign) for series, sign in zip(logarithms, (-1, 1), strict=True))
        for w in (w for w in kept if len(w) == n):
            yield (
                f"word {''.join(w)}",
                rest.get(w, Decimal(0)),
                Decimal(int(n == 1)),
                2 * n * u * float(rest_size.get(w, 0)),
            )

    return order_by(conditions, HIGHEST_SPLITTING)


def _modulo_ideal(series: Series, n: int, sign: int) -> Series:
    """The part of grade n without its component in the ideal; `sign` = +1: sizes instead of values."""
    rest = {w: x for w, x in series.items() if len(w) == n}
    for pivot, row in ideal(n).items():
        share = rest.get(pivot, Decimal(0))
        for w, a in row.items():
            change = Decimal(a.numerator) / a.denominator
            rest[w] = (
                rest.get(w, Decimal(0)) - share * change if sign < 0 else rest.get(w, Decimal(0)) + share * abs(change)
            )
    return rest


@cache
def ideal(n: int) -> Mapping[Word, Mapping[Word, Fraction]]:
    """Reduced basis of grade n of the brackets that vanish for simple mechanical systems, each row by its pivot word
    (coefficient 1).
    """
    kept = words({"T": 1, "V": 1}, n)
    vanishing = [bracket(w) for w in lyndon_words(n) if w.count("V") > w.count("T") + 1]
    inherited = [
        commutator({(a,): Fraction(1)}, row, kept) for row in (ideal(n - 1).values() if n > 1 else ()) for a in "TV"
    ]
    basis: dict[Word, dict[Word, Fraction]] = {}
    for element in [*vanishing, *inherited]:
        _insert(basis, {w: x for w, x in element.items() if x})
    return basis


def _insert(basis: dict[Word, dict[Word, Fraction]], element: dict[Word, Fraction]) -> None:
    """One step of Gauss-Jordan elimination; nothing happens if the element depends on the basis."""
    for pivot, row in basis.items():
        element = _subtract(element, row, element.get(pivot, Fraction(0)))
    if element:
        pivot = min(element)
        element = {w: x / element[pivot] for w, x in element.items()}
        for other, row in basis.items():
            basis[other] = _subtract(row, element, row.get(pivot, Fraction(0)))
        basis[pivot] = element


def _subtract(p: Mapping[Word, Fraction], q: Mapping[Word, Fraction], share: Fraction) -> dict[Word, Fraction]:
    result = dict(p)
    for w, x in q.items():
        result[w] = result.get(w, Fraction(0)) - share * x
    return {w: x for w, x in result.items() if x}


@cache
def lyndon_words(n: int) -> tuple[Word, ...]:
    """Words of T and V of length n that precede all their rotations: a basis of the free Lie algebra (2, 1, 2, 3, 6, 9,
    18, 30, 56).
    """
    return tuple(w for w in words({"T": 1, "V": 1}, n) if len(w) == n and all(w < w[k:] + w[:k] for k in range(1, n)))


@cache
def bracket(word: Word) -> Mapping[Word, Fraction]:
    """The bracket of a Lyndon word: [bracket(u), bracket(v)] with v its longest proper end that is a Lyndon word."""
    if len(word) == 1:
        return {word: Fraction(1)}
    cut = next(k for k in range(1, len(word)) if word[k:] in lyndon_words(len(word) - k))
    return commutator(bracket(word[:cut]), bracket(word[cut:]), words({"T": 1, "V": 1}, len(word)))
