"""Checks of the numbers a system is made of, and the simplest reversals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import arrays

Array = NDArray[np.float64]


def positive(**values: float) -> None:
    """ValueError or TypeError unless every named value is a positive finite number."""
    for name, value in values.items():
        arrays.positive(value, name)


def finite(**values: float) -> None:
    """ValueError or TypeError unless every named value is a finite number."""
    for name, value in values.items():
        arrays.real(value, name)


def vector(value: ArrayLike, size: int, name: str, meaning: str) -> Array:
    """`size` finite numbers."""
    x = arrays.reals(value, name)
    if x.shape != (size,) or not np.isfinite(x).all():
        raise ValueError(f"{name}: {x.tolist()}, expected {size} finite numbers, {meaning}")
    return x


def signs(*factors: int) -> Callable[[Any], Any]:
    """The reversal ρ that multiplies each component of a state by ±1."""
    diagonal = np.array(factors, dtype=np.float64)
    return lambda y: np.asarray(y) * diagonal
