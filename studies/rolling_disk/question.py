"""The question: where does a rolling disk go, and which integrator knows it for how long?

The disk starts with its contact point in the origin, its plane tilted from the vertical by `tilt`; `spin` is the
component ω₂ of its angular velocity in its plane (upwards), `roll` the component ω₃ about its axis, `rock` the rate of
the tilt. Every method starts from the same state; its path is compared with a reference at 1e-12, its energy, heights
and integrals are watched at every step of a long run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from integrators.method import Reference
from integrators.methods import find
from integrators.results.storage import Dataset, Variable
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.rolling.rolling_disk import rolling_disk
from mechanics.systems.rolling.tilting_disk import tilting_disk
from studies.rolling_disk.coin import SHARE, Coin, spin_down
from studies.rolling_disk.runs import Reference as Motion
from studies.rolling_disk.runs import Run, long_run, reference, short_run
from studies.rolling_disk.stability import Boundary, boundary
from studies.study import Record, StudyConfig

RESOLVED = 1e-9
"""Errors of a path below this are those of the reference, m."""
AGREE = 0.5
"""Orders from two neighbouring pairs of steps that differ by less belong to an asymptotic order."""
LOST = 0.01
"""A motion whose energy is wrong by this share is lost."""
QUESTION = "Where does a rolling disk go, and which integrator knows it for how long?"


@dataclass(frozen=True)
class RollingDiskConfig(StudyConfig):
    """Roll a disk on a plane with every integrator, watch its integrals, find its stability limits, and let a coin run
    down.
    """

    tilt: str = "15deg"
    """Angle of the disk's plane from the vertical; a number is in radians, or write 15deg."""
    spin: float = 15.0
    """ω₂, rad/s: turning of the plane of the disk."""
    roll: float = 5.0
    """ω₃, rad/s: rolling."""
    rock: float = 0.0
    """ω₁, rad/s: rate of the tilt."""
    mass: float = 15.0
    """kg."""
    radius: float = 1.0
    """m."""
    shape: Literal["disk", "hoop"] = "disk"
    """Uniform disk or hoop."""
    gravity: float = 9.81
    """m/s²."""
    methods: tuple[str, ...] = (
        "DLA", "DLA4", "DLA6", "DLA_TRAPEZOID", "MP", "GNI", "ROLLING_ALPHA", "ENERGY_EXACT", "ENERGY_EXACT4",
        "RKMK4", "RKMK_GAUSS2", "RKMK_DOP853", "SCIPY_DOP853",
    )  # fmt: skip
    """Names from the catalogue integrators.methods."""
    steps: tuple[float, ...] = (0.008, 0.004, 0.002)
    """Steps of the sweep, s; the last one is also that of the long runs."""
    horizon: float = 4.0
    """Length of the sweep and of the picture, s."""
    long_steps: int = 10_000
    """Number of steps of the long runs."""
    stability: bool = True
    """Find the limits of upright rolling and spinning."""
    coin: bool = True
    """Let Euler's disk run down."""
    animation: bool = True
    """Leave an animation (GIF)."""

    @property
    def angle(self) -> float:
        """The tilt in radians."""
        return angle(self.tilt)

    def shortened(self) -> RollingDiskConfig:
        """What ``--quick`` runs."""
        methods = tuple(m for m in self.methods if m in ("DLA", "ENERGY_EXACT", "RKMK4"))
        return replace(
            self, methods=methods, steps=self.steps[:2], horizon=min(self.horizon, 2.0), long_steps=2000, coin=False
        )


def angle(text: str) -> float:
    """``"15deg"``, ``"0.26"`` or ``"0.26rad"`` in radians; ValueError for anything else."""
    found = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(deg|°|rad|)\s*", text)
    if not found:
        raise ValueError(f"tilt: {text!r}, expected a number of radians, or of degrees as in 15deg")
    value = float(found[1])
    return math.radians(value) if found[2] in ("deg", "°") else value


@dataclass(frozen=True)
class Result:
    """Everything the study found."""

    config: RollingDiskConfig
    system: NonholonomicSystem
    reference: Motion
    sweep: tuple[Run, ...]
    long: tuple[Run, ...]
    boundaries: tuple[Boundary, ...]
    coin: Coin | None


def disks(config: RollingDiskConfig) -> tuple[NonholonomicSystem, NonholonomicSystem]:
    """The disk on SE(3) and the same disk in angles."""
    i1 = SHARE[config.shape] * config.mass * config.radius**2
    i3 = 2 * i1
    given = {"diametral_inertia": i1, "axial_inertia": i3, "gravity": config.gravity, "tilt": config.angle}
    omega = (config.rock, config.spin, config.roll)
    return (
        tilting_disk(config.mass, config.radius, omega=omega, **given),  # type: ignore[arg-type]
        rolling_disk(config.mass, config.radius, omega=omega, **given),  # type: ignore[arg-type]
    )


