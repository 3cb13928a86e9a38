"""Checks of the numbers a system is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def number(value: float, name: str, unit: str = "") -> float:
    """A finite number."""
    if not np.isfinite(value):
        raise ValueError(f"{name}: {value!r}, expected a finite number" + (f" of {unit}" if unit else ""))
    return float(value)


def positive(value: float, name: str, unit: str = "") -> float:
    """A finite number above zero."""
    if number(value, name, unit) <= 0.0:
        raise ValueError(f"{name}: {value!r}, expected a positive number" + (f" of {unit}" if unit else ""))
    return float(value)


def vector(value: ArrayLike, size: int, name: str, meaning: str) -> Array:
    """`size` finite numbers."""
    x = np.asarray(value, dtype=np.float64)
    if x.shape != (size,) or not np.isfinite(x).all():
        raise ValueError(f"{name}: {x.tolist()}, expected {size} finite numbers, {meaning}")
    return x
