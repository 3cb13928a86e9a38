"""The question: does the mechanism walk, and what do the pins of its legs do meanwhile?

The walking mechanism of Ivanov (2022) for twenty seconds.  The pin of the disc and the hole of leg 1 are one point:
their distance is the deviation that the paper's figures 8 and 9 show, for Hamilton's equations with multipliers of
momenta and for Lagrange's equations of the first kind.  Fixed steps are those of the classical fourth-order method,
variable ones those of SciPy's LSODA.  The paper does not give the contact of the feet; ours is a spring and damper with
regularised friction (`mechanics.systems.loops.walking_mechanism`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators import Solution, integrate
from integrators.method import Reference
from integrators.methods.comparison import solve_with_scipy
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from liegroup.display import bar
from mechanics.formulations.multiplier_problem import Baumgarte, Lagrange, multiplier_problem
from mechanics.systems.loops import walking_mechanism as walker
from mechanics.systems.loops.walking_mechanism import CRANK, HARD_GROUND, PERIOD, PIN, SOFT_GROUND, Ground
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "Does the walking mechanism walk, and how far do its pins come apart?"
SAVED = 1e-3
"""Time between saved states, s."""
LSODA = Reference("LSODA", 5, solve_with_scipy("LSODA"), "Petzold 1983; SciPy")
GAINS = (20.0, 200.0, 2000.0)
"""Of Baumgarte's stabilisation, φ̈ + 2 α φ̇ + α² φ = 0, 1/s: the time scale of the walk, of the contacts, and beyond."""
SETTLED = 5.2
"""Amplitudes are taken from here on, s."""


def _multipliers(ground: Ground, stabilisation: Any) -> Problem:
    q, v = walker.start(ground)
    return multiplier_problem(walker.mechanism(ground), q, v, stabilisation=stabilisation)


FORMULATIONS: Mapping[str, Callable[[Ground], Problem]] = {
    "Hamiltonian closed": partial(walker.problem, projection="positions"),
    "Hamiltonian re-based": partial(walker.problem, projection="momenta"),
    "Hamiltonian": partial(walker.problem, projection="none"),
    **{f"Baumgarte {gain:g}": partial(_multipliers, stabilisation=Baumgarte(gain)) for gain in GAINS},
    "Lagrange I": partial(_multipliers, stabilisation=Lagrange()),
}
VARIABLE_STEPS = ("Hamiltonian", *(f"Baumgarte {gain:g}" for gain in GAINS), "Lagrange I")
"""Formulations without a projection after the step, which LSODA can run."""


@dataclass(frozen=True)
class WalkingMechanismConfig(StudyConfig):
    """The walking mechanism of Ivanov (2022): its walk, the deviations of its pins, and the speeds at which it
    walks.
    """

    horizon: float = 20.0
    """Simulated time, s."""
    steps: tuple[float, ...] = (5e-5, 1e-4, 2e-4)
    """Fixed steps, s; the first is the reference walk."""
    tolerances: tuple[float, ...] = (1e-4, 1e-6, 1e-8)
    """Relative and absolute tolerances of LSODA."""
    periods: tuple[float, ...] = (1.6, 2.0, 2.3, 2.6, 3.0, 3.4, 4.0)
    """Periods of the disc, s, tried on softer ground."""
    animation: bool = True
    """Leave an animation (GIF)."""

    def shortened(self) -> WalkingMechanismConfig:
        """The configuration that `--quick` runs: the softer ground allows longer steps."""
        return replace(
            self, horizon=min(self.horizon, 2.6), steps=(2e-4,), tolerances=(), periods=(PERIOD,), animation=False
        )


@dataclass(frozen=True)
class Run:
    """One formulation with one step or tolerance, or one period of the disc."""

    formulation: str
    step: float | None
    tolerance: float | None
    period: float
    ground: str
    solution: Solution

    @property
    def q(self) -> Array:
        return np.asarray(self.solution["q"])

    @property
    def deviation(self) -> Array:
        """|pin of the disc − pin of leg 1| at the saved states, m."""
        return pin_deviation(self.q)

    @property
    def amplitude(self) -> float:
        """Greatest |φ| of the hull once the walk has settled, rad."""
        late = self.solution.t >= min(SETTLED, 0.5 * self.solution.t[-1])
        return float(np.abs(self.q[late, 2]).max())


@dataclass(frozen=True)
class Result:
    config: WalkingMechanismConfig
    runs: tuple[Run, ...]
    """Formulations × steps and tolerances."""
    walks: tuple[Run, ...]
    """Periods of the disc."""


