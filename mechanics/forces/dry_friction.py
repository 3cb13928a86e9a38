"""Dry friction in a joint of one coordinate, regularised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import positive
from liegroup.compile import helper
from mechanics.errors import ModelError
from mechanics.forces.element import Element, OnJoint, not_negative
from mechanics.forces.laws import STRIBECK, TANH, friction_ratio
from mechanics.forces.tendon import Transmission


@helper
def law(numbers: Any, x: Any, s: Any) -> Any:
    """τ = −F tanh(s/v_s), or that of Stribeck's curve; loses −τ s."""
    curve, force, static, slip_speed = numbers
    friction = friction_ratio(curve, static, force, slip_speed, s)  # odd in s
    return -friction, 0.0 * x, -(friction * s)


@dataclass(frozen=True)
class DryFriction(OnJoint):
    """F and F_s in N·m (or N), v_s in rad/s (or m/s)."""

    law = staticmethod(law)
    curve: int
    force: float
    static: float
    slip_speed: float

    @property
    def counts_turns(self) -> bool:
        return False


def dry_friction(
    joint: Transmission, *, force: float, slip_speed: float = 0.01, static_force: float | None = None
) -> list[Element]:
    """Coulomb's friction in a joint of one coordinate, regularised: τ = −F tanh(ẋ/v_s), power −F ẋ tanh(ẋ/v_s).

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    force : float
        F, the friction of a joint that slides, N·m or N; it does not depend on the load.
    slip_speed : float
        v_s, rad/s or m/s: the speed below which friction is viscous with F/v_s.  It reaches 0.76 F at v_s and 0.96 F at
        2 v_s.
    static_force : float, optional
        F_s ≥ F, N·m or N, the peak of the Stribeck curve, reached near v_s; default none.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ModelError
        Negative or infinite numbers, a static force below the sliding one.
    ValueError
        A slip speed that is not positive; TypeError for what is no number.

    Notes
    -----
    A joint that should stick under a load τ < F creeps at v_s artanh(τ/F).  The friction has the rate F/(v_s m):
    explicit methods need steps below about 2 v_s m/F, implicit ones (`TREE_VARIATIONAL` included, which finds the
    friction together with the motion) do not.

    References
    ----------
    Brown and McPhee 2016 for the Stribeck curve.

    Examples
    --------
    >>> friction = dry_friction("wheel", force=2.0, slip_speed=0.1)[0]
    >>> print(friction, friction.law(friction.numbers, 0.0, 5.0))
    DryFriction on joint 'wheel' (-2.0, 0.0, -10.0)
    """
    of = f"dry_friction of {joint!r}"
    force, slip_speed = not_negative(force, "force", of), positive(slip_speed, "slip_speed")
    static = force if static_force is None else not_negative(static_force, "static_force", of)
    if static < force:
        remedy = f"give at least force = {force}, or leave it out"
        raise ModelError(f"{of}: static_force", f"is {static}", remedy)
    return [DryFriction(joint, TANH if static_force is None else STRIBECK, force, static, slip_speed)]
