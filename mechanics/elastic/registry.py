"""All kinds of elements, and their laws as compiled loops find them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from integrators.signatures import FIELD_LANES_SIGNATURE
from liegroup.arrays import shown
from liegroup.compile import helper, is_formula, kernel, ld, rare, renew, scalar_of, st
from liegroup.compile.attempt import check_in_lanes
from liegroup.compile.origin import Origin, of_origins, origin_of
from liegroup.table import load_components
from mechanics.elastic.bending import BENDING, HINGE
from mechanics.elastic.continua import (
    TETRAHEDRON_NEO_HOOKEAN,
    TETRAHEDRON_ST_VENANT,
    TETRAHEDRON_STABLE,
    TRIANGLE_NEO_HOOKEAN,
    TRIANGLE_ST_VENANT,
)
from mechanics.elastic.kind import Kind
from mechanics.elastic.springs import CABLE, LOG_SPRING, SPRING
from mechanics.errors import ModelError

KINDS: list[Kind] = [
    SPRING,
    LOG_SPRING,
    CABLE,
    BENDING,
    HINGE,
    TRIANGLE_ST_VENANT,
    TRIANGLE_NEO_HOOKEAN,
    TETRAHEDRON_ST_VENANT,
    TETRAHEDRON_NEO_HOOKEAN,
    TETRAHEDRON_STABLE,
]
"""All kinds with a potential; the places in this list are their numbers in the kernels."""
_OWN = len(KINDS)
_origins: dict[Kind, Origin] = {}
"""Of the kinds that have been added behind our own."""


def register(kind: Kind) -> None:
    """Make compiled loops know a kind of element that is not one of the package's.

    At any time: loops that have been compiled before know it, too, and only its own law is compiled.

    Parameters
    ----------
    kind : Kind
        With a `law` that is a `helper`.

    Raises
    ------
    TypeError
        No kind, or a law that is no formula in a source file; that takes or gives something else than V and its
        gradients, or does not run in lanes.  Whether they are its gradients is asked by every `Network`.

    Examples
    --------
    Those of the package are registered, and nothing happens:

    >>> from mechanics.elastic.springs import SPRING
    >>> register(SPRING)
    """
    if not isinstance(kind, Kind) or not is_formula(kind.law):
        raise TypeError(f"kind: {kind!r}, expected a Kind whose law is a function with the decorator `helper`")
    if not any(kind is known for known in KINDS):
        _check_law(kind)
        facts = {"law": kind.law, "size": kind.size, "nodes": kind.nodes, "number": len(KINDS)}
        _origins[kind] = origin_of(f"elastic element {kind.name}", facts)
        KINDS.append(kind)
        renew(_added_forces)
        renew(_added_potentials)


def _check_law(kind: Kind) -> None:
    """TypeError for a law that gives no potential and gradients of plain numbers, or does not run in lanes: compiled
    together with the others, it would spoil them, under their names.
    """
    corners = ((0.0, 0.0, 0.0), (1.1, 0.1, -0.1), (0.2, 0.9, 0.15), (0.45, -0.7, 0.8))
    places = tuple(corners[k % 4] for k in range(kind.nodes))
    try:
        found = kind.law((1.0,) * kind.size, places)
    except Exception as error:
        if isinstance(error, TypeError | IndexError | AttributeError) or "to unpack" in str(error):
            raise TypeError(
                f"{kind.name}: law: {type(error).__name__}: {error}; it is called with {kind.size} numbers and "
                f"{kind.nodes} places of three numbers"
            ) from error
    else:
        shape = np.shape(found[1]) if isinstance(found, tuple) and len(found) == 2 else None
        if shape != (kind.nodes, 3):
            raise TypeError(
                f"{kind.name}: law: gave {shown(found)}, expected (V, {kind.nodes} gradients of three numbers)"
            )
    law, read, nodes = kind.law, load_components(kind.size), _corners(kind.nodes)

    def probe(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        V, _ = law(read(parameters, 0), nodes(y, 0))
        st(out, 0, V)

    check_in_lanes(probe, FIELD_LANES_SIGNATURE, f"{kind.name}: law")


@cache
def _corners(count: int) -> Any:
    """The function (y, at) → `count` places that follow each other in y from `at` on."""
    three = load_components(3)

    @helper
    def one(y: Any, at: Any) -> Any:
        return (three(y, at),)

    if count == 1:
        return one
    rest = _corners(count - 1)

    @helper
    def places(y: Any, at: Any) -> Any:
        return (three(y, at), *rest(y, at + 3))

    return places


def is_added(kind: Kind) -> bool:
    """Whether a kind is not one of the package's."""
    return not any(kind is known for known in KINDS[:_OWN])


def place_of(kind: Kind) -> int | None:
    """Where a kind is in the list; None if it is not registered."""
    return next((k for k, known in enumerate(KINDS) if known is kind), None)


def number_of(kind: Kind) -> int:
    """The number of a kind; ModelError if it is not registered."""
    place = place_of(kind)
    if place is not None:
        return place
    raise ModelError(
        f"element {kind.name}", "compiled loops do not know it", "call mechanics.elastic.register(kind) before a run"
    )


@cache
def load_places(count: int) -> Any:
    """The function (y, structure, at) → the positions of `count` nodes, whose first components in y are in structure
    from `at` on.
    """
    three = load_components(3)

    @helper
    def one(y: Any, structure: Any, at: Any) -> Any:
        return (three(y, ld(structure, at)),)

    if count == 1:
        return one
    rest = load_places(count - 1)

    @helper
    def places(y: Any, structure: Any, at: Any) -> Any:
        return (three(y, ld(structure, at)), *rest(y, structure, at + 1))

    return places


