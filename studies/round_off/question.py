"""The question: does the energy error of a long run grow like √n (Brouwer's law) or like n?

Many initial conditions run side by side in lanes, by methods whose own energy error is below rounding at the chosen
step, with plain and with compensated additions.  The energy is averaged over every step of 256 stretches; its change
since the first stretch, as a root mean square over the trajectories, is fitted by a power of the number of steps.  A
bias common to all trajectories shows as a mean that is large against its standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import mechanics
from integrators.integrate import integrate
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from mechanics.systems import free_rigid_body, heavy_top, kepler
from studies.energy_drift.systems import tree_of
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "Does the energy error of a long run grow like √n (Brouwer's law) or like n?"
STRETCHES = 256
FITTED = 8
"""The fit begins at this stretch: before it the first one, which all are compared with, is not yet far away."""
SMALLEST = 2.0**-60
"""Energies that agree to the last bit count as this far apart."""
RESAMPLES = 200
BROUWER = 0.15
"""An exponent within this of ½ is called a random walk."""
INERTIA = (1.0, 1.4, 0.6)


@dataclass(frozen=True)
class RoundOffConfig(StudyConfig):
    """Energy errors of long runs over many initial conditions, plain and compensated."""

    cases: tuple[tuple[str, str, float], ...] = (
        ("heavy top", "SPLIT_SRKN8_17A", 0.02),
        ("heavy top", "VARIATIONAL_GAUSS4", 0.02),
        ("free body", "SPLIT_STRANG", 0.05),
        ("free body", "LGVI_MOSER_VESELOV", 0.05),
        ("heavy top", "GAUSS8", 0.05),
        ("double pendulum", "GAUSS8", 0.02),
        ("UR5", "GAUSS8", 0.02),
        ("Kepler", "GAUSS8", 0.1),
    )
    """System, method, step in s."""
    additions: tuple[Literal["plain", "compensated"], ...] = ("plain", "compensated")
    """How increments are added to the state."""
    steps: int = 1_000_000
    """Steps of every trajectory; 100000000 is the long run."""
    trajectories: int = 16
    """Initial conditions, random attitudes and angular velocities; multiples of 8 fill the lanes."""
    seed: int = 1

    def shortened(self) -> RoundOffConfig:
        """The configuration that `--quick` runs."""
        return replace(self, cases=(self.cases[0], self.cases[3]), steps=min(self.steps, 50_000), trajectories=8)


@dataclass(frozen=True)
class Walk:
    """One method on one system."""

    system: str
    method: str
    compensated: bool
    step: float
    stages: int
    steps: Array
    """Numbers of steps at the ends of the stretches."""
    errors: Array
    """(trajectories, stretches): change of the mean energy since the first stretch, in units of the mean kinetic
    energy.
    """
    ripple: float
    """Largest spread of the energy within the first stretch, in the same unit: the method's own error, or rounding."""
    seconds: float

    @property
    def additions(self) -> str:
        return "compensated" if self.compensated else "plain"

    @property
    def rms(self) -> Array:
        return np.asarray(np.sqrt((self.errors**2).mean(axis=0)))

    @property
    def exponent(self) -> float:
        return exponent(self.steps, self.errors)

    @property
    def exponent_sigma(self) -> float:
        """Standard deviation of the exponent, by drawing the trajectories anew."""
        generator = np.random.default_rng(0)
        m = len(self.errors)
        return float(np.std([exponent(self.steps, self.errors[generator.integers(0, m, m)]) for _ in range(RESAMPLES)]))

    @property
    def mean_over_error(self) -> float:
        """Mean of the last errors in units of its standard error: beyond 3, a bias common to the trajectories."""
        last = self.errors[:, -1]
        return float(last.mean() / (last.std(ddof=1) / np.sqrt(len(last))))

    @property
    def per_step(self) -> float:
        """Least-squares slope of each trajectory's error, as a root mean square: energy per step, in the same unit."""
        n = self.steps - self.steps.mean()
        slopes = (self.errors * n).sum(axis=1) / (n * n).sum()
        return float(np.sqrt((slopes**2).mean()))


def exponent(steps: Array, errors: Array) -> float:
    """The power of n in the root mean square of the errors, by least squares in logarithms; evenly in log n."""
    rms = np.sqrt((errors**2).mean(axis=0))[FITTED:]
    x, y = np.log(steps[FITTED:]), np.log(np.maximum(rms, SMALLEST))
    return float(np.polyfit(x, y, 1, w=1.0 / np.sqrt(steps[FITTED:]))[0])


@dataclass(frozen=True)
class Result:
    config: RoundOffConfig
    walks: tuple[Walk, ...]


def problem_of(system: str, trajectories: int, seed: int) -> Problem:
    """A system from as many random starts."""
    if system not in SYSTEMS:
        raise ValueError(f"cases: {system!r}, expected one of {list(SYSTEMS)}")
    return SYSTEMS[system](trajectories, np.random.default_rng(seed))


def _turning(problem: Problem, count: int, generator: np.random.Generator) -> Problem:
    """Random attitudes with random angular velocities of about 2 rad/s."""
    attitudes = generator.normal(size=(count, 4))
    attitudes /= np.linalg.norm(attitudes, axis=1, keepdims=True)
    momenta = np.array(INERTIA) * generator.normal(size=(count, 3)) * 2.0
    return problem.with_start(np.concatenate([attitudes, momenta], axis=1))


