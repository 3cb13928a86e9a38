"""Where the field jumps inside a step: there the order of every method is void, and fixed steps go on all the same.

A jump J of the rate of a variable inside a step shows in the saved states: the second differences at its ends add up to
h J, where those beside them are of the size of h².  What is found so is looked at by smaller steps: of eight in the
place of the one, that with the jump is alone in being wrong, and so is one of eight in the place of that: what is
smooth, however fast, is not alone any more.  The first smaller steps, too, are wrong if the saved state is not yet on
the slow motion, and they do not resolve how it settles: there the look begins at the saved state before.  A jump at the
end of a step, where a control is switched, harms nothing, and is no doubt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun
from integrators.engine.run import Trajectory
from integrators.engine.step_again import stepped
from integrators.problem import Doubt

Array = NDArray[np.float64]
JUMP = 1e-4
"""Part of the way a variable goes in the run by which one step may be off where the field jumps within it."""
STEEP = 4.0
"""Second differences that many times those beside them."""
PARTS = 8
"""Smaller steps, at least, that take the place of what is between two saved states."""
ALONE = 10.0
"""Error of one of them relative to those of the others that are no neighbours of it."""
WRONG = 3e-3
"""The same relative to the jump."""
_SETTLED = 1
"""The last of them that may be wrong because the saved state is not yet on the slow motion."""
MOST = 3
"""Steps that are looked at."""
TAKEN_AGAIN, PART = 1000, 0.3
"""Trajectories of an ensemble behind this many steps between saved states, summed over those before, are looked at only
where a look takes no more than this part of their own steps (most take a third of it): of long ones all are.
"""


def jumps(run: FixedRun, found: Trajectory, scale: Array, number: int) -> list[Doubt]:
    """The doubt of a trajectory across whose steps the field jumps, as far as its saved states show it; `scale` as of
    `integrators.engine.resolution.scale_of`.
    """
    steps = run.output.save_every
    last = len(found.t) - int(run.plan.steps % steps != 0)
    look = 3 * 3 * MOST * max(PARTS, steps)  # a step and its halves, three times if what is saved is to settle first
    costly = number * steps > TAKEN_AGAIN and look > PART * run.plan.steps
    if len(run.output.times) or last < 6 or costly:
        return []
    rows, sizes = steepest(found.y[:last], scale * steps)
    for row, size in zip(rows, sizes, strict=True):
        time = jump_within(run, steps, float(found.t[row]), found.y[row - 1], found.y[row], scale, size)
        if time is not None:
            says = "the field jumps within a step: it is not smooth, and the order of the method is void"
            remedy = "look for what is not smooth there; end the run at it by an event and start anew"
            return [Doubt("jump", time, float(size), JUMP, says, remedy, number)]
    return []


def steepest(y: Array, scale: Array) -> tuple[NDArray[np.int64], Array]:
    """Rows k after which a component of the states y (rows, n) seems to have a kink, the earliest first, and the sum of
    the second differences there, over `scale`.
    """
    bent = np.diff(y, 2, axis=0)  # at rows 1, 2, …
    high = np.maximum(bent.max(axis=0), -bent.min(axis=0)) > 0.5 * JUMP * scale
    if not high.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    bent = np.abs(bent[:, high] / scale[high])
    first, second, beside = bent[1:-2], bent[2:-1], np.maximum(bent[:-3], bent[3:])
    sizes = np.where(np.maximum(first, second) > STEEP * beside, first + second, 0.0).max(axis=1)
    found = np.flatnonzero(sizes > JUMP)
    largest = np.sort(found[np.argsort(sizes[found])[-MOST:]]).astype(np.int64)
    return largest + 2, sizes[largest]


def jump_within(
    run: FixedRun, steps: int, t: float, before: Array, y: Array, scale: Array, size: float
) -> float | None:
    """When the field jumps by h J/scale = `size` inside the steps of size h from (t, y), or None if it does not;
    `before` is the state at those before.
    """
    parts, whole = max(PARTS, steps), run.plan.h * steps
    h = whole / parts
    errors, states = _errors(run, t, h, parts, y, scale)
    place = _alone(errors, size)
    if place is not None and place <= _SETTLED:
        errors, before_it = _errors(run, t - whole, h, parts, before, scale)
        if np.isinf(errors).any():  # and does not come to t
            return None
        errors, states = _errors(run, t, h, parts, before_it[-1], scale)
        place = _alone(errors, size)
    if place is None:
        return None
    begin = t + place * h
    within, _ = _errors(run, begin, h / PARTS, PARTS, states[place], scale)
    if _alone(within, size / PARTS) is None:  # what is smooth is not alone any more
        return None
    return begin + 0.5 * h


def _errors(run: FixedRun, t: float, h: float, parts: int, y: Array, scale: Array) -> tuple[Array, list[Array]]:
    """By how much each of the steps (parts,) from (t, y) differs from two of half its size, and the states between
    them, those at both ends included.
    """
    errors, states = np.zeros(parts), [y]
    for k in range(parts):
        after = stepped(run, t + k * h, h, y)
        halves = stepped(run, t + (k + 0.5) * h, 0.5 * h, stepped(run, t + k * h, 0.5 * h, y))
        error = float(np.abs((after - halves) / scale).max())
        errors[k] = error if np.isfinite(error) else np.inf
        if not np.isfinite(halves).all():
            break
        y = halves
        states.append(y)
    return errors, states


def _alone(errors: Array, size: float) -> int | None:
    """Which of the steps is alone in being wrong, if one is."""
    worst = int(np.argmax(errors))
    others = np.delete(errors, [k for k in range(worst - 1, worst + 2) if 0 <= k < len(errors)])
    return worst if errors[worst] > ALONE * others.max() and errors[worst] > WRONG * size else None
