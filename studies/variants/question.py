"""The question: do conclusions about a family of mechanisms depend on method and step?

A family of double pendulums of two bars, the second one with another mass and length in every cell of a table, is let
go at rest.  Does the second bar turn over within the horizon?  Many of them are chaotic: where a trajectory ends is
decided by rounding.  What is asked of the table is which cells, and how many, change their verdict with the method.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import integrators
from integrators import Solution
from integrators.problem import Problem
from integrators.results.storage import Dataset, Variable
from integrators.statistics import Moments
from mechanics import Body, Inertia, Tree, joints
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "Do conclusions about a family of mechanisms depend on method and step?"
LOST = 0.1
"""rad: angles at the end that differ by more say that the trajectory is another one."""
HINGE = "hinge"


@dataclass(frozen=True)
class VariantsConfig(StudyConfig):
    """Double pendulums with another second bar each: which of them turn over, by methods and steps."""

    masses: int = 40
    """Masses of the second bar, from 0.1 to 10 times that of the first, in equal ratios."""
    lengths: int = 40
    """Its lengths, from 0.3 to 1.5 times that of the first."""
    angle: float = 1.5
    """rad: where the first bar is let go; the second one hangs on in its direction."""
    horizon: float = 60.0
    """s."""
    methods: tuple[str, ...] = ("RKMK4", "MIDPOINT", "TREE_VARIATIONAL")
    """Beside the reference."""
    steps: tuple[float, ...] = (0.04, 0.02, 0.01)
    """s."""
    reference: tuple[str, float] = ("GAUSS8", 0.01)
    """Method and step that the others are compared with."""

    def shortened(self) -> VariantsConfig:
        """The configuration that `--quick` runs."""
        return replace(self, masses=4, lengths=4, horizon=4.0, steps=(0.02, 0.01))


@dataclass(frozen=True)
class Answer:
    """Tables over (mass, length), one for each method and step; the last one is the reference."""

    masses: Array
    lengths: Array
    runs: list[tuple[str, float]]
    turns: NDArray[np.bool_]
    """(runs, masses, lengths): whether the second bar turns over."""
    errors: Array
    """The same: largest error of the energy over its first value above the lowest, NaN where a run failed."""
    ends: Array
    """The same: angle of the second hinge at the end, rad."""
    named: NDArray[np.bool_]
    """The same: whether the run stopped, or came to its end with doubts."""
    seconds: list[float]
    """Of every table."""


def pendulum(mass: float, length: float, angle: float) -> Problem:
    """A bar of 1 m and 1 kg, and one of another mass and length below it, both thin, at rest."""
    hinge, bodies = joints.Revolute((0.0, 1.0, 0.0)), []
    for name, m, l, below in (("upper", 1.0, 1.0, None), ("lower", mass, length, "upper")):
        bar = Inertia.about_com(m, (0.0, 0.0, -0.5 * l), m * l**2 / 12 * np.diag([1.0, 1.0, 1e-2]))
        bodies.append(Body(name, hinge, below, (0.0, 0.0, -1.0 if below else 0.0), inertia=bar))
    return Tree(bodies).problem([angle, 0.0])


def energy_at_stake(mass: float, length: float, angle: float) -> float:
    """J: what the pendulum has above rest."""
    return 9.81 * (1.0 - np.cos(angle)) * (0.5 + mass * (1.0 + 0.5 * length))


def table(config: VariantsConfig, masses: Array, lengths: Array, method: str, step: float) -> Any:
    """The labelled table of one method and step; extremes of the angle are those of every step."""

    def error(solution: Solution) -> float:
        return float(solution.error("energy", relative=False))

    return integrators.sweep(
        lambda mass, length: pendulum(mass, length, config.angle),
        {"mass": masses, "length": lengths},
        method,
        (0.0, config.horizon),
        step,
        statistics=[Moments(lambda t, y: y[..., 1], name=HINGE)],
        quantities={
            "least": lambda solution: solution.statistics[HINGE]["least"],
            "greatest": lambda solution: solution.statistics[HINGE]["greatest"],
            "end": lambda solution: solution["q"][-1, 1],
            "error": error,
        },
        units={"mass": "kg", "length": "m", "end": "rad", "error": "J"},
    )


def run(config: VariantsConfig) -> Answer:
    """All tables."""
    config = config.as_asked()
    masses, lengths = np.geomspace(0.1, 10.0, config.masses), np.linspace(0.3, 1.5, config.lengths)
    runs = [*((m, h) for m in config.methods for h in config.steps), config.reference]
    stake = np.array([[energy_at_stake(m, l, config.angle) for l in lengths] for m in masses])
    turns, errors, ends, named, seconds = [], [], [], [], []
    for method, step in runs:
        started = time.perf_counter()
        found = table(config, masses, lengths, method, step)
        seconds.append(time.perf_counter() - started)
        turns.append((found["least"].values < -np.pi) | (found["greatest"].values > np.pi))
        errors.append(found["error"].values / stake)
        ends.append(found["end"].values)
        named.append((found["status"].values != "OK") | (found["doubts"].values > 0))
    parts = (np.array(found) for found in (turns, errors, ends, named))
    return Answer(masses, lengths, runs, *parts, seconds)


def lost(answer: Answer) -> NDArray[np.bool_]:
    """(runs, masses, lengths): whether a cell ends elsewhere than the reference; cells that failed do."""
    apart = np.abs(np.exp(1j * answer.ends) - np.exp(1j * answer.ends[-1]))
    return ~(apart < LOST)


def records(answer: Answer) -> Sequence[Record]:
    """One flat record for each method and step."""
    rows: list[Record] = []
    for k, (method, step) in enumerate(answer.runs):
        other = answer.turns[k] != answer.turns[-1]
        rows.append(
            {
                "system": "double pendulums",
                "method": method,
                "step": step,
                "cells": int(answer.turns[k].size),
                "stopped": int(np.isnan(answer.errors[k]).sum()),
                "named": int(answer.named[k].sum()),
                "turning_part": float(answer.turns[k].mean()),
                "other_verdicts": int(other.sum()),
                "other_verdicts_unnamed": int((other & ~answer.named[k]).sum()),
                "other_ends": int(lost(answer)[k].sum()),
                "median_error": float(np.nanmedian(answer.errors[k])),
                "seconds": answer.seconds[k],
            }
        )
    return rows


def remarks(answer: Answer) -> list[str]:
    """The sentence that follows from the numbers."""
    *rows, reference = records(answer)
    other, unnamed = (sum(r[key] for r in rows) for key in ("other_verdicts", "other_verdicts_unnamed"))
    return [
        f"Of {other} verdicts that differ from those of {reference['method']}, {other - unnamed} belong to runs that "
        f"stopped or said that they are doubtful."
    ]


def data(answer: Answer) -> Dataset:
    """All tables."""
    dims = ("run", "mass", "length")
    return Dataset(
        {
            "run": Variable(("run",), np.array([f"{m}, {h:g} s" for m, h in answer.runs]), description="method, step"),
            "mass": Variable(("mass",), answer.masses, "kg", "of the second bar"),
            "length": Variable(("length",), answer.lengths, "m", "of the second bar"),
            "turns": Variable(dims, answer.turns.astype(np.int64), "1", "1 where the second bar turns over"),
            "error": Variable(dims, answer.errors, "1", "largest error of the energy over what it is above rest"),
            "named": Variable(dims, answer.named.astype(np.int64), "1", "1 where the run stopped or is doubtful"),
            "end": Variable(dims, answer.ends, "rad", "angle of the second hinge at the end"),
        }
    )
