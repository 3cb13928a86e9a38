"""Whether the Jacobian of a problem, or its sparsity, is that of its field, and differences are one: before a run."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.ambient import state_sizes
from integrators.problem.jitted import raise_raised
from integrators.problem.problem import Problem
from integrators.problem.sparsity import HALF, ORDER
from liegroup.table import EXP, KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, retract

Array = NDArray[np.float64]
START = "the start"
_NEIGHBOURS = 8
"""States that tell the rounding of a field."""
_DELTA = 2.0**-17
"""Of central differences, relative to the size of what is moved."""
_SMALL = 1e-3
"""Part of what counts as one below which a number is small: the field may bend within what is moved."""
_WRONG = 1e-3
"""Part of the largest entry of a row and column that an entry may be off, besides what differences cannot tell."""
_TELLS = 0.1
"""Part of a derivative to which differences must be known that contradict those of another size."""
_ROUNDING = 1e-12
"""Part of the largest entry that an entry may be off: sums whose parts cancel leave their rounding."""


def check_jacobian(problem: Problem, t: float) -> None:
    """ValueError with the entry that contradicts the differences of the field, or if it is not finite: at the start and
    at a place that the motion leads to, where what is zero at the start need not be.

    Differences over two lengths and to either side tell how far they can be trusted: near a kink of the field they
    contradict each other, and any derivative between them is taken.
    """
    if problem.derivative_pattern[HALF] < 0 and problem.jacobian is None:
        return
    y = np.atleast_2d(problem.y0)[0]
    wrong = _contradiction(problem, t, y, START)
    if not wrong:
        with np.errstate(all="ignore"), suppress(Exception):  # a user's functions need not be there
            wrong = _contradiction(problem, t, _further(problem, t, y), "a place further on,")
    if wrong:
        raise ValueError(wrong)


def _further(problem: Problem, t: float, y: Array) -> Array:
    """The state moved along its velocity, the fastest component by a tenth of the size of the state; but no number that
    becomes smaller by more than a half: fields and their derivatives may end, or bend, at zero.
    """
    v = problem.velocity(t, y)
    fastest = float(np.abs(v).max(initial=0.0))
    direction = v / fastest if fastest > 0.0 else np.cos(1.7 * np.arange(len(v)) + 0.3)
    move, part = 0.1 * max(1.0, float(np.abs(y).max())) * direction, 1.0
    for row in problem.table[problem.table[:, KIND] == RN]:
        x, dx = y[row[Q_OFFSET] :][: row[N_Q]], move[row[V_OFFSET] :][: row[N_V]]
        smaller = x * dx < 0.0
        part = min(part, float(0.5 * np.abs(x[smaller] / dx[smaller]).min(initial=2.0)))
    return _moved(problem, y, part * move)


def _contradiction(problem: Problem, t: float, y: Array, where: str) -> str:
    """What is wrong at one state; elsewhere than at the start where all is finite."""
    wrong = _wrong_sparsity(problem, t, y, where) if problem.derivative_pattern[HALF] >= 0 else ""
    if wrong or problem.jacobian is None:
        return wrong
    d = problem.dimension
    given = problem.evaluate(problem.jacobian, t, y, d * d).reshape(d, d)
    if not np.isfinite(given).all():
        if where != START:
            return ""
        i, j = (int(k) for k in np.argwhere(~np.isfinite(given))[0])
        return f"jacobian: entry ({i}, {j}) is {given[i, j]} at {where} t = {t}, y = {y.tolist()}"
    said, doubted = "", np.zeros((d, d), dtype=bool)
    for sizes in (sizes_of(problem, y), _own_sizes(problem, y)):
        (near, bend), (far, _) = (_differences(problem, t, y, k * _DELTA, sizes) for k in (1.0, 4.0))
        if not (np.isfinite(near).all() and np.isfinite(far).all()):
            return ""
        size = np.maximum(np.minimum.outer(np.abs(near).max(axis=1), np.abs(near).max(axis=0)), np.abs(near))
        unsure = 10.0 * np.abs(near - far) + bend + rounding_of(problem, t, y)[:, None] / (_DELTA * sizes)
        allowed = unsure + _WRONG * size + _ROUNDING * np.abs(near).max(initial=1.0)
        off = np.abs(given - near) > allowed
        doubted = off | (doubted & (unsure > _TELLS * size))  # differences that cannot tell acquit nothing
        if off.any():
            i, j = divmod(int(np.argmax(np.where(off, np.abs(given - near) / allowed, 0.0))), d)
            said = (
                f"jacobian: entry ({i}, {j}) is {given[i, j]:.9g} at {where} t = {t}, y = {y.tolist()}, but "
                f"differences of the field give {near[i, j]:.6g}; expected the derivative of component {i} of the "
                f"field f(t, y τ(x)) by component {j} of x at x = 0, by rows"
            )
    return said if doubted.any() else ""


def check_differences(problem: Problem, t: float) -> None:
    """ValueError where differences over what counts as one (`Problem.scales`) are another derivative at the start than
    those over the numbers of the state, which are much smaller: for methods whose order needs the derivative.
    """
    y = np.atleast_2d(problem.y0)[0]
    sizes, own = sizes_of(problem, y), _own_sizes(problem, y)
    if problem.has_jacobian or not (own < _SMALL * sizes).any():
        return
    with np.errstate(all="ignore"):
        taken, near, far = (
            _differences(problem, t, y, k * _DELTA, size)[0] for k, size in ((1.0, sizes), (1.0, own), (4.0, own))
        )
        size = np.minimum.outer(np.abs(near).max(axis=1), np.abs(near).max(axis=0))
        unsure = 10.0 * np.abs(near - far) + rounding_of(problem, t, y)[:, None] / (_DELTA * own)
        off = np.abs(taken - near) > unsure + _WRONG * size + _ROUNDING * np.abs(near).max(initial=0.0)
    if off.any():
        i, j = divmod(int(np.argmax(off)), problem.dimension)
        raise ValueError(
            f"jacobian: differences of component {i} of the field by component {j} of the state over {_DELTA:.1g} of "
            f"{sizes[j]:.3g}, which counts as one there, give {taken[i, j]:.6g}, and over that part of {own[j]:.3g}, "
            f"its number, {near[i, j]:.6g}. Give jacobian=, or scales= with what counts as one of each component"
        )


def _entries(problem: Problem, t: float, y: NDArray[np.float64]) -> Any:
    """The derivative that a field gives behind its values, as a sparse matrix."""
    entries = problem.jacobian_sparsity.astype(np.float64)
    entries.sort_indices()
    entries.data = problem.evaluate(problem.field, t, y, problem.dimension + entries.nnz)[problem.dimension :]
    return entries


def _wrong_sparsity(problem: Problem, t: float, y: Array, where: str) -> str:
    """The component that contradicts the sparsity: the derivative that this allows, found from moves of
    many components at once, is compared in one direction with the field's.
    """
    d, order = problem.dimension, problem.derivative_pattern[ORDER:]
    order = order[:d]
    apart = 2 * int(problem.derivative_pattern[HALF]) + 1
    allowed, place = problem.jacobian_sparsity, np.argsort(order)
    direction, sizes = np.cos(1.7 * np.arange(d) + 0.3), sizes_of(problem, y)
    found, parts = np.zeros(d), np.zeros(d)
    if problem.field.gives_entries:
        entries = _entries(problem, t, y)
        along = sizes * direction
        found, parts, apart = entries @ along, abs(entries) @ np.abs(along), 0
    for first in range(apart):
        moved = place % apart == first
        slope = _slope(problem, t, y, _DELTA * sizes * moved) / _DELTA
        weight = allowed @ (moved * direction)
        found += slope * weight
        parts += np.abs(slope * weight)
    near, far = (_slope(problem, t, y, k * _DELTA * sizes * direction) / (k * _DELTA) for k in (1.0, 4.0))
    off = np.abs(found - near) > 10.0 * np.abs(near - far) + 1e-4 * parts + rounding_of(problem, t, y) / _DELTA
    off &= np.isfinite(found)
    if not off.any():
        return ""
    i = int(np.argmax(off))
    return (
        f"jacobian_sparsity: component {i} of the field changes by {near[i]:.6g} along a direction in which the "
        f"components of its row change it by {found[i]:.6g} at {where} t = {t}; expected an entry for every "
        "component of the state that it depends on"
    )


def derivative(problem: Problem, t: float, y: Array) -> Array:
    """The derivative of the field at one state: that of the problem, or by differences."""
    d = problem.dimension
    with np.errstate(all="ignore"):  # fields end somewhere
        if problem.jacobian is None:
            return _differences(problem, t, y, _DELTA, sizes_of(problem, y))[0]
        return problem.evaluate(problem.jacobian, t, y, d * d).reshape(d, d)


def sizes_of(problem: Problem, y: Array) -> Array:
    """The size of what each component of the velocity (dimension,) moves: the state, or what counts as one there
    (`Problem.scales`) where that is more; angles are of size one, however often they have turned.
    """
    large = np.maximum(np.abs(y), problem.scales)
    large[list(problem.angles)] = 1.0
    return state_sizes(problem.table, large)


def _own_sizes(problem: Problem, y: Array) -> Array:
    """The same on Rⁿ by the numbers themselves, where these are not zero."""
    own, usual = state_sizes(problem.table, y), sizes_of(problem, y)
    for _, q, v, n_q, n_v in problem.table[problem.table[:, KIND] == RN].tolist():
        is_counted = np.isin(np.arange(q, q + n_q), list(problem.angles)) | (own[v : v + n_v] == 0.0)
        usual[v : v + n_v] = np.where(is_counted, usual[v : v + n_v], own[v : v + n_v])
    return usual


def _moved(problem: Problem, y: Array, u: Array) -> Array:
    """y τ(u) (n,) of an increment u (d,); of many, in columns (d, m): of each (n, m)."""
    start = y if u.ndim == 1 else np.repeat(y[:, None], u.shape[1], axis=1)
    out = start.copy()
    retract(problem.table, EXP, start, u, out)
    return out


def _slope(problem: Problem, t: float, y: Array, u: Array) -> Array:
    """Half the change of the field from y τ(−u) to y τ(u)."""
    return 0.5 * (problem.velocity(t, _moved(problem, y, u)) - problem.velocity(t, _moved(problem, y, -u)))


def _velocities(problem: Problem, t: float, states: Array) -> Array:
    """The field at many states (k, n), in one workspace: (k, dimension)."""
    rates, work = np.zeros((len(states), problem.dimension)), np.zeros(problem.work_shape)
    parameters = problem.own_parameters()
    for y, rate in zip(states, rates, strict=True):
        problem.field.at_one_state(t, y, parameters, problem.structure, work, rate)
    raise_raised()
    return rates


def _differences(problem: Problem, t: float, y: Array, delta: float, sizes: Array) -> tuple[Array, Array]:
    """Central differences of the field along right increments, each of a part of its size, and by how much those to
    either side differ.
    """
    size, here = delta * sizes, problem.velocity(t, y)
    aside = np.diag(size)
    states = _moved(problem, y, np.concatenate([aside, -aside], axis=1)).T.copy()
    after, before = np.split(_velocities(problem, t, states), 2)
    return (after - before).T / (2.0 * size), np.abs(after - 2.0 * here + before).T / size


def rounding_of(problem: Problem, t: float, y: Array) -> Array:
    """What rounding may make of the field at a state, each component (dimension,): of its values, and, where its parts
    cancel, what it changes by between states that are some units in the last place apart.
    """
    units = np.rint(4.0 * np.cos(np.outer(np.arange(_NEIGHBOURS), 1.7 * np.arange(len(y)) + 0.3)))
    beside = _velocities(problem, t, y + units * np.spacing(y))
    return np.asarray(np.fmax(1e-13 * np.abs(problem.velocity(t, y)), 4.0 * np.ptp(beside, axis=0)))
