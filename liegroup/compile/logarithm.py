"""The natural logarithm on every scalar."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from liegroup.compile.decorators import helper, primitive
from liegroup.compile.functions import continued, each_lane
from liegroup.compile.scalars import is_machine_real, library_of


def _log_of_float(x: float) -> float:
    return math.log(x) if x > 0.0 else math.nan


_log_of_lanes = each_lane(_log_of_float)


@helper
def _log_machine(x: Any) -> Any:
    return _log_of_lanes(x)


@helper
def _log_stepped(x: Any) -> Any:
    return complex(_log_machine(x.real), x.imag / x.real)


@primitive(_log_machine, _log_stepped)
def log(x: Any) -> Any:
    """The natural logarithm; NaN of real numbers that are not positive."""
    if is_machine_real(x):
        return _log_machine(x)
    if np.iscomplexobj(x):
        return continued(np.log(x), x, 0.0)
    return library_of(x).log(x)
