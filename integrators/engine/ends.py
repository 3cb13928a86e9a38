"""The last of equal steps ends at the time that was given, and none of its stages lies beyond it by a rounding.

t0 + n h and t + h are the end of the run but for their rounding: 0.2 + 0.1 is above 0.3. A table of forces that ends
with the run would be asked there.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper

NEAR = 1e-3
"""Part of a step by which the end of one, far from time zero, may be beside the end of the run."""

SPACING = 2.3e-16
"""A little more than the distance of neighbouring numbers near 1."""


@helper
def reaches(t_new: Any, h: Any, end: Any) -> Any:
    """Whether a step of size h that ends at t_new ends at `end`, but for rounding."""
    return abs(t_new - end) <= NEAR * abs(h)


@helper
def begun(t: Any, h: Any, end: Any) -> Any:
    """t, or earlier by the rounding with which t + h is beyond `end`."""
    forward = 1.0 if h >= 0.0 else -1.0
    for _ in range(2):  # where the sum lies between two numbers, it may be rounded up once more
        over = (t + h) - end
        if forward * over > 0.0:
            t = t - forward * max(abs(over), SPACING * abs(t))
    return t
