"""The question: do variable steps keep what fixed ones keep, and what do they save?

Each motion is integrated with as many steps in all, divided in different ways:

=================  =====================================================================================================
fixed              equal steps
integrating        the integrating controller (Hairer and Söderlind 2005): reversible; the desired step is Q(y)
logarithmic        the logarithmic Hamiltonian (Preto and Tremaine 1999): symplectic and reversible; for splittings
divided            a step of a tree whose joints turn too far is divided: depends on the state, not reversible
error              an ordinary controller of a Runge–Kutta pair, by tolerance
=================  =====================================================================================================

Kepler's problem with e = 0.9 starts in the pericentre, Q = r^{3/2}; energies in units of |E₀|, times in revolutions.
The chain whirls, Q = (1 + T/T₀)^{-1/2} with its kinetic energy T; energies in units of the largest kinetic energy T*,
times in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mechanics
from integrators import Solution, integrate
from integrators.controllers import IntegratingController, LogarithmicHamiltonian
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from integrators.signatures import FIELD_SIGNATURES
from integrators.statistics.drift import Drift, energy_drift
from integrators.status import OK
from integrators.steppers.tree_variational import tree_variational
from liegroup.compile import entry, kernel, ld, st
from liegroup.compile.scalars import sqrt
from mechanics.algorithms.era import era
from mechanics.systems.bodies.kepler import kepler
from studies.energy_drift.systems import start_of, tree_of
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "Do variable steps keep what fixed steps keep, and what do they save?"
PERIOD = 2 * np.pi
SIGNIFICANT = 3.0
ROUNDING = 1e-11
SAVED = 4000
motion = kernel(era.python)


@dataclass(frozen=True)
class VariableStepsConfig(StudyConfig):
    """Fixed steps, the integrating controller, the logarithmic Hamiltonian and ordinary controllers on two motions."""

    eccentricity: float = 0.9
    """Of the orbit."""
    revolutions: int = 300
    """How long the orbit is followed."""
    per_revolution: tuple[int, ...] = (250, 500, 1000, 2000)
    """Steps per revolution."""
    methods: tuple[str, ...] = ("SPLIT_STRANG_DKD", "SPLIT_SUZUKI4")
    """Symmetric splittings for the orbit."""
    tolerances: tuple[float, ...] = (1e-5, 1e-7, 1e-9)
    """Of the Runge–Kutta pair RKMK_TSITOURAS54."""
    chain: str = "chain-10"
    """The mechanism that whirls, as in energy-drift."""
    steps: tuple[float, ...] = (8e-3, 4e-3, 2e-3)
    """Mean steps of the chain, s."""
    fraction: float = 0.1
    """T₀/T* in the desired step of the chain."""
    horizon: float = 100.0
    """How long the chain is followed, s."""

    def shortened(self) -> VariableStepsConfig:
        """The configuration that `--quick` runs."""
        return replace(
            self, revolutions=20, per_revolution=self.per_revolution[:2], methods=self.methods[:1],
            tolerances=self.tolerances[1:2],
            chain="chain-3", steps=self.steps[:1], horizon=2.0,
        )  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One motion with one way of dividing time."""

    system: str
    method: str
    steering: str
    solution: Solution
    unit: float
    """Of time: a revolution or a second."""
    scale: float
    """Of energy."""
    gap: float | None
    """Error of the last state, where the truth is known."""

    @property
    def deviation(self) -> Array:
        energy = self.solution["energy"]
        return np.asarray((energy - energy[0]) / self.scale)

    @property
    def band(self) -> float:
        """Largest |E − E₀| over every step."""
        return float(self.solution.error("energy", relative=False) / self.scale)

    @property
    def mean_step(self) -> float:
        s = self.solution
        return float(
            (s.t[-1] - s.t[0])
            / (s.steps + s.attributes.get("substeps", 0) - s.attributes.get("divided", 0))
            / self.unit
        )

    @property
    def drift(self) -> Drift:
        return energy_drift(self.solution.t / self.unit, self.deviation)

    @property
    def drifts(self) -> bool:
        """A slope beyond 3 sigma that amounts to more than rounding over the run."""
        drift = self.drift
        return drift.significance > SIGNIFICANT and abs(drift.slope) * self.solution.t[-1] / self.unit > ROUNDING


# --- the orbit --------------------------------------------------------------------------------------------------------


