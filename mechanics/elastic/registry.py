"""All kinds of elements, and their laws as compiled loops find them."""

from __future__ import annotations

from functools import cache
from typing import Any

from liegroup.compile import helper, is_formula, kernel, ld, st
from liegroup.compile.cache import depend_on
from liegroup.compile.decorators import compiled_form
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


def register(kind: Kind) -> None:
    """Make compiled loops know a kind of element that is not one of the package's.

    Call it once, before the first run: compiled code knows the kinds that were registered when it was compiled.

    Parameters
    ----------
    kind : Kind
        With a `law` that is a `helper`.

    Raises
    ------
    TypeError
        No kind, or a law that is no formula.

    Examples
    --------
    Those of the package are registered, and nothing happens:

    >>> from mechanics.elastic.springs import SPRING
    >>> register(SPRING)
    """
    if not isinstance(kind, Kind) or not is_formula(kind.law):
        raise TypeError(f"kind: {kind!r}, expected a Kind whose law is a function with the decorator `helper`")
    if not any(kind is known for known in KINDS):
        depend_on(f"elastic element {kind.name}", [kind.law.__code__.co_filename])
        KINDS.append(kind)


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


def _loops(number: int, kind: Kind) -> tuple[Any, Any]:
    """Loops over elements of one kind: that which adds forces, that which adds up potentials."""
    law, nodes, size = kind.law, kind.nodes, kind.size
    read, places, add = load_components(size), load_places(nodes), _add_forces(nodes)
    sources = (law.__code__.co_filename,)

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
def _loops_of(number: int) -> tuple[Any, Any]:
    return _loops(number, KINDS[number])


@cache
def _forces_of(registered: int) -> Any:
    """One question per kind."""
    last = registered - 1
    loop = _loops_of(last)[0]
    rest = _forces_of(last) if last else None

    @helper
    def only(
        kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
        force: Any, first: Any,
    ) -> None:  # fmt: skip
        loop(w, count, nodes_at, numbers_at, y, parameters, structure, force, first)

    if rest is None:
        return only

    @helper
    def choose(
        kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
        force: Any, first: Any,
    ) -> None:  # fmt: skip
        if kind == last:
            loop(w, count, nodes_at, numbers_at, y, parameters, structure, force, first)
        else:
            rest(kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first)

    return choose


@cache
def _potentials_of(registered: int) -> Any:
    """One question per kind."""
    last = registered - 1
    loop = _loops_of(last)[1]
    rest = _potentials_of(last) if last else None

    @helper
    def only(kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any) -> Any:
        return loop(count, nodes_at, numbers_at, y, parameters, structure)

    if rest is None:
        return only

    @helper
    def choose(kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any) -> Any:
        if kind == last:
            return loop(count, nodes_at, numbers_at, y, parameters, structure)
        return rest(kind, count, nodes_at, numbers_at, y, parameters, structure)

    return choose


def add_forces(
    kind: Any, w: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any,
    force: Any, first: Any,
) -> None:  # fmt: skip
    """Add w times the forces of `count` elements of a kind, at the positions in y, to `force` from `first` on."""
    _forces_of(len(KINDS))(kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first)


def add_potentials(
    kind: Any, count: Any, nodes_at: Any, numbers_at: Any, y: Any, parameters: Any, structure: Any
) -> Any:
    """The sum of the potentials of `count` elements of a kind."""
    return _potentials_of(len(KINDS))(kind, count, nodes_at, numbers_at, y, parameters, structure)


compiled_form(add_forces)(
    lambda kind, w, count, nodes_at, numbers_at, y, parameters, structure, force, first: _forces_of(len(KINDS))
)
compiled_form(add_potentials)(
    lambda kind, count, nodes_at, numbers_at, y, parameters, structure: _potentials_of(len(KINDS))
)
