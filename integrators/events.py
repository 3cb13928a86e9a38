"""Events: zeros of functions along a motion, located to rounding on states of the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.fields import Field, as_field
from liegroup.arrays import check_function, integer, of_kind, real
from liegroup.modules import listing

__all__ = ["Event", "Events", "as_events", "zeros"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]


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
    Zeros are noticed by the signs of g at the ends of a step: two of them within one step are not.  A zero at the start
    of the motion is no event.

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
    return Event(event, name, int(np.sign(getattr(event, "direction", 0))), getattr(event, "terminal", False))


def zeros(
    events: Events,
    before: Array,
    after: Array,
    h: float,
    state_at: Callable[[float], Array],
    values_at: Callable[[float, Array], Array],
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
        a, b = before[k], after[k]
        if (event.direction >= 0 and a < 0.0 <= b) or (event.direction <= 0 and a > 0.0 >= b):
            part = _root(lambda x: float(values_at(x, state_at(x))[k]), a, b, h)
            found.append((part, k, state_at(part)))
    return sorted(found, key=lambda row: abs(row[0]))


def _root(function: Callable[[float], float], a: float, b: float, h: float) -> float:
    """A zero in (0, h], given the values a and b at its ends, to rounding."""
    from scipy.optimize import brentq

    if b == 0.0:
        return h
    ends = {0.0: a, h: b}
    return float(
        brentq(
            lambda x: ends[x] if x in ends else function(x),
            0.0,
            h,
            xtol=1e-300,
            rtol=4 * np.finfo(float).eps,
            maxiter=500,
        )
    )
