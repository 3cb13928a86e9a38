"""The question: which way to Hamilton's equations of a tree is the cheapest, and do operation counts tell?

Trees are stars: chains of equal joints on one root body, as in Fig. 1 of Ivanov and Shimanovsky.  Three sources answer,
cell by cell: the (corrected) formulas of their Table 1, the operations this project's kernels really do (the kernels'
source on a counting scalar), and their measured times.  For the mass matrix of a serial chain, Yaskevich's printed
polynomials stand beside counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from integrators.results.storage import Dataset, Variable
from liegroup.display import bar
from mechanics.reference.operation_counts import MASS_MATRIX_OPERATIONS, OPERATIONS, mass_matrix_operations, star
from studies.efficiency.methods import NAMES, counted, measured
from studies.efficiency.trees import branched
from studies.study import Record, StudyConfig

QUESTION = (
    "Which way to Hamilton's equations of a tree is the cheapest: "
    "projection on motions, on reactions, or the recursion?"
)
SOURCES = ("formula", "counted", "measured")
SPACE_MANIPULATOR = 6
"""Moving joints for which the figures of the space station's manipulator are printed."""


@dataclass(frozen=True)
class EfficiencyConfig(StudyConfig):
    """Count and time TSP, OSP and ERA on stars, and count algorithms for mass matrices."""

    freedoms: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    """Degrees of freedom of every joint."""
    branches: tuple[int, ...] = (1, 2, 4, 8)
    """Chains on the root body, for counts and times (formulas: 1 … 30)."""
    lengths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 13, 16)
    """Bodies in a chain, for counts and times (formulas: 1 … 30)."""
    chunk: float = 1e-3
    """Seconds of one chunk of calls; the best of `repeats` counts."""
    repeats: int = 10
    """Chunks."""

    def shortened(self) -> EfficiencyConfig:
        """The configuration that `--quick` runs."""
        return replace(self, freedoms=(1, 3), branches=(1, 4), lengths=(1, 4, 16), chunk=2e-4, repeats=3)


@dataclass(frozen=True)
class Cells:
    """Costs of the three methods on the stars of one diagram."""

    source: str
    freedoms: int
    free_base: bool
    branches: tuple[int, ...]
    lengths: tuple[int, ...]
    costs: NDArray[np.float64]
    """(branches, lengths, methods): operations, or seconds."""

    @property
    def best(self) -> NDArray[np.int64]:
        """Number of the cheapest method of every cell."""
        return np.asarray(self.costs.argmin(axis=-1))


@dataclass(frozen=True)
class Result:
    """All diagrams."""

    config: EfficiencyConfig
    cells: tuple[Cells, ...]

    def find(self, source: str, freedoms: int, free_base: bool = False) -> Cells:
        return next(c for c in self.cells if (c.source, c.freedoms, c.free_base) == (source, freedoms, free_base))


def run(config: EfficiencyConfig) -> Result:
    """Fill all diagrams."""
    config = config.shortened() if config.quick else config
    every = tuple(range(1, 31))
    cells = [
        Cells("formula", n, free, every, every, np.array([[_formula(c, l, n, free) for l in every] for c in every]))
        for free in (False, True)
        for n in config.freedoms
    ]
    diagrams = [(free, n) for free in (False, True) for n in config.freedoms]
    progress = bar(
        total=len(diagrams) * len(config.branches) * len(config.lengths), shown=config.progress, desc="stars"
    )
    with progress:
        for free, n in diagrams:
            shape = (len(config.branches), len(config.lengths), len(NAMES))
            counts, times = np.empty(shape), np.empty(shape)
            for row, c in enumerate(config.branches):
                for column, l in enumerate(config.lengths):
                    tree = branched(c, l, n, free)
                    operations, best = counted(tree), measured(tree, config.chunk, config.repeats)
                    counts[row, column] = [operations[name] for name in NAMES]
                    times[row, column] = [best[name] for name in NAMES]
                    progress.update()
            for source, costs in (("counted", counts), ("measured", times)):
                cells.append(Cells(source, n, free, config.branches, config.lengths, costs))
    return Result(config, tuple(cells))


def _formula(branches: int, length: int, freedoms: int, free_base: bool) -> list[float]:
    tree = star(branches, length, freedoms, 6 if free_base else None)
    return [OPERATIONS[name](*tree) for name in NAMES]


def records(result: Result) -> Sequence[Record]:
    """One row per diagram; then one per algorithm for mass matrices."""
    rows: list[Record] = []
    for c in result.cells:
        share = {name: float(np.mean(c.best == k)) for k, name in enumerate(NAMES)}
        rows.append(
            {
                "system": f"stars, {c.freedoms} per joint" + (", free base" if c.free_base else ""),
                "source": c.source,
                "freedoms": c.freedoms,
                "free_base": c.free_base,
                **{f"share_{name}": x for name, x in share.items()},
                "last_length_of_TSP": _reach(c),
                "ERA_over_TSP_longest": float(c.costs[0, -1, 2] / c.costs[0, -1, 0]),
                "ERA_over_OSP_longest": float(c.costs[0, -1, 2] / c.costs[0, -1, 1]),
                "next_over_ERA_least": float(_next_best(c).min()),
                "next_over_ERA_largest": float(_next_best(c).max()),
            }
        )
    for name in MASS_MATRIX_OPERATIONS:
        multiplications, additions = mass_matrix_operations(name, SPACE_MANIPULATOR)
        rows.append(
            {
                "system": "space manipulator, mass matrix",
                "source": name,
                "multiplications": multiplications,
                "additions": additions,
                "operations": multiplications + additions,
            }
        )
    return rows


def _next_best(c: Cells) -> NDArray[np.float64]:
    """Cost of the cheaper one of TSP and OSP over that of ERA, cell by cell."""
    return np.asarray(c.costs[..., :2].min(axis=-1) / c.costs[..., 2])


def _reach(c: Cells) -> int:
    """Longest single chain for which TSP is the cheapest (0: none)."""
    wins = [l for l, best in zip(c.lengths, c.best[0], strict=True) if best == 0]
    return max(wins, default=0)


def remarks(result: Result) -> Sequence[str]:
    """What the numbers say."""
    said = []
    for free, n in ((free, n) for free in (False, True) for n in result.config.freedoms):
        parts = []
        for source in SOURCES:
            cells = result.find(source, n, free)
            share = [round(100 * float(np.mean(cells.best == k))) for k in range(3)]
            parts.append(f"{source} " + " / ".join(f"{name} {x} %" for name, x in zip(NAMES, share, strict=True) if x))
        said.append(f"{n} per joint{', free base' if free else ''}: " + "; ".join(parts))
    return said


def data(result: Result) -> Dataset:
    """Costs of all cells, long form."""
    rows = [
        (SOURCES.index(c.source), c.freedoms, int(c.free_base), b, l, *c.costs[i, j])
        for c in result.cells
        for i, b in enumerate(c.branches)
        for j, l in enumerate(c.lengths)
    ]
    table = np.array(rows, dtype=np.float64)
    names = ("source", "freedoms", "free_base", "branches", "length", *NAMES)
    variables = {name: Variable(("cell",), table[:, k], _UNITS.get(name, "1"), name) for k, name in enumerate(names)}
    legend = ", ".join(f"{k} = {source}" for k, source in enumerate(SOURCES))
    return Dataset(variables, {"sources": legend, "costs": "operations, or seconds (measured)"})


_UNITS = dict.fromkeys(NAMES, "operations or s")
