"""All kinds of force elements, and their laws as compiled code finds them."""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from numbers import Real
from typing import Any

from integrators.signatures import FIELD_LANES_SIGNATURE
from liegroup.arrays import shown
from liegroup.compile import helper, is_formula, joint_scalar, ld, rare, renew, st
from liegroup.compile.attempt import check_in_lanes
from liegroup.compile.origin import Origin, of_origins, origin_of
from liegroup.table import load_components
from mechanics.errors import ModelError
from mechanics.forces.actuator import Actuator
from mechanics.forces.cable import Cable
from mechanics.forces.compliant import Compliant
from mechanics.forces.contact import Contact
from mechanics.forces.dry_friction import DryFriction
from mechanics.forces.element import (
    ON_BODIES,
    ON_EQUATION,
    ON_JOINT,
    ON_SCREW,
    BodyState,
    Element,
    OnBodies,
    OnEquation,
    OnJoint,
    OnScrew,
)
from mechanics.forces.joint_spring import JointSpring
from mechanics.forces.joint_stop import JointStop
from mechanics.forces.motor import Motor
from mechanics.forces.polynomial_spring import PolynomialSpring
from mechanics.forces.servo import Servo
from mechanics.forces.thruster import Thruster
from mechanics.forces.wrench import Wrench
from mechanics.kernels.links import prescribed

KINDS: list[type[Element]] = [
    JointSpring,
    Servo,
    Motor,
    Compliant,
    Contact,
    JointStop,
    DryFriction,
    Actuator,
    PolynomialSpring,
    Wrench,
    Thruster,
    Cable,
]
"""All kinds, those that users have added behind our own."""
_OWN = len(KINDS)
_origins: dict[type[Element], Origin] = {}
"""Of the kinds that have been added."""
_numbers: dict[type[Element], int] = {kind: k for k, kind in enumerate(KINDS)}
"""Of all kinds, in the kernels.  That of an added one is made of what it is made of: in `structure` it comes to other
processes, which may have added others before it.
"""


def register(kind: type[Element]) -> None:
    """Make compiled loops know a kind of force element that is not one of the package's.

    At any time: loops that have been compiled before know it, too, and only its own law is compiled.

    Parameters
    ----------
    kind : class
        Derived from `OnJoint`, `OnEquation` or `OnBodies`, with a `law`.

    Raises
    ------
    TypeError
        The class says not where it acts, or, between bodies, not its numbers (`SIZE`, `numbers_of`); it has no `law`
        that is a `helper` in a source file; the law, called once with plain numbers, fails or gives something else than
        its place asks for: three numbers (force, energy, power), or between bodies (force, two arms, energy, power),
        the first three of three numbers each; or it does not run in lanes.

    Notes
    -----
    A law that raises an ArithmeticError or a ValueError at those numbers (a quotient of 0, a root of less) is
    registered without that call.  Whether it keeps its account is asked of every element of a mechanism, with its
    numbers (`mechanics.forces.account`).

    Examples
    --------
    Those of the package are registered, and nothing happens:

    >>> register(JointSpring)
    """
    if any(kind is known for known in KINDS):
        return
    if not (isinstance(kind, type) and issubclass(kind, OnJoint | OnEquation | OnBodies | OnScrew)):
        raise TypeError(
            f"kind: {shown(kind)}, derive it from OnJoint, OnEquation, OnBodies or OnScrew (mechanics.forces)"
        )
    if issubclass(kind, OnBodies) and not (
        isinstance(getattr(kind, "SIZE", None), int) and kind.numbers_of is not OnBodies.numbers_of
    ):
        raise TypeError(
            f"{kind.__name__}: numbers of a law between bodies hold places on them, too; say how many there are, "
            "`SIZE`, and give them by `numbers_of(first, second)`, from the frames in the axes of `BodyState`"
        )
    if not is_formula(getattr(kind, "law", None)):
        raise TypeError(f"{kind.__name__}.law: expected staticmethod of a function with the decorator `helper`")
    _check_law(kind)
    facts = {"law": kind.law, "size": kind.size(), "driven": kind.is_driven(), "name": kind.__qualname__}
    origin = origin_of(f"force element {kind.__name__}", facts)
    _numbers[kind] = number = _free_number(kind, _OWN + int(origin.content[:7], 16))
    _origins[kind] = replace(origin, content=f"{origin.content}{number}")
    KINDS.append(kind)
    renew(_ADDED[kind.place])
    copyreg.pickle(kind, _sent)


