"""The question: does the energy of a freely swinging mechanism stay bounded, or does it drift?

Every run starts from the same state; viscous damping of the model is left out.  Deviations of the energy are given in
units of T*, the largest kinetic energy met by the first method with its smallest step: the level of the potential
energy is arbitrary, so a division by the energy itself would say little.  The band comes from every step (least and
greatest value inside the compiled loop, for fixed steps), the slope from a straight line through the saved energies
with an uncertainty that counts their correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray

import mechanics
from benchmarks.mujoco_trees import INTEGRATORS, simulate
from integrators import Solution, integrate
from integrators.arguments import equal_steps
from integrators.method import Method, Reference
from integrators.methods import find
from integrators.results.storage import Dataset, Variable
from integrators.statistics.drift import LEAST_SAMPLES, Drift, energy_drift
from studies.energy_drift import pinocchio_euler
from studies.energy_drift.systems import start_of, tree_and_held
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "Does the energy of a freely swinging mechanism stay bounded, or does it drift?"
SAVED = 4000
"""Energies kept per run, at most."""
SIGNIFICANT = 3.0
"""A slope counts as a drift when it exceeds so many standard deviations."""

ROUNDING = 1e-12
"""Changes of the energy below this are rounding."""


@dataclass(frozen=True)
class EnergyDriftConfig(StudyConfig):
    """Integrate a mechanism without friction by several methods and steps, and measure what its energy does."""

    model: Annotated[str, tyro.conf.arg(aliases=("--robot",))] = "panda"
    """Name of a built-in model (mechanics.model_names()), path of a model file, or chain-N, ball-chain-N,
    floating-chain-N, heavy-top.
    """
    methods: tuple[str, ...] = ("GAUSS8", "TREE_VARIATIONAL", "MIDPOINT", "RKMK4", "SCIPY_DOP853")
    """Names from the catalogue integrators.METHODS, or MUJOCO_RK4, MUJOCO_IMPLICITFAST, MUJOCO_EULER, PINOCCHIO_EULER
    (extra packages).
    """
    steps: tuple[float, ...] = (4e-3, 2e-3, 1e-3)
    """Step sizes of the fixed-step methods, s; `GRID` times larger for those that divide their steps, and smaller where
    they do not divide the horizon.
    """
    tolerances: tuple[float, ...] = (1e-6, 1e-9)
    """Relative tolerances of methods that choose their steps."""
    lock_slides: bool = True
    """Hold joints that slide within limits (grippers): limits do not act on the motion, and light fingers would fly
    off.
    """
    hang: bool = True
    """Hold the floating base of robots that have one."""
    horizon: float = 100.0
    """Simulated time, s."""
    speed: float = 0.5
    """Standard deviation of the random initial joint velocities, rad/s or m/s."""
    seed: int = 1
    """Seed of the initial state."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.methods:
            raise ValueError("--methods: nothing given, expected one at least")
        if self.steps and max(self.steps) > self.horizon:
            raise ValueError(f"--steps: {max(self.steps):g} s, expected no more than --horizon, {self.horizon:g} s")

    def shortened(self) -> EnergyDriftConfig:
        """The configuration that `--quick` runs."""
        from dataclasses import replace

        return replace(self, horizon=min(self.horizon, 10.0), steps=self.steps[:2], tolerances=self.tolerances[:1])


GRID = 10
"""Steps of methods that divide them are so many times larger than those of others."""


@dataclass(frozen=True)
class Run:
    """One method with one step or tolerance."""

    method: str
    step: float | None
    tolerance: float | None
    solution: Solution
    deviation: Array
    """(E − E₀)/T* at the saved times."""
    lower: Array
    upper: Array
    """Least and greatest deviation over every step since the previous saved time."""
    drift: Drift

    @property
    def label(self) -> str:
        size = f"h = {self.step:g} s" if self.step else f"rtol = {self.tolerance:g}"
        return f"{self.method}, {size}"

    @property
    def band(self) -> float:
        """Largest |E − E₀|/T* over every step."""
        return float(max(np.nanmax(self.upper), -np.nanmin(self.lower)))

    @property
    def momentum_error(self) -> float | None:
        """Largest change of the other invariants, total momenta of a free system, over every step; None if there are
        none.
        """
        s = self.solution
        if len(s.invariant_names) < 2:
            return None
        start = s.invariants[0, 1:]
        return float(max(np.nanmax(s.greatest[:, 1:] - start), -np.nanmin(s.least[:, 1:] - start)))

    @property
    def drifts(self) -> bool:
        """A slope beyond three sigma that amounts to more than rounding over the run."""
        amount = abs(self.drift.slope) * float(self.solution.t[-1])
        return amount > ROUNDING and abs(self.drift.slope) > SIGNIFICANT * self.drift.sigma


