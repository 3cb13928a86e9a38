"""Numbers of the Gauss method of eight stages, its stages in eight lanes.

    Yᵢ = y + ½ S + Σⱼ νᵢⱼ Lⱼ,   S = Σⱼ Lⱼ,   Lⱼ = h bⱼ f(Yⱼ),   νᵢⱼ = aᵢⱼ/bⱼ − ½

νᵢⱼ = −νⱼᵢ is symplecticity and ν₉₋ᵢ,₉₋ⱼ = −νᵢⱼ symmetry; both hold to the last bit, because one triangle is rounded and
the rest are copies with their signs.  First guesses of the Lⱼ are values of the polynomial of degree seven through
those of an earlier step, at the nodes of the new one.  Everything is computed in extended precision and rounded once.
Sources: Hairer, McLachlan and Razakarivony 2008; Antoñana, Makazaga and Murua 2017 (the antisymmetric form).
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.tableaus.collocation import GAUSS
from integrators.tableaus.numbers import decimal

STAGES = 8
_WORKING = Context(prec=60)
Array = NDArray[np.float64]


class GaussInLanes(NamedTuple):
    """The numbers as float64; matrices by columns, one register of eight stages per column.

    Attributes
    ----------
    nu : (8, 8)
        Column j of ν as row j.
    b, c : (8,)
    highest : (8,)
        √15 P₇(2cⱼ − 1): Σⱼ of it times Lⱼ is h times the highest Legendre coefficient of the stages' derivatives.
    ends : (8, 8)
        By columns, four rows and zeros: ℓⱼ(0)/bⱼ and ℓⱼ(1)/bⱼ, which times Lⱼ sum up to h times the field at the start
        and the end of the step; √13 P₆(2cⱼ − 1), the same as `highest` for the coefficient below; `highest`.
    same, down, up, again : (8, 8)
        First guesses of the L from those of: the step before, of the same size; of twice the size; of half the size;
        the same step, which was taken twice as large and rejected.
    """

    nu: Array
    b: Array
    c: Array
    highest: Array
    ends: Array
    same: Array
    down: Array
    up: Array
    again: Array

    def packed(self) -> Array:
        """All of them in a row, in this order."""
        return np.concatenate([x.ravel() for x in self])


@cache
def gauss_in_lanes() -> GaussInLanes:
    """The numbers of GAUSS(8)."""
    tableau = GAUSS(STAGES)
    with localcontext(_WORKING):
        a, b = [[decimal(x) for x in row] for row in tableau.A], [decimal(x) for x in tableau.b]
        c = [decimal(x) for x in tableau.c]
        guesses = [
            [[size * b[i] * _lagrange(c, j, start + size * c[i]) / b[j] for i in range(STAGES)] for j in range(STAGES)]
            for start, size in ((1, Decimal(1)), (1, Decimal("0.5")), (1, Decimal(2)), (0, Decimal("0.5")))
        ]
        highest = [Decimal(15).sqrt() * _legendre7(2 * x - 1) for x in c]
        below = [Decimal(13).sqrt() * _legendre6(2 * x - 1) for x in c]
        at_start = [_lagrange(c, j, Decimal(0)) / b[j] for j in range(STAGES)]
        nu = _antisymmetric([[a[i][j] / b[j] - Decimal("0.5") for j in range(STAGES)] for i in range(STAGES)])
    odd = _rounded(highest)
    odd = 0.5 * (odd - odd[::-1])
    even = _rounded(b)
    start = _rounded(at_start)
    ends = np.zeros((STAGES, STAGES))
    ends[:, :4] = np.transpose([start, start[::-1], _rounded(below), odd])
    vectors = (0.5 * (even + even[::-1]), _rounded(c), odd, ends)
    return GaussInLanes(nu.T.copy(), *vectors, *(_rounded(g) for g in guesses))


def _rounded(x: Any) -> Array:
    return np.array(x, dtype=np.float64)


def _antisymmetric(nu: list[list[Decimal]]) -> Array:
    """ν, rounded below both diagonals and copied with its signs."""
    out = np.zeros((STAGES, STAGES))
    for i in range(STAGES):
        for j in range(i):
            if i + j <= STAGES - 1:
                x = float(nu[i][j])
                out[i, j], out[STAGES - 1 - j, STAGES - 1 - i] = x, x
                out[j, i], out[STAGES - 1 - i, STAGES - 1 - j] = -x, -x
    return out


def _lagrange(c: list[Decimal], j: int, x: Decimal) -> Decimal:
    """ℓⱼ(x)."""
    value = Decimal(1)
    for i, node in enumerate(c):
        if i != j:
            value *= (x - node) / (c[j] - node)
    return value


def _legendre6(x: Decimal) -> Decimal:
    """P₆(x)."""
    return (231 * x**6 - 315 * x**4 + 105 * x**2 - 5) / 16


def _legendre7(x: Decimal) -> Decimal:
    """P₇(x)."""
    return (429 * x**7 - 693 * x**5 + 315 * x**3 - 35 * x) / 16
