"""The limits of upright rolling and spinning, found by pushing disks a little and looking which of them fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from integrators import integrate
from integrators.results.storage import Variable
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.rolling.rolling_disk import least_roll_rate, least_spin_rate
from studies.study import Record

Array = NDArray[np.float64]
PUSH = 1e-8
"""Initial tilt, rad; small enough that a disk that counts as fallen is still described by the linear equations."""
FALLEN = 1e4
"""A disk counts as fallen if its tilt exceeds the push by this factor; one above the limit answers with a bounded one,
~ 1/(ratio² − 1).
"""
BEATS = 200
"""Length of a run in √(r/g)."""
LANES, ROUNDS = 8, 5


@dataclass(frozen=True)
class Boundary:
    """Largest tilt against the rate, relative to the theoretical limit."""

    kind: str
    theory: float
    ratios: Array
    largest: Array
    """Largest tilt over the run / initial tilt."""
    bracket: tuple[float, float]
    """Ratios of the fastest disk that falls and the slowest that stays."""

    @property
    def found(self) -> float:
        """The rate between the last disk that falls and the first that stays."""
        return self.theory * 0.5 * (self.bracket[0] + self.bracket[1])

    def record(self) -> Record:
        name = f"upright {self.kind}"
        return {
            "part": "stability",
            "method": name,
            "system": name,
            "found": self.found,
            "expected": self.theory,
        }

    def sentence(self) -> str:
        return (
            f"upright {self.kind} is stable above {self.found:.5g} rad/s as found, {self.theory:.5g} rad/s in theory "
            f"({100 * (self.found / self.theory - 1):+.2g} %)"
        )

    def variables(self) -> dict[str, Variable]:
        """For the data file."""
        dim = f"rate_{self.kind}"
        return {
            dim: Variable((dim,), self.ratios * self.theory, "rad/s", f"rate of upright {self.kind}"),
            f"largest_tilt_{self.kind}": Variable((dim,), self.largest, "1", "largest tilt over the initial one"),
        }


def boundary(kind: str, angles: NonholonomicSystem) -> Boundary:
    """Eight disks at a time that roll (or spin) upright at rates around the limit, each pushed by `PUSH`; the bracket
    shrinks by seven.
    """
    theory = least_roll_rate(angles) if kind == "rolling" else least_spin_rate(angles)
    low, high = 0.9, 1.1
    tried: list[Array] = []
    answers: list[Array] = []
    for _ in range(ROUNDS):
        ratios = np.linspace(low, high, LANES)
        largest = _pushed(kind, angles, ratios * theory)
        stays = largest < FALLEN
        if not stays[-1] or stays[0]:
            raise RuntimeError(
                f"upright {kind}: the limit is not between {low * theory:.6g} and {high * theory:.6g} rad/s"
            )
        first = int(np.argmax(stays))
        low, high = float(ratios[first - 1]), float(ratios[first])
        tried.append(ratios)
        answers.append(largest)
    every, where = np.unique(np.concatenate(tried), return_index=True)
    return Boundary(kind, theory, every, np.concatenate(answers)[where], (low, high))


def _pushed(kind: str, angles: NonholonomicSystem, rates: Array) -> Array:
    """Largest tilt over the push, for each rate."""
    beat = np.sqrt(angles.parameters[1] / angles.parameters[4])
    q = angles.q0.copy()
    q[2:] = 0.0, 0.5 * np.pi - PUSH, 0.0
    starts = np.array(
        [np.concatenate([q, [0.0, 0.0, rate] if kind == "rolling" else [0.0, rate, 0.0]]) for rate in rates]
    )
    problem = angles.problem().with_start(starts)
    solution = integrate(problem, "RKMK4", (0.0, BEATS * beat), step=0.05 * beat, save_every=5)
    tilt = np.nanmax(np.abs(solution.y[..., 3] - 0.5 * np.pi), axis=1)
    failed = np.array([s.name != "OK" for s in solution.status])  # type: ignore[union-attr]
    return np.where(failed, np.inf, tilt / PUSH)
