"""What iterations on the equations of a step share: the first guess, the move, and when to stop.

An iteration goes on until no iterate moves, or until rounding stops its progress: once the relative change has been
below `FLOOR`, it ends where it does not become smaller any more (Hairer, McLachlan and Razakarivony 2008).  Every lane
stops by itself.  The first guess extrapolates past values by their backward differences ∇ᵏz, whose sum is the value at
the next step.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import any_, helper, ld, magnitude, select, st
from liegroup.compile.scalars import maximum

FLOOR = 1e-12
"""Relative to the size of the iterates: below it, an iterate that does not come closer any more has converged."""


@helper
def move(z: Any, new: Any, first: Any, last: Any, often: Any, going: Any) -> Any:
    """Replace z by the new values where the iteration is still going; returns the largest change and the largest
    value, in what counts as one, of which `often` are the inverses.
    """
    change = going * 0.0
    size = change
    for i in range(first, last):
        x, w = ld(z, i), ld(new, i)
        change = maximum(change, often[i] * magnitude(w - x))
        size = maximum(size, often[i] * maximum(magnitude(w), magnitude(x)))
        st(z, i, select(going > 0.0, w, x))
    return change, size


@helper
def nought(x: Any, m: Any) -> Any:
    """0 if the first m components of x are finite, else undefined: a maximum forgets what is not a number."""
    total = 0.0 * ld(x, 0)
    for i in range(1, m):
        total = total + 0.0 * ld(x, i)
    return total


@helper
def relative(change: Any, scale: Any) -> Any:
    """change/scale, 0 if both are 0."""
    return change / select(scale == 0.0, scale * 0.0 + 1.0, scale)


@helper
def goes_on(going: Any, residual: Any, best: Any) -> Any:
    """`going` (1 or 0) after a relative change `residual` that followed `best`."""
    stopped = going * 0.0
    stuck = select(best <= FLOOR, select(residual >= best, stopped, going), going)
    return select(residual == 0.0, stopped, stuck)


@helper
def unsolved(going: Any, residual: Any) -> Any:
    """Whether an iteration that ends with its rounds has not come below `FLOOR`, in any lane; values that decay towards
    zero change to the last round, and are solved all the same.
    """
    return any_((going > 0.0) & (residual > FLOOR))


@helper
def extrapolate(work: Any, row: Any, pasts: Any, known: Any, m: Any) -> None:
    """Row `row` <- its value at the next step: the sum of the `known` differences in the rows from `pasts` on."""
    for i in range(m):
        total = ld(work[pasts], i)
        for k in range(1, known):
            total = total + ld(work[pasts + k], i)
        st(work[row], i, total)


@helper
def remember(work: Any, row: Any, pasts: Any, known: Any, m: Any) -> None:
    """Update the backward differences with row `row`; `known` of them are known then."""
    for i in range(m):
        x = ld(work[row], i)
        for k in range(known):
            old = ld(work[pasts + k], i)
            st(work[pasts + k], i, x)
            x = x - old