def pin_deviation(q: Array) -> Array:
    """Distance of the pin of the disc from the pin of leg 1, in the hull's plane; q (…, 10)."""
    alpha, z, gamma = q[..., 3], q[..., 4], q[..., 5]
    across = CRANK * np.sin(alpha) - PIN * np.sin(gamma)
    along = -CRANK * np.cos(alpha) - (z + PIN - PIN * np.cos(gamma))
    return np.asarray(np.hypot(across, along))


def run(config: WalkingMechanismConfig) -> Result:
    """All formulations, then all periods."""
    ground, name = (SOFT_GROUND, "soft") if config.quick else (HARD_GROUND, "hard")
    config = config.as_asked()
    cases: list[tuple[str, float | None, float | None]] = [(f, h, None) for f in FORMULATIONS for h in config.steps]
    cases += [(f, None, tolerance) for f in VARIABLE_STEPS for tolerance in config.tolerances]
    runs = [
        Run(*case, PERIOD, name, _walk(FORMULATIONS[case[0]](ground), config, *case[1:]))
        for case in _shown(config, cases)
    ]
    walks = [
        Run("Hamiltonian closed", 2e-4, None, T, "soft", _walk(walker.problem(SOFT_GROUND, T), config, 2e-4, None))
        for T in _shown(config, config.periods)
    ]
    return Result(config, tuple(runs), tuple(walks))


def _shown(config: WalkingMechanismConfig, cases: Sequence[Any]) -> Any:
    return bar(cases, shown=config.progress)


def _walk(problem: Problem, config: WalkingMechanismConfig, step: float | None, tolerance: float | None) -> Solution:
    span = (0.0, config.horizon)
    if tolerance is not None:
        return integrate(problem, LSODA, span, step=SAVED, rtol=tolerance, atol=tolerance, save_every=1)
    assert step is not None
    return integrate(problem, "RKMK4", span, step=step, save_every=max(1, round(SAVED / step)))


def records(result: Result) -> Sequence[Record]:
    """One flat record per run."""
    return [_record(r) for r in (*result.runs, *result.walks)]


def _record(r: Run) -> Record:
    s = r.solution
    return {
        "system": "walking mechanism",
        "ground": r.ground,
        "period": r.period,
        "formulation": r.formulation,
        "method": s.method,
        "step": r.step,
        "tolerance": r.tolerance,
        "size": f"h = {r.step:g}" if r.step else f"tol {r.tolerance:g}",
        "horizon": float(s.t[-1]),
        "status": s.status.name,  # type: ignore[union-attr]
        "pin_deviation": float(r.deviation.max()),
        "gap": float(np.nanmax(s.greatest[:, 1])),
        "velocity_gap": float(np.nanmax(s.greatest[:, 2])),
        "distance": float(r.q[-1, 0]),
        "hull_amplitude": r.amplitude,
        "evaluations": s.evaluations,
        "microseconds_per_step": 1e6 * s.seconds / max(s.steps, 1),
        "microseconds_per_unit_time": 1e6 * s.seconds / float(s.t[-1]),
    }


def remarks(result: Result) -> Sequence[str]:
    """What the walk does, in sentences."""
    first = result.runs[0]
    q = first.q
    hull = f"hull within {q[:, 2].min():+.4f} … {q[:, 2].max():+.4f} rad"
    said = [f"walks {abs(q[-1, 0]):.2f} m in {first.solution.t[-1]:g} s towards −y; {hull}"]
    for f in FORMULATIONS:
        runs = [r for r in result.runs if r.formulation == f]
        said.append(f"{f}: " + ", ".join(f"{r.deviation.max():.1e} m ({_record(r)['size']})" for r in runs))
    if len(result.walks) > 1:
        least = min(result.walks, key=lambda r: r.amplitude)
        said.append(f"the hull swings least at T = {least.period:g} s: {least.amplitude:.4f} rad")
    return said


def data(result: Result) -> Dataset:
    """Deviations of all runs, and the coordinates of the reference walk."""
    t, q = result.runs[0].solution.t, result.runs[0].q
    rows = max(len(r.solution.t) for r in result.runs)
    deviations = np.array([np.concatenate([r.deviation, np.full(rows - len(r.q), np.nan)]) for r in result.runs])
    names = np.array([f"{r.formulation}, {_record(r)['size']}" for r in result.runs])
    return Dataset(
        {
            "run": Variable(("run",), names, description="formulation and step or tolerance"),
            "time": Variable(("sample",), t, "s", "time of the saved state"),
            "q": Variable(
                ("sample", "coordinate"), q, "rad or m", "y, z, phi, alpha, z1, gamma1, z2, gamma2, beta1, beta2"
            ),
            "pin_deviation": Variable(("run", "sample"), deviations, "m", "distance of the pins of disc and leg 1"),
        },
        {"horizon": result.config.horizon, "period": PERIOD},
    )
