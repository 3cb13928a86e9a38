"""The derivative of a curve whose smoothness nobody vouches for: differences of two sizes that agree.

The derivative of the polynomial of degree eight through the values at i h, i = −4, …, 4 (i = 0, …, ±8 where the curve
has one side only) counts once that of 2 h is the same, and the slopes on both sides are: with κ|s| + a s² + b s⁴ + c s⁶
through the four pairs f(s) + f(−s) − 2 f(0), κ is their difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
AGREE = 1e-8
"""Of what a curve changes by, what two sizes may differ by: the finer has 256 times less error."""
HALVINGS = 11
COARSE, FINEST, AT_ONCE = 0.08, 1e-8, 2.0**-17
"""Of the sizes of what moves along a curve, over which differences are first and last taken; and over which those that
have what is said already end the search.
"""
OFF, TINY = 1e-3, 1e-12
"""Of a derivative, and of the largest of all, what one that is said may be off."""
ROUNDING = 2.0**-52
SUMS = 8.0
"""Roundings of the largest number, which others may have that are its sums and cancel, or cancel in part."""
_KINK = np.linalg.inv(np.power.outer(np.arange(1.0, 5.0), [1, 2, 4, 6]))[0]
"""κ of the pairs at s = 1, …, 4."""


class OtherKindError(ValueError):
    """What a curve raises where it is defined, but its numbers mean something else than at 0: no limit to stop at."""


class NoSlopeError(ValueError):
    """Differences of no two sizes agree.

    Attributes
    ----------
    number : int
        Which of the curve's numbers.
    what : str
        What the last two sizes found.
    found : array (n,)
        The derivatives of the numbers of which two agreed, NaN for the others.
    unsure : array (n,)
        What rounding leaves of them.
    """

    def __init__(self, number: int, coarse: float, fine: float, kink: float, found: Array, unsure: Array) -> None:
        self.number, self.found, self.unsure = number, found, unsure
        self.what = f"by differences of one size {coarse:.6g}, of half of it {fine:.6g}, with a jump of {kink:.2g}"
        super().__init__(f"number {number}: {self.what}")


def slope(curve: Callable[[float], Any], size: float, largest: float = 0.0) -> Array:
    """f'(0) of a curve f, by differences of order eight.

    Parameters
    ----------
    curve : callable
        s → numbers; ValueError or ArithmeticError where it is not defined, OtherKindError where it is another curve.
    size : float
        4 h to begin with; h is halved until two agree, number by number.
    largest : float
        Of numbers from which the curve's are made, where that is more than they are: of a curve that begins at 0 the
        rounding does not.

    Returns
    -------
    array (n,)
        Where the curve is defined on one side of 0 alone, the derivative from that side.  Where no two sizes agree, by
        the coarsest two that differ by a few roundings of the largest number of all, as sums that cancel do.

    Raises
    ------
    NoSlopeError
        Kinks, jumps, noise.
    ValueError, ArithmeticError
        What the curve raised, if it did so on both sides; of another kind, on one.

    Examples
    --------
    >>> slope(lambda s: [abs(s + 1e-3), s**3 + 2.0 * s], 0.04).round(12).tolist()
    [1.0, 2.0]
    """
    return _slopes(curve, size, HALVINGS, largest)[0]


def contradiction(
    curve: Callable[[float], Any], said: Array, own: float, size: float, rounded: Callable[[], Array] | None = None
) -> tuple[int, float] | None:
    """Which number of a curve has another derivative at 0 than is said of it, by more than a thousandth: by differences
    over what counts as one, and down to what is small beside the curve's own size; where of no two sizes they agree, as
    beside a kink, nothing is known.

    Parameters
    ----------
    curve : callable
        As of `slope`.
    said : array (n,)
        What is to be its derivative.
    own : float
        s by which what moves along the curve changes by its own size, which rounding is relative to; 0 if that is none.
    size : float
        s by which it changes by what counts as one, or its size, if that is more.
    rounded : callable, optional
        What rounding makes of the derivatives that are said (n,): asked where one is off.

    Returns
    -------
    (int, float) or None
        The number that is furthest off, and its derivative.
    """
    least, h = max(FINEST * own, FINEST * FINEST * size), AT_ONCE * (own or size)
    try:
        here, after, before = (np.array(curve(x), dtype=np.float64) for x in (0.0, h, -h))
        near = (after - before) / (2.0 * h)
        noise = TINY * np.abs(near).max(initial=0.0) + 4.0 * ROUNDING * np.abs(here) / h
        if (np.abs(said - near) <= OFF * np.abs(near) + noise).all():
            return None
        found, unsure = _slopes(curve, COARSE * size, math.ceil(math.log2(COARSE * size / least)))[:2]
    except NoSlopeError as error:
        found, unsure = error.found, error.unsure
    except (ValueError, ArithmeticError):  # it is not defined there
        return None
    with np.errstate(invalid="ignore"):
        largest = np.nanmax(np.abs(found), initial=0.0)
        off = np.abs(said - found) - (OFF * np.abs(found) + TINY * largest + unsure)
        if rounded is not None and (off > 0.0).any():
            off -= rounded()
    off[~(off > 0.0)] = 0.0
    i = int(np.argmax(off)) if len(off) else 0
    return (i, float(found[i])) if len(off) and off[i] > 0.0 else None


def slope_and_size(curve: Callable[[float], Any], size: float, halvings: int = HALVINGS) -> tuple[Array, float]:
    """The same, and the size to begin with where the next curve is like it.

    Parameters
    ----------
    curve : callable
        As of `slope`.
    size : float
        4 h to begin with.
    halvings : int
        Of h, at most.

    Returns
    -------
    array (n,), float
        f'(0), and the size with which two agreed at once.
    """
    found, _, start = _slopes(curve, size, halvings)
    return found, start


def _slopes(
    curve: Callable[[float], Any], size: float, halvings: int, largest: float = 0.0
) -> tuple[Array, Array, float]:
    """f'(0), what rounding leaves of it, and the size with which two agreed at once."""
    known: dict[float, Array] = {}

    def at(s: float) -> Array:
        if s not in known:
            known[s] = np.array(curve(s), dtype=np.float64)
        return known[s]

    refused: Exception | None = None
    for nodes in (np.arange(-4, 5), np.arange(9), -np.arange(9)):
        try:
            return _agreed(at, nodes, 0.25 * size, halvings, largest)
        except (ValueError, ArithmeticError) as error:
            if isinstance(error, NoSlopeError | OtherKindError):
                raise
            refused = refused or error
    assert refused is not None
    raise refused


