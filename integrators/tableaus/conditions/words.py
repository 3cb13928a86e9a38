"""Series in words: the free associative algebra up to a given weight.

A word is a tuple of letters, a series a dict from words to coefficients.  The words kept are listed once (`words`); the
list contains every beginning and every end of its words, so a product of truncated series is the truncated product.

Every composition of flows is such a series (exp(a X) exp(b Y) ↔ the product of two exponentials), and every order
condition of splittings, compositions, Crouch-Grossman, commutator-free and Magnus methods is a coefficient of one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

Word = tuple[Any, ...]
Series = Mapping[Word, Any]
ONE: Series = {(): Decimal(1)}
"""The identity: coefficient 1 on the empty word."""


def words(
    letters: Mapping[Hashable, int], highest: int, keep: Callable[[Word], bool] = lambda word: True
) -> list[Word]:
    """All words of weight at most `highest` in letters of the given weights, shorter ones first; `keep` may forbid
    more.

    With a word, `keep` must allow all its parts.
    """
    found: list[Word] = []
    layer: list[tuple[Word, int]] = [((), 0)]
    while layer:
        found += [word for word, _ in layer]
        longer = (((*word, a), weight + w) for word, weight in layer for a, w in letters.items())
        layer = [(word, weight) for word, weight in longer if weight <= highest and keep(word)]
    return found


def product(p: Series, q: Series, kept: Iterable[Word]) -> dict[Word, Any]:
    """p q: the coefficient at w is Σ p(u) q(v) over w = uv."""
    result = {}
    for w in kept:
        terms = [p[w[:k]] * q[w[k:]] for k in range(len(w) + 1) if w[:k] in p and w[k:] in q]
        if terms:
            result[w] = sum(terms[1:], start=terms[0])
    return result


def combination(terms: Iterable[tuple[Any, Series]]) -> dict[Word, Any]:
    """Σ coefficient · series."""
    result: dict[Word, Any] = {}
    for coefficient, series in terms:
        for w, x in series.items():
            result[w] = result[w] + coefficient * x if w in result else coefficient * x
    return result


def commutator(p: Series, q: Series, kept: Sequence[Word]) -> dict[Word, Any]:
    """p q − q p."""
    return combination([(1, product(p, q, kept)), (-1, product(q, p, kept))])


def exponential(x: Series, kept: Sequence[Word]) -> dict[Word, Any]:
    """1 + x + x²/2! + … for a series without constant term."""
    result, power = dict(ONE), dict(ONE)
    for k in range(1, max(map(len, kept)) + 1):
        power = {w: a / k for w, a in product(power, x, kept).items()}
        if not power:
            break
        result = combination([(1, result), (1, power)])
    return result


def followed(p: Series, letter: Hashable, x: Any, kept: Iterable[Word]) -> dict[Word, Any]:
    """p exp(x letter): the coefficient at w is Σ p(u) xᵏ/k! over w = u letterᵏ."""
    result = dict(p)
    for w in kept:
        share, k = x, 1
        while k <= len(w) and w[-k] == letter:
            result[w] = result.get(w, 0) + p.get(w[:-k], 0) * share
            k += 1
            share = share * x / k
    return result


def logarithm(p: Series, kept: Sequence[Word], sign: int = -1) -> dict[Word, Any]:
    """log(1 + x) = x − x²/2 + …; `sign` = +1 gives x + x²/2 + …, the size of its terms."""
    x = {w: a for w, a in p.items() if w}
    power, result = dict(x), dict(x)
    for k in range(2, max(map(len, kept)) + 1):
        power = {w: sign * a for w, a in product(power, x, kept).items()}
        result = combination([(1, result), (1 / Decimal(k), power)])
    return result