def _tree(model: str, count: int, generator: np.random.Generator) -> Problem:
    """A mechanism of the study energy-drift with random velocities of about 2 rad/s, joints of an arm near neutral."""
    tree = tree_of(model)
    q = tree.neutral() + 0.3 * generator.normal(size=(count, tree.nv))
    v = 2.0 * generator.normal(size=(count, tree.nv))
    p = [mechanics.momentum(tree, *start) for start in zip(q, v, strict=True)]
    problem = mechanics.compile_model(tree).problem(tree.neutral(), np.zeros(tree.nv))
    return problem.with_start(np.hstack([q, p]))


def _planet(count: int, generator: np.random.Generator) -> Problem:
    """Eccentricities from 0.05 to 0.4, semi-major axis 1, from the pericentre."""
    e, turn = generator.uniform(0.05, 0.4, count), generator.uniform(0.0, 2.0 * np.pi, count)
    r, v = 1.0 - e, np.sqrt((1.0 + e) / (1.0 - e))
    return kepler().with_start(np.stack([r * np.cos(turn), r * np.sin(turn), -v * np.sin(turn), v * np.cos(turn)], 1))


SYSTEMS: dict[str, Callable[[int, np.random.Generator], Problem]] = {
    "heavy top": lambda n, g: _turning(heavy_top(INERTIA, 1.0, (0.1, 0.2, 0.97), 2.0), n, g),
    "free body": lambda n, g: _turning(free_rigid_body(INERTIA, (1.0, 1.0, 1.0)), n, g),
    "double pendulum": lambda n, g: _tree("chain-2", n, g),
    "UR5": lambda n, g: _tree("ur5", n, g),
    "Kepler": _planet,
}
"""Name → a problem with so many starts."""


def kinetic_energy(problem: Problem) -> float:
    """½ v·p at the start, the mean: the unit of all errors; the energy itself may be close to zero on some
    trajectories.
    """
    half = problem.dimension // 2
    return float(np.mean([0.5 * problem.velocity(0.0, y)[:half] @ y[problem.n - half :] for y in problem.y0]))


def run(config: RoundOffConfig) -> Result:
    """Every case, with each kind of additions."""
    config = config.as_asked()
    walks = []
    for system, name, step in config.cases:
        method = find(name)
        if not isinstance(method, Method):
            raise ValueError(f"cases: {name} is not a method of fixed steps")
        problem = problem_of(system, config.trajectories, config.seed)
        kinds = {"plain": method.plain(), "compensated": method}
        walks += [walk(config, problem, system, kinds[kind], step) for kind in config.additions]
    return Result(config, tuple(walks))


def walk(config: RoundOffConfig, problem: Problem, system: str, method: Method, step: float) -> Walk:
    """The errors of one method."""
    every = max(1, config.steps // STRETCHES)
    solution = integrate(
        problem, method, (0.0, every * STRETCHES * step), step=step, save_every=every, progress=config.progress or None
    )
    if not np.all(np.asarray(solution.status) == 0):
        raise RuntimeError(f"{method.name}: {solution.message}")
    energy = solution.invariant_names.index("energy")
    scale = kinetic_energy(problem)
    means = solution.mean_since[:, 1:, energy]
    spread = (solution.greatest - solution.least)[:, 1, energy] / scale
    return Walk(
        system, method.name.removesuffix("[plain]"), method.compensated, step, method.evaluations or 1,
        every * np.arange(1.0, STRETCHES), ((means - means[:, :1]) / scale)[:, 1:], float(spread.max()),
        solution.seconds,
    )  # fmt: skip


def records(result: Result) -> list[Record]:
    return [
        {
            "system": w.system,
            "method": w.method,
            "additions": w.additions,
            "step": w.step,
            "steps": int(w.steps[-1]),
            "trajectories": len(w.errors),
            "exponent": w.exponent,
            "exponent_sigma": w.exponent_sigma,
            "energy_error_rms": float(w.rms[-1]),
            "mean_over_error": w.mean_over_error,
            "energy_slope_per_step": w.per_step,
            "energy_ripple": w.ripple,
            "microseconds_per_step": 1e6 * w.seconds / (w.steps[-1] * len(w.errors)),
        }
        for w in result.walks
    ]


def cases(walks: Sequence[Walk]) -> list[list[Walk]]:
    """The walks of each case."""
    found: dict[tuple[str, str], list[Walk]] = {}
    for w in walks:
        found.setdefault((w.system, w.method), []).append(w)
    return list(found.values())


def remarks(result: Result) -> list[str]:
    said = []
    for walks in cases(result.walks):
        last = walks[-1]
        kind = "a random walk" if abs(last.exponent - 0.5) <= BROUWER else "not a random walk"
        gain = walks[0].rms[-1] / last.rms[-1]
        lower = f"compensation lowers the error by {gain:.3g}; " if len(walks) > 1 else ""
        exponents = ", ".join(f"{w.exponent:.2f} {w.additions}" for w in walks)
        said.append(f"{last.method} on the {last.system}: {lower}exponents {exponents} ({kind})")
    return said


def data(result: Result) -> Dataset:
    walks = result.walks
    return Dataset(
        {
            "walk": Variable(("walk",), [f"{w.system}, {w.method}, {w.additions}" for w in walks]),
            "steps": Variable(("stretch",), walks[0].steps),
            "error": Variable(
                ("walk", "trajectory", "stretch"),
                np.array([w.errors for w in walks]),
                "",
                "energy error in units of the mean kinetic energy",
            ),
        },
        {"study": "round-off"},
    )
