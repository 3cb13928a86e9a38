"""Decimal arithmetic in many digits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from decimal import Context, localcontext
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

DIGITS = 70
"""Working precision of all conditions on coefficients."""


def precise(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function with decimals of `DIGITS` digits."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with localcontext(Context(prec=DIGITS)):
            return function(*args, **kwargs)

    return run
