"""What positions are measured by where two runs are compared: how far they go.

How far that is depends on what they are: positions of one unit, angles, nodes of a rod, a state of which nothing is
known; of what leaves for infinity its own way is no measure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.engine.resolution import positions_of, scale_of
from integrators.engine.run import Run
from integrators.problem import Problem

Array = NDArray[np.float64]
ANOTHER = 0.5
"""Part of the way by which ends may be elsewhere."""
ONE_WAY = 0.9
"""Part of all that a position goes by which it is away at last, where it travels."""
QUATERNION, ANGLE = "1", "rad"
"""Units of their components."""
FEW, ROUNDED = 9, 1e-12
"""States that do not show how a motion goes, and part of a position that is rounding."""
HALF_A_TURN = np.pi
"""What others turn by, at most, where an angle is measured by them: how far a rotor goes that is sped up says nothing
of the arm that carries it.
"""
LITTLE = 0.05
"""Part of the way of positions of another unit that one counts as, at least."""
AT_LEAST = 1e-5
"""Part of how far others go that counts of it beside a uniform motion, at least: a straight flight has no swings to be
measured by, but what its run makes of it.
"""
SLIGHT = 1e-6
"""The same of components of which nothing is known."""
TINY = 1e-9
"""Of what counts as one, what rounding moves."""
THROWN, AT_ALL = 3.0, 1e3
"""Times the way of smaller steps, and of those of a stretch alone: what goes so far is measured by that."""


def bent_at(t: Array, y: Array, scale: Array) -> Array:
    """By how much the rates of states change from one saved state to the next, the most of all components."""
    rates = np.diff(y, axis=0) / np.diff(t)[:, None]
    return np.array(np.abs(np.diff(rates, axis=0) / scale).max(axis=1))


def ways_of(run: Run, t: Array, states: Array) -> Array:
    """`scale_of`, at times t, with positions of different units apart: how far a wheel turns says nothing of how far
    its cart goes; nor does what travels at constant speed of what swings beside it, which is the same motion in another
    frame: of others counts how far they go beside that (`swings_of`).
    What goes by less than `LITTLE` of what another does, in what counts as one (`Problem.scales`), up to one, is
    measured by that: springs that shake a little are not the motion.
    """
    scale, start = scale_of(run, states), 0
    for variable in run.problem.variables:
        part, units = slice(start, start + variable.size), np.array(variable.units.split(", "))
        start += variable.size
        known = start <= positions_of(run.problem) and variable.units and len(units) in (1, variable.size)
        if not known or not np.isfinite(scale[part]).all():
            continue
        units, one = np.broadcast_to(units, variable.size), run.problem.scales[part]
        moved, ways = np.abs(states[:, part] - states[0, part]).max(axis=0), np.empty(variable.size)
        swings = swings_of(t, states[:, part])
        for unit in sorted(set(units.tolist())):
            alike = units == unit  # components of a quaternion are of one turn
            shared = max(swings[alike].max(), AT_LEAST * moved[alike].max())
            shared = min(shared, HALF_A_TURN if unit == ANGLE else np.inf)
            ways[alike] = moved[alike].max() if unit == QUATERNION else np.maximum(moved[alike], shared)
        scale[part] = np.maximum(ways, LITTLE * np.minimum(moved / one, 1.0).max() * one)
    return scale


def swings_of(t: Array, states: Array) -> Array:
    """How far components (rows, k) go beside the uniform motion from the first to the last of some states at times t;
    of few states how far they go.
    """
    away = states - states[0]
    moved = np.abs(away).max(axis=0)
    if len(t) < FEW or t[-1] == t[0]:
        return np.array(moved)
    beside = np.abs(away - ((t - t[0]) / (t[-1] - t[0]))[:, None] * away[-1]).max(axis=0)
    return np.array(np.where(beside > ROUNDED * np.abs(states).max(axis=0), np.minimum(moved, beside), 0.0))


def ways_of_each(run: Run, t: Array, states: Array) -> Array:
    """`ways_of`, where nothing is known of the components of a state, neither units nor which are rates, each by its
    own way, down to `SLIGHT` of the largest: a position says nothing beside a large velocity.
    """
    scale = ways_of(run, t, states)
    if len(run.problem.variables) == 1 and not run.problem.variables[0].units and np.isfinite(scale).all():
        moved = np.abs(states - states[0]).max(axis=0)
        scale = np.maximum(moved, SLIGHT * moved.max())
    return scale


def ways_of_all(run: Run, t: Array, states: Array) -> Array:
    """`ways_of`, with the largest of variables that are alike: nodes of a rod that hardly move are not the motion."""
    scale, start, alike = ways_of(run, t, states), 0, dict[tuple[str, int, bool], list[slice]]()
    for variable in run.problem.variables:
        kind = variable.units, variable.size, start < positions_of(run.problem)
        alike.setdefault(kind, []).append(slice(start, start + variable.size))
        start += variable.size
    for parts in alike.values():
        largest = np.max([np.where(np.isfinite(scale[part]), scale[part], 0.0) for part in parts], axis=0)
        for part in parts:
            scale[part] = np.where(np.isfinite(scale[part]), largest, scale[part])
    return scale


def ways_of_travel(run: Run, t: Array, states: Array) -> Array:
    """`ways_of_all` of positions that go one way; those of which nothing is asked are infinite."""
    scale, k = ways_of_all(run, t, states), positions_of(run.problem)
    with np.errstate(invalid="ignore"):
        gone = np.abs(np.diff(states[:, :k], axis=0)).sum(axis=0)
        travels = (np.abs(states[-1, :k] - states[0, :k]) > ONE_WAY * gone) & (gone > 0.5 * scale[:k])
    return np.where(np.append(travels, np.zeros(len(scale) - k, dtype=bool)), scale, np.inf)


def not_thrown(scale: Array, other: Array, k: int, times: float = THROWN) -> Array:
    """What positions are measured by: their way, or that of smaller steps where it is much shorter: what leaves for
    infinity is beside itself nowhere else.
    """
    far, near = (float(np.max(x[:k], initial=0.0, where=np.isfinite(x[:k]))) for x in (scale, other))
    return np.fmin(scale, other) if far > times * near > 0.0 else scale


def beyond(differs: Array, limit: float) -> tuple[float, float, int]:
    """By how much a tenth of the states differ, or the last, what is allowed, and the first row that passes it."""
    part, allowed = float(np.quantile(differs, 0.9, method="higher")), limit
    if part <= limit < ANOTHER < differs[-1]:
        part, allowed = float(differs[-1]), ANOTHER
    return part, allowed, int(np.argmax(differs > allowed))


def of_velocities(problem: Problem, scale: Array) -> Array:
    """A measure of states as one of velocities (dimension,): of turns the largest of their state; tiny where nothing
    moves.
    """
    found = np.empty(problem.dimension)
    known = np.where(np.isfinite(scale), scale, TINY * problem.scales)
    for _, q, v, n_q, n_v in problem.table.tolist():
        found[v : v + n_v] = known[q : q + n_q] if n_q == n_v else known[q : q + n_q].max()
    return found
