"""The question: what does a step of its own for every element save, and where do such steps resonate?

A bar of springs in space, unstressed, one part of it with elements a hundred times shorter, swings from random
velocities.  Verlet's method takes the smallest step for all elements; asynchronous steps are in powers of two (AVI), or
free (AVI_FREE, with a queue).  Each takes the same part of its own stability limit, `safety`; of AVI_SUZUKI4 the
longest of its five parts does.  Energies in units of the energy at the start.

The map: one mass between a stiff spring (step h₁) and one twenty-five times softer (step h₂).  Between stiff kicks the
mass moves uniformly, so that its motion has the frequencies ω̂ + 2πn/h₁; soft kicks are in resonance with its square
where ω̂ h₂ = π (m − n h₂/h₁).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators import Solution, integrate
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from mechanics.elastic import Network, Springs
from mechanics.elastic.layout import RATIOS_AT
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "What does a step of its own for every element save, and where do such steps resonate?"
SOFTER = 25.0
"""Of the map: stiff over soft."""
SYNCHRONISED = 60
"""Soft steps from one synchronisation to the next, on the map."""
SAVED = 2000


@dataclass(frozen=True)
class AsynchronousConfig(StudyConfig):
    """A bar with a fine part, by one step for all elements and by steps of their own; a map of resonances."""

    coarse: int = 60
    """Coarse elements."""
    fine: int = 10
    """Fine elements, in the middle."""
    ratio: float = 100.0
    """How much shorter the fine ones are."""
    horizon: float = 2500.0
    """Time in which a wave passes a coarse element, so many times."""
    safeties: tuple[float, ...] = (0.5, 0.25, 0.1)
    """Parts of the stable steps."""
    methods: tuple[str, ...] = ("SPLIT_STRANG", "AVI", "AVI_SUZUKI4", "AVI_FREE")
    """Of the bar."""
    pixels: int = 160
    """Of the map, along each side."""

    def shortened(self) -> AsynchronousConfig:
        """The configuration that `--quick` runs."""
        return replace(self, coarse=10, fine=4, horizon=4.0, safeties=(0.25,), pixels=12)


@dataclass(frozen=True)
class Run:
    """The bar by one method."""

    method: str
    safety: float
    network: Network
    solution: Solution
    kicks: float
    """Of all elements per unit of time."""
    seconds: float
    """Of computing per unit of time."""

    @property
    def deviation(self) -> Array:
        energy = self.solution["energy"]
        return np.asarray(energy / energy[0] - 1.0)


@dataclass(frozen=True)
class Answer:
    """The bar by all methods, and the map: growth per unit of time by h₂/h₁ (rows) and ω̂ h₂ (columns)."""

    runs: list[Run]
    ratios: Array
    phases: Array
    growth: Array = field(repr=False)


def bar(config: AsynchronousConfig) -> tuple[Network, Array]:
    """The bar, with density and stiffness 1, and velocities of random directions."""
    half = config.coarse // 2
    lengths = np.concatenate([np.ones(half), np.full(config.fine, 1.0 / config.ratio), np.ones(config.coarse - half)])
    x = np.concatenate([[0.0], np.cumsum(lengths)])
    points = np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=1)
    springs = Springs(np.stack([np.arange(len(lengths)), np.arange(1, len(x))], axis=1), 1.0 / lengths)
    masses = springs.lumped_masses(points, 1.0)
    velocities = 0.02 * np.random.default_rng(0).normal(size=points.shape)
    return Network(points, masses, [springs], gravity=(0.0, 0.0, 0.0), name="bar"), velocities


def bar_run(network: Network, velocities: Array, name: str, safety: float, config: AsynchronousConfig) -> Run:
    """One run, timed after a step that compiles."""
    problem, report = network.problem(velocities=velocities), network.steps(safety)
    count, method = sum(report.elements_per_level), METHODS[name]
    step, kicks = report.step, sum(n * 2**k for k, n in enumerate(report.elements_per_level)) / report.step
    if name == "SPLIT_STRANG":
        step, kicks = report.verlet_step, count / report.verlet_step
    elif name == "AVI_FREE":
        kicks = float(np.sum([w.sum() for w in network.frequencies()])) / (2.0 * safety)
    elif len(method.coefficients) > 1:
        longest = float(np.abs(method.coefficients).max())
        step, kicks = step / longest, kicks * longest * len(method.coefficients)
    integrate(problem, name, (0.0, step), step)
    steps = int(np.ceil(config.horizon / step))
    started = time.perf_counter()
    solution = integrate(
        problem, name, (0.0, steps * step), step, save_every=max(1, steps // SAVED), progress=config.progress
    )
    return Run(name, safety, network, solution, kicks, (time.perf_counter() - started) / (steps * step))


def two_springs() -> Problem:
    """A mass of 1 between a spring of stiffness 1 and one `SOFTER` times softer, both linear."""
    springs = [Springs([[0, 2]], 1.0, 0.0), Springs([[1, 2]], 1.0 / SOFTER, 0.0)]
    return Network(np.zeros((3, 3)), 1.0, springs, fixed=[0, 1], gravity=(0.0, 0.0, 0.0)).problem()


def growth(problem: Problem, h1: float, h2: float, soft_steps: int = SYNCHRONISED) -> float:
    """Growth per unit of time of the motion with the steps h₁ and h₂, both synchronised after so many soft steps."""
    span = soft_steps * h2
    parameters = np.array(problem.parameters)
    parameters[problem.structure[RATIOS_AT] :] = [h1 / span, h2 / span]
    step = step_map(replace(problem, parameters=parameters), METHODS["AVI_FREE"])
    trace = 0.0
    for i in (6, 15):
        y = np.zeros(18)
        y[i] = 1.0
        trace += float(step(y, span)[i])
    return float(np.arccosh(max(0.5 * abs(trace), 1.0)) / span)


def resonances(pixels: int) -> tuple[Array, Array, Array]:
    """The map by h₂/h₁ and ω̂ h₂, of soft steps up to twice half a period."""
    problem, omega = two_springs(), np.sqrt(1.0 + 1.0 / SOFTER)
    ratios, phases = np.linspace(1.0, 6.0, pixels), np.linspace(0.02 * np.pi, 1.9 * np.pi, pixels)
    found = [[_at(problem, omega, ratio, phase) for phase in phases] for ratio in ratios]
    return ratios, phases, np.array(found)


def _at(problem: Problem, omega: float, ratio: float, phase: float) -> float:
    """Growth at one place; NaN where the stiff step itself is not stable.  ω̂: cos ω̂h₁ = 1 − (ω h₁)²/2."""
    h1 = 2.0 / omega * np.sin(0.5 * phase / ratio)
    return growth(problem, h1, ratio * h1) if phase / ratio < np.pi else np.nan


def run(config: AsynchronousConfig) -> Answer:
    """The bar by all methods, and the map."""
    config = config.as_asked()
    network, velocities = bar(config)
    runs = [bar_run(network, velocities, name, s, config) for name in config.methods for s in config.safeties]
    return Answer(runs, *resonances(config.pixels))


def records(answer: Answer) -> Sequence[Record]:
    """One flat record per run; one of the map."""
    rows: list[Record] = []
    for r in answer.runs:
        s, half = r.solution, len(r.solution.t) // 2
        names = [f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz"]
        rows.append(
            {
                "system": "bar",
                "method": r.method,
                "safety": r.safety,
                "step": s.step,
                "horizon": float(s.t[-1]),
                "elements": len(r.network.elements[0]),
                "kicks_per_time": r.kicks,
                "updates": r.kicks * float(s.t[-1]),
                "energy_band": float(s.error("energy")),
                "later_band": float(np.abs(r.deviation[half:]).max()),
                "momentum_error": max(float(s.error(name, relative=False)) for name in names),
                "microseconds_per_time": 1e6 * r.seconds,
                "status": s.status.name,
            }
        )
    seen = answer.growth[np.isfinite(answer.growth)]
    below = answer.growth[:, answer.phases < 0.8 * np.pi]
    rows.append(
        {
            "system": "map",
            "method": "AVI_FREE",
            "largest_growth": float(seen.max()),
            "largest_growth_below_half_period": float(np.nanmax(below)),
            "unstable_part": float((seen > 1e-6).mean()),
        }
    )
    return rows


def data(answer: Answer) -> Dataset:
    """Energies of the bar and the map."""
    width = max(len(r.deviation) for r in answer.runs)

    def table(values: list[Any]) -> Array:
        return np.array([np.concatenate([v, np.full(width - len(v), np.nan)]) for v in values])

    names = np.array([f"{r.method}, safety {r.safety:g}" for r in answer.runs])
    return Dataset(
        {
            "run": Variable(("run",), names, description="method, part of the stable step"),
            "time": Variable(("run", "sample"), table([r.solution.t for r in answer.runs]), "1", "wave passages"),
            "deviation": Variable(("run", "sample"), table([r.deviation for r in answer.runs]), "1", "E/E0 - 1"),
            "ratio": Variable(("ratio",), answer.ratios, "1", "soft step over stiff step"),
            "phase": Variable(("phase",), answer.phases, "rad", "frequency times soft step"),
            "growth": Variable(("ratio", "phase"), answer.growth, "1", "growth per unit of time"),
        }
    )
