"""The question: on which mechanisms does the energy of which method stay, and what does that cost?

The runs are those of the study energy-drift, one mechanism after another, each with steps that resolve it and for as
many of its smallest steps as asked.  The cost at equal error is the computing time per simulated second at which the
largest |E − E₀|/T* over the whole run is that of the first method with its middle step: interpolated between the runs
of a method on logarithmic axes, or a bound where all its runs are better or worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from integrators.results.storage import Dataset, Variable
from integrators.status import Status
from studies.energy_drift import question as drift
from studies.energy_drift.question import EnergyDriftConfig, Result, Run
from studies.study import Record, StudyConfig, known

QUESTION = "On which mechanisms does the energy of which method stay, and what does that cost?"

STEPS: dict[str, tuple[float, ...]] = {
    "panda": (4e-3, 2e-3, 1e-3),
    "anymal": (4e-3, 2e-3, 1e-3),
    "talos": (2e-3, 1e-3, 5e-4),
    "chain-10": (4e-3, 2e-3, 1e-3),
    "chain-20": (4e-3, 2e-3, 1e-3),
    "chain-40": (2e-3, 1e-3, 5e-4),
    "chain-100": (2e-3, 1e-3, 5e-4),
    "ball-chain-10": (4e-3, 2e-3, 1e-3),
    "floating-chain-10": (4e-2, 2e-2, 1e-2),
    "heavy-top": (4e-2, 2e-2, 1e-2),
}
"""Steps that resolve each mechanism, s."""


@dataclass(frozen=True)
class EnergyTableConfig(StudyConfig):
    """Integrate many mechanisms without friction by many methods, and measure energy, momenta and cost."""

    models: tuple[str, ...] = tuple(STEPS)
    """Mechanisms of the study energy-drift."""
    methods: tuple[str, ...] = (
        "TREE_VARIATIONAL",
        "TREE_VARIATIONAL_SUZUKI4",
        "TREE_VARIATIONAL_SOFSPA6",
        "GAUSS8",
        "RKMK4",
        "SCIPY_DOP853",
        "MUJOCO_RK4",
        "MUJOCO_IMPLICITFAST",
        "PINOCCHIO_EULER",
    )
    """As for energy-drift."""
    steps: int = 100_000
    """How many of its smallest steps each run lasts; 1e6 and 1e7 take hours on long chains."""
    tolerances: tuple[float, ...] = (1e-6, 1e-9)
    """Relative tolerances of methods that choose their steps."""

    def shortened(self) -> EnergyTableConfig:
        """The configuration that `--quick` runs."""
        from dataclasses import replace

        names = ("TREE_VARIATIONAL", "RKMK4")
        return replace(self, models=("heavy-top", "floating-chain-10"), methods=names, steps=min(self.steps, 2000))


def run(config: EnergyTableConfig) -> list[tuple[str, Result]]:
    """(name, all runs) of every mechanism."""
    config = config.as_asked()
    known("models", config.models, STEPS)
    found = []
    for name in config.models:
        steps = STEPS[name]
        asked = EnergyDriftConfig(
            model=name, methods=config.methods, steps=steps, tolerances=config.tolerances,
            horizon=config.steps * min(steps),
            progress=False,
        )  # fmt: skip
        found.append((name, drift.run(asked)))
        if config.progress:
            print(f"{name}: {sum(r.solution.seconds for r in found[-1][1].runs):.0f} s of computing", flush=True)
    return found


def whole(result: Result, method: str) -> list[Run]:
    """The runs of a method that reached the end, from the cheapest on."""
    runs = [r for r in result.runs if r.method == method and r.solution.status == Status.OK and np.isfinite(r.band)]
    return sorted(runs, key=lambda r: r.solution.seconds)


def cost_at(result: Result, method: str, error: float) -> tuple[str, float] | None:
    """("", "≤" or "≥", µs per simulated second) for an energy error; None if no run of the method reached the end."""
    runs = whole(result, method)
    if not runs:
        return None
    cost = np.array([1e6 * r.solution.seconds / result.config.horizon for r in runs])
    band = np.array([r.band for r in runs])
    if band.max() <= error:
        return "≤", float(cost.min())
    if band.min() > error:
        return "≥", float(cost.max())
    order = np.argsort(band)
    return "", float(np.exp(np.interp(np.log(error), np.log(band[order]), np.log(cost[order]))))


def common_error(result: Result) -> float:
    """Where costs are compared: the error of the first method with its middle step."""
    runs = [r for r in result.runs if r.method == result.runs[0].method]
    return runs[len(runs) // 2].band


def records(found: Sequence[tuple[str, Result]]) -> Sequence[Record]:
    """One flat record per run; the cost at equal error stands with the first run of its method."""
    rows: list[Record] = []
    for name, result in found:
        seen: set[str] = set()
        for row in drift.records(result):
            method, error = str(row["method"]), common_error(result)
            bound, cost = (cost_at(result, method, error) if method not in seen else None) or ("", None)
            seen.add(method)
            said = None if cost is None else f"{bound}{cost:.3g}"
            rows.append(
                {
                    "model": name,
                    **row,
                    "equal_error": error,
                    "cost_at_equal_error": cost,
                    "cost_bound": bound,
                    "cost_said": said,
                }
            )
    return rows


def remarks(found: Sequence[tuple[str, Result]]) -> Sequence[str]:
    """Which runs drift, per mechanism."""
    said = []
    for name, result in found:
        of = {m: [r for r in result.runs if r.method == m] for m in dict.fromkeys(r.method for r in result.runs)}
        lost = [m for m, runs in of.items() if not whole(result, m)]
        still = [m for m, runs in of.items() if len(whole(result, m)) == len(runs) and not any(r.drifts for r in runs)]
        said.append(
            f"{name}: {result.tree.nv} degrees of freedom, {result.config.horizon:g} s, T* = {result.scale:.3g} J; "
            f"no slope beyond {drift.SIGNIFICANT:g} sigma in any run of {', '.join(still) or 'no method'}; "
            f"no run of {', '.join(lost) or 'none'} reached the end"
        )
    return said


def data(found: Sequence[tuple[str, Result]]) -> Dataset:
    """Energy deviations of all runs, slope and cost; shorter runs are filled with NaN."""
    runs = [(name, result, r) for name, result in found for r in result.runs]
    width = max(len(r.deviation) for _, _, r in runs)

    def table(values: list[np.ndarray]) -> np.ndarray:
        return np.array([np.concatenate([v, np.full(width - len(v), np.nan)]) for v in values])

    return Dataset(
        {
            "run": Variable(
                ("run",), np.array([f"{name}, {r.label}" for name, _, r in runs]),
                description="mechanism, method and step",
            ),
            "time": Variable(
                ("run", "sample"), table([r.solution.t for _, _, r in runs]), "s", "time of the saved state"
            ),
            "deviation": Variable(("run", "sample"), table([r.deviation for _, _, r in runs]), "1", "(E - E0)/T*"),
            "band": Variable(
                ("run",), np.array([r.band for _, _, r in runs]), "1", "largest |E - E0|/T* over every step"
            ),
            "cost": Variable(
                ("run",), np.array([r.solution.seconds / result.config.horizon for _, result, r in runs]), "1",
                "computing time per simulated time",
            ),
        },
        {"mechanisms": ", ".join(name for name, _ in found)},
    )  # fmt: skip
