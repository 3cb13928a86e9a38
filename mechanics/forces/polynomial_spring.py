"""Springs and dampers on a joint whose stiffness and damping are polynomials, with a slack part if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroup.arrays import reals
from liegroup.compile import helper
from liegroup.compile.scalars import absolute, maximum, minimum
from mechanics.errors import ModelError
from mechanics.forces.element import Element, OnJoint
from mechanics.forces.tendon import Transmission


@helper
def law(numbers: Any, x: Any, s: Any) -> Any:
    """τ = −(k₀ + k₁ d + k₂ d²) d − (c₀ + c₁ |s| + c₂ s²) s; stores k₀ d²/2 + k₁ d³/3 + k₂ d⁴/4, loses the rest."""
    k0, k1, k2, c0, c1, c2, low, up = numbers
    d = maximum(x - up, minimum(x - low, 0.0))  # and where the ends meet, its slope is one
    drag = (c0 + c1 * absolute(s) + c2 * s * s) * s
    stored = (0.5 * k0 + (k1 / 3.0 + 0.25 * k2 * d) * d) * d * d
    return -((k0 + (k1 + k2 * d) * d) * d) - drag, stored, -(drag * s)


@dataclass(frozen=True)
class PolynomialSpring(OnJoint):
    """k₀, k₁, k₂ in N·m/rad, … (N/m, …), c₀, c₁, c₂ in N·m·s/rad, … (N·s/m, …), ends of the slack part in rad (m)."""

    law = staticmethod(law)
    stiffness: float
    stiffness_by_length: float
    stiffness_by_square: float
    damping: float
    damping_by_rate: float
    damping_by_square: float
    lower: float
    upper: float

    @property
    def counts_turns(self) -> bool:
        return any((self.stiffness, self.stiffness_by_length, self.stiffness_by_square))

    @property
    def smooth(self) -> bool:
        return self.lower == self.upper

    @property
    def has_kinks(self) -> bool:
        return not self.smooth

    @property
    def dissipates(self) -> bool:
        return self.reads_velocities

    @property
    def drives(self) -> bool:
        return min(self.damping, self.damping_by_rate, self.damping_by_square) < 0.0

    @property
    def reads_velocities(self) -> bool:
        return any((self.damping, self.damping_by_rate, self.damping_by_square))


def polynomial_spring(
    joint: Transmission,
    stiffness: float | Sequence[float],
    *,
    rest: float | Sequence[float] = 0.0,
    damping: float | Sequence[float] = 0.0,
) -> list[Element]:
    """A spring and damper with τ = −(k₀ + k₁ d + k₂ d²) d − (c₀ + c₁ |ẋ| + c₂ ẋ²) ẋ.

    It stores k₀ d²/2 + k₁ d³/3 + k₂ d⁴/4.  d = x − x₀; with two ends of rest d is how far x is beyond them, so that the
    spring is slack in between.

    Parameters
    ----------
    joint : str, (str, int) or Tendon
        A joint by its name, one freedom of a joint of several, or a tendon.
    stiffness : float or up to three floats
        k₀, k₁, k₂: N·m/rad, N·m/rad², N·m/rad³, or N/m, N/m², N/m³.
    rest : float or two floats
        x₀, or where the slack part begins and ends, rad or m.
    damping : float or up to three floats
        c₀, c₁, c₂: N·m·s/rad, N·m·s²/rad², N·m·s³/rad³, or in N and m.

    Returns
    -------
    list of Element
        One, for `Mechanism`.

    Raises
    ------
    ModelError
        More coefficients, numbers that are not finite, ends of rest in the wrong order.

    References
    ----------
    MuJoCo, XML reference: stiffness and damping of joints, springlength of tendons.

    Examples
    --------
    >>> spring = polynomial_spring("knee", (10.0, 0.0, 4.0), rest=(-0.5, 0.5))[0]
    >>> [spring.law(spring.numbers, x, 0.0)[0] for x in (0.2, 1.5)]
    [-0.0, -14.0]
    """
    where = f"polynomial_spring of {joint!r}"
    k, c = (_coefficients(x, f"{where}: {what}") for x, what in ((stiffness, "stiffness"), (damping, "damping")))
    ends = np.atleast_1d(reals(rest, f"{where}: rest"))
    if ends.shape not in ((1,), (2,)) or not np.isfinite(ends).all() or ends[0] > ends[-1]:
        remedy = "give one finite number, or the beginning and the end of the slack part"
        raise ModelError(f"{where}: rest", f"is {ends.tolist()}", remedy)
    numbers = [*k, *c, float(ends[0]), float(ends[-1])]
    return [PolynomialSpring(joint, *numbers)]


def _coefficients(values: Any, where: str) -> list[float]:
    x = np.atleast_1d(reals(values, where))
    if x.ndim != 1 or not 1 <= len(x) <= 3 or not np.isfinite(x).all():
        raise ModelError(where, f"is {x.tolist()}", "give one to three finite numbers")
    return [*x.tolist(), *[0.0] * (3 - len(x))]
