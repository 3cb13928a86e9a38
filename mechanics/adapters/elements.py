"""What readers of files make of the data of joints: dry friction, and stops at limits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanics.constraints.loops import JointFreedom
from mechanics.dynamics import mass_matrix
from mechanics.errors import ModelError
from mechanics.forces import Element, dry_friction, joint_stop, soft_numbers
from mechanics.joints import Continuous
from mechanics.model.inertia import LARGEST
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
SOFT = (0.02, 1.0)
"""Time constant, s, and damping ratio of a stop where the file says none: MuJoCo's default."""


class Wanted(NamedTuple):
    """What of a file acts, as of `mechanics.load_mechanism`."""

    damping: bool = True
    springs: bool = True
    friction: bool = True
    stops: bool | None = None
    actuators: bool = True
    contacts: bool = False


ALL = Wanted()
"""Everything that a file says of them, but for contacts."""


def soft(solref: Any, mass: float) -> tuple[float, float]:
    """(k, c) of a spring and damper on which a mass has a time constant τ and a damping ratio ζ: m/(τ ζ)², 2 m/τ.

    Negative numbers say −k/m and −c/m.  Source: MuJoCo, "Computation", solver parameters.
    """
    first, second = float(solref[0]), float(solref[1])
    if first > 0.0 and second > 0.0:
        found = soft_numbers(mass, time_constant=first, damping_ratio=second)
        return found["stiffness"], found["damping"]
    if first < 0.0 and second <= 0.0:
        return -first * mass, -second * mass
    return soft(SOFT, mass)


def joint_elements(
    tree: Tree, wanted: Wanted, given: Mapping[JointFreedom, tuple[float, float]] = MappingProxyType({})
) -> list[list[Element]]:
    """Dry friction of the joints of a tree, and stops at their limits, by what their `JointData` say.

    A stop has the stiffness and damping that the file gives, or pushes with `SOFT` on the mass m = 1/(M⁻¹)ᵢᵢ that the
    joint moves in the neutral configuration.
    """
    found: list[list[Element]] = []
    moved = _moved(tree) if wanted.stops else np.zeros(tree.nv)
    for body in tree.bodies:
        if any(element.n_v > 1 for element in body.joint.elements):  # of balls, bodies in a plane and free ones
            continue
        data, first = body.data, tree.v_slice(body.joint_name).start
        for k in range(body.joint.n_v):
            place: JointFreedom = body.joint_name if body.joint.n_v == 1 else (body.joint_name, k)
            friction = 0.0 if data.friction is None else float(np.asarray(data.friction)[k])
            if wanted.friction and not 0.0 <= friction <= LARGEST:
                where = f"joint {body.joint_name!r}"
                raise ModelError(where, f"friction is {friction:g}", "give a finite number that is not negative")
            if wanted.friction and friction > 0.0:
                found.append(dry_friction(place, force=friction))
            low, up = (None if x is None else float(np.asarray(x)[k]) for x in (data.lower, data.upper))
            low, up = (None if x is None or not np.isfinite(x) else x for x in (low, up))
            if wanted.stops and (low is not None or up is not None) and not isinstance(body.joint, Continuous):
                stiffness, damping = given.get(place) or soft(SOFT, moved[first + k])
                found.append(
                    joint_stop(place, lower=low, upper=up, stiffness=stiffness, damping=damping, law="kelvin_voigt")
                )
    return found


def _moved(tree: Tree) -> Array:
    """1/(M⁻¹)ᵢᵢ of all velocities."""
    return np.asarray(1.0 / np.diag(np.linalg.inv(mass_matrix(tree, tree.neutral()))))
