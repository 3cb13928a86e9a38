"""One integrator on one disk: its path against a reference, its energy, integrals, heights and constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators import Solution, integrate
from integrators.events import Event
from integrators.methods import METHODS, find
from integrators.results.storage import Variable
from integrators.statistics.drift import energy_drift
from integrators.status import Status
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.rolling import rolling_disk, tilting_disk
from studies.study import Record

Array = NDArray[np.float64]
SAVED = 800
BEFORE = 0.98
"""Share of the time until a disk falls flat that is compared."""
SIGNIFICANT = 3.0


@dataclass(frozen=True)
class Reference:
    """The motion by DOP853 at 1e-12 in quasi-velocities on SE(3)."""

    t: Array
    y: Array
    contact: Array
    energy: float
    fallen: float | None
    """When the disk falls flat, s; the motion is shown and compared until shortly before."""

    @property
    def length(self) -> float:
        return float(np.linalg.norm(np.diff(self.contact, axis=0), axis=1).sum())


@dataclass(frozen=True)
class Run:
    """What one method did with one step."""

    method: str
    step: float | None
    """None where the method chooses its steps."""
    steps: int
    horizon: float
    message: str
    path_error: float | None
    """Largest distance of the contact point from the reference, m."""
    energy_band: float | None
    energy_slope: float | None
    energy_slope_sigma: float | None
    integral_error: float
    height: float | None
    """Largest distance of the lowest point of the edge from the plane, m; None in angles, which have no such number."""
    residual: float | None
    """Largest |A v|, m/s; None where the state is quasi-velocities, whose v satisfies the rows by construction."""
    microseconds: float
    solution: Solution
    contact: Array

    @property
    def drifts(self) -> bool:
        """Whether the slope of the energy is known and beyond three sigma."""
        if self.energy_slope is None or self.energy_slope_sigma is None:
            return False
        return abs(self.energy_slope) > SIGNIFICANT * self.energy_slope_sigma

    def record(self) -> Record:
        return {
            "system": self.solution.model, "method": self.method, "step": self.step, "horizon": self.horizon,
            "steps": self.steps,
            "claimed_order": find(self.method).order, "path_error": self.path_error, "energy_band": self.energy_band,
            "energy_slope": self.energy_slope, "energy_slope_sigma": self.energy_slope_sigma,
            "integral_error": self.integral_error,
            "gap": self.height, "constraint_residual": self.residual, "microseconds_per_step": self.microseconds,
            "status": self.message,
        }  # fmt: skip

    def variables(self, k: int) -> dict[str, Variable]:
        """Contact path and invariants, for the data file."""
        dim = f"time_{k}"
        names = zip(self.solution.invariant_names, self.solution.invariant_units, strict=True)
        return {
            dim: Variable((dim,), self.solution.t, "s", f"{self.method}, h = {self.step} s"),
            f"contact_{k}": Variable((dim, "axis"), self.contact, "m", f"contact point, {self.method}"),
            **{
                f"{name}_{k}": Variable((dim,), self.solution.invariants[:, j], unit, f"{name}, {self.method}")
                for j, (name, unit) in enumerate(names)
            },
        }


def reference(system: NonholonomicSystem, horizon: float, radius: float) -> Reference:
    """The reference at `SAVED` times."""
    problem, fallen = system.problem(), None
    ending = integrate(
        problem, "RKMK_DOP853", (0.0, horizon), rtol=1e-9, atol=1e-9, events=_flat(tilting_disk.falls_flat)
    )
    if ending.status is Status.EVENT:
        fallen = float(ending.t[-1])
        horizon = BEFORE * fallen
    solution = integrate(
        problem, "SCIPY_DOP853", (0.0, horizon), step=horizon / SAVED, rtol=1e-12, atol=1e-12, save_every=1
    )
    if not solution.success:
        raise ValueError(f"the reference run failed: {solution.message}")
    return Reference(
        solution.t, solution.y, tilting_disk.contact_point(solution.y, radius), float(solution.invariants[0, 0]), fallen
    )


def _flat(function: Any) -> Event:
    return Event(function, "fallen_flat", direction=-1, terminal=True)


def pose(system: NonholonomicSystem, angles: NonholonomicSystem, method: str) -> tuple[Any, bool, bool]:
    """The problem a method works on, whether it is in angles, and whether its state holds full velocities."""
    needs = getattr(METHODS.get(method), "needs", "field")
    if needs == "quasi-velocities":
        return angles.problem(), True, False
    full = needs != "field"
    return (system.constrained_problem() if full else system.problem()), False, full


def short_run(system: Any, angles: Any, known: Reference, method: str, step: float | None, radius: float) -> Run:
    """A run over the horizon of the reference, compared with its path."""
    horizon = float(known.t[-1])
    if step is None:
        problem, in_angles, full = system.problem(), False, False
        grid = horizon / SAVED
        solution = integrate(problem, method, (0.0, horizon), step=grid, rtol=1e-10, atol=1e-10, save_every=1)
    else:
        problem, in_angles, full = pose(system, angles, method)
        count = round(horizon / step)
        solution = integrate(problem, method, (0.0, horizon), step=horizon / count, t_eval=known.t)
    return _judge(system, method, step, solution, in_angles, full, radius, known)


def long_run(
    system: Any, angles: Any, method: str, step: float, count: int, radius: float, progress: bool | None
) -> Run:
    """Many steps, every one of them watched."""
    problem, in_angles, full = pose(system, angles, method)
    save = max(1, count // 1000)
    module = rolling_disk if in_angles else tilting_disk
    event = _flat(module.constrained_falls_flat if full else module.falls_flat)
    solution = integrate(
        problem, method, (0.0, count * step), step=step, save_every=save, progress=progress, events=event
    )
    return _judge(system, method, step, solution, in_angles, full, radius, None)


def _judge(
    system: NonholonomicSystem, method: str, step: float | None, solution: Solution, in_angles: bool, full: bool,
    radius: float,
    known: Reference | None,
) -> Run:  # fmt: skip
    y, n_q = solution.y, system.n_q
    contact = rolling_disk.contact_point(y, radius) if in_angles else tilting_disk.contact_point(y, radius)
    height = residual = None
    if not in_angles:
        chosen = range(0, len(y), max(1, len(y) // 200))
        velocities = [y[k, n_q:] if full else system.velocity(y[k, :n_q], y[k, n_q:]) for k in chosen]
        parts = [system.parts(y[k, :n_q], v) for k, v in zip(chosen, velocities, strict=True)]
        height = float(max(np.abs(p.position).max() for p in parts))
        if full:
            residual = float(max(np.abs(p.rows @ v - p.value).max() for p, v in zip(parts, velocities, strict=True)))
    slope = (
        energy_drift(solution.t[1:], solution.mean_since[1:, 0]) if solution.success and len(solution.t) > 10 else None
    )
    compared = known is not None and solution.success and len(contact) == len(known.contact)
    return Run(
        method=method,
        step=step,
        steps=solution.steps,
        horizon=float(solution.t[-1]),
        message=solution.message,
        path_error=float(np.linalg.norm(contact - known.contact, axis=1).max())
        if compared and known is not None
        else None,
        energy_band=float(solution.error("energy", relative=False)) if solution.success else None,
        energy_slope=slope.slope if slope else None,
        energy_slope_sigma=slope.sigma if slope else None,
        integral_error=float(max(solution.error(name) for name in ("upright_roll_rate", "upright_spin_rate"))),
        height=height,
        residual=residual,
        microseconds=1e6 * solution.seconds / max(solution.steps, 1),
        solution=solution,
        contact=contact,
    )
