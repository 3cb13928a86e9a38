"""The ways to write the motion of a constrained system, as compiled functions made of its parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from integrators.problem.multipliers import constrained_energy, constrained_field
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import Entry, entry, st
from mechanics.nonholonomic.quasi_velocity import quasi_velocity_energy, quasi_velocity_field


class Forms(NamedTuple):
    """The compiled functions of one way to write the motion, all in the field's signature; the projection belongs after
    every step.
    """

    field: Any
    invariants: Any
    parts: Any = None
    projection: Any = None


def quasi_velocity_forms(parts: Callable[..., None], invariants: Entry | None = None) -> Forms:
    """On (q, u), from the parts of the quasi-velocity equations; the energy is the invariant if none are given."""

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        quasi_velocity_field(parts, t, y, parameters, structure, work, out)

    def energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        st(out, 0, quasi_velocity_energy(parts, t, y, parameters, structure, work))

    forms = Forms(_made(field, parts), invariants or _made(energy, parts), entry(*FIELD_SIGNATURES)(parts))
    return _known(quasi_velocity_forms, (parts,), forms, invariants)


def constrained_forms(parts: Callable[..., None], invariants: Entry | None = None) -> Forms:
    """On (q, v), with multipliers; the energy is the invariant if none are given."""

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        constrained_field(parts, t, y, parameters, structure, work, out)

    def energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        st(out, 0, constrained_energy(parts, t, y, parameters, structure, work))

    forms = Forms(_made(field, parts), invariants or _made(energy, parts), entry(*FIELD_SIGNATURES)(parts))
    return _known(constrained_forms, (parts,), forms, invariants)


def _made(function: Any, *made_of: Any) -> Entry:
    """The entry of a function made of others: known to the cache by their names, and by their files."""
    function.__qualname__ = ".".join(
        [function.__name__, *(f"{other.__module__}.{other.__qualname__}" for other in made_of)]
    )
    function.sources = tuple(other.__code__.co_filename for other in made_of)
    return entry(*FIELD_SIGNATURES)(function)


def _known(make: Callable[..., Forms], made_of: tuple[Any, ...], forms: Forms, given: Entry | None) -> Forms:
    """The forms, each of whose entries but the one given knows how another process makes it."""
    for name, made in zip(Forms._fields, forms, strict=True):
        if made is not None and made is not given:
            made.recipe = _form, (make, made_of, name)
    return forms


@cache
def _form(make: Callable[..., Forms], made_of: tuple[Any, ...], name: str) -> Any:
    return getattr(make(*made_of), name)
