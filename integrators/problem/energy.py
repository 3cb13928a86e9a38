"""How much energy a motion exchanges, and whether it keeps it: measured at a few states, for the guard of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.ambient import unit_sizes
from integrators.problem.guards import Guard, energy_guard, momentum_guards
from integrators.problem.parts import constrained, quasi_velocity
from integrators.problem.problem import Problem
from liegroup.table import retract
from liegroup.tau import EXP

Array = NDArray[np.float64]
_MOVES = (1.0, -0.7, 0.4)
"""How far, in rad or m, the states lie from the start that are looked at."""
_NEARER, _TIMES_NEARER = 0.125, 14
"""By how much nearer they lie each time where a motion is asked what it gains on the way down, and how many times."""
_TIMES, _LOUD = 8.0, 1e6
"""Times its own energy is at play at most, and times its rounding it is at least."""
_LATER = 0.37
"""A time at which an energy that depends on time has another value, s."""
TIMES = tuple(0.05 * 1.25**k for k in range(35))
"""s, up to 100: when a force of time may act that does not at the start."""
_SWITCHED = (*TIMES, *(sign * 2.0**k for sign in (1.0, -1.0) for k in range(-4, 21) if sign < 0.0 or k > 6))
"""s, up to twelve days either way: when a potential may be another one than at the start, though it rests before and
behind.
"""
_STEP = 1e-5
_SOON, _SHORT = 0.1, 0.01
"""s, and the part of a state by which it changes, of the steps with which a motion is followed a little."""
_FAST = 1e6
"""Kinetic energy that drowns what is at play, in parts of it."""
_FASTER = 10.0
"""By how much shorter each step is with which a state far from the origin is asked for its power."""
_KEPT = 1e-6
"""Rate of the energy, relative to what is at play and to the rates of the state, that counts as zero."""


def with_energy_guard(
    problem: Problem, conservative: bool = True, momenta: Sequence[str] = (), proven: bool = False
) -> Problem:
    """The same problem with the guard of its energy, without it where the energy is not kept or not watched; and with
    those of the invariants that are conserved `momenta`.

    Whether it is kept is measured, unless it is `proven`: stiff constraints are opened by the steps of the measurement.
    """
    start = np.atleast_2d(problem.y0)[:, -problem.variables[-1].size :]
    kept = momentum_guards(momenta, float(np.linalg.norm(start, axis=1).max()))
    problem = replace(problem, guards=(*problem.guards, *kept)) if kept else problem
    if "energy" not in problem.invariant_names or not conservative:
        return problem
    at_play = energy_at_play(problem)
    own = min(at_play, _TIMES * energy_of_its_own(problem)) or at_play
    guards: tuple[Guard, ...] = energy_guard(own) if proven or is_kept(problem, at_play) else ()
    return replace(problem, guards=(*problem.guards, *guards))


def energy_at_play(problem: Problem) -> float:
    """The kinetic energy of the start, and the differences of the potential energy within what counts as one
    (`Problem.scales`: a rad or a metre, unless it says another), along velocities that constraints admit; 0 where they
    are not finite.

    The last variable of the state is the velocity or the momentum.
    """
    start, rest = _start_and_rest(problem)
    still = _energy(problem, 0.0, rest)
    around = [abs(_energy(problem, 0.0, _configuration_moved(problem, rest, x)) - still) for x in _MOVES]
    found = abs(_energy(problem, 0.0, start) - still) + max(around)
    return found if np.isfinite(found) else 0.0


def _start_and_rest(problem: Problem) -> tuple[Array, Array]:
    """The first start, and the same without its velocities or momenta."""
    start = np.array(np.atleast_2d(problem.y0)[0])
    rest = start.copy()
    rest[-problem.variables[-1].size :] = 0.0
    return start, rest


def energy_of_its_own(problem: Problem) -> float:
    """The energy that a motion can climb with: the kinetic energy of the start, and the most that it gains on the way
    down, looked for nearer and nearer; for one in micrometres what counts as one, a metre, is out of reach.  At least
    what is well above rounding; 0 where nothing is known.
    """
    start, rest = _start_and_rest(problem)
    still = _energy(problem, 0.0, rest)
    places = (_configuration_moved(problem, rest, x * _NEARER**k) for k in range(_TIMES_NEARER) for x in _MOVES)
    falls = np.array([still - _energy(problem, 0.0, y) for y in places])
    rounding = _rounding(problem, 0.0, start)
    found = max(
        abs(_energy(problem, 0.0, start) - still) + float(falls.max(initial=0.0, where=np.isfinite(falls))),
        _LOUD * rounding,
    )
    return found if np.isfinite(found) else 0.0


def is_kept(problem: Problem, at_play: float) -> bool:
    """Whether the energy stays along the field, from the start and from states near it.

    Of problems with constraints, whose field goes by states that satisfy them, the start and some states of the motion
    from there are looked at: a drive has no power at rest.
    """
    start = np.array(np.atleast_2d(problem.y0)[0])
    if problem.parts_layout == "quasi_velocity" or problem.canonical:
        by = 0.3 * _pattern(problem)
        by[-problem.variables[-1].size :] *= _slower(problem, start, by, at_play)
        places = [(0.0, start), *((0.0, _moved(problem, start, x * by)) for x in _MOVES)]
    else:
        places = [(0.0, start), *_later(problem, start)]
    if not problem.is_autonomous:
        if _is_switched(problem, places[-1][1]):
            return False
        firsts = [(y, _field_at(problem, 0.0, y)) for _, y in places[:2]]
        places += [(t, y) for t in TIMES for y, at_first in firsts if _drives(problem, t, y, at_first)]
    return keeps(problem, at_play, places)


def keeps(problem: Problem, at_play: float, places: Sequence[tuple[float, Array]]) -> bool:
    """Whether the energy stays along the field at times and states."""
    found = (power(problem, t, y) for t, y in places)
    return all((abs(rate) + unsure) / slowly <= _KEPT * at_play for rate, unsure, slowly in found)


def _is_switched(problem: Problem, y: Array) -> bool:
    """Whether the energy of one state is another one at some time: where it jumps from one constant to another, no rate
    shows it.
    """
    still = _energy(problem, 0.0, y)
    for t in _SWITCHED:
        with suppress(Exception):  # functions of the user's need not be there at all times
            if np.isfinite(later := _energy(problem, t, y)) and later != still:
                return True
    return False


def _drives(problem: Problem, t: float, y: Array, at_first: Array) -> bool:
    """Whether the field is another one at a time than `at_first`; not where it is not known, as functions of the user's
    may end.
    """
    with suppress(Exception):
        return not np.array_equal(_field_at(problem, t, y), at_first, equal_nan=True)
    return False


def _later(problem: Problem, y: Array) -> list[tuple[float, Array]]:
    """Times and states a little later along the motion, by the classical Runge–Kutta method in exponential
    coordinates; where it cannot go there, fewer.
    """
    t, found = 0.0, list[tuple[float, Array]]()
    with suppress(Exception):  # functions of the user's need not be there
        for _ in _MOVES:
            k = [_field_at(problem, t, y)]
            fastest = max(float(np.abs(k[0]).max()), 1e-300)
            h = min(_SOON, _SHORT * (1.0 + float(np.abs(y).max())) / fastest)
            for part in (0.5, 0.5, 1.0):
                k.append(_field_at(problem, t + part * h, _moved(problem, y, part * h * k[-1])))
            t, y = t + h, _moved(problem, y, h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3]))
            if not np.isfinite(y).all():
                break
            found.append((t, y))
    return found


def _field_at(problem: Problem, t: float, y: Array) -> Array:
    return _values(problem.field.python, problem, t, y, problem.dimension)


def _slower(problem: Problem, start: Array, by: Array, at_play: float) -> float:
    """Part of velocities or momenta with which a state has no more than `_FAST` of what is at play: those of a mote
    are far below one.
    """
    moving, rest, size = start.copy(), start.copy(), problem.variables[-1].size
    moving[-size:], rest[-size:] = by[-size:], 0.0
    kinetic = abs(_energy(problem, 0.0, moving) - _energy(problem, 0.0, rest))
    return float(np.sqrt(at_play / kinetic)) if kinetic > _FAST * at_play > 0.0 else 1.0


def power(problem: Problem, t: float, y: Array) -> tuple[float, float, float]:
    """Ė along the field, by how much rounding may make it wrong, and the rate of the state to which it compares: of the
    fastest component, positions relative to what counts as one, or to how far the state is from the origin where that
    is more, momenta to the largest of them.  Infinite where the energy of one state changes with the time.

    Of a place far away one step is as long as the state is large, and the next ones are shorter, as far as rounding
    lets them tell more: an orbit is 1e7 m, and a pendulum may swing as far from the origin.
    """
    with suppress(Exception):  # functions of the user's may end before
        if _energy(problem, t + _LATER, y) != _energy(problem, t, y):
            return np.inf, 0.0, 1.0
    rates, last = _field_at(problem, t, y), problem.variables[-1].size
    sizes = np.abs(rates)
    sizes[-last:] /= max(float(np.abs(y[-last:]).max(initial=0.0)), 1.0)
    near = float(sizes.max()) or 1.0  # at rest the time alone goes on
    sizes[:-last] /= max(float(np.abs(y[:-last]).max(initial=0.0)), 1.0)
    slowly = float(sizes.max()) or near
    rounding = 0.0 if slowly == near else _rounding(problem, t, y) + float(np.spacing(np.abs(_energy(problem, t, y))))
    found = (np.inf, 0.0)
    for rate in slowly * _FASTER ** np.arange(1 + max(0, round(np.log(near / slowly) / np.log(_FASTER)))):
        step = _STEP / rate
        ahead, behind = (_energy(problem, t + s * step, _moved(problem, y, s * step * rates)) for s in (1.0, -1.0))
        told = (ahead - behind) / (2.0 * step), rounding / (2.0 * step)
        if not abs(told[0]) + told[1] > abs(found[0]) + found[1]:
            found = told
        if abs(found[0]) <= told[1]:
            break
    return *found, slowly


def _rounding(problem: Problem, t: float, y: Array) -> float:
    """How far the energy changes between a state and its neighbours."""
    values = [_energy(problem, t, y + k * np.spacing(np.abs(y))) for k in range(-2, 3)]
    return float(np.ptp(values))


def _energy(problem: Problem, t: float, y: Array) -> float:
    return float(watched(problem, y, t)[problem.invariant_names.index("energy")])


def watched(problem: Problem, y: Array, t: float = 0.0) -> Array:
    """The invariants at one state, interpreted: nothing is compiled for this."""
    return _values(problem.invariants.python, problem, t, y, problem.invariant_count)


def _values(function: Any, problem: Problem, t: float, y: Array, size: int) -> Array:
    """Values of a function of the problem, interpreted; not finite where Python's numbers raise."""
    out = np.zeros(size)
    try:
        with np.errstate(all="ignore"):
            function(t, y.copy(), problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    except ArithmeticError:
        out.fill(np.nan)
    return out


def _pattern(problem: Problem) -> Array:
    return np.asarray(np.cos(np.arange(1.0, problem.dimension + 1.0)))


def _configuration_moved(problem: Problem, y: Array, distance: float) -> Array:
    units = unit_sizes(problem.table, problem.scales)
    by = distance * units * _pattern(problem)
    by[-problem.variables[-1].size :] = 0.0
    return _moved(problem, y, _admitted(problem, y, by, units))


def _admitted(problem: Problem, y: Array, by: Array, units: Array) -> Array:
    """The part of a displacement that rows of constraints, or a basis of the velocities, admit; in units of components
    nothing else is nearer.
    """
    if problem.parts_layout not in ("constrained", "quasi_velocity"):
        return by
    n, m, *more = problem.sizes
    with suppress(Exception):  # of the user's functions, at rest
        values, one = problem.parts_values(problem.begins or 0.0, y), units[:n]
        if problem.parts_layout == "constrained":
            at = constrained(n, m, more[0])
            rows = values[at.ROWS : at.ROWS + m * n].reshape(m, n) * one
            inner = by[:n] / one
            inner = inner - np.linalg.pinv(rows) @ (rows @ inner)
        else:
            block = quasi_velocity(n, problem.variables[-1].size)
            basis = values[block.BASIS : block.METRIC].reshape(n, -1) / one[:, None]
            inner = basis @ (np.linalg.pinv(basis) @ (by[:n] / one))
        if np.isfinite(inner).all():
            by = np.concatenate([one * inner, by[n:]])
    return by


def _moved(problem: Problem, y: Array, by: Array) -> Array:
    moved: Array = y.copy()
    retract(problem.table, EXP, y, by, moved)
    return moved