@dataclass(frozen=True)
class Result:
    """All runs of one mechanism."""

    config: EnergyDriftConfig
    tree: mechanics.Tree
    energy: float
    """E₀, J."""
    scale: float
    """T*, J."""
    runs: tuple[Run, ...]
    held: tuple[str, ...] = ()
    """Joints that would move and are held."""


def run(config: EnergyDriftConfig) -> Result:
    """Integrate the mechanism with every method and step of the configuration."""
    config = config.as_asked()
    tree, held = tree_and_held(config.model, config.lock_slides, config.hang)
    problem = mechanics.hamiltonian_problem(tree, *start_of(tree, config.model, config.speed, config.seed))
    energy = float(problem.invariant_values(0.0, problem.y0)[0])
    solutions = [(m, h, tol, _integrate(config, tree, problem, m, h, tol)) for m, h, tol in cases(config)]
    scale = _largest_kinetic_energy(tree, _finest(solutions))
    return Result(config, tree, energy, scale, tuple(_judge(*case, energy, scale) for case in solutions), held)


def cases(config: EnergyDriftConfig) -> list[tuple[str, float | None, float | None]]:
    """(method, step, tolerance), one per run; all programs take the steps that `integrate` would."""
    found: list[tuple[str, float | None, float | None]] = []
    for name in config.methods:
        if name not in INTEGRATORS and name != pinocchio_euler.NAME and isinstance(find(name), Reference):
            found += [(name, None, tolerance) for tolerance in config.tolerances]
        else:
            sizes = [step * (GRID if _divides(name) else 1) for step in config.steps]
            found += [(name, equal_steps((0.0, config.horizon), size).h, None) for size in sizes]
    return found


def _divides(name: str) -> bool:
    """Whether a method divides its steps by itself, so that they are no more than the grid of output."""
    if name in INTEGRATORS or name == pinocchio_euler.NAME:
        return False
    method = find(name)
    return isinstance(method, Method) and method.stepper.report is not None


def _integrate(
    config: EnergyDriftConfig,
    tree: mechanics.Tree,
    problem: Any,
    method: str,
    step: float | None,
    tolerance: float | None,
) -> Solution:
    if tolerance is not None:
        grid = config.horizon / SAVED
        return integrate(
            problem, method, (0.0, config.horizon), step=grid, rtol=tolerance, atol=1e-2 * tolerance, save_every=1
        )
    assert step is not None
    save_every = max(1, round(config.horizon / step / SAVED))
    if method in INTEGRATORS:
        return simulate(tree, problem, method, step, config.horizon, save_every)
    if method == pinocchio_euler.NAME:
        return pinocchio_euler.simulate(tree, problem, step, config.horizon, save_every)
    return integrate(
        problem, method, (0.0, config.horizon), step=step, save_every=save_every, progress=config.progress or None
    )


def _finest(solutions: Sequence[tuple[str, float | None, float | None, Solution]]) -> Solution:
    """Of the first method, the run with the smallest step or tolerance."""
    return min((run for run in solutions if run[0] == solutions[0][0]), key=lambda run: run[1] or run[2] or 0.0)[-1]


def _largest_kinetic_energy(tree: mechanics.Tree, solution: Solution) -> float:
    q, p = solution.y[:, : tree.nq], solution.y[:, tree.nq :]
    v, _ = mechanics.hamiltonian_rhs(tree, q, p)
    with np.errstate(all="ignore"):  # of runs that have failed
        return float(np.max(0.5 * np.sum(v * p, axis=-1)))


def _judge(
    method: str, step: float | None, tolerance: float | None, solution: Solution, energy: float, scale: float
) -> Run:
    deviation, lower, upper = (
        (x[:, 0] - energy) / scale for x in (solution.invariants, solution.least, solution.greatest)
    )
    # SciPy's saved states lie within its steps: they count as well
    lower, upper = np.fmin(lower, deviation), np.fmax(upper, deviation)
    return Run(method, step, tolerance, solution, deviation, lower, upper, _drift(solution.t, deviation))


def _drift(t: Array, deviation: Array) -> Drift:
    """The straight line, as far as the energy is a number; of a run that ended at once nothing can be said."""
    finite = np.isfinite(deviation)
    good = len(t) if finite.all() else int(np.argmin(finite))
    if good < LEAST_SAMPLES:
        return Drift(np.nan, np.nan, np.nan, np.nan, np.nan, t, deviation)
    return energy_drift(t[:good], deviation[:good])


