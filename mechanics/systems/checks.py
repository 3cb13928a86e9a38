"""Checks of the numbers a system is made of, and the simplest reversals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def positive(**values: float) -> None:
    """ValueError unless every named number is finite and positive."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name}: {value!r}, expected a positive number")


def finite(**values: float) -> None:
    """ValueError unless every named number is finite."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise ValueError(f"{name}: {value!r}, expected a finite number")


def vector(value: ArrayLike, size: int, name: str, meaning: str) -> Array:
    """`size` finite numbers."""
    x = np.asarray(value, dtype=np.float64)
    if x.shape != (size,) or not np.isfinite(x).all():
        raise ValueError(f"{name}: {x.tolist()}, expected {size} finite numbers, {meaning}")
    return x


def signs(*factors: int) -> Callable[[Any], Any]:
    """The reversal ρ that multiplies each component of a state by ±1."""
    diagonal = np.array(factors, dtype=np.float64)
    return lambda y: np.asarray(y) * diagonal
