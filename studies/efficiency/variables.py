"""Whether Hamilton's equations behave better numerically than those in velocities: the energy error of the same methods
on the same chains, (q, p) beside (q, v), from several starts that lie close together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.loops import seconds
from integrators import Problem, integrate
from mechanics import Tree, hamiltonian_problem, velocity_problem
from studies.energy_drift.systems import start_of, tree_of

Array = NDArray[np.float64]
POSED: dict[str, Callable[..., Problem]] = {"momenta": hamiltonian_problem, "velocities": velocity_problem}
APART = 0.01
"""Standard deviation of the starts, rad: chains whirl chaotically, and one run alone says little."""


@dataclass(frozen=True)
class Variables:
    """One method with one step on one chain, in momenta and in velocities."""

    links: int
    method: str
    step: float
    horizon: float
    errors: dict[str, Array]
    """Largest change of the energy on the way, relative to the energy at the start, of every start."""
    microseconds: dict[str, float]
    """Of one evaluation of the field."""

    def median(self, variables: str) -> float:
        return float(np.median(self.errors[variables]))

    @property
    def ratio(self) -> float:
        """Error in momenta over that in velocities, geometric mean over the starts."""
        return float(np.exp(np.mean(np.log(self.errors["momenta"] / self.errors["velocities"]))))


def chain(links: int, count: int) -> tuple[Tree, Array, Array]:
    """The chain of hinges of the study energy-drift, and `count` starts about its own."""
    name = f"chain-{links}"
    tree = tree_of(name)
    q, v = start_of(tree, name, 1.0, 0)
    return tree, q + APART * np.random.default_rng(links).normal(size=(count, links)), v


def compared(links: int, method: str, step: float, horizon: float, count: int) -> Variables:
    """The same runs in both sorts of variables."""
    tree, q, v = chain(links, count)
    errors, times = {}, {}
    for name, pose in POSED.items():
        problem = pose(tree, q, v)
        run = integrate(problem, method, (0.0, horizon), step, save_every=2**40, progress=False)
        if not run.finished:
            raise ArithmeticError(f"{method} with steps of {step} on {tree.name}: {run.message}; take smaller steps")
        errors[name] = np.atleast_1d(run.error("energy"))
        times[name] = 1e6 * seconds(
            problem.field, problem.y0[:1], problem.parameters, problem.structure, problem.work_shape, problem.dimension,
            chunk=1e-3, repeats=5,
        )  # fmt: skip
    return Variables(links, method, step, horizon, errors, times)


def cases(
    links: tuple[int, ...], methods: tuple[str, ...], steps: tuple[float, ...]
) -> Iterator[tuple[int, str, float]]:
    """All runs, one after the other."""
    for n in links:
        for method in methods:
            for step in steps:
                yield n, method, step
