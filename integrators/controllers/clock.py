"""What the adaptive loop and the controllers share: the clock of a run, and the numbers it is controlled by.

Times are kept in two words, so that they do not lose the small steps of a long run.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, select
from liegroup.compile.scalars import absolute

T, T_LOW, H, TAKEN, NEXT, NEXT_LOW, ATTEMPTS, NARROWEST, NARROWEST_AT = range(9)
"""The clock: time in two words, next step, the step taken, the time at its end in two words, attempts at it; the
smallest step so far but the last one, and the time at its end.
"""
MEMORY, PLACES = 9, 6
"""Here the memory of the controller begins; how many places it has."""
CLOCK = MEMORY + PLACES
END, MAX_STEP, ESTIMATES, OWN_TIME, RETRIES, WISHES = range(6)
"""The numbers: end time, largest step, how many error estimates make the error, 1 if steps take a time of their own,
which the stepper leaves in the row of errors, how often a step that failed is repeated with a smaller size, 1 if the
stepper leaves the factor of the next step in the second row of errors, for the first place of the memory.
"""
OWN = 6
"""Here the numbers of the controller begin."""
REPEAT = -1
"""A verdict: the step is taken back and repeated."""
MOST_REPEATED = 1000
"""A step that has been repeated so often in a row is repeated without end; a tenth less each time makes 1e-46 of it."""


@helper
def bounded(h: Any, remaining: Any, numbers: Any) -> Any:
    """The step within the largest one and the end."""
    size = absolute(h)
    h = select(size > numbers[MAX_STEP], h * (numbers[MAX_STEP] / size), h)
    return select(absolute(h) >= absolute(remaining), remaining, h)
