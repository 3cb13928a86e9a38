"""Coefficients as numbers that know their own accuracy.

An exact coefficient is a `fractions.Fraction`; a rounded one is a `decimal.Decimal` whose last digit is its accuracy.
Conditions on coefficients are evaluated in `DIGITS` decimal digits, and compared with a bound that follows from the
accuracy of the data: so a table printed with 40 digits is held to 40 digits and one given as float64 to 16.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from integrators.tableaus.conditions.precision import DIGITS, precise
from liegroup.arrays import sequence, shown

__all__ = [
    "DIGITS",
    "KEPT",
    "Coefficients",
    "Exact",
    "Floats",
    "Matrix",
    "Number",
    "Vector",
    "decimal",
    "decimals",
    "floats",
    "kept",
    "number",
    "precise",
    "row",
    "rows",
    "total",
    "uncertainty",
]

Number = Fraction | Decimal
Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]
Coefficients = Any
"""Fields of the tables: numbers in rows on the way in, tuples of `Number` once built."""
Floats = np.ndarray[Any, np.dtype[np.float64]]
Exact = np.ndarray[Any, np.dtype[np.object_]]

KEPT = 41
"""Significant digits to which computed coefficients are rounded."""
_WORKING, _KEPT = Context(prec=DIGITS), Context(prec=KEPT)
_EPSILON = 2.0**-52
SHORT = 15
"""A decimal with at most this many digits is meant exactly (0.25, 0.161); a longer one is a rounded number."""


def number(x: Any, name: str = "coefficient") -> Number:
    """Read a coefficient: a whole number, a fraction (also as text "1/3"), a decimal (also as text), or a float.

    Decimals and floats of at most `SHORT` digits are taken as exact, longer ones as rounded in their last digit.
    """
    if isinstance(x, (bool, np.bool_)):
        raise TypeError(f"{name} {shown(x)}: expected a number, not a truth value")
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
        raise TypeError(
            f"{name} {shown(x)}: expected an int, a Fraction, a float, or text such as '1/3' or '0.2113248654…'"
        )
    if not value.is_finite():
        raise ValueError(f"{name} {shown(x)} is not finite")
    return Fraction(value) if len(value.as_tuple().digits) <= SHORT or value == 0 else value


def row(values: Iterable[Any], name: str = "coefficients") -> Vector:
    """Read a row of coefficients; `name`: what they are, for messages."""
    return tuple(number(x, f"{name}: coefficient") for x in sequence(values, name, "a sequence of numbers"))


def rows(values: Iterable[Iterable[Any]], name: str = "coefficients") -> Matrix:
    """Read a matrix of coefficients, row by row."""
    return tuple(row(r, name) for r in sequence(values, name, "a sequence of rows of numbers"))


def uncertainty(*values: Any) -> float:
    """Largest relative accuracy of the given numbers, nested in any way: 0 for exact ones, 5e-42 for 41 digits.

    Numbers of at most 17 digits may be results of float64 arithmetic: 2.2e-16.
    """
    worst = 10.0 ** (3 - DIGITS)
    for x in values:
        if isinstance(x, tuple):
            worst = max(worst, uncertainty(*x))
        elif isinstance(x, Decimal):
            _, digits, exponent = x.as_tuple()
            last_digit = float(Decimal(5).scaleb(int(exponent) - 1) / abs(x))
            worst = max(worst, last_digit, _EPSILON if len(digits) <= 17 else 0.0)
    return worst


def decimal(x: Number) -> Decimal:
    """The number as a decimal of `DIGITS` digits."""
    return _WORKING.divide(Decimal(x.numerator), Decimal(x.denominator)) if isinstance(x, Fraction) else x


def decimals(values: Vector | Matrix) -> Exact:
    """A row or matrix as an array of decimals, for arithmetic inside a `precise` function."""
    return np.vectorize(decimal, otypes=[object])(np.array(values, dtype=np.object_))  # type: ignore[no-any-return]


def kept(x: Decimal) -> Decimal:
    """Round a computed number to `KEPT` significant digits."""
    return _KEPT.plus(x)


def total(values: Vector) -> Number:
    """The sum, exact if the terms are; a sum below the accuracy of the terms is 0."""
    exact = [x for x in values if isinstance(x, Fraction)]
    if len(exact) == len(values):
        return sum(exact, start=Fraction(0))
    terms = [decimal(x) for x in values]
    result, size = sum(terms, start=Decimal(0)), sum(map(abs, terms), start=Decimal(0))
    return kept(result) if abs(result) > 2 * Decimal(uncertainty(values)) * size else Fraction(0)


def floats(values: Any) -> Floats:
    """Each number correctly rounded to float64, once; read-only."""
    array = np.array(np.vectorize(float, otypes=[np.float64])(np.array(values, dtype=np.object_)))
    array.setflags(write=False)
    return array
