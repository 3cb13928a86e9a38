"""The question: three motions of rods, their energy, their momenta, and one number of each that is its own.

The spaghetti flies free after 5 s; the whip's handle has come to rest after its stroke; the cable swings down from one
of its two supports.  From then on nothing does work, and the energy should stay.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators import Solution, integrate
from integrators.results.storage import Dataset, Variable
from liegroup import se3
from mechanics.elastic.rods import Rod, Section, Stroke, equilibrium, step_limit
from mechanics.systems.elastic.flying_spaghetti import flying_rod
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "What do rods on SE(3) keep in large motions, and what does it cost?"
GRAVITY = 9.81
TURN = 1.2
"""rad: how far the whip's handle turns."""
STROKE = 0.16
"""s: how long it takes."""


@dataclass(frozen=True)
class RodsConfig(StudyConfig):
    """Flying spaghetti, whip and falling cable, by splittings of order 2 and 6."""

    elements: tuple[int, ...] = (10, 20, 40)
    """Elements of the spaghetti; whip and cable take the second number."""
    methods: tuple[str, ...] = ("SPLIT_STRANG", "SPLIT_SRKN6_11B")
    """Names from the catalogue."""
    horizon: float = 100.0
    """Length of the flight [s]."""
    share: float = 0.4
    """Step of SPLIT_STRANG, in limits of stability; others take four times as much."""

    def shortened(self) -> RodsConfig:
        """The configuration that `--quick` runs."""
        return replace(self, elements=self.elements[:1], methods=self.methods[:1], horizon=8.0)


@dataclass(frozen=True, eq=False)
class Run:
    """One run, with its rod."""

    system: str
    method: str
    rod: Rod
    start: Array
    solution: Solution
    quiet: float
    """From this time on nothing does work, s."""
    seconds: float
    feature: str

    @property
    def kept(self) -> Any:
        """Which saved states are quiet."""
        return self.solution.t > self.quiet

    @property
    def poses(self) -> Array:
        """Of all nodes at all times."""
        return self.rod.node_poses(self.solution.t, self.solution.y, self.start)


@dataclass(frozen=True)
class Result:
    """All of them."""

    config: RodsConfig
    runs: list[Run]


def whip(elements: int) -> Rod:
    """A tapered rod of rubber, 1 m, whose handle turns forward by 1.2 rad and stops."""
    radii = np.linspace(0.012, 0.004, elements)
    sections = [Section.round(r, 2e7, density=1100.0, poisson=0.5) for r in radii]
    stroke = Stroke(0, turn=(0.0, TURN, 0.0), times=(0.0, STROKE), factors=(0.0, 1.0))
    return Rod.straight(1.0, elements, sections, direction=(-0.6, 0.0, 0.8), supports={0: "clamped"}, strokes=[stroke])