def run(config: RollingDiskConfig) -> Result:
    """The sweep over steps, the long runs, the limits of stability and the coin."""
    config = config.as_asked()
    for method in config.methods:
        find(method)
    if max(config.steps) > config.horizon:
        raise ValueError(f"--steps: {max(config.steps):g} s, expected at most the horizon, {config.horizon:g} s")
    system, angles = disks(config)
    known = reference(system, config.horizon, config.radius)
    sweep = [
        short_run(system, angles, known, method, h, config.radius)
        for method in config.methods
        for h in (config.steps if fixed(method) else (None,))
    ]
    progress = config.progress or None
    long = [
        long_run(system, angles, method, config.steps[-1], config.long_steps, config.radius, progress)
        for method in config.methods
        if fixed(method)
    ]
    boundaries = tuple(boundary(kind, angles) for kind in ("rolling", "spinning")) if config.stability else ()
    coin = spin_down(config.mass, config.radius, config.shape, config.gravity) if config.coin else None
    return Result(config, system, known, tuple(sweep), tuple(long), boundaries, coin)


def fixed(method: str) -> bool:
    """Whether a method takes the step it is given."""
    return not isinstance(find(method), Reference)


def orders(result: Result) -> dict[str, float]:
    """Measured order of each method from its two smallest steps.

    None is given where the smallest error is that of the reference, and where the pair of steps before says something
    else by more than `AGREE`: such steps are not small enough to tell an order.
    """
    found = {}
    for method in result.config.methods:
        runs = [r for r in result.sweep if r.method == method and r.step and r.path_error]
        errors = np.array([(r.step, r.path_error) for r in runs])
        if len(errors) < 2 or len(errors) < len(result.config.steps) or errors[-1, 1] < RESOLVED:
            continue
        slopes = np.diff(np.log(errors[:, 1])) / np.diff(np.log(errors[:, 0]))
        if np.ptp(slopes[-2:]) < AGREE:
            found[method] = float(slopes[-1])
    return found


def records(result: Result) -> Sequence[Record]:
    """One flat record per run: the sweep, the long runs, the limits, the coin."""
    measured = orders(result)
    found: list[Record] = [
        {**r.record(), "part": "sweep", "measured_order": measured.get(r.method)} for r in result.sweep
    ]
    found += [{**r.record(), "part": "long run"} for r in result.long]
    found += [b.record() for b in result.boundaries]
    return [*found, result.coin.record()] if result.coin else found


def remarks(result: Result) -> Sequence[str]:
    """What the numbers say."""
    long = [r for r in result.long if r.energy_band is not None]
    lost = lambda r: r.energy_band > LOST * result.reference.energy  # noqa: E731
    best = sorted(long, key=lambda r: r.energy_band or 0.0)
    said = [
        f"E₀ = {result.reference.energy:.10g} J; the contact point travels {result.reference.length:.4g} m in "
        f"{result.reference.t[-1]:g} s"
    ]
    if result.reference.fallen:
        said.append(f"the disk falls flat at t = {result.reference.fallen:.6g} s; everything ends there")
    said += [
        f"{r.method}: energy within {r.energy_band:.2g} J over {r.steps} steps"
        + (
            ", the motion is lost"
            if lost(r)
            else f", drifting by {r.energy_slope:.2g} ± {r.energy_slope_sigma:.1g} J/s"
            if r.drifts
            else f", no slope beyond three sigma: {r.energy_slope:.2g} ± {r.energy_slope_sigma:.1g} J/s"
            if r.energy_slope is not None
            else ""
        )
        for r in best
    ]
    said += [
        f"failed: {r.method}, h = {r.step}: {r.message}" for r in (*result.sweep, *result.long) if r.energy_band is None
    ]
    said += [b.sentence() for b in result.boundaries]
    return [*said, result.coin.sentence()] if result.coin else said


def data(result: Result) -> Dataset:
    """Reference path, long runs, limits and coin with names and units."""
    known = result.reference
    variables = {
        "time": Variable(("time",), known.t, "s"),
        "contact": Variable(("time", "axis"), known.contact, "m", "contact point of the reference"),
        "centre": Variable(("time", "axis3"), known.y[:, :3], "m", "centre of the reference"),
        "orientation": Variable(("time", "quaternion"), known.y[:, 3:7], "1", "qw, qx, qy, qz of the reference"),
    }
    for k, r in enumerate(result.long):
        variables |= r.variables(k)
    for b in result.boundaries:
        variables |= b.variables()
    if result.coin:
        variables |= result.coin.variables()
    return Dataset(variables, {"question": QUESTION, "system": result.system.model})