@entry(*FIELD_SIGNATURES)
def orbit_step(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(Q, G): Q = r^{3/2}, G = −(3/2) q·p/r²."""
    x, y_ = ld(y, 0), ld(y, 1)
    r2 = x * x + y_ * y_
    st(out, 0, sqrt(sqrt(r2) * r2))
    st(out, 1, -1.5 * (x * ld(y, 2) + y_ * ld(y, 3)) / r2)


@entry(*FIELD_SIGNATURES)
def orbit_potential(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """V = −1/r."""
    x, y_ = ld(y, 0), ld(y, 1)
    st(out, 0, -1.0 / sqrt(x * x + y_ * y_))


def orbit_runs(config: VariableStepsConfig) -> list[Run]:
    """Every way of dividing a revolution into as many steps."""
    problem = kepler(config.eccentricity)
    span, runs = (0.0, config.revolutions * PERIOD), []
    anomaly = np.linspace(0, PERIOD, 20001)[:-1]  # ∮ dt/Q by the trapezoidal rule, dt = (1 − e cos E) dE
    whole = PERIOD * float(np.mean((1 - config.eccentricity * np.cos(anomaly)) ** -0.5))

    def add(method: str, steering: str, solution: Solution) -> None:
        assert problem.exact is not None
        gap = float(np.abs(solution.y[-1, :2] - problem.exact(solution.t[-1])[:2]).max())
        runs.append(Run("Kepler", method, steering, solution, PERIOD, 0.5, gap))

    for n in config.per_revolution:
        every = 1 if n == min(config.per_revolution) else config.revolutions * n // SAVED
        for method in config.methods:
            add(method, "fixed", integrate(problem, method, span, PERIOD / n, save_every=every))
            for steering, epsilon, controller in (
                ("integrating", whole / n, IntegratingController(orbit_step)),
                ("logarithmic", PERIOD / n, LogarithmicHamiltonian(orbit_potential)),
            ):
                add(
                    method, steering, integrate(problem, method, span, epsilon, controller=controller, save_every=every)
                )
    for tolerance in config.tolerances:
        found = integrate(problem, "RKMK_TSITOURAS54", span, rtol=tolerance, atol=tolerance, save_every=100)
        add("RKMK_TSITOURAS54", "error", found)
    return runs


# --- the chain --------------------------------------------------------------------------------------------------------


@entry(*FIELD_SIGNATURES)
def chain_step(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(Q, G) of a tree of hinges: Q = (1 + T/T₀)^{-1/2}, G = Ṫ/(2 (T₀ + T)), Ṫ = f·v with the forces f of gravity,
    which is ṗ at p = 0.

    T₀ is the last parameter; the last three rows of the workspace are scratch.
    """
    n, last = y.shape[0] // 2, work.shape[0] - 1
    rates, still, forces = work[last][: 2 * n], work[last - 1][: 2 * n], work[last - 2][: 2 * n]
    for i in range(n):
        st(still, i, ld(y, i))
        st(still, n + i, 0.0)
    motion(t, y, parameters, structure, work, rates)
    motion(t, still, parameters, structure, work, forces)
    energy, power = 0.0 * ld(y, 0), 0.0 * ld(y, 0)
    for i in range(n):
        energy = energy + 0.5 * ld(y, n + i) * ld(rates, i)
        power = power + ld(forces, n + i) * ld(rates, i)
    st(out, 0, 1.0 / sqrt(1.0 + energy / parameters[parameters.shape[0] - 1]))
    st(out, 1, 0.5 * power / (parameters[parameters.shape[0] - 1] + energy))


def chain_runs(config: VariableStepsConfig) -> list[Run]:
    """The chain by the variational step with equal, reversible and divided steps of the same mean."""
    tree = tree_of(config.chain)
    problem = mechanics.hamiltonian_problem(tree, *start_of(tree, config.chain, 0.5, 1))
    span, runs, method = (0.0, config.horizon), [], tree_variational()
    fixed = [(h, _chain(problem, method, span, h, round(config.horizon / h))) for h in config.steps]
    finest = min(fixed, key=lambda run: run[0])[1]
    velocities = mechanics.hamiltonian_rhs(tree, finest.y[:, : tree.nq], finest.y[:, tree.nq :])[0]
    kinetic = 0.5 * np.sum(velocities * finest.y[:, tree.nq :], axis=1)
    scale, rows = float(kinetic.max()), problem.work_shape
    stretch = float(np.mean(np.sqrt(1 + kinetic / (config.fraction * scale))))  # mean of 1/Q
    steered_problem = replace(
        problem, parameters=np.append(problem.parameters, config.fraction * scale),
        work_shape=(rows[0] + 3, max(rows[1], 2 * tree.nv)),
    )  # fmt: skip
    for h, equal in fixed:
        count = round(config.horizon / h)
        steered = _chain(
            steered_problem, method, span, h * stretch, count, controller=IntegratingController(chain_step)
        )
        divided = _chain(problem, tree_variational(turn=DIVIDED_TURN * h), span, 2 * h, count)
        for steering, solution in (("fixed", equal), ("integrating", steered), ("divided", divided)):
            runs.append(Run(tree.name, "TREE_VARIATIONAL", steering, solution, 1.0, scale, None))
    return runs


DIVIDED_TURN = 60.0
"""Largest turn of a joint in a divided step over its mean step, rad/s: about every second step of the chain is divided.
"""


def _chain(
    problem: Problem, method: Any, span: tuple[float, float], step: float, count: int, **options: Any
) -> Solution:
    return integrate(problem, method, span, step, save_every=max(1, count // SAVED), progress=False, **options)


# --- the answer -------------------------------------------------------------------------------------------------------


def run(config: VariableStepsConfig) -> list[Run]:
    """All runs of both motions."""
    config = config.as_asked()
    return [*orbit_runs(config), *chain_runs(config)]


def records(runs: Sequence[Run]) -> Sequence[Record]:
    """One flat record per run."""
    rows: list[Record] = []
    for r in runs:
        steps = np.diff(r.solution.t)[:-1]
        rows.append(
            {
                "system": r.system, "method": r.method, "steering": r.steering, "mean_step": r.mean_step,
                "steps_ratio": float(steps.max() / steps.min()) if len(steps) > r.solution.steps - 3 else None,
                "steps": r.solution.steps,
                "substeps": r.solution.attributes.get("substeps", 0), "horizon": float(r.solution.t[-1] / r.unit),
                "energy_band": r.band, "energy_slope": r.drift.slope, "energy_slope_sigma": r.drift.sigma,
                "drifts": r.drifts, "gap": r.gap,
                "microseconds_per_step": 1e6 * r.solution.seconds / max(r.solution.steps, 1),
                "status": "OK" if r.solution.status == OK else r.solution.status.name,  # type: ignore[union-attr]
            }
        )  # fmt: skip
    return rows


def remarks(runs: Sequence[Run]) -> Sequence[str]:
    """What each way of dividing time gains over equal steps, at the largest number of steps."""
    said = []
    for system, method in dict.fromkeys((r.system, r.method) for r in runs if r.steering == "fixed"):
        own = [r for r in runs if (r.system, r.method) == (system, method)]
        equal = min((r for r in own if r.steering == "fixed"), key=lambda r: r.mean_step)
        for steering in dict.fromkeys(r.steering for r in own if r.steering != "fixed"):
            other = min((r for r in own if r.steering == steering), key=lambda r: r.mean_step)
            drifts = "drifts" if any(r.drifts for r in own if r.steering == steering) else "no slope beyond 3 sigma"
            said.append(
                f"{system}, {method}, {steering}: energy error {other.band / equal.band:.2g} of that of equal steps; "
                f"{drifts}"
            )
    return said


def data(runs: Sequence[Run]) -> Dataset:
    """Energy deviations of all runs; shorter ones are filled with NaN."""
    width = max(len(r.deviation) for r in runs)

    def table(values: list[Array]) -> Array:
        return np.array([np.concatenate([v, np.full(width - len(v), np.nan)]) for v in values])

    names = np.array([f"{r.system}, {r.method}, {r.steering}, mean step {r.mean_step:.4g}" for r in runs])
    return Dataset(
        {
            "run": Variable(("run",), names, description="motion, method, steps"),
            "time": Variable(
                ("run", "sample"), table([r.solution.t / r.unit for r in runs]), "1", "revolutions or seconds"
            ),
            "deviation": Variable(
                ("run", "sample"), table([r.deviation for r in runs]), "1", "(E - E0) in the unit of the motion"
            ),
            "band": Variable(("run",), np.array([r.band for r in runs]), "1", "largest deviation over every step"),
        }
    )
