"""The steps of the elements of a rod: frequencies with shares of the masses, and the tables of asynchronous steps.

A node's mass is shared among its elements in proportion to their stiffness against shifts, its moments of inertia in
proportion to that against turns: no rod vibrates faster than the fastest of its elements (Irons and Treharne 1971).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt
from mechanics.elastic.levels import DOUBTED, LIMIT, SAFETY, StepReport, levels_of, steps_of
from mechanics.elastic.rods.rod import Rod
from mechanics.elastic.rods.vibrations import element_stiffness

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Levels:
    """What every element of a rod takes as its step.

    Attributes
    ----------
    omega : array (n,)
        Frequency of every element, rad/s.
    smallest : float
        The smallest stable step, s.
    level : int64 array (n,)
        How often it is doubled for every element.
    depth : int
        Doublings from the smallest step to the largest.
    """

    def __init__(self, rod: Rod) -> None:
        n, K = rod.n_elements, element_stiffness(rod)
        K = 0.5 * (K + np.swapaxes(K, 1, 2))
        own = np.diagonal(K, axis1=1, axis2=2).reshape(n, 4, 3).sum(axis=2).reshape(n, 2, 2)
        total = np.zeros((n + 1, 2))
        total[:-1] += own[:, 0]
        total[1:] += own[:, 1]
        inverse = np.where(rod.held, 0.0, 1.0 / np.repeat(rod.inertia, [3, 1, 1, 1], axis=1))
        ends = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
        share = np.repeat(total[ends] / own, 3, axis=2)
        root = np.sqrt(inverse[ends] * share).reshape(n, 12)
        self.omega: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(K * root[:, :, None] * root[:, None, :])[:, -1], 0.0))
        self.smallest, multiples = steps_of([self.omega])
        (self.level,) = levels_of(multiples)
        self.depth = int(self.level.max())

    def step(self, safety: float = SAFETY) -> float:
        """The largest step of an element, s."""
        return safety * self.smallest * 2.0**self.depth

    def report(self, safety: float = SAFETY) -> StepReport:
        """What `Rod.steps` says."""
        k = int(self.omega.argmax())
        return StepReport(
            safety, self.step(safety), safety * self.smallest, float(self.omega[k]), f"element {k} of the rod",
            tuple(int(x) for x in np.bincount(self.depth - self.level)),
            float(len(self.level) / np.sum(0.5**self.level)),
        )  # fmt: skip

    def doubts(self, y: Array, h: float) -> Sequence[Doubt]:
        """Whether elements have steps beyond their limits, near the state without stress."""
        steps = abs(h) * 0.5 ** (self.depth - self.level)
        phases = self.omega * steps
        k = int(phases.argmax())
        if not phases[k] > DOUBTED:
            return []
        says = f"element {k} of the rod has h ω = {phases[k]:.3g} with its step {steps[k]:.3g} s, " + (
            "beyond the limit of stability 2"
            if phases[k] > LIMIT
            else "near the limit of stability 2, where steps resonate"
        )
        remedy = f"use a step of {SAFETY * LIMIT * abs(h) / phases[k]:.3g} s"
        return [Doubt("step", 0.0, float(phases[k]), DOUBTED, says, remedy)]

    def table(self, rod: Rod) -> Integers:
        """depth; the step of every node (the finest of its elements); where the elements of every step end, and the
        nodes; the elements by their steps, the finest first; the nodes, those that are clamped left out.
        """
        n, levels = rod.n_elements, range(self.depth + 1)
        node = np.full(n + 1, self.depth)
        np.minimum.at(node, np.arange(n), self.level)
        np.minimum.at(node, np.arange(1, n + 1), self.level)
        moving = np.flatnonzero(~rod.held.all(axis=1))
        return np.concatenate([
            [self.depth], node,
            [int((self.level <= level).sum()) for level in levels],
            [int((node[moving] <= level).sum()) for level in levels],
            np.argsort(self.level, kind="stable"),
            moving[np.argsort(node[moving], kind="stable")],
        ]).astype(np.int64)  # fmt: skip