def cable(elements: int) -> tuple[Rod, Array]:
    """A hairpin of soft rubber, 1 m, without its second pin; and its poses at rest with it."""
    section = Section.round(0.004, 2e6, density=1100.0, poisson=0.5)
    bent = max(2, elements // 5)
    first = (elements - bent) // 2
    X = np.tile([1.0 / elements, 0.0, 0.0, 0.0, 0.0, 0.0], (elements, 1))
    X[first : first + bent, 5] = np.pi / bent
    poses = [np.asarray(Rod.straight(1.0, 1, section, direction=(0.0, 0.0, -1.0), third=(0.0, -1.0, 0.0)).poses)[0]]
    for x in X:
        poses.append(se3.compose(poses[-1], se3.exp(x)))
    weight = (0.0, 0.0, -GRAVITY)
    held = Rod(np.array(poses), section, supports={0: "pinned", -1: "pinned"}, gravity=weight)
    return Rod(held.poses, section, supports={0: "pinned"}, gravity=weight), equilibrium(held).poses


def run(config: RodsConfig) -> Result:
    config = config.as_asked()
    middle = config.elements[min(1, len(config.elements) - 1)]
    made = []
    for method in config.methods:
        for n in config.elements:
            made.append(_run(config, "spaghetti", method, flying_rod(n), None, config.horizon, 5.0))
        made.append(_run(config, "whip", method, whip(middle), None, 0.5 if config.quick else 0.6, STROKE))
        made.append(_run(config, "cable", method, *cable(middle), 0.6, 0.0))
    return Result(config, made)


def _run(config: RodsConfig, system: str, method: str, rod: Rod, start: Array | None, end: float, quiet: float) -> Run:
    wanted = config.share * step_limit(rod).step * (1.0 if method == "SPLIT_STRANG" else 4.0)
    frame = 0.05 if system == "spaghetti" else 0.002
    every = max(1, int(np.ceil(frame / wanted)))
    h = frame / every
    problem = rod.problem(start)
    integrate(problem, method, (0.0, 2 * h), h, progress=False)
    begun = time.perf_counter()
    solution = integrate(problem, method, (0.0, end), h, save_every=every, progress=config.progress)
    seconds = time.perf_counter() - begun
    first = np.asarray(rod.poses) if start is None else start
    found = Run(system, method, rod, first, solution, quiet, seconds, "")
    return Run(system, method, rod, first, solution, quiet, seconds, _feature(found))


def _feature(found: Run) -> str:
    """What is special about each motion."""
    t, tip = found.solution.t, found.poses[:, -1, :3]
    speed = np.linalg.norm(np.gradient(tip, t, axis=0), axis=1)
    if found.system == "spaghetti":
        k = int(np.argmin(np.abs(t - 3.0)))
        x = found.poses[k, 0, :3]
        return f"loaded end at 3 s ({x[0]:.5f}, {x[1]:.5f}, {x[2]:.5f})"
    if found.system == "whip":
        # greatest rate of the stroke's factor: 15/8 over its duration
        handle = TURN * 15.0 / 8.0 / STROKE
        return f"tip at most {speed.max():.1f} m/s, {speed.max() / handle:.1f} times a rigid rod"
    fallen = tip[0, 2] - tip[:, 2]
    free = 0.5 * GRAVITY * t**2
    ahead = fallen - free
    return f"tip ahead of free fall by {100 * ahead.max():.1f} cm"


def _momentum_error(found: Run) -> float | None:
    if found.system != "spaghetti":
        return None
    names = [f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz"]
    values = np.stack([found.solution[name][found.kept] for name in names])
    return float(np.ptp(values, axis=1).max() / np.abs(values).max())


def records(result: Result) -> list[Record]:
    rows: list[Record] = []
    for found in result.runs:
        energy = found.solution["energy"][found.kept]
        rows.append(
            {
                "system": found.system,
                "elements": found.rod.n_elements,
                "method": found.method,
                "step": found.solution.step,
                "horizon": float(found.solution.t[-1]),
                "energy_band": float(np.ptp(energy)),
                "energy_at_play": at_play(found),
                "energy_relative": float(np.ptp(energy)) / at_play(found),
                "momentum_error": _momentum_error(found),
                "microseconds_per_step": 1e6 * found.seconds * found.solution.step / float(found.solution.t[-1]),
                "feature": found.feature,
                "success": bool(found.solution.success),
            }
        )
    return rows


def at_play(found: Run) -> float:
    """The energy that the motion exchanges, J: that of the throw, or of the fall by half the length."""
    if found.system == "cable":
        mass = float(found.rod.inertia[:, 0].sum())
        return mass * GRAVITY * 0.25 * found.rod.length
    return float(np.abs(found.solution["energy"][found.kept]).max())


def remarks(result: Result) -> Sequence[str]:
    rows = records(result)
    worst = max(row["momentum_error"] for row in rows if row["momentum_error"] is not None)
    return [f"momenta of the free rod change by at most {worst:.1e} of themselves"]


def data(result: Result) -> Dataset:
    variables: dict[str, Variable] = {}
    for k, found in enumerate(result.runs):
        name = f"{found.system}_{found.rod.n_elements}_{found.method}"
        time_axis, node = f"time_{k}", f"node_{k}"
        variables[f"t_{name}"] = Variable((time_axis,), found.solution.t, "s", f"times of {name}")
        variables[f"energy_{name}"] = Variable((time_axis,), found.solution["energy"], "J", f"energy of {name}")
        variables[f"position_{name}"] = Variable(
            (time_axis, node, "xyz"), found.poses[..., :3], "m", f"nodes of {name}, world axes"
        )
    return Dataset(variables)


def motion(result: Result) -> Sequence[tuple[str, Any]]:
    """The motions of the first method, one of each rod."""
    shown: dict[str, Any] = {}
    for found in result.runs:
        shown.setdefault(found.system, found.solution)
    return list(shown.items())
