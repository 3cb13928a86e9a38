"""Step size controllers as data.

With r = err/safetyᵏ, err the scaled error estimate of a step of size h, k the power of h in it, the next step is

    h_{n+1} = h_n r_n^(−b₁/k) r_{n−1}^(−b₂/k) r_{n−2}^(−b₃/k) (h_n/h_{n−1})^(−a₂) (h_{n−1}/h_{n−2})^(−a₃)

(Söderlind 2003).  Rejected steps are repeated with the elementary rule, and the history begins anew.

The integrating controller (Hairer and Söderlind 2005) asks for no error estimate: it follows a wished step size Q(y) >
0 in a way that is symmetric in time, so that symmetric methods keep what they are for:

    ρ = 1/Q + (ε/2) G at the start;   h = ε/ρ;   ρ <- ρ + ε G after the step,   G = −d/dt ln Q along the motion.

The logarithmic Hamiltonian (Preto and Tremaine 1999; Mikkola and Tanikawa 1999) puts the steps into the equations of
motion, and keeps symplectic splittings symplectic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liegroup.modules import listing

__all__ = [
    "CONTROLLERS",
    "AnyController",
    "Controller",
    "IntegratingController",
    "LogarithmicHamiltonian",
    "find_controller",
    "first_step",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Controller:
    """A digital filter for the step size.

    Parameters
    ----------
    name : str
    b : (b₁, b₂, b₃)
        Exponents of the last three errors.
    a : (a₂, a₃)
        Exponents of the last two ratios of steps.
    safety : float
        The aim is err = safetyᵏ.
    least, greatest : float
        Bounds of the factor between two steps.
    smooth : bool
        Limit the factor f to 1 + atan(f − 1) instead of cutting it off.
    """

    name: str
    b: tuple[float, float, float] = (1.0, 0.0, 0.0)
    a: tuple[float, float] = (0.0, 0.0)
    safety: float = 0.9
    least: float = 0.2
    greatest: float = 10.0
    smooth: bool = False

    def __post_init__(self) -> None:
        if not (0 < self.safety <= 1 and 0 < self.least < 1 < self.greatest):
            raise ValueError(f"controller {self.name}: expected 0 < safety ≤ 1 and 0 < least < 1 < greatest")
        if self.radius >= 1.0:
            raise ValueError(
                f"controller {self.name}: closed-loop radius {self.radius:.3g}, expected less than 1; it would not "
                "settle"
            )

    @property
    def radius(self) -> float:
        """Spectral radius of the closed loop on err ∝ hᵏ: below 1, disturbances of the step size die out."""
        (b1, b2, b3), (a2, a3) = self.b, self.a
        return float(np.abs(np.roots([1.0, -(1.0 - b1 - a2), -(a2 - a3 - b2), -(a3 - b3)])).max())

    def data(self, power: int) -> Array:
        """The numbers the run loop needs, for an error estimate ∝ h^power."""
        return np.array([*self.b, *self.a, self.safety, self.least, self.greatest, float(self.smooth), power])


@dataclass(frozen=True)
class IntegratingController:
    """Steps ε/ρ with ρ ≈ 1/Q, reversible: for symmetric methods.

    Parameters
    ----------
    size : callable
        ``size(t, y)`` → (Q, G) in any form of `integrators.problem.fields`: the wished step size Q > 0 up to the factor
        ε, even under reversal of the velocities, and G = −(d/dt Q)/Q along the motion.
    """

    size: Callable[..., Any]
    name: str = "integrating controller"
    MEANS: ClassVar[str] = "the step where Q = 1"

    @property
    def function(self) -> Callable[..., Any]:
        """The function it goes by."""
        return self.size


@dataclass(frozen=True)
class LogarithmicHamiltonian:
    """Equal steps ε of a fictitious time under Γ = ln(T + p_t) − ln(−V), symplectic and reversible: for splittings.

    dt ≈ ε/(−V): steps are short where the potential is deep.  The splitting's parts are solved exactly
    (`integrators.steppers.logarithmic`), so that the energy does not drift and Kepler orbits are exact conics.

    Holds when H = T + V is a constant of the motion, T = ½ pᵀK p the kinetic energy of particles and rigid bodies (what
    a splitting asks for anyway), and V < 0 along the whole motion; a V bounded above becomes negative by a constant,
    which changes where the steps fall and nothing else.

    Parameters
    ----------
    potential : callable
        ``potential(t, y)`` → V in any form of `integrators.problem.fields`, a function of the configuration, in the
        units of ½ pᵀK p.

    Source: Preto and Tremaine 1999; Mikkola and Tanikawa 1999.
    """

    potential: Callable[..., Any]
    name: str = "logarithmic Hamiltonian"
    MEANS: ClassVar[str] = "the step where V = −1"

    @property
    def function(self) -> Callable[..., Any]:
        """The function it goes by."""
        return self.potential


AnyController = Controller | IntegratingController | LogarithmicHamiltonian


def _row(
    name: str, b: tuple[float, float, float], a: tuple[float, float] = (0.0, 0.0), smooth: bool = True
) -> Controller:
    return Controller(name, b, a, smooth=smooth)


CONTROLLERS: dict[str, Controller] = {
    row.name: row
    for row in (
        _row("I", (1, 0, 0), smooth=False),
        _row("PI3333", (2 / 3, -1 / 3, 0)),
        _row("PI3040", (7 / 10, -2 / 5, 0)),
        _row("PI42", (3 / 5, -1 / 5, 0)),
        _row("H211PI", (1 / 6, 1 / 6, 0)),
        _row("H0211", (1 / 2, 1 / 2, 0), (1 / 2, 0)),
        _row("H211b", (1 / 4, 1 / 4, 0), (1 / 4, 0)),
        _row("H0312", (1 / 4, 1 / 2, 1 / 4), (3 / 4, 1 / 4)),
        _row("H312b", (1 / 8, 2 / 8, 1 / 8), (3 / 8, 1 / 8)),
        _row("H312PID", (1 / 18, 1 / 9, 1 / 18)),
        _row("H0321", (5 / 4, 1 / 2, -3 / 4), (-1 / 4, -3 / 4)),
        _row("H321", (1 / 3, 1 / 18, -5 / 18), (-5 / 6, -1 / 6)),
        _row("PID", (0.58, -0.21, 0.10)),
    )
}
"""Controllers by name: I, PI and PID sets and digital filters."""


def find_controller(controller: str | AnyController) -> AnyController:
    """The controller of a name, or the controller itself."""
    if isinstance(controller, AnyController):
        return controller
    if controller not in CONTROLLERS:
        raise ValueError(f"controller: {controller!r}, expected one of {', '.join(CONTROLLERS)} or a Controller")
    return CONTROLLERS[controller]


def first_step(scale: Array, size: Array, v0: Array, probe: Callable[[float], Any], order: int) -> float:
    """A first step size, from the field and its change over a small step.

        d₀ = |size/scale|, d₁ = |v₀/scale| (root mean squares);  h₀ = 0.01 d₀/d₁;  d₂ = |(v(h₀) − v₀)/scale|/h₀
        h = min(100 h₀, (0.01/max(d₁, d₂))^(1/(order + 1)))

    Source: Hairer, Nørsett and Wanner 1993, section II.4.
    """

    def rms(x: Array) -> float:
        return float(np.sqrt(np.mean((x / scale) ** 2)))

    d0, d1 = rms(size), rms(v0)
    h0 = 1e-6 if min(d0, d1) < 1e-5 else 0.01 * d0 / d1
    d2 = rms(probe(h0) - v0) / h0
    if not math.isfinite(d2):
        return h0
    top = max(d1, d2)
    h1 = max(1e-6, 1e-3 * h0) if top <= 1e-15 else (0.01 / top) ** (1.0 / (order + 1))
    return min(100.0 * h0, h1)
