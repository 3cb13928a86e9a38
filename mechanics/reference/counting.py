"""A scalar that counts: the formulas of this project run on it as they stand.

Every `Counted` carries a value and the tally it is counted in.  Additions and subtractions count as additions,
multiplications as multiplications, divisions and square roots as such, one sine with its cosine as one pair; changes of
sign are free.  An operation counts if one of its numbers is counted, whatever the values: zeros are not free.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Tally:
    """Operations so far."""

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    roots: int = 0
    sincos: int = 0

    @property
    def total(self) -> int:
        """All operations but the sines and cosines, which have their own cost."""
        return self.additions + self.multiplications + self.divisions + self.roots

    def array(self, values: Any) -> Any:
        """An array of counted numbers."""
        values = np.asarray(values, dtype=np.float64)
        found = np.empty(values.shape, dtype=object)
        for k in np.ndindex(values.shape):
            found[k] = Counted(float(values[k]), self)
        return found


def _of_numbers(operation: Callable[[Counted, Any], Counted]) -> Callable[[Counted, Any], Any]:
    """Arrays apply it to their numbers one by one."""

    def applied(self: Counted, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else operation(self, other)

    return applied


class Counted:
    """A number whose operations are counted."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Tally) -> None:
        self.value, self.tally = value, tally

    def _add(self, value: float) -> Counted:
        self.tally.additions += 1
        return Counted(value, self.tally)

    def _multiply(self, value: float) -> Counted:
        self.tally.multiplications += 1
        return Counted(value, self.tally)

    def _divide(self, value: float) -> Counted:
        self.tally.divisions += 1
        return Counted(value, self.tally)

    @_of_numbers
    def __add__(self, other: Any) -> Counted:
        return self._add(self.value + float(other))

    __radd__ = __add__

    @_of_numbers
    def __sub__(self, other: Any) -> Counted:
        return self._add(self.value - float(other))

    @_of_numbers
    def __rsub__(self, other: Any) -> Counted:
        return self._add(float(other) - self.value)

    @_of_numbers
    def __mul__(self, other: Any) -> Counted:
        return self._multiply(self.value * float(other))

    __rmul__ = __mul__

    @_of_numbers
    def __truediv__(self, other: Any) -> Counted:
        return self._divide(self.value / float(other))

    @_of_numbers
    def __rtruediv__(self, other: Any) -> Counted:
        return self._divide(float(other) / self.value)

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.tally)

    def __abs__(self) -> Counted:
        return Counted(abs(self.value), self.tally)

    def __float__(self) -> float:
        return self.value

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def sqrt(self) -> Counted:
        self.tally.roots += 1
        return Counted(math.sqrt(self.value), self.tally)

    @property
    def library(self) -> type[_Functions]:
        """Where `liegroup.compile.scalars` finds sine and cosine."""
        return _Functions


class _Functions:
    @staticmethod
    def sin(x: Counted) -> Counted:
        x.tally.sincos += 1
        return Counted(math.sin(x.value), x.tally)

    @staticmethod
    def cos(x: Counted) -> Counted:
        """Comes with the sine."""
        return Counted(math.cos(x.value), x.tally)
