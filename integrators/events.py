"""Events: zeros of functions along a motion, located to rounding on states of the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.fields import Field, as_field
from liegroup.arrays import check_function, integer, of_kind, real, shown
from liegroup.compile import absolute, helper
from liegroup.compile.scalars import maximum
from liegroup.modules import listing

__all__ = ["Event", "Events", "as_events", "zeros"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
LONG = 0.25
"""By how much of the larger slope the mean of two may be wrong, of a step that is not long."""
SMALL, STEEP = 0.01, 2.5
"""Part of the values that counts as nothing beside them, and times the values that a slope is more than a step goes."""
ROUNDED = 1e5
"""Times its values within a step by which a slope is one of their rounding: what should be constant has no zeros but
those that its signs tell.
"""
TOUCH = 1e-13
"""Part of what it is at the ends of a step, or of its slope, by which a function must go beyond zero: else it touches
it.
"""
PLACES, MOST_PLACES, EACH, SHARE = 8, 4096, 4, 1.5
"""Parts of a step in which a function is looked at first, and at most; parts for each change of its sign, and parts in
which it goes as far as its values.
"""
NEAR, BENT, MOST_BENT = 0.5, 0.5, 64
"""Part of a value to which a parabola has to come near zero, so that it is looked at there; part of how far a function
goes that its second differences are, at most, in so many parts of a step.
"""
_STAYS = 1e-6
"""Part of a step before its end at which a function that is zero there is asked whether it was so before."""
_FLAT = 1e-8
"""To what part of what is between two places the one is found at which a function is least: there it is flat."""


@dataclass(frozen=True)
class Event:
    """A zero of g(t, y).

    Parameters
    ----------
    function : callable
        g in any form of `integrators.problem.fields`, with one value.
    name : str
        For the results.
    direction : int
        +1: g becomes positive or zero coming from below; −1: from above; 0: both.
    terminal : bool or int
        Stop at the first (True) or at its n-th occurrence (n).

    Raises
    ------
    TypeError, ValueError
        Not a function; a direction that is none of −1, 0, 1; a number of occurrences that is none.

    Notes
    -----
    Zeros are noticed by the signs of g at the ends of a step, more of them within one step by its rates there: where
    these do not tell what is between, it is looked at there, until a look twice as fine sees no more.  Where g comes
    more often than that, the run is doubtful (`events`).  A zero at the start of the motion is no event, nor is what
    rounding makes of it, where a run goes on from a terminal event.

    Examples
    --------
    >>> from integrators.events import Event
    >>> Event(lambda t, y: y[0], "ground", direction=-1, terminal=True).name
    'ground'
    """

    function: Callable[..., Any]
    name: str = ""
    direction: int = 0
    terminal: bool | int = False

    def __post_init__(self) -> None:
        if isinstance(self.function, str) and callable(self.name):
            raise TypeError(f"function: {shown(self.function)}, expected a function g(t, y), before the name")
        of_kind(self.name, str, "name", "a text")
        if not isinstance(self.function, Field):
            check_function(self.function, f"event {self.name!r}: function", "a function g(t, y)")
        real(self.direction, f"event {self.name!r}: direction", "-1, 0 or 1", lambda x: x in (-1, 0, 1))
        if self.terminal is not None:
            integer(self.terminal, f"event {self.name!r}: terminal", hint=", False or True")


@dataclass(frozen=True)
class Events:
    """The events of a run, and their functions as one field.

    Attributes
    ----------
    rows : tuple of Event
        In the order they were given.
    field : Field
        All functions, one value each.
    directions : int64 array (k,)
        −1, 0 or 1.

    Examples
    --------
    Made by `as_events`.
    """

    rows: tuple[Event, ...]
    field: Field
    directions: NDArray[np.int64]

    @property
    def names(self) -> tuple[str, ...]:
        """One per event."""
        return tuple(event.name for event in self.rows)


def as_events(events: Any) -> Events | None:
    """Bring what a user gave to `Events`: an Event, a function (its attributes `direction`, `terminal` count, as in
    SciPy), a sequence of these, or a mapping from names.

    Parameters
    ----------
    events : Event, function, sequence or mapping, or None
        What a user gave.

    Returns
    -------
    Events or None
        None for nothing.

    Raises
    ------
    ValueError
        Names that are not different identifiers.
    TypeError
        Something that is no function.

    Examples
    --------
    >>> as_events({"ground": lambda t, y: y[0]}).names
    ('ground',)
    """
    if events is None:
        return None
    if isinstance(events, Mapping):
        given = [_as_event(e, str(name)) for name, e in events.items()]
    else:
        listed: Sequence[Any] = events if isinstance(events, (list, tuple)) else [events]
        given = [_as_event(e, f"event{k}") for k, e in enumerate(listed)]
    if not given:
        return None
    names = [e.name for e in given]
    for name in names:
        if not name.isidentifier() or names.count(name) > 1:
            raise ValueError(f"events: name {name!r}, expected different identifiers (letters, digits, _)")
    field = as_field({e.name: e.function for e in given}, "event")
    return Events(tuple(given), field, np.array([e.direction for e in given], dtype=np.int64))


def _as_event(event: Any, name: str) -> Event:
    if isinstance(event, Event):
        return event if event.name else Event(event.function, name, event.direction, event.terminal)
    if not callable(event):
        raise TypeError(f"events: {event!r}, expected an Event or a function g(t, y)")
    direction = real(getattr(event, "direction", 0), f"event {name!r}: direction", "a number, whose sign counts")
    return Event(event, name, int(np.sign(direction)), getattr(event, "terminal", False))


@helper
def dips(a: Any, b: Any, rise: Any, rise_after: Any) -> Any:
    """Whether a function with values a, b at the ends of a step may be zero within more often than their signs tell, by
    its slopes there over the whole step: the tangents meet beyond zero, or the step is so long, or they so steep, that
    they do not tell what is between them.  One that begins with zero has the sign to which it goes.
    """
    inwards = (a > 0.0) & (b > 0.0) & (rise < 0.0) & (rise_after > 0.0)
    outwards = (a < 0.0) & (b < 0.0) & (rise > 0.0) & (rise_after < 0.0)
    meets = (b - rise_after) * rise - a * rise_after  # times rise - rise_after, where the tangents meet
    wrong = absolute((b - a) - 0.5 * (rise + rise_after))
    slope = maximum(absolute(rise), absolute(rise_after))
    is_long = (wrong > LONG * slope) & ((wrong > SMALL * absolute(a)) | (wrong > SMALL * absolute(b)))
    most = maximum(absolute(a), absolute(b))
    is_steep = (slope > STEEP * most) & (slope < ROUNDED * most)
    begins = a == 0.0
    known, comes_back = (a * b != 0.0) | (begins & (rise * b > 0.0)), begins & (rise * b < 0.0)
    return ((inwards | outwards) & (meets >= 0.0)) | comes_back | (known & (is_long | is_steep))


def steepness(count: int, a: float, b: float) -> float:
    """The slope, over a step, of a function that is zero so often in it, with values a, b at its ends, at least: the
    next step is looked at as finely as that asks for.
    """
    return 2.0 * EACH / SHARE * count * max(abs(a), abs(b))


def zeros(
    events: Events,
    before: Array,
    after: Array,
    h: float,
    state_at: Callable[[float], Array],
    values_at: Callable[[float, Array], Array],
    slopes: tuple[Array, Array] | None = None,
) -> list[tuple[float, int, Array]]:
    """The zeros within a step of size h, in order: (part of the step to go, number of the event, state there).

    Parameters
    ----------
    events : Events
        From `as_events`.
    before, after : array (events,)
        Values of the functions at the ends of the step.
    h : float
        Step, s; negative backwards.
    state_at : callable
        ``state_at(part)`` → the state after that part of the step, 0 to h.
    values_at : callable
        ``values_at(part, state)`` → values of the functions.
    slopes : (array (events,), array (events,)), optional
        By how much the functions would change over the step at the rates at its ends: where these do not tell what is
        between (`dips`), more zeros are looked for.

    Returns
    -------
    list of (float, int, array)
        Part of the step to go, number of the event, state there.

    Raises
    ------
    TypeError
        Events that are none of `as_events`.

    Examples
    --------
    >>> falling = as_events(lambda t, y: y[0])
    >>> found = zeros(falling, np.array([1.0]), np.array([-1.0]), 0.5, lambda s: np.array([1 - 4 * s]), lambda s, y: y)
    >>> round(found[0][0], 12), found[0][1]
    (0.25, 0)
    """
    of_kind(events, Events, "events", "what as_events makes")
    found = []
    for k, event in enumerate(events.rows):
        function = partial(_one_of, values_at, state_at, k)
        first, last = (0.0, float(before[k])), (h, float(after[k]))
        places = [first, last]
        if slopes is not None and dips(before[k], after[k], slopes[0][k], slopes[1][k]):
            places[1:1] = _between(function, first, last, (float(slopes[0][k]), float(slopes[1][k])))
        for (start, a), (end, b) in pairwise(places):
            if (event.direction >= 0 and a < 0.0 <= b) or (event.direction <= 0 and a > 0.0 >= b):
                part = _root(function, a, b, start, end)
                found.append((part, k, state_at(part)))
    return sorted(found, key=lambda row: abs(row[0]))


def _one_of(values_at: Callable[..., Array], state_at: Callable[[float], Array], k: int, part: float) -> float:
    """The value of function k within a step."""
    return float(values_at(part, state_at(part))[k])


class _Found(Exception):
    """A place was found: what it is."""


def _between(
    function: Callable[[float], float],
    start: tuple[float, float],
    end: tuple[float, float],
    slopes: tuple[float, float],
) -> list[tuple[float, float]]:
    """Places between two, and the values there, between which a function changes its sign as often as it does; none if
    it does no more often than the ends tell.  Of a function that begins with zero, first a place where it has the sign
    to which it goes.  `slopes`: at both ends, over the whole step.
    """
    h, rise = end[0], slopes[0]
    if start[1] == 0.0:
        part = _FLAT
        while part < 1.0 / PLACES and not function(part * h) * rise > 0.0:
            part *= 4.0
        start = part * h, function(part * h)
        return [start, *_between(function, start, end, slopes)] if start[1] * rise > 0.0 else []
    slope, most = max(map(abs, slopes)), max(abs(start[1]), abs(end[1]))
    touches = TOUCH * max(most, slope)
    first = [function(part * h) for part in (np.arange(1, PLACES) / PLACES).tolist()]
    if slope > ROUNDED * max(most, *map(abs, first)):
        return []
    values = _fine_look(function, first, start, end, slope, touches)
    places = zip((np.arange(1, len(values) + 1) / (len(values) + 1) * h).tolist(), values, strict=True)
    known = [start, *((x, y) for x, y in places if abs(y) > touches and abs(x) > abs(start[0])), end]
    known[1:-1] = sorted(
        [*known[1:-1], *_dips_between(function, known, slopes, touches)], key=lambda place: abs(place[0])
    )
    return known[1:-1] if _changes(np.array([y for _, y in known]), touches) > int(start[1] * end[1] < 0.0) else []


def _fine_look(
    function: Callable[[float], float], values: list[float], start: tuple[float, float], end: tuple[float, float],
    slope: float, touches: float,
) -> list[float]:  # fmt: skip
    """Values at places between two, those of a first look or more: as close as a slope asks for, or as they bend, or as
    changes of sign do, so that a look twice as coarse has seen no fewer, and there are `EACH` parts for each.
    """
    told = seen = int(start[1] * end[1] < 0.0)
    while (count := len(values) + 1) < MOST_PLACES:
        known = np.array([start[1], *values, end[1]])
        changes, steep = _changes(known, touches), SHARE * slope > count * np.abs(known).max()
        bent = count < MOST_BENT and np.abs(np.diff(known, 2)).max() > BENT * np.ptp(known)
        if not steep and not bent and (changes <= told or (changes <= seen and EACH * changes <= count)):
            break
        between = [function((k + 0.5) / count * end[0]) for k in range(count)]
        values, seen = [x for pair in zip(between, values, strict=False) for x in pair] + between[-1:], changes
    return values


def _changes(values: Array, touches: float) -> int:
    """How often values change their sign; those that touch zero have none."""
    signs = np.sign(values[np.abs(values) > touches])
    return int(np.sum(signs[1:] != signs[:-1]))


def _dips_between(
    function: Callable[[float], float], known: Sequence[tuple[float, float]], slopes: tuple[float, float],
    touches: float,
) -> list[tuple[float, float]]:  # fmt: skip
    """Places, and the values there, at which a function goes beyond zero between places that do not show it: about
    those where a parabola comes near zero, or a tangent at one of the ends, and, if it has one sign at all of them,
    where it is nearest.
    """
    y, last = np.array([value for _, value in known]), len(known) - 1
    before, here, after = y[:-2], y[1:-1], y[2:]
    with np.errstate(all="ignore"):
        least = here - (after - before) ** 2 / (8.0 * (after - 2.0 * here + before))
        dip = (np.abs(here) <= np.minimum(np.abs(before), np.abs(after))) & (before * here > 0.0) & (after * here > 0.0)
        about = (np.flatnonzero(dip & (least / here < NEAR)) + 1).tolist()
    for k, other, slope in ((0, 1, slopes[0]), (last, last - 1, -slopes[1])):
        part = abs((known[other][0] - known[k][0]) / known[last][0])
        if y[k] * y[other] > 0.0 and y[k] * slope < 0.0 and abs(slope) * part > abs(y[k]):
            about.append(k)
    if not about and not _changes(y, touches):
        about = [int(np.argmin(np.abs(y)))]
    found = []
    for k in about:
        ends = known[max(k - 1, 0)][0], known[min(k + 1, last)][0]
        found += _beyond(function, ends, float(np.sign(y[k])), touches)
    return found


def _beyond(
    function: Callable[[float], float], ends: tuple[float, float], sign: float, touches: float
) -> list[tuple[float, float]]:
    """A place between two at which a function goes beyond zero, and the value there; none if it does not."""
    from scipy.optimize import minimize_scalar

    def away(place: float) -> float:
        value = function(place)
        if sign * value < -touches:
            raise _Found(place, value)
        return float(sign * value)

    try:
        near = {"xatol": _FLAT * abs(ends[1] - ends[0])}
        minimize_scalar(away, bounds=(min(ends), max(ends)), method="bounded", options=near)
    except _Found as found:
        return [found.args]
    return []


def _root(function: Callable[[float], float], a: float, b: float, start: float, h: float) -> float:
    """A zero in (start, h], given the values a and b at its ends, to rounding; of a function that stays zero, where it
    becomes so.
    """
    from scipy.optimize import brentq

    stays = b == 0.0 and a * function(h - _STAYS * (h - start)) <= 0.0
    if b == 0.0 and not stays:
        return h
    ends = {start: a, h: -a if stays else b}

    def value(x: float) -> float:
        found = ends[x] if x in ends else function(x)
        return (a if a * found > 0.0 else -a) if stays else found

    root, _ = brentq(
        value,
        start,
        h,
        xtol=1e-300,
        rtol=4 * np.finfo(float).eps,
        maxiter=500,
        full_output=True,
        disp=False,  # where a function jumps at the start, halves go on towards it without end
    )
    return float(root)
