"""Gauss, Radau and Lobatto methods of any number of stages, computed in extended precision.

Nodes are the zeros of combinations of shifted Legendre polynomials; with ℓⱼ the Lagrange polynomials of the nodes

    bⱼ = ∫₀¹ ℓⱼ,   aᵢⱼ = ∫₀^cᵢ ℓⱼ        (collocation: C(s); Gauss, Radau IIA, Lobatto IIIA)

and the other families follow: the symplectic partner âᵢⱼ = bⱼ − bⱼaⱼᵢ/bᵢ turns C into D (Radau IA, Lobatto IIIB),
Lobatto IIIC puts b₁ in the first column and keeps C(s−1).  Everything is rounded once, to 41 digits, and from there
once to float64.

Sources: J. C. Butcher, Math. Comp. 18 (1964); B. L. Ehle (1969); R. P. K. Chan, Computing 45 (1990); L. O. Jay (1996);
E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, wraps
from typing import Any

import numpy as np

from integrators.tableaus.butcher import ButcherTableau
from integrators.tableaus.numbers import DIGITS, KEPT
from liegroup.arrays import shown

Polynomial = list[Decimal]
"""Coefficients by rising powers."""
MOST = 40
"""Largest number of stages for which the working precision is known to suffice."""


def _family(least: int) -> Callable[[Callable[[int], ButcherTableau]], Callable[[int], ButcherTableau]]:
    """Decorator of a family: checks the number of stages, works in enough digits, keeps the result."""

    def decorate(build: Callable[[int], ButcherTableau]) -> Callable[[int], ButcherTableau]:
        @cache
        def built(s: int) -> ButcherTableau:
            with localcontext(Context(prec=DIGITS + 3 * s)):
                return build(s)

        @wraps(build)
        def checked(s: int) -> ButcherTableau:
            if isinstance(s, bool) or not isinstance(s, (int, np.integer)) or not least <= s <= MOST:
                raise ValueError(
                    f"{build.__name__}: s = {shown(s)}: the number of stages must be a whole number from {least} to "
                    f"{MOST}"
                )
            return built(int(s))

        return checked

    return decorate


@_family(least=1)
def GAUSS(s: int) -> ButcherTableau:
    """Gauss: order 2s, symmetric and symplectic.

    Parameters
    ----------
    s : int
        Number of stages, 1 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> GAUSS(1).order, GAUSS(1).rounded.b.round(4).tolist()
    (2, [1.0])
    """
    c = _zeros([(s, 1)])
    return _tableau("GAUSS", s, 2 * s, *_collocation(c), symmetric=True, symplectic=True)


@_family(least=1)
def RADAU_IIA(s: int) -> ButcherTableau:
    """Radau IIA: order 2s − 1, stiffly accurate, R(∞) = 0.

    Parameters
    ----------
    s : int
        Number of stages, 1 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> RADAU_IIA(2).order, RADAU_IIA(2).rounded.c.round(4).tolist()
    (3, [0.3333, 1.0])
    """
    return _tableau("RADAU_IIA", s, 2 * s - 1, *_collocation(_zeros([(s, 1), (s - 1, -1)])), stiffly_accurate=True)


@_family(least=2)
def RADAU_IA(s: int) -> ButcherTableau:
    """Radau IA: order 2s − 1, R(∞) = 0.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> RADAU_IA(2).order, RADAU_IA(2).rounded.c.round(4).tolist()
    (3, [0.0, 0.6667])
    """
    A, b = _collocation(_zeros([(s, 1), (s - 1, 1)]))
    return _tableau("RADAU_IA", s, 2 * s - 1, _partner(A, b), b)


@_family(least=2)
def LOBATTO_IIIA(s: int) -> ButcherTableau:
    """Lobatto IIIA: order 2s − 2, symmetric, first and last stage are the ends of the step.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> LOBATTO_IIIA(2).order, LOBATTO_IIIA(2).rounded.A.round(4).tolist()
    (2, [[0.0, 0.0], [0.5, 0.5]])
    """
    return _tableau("LOBATTO_IIIA", s, 2 * s - 2, *_collocation(_lobatto(s)), symmetric=True, stiffly_accurate=True)


@_family(least=2)
def LOBATTO_IIIB(s: int) -> ButcherTableau:
    """Lobatto IIIB, the symplectic partner of IIIA: order 2s − 2, symmetric.

    For s = 2 the row sums are (1/2, 1/2), not the nodes (0, 1): in the pair IIIA-IIIB the time of a stage is IIIA's.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> LOBATTO_IIIB(2).order, LOBATTO_IIIB(2).rounded.A.round(4).tolist()
    (2, [[0.5, 0.0], [0.5, 0.0]])
    """
    A, b = _collocation(_lobatto(s))
    return _tableau("LOBATTO_IIIB", s, 2 * s - 2, _partner(A, b), b, symmetric=True)


@_family(least=2)
def LOBATTO_IIIC(s: int) -> ButcherTableau:
    """Lobatto IIIC: order 2s − 2, stiffly accurate, R(∞) = 0.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> LOBATTO_IIIC(2).order, LOBATTO_IIIC(2).rounded.A.round(4).tolist()
    (2, [[0.5, -0.5], [0.5, 0.5]])
    """
    return _tableau("LOBATTO_IIIC", s, 2 * s - 2, *_lobatto_iiic(s), stiffly_accurate=True)


@_family(least=2)
def LOBATTO_IIIC_STAR(s: int) -> ButcherTableau:
    """Lobatto IIIC*, the symplectic partner of IIIC: order 2s − 2, the last stage is explicit.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> LOBATTO_IIIC_STAR(2).order, LOBATTO_IIIC_STAR(2).rounded.A.round(4).tolist()
    (2, [[0.0, 0.0], [1.0, 0.0]])
    """
    A, b = _lobatto_iiic(s)
    return _tableau("LOBATTO_IIIC_STAR", s, 2 * s - 2, _partner(A, b), b)


@_family(least=2)
def LOBATTO_IIID(s: int) -> ButcherTableau:
    """Lobatto IIID = (IIIC + IIIC*)/2: order 2s − 2, symmetric and symplectic.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> LOBATTO_IIID(2).order, LOBATTO_IIID(2).rounded.A.round(4).tolist()
    (2, [[0.25, -0.25], [0.75, 0.25]])
    """
    A, b = _lobatto_iiic(s)
    return _tableau("LOBATTO_IIID", s, 2 * s - 2, (A + _partner(A, b)) / 2, b, symmetric=True, symplectic=True)


@_family(least=2)
def LOBATTO_IIIE(s: int) -> ButcherTableau:
    """Lobatto IIIE = (IIIA + IIIB)/2: order 2s − 2, symmetric and symplectic.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    ButcherTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Hairer and Wanner 1996, IV.5.

    Examples
    --------
    >>> LOBATTO_IIIE(2).order, LOBATTO_IIIE(2).rounded.A.round(4).tolist()
    (2, [[0.25, 0.0], [0.5, 0.25]])
    """
    A, b = _collocation(_lobatto(s))
    return _tableau("LOBATTO_IIIE", s, 2 * s - 2, (A + _partner(A, b)) / 2, b, symmetric=True, symplectic=True)


FAMILIES = {
    family.__name__: family
    for family in (
        GAUSS,
        RADAU_IA,
        RADAU_IIA,
        LOBATTO_IIIA,
        LOBATTO_IIIB,
        LOBATTO_IIIC,
        LOBATTO_IIIC_STAR,
        LOBATTO_IIID,
        LOBATTO_IIIE,
    )
}
"""The families by name."""


def _tableau(family: str, s: int, order: int, A: Any, b: Any, **claims: Any) -> ButcherTableau:
    return ButcherTableau(
        [[_rounded(x) for x in r] for r in A],
        [_rounded(x) for x in b],
        name=f"{family}({s})",
        claims={"order": order, **claims},
    )


def _rounded(x: Decimal) -> Fraction | Decimal:
    """To 41 digits after the point or 41 significant ones, whichever is coarser; short results are exact."""
    fixed = x.quantize(Decimal(1).scaleb(-KEPT))
    short = fixed.normalize()
    return Fraction(short) if len(short.as_tuple().digits) <= KEPT // 2 else Context(prec=KEPT).plus(fixed)


# --- nodes ------------------------------------------------------------------------------------------------------------


def _lobatto(s: int) -> list[Decimal]:
    return _zeros([(s, 1), (s - 2, -1)])


def _zeros(combination: Sequence[tuple[int, int]]) -> list[Decimal]:
    """Zeros in [0, 1], rising, of Σ w Pₙ(2x − 1) over (n, w); Newton's method from float64 zeros."""
    degree = combination[0][0]
    weights = np.zeros(degree + 1)
    for n, w in combination:
        weights[n] = w
    starts = np.sort((np.polynomial.legendre.legroots(weights).real + 1) / 2)

    def improved(x: Decimal) -> Decimal:
        for _ in range(8):  # doubles the digits each time
            values = [(w, *_legendre(n, x)) for n, w in combination]
            x = x - sum((w * p for w, p, _ in values), Decimal(0)) / sum((w * dp for w, _, dp in values), Decimal(0))
        return x.quantize(Decimal(1).scaleb(-DIGITS + 5))

    return [improved(Decimal(float(x))) for x in starts]