def records(result: Result) -> Sequence[Record]:
    """One flat record per run."""
    config = result.config
    return [
        {
            "system": result.tree.name,
            "method": r.method,
            "step": r.step,
            "tolerance": r.tolerance,
            "size": f"h = {r.step:g}" if r.step else f"rtol {r.tolerance:g}",
            "horizon": config.horizon,
            "status": r.solution.status.name,  # type: ignore[union-attr]
            "energy_initial": result.energy,
            "energy_scale": result.scale,
            "energy_band": r.band,
            "energy_slope": r.drift.slope,
            "energy_slope_sigma": r.drift.sigma,
            "drifts": r.drifts,
            "doubts": ", ".join(dict.fromkeys(doubt.name for doubt in r.solution.doubts)) or None,
            "momentum_error": r.momentum_error,
            "substeps": r.solution.attributes.get("substeps", 0),
            "steps": r.solution.steps,
            "microseconds_per_step": 1e6 * r.solution.seconds / max(r.solution.steps, 1),
            "microseconds_per_unit_time": 1e6 * r.solution.seconds / config.horizon,
            "evaluations": r.solution.evaluations,
        }
        for r in result.runs
    ]


def remarks(result: Result) -> Sequence[str]:
    """What the numbers say, one sentence per method."""
    config = result.config
    said = [
        f"{result.tree.name}: {result.tree.nv} degrees of freedom, {config.horizon:g} s, E₀ = {result.energy:.4g} J; "
        f"ΔE in units of the largest kinetic energy T* = {result.scale:.3g} J"
    ]
    if result.held:
        said.append(
            f"held: {', '.join(result.held)} (--no-lock-slides lets joints with limits slide, --no-hang bases float)"
        )
    for method in dict.fromkeys(r.method for r in result.runs):
        runs = [r for r in result.runs if r.method == method]
        drifting = [r for r in runs if r.drifts]
        failed = [r for r in runs if r.drift.slope != r.drift.slope]
        if failed:
            said.append(f"{method}: {len(failed)} of {len(runs)} runs say nothing ({failed[0].solution.message})")
        doubtful = [(r, doubt) for r in runs for doubt in r.solution.doubts]
        for name, (r, doubt) in {doubt.name: (r, doubt) for r, doubt in reversed(doubtful)}.items():
            count = len({id(r) for r, doubt in doubtful if doubt.name == name})
            said.append(f"{method}: {name} of {count} of {len(runs)} runs is doubtful ({r.label}: {doubt.says})")
        if not drifting and len(failed) < len(runs):
            said.append(f"{method}: no slope beyond {SIGNIFICANT:g} sigma in any run")
        elif drifting:
            worst = max(drifting, key=lambda r: abs(r.drift.slope))
            said.append(
                f"{method}: drifts in {len(drifting)} of {len(runs)} runs, fastest {worst.drift.slope:+.2g} per "
                f"second ({worst.label})"
            )
    if any(r.solution.doubts for r in result.runs):
        said.append(
            "no doubt is no promise: methods that are symplectic or symmetric are asked whether they follow the motion "
            "at its beginning alone, for their phases drift, and other simulators are not asked"
        )
    return said


def data(result: Result) -> Dataset:
    """Energy deviations of all runs; shorter runs (interrupted or failed) are filled with NaN."""
    rows = max(len(r.deviation) for r in result.runs)

    def table(values: Sequence[Array]) -> Array:
        return np.array([np.concatenate([v, np.full(rows - len(v), np.nan)]) for v in values])

    names = np.array([r.label for r in result.runs])
    return Dataset(
        {
            "run": Variable(("run",), names, description="method and step or tolerance"),
            "time": Variable(
                ("run", "sample"), table([r.solution.t for r in result.runs]), "s", "time of the saved state"
            ),
            "deviation": Variable(("run", "sample"), table([r.deviation for r in result.runs]), "1", "(E - E0)/T*"),
            "lower": Variable(
                ("run", "sample"),
                table([r.lower for r in result.runs]),
                "1",
                "least deviation since the previous sample",
            ),
            "upper": Variable(
                ("run", "sample"),
                table([r.upper for r in result.runs]),
                "1",
                "greatest deviation since the previous sample",
            ),
        },
        {
            "model": result.tree.name,
            "energy_initial": result.energy,
            "energy_scale": result.scale,
            "horizon": result.config.horizon,
        },
    )
