"""The question: which methods keep the energy of a nonholonomic system, and of which systems?

The systems are pairs (x, y) driven by a third coordinate through a constraint
(`mechanics.systems.rolling.driven_pair`).  The driver moves alone; driver and driven energy are separate integrals.
Reversals map the orbit of some drivers to itself, of others not. Verdicts, from every step of a run:

=========  ==========================================================================================================
exact      the largest error of the energy is rounding
bounded    the driven energy stays in a band, its slope is below three sigma or below the band
linear     a significant slope
grows      the driven energy grows by more than a fifth (exponentially: see the growth rates)
decays     the driven energy falls by more than a fifth
fails      the method gave up
=========  ==========================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators import Solution, integrate
from integrators.method import Method
from integrators.results.storage import Dataset, Variable
from integrators.statistics.drift import Drift, energy_drift
from integrators.status import Status
from mechanics.systems.rolling.driven_pair import MEMBERS, coordinate_problem, driven_pair, turned_back
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "Which methods keep the energy of a nonholonomic system, and of which systems?"
COLUMNS: dict[str, tuple[str, str | Method]] = {
    "DLA midpoint": ("constrained", "DLA"),
    "DLA trapezoid": ("constrained", "DLA_TRAPEZOID"),
    "DLA left": ("constrained", "DLA_LEFT"),
    "MP": ("constrained", "MP"),
    "GNI": ("constrained", "GNI"),
    "midpoint, u = y'": ("coordinate", "MIDPOINT"),
    "Gauss 4, u = y'": ("coordinate", "RKMK_GAUSS2"),
    "RK4, u = y'": ("coordinate", "RKMK4"),
    "midpoint, orthonormal": ("reduced", "MIDPOINT"),
    "energy-exact": ("reduced", "ENERGY_EXACT"),
}
"""What stands in the table: name → (form of the problem, method)."""
RATES: dict[str, tuple[str, str | Method]] = {
    **{
        name: COLUMNS[name]
        for name in ("DLA midpoint", "DLA trapezoid", "MP", "midpoint, u = y'", "Gauss 4, u = y'", "energy-exact")
    },
    "MP, order 4": ("constrained", "MP4"),
    "MP, order 6": ("constrained", "MP6"),
}
"""Methods whose growth rate is measured against the step."""
ROUNDING = 1e-8
LARGE = np.log(1.2)


@dataclass(frozen=True)
class TruthConfig(StudyConfig):
    """Integrate reversible and non-reversible nonholonomic problems with every method and say what their energies
    do.
    """

    problems: tuple[str, ...] = ("CO0", "CO3", "L0", "L3", "R0", "RV", "RVF", "K", "B0", "B3")
    """Members of the family; mechanics.systems.rolling.driven_pair describes them."""
    step: float = 0.1
    """Step of the table."""
    steps: int = 200_000
    """Number of steps of the table (1e6 takes some minutes)."""
    rate_problem: str = "RVF"
    """The problem whose growth rates are measured."""
    rate_steps: tuple[float, ...] = (0.2, 0.1, 0.05, 0.025)
    """Steps of the growth rates."""
    rate_horizon: float = 4000.0
    """Length of the runs for the growth rates."""

    def shortened(self) -> TruthConfig:
        """What ``--quick`` runs."""
        return replace(self, problems=("L0", "RVF"), steps=4000, rate_steps=(0.2, 0.1), rate_horizon=400.0)


@dataclass(frozen=True)
class Run:
    """One method on one problem."""

    problem: str
    label: str
    step: float
    solution: Solution
    drift: Drift | None
    """Of the logarithm of the driven energy; None where that is not positive or the run failed."""
    parasitic: float | None

    @property
    def error(self) -> float:
        return float(self.solution.error("energy", relative=False))

    @property
    def verdict(self) -> str:
        if not self.solution.finished:
            return "grows" if self.solution.status is Status.NON_FINITE else "fails"
        if self.error < ROUNDING:
            return "exact"
        change = _change(self.solution)
        if abs(change) > LARGE:
            return "grows" if change > 0 else "decays"
        total = energy_drift(self.solution.t[1:], self.solution.mean_since[1:, 0])
        travelled = abs(total.slope) * float(self.solution.t[-1])
        return "linear" if total.significance > 3 and travelled > 0.2 * self.error else "bounded"


@dataclass(frozen=True)
class Result:
    """The table and the growth rates."""

    config: TruthConfig
    table: tuple[Run, ...]
    rates: tuple[Run, ...]


def run(config: TruthConfig) -> Result:
    """Integrate every problem with every method, and one problem with every step."""
    config = config.as_asked()
    horizon = config.step * config.steps
    table = [_run(config, name, label, COLUMNS, config.step, horizon) for name in config.problems for label in COLUMNS]
    rates = [
        _run(config, config.rate_problem, label, RATES, h, config.rate_horizon)
        for label in RATES
        for h in config.rate_steps
    ]
    return Result(config, tuple(table), tuple(rates))


def _run(
    config: TruthConfig,
    name: str,
    label: str,
    methods: dict[str, tuple[str, str | Method]],
    step: float,
    horizon: float,
) -> Run:
    form, method = methods[label]
    system = driven_pair(name)
    if form == "constrained":
        problem = system.constrained_problem()
    elif form == "coordinate" and not MEMBERS[name].knife:
        problem = coordinate_problem(name)
    else:  # the frame of a knife edge is orthonormal
        problem = system.problem()
    if MEMBERS[name].rotating and form != "constrained":  # methods with a memory of the last node keep their angle
        problem = replace(problem, projection=turned_back)
    save = 1 if method == "GNI" else max(1, round(horizon / step / 2000))
    solution = integrate(problem, method, (0.0, horizon), step=step, save_every=save, progress=config.progress or None)
    driven = solution.mean_since[1:, 2]
    measurable = solution.finished and len(driven) >= 100 and (driven > 0).all()
    drift = energy_drift(solution.t[1:], np.log(driven)) if measurable else None
    return Run(name, label, step, solution, drift, _parasitic(system, solution) if method == "GNI" else None)


def _change(solution: Solution) -> float:
    """ln of the mean driven energy at the end over that at the start (a twentieth of the run each); 0 where it may be
    negative.
    """
    driven = solution.mean_since[1:, 2]
    part = max(1, len(driven) // 20)
    first, last = driven[:part].mean(), driven[-part:].mean()
    if (driven < 0).any():
        return 0.0
    start = float(solution.invariants[0, 2])
    return float(np.log(max(last, np.finfo(float).tiny) / (first if first > 0.1 * start else start)))


def _parasitic(system: Any, solution: Solution) -> float:
    """Largest |A(q_k)(q_{k+1} − q_k)/h| of the last tenth of a run saved at every step."""
    q = solution.y[-max(2, len(solution.y) // 10) :, :3]
    velocity = np.diff(q, axis=0) / solution.step
    chosen = range(0, len(velocity), max(1, len(velocity) // 400))
    return float(max(np.abs(system.parts(q[k], velocity[k]).rows @ velocity[k]).max() for k in chosen))


def records(result: Result) -> Sequence[Record]:
    """One flat record per run; the growth rates come after the table."""
    return [_record(r, "table") for r in result.table] + [_record(r, "growth rates") for r in result.rates]


def _record(r: Run, part: str) -> Record:
    return {
        "part": part,
        "system": r.problem,
        "reversible": MEMBERS[r.problem].symmetric_driver,
        "method": r.label,
        "step": r.step,
        "horizon": float(r.solution.t[-1]),
        "status": r.solution.status.name,  # type: ignore[union-attr]
        "verdict": r.verdict,
        "energy_error": r.error,
        "driver_energy_error": float(r.solution.error("driver_energy", relative=False)),
        "growth_rate": r.drift.slope if r.drift else None,
        "growth_rate_sigma": r.drift.sigma if r.drift else None,
        "parasitic_velocity": r.parasitic,
        "steps": r.solution.steps,
        "microseconds_per_step": 1e6 * r.solution.seconds / max(r.solution.steps, 1),
    }


def rate_slopes(result: Result) -> dict[str, tuple[float, ...]]:
    """log₂ of the ratio of growth rates of neighbouring steps, by method."""
    found = {}
    for label in RATES:
        runs = sorted((r for r in result.rates if r.label == label and r.drift), key=lambda r: -r.step)
        rates = [abs(r.drift.slope) for r in runs if r.drift and r.drift.significance > 5]
        steps = [r.step for r in runs if r.drift and r.drift.significance > 5]
        found[label] = tuple(
            float(np.log(a / b) / np.log(s / t)) for a, b, s, t in zip(rates, rates[1:], steps, steps[1:], strict=False)
        )
    return found


def remarks(result: Result) -> Sequence[str]:
    """What the numbers say."""

    def names(condition: Any) -> str:
        return (
            ", ".join(label for label in COLUMNS if all(condition(r) for r in result.table if r.label == label))
            or "none"
        )

    reversible = lambda r: not MEMBERS[r.problem].symmetric_driver or r.verdict in ("bounded", "exact")  # noqa: E731
    slopes = rate_slopes(result)
    return [
        f"bounded or exact on every reversible problem: {names(reversible)}",
        f"bounded or exact on every problem: {names(lambda r: r.verdict in ('bounded', 'exact'))}",
        f"exact on every problem: {names(lambda r: r.verdict == 'exact')}",
        f"order of the growth rate on {result.config.rate_problem}: "
        + "; ".join(f"{label} {', '.join(f'{x:.2f}' for x in orders)}" for label, orders in slopes.items() if orders),
        *[
            f"GNI on {r.problem}: half-step velocity off the constraint {r.parasitic:.2g}"
            for r in result.table
            if r.parasitic
        ],
    ]


def data(result: Result) -> Dataset:
    """Energies of every run at saved times, side by side."""
    variables: dict[str, Variable] = {}
    for part, runs in (("table", result.table), ("rates", result.rates)):
        for k, r in enumerate(runs):
            keep = slice(None, None, max(1, len(r.solution.t) // 1000))
            dim = f"time_{part}_{k}"
            variables[dim] = Variable((dim,), r.solution.t[keep], "1", f"{r.problem}, {r.label}, h = {r.step}")
            for j, energy in enumerate(("energy", "driver_energy", "driven_energy")):
                variables[f"{energy}_{part}_{k}"] = Variable(
                    (dim,), r.solution.invariants[keep, j], "1", f"{energy}, {r.label}"
                )
    return Dataset(variables, {"question": QUESTION})