def _legendre(n: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """Pₙ(2x − 1) and its derivative in x, by the three-term recurrences."""
    y = 2 * x - 1
    before, p, slope_before, slope = Decimal(0), Decimal(1), Decimal(0), Decimal(0)
    for k in range(n):
        before, p, last = p, ((2 * k + 1) * y * p - k * before) / (k + 1), p
        slope_before, slope = slope, slope_before + 2 * (2 * k + 1) * last
    return p, slope


# --- matrices ---------------------------------------------------------------------------------------------------------


def _collocation(c: list[Decimal]) -> tuple[Any, Any]:
    """A and b of the collocation method with the nodes c."""
    integrals = [_integral(basis) for basis in _lagrange(c)]
    A = np.array([[_value(p, x) for p in integrals] for x in c], dtype=np.object_)
    return A, np.array([_value(p, Decimal(1)) for p in integrals], dtype=np.object_)


def _lobatto_iiic(s: int) -> tuple[Any, Any]:
    """First column b₁, and C(s − 1): the other columns integrate ℓ − b₁ℓ(0) over the nodes c₂ … cₛ."""
    c = _lobatto(s)
    _, b = _collocation(c)
    bases = _lagrange(c[1:])
    A = [[b[0]] + [_value(_integral(p), x) - b[0] * p[0] for p in bases] for x in c]
    return np.array(A, dtype=np.object_), b


def _partner(A: Any, b: Any) -> Any:
    """The symplectic partner âᵢⱼ = bⱼ − bⱼaⱼᵢ/bᵢ."""
    return b[None, :] - b[None, :] * A.T / b[:, None]


def _lagrange(c: list[Decimal]) -> list[Polynomial]:
    """ℓⱼ with ℓⱼ(cᵢ) = δᵢⱼ."""
    bases = []
    for j, cj in enumerate(c):
        p = [Decimal(1)]
        for i, ci in enumerate(c):
            if i != j:
                p = [
                    (low - ci * high) / (cj - ci) for low, high in zip([Decimal(0), *p], [*p, Decimal(0)], strict=True)
                ]
        bases.append(p)
    return bases


def _integral(p: Polynomial) -> Polynomial:
    return [Decimal(0)] + [x / (k + 1) for k, x in enumerate(p)]


def _value(p: Polynomial, x: Decimal) -> Decimal:
    total = Decimal(0)
    for coefficient in reversed(p):
        total = total * x + coefficient
    return total
