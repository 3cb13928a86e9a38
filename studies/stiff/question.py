"""The question: how fast does Newton's iteration of an implicit step converge with each of three Jacobians?

One step of the trapezoidal rule is solved for two arms of four links that are joined by four bushings; the exact
Jacobian, that of the stiff elements alone, and the block-diagonal one with the profile of the mass matrix.  The
contraction is the spectral radius of E − Ĵ⁻¹J at the solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

import mechanics
from integrators.results.storage import Dataset, Variable
from liegroup.display import bar
from mechanics import Mechanism
from mechanics.derivatives import generalised_forces, stiff_jacobians
from mechanics.derivatives.elements import stand
from mechanics.derivatives.stiff import conjugate_gradients, element_stiffness
from studies.stiff.arms import HOME, joined
from studies.study import Record, StudyConfig

Array = NDArray[np.float64]
QUESTION = "How fast does Newton's iteration converge with exact, approximate and block-diagonal Jacobians?"
JACOBIANS = ("exact", "approximate", "block-diagonal")
SYSTEMS = {"between arms": False, "on the base": True}
ENOUGH, MOST = 1e-8, 300
"""Iterations end where a correction is so much smaller than the first one; at most so many."""


@dataclass(frozen=True)
class StiffConfig(StudyConfig):
    """One step of the trapezoidal rule of two arms joined by bushings."""

    stiffness: tuple[float, ...] = (1e4, 1e5, 1e6, 1e7)
    """Of the bushings against shifts [N/m]."""
    step: float = 1e-3
    """Step [s]."""
    points: int = 40
    """Of the map of contraction against step and stiffness, along each axis."""

    def shortened(self) -> StiffConfig:
        """The configuration that `--quick` runs."""
        return replace(self, stiffness=self.stiffness[:1], points=8)


@dataclass(frozen=True)
class Row:
    """One system with one Jacobian."""

    system: str
    stiffness: float
    jacobian: str
    contraction: float
    iterations: int | None
    """None: not within `MOST`."""
    cg_steps: int


@dataclass(frozen=True)
class Result:
    config: StiffConfig
    rows: tuple[Row, ...]
    steps: Array
    stiffness: Array
    contraction: Array
    """(stiffness, step): of the block-diagonal Jacobian against that of the elements, at home."""


class Step:
    """One step of the trapezoidal rule from home, in motion: q̇ = β q + c₁, q̈ = β q̇ + c₂, β = 2/h."""

    def __init__(self, mechanism: Mechanism, h: float) -> None:
        self.mechanism, self.beta, n = mechanism, 2.0 / h, mechanism.tree.nv
        v = 0.5 * np.cos(np.arange(float(n)))
        a = mechanics.forward_dynamics(mechanism.tree, HOME, v, generalised_forces(mechanism, HOME, v).force)
        self.c1, self.c2 = -self.beta * HOME - v, -self.beta * v - a
        self.guess = HOME + h * v

    def state(self, q: Array) -> tuple[Array, Array, Array]:
        v = self.beta * q + self.c1
        return q, v, self.beta * v + self.c2

    def residual(self, q: Array) -> Array:
        q, v, a = self.state(q)
        return mechanics.inverse_dynamics(self.mechanism.tree, q, v, a) - generalised_forces(self.mechanism, q, v).force

    def solve(self, which: int) -> tuple[Array, int | None]:
        """The solution with one of the Jacobians, evaluated once, at the guess, but for the exact one."""
        q, first = self.guess, 0.0
        jacobian = stiff_jacobians(self.mechanism, *self.state(q), self.beta)[which]
        for k in range(1, MOST + 1):
            if which == 0 and k > 1:
                jacobian = stiff_jacobians(self.mechanism, *self.state(q), self.beta)[0]
            correction = np.linalg.solve(jacobian, self.residual(q))
            q, size = q - correction, float(np.linalg.norm(correction))
            first = first or size
            if size <= ENOUGH * first:
                return q, k
        return q, None


def radius(jacobian: Array, approximation: Array) -> float:
    """The spectral radius of E − Ĵ⁻¹J."""
    return float(np.abs(np.linalg.eigvals(np.eye(len(jacobian)) - np.linalg.solve(approximation, jacobian))).max())


def measured(system: str, k: float, h: float) -> list[Row]:
    """The three Jacobians of one system."""
    step = Step(joined(k, SYSTEMS[system]), h)
    q, exact_iterations = step.solve(0)
    found = stiff_jacobians(step.mechanism, *step.state(q), step.beta)
    factors, right = scipy.linalg.cho_factor(found.block_diagonal), step.residual(step.guess)
    steps = conjugate_gradients(found.approximate, lambda r: scipy.linalg.cho_solve(factors, r), right)[1]
    counts = (exact_iterations, step.solve(1)[1], step.solve(2)[1])
    return [
        Row(system, k, name, radius(found.exact, jacobian), count, steps)
        for name, jacobian, count in zip(JACOBIANS, found, counts, strict=True)
    ]


def regions(config: StiffConfig) -> tuple[Array, Array, Array]:
    """The contraction of the block-diagonal Jacobian over step and stiffness, arms at rest at home."""
    steps, stiffness = np.logspace(-4.5, -1.5, config.points), np.logspace(2, 9, config.points)
    mechanism = joined(1.0, False)
    at, M = stand(mechanism, HOME, 0 * HOME), mechanics.mass_matrix(mechanism.tree, HOME)
    found = np.empty((len(stiffness), len(steps)))
    for j, h in enumerate(steps):
        full, blocks = element_stiffness(at, 2.0 / h)
        for i, k in enumerate(stiffness):
            mass = (2.0 / h) ** 2 * M
            values = scipy.linalg.eigh(mass + k * full, mass + k * blocks, eigvals_only=True)
            found[i, j] = np.abs(1.0 - values).max()
    return steps, stiffness, found


def run(config: StiffConfig) -> Result:
    """Every system with every stiffness and Jacobian, and the map."""
    config = config.as_asked()
    pairs = [(system, k) for system in SYSTEMS for k in config.stiffness]
    rows = [row for pair in bar(pairs, shown=config.progress) for row in measured(*pair, config.step)]
    return Result(config, tuple(rows), *regions(config))


def records(result: Result) -> list[Record]:
    return [
        {
            "system": row.system,
            "step": result.config.step,
            "stiffness": row.stiffness,
            "jacobian": row.jacobian,
            "contraction": row.contraction,
            "iterations": row.iterations,
            "cg_steps": row.cg_steps,
        }
        for row in result.rows
    ]


def remarks(result: Result) -> list[str]:
    blocks = [row for row in result.rows if row.jacobian == "block-diagonal" and row.system == "between arms"]
    worst = max(blocks, key=lambda row: row.contraction)
    return [
        f"The block-diagonal iteration contracts everywhere on the map, at worst by {result.contraction.max():.4f} per "
        f"iteration; in the runs at worst by {worst.contraction:.3f}, at k = {worst.stiffness:g} N/m.",
        "Conjugate gradients with the block-diagonal matrix before need at most "
        f"{max(r.cg_steps for r in blocks)} steps.",
    ]


def data(result: Result) -> Dataset:
    return Dataset(
        {
            "step": Variable(("step",), result.steps, "s"),
            "stiffness": Variable(("stiffness",), result.stiffness, "N/m"),
            "contraction": Variable(("stiffness", "step"), result.contraction, "", "block-diagonal against elements"),
        },
        {"study": "stiff"},
    )