def _agreed(
    at: Callable[[float], Array], nodes: NDArray[np.int64], h: float, halvings: int, largest: float
) -> tuple[Array, Array, float]:
    """The derivative by values at h nodes, what rounding leaves of it, and 8 h of the last; what the curve raises if
    there are not two sizes where it is defined.
    """
    weights, central = _weights(nodes), nodes[0] < 0
    found, unsure = (np.full(at(0.0).shape, x) for x in (np.nan, 0.0))
    rises: list[Array] = []
    others: list[tuple[Array, Array, float]] = []  # of every two sizes: the finer, what they differ by beyond, 1/h
    refused: Exception | None = None
    for _ in range(halvings + 1):
        try:
            f = np.array([at(i * h) for i in nodes])
        except (ValueError, ArithmeticError) as error:
            refused = error
        else:
            rises.append(weights @ (f - at(0.0)) / h)  # of what does not change 0, without a rounding
            if len(rises) == 1:
                noise = np.abs(weights).sum() * _noise(at, 32.0 * ROUNDING * h * nodes[-2:])
            kink = abs(_KINK @ (f[5:] + f[3::-1] - 2.0 * f[4])) / h if central else 0.0 * rises[-1]
            allowed = AGREE * np.ptp(f, axis=0) / (8.0 * h) + noise / h
            if len(rises) > 1:
                off = np.maximum(abs(rises[-1] - rises[-2]), kink)
                agree = np.isnan(found) & (off <= allowed)
                found[agree], unsure[agree] = rises[-1][agree], allowed[agree]
                others.append((rises[-1], off, 1.0 / h))
            if not np.isnan(found).any():
                return found, unsure, 8.0 * h
        h *= 0.5
    if len(rises) < 2:
        assert refused is not None
        raise refused
    rounding = SUMS * np.abs(weights).sum() * ROUNDING * max(largest, float(abs(at(0.0)).max()))
    for rise, off, per in others:
        rounds = np.isnan(found) & (off <= rounding * per)
        found[rounds], unsure[rounds] = rise[rounds], rounding * per
    if not np.isnan(found).any():
        return found, unsure, 8.0 * h
    worst = int(np.flatnonzero(np.isnan(found))[0])
    raise NoSlopeError(worst, rises[-2][worst], rises[-1][worst], kink[worst], found, unsure)


def _noise(at: Callable[[float], Array], nearby: NDArray[np.floating]) -> Array:
    """Of numbers that a curve computes: what they change by over roundings of its argument, or their own roundings."""
    centre = abs(at(0.0))
    moved = np.max([abs(at(s) - at(0.0)) for s in nearby], axis=0)
    noise: Array = np.maximum(np.minimum(moved, 1e-12 * centre.max(initial=0.0)), ROUNDING * centre)
    return 8.0 * noise


def _weights(nodes: NDArray[np.int64]) -> Array:
    """Of values at nodes, 0 among them, for the derivative there of the polynomial through them (Lagrange's form)."""
    found = []
    for i in nodes:
        others = [m for m in nodes if m not in (0, i)]
        found.append(np.prod([m / (m - i) for m in others]) / i if i else -sum(1.0 / m for m in others))
    return np.array(found)
