"""Checks of the numbers a system is made of, and the simplest reversals."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import arrays

Array = NDArray[np.float64]
P = ParamSpec("P")
T = TypeVar("T")


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


def like_defaults(defaults: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """ValueError or TypeError unless every value whose default is a number, or None, is a finite number (or None), and
    every one whose default is a tuple of numbers as many of them.
    """
    for name, value in values.items():
        default = defaults[name]
        if isinstance(default, float) or (default is None and value is not None):
            arrays.real(value, name)
        elif isinstance(default, tuple) and all(isinstance(x, float) for x in default):
            x = arrays.reals(value, name)
            if x.shape != (len(default),) or not np.isfinite(x).all():
                raise ValueError(f"{name}: {arrays.shown(value)}, expected {len(default)} finite numbers")


def checked(make: Callable[P, T]) -> Callable[P, T]:
    """A function that makes a system, whose arguments are numbers as their defaults are: named before they are computed
    with, after which what is said of them is said of states.
    """
    signature = inspect.signature(make)
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}

    @wraps(make)
    def made(*args: P.args, **options: P.kwargs) -> T:
        like_defaults(defaults, signature.bind(*args, **options).arguments)
        return make(*args, **options)

    return made


def check_fields(made: Any) -> None:
    """The same of a dataclass."""
    like_defaults({x.name: x.default for x in fields(made)}, {x.name: getattr(made, x.name) for x in fields(made)})


def signs(*factors: int) -> Callable[[Any], Any]:
    """The reversal ρ that multiplies each component of a state by ±1."""
    diagonal = np.array(factors, dtype=np.float64)
    return lambda y: np.asarray(y) * diagonal
