"""The order of a method, computed from its coefficients.

Every function returns a `Verdict`: the order reached, and the first condition that fails beyond it.  Arrays are arrays
of decimals (or fractions); `u` is the relative accuracy of the coefficients.  A condition with n factors in each term
holds if its residual is at most 2 n u Σ|terms|: what rounding the coefficients can do to it, and no more.

Sources: rooted trees, simplifying assumptions: J. C. Butcher, Math. Comp. 18 (1964); E. Hairer, S. P. Nørsett, G.
Wanner, Solving Ordinary Differential Equations I, II.2.  Two colours: E. Hairer, Computing 27 (1981).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from integrators.tableaus.conditions.precision import precise
from integrators.tableaus.conditions.trees import ElementaryWeights, Tree, alternating, density, rooted_trees, text

HIGHEST = 10
"""Highest order examined tree by tree (1205 trees)."""
HIGHEST_PARTITIONED = 8
"""The same with two colours (28 000 trees)."""

Condition = tuple[str, Any, Any, float]
"""A description, the value, what it should be, and the bound on their difference."""


class Verdict(NamedTuple):
    """The order reached and the first condition that fails beyond it (empty if the search ended there)."""

    order: int
    failure: str


class Simplifying(NamedTuple):
    """Σ bᵢcᵢᵏ⁻¹ = 1/k (k ≤ B),  Σⱼ aᵢⱼcⱼᵏ⁻¹ = cᵢᵏ/k (k ≤ C),  Σᵢ bᵢcᵢᵏ⁻¹aᵢⱼ = bⱼ(1−cⱼᵏ)/k (k ≤ D)."""

    B: int
    C: int
    D: int

    @property
    def order(self) -> int:
        """Order they guarantee: min(B, C + D + 1, 2C + 2)."""
        return min(self.B, self.C + self.D + 1, 2 * self.C + 2)


def order_by(conditions: Callable[[int], Iterable[Condition]], highest: int, known: int = 0) -> Verdict:
    """The largest order up to `highest` whose conditions all hold, `known` being established already."""
    for n in range(known + 1, highest + 1):
        for name, value, expected, bound in conditions(n):
            if not abs(value - expected) <= bound:
                return Verdict(n - 1, f"order {n}: {name} gives {float(value):.17g}, should be {float(expected):.17g}")
    return Verdict(max(known, highest), "")


@precise
def simplifying_assumptions(A: Any, b: Any, c: Any, u: float) -> Simplifying:
    """The largest B, C, D of the table (at most twice the number of stages)."""
    stages = len(b)
    powers = [_like(b, 1) + 0 * c]
    while len(powers) <= 2 * stages:
        powers.append(powers[-1] * c)

    def largest(residual: Callable[[int], Any], scale: Callable[[int], Any]) -> int:
        for k in range(1, 2 * stages + 1):
            if not np.all(abs(_floats(residual(k))) <= 2 * (k + 1) * u * _floats(scale(k))):
                return k - 1
        return 2 * stages

    one = powers[0]
    return Simplifying(
        largest(lambda k: k * (b @ powers[k - 1]) - one[0], lambda k: k * (abs(b) @ abs(powers[k - 1])) + 1),
        largest(
            lambda k: k * (A @ powers[k - 1]) - powers[k], lambda k: k * (abs(A) @ abs(powers[k - 1])) + abs(powers[k])
        ),
        largest(
            lambda k: k * ((b * powers[k - 1]) @ A) - b * (one - powers[k]),
            lambda k: k * (abs(b * powers[k - 1]) @ abs(A)) + abs(b) * (one + abs(powers[k])),
        ),
    )


@precise
def classical_order(A: Any, b: Any, u: float, known: int = 0) -> Verdict:
    """Order of a Runge-Kutta method: Σ bᵢφᵢ(t) = 1/γ(t) for all rooted trees with at most `order` nodes."""
    phi, size = ElementaryWeights(A), ElementaryWeights(_absolute(A))
    b_size = _absolute(b)

    def conditions(n: int) -> Iterator[Condition]:
        for tree in rooted_trees(n):
            yield (
                f"tree {text(tree)}",
                b @ phi(tree),
                1 / _like(b, density(tree)),
                2 * n * u * float(b_size @ size(tree)),
            )

    return order_by(conditions, HIGHEST, known)


@precise
def dense_order(A: Any, b_theta: Any, u: float) -> Verdict:
    """Order of a continuous extension bᵢ(θ) = Σₖ b_theta[i, k] θᵏ⁺¹: Σ bᵢ(θ) φᵢ(t) = θ^|t| / γ(t), power by power."""
    phi, size = ElementaryWeights(A), ElementaryWeights(_absolute(A))
    columns, column_sizes = b_theta.T, _absolute(b_theta).T

    def conditions(n: int) -> Iterator[Condition]:
        for tree in rooted_trees(n):
            for k, (column, column_size) in enumerate(zip(columns, column_sizes, strict=True), 1):
                expected = 1 / _like(column, density(tree)) if k == n else _like(column, 0)
                bound = 2 * n * u * float(column_size @ size(tree))
                yield f"tree {text(tree)}, power θ^{k}", column @ phi(tree), expected, bound
            if n > len(columns):
                yield (
                    f"tree {text(tree)}, power θ^{n} missing",
                    _like(b_theta[0], 0),
                    1 / _like(b_theta[0], density(tree)),
                    0.0,
                )

    return order_by(conditions, HIGHEST)


@precise
def partitioned_order(matrices: Any, weights: Any, u: float, known: int = 0, *, separable: bool = False) -> Verdict:
    """Order of a partitioned method, by trees with two colours; `separable`: for q' = f(p), p' = g(q) only."""
    phi, size = ElementaryWeights(*matrices), ElementaryWeights(*map(_absolute, matrices))
    sizes = [_absolute(b) for b in weights]

    def relevant(n: int) -> Iterator[Tree]:
        return (t for t in rooted_trees(n, 2) if not separable or alternating(t))

    def conditions(n: int) -> Iterator[Condition]:
        for tree in relevant(n):
            b = weights[tree[0]]
            yield (
                f"tree {text(tree)}",
                b @ phi(tree),
                1 / _like(b, density(tree)),
                2 * n * u * float(sizes[tree[0]] @ size(tree)),
            )

    return order_by(conditions, HIGHEST_PARTITIONED, known)


def _like(numbers: Any, value: int) -> Any:
    """The whole number in the arithmetic of the array."""
    return type(numbers[0])(value)


def _absolute(numbers: Any) -> Any:
    return abs(_floats(numbers))


def _floats(numbers: Any) -> Any:
    return np.array(numbers, dtype=np.float64)
