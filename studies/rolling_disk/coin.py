"""Euler's disk runs down: the last seconds of a coin with viscous friction of its rim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from integrators import integrate
from integrators.results.storage import Variable
from mechanics.systems.rolling.eulers_disk import EXPONENTS, VISCOUS, end_time, eulers_disk, normal_force
from studies.study import Record

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coin:
    """Energy of the coin against the time that is left."""

    t: Array
    energy: Array
    """E/((3/2) m g r): the angle between coin and table on the steady motion."""
    precession: Array
    end: float
    exponent: float
    expected: float
    lift: float | None
    """When the load on the table first vanishes, s."""

    def record(self) -> Record:
        return {
            "part": "coin",
            "system": "eulers-disk",
            "end": self.end,
            "exponent": self.exponent,
            "expected_exponent": self.expected,
        }

    def sentence(self) -> str:
        return (
            f"Euler's disk: energy ~ (t₀ − t)^{self.exponent:.3f}, expected {self.expected:.3f}; t₀ = {self.end:.3g} s"
        )

    def variables(self) -> dict[str, Variable]:
        """For the data file."""
        return {
            "coin_time": Variable(("coin_time",), self.t, "s"),
            "coin_energy": Variable(("coin_time",), self.energy, "1", "E/((3/2) m g r)"),
            "coin_precession": Variable(
                ("coin_time",), self.precession, "rad/s", "precession rate of the contact point"
            ),
        }


def spin_down(angle: float = 0.1, coefficient: float = 1e-6) -> Coin:
    """The coin from an angle of 0.1 rad until 98 % of its theoretical life."""
    system = eulers_disk(angle=angle, law=VISCOUS, coefficient=coefficient)
    end = end_time(system)
    solution = integrate(
        system.problem(), "RKMK_DOP853", (0.0, 0.98 * end), rtol=1e-9, atol=1e-9, t_eval=np.linspace(0, 0.98 * end, 500)
    )
    m, r, _, _, g, _ = system.parameters
    energy = solution.invariants[:, 0] / (1.5 * m * g * r)
    exponent, life = fit(solution.t, energy)
    y = solution.y
    load = normal_force(system, y)
    lift = float(solution.t[np.argmax(load < 0)]) if (load < 0).any() else None
    return Coin(solution.t, energy, y[:, 6] / np.sin(y[:, 3]), life, exponent, EXPONENTS[VISCOUS], lift)


def fit(t: Array, energy: Array) -> tuple[float, float]:
    """(n, t₀) of energy = k (t₀ − t)ⁿ, by least squares of logarithms with a search for t₀."""
    best = (np.inf, 0.0, 0.0)
    for end in np.linspace(t[-1] * 1.002, t[-1] * 1.1, 2000):
        x = np.log(end - t)
        slope, start = np.polyfit(x, np.log(energy), 1)
        misfit = float(np.square(np.log(energy) - start - slope * x).sum())
        best = min(best, (misfit, float(slope), float(end)))
    return best[1], best[2]
