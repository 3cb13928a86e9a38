"""All kinds of force elements, and their laws as compiled code finds them."""

from __future__ import annotations

from functools import cache
from typing import Any

from liegroup.arrays import shown
from liegroup.compile import helper, is_formula
from liegroup.compile.cache import depend_on
from liegroup.compile.decorators import compiled_form
from liegroup.table import load_components
from mechanics.errors import ModelError
from mechanics.forces.actuator import Actuator
from mechanics.forces.compliant import Compliant
from mechanics.forces.contact import Contact
from mechanics.forces.dry_friction import DryFriction
from mechanics.forces.element import (
    ON_BODIES,
    ON_EQUATION,
    ON_JOINT,
    ON_SCREW,
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
]
"""All kinds; the places in this list are their numbers in the kernels."""


def register(kind: type[Element]) -> None:
    """Make compiled loops know a kind of force element that is not one of the package's.

    Call it once, before the first run: compiled code knows the kinds that were registered when it was compiled.

    Parameters
    ----------
    kind : class
        Derived from `OnJoint`, `OnEquation` or `OnBodies`, with a `law`.

    Raises
    ------
    TypeError
        The class says not where it acts, or has no `law` that is a `helper`.
    RuntimeError
        Too late: something has been compiled already.

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
    if not is_formula(getattr(kind, "law", None)):
        raise TypeError(f"{kind.__name__}.law: expected staticmethod of a function with the decorator `helper`")
    depend_on(f"force element {kind.__name__}", [kind.law.__code__.co_filename])
    KINDS.append(kind)


def number_of(element: Element) -> int:
    """The number of the kind of an element; ModelError if it is not registered."""
    kind = type(element)
    if kind not in KINDS:
        raise ModelError(
            f"force element {kind.__name__}", "compiled loops do not know it",
            f"call mechanics.forces.register({kind.__name__}) before the first run",
        )  # fmt: skip
    return KINDS.index(kind)


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


def _choice(kinds: list[tuple[int, Any]]) -> Any:
    """One question per kind; the last kind needs none."""
    (number, apply), *others = kinds

    @helper
    def last(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        return apply(t, parameters, element, a, b)

    if not others:
        return last
    rest = _choice(others)

    @helper
    def choose(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        if kind == number:
            return apply(t, parameters, element, a, b)
        return rest(kind, t, parameters, element, a, b)

    return choose


@cache
def _laws(place: int, registered: int) -> Any:
    return _choice([(n, _with_numbers(kind)) for n, kind in enumerate(KINDS[:registered]) if kind.place == place])


def _law(place: int) -> Any:
    """The laws of all kinds that act at a place, chosen when it is compiled: kinds may be added until then."""

    def law(kind: Any, t: Any, parameters: Any, element: Any, a: Any, b: Any) -> Any:
        return _laws(place, len(KINDS))(kind, t, parameters, element, a, b)

    compiled_form(law)(lambda kind, t, parameters, element, a, b: _laws(place, len(KINDS)))
    return law


law_on_joint, law_on_equation, law_on_bodies = _law(ON_JOINT), _law(ON_EQUATION), _law(ON_BODIES)
law_on_screw = _law(ON_SCREW)
