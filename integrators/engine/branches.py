"""Whether a fixed step leads to another branch of what constraints allow, past a narrow place between two.

Of the directions Ĝ of the constraints (`Problem.directions`) at two states C = Ĝ(y₁) Ĝ(y₀)ᵀ is near the identity, on
the equations that count, where these are near each other, and has an eigenvalue near −1 across such a place.  It also
has one where the motion turns far from one state to the next, or goes through a singular position.  So states are
looked at, and others between those whose directions differ, until neighbours are found across which one turns over;
what is between them is taken once more by smaller steps, and is a doubt where these turn nothing over and lead
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from integrators.engine.diagnosis import explained
from integrators.engine.fixed_run import FixedRun
from integrators.engine.resolution import positions_of
from integrators.engine.run import Trajectory
from integrators.engine.step_again import stepped
from integrators.problem import Doubt
from liegroup.arrays import spread

Array = NDArray[np.float64]
Directions = Callable[[Array, Array], Array]
LOOKS, MORE = 33, 128
"""Saved states that are looked at, and further ones between those whose directions differ."""
SAME, TURNED = 0.5, -0.1
"""Least eigenvalue of C above which nothing turns over in between; that of neighbours below which something has."""
PARTS, ELSEWHERE = (64, 512), 0.25
"""Smaller steps that take the place of one, more where these turn over, too; part of the length of their way by which
positions are elsewhere.
"""
PLACES, BEYOND, STEPS, TRAJECTORIES = 3, 3, 20_000, 8
"""Places that are looked at, saved states up to which smaller steps are taken from one before, how many there are at
most, and trajectories of an ensemble.
"""


def other_branches(run: FixedRun, found: Trajectory, number: int) -> list[Doubt]:
    """The doubt of a trajectory one of whose steps leads to another branch than smaller ones, as far as its saved
    states show it.
    """
    if run.problem.directions is None or number >= TRAJECTORIES or len(run.output.times):
        return []
    try:
        return _led_astray(run, found, run.problem.directions, number)
    except Exception as error:  # also of the user's directions: what is said of a run must not lose it
        says = f"whether steps stay on their branch could not be checked ({type(error).__name__}: {error})"
        return [Doubt("branch", float(found.t[0]), np.nan, np.nan, says, trajectory=number)]


def _led_astray(run: FixedRun, found: Trajectory, directions: Directions, number: int) -> list[Doubt]:
    """The same, where the problem has directions."""
    steps = run.output.save_every
    last = len(found.t) - int(run.plan.steps % steps != 0)
    for row in turned_over(directions, found.t[:last], found.y[:last])[:PLACES]:
        rows = min(BEYOND, last - 1 - row)
        t, y, end = float(found.t[row]), found.y[row], found.y[row + rows]
        for parts in PARTS:
            count, h = rows * steps * parts, run.plan.h / parts
            way = _taken(run, t, y, count, h) if count <= STEPS else y[None]
            if len(way) <= count:
                break
            times = t + h * np.arange(len(way), dtype=np.float64)
            if _least(directions(times, way)).min() < TURNED:
                continue
            positions = positions_of(run.problem)
            length = np.abs(np.diff(way[:, :positions], axis=0)).sum(axis=0)
            apart = np.abs(way[-1] - end)[:positions]
            if (apart > ELSEWHERE * length).any():
                near = explained(run.problem, t, y, run.t0, found.y[0])
                says = "a step leads past a narrow place to another branch of what the constraints allow"
                says = ", ".join(text for text in (says, near) if text)
                time = float(found.t[row + 1])
                return [Doubt("branch", time, float(apart.max()), 0.0, says, "use a smaller step", number)]
            break
    return []


def turned_over(directions: Directions, t: Array, y: Array) -> list[int]:
    """The rows k of states y (n, …) at times t (n,) so that between k and k + 1 a direction turns over, as far as those
    show it that are looked at.
    """
    rows = spread(len(t), LOOKS)
    if len(rows) < 2:
        return []
    seen = directions(t[rows], y[rows])
    known = dict(zip(rows.tolist(), seen, strict=True))
    between = list(zip(_least(seen).tolist(), rows[:-1].tolist(), rows[1:].tolist(), strict=True))
    heapify(between)
    left, found = MORE, list[int]()
    while between and between[0][0] < SAME:
        least, first, last = heappop(between)
        if last == first + 1:
            found += [first] if least < TURNED else []
        elif left:
            left, middle = left - 1, (first + last) // 2
            known[middle] = directions(t[[middle]], y[[middle]])[0]
            before, after = _least(np.array([known[k] for k in (first, middle, last)])).tolist()
            heappush(between, (before, first, middle))
            heappush(between, (after, middle, last))
    return sorted(found)


def _least(directions: Array) -> Array:
    """The least real part of the eigenvalues of C from each state to the next, without those that are 0 because
    equations depend on each other; one where it is not known.
    """
    turned = directions[1:] @ directions[:-1].transpose(0, 2, 1)
    finite, least = np.isfinite(turned).all(axis=(1, 2)), np.ones(len(turned))
    if not finite.any():
        return least
    values = np.linalg.eigvals(turned[finite])
    dependent = values.shape[1] - round(float(np.sum(directions[:-1][finite][0] ** 2)))
    by_size = np.take_along_axis(values, np.argsort(np.abs(values), axis=1), axis=1)
    least[finite] = by_size[:, dependent:].real.min(axis=1, initial=1.0)
    return least


def _taken(run: FixedRun, t: float, y: Array, count: int, h: float) -> Array:
    """The states of so many steps of size h, up to the first that is not finite."""
    way = [y]
    for k in range(count):
        y = stepped(run, t + k * h, h, y)
        if not np.isfinite(y).all():
            break
        way.append(y)
    return np.array(way)
