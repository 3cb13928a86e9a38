"""The question: which way to Hamilton's equations of a tree is the cheapest, and do operation counts tell?

Trees are stars: chains of equal joints on one root body, as in Fig. 1 of Ivanov and Shimanovsky.  Three sources answer,
cell by cell: the (corrected) formulas of their Table 1, the operations this project's kernels really do (the kernels'
source on a counting scalar), and their measured times.  For the mass matrix of a serial chain, Yaskevich's printed
polynomials stand beside counts.  Whether momenta are the better variables is asked of the energy error of chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.results.storage import Dataset, Variable
from liegroup.display import bar
from mechanics.reference.operation_counts import MASS_MATRIX_OPERATIONS, OPERATIONS, mass_matrix_operations, star
from studies.efficiency.methods import NAMES, counted, measured
from studies.efficiency.trees import branched
from studies.efficiency.variables import Variables, cases, compared
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
    links: tuple[int, ...] = (10, 20)
    """Of the chains that move in momenta and in velocities."""
    methods: tuple[str, ...] = ("RKMK4", "RKMK_GAUSS2", "GAUSS8")
    """That move them."""
    steps: tuple[float, ...] = (4e-3, 2e-3, 1e-3)
    """Steps [s]."""
    horizon: float = 5.0
    """For so long [s]."""
    starts: int = 16
    """From so many starts."""

    def shortened(self) -> EfficiencyConfig:
        """The configuration that `--quick` runs."""
        return replace(self, freedoms=(1, 3), branches=(1, 4), lengths=(1, 4, 16), chunk=2e-4, repeats=3,
                       methods=("RKMK4",), steps=(4e-3,), horizon=0.5, starts=2)  # fmt: skip


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
    variables: tuple[Variables, ...]

    def find(self, source: str, freedoms: int, free_base: bool = False) -> Cells:
        return next(c for c in self.cells if (c.source, c.freedoms, c.free_base) == (source, freedoms, free_base))


def run(config: EfficiencyConfig) -> Result:
    """Fill all diagrams."""
    config = config.as_asked()
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
    variables = [
        compared(*case, config.horizon, config.starts)
        for case in bar(list(cases(config.links, config.methods, config.steps)), shown=config.progress)
    ]
    return Result(config, tuple(cells), tuple(variables))


def _formula(branches: int, length: int, freedoms: int, free_base: bool) -> list[float]:
    tree = star(branches, length, freedoms, 6 if free_base else None)
    return [OPERATIONS[name](*tree) for name in NAMES]


def records(result: Result) -> Sequence[Record]:
    """One row per diagram; then one per algorithm for mass matrices; then one per chain, method and step."""
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
    for found in result.variables:
        row: dict[str, Any] = {
            "system": f"chain of {found.links} links",
            "source": "energy error",
            "links": found.links,
            "method": found.method,
            "step": found.step,
            "horizon": found.horizon,
            "momenta_over_velocities": found.ratio,
        }
        for name, errors in found.errors.items():
            row |= {f"energy_error_{name}": float(np.median(errors)), f"least_{name}": float(errors.min())}
            row |= {f"largest_{name}": float(errors.max()), f"microseconds_{name}": found.microseconds[name]}
        rows.append(row)
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
    for found in result.variables:
        said.append(
            f"{found.links} links, {found.method}, {1e3 * found.step:g} ms: energy error {found.median('momenta'):.2g} "
            f"in (q, p), {found.median('velocities'):.2g} in (q, v)"
        )
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