@cache
def _add_forces(count: int) -> Any:
    """The function (force, first, structure, at, w, gradients): −w gradients, added to the forces from `first` on."""

    @helper
    def one(force: Any, first: Any, structure: Any, at: Any, w: Any, g: Any) -> None:
        i = first + ld(structure, at)
        st(force, i, ld(force, i) - w * g[0][0])
        st(force, i + 1, ld(force, i + 1) - w * g[0][1])
        st(force, i + 2, ld(force, i + 2) - w * g[0][2])

    if count == 1:
        return one
    rest = _add_forces(count - 1)

    @helper
    def add(force: Any, first: Any, structure: Any, at: Any, w: Any, g: Any) -> None:
        one(force, first, structure, at, w, g)
        rest(force, first, structure, at + 1, w, g[1:])

    return add


def _loops(number: str, kind: Kind, sources: tuple[str, ...]) -> tuple[Any, Any]:
    """Loops over elements of one kind: that which adds forces, that which adds up potentials."""
    law, nodes, size = kind.law, kind.nodes, kind.size
    read, places, add = load_components(size), load_places(nodes), _add_forces(nodes)

    def forces(
        w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any, force: Any,
        first: Any,
    ) -> None:  # fmt: skip
        for e in range(count):
            at = nodes_at + nodes * e
            _, g = law(read(parameters, numbers_at + size * e), places(y, structure, at))
            add(force, first, structure, at, w, g)

    def potential(count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any) -> Any:
        total = 0.0 * ld(y, 0)
        for e in range(count):
            V, _ = law(read(parameters, numbers_at + size * e), places(y, structure, nodes_at + nodes * e))
            total = total + V
        return total

    name = f"{number}_{kind.name}".replace(" ", "_")
    return kernel(forces, f"forces_{name}", sources), kernel(potential, f"potential_{name}", sources)


@cache
def _loops_of(number: int, kind: Kind) -> tuple[Any, Any]:
    if kind not in _origins:
        return _loops(str(number), kind, (kind.law.__code__.co_filename,))
    return _loops(f"{number}_{_origins[kind].content}", kind, _origins[kind].files)


def _forces_of(kinds: Sequence[tuple[int, Kind]], otherwise: Any) -> Any:
    """One question per kind."""
    if not kinds:
        return otherwise
    *others, (number, kind) = kinds
    loop, rest = _loops_of(number, kind)[0], _forces_of(others, otherwise)

    @helper
    def choose(
        kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
        force: Any, first: Any,
    ) -> None:  # fmt: skip
        if kind == number:
            loop(w, count, nodes_at, numbers_at, y, parameters, structure, force, first)
        else:
            rest(kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first)

    return choose


def _potentials_of(kinds: Sequence[tuple[int, Kind]], otherwise: Any) -> Any:
    """One question per kind."""
    if not kinds:
        return otherwise
    *others, (number, kind) = kinds
    loop, rest = _loops_of(number, kind)[1], _potentials_of(others, otherwise)

    @helper
    def choose(kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any) -> Any:
        if kind == number:
            return loop(count, nodes_at, numbers_at, y, parameters, structure)
        return rest(kind, count, nodes_at, numbers_at, y, parameters, structure)

    return choose


# --- kinds that users add: called late, so that loops that know our own know them, too --------------------------------


@helper
def _unknown_forces(
    kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
    force: Any, first: Any,
) -> None:  # fmt: skip
    """Of a kind that code does not know which was compiled without rules of ours before the kind was added: NaN."""
    st(force, first + ld(structure, nodes_at), float("nan") * ld(y, 0))


@helper
def _unknown_potentials(
    kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any
) -> Any:
    return float("nan") * ld(y, 0)


@cache
def _added_forces_of(kinds: tuple[Kind, ...]) -> Any:
    chosen = _forces_of(list(enumerate(kinds, _OWN)), _unknown_forces)

    @helper
    def forces(
        kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
        force: Any, first: Any,
    ) -> None:  # fmt: skip
        chosen(kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first)

    return of_origins(forces, "added_forces", [_origins[kind] for kind in kinds])


@cache
def _added_potentials_of(kinds: tuple[Kind, ...]) -> Any:
    chosen = _potentials_of(list(enumerate(kinds, _OWN)), _unknown_potentials)

    @helper
    def potentials(
        kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any
    ) -> Any:
        return chosen(kind, count, nodes_at, numbers_at, y, parameters, structure)

    return of_origins(potentials, "added_potentials", [_origins[kind] for kind in kinds])


def _added() -> tuple[Kind, ...]:
    return tuple(KINDS[_OWN:])


def _any_added(structure: Any, tau: int) -> bool:
    return len(KINDS) > _OWN


@rare(_any_added, made=lambda: _added_forces_of(_added()))
def _added_forces(
    kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
    force: Any, first: Any,
) -> None:  # fmt: skip
    """Forces of all kinds that are not ours, as they are when they are bound."""
    _added_forces_of(_added())(kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first)


@rare(
    _any_added,
    lambda kind, count, nodes_at, numbers_at, y, *others: scalar_of(y),
    made=lambda: _added_potentials_of(_added()),
)
def _added_potentials(
    kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any
) -> Any:
    """Potentials of all kinds that are not ours, as they are when they are bound."""
    return _added_potentials_of(_added())(kind, count, nodes_at, numbers_at, y, parameters, structure)


add_forces = _forces_of(list(enumerate(KINDS)), _added_forces)
"""Add w times the forces of `count` elements of a kind, at the positions in y, to `force` from `first` on: arguments
(kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first).
"""
add_potentials = _potentials_of(list(enumerate(KINDS)), _added_potentials)
"""The sum of the potentials of `count` elements of a kind: arguments (kind, count, nodes_at, numbers_at, y, parameters,
structure).
"""