def _sent(element: Element) -> tuple[Any, ...]:
    """An element for another process, which may not know its kind."""
    made: Any = element.__reduce_ex__(4)
    return _received, (type(element), *made[:2]), *made[2:]


def _received(kind: type[Element], make: Any, arguments: tuple[Any, ...]) -> Any:
    """The element there; its kind is registered with it."""
    register(kind)
    return make(*arguments)


_three, _nine = load_components(3), load_components(9)
_ORIGIN = 0.0, 0.0, 0.0
_AXES = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
_BODIES = BodyState(_AXES, _ORIGIN, _ORIGIN, _ORIGIN), BodyState(_AXES, (0.5, 0.25, 0.125), _ORIGIN, _ORIGIN)


def _check_law(kind: type[Element]) -> None:
    """TypeError for a law that gives no forces of plain numbers, or does not run in lanes: compiled together with the
    others of its place, it would spoil them, under their names.
    """
    on_bodies = kind.place == ON_BODIES
    given = (*(_BODIES if on_bodies else (0.5, 0.25)), *((0.75, 0.125) if kind.is_driven() else ()))
    try:
        found = kind.law((1.0,) * kind.size(), *given)
    except Exception as error:
        if isinstance(error, ArithmeticError | ValueError) and "to unpack" not in str(error):
            found = None  # of these numbers
        else:
            raise TypeError(
                f"{kind.__name__}.law: {type(error).__name__}: {error}; it is called with {kind.size()} numbers and "
                f"{'two states of bodies' if on_bodies else 'a coordinate and its rate'}"
                f"{', and value and rate of its motion' if kind.is_driven() else ''}"
            ) from error
    shape, wanted = (
        ([3, 3, 3, 0, 0], "(force, two arms, energy, power), the first three of three numbers")
        if on_bodies
        else ([0, 0, 0], "(force, energy, power), numbers")
    )
    if found is not None and (not isinstance(found, tuple) or [_count(x) for x in found] != shape):
        raise TypeError(f"{kind.__name__}.law: gave {shown(found)}, expected {wanted}")
    _check_in_lanes(kind)


