"""Checks of arguments, and the simplest reversals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


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


def signs(*factors: int) -> Callable[[Any], Any]:
    """The reversal ρ that multiplies each component of a state by ±1."""
    diagonal = np.array(factors, dtype=np.float64)
    return lambda y: np.asarray(y) * diagonal
