"""Order conditions of methods built from exponentials: Crouch-Grossman, commutator-free, two-register, Magnus, reduced
RKMK.

A flow g' = gξ(g) and its numerical map are series in words whose letters are rooted trees (with ordered branches): the
word t₁t₂…tₖ stands for the product of left-invariant derivatives along the frozen fields of the trees, first factor
applied first. Branches of a tree form a word again, so the field frozen at a stage point Y has the coefficient Y[t] on
the tree with branches t.

    exact:      α(t₁…tₖ) = ∏ⱼ α(branches of tⱼ) / (|t₁| + … + |tⱼ|)
    numerical:  products of exponentials of Σᵢ βᵢFᵢ and of brackets of such sums

For linear problems g' = gA(t), A(t) = Σ aₖtᵏ, the letters are k with weight k + 1 and Fᵢ = Σ cᵢᵏ aₖ.

Sources: P. E. Crouch, R. Grossman, J. Nonlinear Sci. 3 (1993); B. Owren, A. Marthinsen, BIT 39 (1999); B. Owren, J.
Phys. A 39 (2006).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import accumulate
from typing import Any

from integrators.tableaus.conditions.order_conditions import Condition, Verdict, order_by
from integrators.tableaus.conditions.precision import precise
from integrators.tableaus.conditions.trees import text
from integrators.tableaus.conditions.words import (
    ONE,
    Series,
    Word,
    combination,
    commutator,
    exponential,
    product,
    words,
)

HIGHEST_NONLINEAR = 6
"""Highest order examined for nonlinear problems (1, 2, 5, 14, 42, 132 conditions per order)."""
HIGHEST_LINEAR = 8
"""Highest order examined for linear problems (2ⁿ⁻¹ conditions per order)."""
Exponents = Sequence[Sequence[Any]]
"""Exponentials in order of application, each a row of coefficients over F₁ … Fₛ and the brackets."""
Brackets = Sequence[tuple[Sequence[Any], Sequence[Any]]]
"""Brackets [Σ lᵢFᵢ, Σ rᵢFᵢ], each a pair of rows over F₁ … Fₛ and the brackets before it."""


@precise
def nonlinear_order(stages: Sequence[Exponents], brackets: Brackets, final: Exponents, u: float) -> Verdict:
    """Order for g' = gξ(t, g) of the map g₁ = g₀ ∏ exp(final), with stages Yᵢ = g₀ ∏ exp(stages[i])."""
    sizes = [_absolute(e) for e in stages], _absolute_pairs(brackets), _absolute(final)

    def conditions(n: int) -> Iterator[Condition]:
        kept = forests(n)
        value, size = _map(kept, stages, brackets, final, -1), _map(kept, *sizes, 1)
        for w in (w for w in kept if nodes(w) == n):
            name = " ".join(text(tree) for tree in w)
            yield f"forest {name}", value.get(w, Decimal(0)), _exact_forest(w), 4 * n * u * float(size.get(w, 0))

    return order_by(conditions, HIGHEST_NONLINEAR)


@precise
def linear_order(c: Sequence[Any], brackets: Brackets, final: Exponents, u: float) -> Verdict:
    """Order for g' = gA(t) of the map g₁ = g₀ ∏ exp(final), with Fᵢ = hA(t + cᵢh)."""
    sizes = [abs(x) for x in c], _absolute_pairs(brackets), _absolute(final)

    def series(
        n: int, kept: Sequence[Word], c: Sequence[Any], brackets: Brackets, final: Exponents, sign: int
    ) -> Series:
        fields = [{(k,): Decimal(x) ** k if k else Decimal(1) for k in range(n)} for x in c]
        return _composed(final, _with_brackets(fields, brackets, kept, sign), kept)

    def conditions(n: int) -> Iterator[Condition]:
        kept = words({k: k + 1 for k in range(n)}, n)
        value, size = series(n, kept, c, brackets, final, -1), series(n, kept, *sizes, 1)
        for w in (w for w in kept if sum(w) + len(w) == n):
            exact = Decimal(1) / math.prod(accumulate(k + 1 for k in w))
            yield f"word {w}", value.get(w, Decimal(0)), exact, 4 * n * u * float(size.get(w, 0))

    return order_by(conditions, HIGHEST_LINEAR)


