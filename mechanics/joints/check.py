"""Whether a joint is one that the kernels move as its classes say: they read which elements it has and their data, and
never call a method.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from liegroup.arrays import shown
from mechanics.errors import ModelError
from mechanics.joints.element import Ball, Element, Float, Plane, Screw, Slide, Turn
from mechanics.joints.joint import Joint
from mechanics.joints.motion import Motion

SERVED: tuple[type[Element], ...] = (Turn, Slide, Screw, Plane, Ball, Float)
"""The elements that the kernels have branches for."""
NAMES = ("q_labels", "q_units", "v_labels", "v_units", "neutral")
"""What a class derived from an element may say anew, besides its data: nothing moves otherwise by it."""
FOLLOWS = ("state", "split", "n_q", "n_v", "factors", "is_rheonomic")
"""What follows from the elements of a joint."""
_PARTS = "give a tuple of elementary motions, such as (Turn((0, 0, 1)),)"


def check_joint(joint: Any, where: str) -> None:
    """ModelError, with the place `where`, unless kernels move `joint` as its classes say."""
    if isinstance(joint, Element):
        remedy = "it is a part of joints; give the joint, such as Compound((part,)), Spherical() or Free()"
        raise ModelError(where, f"joint is {joint!r}", remedy)
    if not isinstance(joint, Joint):
        raise ModelError(where, f"joint is {joint!r}", "give a joint of mechanics.joints, such as Revolute((0, 0, 1))")
    kind = type(joint)
    if kind.elements is Joint.elements:
        raise ModelError(where, f"its joint, {kind.__name__}, has no `elements`", f"{_PARTS}, as a property")
    elements = joint.elements
    if callable(elements):
        raise ModelError(where, f"`elements` of its joint, {kind.__name__}, is a method", "make it a property")
    if not isinstance(elements, (tuple, list)):
        raise ModelError(where, f"`elements` of its joint, {kind.__name__}, is {shown(elements)}", _PARTS)
    for element in elements:
        _check_element(element, where)
    for name in FOLLOWS:
        if getattr(kind, name) is not getattr(Joint, name):
            raise ModelError(
                where,
                f"its joint, {kind.__name__}, brings a `{name}` of its own, which the kernels do not read",
                "leave it out: it follows from `elements`",
            )


def _check_element(element: Any, where: str) -> None:
    if not isinstance(element, Element):
        raise ModelError(
            where,
            f"an element of its joint is {element!r}",
            "give elementary motions, such as Turn((0, 0, 1)); of another joint its `elements`",
        )
    kind = type(element)
    served = next((one for one in kind.__mro__ if one in SERVED), None)
    if served is None:
        names = ", ".join(one.__name__ for one in SERVED)
        raise ModelError(
            where,
            f"an element of its joint is of the class {kind.__name__}, which the kernels do not know",
            f"compose the motion of {names}; what couples coordinates is a closure (mechanics.constraints.couplings)",
        )
    read: list[tuple[Any, Any]] = [(element, served), (element.motion, Motion)]
    for part, known in read:
        if part is not None and (own := _own(type(part), known)):
            raise ModelError(
                where,
                f"an element of its joint, {kind.__name__}, brings {', '.join(own)} of its own, which the kernels do "
                f"not read: they move it as a {known.__name__}",
                "compose the motion of other elements; what couples coordinates is a closure "
                "(mechanics.constraints.couplings)",
            )


def _own(kind: type, known: Any) -> list[str]:
    """What a class derived from one that the kernels know says anew, and would move otherwise by."""
    said = {name for one in kind.__mro__[: kind.__mro__.index(known)] for name in vars(one) if hasattr(known, name)}
    free = {*NAMES, *(data.name for data in fields(known))}
    return sorted(f"`{name}`" for name in said - free if not name.startswith("__"))
