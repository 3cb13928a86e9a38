"""The question: what keeps loops closed, and what does it cost in energy, accuracy and time?

Every run starts from the same closed state.  Gaps, closing velocities and energies are the extremes over every step,
taken inside the compiled loop; the cost is the time of the processor, without compilation.  All formulations are
compiled kernels of the same style and close their inner iterations to rounding.  Stabilised formulations are scanned
over gains on the time scale of the motion; the gain 1/h of textbooks is run beside them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import INSTALL, PeerSolution, describes, missing
from integrators import Solution, integrate
from integrators.results.storage import Dataset, Variable
from integrators.statistics.drift import LEAST_SAMPLES, energy_drift
from liegroup.display import bar
from mechanics.mechanism import Mechanism
from studies.constraint_drift.formulations import Formulation, formulations
from studies.constraint_drift.systems import SYSTEMS, System, double_four_bar
from studies.study import Record, StudyConfig, known

Array = NDArray[np.float64]
QUESTION = "What keeps closed loops closed, and what does it cost in energy, accuracy and time?"
SAVED = 1000
"""States kept per run, at most."""
SIGNIFICANT = 3.0
PASSED = 0.1
"""rad: a larger error at the end of the experiment with imperfect lengths means another branch."""
IMPERFECT_HORIZON, IMPERFECT_STEP = 10.0, 5e-3


@dataclass(frozen=True)
class ConstraintDriftConfig(StudyConfig):
    """Keep loops closed by every classical and geometric way, and measure gap, energy, error and cost."""

    systems: tuple[str, ...] = (
        "four-bar", "slider-crank", "double-four-bar", "10-four-bar", "peaucellier", "bricard", "rssr", "squeezer",
        "cassie",
    )  # fmt: skip
    """Mechanisms; the first is the one of the main figure."""
    families: tuple[str, ...] = ()
    """Only these ways of closing (names as in the legend); default all."""
    steps: tuple[float, ...] = (1e-2, 5e-3, 2.5e-3)
    """Step sizes, s."""
    horizon: float = 100.0
    """Simulated time, s."""
    gains: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    """Frequencies of the stabilised formulations, in units of the fastest rate of the motion."""
    peers: bool = True
    """Pinocchio and MuJoCo as well, where they are installed and have the mechanism."""
    imperfections: tuple[float, ...] = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
    """Errors of the lengths of the double four-bar, m; empty to leave the experiment out."""

    def shortened(self) -> ConstraintDriftConfig:
        """The configuration that `--quick` runs."""
        return replace(
            self,
            systems=self.systems[:1],
            families=self.families or ("Lagrange I", "Baumgarte", "projection", "Hamiltonian", "Hamiltonian closed"),
            steps=self.steps[:1],
            horizon=min(self.horizon, 10.0),
            gains=self.gains[1:2] + self.gains[4:],
            imperfections=self.imperfections[:1],
        )


@dataclass(frozen=True)
class Run:
    """One formulation with one step on one mechanism."""

    system: str
    imperfection: float
    formulation: Formulation
    step: float
    horizon: float
    solution: Solution | PeerSolution
    seconds: float
    """Time of the processor."""
    angle_error: float | None
    work: Array | None = None
    """Of motors, at the saved states, J."""

    @property
    def gap(self) -> Array:
        """Greatest |φ| since the previous saved state."""
        return np.asarray(self.solution.greatest[:, 1])

    @property
    def energy_error(self) -> Array:
        """Greatest |E − E₀| since the previous saved state, J; with motors |E − W − E₀ + W₀| at the saved state."""
        if self.work is not None:
            rest = self.solution.invariants[:, 0] - self.work
            return np.asarray(np.abs(rest - rest[0]))
        start = self.solution.invariants[0, 0]
        return np.asarray(
            np.maximum(np.abs(self.solution.greatest[:, 0] - start), np.abs(self.solution.least[:, 0] - start))
        )

    @property
    def band(self) -> float:
        return float(np.nanmax(self.energy_error)) if np.isfinite(self.energy_error).any() else float("inf")

    @property
    def arrived(self) -> bool:
        return self.solution.finished and bool(np.isfinite(self.solution.y[-1]).all())

    @property
    def angle_error_or_more(self) -> float:
        """The error of the angle; infinite for runs that did not arrive."""
        return self.angle_error if self.arrived and self.angle_error is not None else float("inf")

    @property
    def cost(self) -> float:
        """Computing time per simulated second."""
        return self.seconds / max(float(self.solution.t[-1]), self.step)


@dataclass(frozen=True)
class Result:
    config: ConstraintDriftConfig
    runs: tuple[Run, ...]
    imperfect: tuple[Run, ...]


def run(config: ConstraintDriftConfig) -> Result:
    """All systems, formulations and steps; then the double four-bar with imperfect lengths."""
    config = config.as_asked()
    known("systems", config.systems, SYSTEMS)
    runs = [
        case for name in config.systems for case in _system(config, SYSTEMS[name], 0.0, config.steps, config.horizon)
    ]
    if not runs:
        raise ValueError(f"--families: {', '.join(config.families)}, none of which is there; the page names them")
    imperfect: list[Run] = []
    for eps in config.imperfections:
        system = double_four_bar((1.0 + eps, 1.0 - eps))
        imperfect += _system(config, system, eps, (IMPERFECT_STEP,), IMPERFECT_HORIZON)
    return Result(config, tuple(runs), tuple(imperfect))


def _system(
    config: ConstraintDriftConfig, system: System, eps: float, steps: Sequence[float], horizon: float
) -> list[Run]:
    made = system.mechanism()
    steps, horizon = [h * system.pace for h in steps], horizon * system.span
    peers = config.peers and not eps and describes(made)
    cases = [(h, f) for h in steps for f in formulations(system.rate, h, config.gains, system.in_bodies, peers)]
    cases = [(h, f) for h, f in cases if not config.families or f.family in config.families]
    label = f"{system.name}{f' ±{eps:g}' if eps else ''}"
    return [_run(system, made, eps, f, h, horizon) for h, f in bar(cases, label, shown=config.progress)]


def _run(system: System, made: Mechanism, eps: float, f: Formulation, h: float, horizon: float) -> Run:
    problem = f.pose(made, **system.start())
    every = max(1, round(horizon / h) // SAVED)
    if f.peer is not None:
        solution = f.peer(made, problem, (0.0, horizon), h, every)
        seconds = solution.seconds
    else:
        integrate(problem, f.method, (0.0, h), step=h)  # compiles
        began = time.process_time()
        solution = integrate(problem, f.method, (0.0, horizon), step=h, save_every=every)
        seconds = time.process_time() - began
    angle = None
    if system.turned is not None and np.isfinite(solution.y[-1]).all():
        k = 0 if f.coordinates == "tree" else 2
        angle = float(abs(solution.y[-1, k] - solution.y[0, k] - system.turned(solution.t[-1])))
    work = None if system.work is None else system.work(solution.y[:, : made.tree.nq])
    return Run(system.name, eps, f, h, horizon, solution, seconds, angle, work)


def best(runs: Sequence[Run], family: str, key: str = "band") -> Run | None:
    """The run of a family that arrived with the smallest `key`, else one that did not."""
    found = [r for r in runs if r.formulation.family == family]
    arrived = [r for r in found if r.arrived]
    return min(arrived or found, key=lambda r: getattr(r, key), default=None)


def records(result: Result) -> Sequence[Record]:
    """One flat record per run."""
    return [_record(r) for r in (*result.runs, *result.imperfect)]


def _record(r: Run) -> Record:
    s, finite = r.solution, np.isfinite(r.solution.mean_since[:, 0])
    slope, sigma = None, None
    if r.arrived and r.work is None and finite.sum() >= 2 * LEAST_SAMPLES:
        drift = energy_drift(s.t[finite][1:], s.mean_since[finite][1:, 0])
        slope, sigma = drift.slope, drift.sigma
    return {
        "system": r.system,
        "imperfection": r.imperfection,
        "formulation": r.formulation.name,
        "coordinates": r.formulation.coordinates,
        "method": r.formulation.method,
        "step": r.step,
        "horizon": r.horizon,
        "status": s.status.name,  # type: ignore[union-attr]
        "reached": float(s.t[-1]),
        "message": s.message,
        "gap": float(np.nanmax(r.gap)),
        "velocity_gap": float(np.nanmax(s.greatest[:, 2])),
        "energy_initial": float(s.invariants[0, 0]),
        "energy_band": r.band,
        "energy_slope": slope,
        "energy_slope_sigma": sigma,
        "angle_error": r.angle_error,
        "microseconds_per_step": 1e6 * r.seconds / max(s.steps, 1),
        "microseconds_per_unit_time": 1e6 * r.cost,
        "evaluations": s.evaluations,
        "iterations": s.iterations,
    }


def remarks(result: Result) -> Sequence[str]:
    """Who keeps what, by mechanism at the largest step; and who survives imperfect lengths."""
    said = [
        f"{peer} is not installed ({INSTALL[peer]}): its rows are left out" for peer in missing() if result.config.peers
    ]
    for name in result.config.systems:
        runs = [r for r in result.runs if r.system == name]
        largest = max(r.step for r in runs)
        runs = [r for r in runs if r.step == largest]
        closed = [r for r in runs if r.arrived and np.nanmax(r.gap) < 1e-12]
        lost = [r.formulation.name for r in runs if not r.arrived or np.nanmax(r.gap) > 1e-2]
        said.append(
            f"{name}, h = {largest:g} s: closed below 1e-12: {', '.join(r.formulation.name for r in closed) or 'none'}"
        )
        if lost:
            said.append(f"{name}: open by more than 1 cm or stopped: {', '.join(lost)}")
        by_energy = sorted((r for r in runs if r.arrived), key=lambda r: r.band)[:3]
        said.append(
            f"{name}: least energy error: " + ", ".join(f"{r.formulation.name} {r.band:.2g} J" for r in by_energy)
        )
    for eps in result.config.imperfections:
        runs = [r for r in result.imperfect if r.imperfection == eps]
        passed = [r.formulation.name for r in runs if r.angle_error_or_more < PASSED]
        said.append(f"lengths off by {eps:g} m: through the singular positions with {', '.join(passed) or 'none'}")
    return said


def data(result: Result) -> Dataset:
    """Gaps and energy errors of all runs; shorter runs are filled with NaN."""
    runs = (*result.runs, *result.imperfect)
    rows = max(len(r.solution.t) for r in runs)

    def table(values: Sequence[Array]) -> Array:
        return np.array([np.concatenate([v, np.full(rows - len(v), np.nan)]) for v in values])

    names = np.array(
        [
            f"{r.system}{f' ±{r.imperfection:g}' if r.imperfection else ''}, {r.formulation.name}, h = {r.step:g} s"
            for r in runs
        ]
    )
    dims = ("run", "sample")
    variables: dict[str, Any] = {
        "run": Variable(("run",), names, description="mechanism, formulation and step"),
        "time": Variable(dims, table([r.solution.t for r in runs]), "s", "time of the saved state"),
        "gap": Variable(dims, table([r.gap for r in runs]), "m", "greatest |φ| since the previous sample"),
        "energy_error": Variable(
            dims, table([r.energy_error for r in runs]), "J", "greatest |E − E0| since the previous sample"
        ),
    }
    return Dataset(variables, {"horizon": result.config.horizon})
