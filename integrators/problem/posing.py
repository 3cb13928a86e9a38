"""What can be integrated: a problem, or anything that poses one."""

from __future__ import annotations

import inspect
from functools import singledispatch
from types import ModuleType
from typing import Any, Protocol

from integrators.problem.problem import Problem
from liegroup.modules import registered

EXPECTED = "expected a Problem, or a thing whose method problem() poses one"


class Poses(Protocol):
    """A mechanism, a nonholonomic system, a system of a registry: its method `problem` poses its motion."""

    def problem(self) -> Problem:
        """The motion, ready for `integrators.integrate`."""


@singledispatch
def pose(thing: Any, *start: Any, **options: Any) -> Problem:
    """The problem itself, or the one that a thing poses: ``thing.problem(*start, **options)``.

    For a class without a method `problem` register a function ``(thing, …) → Problem``:
    ``pose.register(MyClass, function)``.

    Parameters
    ----------
    thing : Problem, or what poses one
        A mechanism, a nonholonomic system, a system of a registry, or an object of one's own with a method `problem`.
    *start, **options
        Handed to the method `problem`.

    Returns
    -------
    Problem
        Ready for `integrators.integrate`.

    Raises
    ------
    TypeError
        What poses no problem: with what it is and what to do.

    Examples
    --------
    >>> from integrators.problem import Problem, pose
    >>> from liegroup import rn
    >>> class Decay:
    ...     def problem(self):
    ...         return Problem(rn(1), [1.0], lambda t, y: -y)
    >>> pose(Decay()).n
    1
    """
    if isinstance(thing, Problem) and not start and not options:
        return thing
    if (own := registered(pose, thing)) is not None:
        return own(thing, *start, **options)  # type: ignore[no-any-return]
    posing = getattr(thing, "problem", None)
    if isinstance(thing, (type, ModuleType)) or not callable(posing):
        raise TypeError(f"problem: {_named(thing)}, {EXPECTED}{_remedy(thing)}")
    posed = posing(*start, **options)
    if not isinstance(posed, Problem):
        raise TypeError(f"problem: {_named(thing)}.problem() returned {_named(posed)}, {EXPECTED}")
    return posed


def _named(thing: Any) -> str:
    """A short name of a thing for messages."""
    if isinstance(thing, ModuleType):
        return f"the module {thing.__name__}"
    if isinstance(thing, type):
        return f"the class {thing.__qualname__}"
    if inspect.isroutine(thing):
        return f"the function {thing.__qualname__}"
    shown = repr(thing)
    return shown if len(shown) <= 80 else f"a {type(thing).__qualname__}"


def _remedy(thing: Any) -> str:
    """; what to do."""
    name = getattr(thing, "__name__", "").rpartition(".")[2]
    if isinstance(thing, ModuleType) and callable(getattr(thing, "problem", None)):
        return f"; call its function: {name}.problem()"
    if isinstance(thing, type):
        return f"; make one: {name}(…)"
    if inspect.isroutine(thing):
        return (
            f"; call it, {name}(…), if it returns one; a field f(t, y) needs a group and a start: "
            f"Problem(group, y0, {name})"
        )
    if isinstance(thing, str):
        return "; ready-made systems have names in a registry, such as mechanics.systems.SYSTEMS: give SYSTEMS[name]"
    if thing is None:
        return "; does the function that should have returned it end without return?"
    return ""