@precise
def linear_symmetric(c: Sequence[Any], brackets: Brackets, final: Exponents, u: float) -> bool:
    """True if the step with −h undoes the step: Fᵢ → −Fₛ₊₁₋ᵢ turns the J-th exponent into minus the J-th from the
    end.
    """
    s = len(c)
    if any(abs(x + y - 1) > 8 * u for x, y in zip(c, reversed(c), strict=True)):
        return False
    kept = words(dict.fromkeys(range(s), 1), max(_depths(s, brackets)))

    def exponents(fields: Sequence[Series], brackets: Brackets, final: Exponents, sign: int) -> list[Series]:
        known = _with_brackets(fields, brackets, kept, sign)
        return [combination(zip(r, known, strict=False)) for r in final]

    letters: list[Series] = [{(i,): Decimal(1)} for i in range(s)]
    forward = exponents(letters, brackets, final, -1)
    backward = exponents([{(s - 1 - i,): Decimal(-1)} for i in range(s)], brackets, final, -1)
    sizes = exponents(letters, _absolute_pairs(brackets), _absolute(final), 1)
    return all(
        abs(there.get(w, Decimal(0)) + back.get(w, Decimal(0)))
        <= 8 * len(kept[-1]) * u * float(size.get(w, 0) + other.get(w, 0))
        for there, back, size, other in zip(forward, reversed(backward), sizes, reversed(sizes), strict=True)
        for w in kept
    )


def _depths(stages: int, brackets: Brackets) -> list[int]:
    """Number of factors F in each field and bracket."""
    depths = [1] * stages
    for pair in brackets:
        depths.append(sum(max(d for d, x in zip(depths, side, strict=False) if x) for side in pair))
    return depths


@precise
def estimate_holds(
    stages: Sequence[Exponents], final: Exponents, final_hat: Exponents, estimate: Sequence[Any], order: int, u: float
) -> bool:
    """True if g₁ = ĝ₁ exp(Σ estimateᵢFᵢ) up to the first order in which the embedded method of order `order`
    differs.
    """
    kept = forests(order + 1)
    corrected = [*final_hat, estimate]
    absolute = [_absolute(e) for e in stages]
    values = [_map(kept, stages, (), e, -1) for e in (final, corrected)]
    sizes = [_map(kept, absolute, (), _absolute(e), 1) for e in (final, corrected)]
    return all(
        abs(values[0].get(w, Decimal(0)) - values[1].get(w, Decimal(0)))
        <= 4 * (order + 1) * u * float(sum(x.get(w, Decimal(0)) for x in sizes))
        for w in kept
    )


@cache
def forests(highest: int) -> tuple[Word, ...]:
    """All words of trees with at most `highest` nodes; a tree is the word of its branches."""
    trees: dict[Hashable, int] = {}
    for n in range(1, highest + 1):  # a tree of n nodes is a forest of n − 1
        trees |= {forest: n for forest in words(trees, n - 1) if nodes(forest) == n - 1}
    return tuple(words(trees, highest))


@cache
def nodes(forest: Word) -> int:
    """Number of nodes."""
    return sum(1 + nodes(tree) for tree in forest)


@cache
def _exact_forest(forest: Word) -> Decimal:
    sizes = accumulate(1 + nodes(tree) for tree in forest)
    return math.prod((_exact_forest(tree) / n for tree, n in zip(forest, sizes, strict=True)), start=Decimal(1))


def _map(kept: Sequence[Word], stages: Sequence[Exponents], brackets: Brackets, final: Exponents, sign: int) -> Series:
    """The series of the map: stage by stage, each bracket as soon as its fields are known."""
    trees = [w[0] for w in kept if len(w) == 1]
    fields: list[Series] = []
    for exponents in stages:
        known = _with_brackets(fields, brackets, kept, sign, len(stages))
        point = _composed(exponents, known, kept)
        fields.append({(tree,): point[tree] for tree in trees if tree in point})
    return _composed(final, _with_brackets(fields, brackets, kept, sign, len(stages)), kept)


def _with_brackets(
    fields: Sequence[Series], brackets: Brackets, kept: Sequence[Word], sign: int, stages: int | None = None
) -> list[Series]:
    """The fields known so far (empty series for the others), then the brackets; `sign` = +1: sizes of terms."""
    known = [*fields, *[{}] * ((stages or len(fields)) - len(fields))]
    for left, right in brackets:
        p, q = (combination((a, x) for a, x in zip(side, known, strict=False) if a) for side in (left, right))
        known.append(
            commutator(p, q, kept) if sign < 0 else combination([(1, product(p, q, kept)), (1, product(q, p, kept))])
        )
    return known


def _composed(exponents: Exponents, known: Sequence[Series], kept: Sequence[Word]) -> Series:
    result = ONE
    for coefficients in exponents:
        result = product(
            result, exponential(combination((a, x) for a, x in zip(coefficients, known, strict=False) if a), kept), kept
        )
    return result


def _absolute(exponents: Exponents) -> list[list[Any]]:
    """Absolute values: with plus signs in the brackets their series bounds every term of the other one."""
    return [[abs(x) for x in r] for r in exponents]


def _absolute_pairs(brackets: Brackets) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    return [([abs(x) for x in left], [abs(x) for x in right]) for left, right in brackets]
