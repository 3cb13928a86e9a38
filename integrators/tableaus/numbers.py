"""Coefficients as numbers that know their own accuracy.

An exact coefficient is a `fractions.Fraction`; a rounded one is a `decimal.Decimal` whose last digit is its accuracy.
Conditions on coefficients are evaluated in `DIGITS` decimal digits, and compared with a bound that follows from the
accuracy of the data: so a table printed with 40 digits is held to 40 digits and one given as float64 to 16.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np

Number = Fraction | Decimal
Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Exact = np.ndarray[Any, np.dtype[np.object_]]
P = ParamSpec("P")
R = TypeVar("R")

DIGITS = 70
"""Working precision of all conditions on coefficients."""
KEPT = 41
"""Significant digits to which computed coefficients are rounded."""
SHORT = 15
"""A decimal with at most this many digits is meant exactly (0.25, 0.161); a longer one is a rounded number."""


def precise(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function with decimals of `DIGITS` digits."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with localcontext(Context(prec=DIGITS)):
            return function(*args, **kwargs)

    return run


def number(x: Any) -> Number:
    """Read a coefficient: a whole number, a fraction (also as text "1/3"), a decimal (also as text), or a float.

    Decimals and floats of at most `SHORT` digits are taken as exact, longer ones as rounded in their last digit.
    """
    if isinstance(x, (bool, np.bool_)):
        raise TypeError(f"coefficient {x!r}: expected a number, not a truth value")
    if isinstance(x, numbers.Rational):
        return Fraction(int(x.numerator), int(x.denominator))
    if isinstance(x, (float, np.floating)):
        x = repr(float(x))
    try:
        if isinstance(x, str) and "/" in x:
            return Fraction(x)
        value = Decimal(x) if isinstance(x, (str, Decimal)) else None
    except (InvalidOperation, ValueError, ZeroDivisionError):
        value = None
    if value is None:
        raise TypeError(f"coefficient {x!r}: expected an int, a Fraction, a float, or text such as '1/3' or '0.2113248654…'")
    if not value.is_finite():
        raise ValueError(f"coefficient {x!r} is not finite")
    return Fraction(value) if len(value.as_tuple().digits) <= SHORT or value == 0 else value


def row(values: Iterable[Any]) -> Vector:
    """Read a row of coefficients."""
    return tuple(number(x) for x in values)


def rows(values: Iterable[Iterable[Any]]) -> Matrix:
    """Read a matrix of coefficients, row by row."""
    return tuple(row(r) for r in values)


def uncertainty(*values: Any) -> float:
    """Largest relative accuracy of the given numbers, nested in any way: 0 for exact ones, 5e-42 for 41 digits."""
    worst = 0.0
    for x in values:
        if isinstance(x, tuple):
            worst = max(worst, uncertainty(*x))
        elif isinstance(x, Decimal):
            worst = max(worst, float(Decimal(5).scaleb(int(x.as_tuple().exponent) - 1) / abs(x)))
    return max(worst, 10.0 ** (3 - DIGITS))


def decimal(x: Number) -> Decimal:
    """The number as a decimal, in the precision of the context."""
    return Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else x


def decimals(values: Vector | Matrix) -> Exact:
    """A row or matrix as an array of decimals, for arithmetic inside a `precise` function."""
    if values and isinstance(values[0], tuple):
        return np.array([[decimal(x) for x in r] for r in values], dtype=object)  # type: ignore[union-attr]
    return np.array([decimal(x) for x in values], dtype=object)


def kept(x: Decimal) -> Decimal:
    """Round a computed number to `KEPT` significant digits."""
    return Context(prec=KEPT).plus(x)


def total(values: Vector) -> Number:
    """The sum, exact if the terms are."""
    if all(isinstance(x, Fraction) for x in values):
        return Fraction(sum(values))  # type: ignore[arg-type]
    return kept(Decimal(0) + sum(map(decimal, values)))


def floats(values: Any) -> Floats:
    """Each number correctly rounded to float64, once; read-only."""
    array = np.array(np.vectorize(float, otypes=[np.float64])(np.array(values, dtype=object)))
    array.setflags(write=False)
    return array