def _check_in_lanes(kind: type[Element]) -> None:
    """TypeError for a law that the compiler refuses for eight motions at once."""
    law, read = kind.law, load_components(kind.size()) if kind.size() else _none

    def on_number(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        _, _, power = law(read(parameters, 0), ld(y, 0), ld(y, 1))
        st(out, 0, power)

    def driven(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        _, _, power = law(read(parameters, 0), ld(y, 0), ld(y, 1), t, t)
        st(out, 0, power)

    def on_bodies(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        state = BodyState(_nine(y, 0), _three(y, 9), _three(y, 12), _three(y, 15))
        _, _, _, _, power = law(read(parameters, 0), state, state)
        st(out, 0, power)

    probe = on_bodies if kind.place == ON_BODIES else driven if kind.is_driven() else on_number
    check_in_lanes(probe, FIELD_LANES_SIGNATURE, f"{kind.__name__}.law")


def _count(x: Any) -> int:
    """Of a tuple of numbers; 0 of a number, −1 of anything else."""
    if isinstance(x, tuple):
        return len(x) if all(_count(part) == 0 for part in x) else -1
    return 0 if isinstance(x, Real) else -1


def _free_number(kind: type[Element], number: int) -> int:
    """This number, or the next that no kind with another law has."""
    while any(_numbers[known] == number and known.law is not kind.law for known in KINDS):
        number += 1
    return number


def is_added(kind: type[Element]) -> bool:
    """Whether a kind is not one of the package's."""
    return kind not in KINDS[:_OWN]


def number_of(element: Element) -> int:
    """The number of the kind of an element; ModelError if it is not registered."""
    kind = type(element)
    if kind not in KINDS:
        raise ModelError(
            f"force element {kind.__name__}", "compiled loops do not know it",
            f"call mechanics.forces.register({kind.__name__}) before the first run",
        )  # fmt: skip
    return _numbers[kind]


# --- laws by number of the kind: (kind, t, parameters, element, a, b), as of `mechanics.forces.element` ---------------


@helper
def _none(parameters: Any, at: Any) -> Any:
    return ()


def _with_numbers(kind: type[Element]) -> Any:
    """(t, parameters, element, a, b) → the law of a kind with its numbers, and its motion if it is driven."""
    law, read = kind.law, load_components(kind.size()) if kind.size() else _none

    @helper
    def driven(t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        value, rate = prescribed(t, parameters, element)
        return law(read(parameters, element.numbers), a, b, value, rate)

    @helper
    def constant(t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        return law(read(parameters, element.numbers), a, b)

    return driven if kind.is_driven() else constant


def _choice(kinds: list[tuple[int, Any]], otherwise: Any) -> Any:
    """One question per kind, and the law of all others."""
    if not kinds:
        return otherwise
    (number, apply), *others = kinds
    rest = _choice(others, otherwise)

    @helper
    def choose(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        if kind == number:
            return apply(t, parameters, element, a, b)
        return rest(kind, t, parameters, element, a, b)

    return choose


def _laws(place: int, kinds: Sequence[type[Element]], otherwise: Any) -> Any:
    """The laws of those kinds that act at a place."""
    return _choice([(_numbers[kind], _with_numbers(kind)) for kind in kinds if kind.place == place], otherwise)


# --- kinds that users add: called late, so that loops that know our own know them, too --------------------------------


@helper
def _unknown(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
    """Of a kind that code does not know which was compiled without rules of ours before the kind was added: NaN."""
    none = float("nan") * (a + b)
    return none, none, none


@helper
def _unknown_on_bodies(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
    none = float("nan") * (a.x[0] + b.x[0])
    return (none, none, none), (none, none, none), (none, none, none), none, none


@cache
def _added_laws(place: int, kinds: tuple[type[Element], ...]) -> Any:
    unknown = _unknown_on_bodies if place == ON_BODIES else _unknown

    @helper
    def laws(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        return chosen(kind, t, parameters, element, a, b)

    chosen = _laws(place, kinds, unknown)
    return of_origins(laws, f"added_{place}", [_origins[kind] for kind in kinds])


def _added(place: int) -> Any:
    """The laws of all kinds at a place that are not ours, as they are when they are bound."""

    def added(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        return made()(kind, t, parameters, element, a, b)

    def made() -> Any:
        return _added_laws(place, tuple(KINDS[_OWN:]))

    def needed(structure: Any, tau: int) -> bool:
        return any(kind.place == place for kind in KINDS[_OWN:])

    return rare(needed, partial(_results, place), f"added_{place}", made)(added)


def _results(place: int, kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
    """Types of what a law gives."""
    x = joint_scalar(t, a, b)
    return ((x,) * 3, (x,) * 3, (x,) * 3, x, x) if place == ON_BODIES else (x, x, x)


_ADDED = {place: _added(place) for place in (ON_JOINT, ON_EQUATION, ON_BODIES, ON_SCREW)}
law_on_joint, law_on_equation, law_on_bodies, law_on_screw = (
    _laws(place, KINDS, added) for place, added in _ADDED.items()
)
