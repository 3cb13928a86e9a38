"""Euler's disk runs down: the last seconds of a coin with viscous friction of its rim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from integrators import integrate
from integrators.results.storage import Variable
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.rolling.eulers_disk import EXPONENTS, VISCOUS, end_time, normal_force
from mechanics.systems.rolling.rolling_disk import rolling_disk
from studies.study import Record

Array = NDArray[np.float64]
LIFE = 20.0
"""Time from the start to the end, in √(r/g)."""
SHARE = {"disk": 0.25, "hoop": 0.5}
"""I₁/(m r²); I₃ = 2 I₁."""


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
            "method": "exponent of the energy",
            "system": "eulers-disk",
            "end": self.end,
            "found": self.exponent,
            "expected": self.expected,
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


def coin(mass: float, radius: float, shape: str, gravity: float, angle: float) -> NonholonomicSystem:
    """The disk or hoop at `angle` from the plane, its centre at rest, ψ̇² = m g r/(I₁ sin α), with the viscous friction
    c = ¾ α² I₁/t₀ that ends it after t₀ = `LIFE` √(r/g).
    """
    i1 = SHARE[shape] * mass * radius**2
    precession = np.sqrt(mass * gravity * radius / (i1 * np.sin(angle)))
    return rolling_disk(
        mass,
        radius,
        i1,
        2 * i1,
        gravity,
        tilt=0.5 * np.pi - angle,
        omega=(0.0, precession * np.sin(angle), 0.0),
        loss=VISCOUS,
        loss_coefficient=0.75 * angle**2 * i1 / (LIFE * np.sqrt(radius / gravity)),
        model="eulers-disk",
    )


def spin_down(mass: float, radius: float, shape: str, gravity: float, angle: float = 0.1) -> Coin:
    """The coin from an angle of 0.1 rad until 98 % of its theoretical life."""
    system = coin(mass, radius, shape, gravity, angle)
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
