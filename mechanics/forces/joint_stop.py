"""Stops on a joint of one coordinate: where it ends, it is pushed back by a law of the depth beyond the stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroup.arrays import real
from liegroup.compile import helper
from mechanics.errors import ModelError
from mechanics.forces.element import Element, OnJoint, not_negative
from mechanics.forces.laws import normal_force, normal_law, width_of
from mechanics.forces.tendon import Transmission

FAR = 1e300
"""Where a stop is that is none: a number, so that nothing becomes 0·∞."""


@helper
def law(numbers: Any, x: Any, s: Any) -> Any:
    """τ = N(x_low − x, −s) − N(x − x_up, s) with N(d, ḋ) of `laws`; stores U of both, loses the rest."""
    lower, upper, kind, stiffness, damping, width = numbers
    below, stored_below, spring_below = normal_force(kind, stiffness, damping, width, lower - x, -s)
    above, stored_above, spring_above = normal_force(kind, stiffness, damping, width, x - upper, s)
    lost = (spring_above - above) * s - (spring_below - below) * s
    return below - above, stored_below + stored_above, lost


@dataclass(frozen=True)
class JointStop(OnJoint):
    """x_low and x_up in rad (m), k in N·m/rad (N/m) or per rad^{3/2} (m^{3/2}), damping in the unit of its law."""

    law = staticmethod(law)
    lower: float
    upper: float
    normal_law: int
    stiffness: float
    damping: float
    width: float

    @property
    def strikes(self) -> bool:
        return True

    @property
    def dissipates(self) -> bool:
        return self.damping > 0.0

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0


def joint_stop(
    joint: Transmission,
    *,
    lower: float | None = None,
    upper: float | None = None,
    stiffness: float,
    damping: float = 0.0,
    law: str = "hunt_crossley",
    width: float | None = None,
) -> list[Element]:
    """Stops of a joint of one coordinate: free between them, pushed back by N(d, ḋ) at a depth d beyond one.

    At the upper stop d = x − x_up and τ = −N, at the lower one d = x_low − x and τ = N; N never pulls.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    lower, upper : float, optional
        x_low and x_up, rad or m; at least one.
    stiffness : float
        k, N·m/rad or N/m; for the law "hertz" N·m/rad^{3/2} or N/m^{3/2}.
    damping : float
        c in N·m·s/rad or N·s/m for "kelvin_voigt" and "soft"; the factor a in s/rad or s/m for "hunt_crossley" and
        "hertz", which `hunt_crossley_factor` finds for a coefficient of restitution.
    law : {"hunt_crossley", "hertz", "kelvin_voigt", "soft"}
        N = k d (1 + a ḋ), N = k d^{3/2} (1 + a ḋ), N = k d + c ḋ, N = σ(d/w) (k d + c ḋ), for d > 0; never below 0
        (`mechanics.forces.laws`).  Where the stop is touched, the force of "kelvin_voigt" jumps, that of
        "hunt_crossley" has a corner, those of the others have continuous derivatives.
    width : float, optional
        w of the law "soft", rad or m: the depth at which it has become N = k d + c ḋ.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ModelError
        No stop at all, the lower one not below the upper one, a negative stiffness or damping; on a joint that counts
        no turns, when it is packed.
    ValueError
        An unknown law, a width with another law than "soft", a number that is not finite; TypeError for what is none.

    Notes
    -----
    Holds when the steps resolve the time that the stop is touched, about π √(m/k); a run at fixed steps that are longer
    puts in energy.

    References
    ----------
    Hunt and Crossley 1975.

    Examples
    --------
    >>> stop = joint_stop("elbow", lower=-0.5, upper=2.0, stiffness=1e4, damping=0.3)[0]
    >>> print(stop, stop.law(stop.numbers, 2.5, 1.0))
    JointStop on joint 'elbow' (-6500.0, 1250.0, -1500.0)
    """
    number, of = normal_law(law), f"joint_stop of {joint!r}"
    ends = [None if x is None else real(x, name) for x, name in ((lower, "lower"), (upper, "upper"))]
    if ends == [None, None]:
        raise ModelError(of, "has no stop", "give lower, upper or both")
    low, up = (-FAR if ends[0] is None else ends[0]), (FAR if ends[1] is None else ends[1])
    if not low < up:
        raise ModelError(of, f"has lower = {low} and upper = {up}", "the lower stop is below the upper one")
    stiffness, damping = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    return [JointStop(joint, low, up, number, stiffness, damping, width_of(law, width))]
