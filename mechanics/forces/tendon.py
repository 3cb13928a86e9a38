"""Fixed tendons: lengths that are sums over joints, along which force elements act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liegroup.arrays import of_kind, real
from mechanics.constraints.loops import JointFreedom, check_freedom
from mechanics.errors import ModelError


class Tendon:
    """A fixed tendon x = Σ aₖ qₖ over joints; a force F along it is aₖ F on every one of them, and does the work F ẋ.

    Every force element of joints takes one in the place of a joint.  Of a single joint it is a gear of ratio a.

    Parameters
    ----------
    coefficients : mapping of str or (str, int) to float
        aₖ by joints of one coordinate, or by single freedoms of others as (name, number): metres per radian, ratios of
        gears, numbers.
    name : str
        For messages; default from the joints.

    Attributes
    ----------
    joints : tuple
        The joints, in their order.
    coefficients : tuple of float
        Theirs.
    name : str

    Raises
    ------
    TypeError
        Not a mapping of joints to numbers.
    ModelError
        No joint, a coefficient that is zero for all joints, or not finite.

    References
    ----------
    MuJoCo, XML reference, tendon/fixed.

    Examples
    --------
    A spring of a tendon that runs over two knuckles of a finger:

    >>> from mechanics.forces import joint_spring
    >>> tendon = Tendon({"knuckle": 0.01, "tip": 0.008})
    >>> print(joint_spring(tendon, stiffness=300.0)[0])
    JointSpring on tendon 'knuckle + tip'
    """

    __slots__ = ("coefficients", "joints", "name")

    def __init__(self, coefficients: Mapping[JointFreedom, float], name: str = "") -> None:
        of_kind(coefficients, Mapping, "coefficients", "a mapping of joints to numbers")
        of_kind(name, str, "name", "a text")
        for place in coefficients:
            check_freedom(place, "coefficients")
        self.joints: tuple[JointFreedom, ...] = tuple(coefficients)
        self.coefficients = tuple(real(a, f"coefficient of {j!r}") for j, a in coefficients.items())
        self.name = name or " + ".join(called(j) for j in self.joints)
        if not any(self.coefficients):
            where = f"tendon {self.name!r}" if name or self.joints else "tendon"
            raise ModelError(where, "runs over no joint", "give one or more joints with coefficients that are not zero")

    def __str__(self) -> str:
        return f"tendon {self.name!r}"

    def __repr__(self) -> str:
        return f"Tendon({dict(zip(self.joints, self.coefficients, strict=True))!r}, {self.name!r})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Tendon) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.joints, self.coefficients, self.name


Transmission = str | tuple[str, int] | Tendon
"""What force elements of joints act on."""


def called(place: Transmission) -> str:
    """A joint, a freedom or a tendon in a word; TypeError for anything else."""
    if isinstance(place, Tendon):
        return place.name
    check_freedom(place, "joint")
    return place if isinstance(place, str) else f"{place[0]}.{place[1]}"
