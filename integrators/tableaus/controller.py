"""Step-size controllers as coefficients of a digital filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from integrators.tableaus.claims import Checked
from integrators.tableaus.numbers import Coefficients, Floats, floats, number, row


@dataclass(frozen=True)
class Controller(Checked):
    """Exponents of a step-size rule.

        h_{n+1} = h_n r_n^{−β₁/k} r_{n−1}^{−β₂/k} r_{n−2}^{−β₃/k} (h_n/h_{n−1})^{−α₂} (h_{n−1}/h_{n−2})^{−α₃}

    with r the error in units of the tolerance and k the embedded order + 1.

    Parameters
    ----------
    beta : up to three numbers β₁, β₂, β₃ (already multiplied by k).
    alpha : up to two numbers α₂, α₃.
    name, source, claims : as for `ButcherTableau`.

    Raises
    ------
    ValueError
        If the closed loop is unstable: spectral radius ≥ 1.

    Examples
    --------
    >>> Controller(beta=["3/5", "-1/5"], name="PI42").filter_order
    0
    """

    beta: Coefficients
    alpha: Coefficients = ()
    name: str = "controller"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        for field, most in (("beta", 3), ("alpha", 2)):
            values = row(getattr(self, field), field)
            if len(values) > most or (field == "beta" and not values):
                raise ValueError(
                    f"{self.name}: {field} has {len(values)} numbers, expected at most {most}"
                    + " and at least 1" * (field == "beta")
                )
            object.__setattr__(self, field, values + (number(0),) * (most - len(values)))
        if self.spectral_radius >= 1:
            raise ValueError(
                f"{self.name}: the closed loop is unstable, spectral radius {self.spectral_radius:.4g} must be below 1"
            )
        self.check(claims or {})

    @cached_property
    def rounded(self) -> Floats:
        """β₁, β₂, β₃, α₂, α₃ in float64."""
        return floats(self.beta + self.alpha)

    @cached_property
    def spectral_radius(self) -> float:
        """Largest zero of q³ − (1−β₁−α₂) q² − (α₂−α₃−β₂) q − (α₃−β₃): how fast a disturbance dies out."""
        b1, b2, b3, a2, a3 = self.rounded
        return float(np.max(np.abs(np.roots([1.0, -(1 - b1 - a2), -(a2 - a3 - b2), -(a3 - b3)]))))

    @cached_property
    def filter_order(self) -> int:
        """Multiplicity of the zero q = −1 of β₁q² + β₂q + β₃: how well alternating errors are filtered."""
        polynomial: Any = np.trim_zeros(self.rounded[:3], "b")
        multiplicity = 0
        while len(polynomial) > 1 and abs(np.polyval(polynomial, -1.0)) < 1e-14:
            polynomial, multiplicity = np.polydiv(polynomial, [1.0, 1.0])[0], multiplicity + 1
        return multiplicity

    @property
    def memory(self) -> int:
        """Number of past errors used."""
        return max(k for k, x in enumerate(self.beta, 1) if x)
